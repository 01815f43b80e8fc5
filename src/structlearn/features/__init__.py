"""From raw data to features."""

from structlearn.features.crfpp import CrfppTemplates, read_crfpp_templates
from structlearn.features.mention_pairs import MentionPairs
from structlearn.features.monotone import MonotoneCurves
from structlearn.features.piecewise_linear import PiecewiseLinear
from structlearn.features.text import TextFeatures
from structlearn.features.token_transformer import TokenTransformer
from structlearn.features.token_union import TokenUnion

__all__ = [
    "CrfppTemplates",
    "MentionPairs",
    "MonotoneCurves",
    "PiecewiseLinear",
    "TextFeatures",
    "TokenTransformer",
    "TokenUnion",
    "read_crfpp_templates",
]
