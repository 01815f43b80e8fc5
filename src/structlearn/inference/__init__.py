"""Decoding algorithms on plain arrays, for use on their own."""

from typing import TYPE_CHECKING

from structlearn.lazy import names

if TYPE_CHECKING:
    from structlearn.inference.alignment import (
        AlignmentMarginals,
        align,
        alignment_marginals,
        best_alignment,
        edit_distance,
        k_best_alignments,
        sample_alignments,
    )
    from structlearn.inference.assignment import (
        Assignment,
        best_assignment,
        k_best_assignments,
        largest_matching,
    )
    from structlearn.inference.binary_labels import most_violating_labels
    from structlearn.inference.chain import ChainMarginals, best_per_loss_level, k_best, marginals, sample, viterbi
    from structlearn.inference.clustering import best_clustering, greedy_clustering, relaxed_clustering
    from structlearn.inference.dependency import (
        DependencyMarginals,
        best_dependency_tree,
        dependency_marginals,
        k_best_dependency_trees,
        sample_dependency_trees,
    )
    from structlearn.inference.forest import best_forest, best_spanning_forest
    from structlearn.inference.given import Violation
    from structlearn.inference.grammar import TreeMarginals, best_tree, k_best_trees, sample_trees, tree_marginals
    from structlearn.inference.graphs import (
        InfeasibleError,
        Labelling,
        LabellingMarginals,
        best_labelling,
        k_best_labellings,
        labelling_marginals,
        markov_violations,
        sample_labellings,
    )
    from structlearn.inference.hypergraph import (
        DerivationMarginals,
        best_derivation,
        derivation_marginals,
        k_best_derivations,
        sample_derivations,
    )
    from structlearn.inference.ranking import most_violating_ranking
    from structlearn.inference.segments import (
        SegmentationMarginals,
        best_segmentation,
        k_best_segmentations,
        sample_segmentations,
        segmentation_marginals,
    )
    from structlearn.inference.sites import best_site
else:
    # Decoders of chains need not wait for linear programs.
    __getattr__, __dir__ = names(
        __name__,
        {
            "AlignmentMarginals": "alignment",
            "Assignment": "assignment",
            "ChainMarginals": "chain",
            "DependencyMarginals": "dependency",
            "DerivationMarginals": "hypergraph",
            "InfeasibleError": "graphs",
            "Labelling": "graphs",
            "LabellingMarginals": "graphs",
            "SegmentationMarginals": "segments",
            "TreeMarginals": "grammar",
            "Violation": "given",
            "align": "alignment",
            "alignment_marginals": "alignment",
            "best_alignment": "alignment",
            "best_assignment": "assignment",
            "best_clustering": "clustering",
            "best_dependency_tree": "dependency",
            "best_derivation": "hypergraph",
            "best_forest": "forest",
            "best_labelling": "graphs",
            "best_per_loss_level": "chain",
            "best_segmentation": "segments",
            "best_site": "sites",
            "best_spanning_forest": "forest",
            "best_tree": "grammar",
            "dependency_marginals": "dependency",
            "derivation_marginals": "hypergraph",
            "edit_distance": "alignment",
            "greedy_clustering": "clustering",
            "k_best": "chain",
            "k_best_alignments": "alignment",
            "k_best_assignments": "assignment",
            "largest_matching": "assignment",
            "k_best_dependency_trees": "dependency",
            "k_best_derivations": "hypergraph",
            "k_best_labellings": "graphs",
            "k_best_segmentations": "segments",
            "k_best_trees": "grammar",
            "labelling_marginals": "graphs",
            "marginals": "chain",
            "markov_violations": "graphs",
            "most_violating_labels": "binary_labels",
            "most_violating_ranking": "ranking",
            "relaxed_clustering": "clustering",
            "sample": "chain",
            "sample_alignments": "alignment",
            "sample_dependency_trees": "dependency",
            "sample_derivations": "hypergraph",
            "sample_labellings": "graphs",
            "sample_segmentations": "segments",
            "sample_trees": "grammar",
            "segmentation_marginals": "segments",
            "tree_marginals": "grammar",
            "viterbi": "chain",
        },
    )

__all__ = [
    "AlignmentMarginals",
    "Assignment",
    "ChainMarginals",
    "DependencyMarginals",
    "DerivationMarginals",
    "InfeasibleError",
    "Labelling",
    "LabellingMarginals",
    "SegmentationMarginals",
    "TreeMarginals",
    "Violation",
    "align",
    "alignment_marginals",
    "best_alignment",
    "best_assignment",
    "best_clustering",
    "best_dependency_tree",
    "best_derivation",
    "best_forest",
    "best_labelling",
    "best_per_loss_level",
    "best_segmentation",
    "best_site",
    "best_spanning_forest",
    "best_tree",
    "dependency_marginals",
    "derivation_marginals",
    "edit_distance",
    "greedy_clustering",
    "k_best",
    "k_best_alignments",
    "k_best_assignments",
    "k_best_dependency_trees",
    "k_best_derivations",
    "k_best_labellings",
    "k_best_segmentations",
    "k_best_trees",
    "labelling_marginals",
    "largest_matching",
    "marginals",
    "markov_violations",
    "most_violating_labels",
    "most_violating_ranking",
    "relaxed_clustering",
    "sample",
    "sample_alignments",
    "sample_dependency_trees",
    "sample_derivations",
    "sample_labellings",
    "sample_segmentations",
    "sample_trees",
    "segmentation_marginals",
    "tree_marginals",
    "viterbi",
]
