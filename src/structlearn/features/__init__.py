"""From raw data to features."""

from structlearn.features.token_transformer import TokenTransformer

__all__ = ["TokenTransformer"]
