"""How well fitted estimators do on data: one prediction, all scores, how sure they are, and which of two is better."""

from structlearn.evaluation.comparison import ModelComparison, ScoreDifference, compare, compare_evaluations
from structlearn.evaluation.result import Evaluation
from structlearn.evaluation.scoring import evaluate, kind_of, last_step, loss_of, model_of

__all__ = [
    "Evaluation",
    "ModelComparison",
    "ScoreDifference",
    "compare",
    "compare_evaluations",
    "evaluate",
    "kind_of",
    "last_step",
    "loss_of",
    "model_of",
]
