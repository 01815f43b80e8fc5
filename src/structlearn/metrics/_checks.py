"""The check of truth against prediction that all metrics share."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np


def paired(Y: Sequence[Sequence[Any]], Y_pred: Sequence[Sequence[Any]]) -> list[tuple[list[Any], list[Any]]]:
    """Truth and prediction of every sequence, as lists of equal length."""
    if len(Y) != len(Y_pred):
        raise ValueError(f"Y has {len(Y)} sequences but Y_pred has {len(Y_pred)}")
    if not len(Y):
        raise ValueError("Y has no sequences")
    pairs = [
        (_labels(y, f"Y[{i}]"), _labels(p, f"Y_pred[{i}]")) for i, (y, p) in enumerate(zip(Y, Y_pred, strict=True))
    ]
    for i, (y, p) in enumerate(pairs):
        if len(y) != len(p):
            raise ValueError(f"Y[{i}] has {len(y)} labels but Y_pred[{i}] has {len(p)}")
    return pairs


def _labels(sequence: Any, where: str) -> list[Any]:
    if isinstance(sequence, np.ndarray) and sequence.ndim == 1:
        labels: list[Any] = sequence.tolist()
        return labels
    if isinstance(sequence, str | bytes) or not isinstance(sequence, Sequence):
        raise ValueError(
            f"{where} is {sequence!r}; expected a sequence of labels (for one label an example use sklearn.metrics)"
        )
    return list(sequence)
