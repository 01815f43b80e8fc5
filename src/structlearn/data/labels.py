"""Labels of any hashable type and their integer codes."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from itertools import repeat
from typing import Any

import numpy as np
import numpy.typing as npt

from structlearn.data.arrays import LabelArray


def plain(label: Any) -> Any:
    """A NumPy scalar as the Python value it stands for, so that labels compare and save alike."""
    return label.item() if isinstance(label, np.generic) else label


def observed_classes(labels: Iterable[Any]) -> tuple[Any, ...]:
    """The distinct labels: sorted where they can be compared, otherwise in the order of appearance."""
    distinct = tuple(dict.fromkeys(plain(label) for label in dict.fromkeys(labels)))
    try:
        return tuple(sorted(distinct))
    except TypeError:
        return distinct


def declared_classes(classes: Iterable[Any]) -> tuple[Any, ...]:
    result = tuple(plain(label) for label in classes)
    if not result:
        raise ValueError("classes is empty; declare at least one label or leave it None")
    repeated = [label for label in result if result.count(label) > 1]
    if repeated:
        raise ValueError(f"classes has {repeated[0]!r} more than once")
    return result


class LabelCodes:
    """Turns labels into codes, naming the place of a label that is not known."""

    def __init__(self, classes: Sequence[Any], *, allow_unknown: bool = False):
        self._codes = {label: code for code, label in enumerate(classes)}
        self._allow_unknown = allow_unknown
        self._has_nan = any(isinstance(label, float) and label != label for label in self._codes)

    def known(self, labels: Iterable[Any]) -> LabelArray | None:
        """The codes if every label has one, else None: the quick way, which cannot say what is wrong."""
        if self._has_nan:
            return None
        try:
            codes = np.fromiter(map(self._codes.get, labels, repeat(-1)), np.int32)
        except TypeError:
            return None
        return codes if codes.min(initial=0) == 0 else None

    def encode(self, labels: Sequence[Any] | npt.NDArray[Any], where: str) -> LabelArray:
        if isinstance(labels, np.ndarray):
            labels = labels.tolist()
        known = self.known(labels)
        if known is not None:
            return known
        codes = np.empty(len(labels), np.int32)
        for k, label in enumerate(labels):
            label = plain(label)
            if isinstance(label, float) and label != label:
                raise ValueError(f"{where}[{k}] is nan; a label must be equal to itself")
            code = self._codes.get(label, -1) if isinstance(label, Hashable) else -1
            if code < 0 and not self._allow_unknown:
                raise ValueError(
                    f"{where}[{k}] is {label!r}, which is not among the {len(self._codes)} classes "
                    f"({_shorten(list(self._codes))})"
                )
            codes[k] = code
        return codes


def label_array(classes: Sequence[Any]) -> npt.NDArray[Any]:
    """The labels as an array that can be indexed by code: typed where they are alike, of objects otherwise."""
    kinds = {type(label) for label in classes}
    if len(kinds) == 1 and kinds <= {bool, int, float, str, bytes}:
        return np.array(classes)
    array = np.empty(len(classes), object)
    array[:] = classes
    return array


def _shorten(labels: list[Any]) -> str:
    names = [repr(label) for label in labels[:8]]
    return ", ".join(names + ["…"] * (len(labels) > 8))
