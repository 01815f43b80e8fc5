"""Decoding algorithms on plain arrays, for use on their own."""

from structlearn.inference.alignment import (
    AlignmentMarginals,
    align,
    alignment_marginals,
    best_alignment,
    edit_distance,
    k_best_alignments,
    sample_alignments,
)
from structlearn.inference.chain import ChainMarginals, best_per_loss_level, k_best, marginals, sample, viterbi
from structlearn.inference.correlation import relaxed_clustering
from structlearn.inference.hypergraph import (
    DerivationMarginals,
    best_derivation,
    derivation_marginals,
    k_best_derivations,
    sample_derivations,
)
from structlearn.inference.segments import (
    SegmentationMarginals,
    best_segmentation,
    sample_segmentations,
    segmentation_marginals,
)

__all__ = [
    "AlignmentMarginals",
    "ChainMarginals",
    "DerivationMarginals",
    "SegmentationMarginals",
    "align",
    "alignment_marginals",
    "best_alignment",
    "best_derivation",
    "best_per_loss_level",
    "best_segmentation",
    "derivation_marginals",
    "edit_distance",
    "k_best",
    "k_best_alignments",
    "k_best_derivations",
    "marginals",
    "relaxed_clustering",
    "sample",
    "sample_alignments",
    "sample_derivations",
    "sample_segmentations",
    "segmentation_marginals",
    "viterbi",
]
