"""Sets of labels, one an example, as tables of zeros and ones."""

from __future__ import annotations

from collections.abc import Sequence, Set
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from structlearn.data.arrays import Flags, LabelArray
from structlearn.data.examples import is_listed
from structlearn.data.labels import LabelCodes, check_label, observed_classes, plain, unknown_label
from structlearn.data.matrices import checked_sparse
from structlearn.wording import count, shown


@dataclass(frozen=True, eq=False)
class LabelSets:
    """Which labels each of several examples has.

    Attributes
    ----------
    table : (n_examples, n_labels)
        1 for a label that an example has, 0 for one that it has not, −1 where that is not known.
    classes : tuple or None
        The labels, where they came by name; None where Y was a table.
    """

    table: LabelArray
    classes: tuple[Any, ...] | None

    def __len__(self) -> int:
        return len(self.table)

    def coded(self, classes: Sequence[Any], *, by_name: bool) -> LabelArray:
        """The table with a column for each of these classes, refused where it cannot have them."""
        if self.classes is None:
            if by_name:
                raise ValueError("Y is a table, but training had sets of labels")
            if self.table.shape[1] != len(classes):
                raise ValueError(
                    f"Y has {count(self.table.shape[1], 'column')}; there are {count(len(classes), 'label')}"
                )
            return self.table
        codes = LabelCodes(classes, allow_unknown=True).encode(list(self.classes), "Y")
        for i, k in np.argwhere(self.table * (codes < 0))[:1].tolist():
            raise unknown_label(f"a label of Y[{i}]", self.classes[k], classes)
        found = np.zeros((len(self.table), len(classes)), np.int32)
        found[:, codes] = self.table
        return found


def read_label_sets(Y: Any, *, partial: bool = False) -> LabelSets:
    """A table of zeros and ones with a row an example, dense or sparse, or a list of sets of labels.

    Where labels may be unknown, a table has NaN or None for these.

    >>> read_label_sets([{"sea", "sun"}, set(), {"sun"}]).table.tolist()
    [[1, 1], [0, 0], [0, 1]]
    """
    if isinstance(Y, LabelSets):
        return Y
    if sp.issparse(Y):
        return LabelSets(_checked(checked_sparse(Y, "Y").toarray(), partial), None)
    if not is_listed(Y):
        raise ValueError(f"Y is {shown(Y)}; expected a table of zeros and ones, or a list of sets of labels")
    if not isinstance(Y, np.ndarray) and len(Y) and all(isinstance(y, Set) for y in Y):
        return _from_sets(Y)
    try:
        table = np.asarray(Y)
    except ValueError:
        raise ValueError("Y is no table of zeros and ones; lists of labels must be sets") from None
    if table.ndim != 2:
        raise ValueError(f"Y has {table.ndim} dimensions; expected a table with a column a label, or a list of sets")
    return LabelSets(_checked(table, partial), None)


def _from_sets(Y: Sequence[Any]) -> LabelSets:
    for i, labels in enumerate(Y):
        for label in labels:
            check_label(label, f"a label of Y[{i}]")
    classes = observed_classes([label for labels in Y for label in labels])
    place = {label: k for k, label in enumerate(classes)}
    table = np.zeros((len(Y), len(classes)), np.int32)
    for i, labels in enumerate(Y):
        table[i, [place[label] for label in labels]] = 1
    return LabelSets(table, classes)


def _checked(table: npt.NDArray[Any], partial: bool) -> LabelArray:
    if table.dtype.kind == "O":
        table = np.where(table == None, np.nan, table)  # noqa: E711
    try:
        numbers = table.astype(np.float64)
    except (TypeError, ValueError):
        raise ValueError("Y is no table of zeros and ones; lists of labels must be sets") from None
    unknown: Flags = np.isnan(numbers)
    bad = np.argwhere(~(unknown | (numbers == 0.0) | (numbers == 1.0)) | (unknown & (not partial)))
    if len(bad):
        i, k = bad[0].tolist()
        raise ValueError(f"Y[{i}, {k}] is {shown(plain(table[i, k]))}; expected 0 or 1")
    return np.where(unknown, -1, np.nan_to_num(numbers)).astype(np.int32)
