"""From raw data to features."""

from typing import TYPE_CHECKING

from structlearn.lazy import names

if TYPE_CHECKING:
    from structlearn.features.crfpp import CrfppTemplates, read_crfpp_templates
    from structlearn.features.kernel_map import KernelMap
    from structlearn.features.mention_pairs import MentionPairs
    from structlearn.features.monotone import MonotoneCurves
    from structlearn.features.piecewise_linear import PiecewiseLinear
    from structlearn.features.text import TextFeatures
    from structlearn.features.token_transformer import TokenTransformer
    from structlearn.features.token_union import TokenUnion
    from structlearn.features.word_pairs import WordPairs
else:
    # All but features of words derive from scikit-learn's classes, for which who has words only need not wait.
    __getattr__, __dir__ = names(
        __name__,
        {
            "CrfppTemplates": "crfpp",
            "KernelMap": "kernel_map",
            "MentionPairs": "mention_pairs",
            "MonotoneCurves": "monotone",
            "PiecewiseLinear": "piecewise_linear",
            "TextFeatures": "text",
            "TokenTransformer": "token_transformer",
            "TokenUnion": "token_union",
            "WordPairs": "word_pairs",
            "read_crfpp_templates": "crfpp",
        },
    )

__all__ = [
    "CrfppTemplates",
    "KernelMap",
    "MentionPairs",
    "MonotoneCurves",
    "PiecewiseLinear",
    "TextFeatures",
    "TokenTransformer",
    "TokenUnion",
    "WordPairs",
    "read_crfpp_templates",
]
