"""Decoding algorithms on arrays, for those who want them alone."""

from structlearn.inference.chain import best_per_loss_level, k_best, viterbi

__all__ = ["best_per_loss_level", "k_best", "viterbi"]
