"""How well fitted estimators do on data: one prediction, all scores, how sure they are, and which of two is better."""

from structlearn.evaluation.comparison import ModelComparison, ScoreDifference, compare, compare_evaluations
from structlearn.evaluation.judging import kind_of, last_step, loss_of, model_of
from structlearn.evaluation.pieces import Piece, evaluation_of
from structlearn.evaluation.result import Evaluation
from structlearn.evaluation.scoring import evaluate, evaluate_piece, pieces_of

__all__ = [
    "Evaluation",
    "ModelComparison",
    "Piece",
    "ScoreDifference",
    "compare",
    "compare_evaluations",
    "evaluate",
    "evaluate_piece",
    "evaluation_of",
    "kind_of",
    "last_step",
    "loss_of",
    "model_of",
    "pieces_of",
]
