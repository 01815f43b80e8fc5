"""How well a fitted estimator does on data: one prediction, all scores, and how sure they are."""

from structlearn.evaluation.result import Evaluation
from structlearn.evaluation.scoring import evaluate, last_step

__all__ = ["Evaluation", "evaluate", "last_step"]
