"""How good predicted label sequences, trees and alignments are, and how sure that is."""

from structlearn.metrics.alignments import q_score, q_scores
from structlearn.metrics.brackets import (
    PUNCTUATION,
    bracket_counts,
    bracket_scores,
    correct_trees,
    crossing_brackets,
)
from structlearn.metrics.coreference import CoreferenceScores, coreference_counts, coreference_scores, pair_losses
from structlearn.metrics.labels import (
    Confusion,
    confusion,
    correct_sequences,
    correct_tokens,
    label_report,
    sequence_accuracy,
    token_accuracy,
)
from structlearn.metrics.measures import Measures
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
    "average_precision",
    "bootstrap",
    "bootstrap_counts",
    "bracket_counts",
    "bracket_scores",
    "confusion",
    "coreference_counts",
    "coreference_scores",
    "correct_sequences",
    "correct_tokens",
    "correct_trees",
    "crossing_brackets",
    "f1",
    "label_report",
    "mcnemar",
    "ndcg",
    "overlaps",
    "pair_losses",
    "paired_t_test",
    "precision_at_k",
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
]
