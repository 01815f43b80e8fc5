"""Losses: what it costs to predict ŷ where y is true; see `structlearn.waist.loss` for how to write one."""

from structlearn.losses.brackets import BracketF1, MissedBrackets
from structlearn.losses.labels import Hamming
from structlearn.losses.matches import MissedMatches
from structlearn.losses.parts import MissedParts, PartF1
from structlearn.losses.segments import MissedSegments
from structlearn.waist.loss import AdditiveLoss, CountedLoss, LocalParts, Loss, ZeroOneLoss, loss_option

__all__ = [
    "AdditiveLoss",
    "BracketF1",
    "CountedLoss",
    "Hamming",
    "LocalParts",
    "Loss",
    "MissedBrackets",
    "MissedMatches",
    "MissedParts",
    "MissedSegments",
    "PartF1",
    "ZeroOneLoss",
    "loss_option",
]
