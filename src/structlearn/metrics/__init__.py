"""How good predicted label sequences, sets, graphs, trees and alignments are, and how sure that is."""

from structlearn.metrics.alignments import q_score, q_scores
from structlearn.metrics.brackets import (
    PUNCTUATION,
    bracket_counts,
    bracket_scores,
    correct_trees,
    crossing_brackets,
)
from structlearn.metrics.coreference import CoreferenceScores, coreference_counts, coreference_scores, pair_losses
from structlearn.metrics.dependencies import (
    correct_dependency_trees,
    dependency_counts,
    dependency_measures,
    dependency_report,
    las,
    punctuation,
    uas,
)
from structlearn.metrics.label_sets import (
    correct_sets,
    exact_match,
    example_f1,
    hamming_loss,
    label_accuracy,
    label_set_measures,
    label_set_report,
    macro_f1,
    micro_f1,
)
from structlearn.metrics.labels import (
    Confusion,
    confusion,
    correct_sequences,
    correct_tokens,
    label_report,
    sequence_accuracy,
    token_accuracy,
)
from structlearn.metrics.matchings import alignment_error_rate, matching_measures, pair_counts
from structlearn.metrics.measures import Measures
from structlearn.metrics.nodes import (
    correct_nodes,
    intersection_over_union,
    mean_iou,
    node_accuracy,
    node_measures,
)
from structlearn.metrics.rankings import average_precision, ndcg, precision_at_k, reciprocal_rank
from structlearn.metrics.scores import Report, Score, f1, ratio
from structlearn.metrics.significance import (
    Comparison,
    Interval,
    bootstrap,
    bootstrap_counts,
    mcnemar,
    paired_t_test,
    two_proportion_z_test,
)
from structlearn.metrics.sites import SiteRecovery, overlaps, site_recovery
from structlearn.metrics.spans import span_counts, span_scores

__all__ = [
    "PUNCTUATION",
    "Comparison",
    "Confusion",
    "CoreferenceScores",
    "Interval",
    "Measures",
    "Report",
    "Score",
    "SiteRecovery",
    "alignment_error_rate",
    "average_precision",
    "bootstrap",
    "bootstrap_counts",
    "bracket_counts",
    "bracket_scores",
    "confusion",
    "coreference_counts",
    "coreference_scores",
    "correct_dependency_trees",
    "correct_nodes",
    "correct_sequences",
    "correct_sets",
    "correct_tokens",
    "correct_trees",
    "crossing_brackets",
    "dependency_counts",
    "dependency_measures",
    "dependency_report",
    "exact_match",
    "example_f1",
    "f1",
    "hamming_loss",
    "intersection_over_union",
    "label_accuracy",
    "label_report",
    "label_set_measures",
    "label_set_report",
    "las",
    "macro_f1",
    "matching_measures",
    "mcnemar",
    "mean_iou",
    "micro_f1",
    "ndcg",
    "node_accuracy",
    "node_measures",
    "overlaps",
    "pair_counts",
    "pair_losses",
    "paired_t_test",
    "precision_at_k",
    "punctuation",
    "q_score",
    "q_scores",
    "ratio",
    "reciprocal_rank",
    "sequence_accuracy",
    "site_recovery",
    "span_counts",
    "span_scores",
    "token_accuracy",
    "two_proportion_z_test",
    "uas",
]
