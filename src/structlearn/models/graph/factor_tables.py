"""What the labels of a factor's nodes may score: which of their joint labels have a weight of their own."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from math import prod
from typing import Any, Literal

import numpy as np

from structlearn.data.arrays import LabelArray
from structlearn.wording import count, shown

PairForm = Literal["free", "symmetric", "potts"]
#: A form by name, or the name of the weight of each of some joint labels.
TableForm = PairForm | Mapping[tuple[Any, ...], Hashable]
POTTS = ("equal",)
#: More joint labels than this are no table that anybody could learn.
MOST_CELLS = 2**24


@dataclass(frozen=True)
class FactorTable:
    """The weights of joint labels.

    Attributes
    ----------
    columns : (n_joint_labels,)
        For all labels of the nodes together, those of the last node fastest, the number of their weight; −1 for those
        that score 0.
    names : tuple of str
        What the weights are called.
    """

    columns: LabelArray
    names: tuple[str, ...]

    @property
    def width(self) -> int:
        return len(self.names)

    @classmethod
    def over(cls, form: TableForm, classes: Sequence[Sequence[Any]]) -> FactorTable:
        """The table of nodes with these labels.

        "free" has a weight for all labels together, "symmetric" one for the same labels in any order, "potts" one for
        equal labels; a mapping says which weight joint labels have, and the others have none.

        >>> FactorTable.over("potts", ["ab", "abc"]).columns.reshape(2, 3)
        array([[ 0, -1, -1],
               [-1,  0, -1]], dtype=int32)
        >>> FactorTable.over({("a", "x"): "fits", ("b", "y"): "fits"}, ["ab", "xy"]).names
        ('fits',)
        """
        sizes = [len(labels) for labels in classes]
        if prod(sizes) > MOST_CELLS:
            raise ValueError(f"its table would have {count(prod(sizes))} entries, one for all labels of its nodes")
        if isinstance(form, Mapping):
            return cls._named(form, classes)
        if form == "free":
            names = tuple(_joined(labels) for labels in product(*classes))
            return cls(np.arange(len(names), dtype=np.int32), names)
        if form == "potts":
            columns = np.array([0 if len(set(labels)) == 1 else -1 for labels in product(*classes)], np.int32)
            if (columns < 0).all():
                raise ValueError("its table is 'potts', but its nodes have no label in common")
            return cls(columns, POTTS)
        if len({tuple(labels) for labels in classes}) > 1:
            raise ValueError("its table is 'symmetric', but its nodes have different labels")
        number = {codes: k for k, codes in enumerate(_falling(sizes))}
        columns = np.array([number[tuple(sorted(codes))] for codes in product(*map(range, sizes))], np.int32)
        return cls(columns, tuple(_joined(classes[0][code] for code in codes) for codes in number))

    @classmethod
    def _named(cls, weights: Mapping[Any, Hashable], classes: Sequence[Sequence[Any]]) -> FactorTable:
        for labels in weights:
            if not isinstance(labels, tuple) or len(labels) != len(classes):
                raise ValueError(f"its table has {shown(labels)}; expected a tuple of {count(len(classes), 'label')}")
            for label, known in zip(labels, classes, strict=True):
                if label not in known:
                    raise ValueError(f"its table has {shown(labels)}, but {shown(label)} is not one of the labels")
        numbers = {name: k for k, name in enumerate(dict.fromkeys(weights.values()))}
        columns = [numbers[weights[labels]] if labels in weights else -1 for labels in product(*classes)]
        return cls(np.array(columns, np.int32), tuple(map(str, numbers)))


def _joined(labels: Any) -> str:
    return " – ".join(label if isinstance(label, str) else shown(label) for label in labels)


def _falling(sizes: list[int]) -> list[tuple[int, ...]]:
    """Codes that never fall, in order."""
    return [codes for codes in product(*map(range, sizes)) if list(codes) == sorted(codes)]
