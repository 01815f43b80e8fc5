"""Decoding algorithms on plain arrays, for use on their own."""

from structlearn.inference.alignment import align, edit_distance
from structlearn.inference.chain import ChainMarginals, best_per_loss_level, k_best, marginals, sample, viterbi
from structlearn.inference.correlation import relaxed_clustering
from structlearn.inference.segments import (
    SegmentationMarginals,
    best_segmentation,
    sample_segmentations,
    segmentation_marginals,
)

__all__ = [
    "ChainMarginals",
    "SegmentationMarginals",
    "align",
    "best_per_loss_level",
    "best_segmentation",
    "edit_distance",
    "k_best",
    "marginals",
    "relaxed_clustering",
    "sample",
    "sample_segmentations",
    "segmentation_marginals",
    "viterbi",
]
