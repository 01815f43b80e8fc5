"""Losses: what it costs to predict ŷ where y is true; see `structlearn.waist.loss` for how to write one."""

from structlearn.losses.brackets import BracketF1, MissedBrackets
from structlearn.losses.dependencies import WrongArcs
from structlearn.losses.f_measure import FMeasure
from structlearn.losses.labels import Hamming, LabelCosts, LabelF1, LabelLoss
from structlearn.losses.matches import MatchF1, MissedMatches, MissedPairs
from structlearn.losses.parts import MissedParts, PartF1
from structlearn.losses.segments import MissedSegments, SpanF1
from structlearn.waist.loss import AdditiveLoss, CountedLoss, LocalParts, Loss, ZeroOneLoss, loss_option

__all__ = [
    "AdditiveLoss",
    "BracketF1",
    "CountedLoss",
    "FMeasure",
    "Hamming",
    "LabelCosts",
    "LabelF1",
    "LabelLoss",
    "LocalParts",
    "Loss",
    "MatchF1",
    "MissedBrackets",
    "MissedMatches",
    "MissedPairs",
    "MissedParts",
    "MissedSegments",
    "PartF1",
    "SpanF1",
    "WrongArcs",
    "ZeroOneLoss",
    "loss_option",
]
