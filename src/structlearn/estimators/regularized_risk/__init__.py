"""Regularised risk minimisation: losses of numbers and of margins, regularizers, and the estimator of every pair."""

from structlearn.estimators.regularized_risk.estimator import RegularizedRisk
from structlearn.estimators.regularized_risk.losses import Hinge, Huber, Logistic, RiskLoss, Squared, SquaredHinge
from structlearn.estimators.regularized_risk.regularizers import L1, L2, ElasticNet, Entropy, Lp, Regularizer

__all__ = [
    "L1",
    "L2",
    "ElasticNet",
    "Entropy",
    "Hinge",
    "Huber",
    "Logistic",
    "Lp",
    "RegularizedRisk",
    "Regularizer",
    "RiskLoss",
    "Squared",
    "SquaredHinge",
]
