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
from structlearn.inference.grammar import TreeMarginals, best_tree, k_best_trees, sample_trees, tree_marginals
from structlearn.inference.segments import (
    SegmentationMarginals,
    best_segmentation,
    sample_segmentations,
    segmentation_marginals,
)

__all__ = [
    "AlignmentMarginals",
    "ChainMarginals",
    "SegmentationMarginals",
    "TreeMarginals",
    "align",
    "alignment_marginals",
    "best_alignment",
    "best_per_loss_level",
    "best_segmentation",
    "best_tree",
    "edit_distance",
    "k_best",
    "k_best_alignments",
    "k_best_trees",
    "marginals",
    "relaxed_clustering",
    "sample",
    "sample_alignments",
    "sample_segmentations",
    "sample_trees",
    "segmentation_marginals",
    "tree_marginals",
    "viterbi",
]
