"""Labels of nodes that have types: a dict from types to labels for each example."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, overload

import numpy as np
import numpy.typing as npt

from structlearn.data.arrays import Flags, IntArray, LabelArray
from structlearn.data.examples import is_listed
from structlearn.data.known.labels import label_mask, labels_in
from structlearn.data.labels import LabelSequences, partial_label, read_label_sequences
from structlearn.data.typed_networks import naming_type
from structlearn.wording import count, shown


class TypedLabels(Sequence[dict[str, list[Any]]]):
    """Labels of several examples, read once.

    Attributes
    ----------
    of_types : dict from types to LabelSequences
    """

    def __init__(self, of_types: dict[str, LabelSequences], n: int):
        self.of_types = of_types
        self._n = n

    def __len__(self) -> int:
        return self._n

    @overload
    def __getitem__(self, which: int) -> dict[str, list[Any]]: ...
    @overload
    def __getitem__(self, which: slice) -> TypedLabels: ...
    def __getitem__(self, which: Any) -> Any:
        if not isinstance(which, (int, np.integer)):
            return self.take(np.arange(len(self))[which])
        return {
            kind: [labels.classes[code] for code in labels[int(which)].tolist()]
            for kind, labels in self.of_types.items()
        }

    def take(self, which: npt.ArrayLike) -> TypedLabels:
        """Those of the chosen examples, in the order given."""
        chosen = {}
        for kind, labels in self.of_types.items():
            few = labels.take(which)
            chosen[kind] = LabelSequences(few.flat, few.offsets, labels.classes)
        return TypedLabels(chosen, len(np.asarray(which)))

    def coded(self, kind: str, classes: tuple[Any, ...], offsets: IntArray, *, allow_unknown: bool) -> LabelArray:
        """Codes of the labels of a type, whose nodes begin at these offsets; −1 for those that are none."""
        labels = self.of_types.get(kind)
        if labels is None:
            labels = LabelSequences(np.empty(0, np.int32), np.zeros(len(self) + 1, np.int64), ())
        lacking = np.flatnonzero((labels.lengths == 0) & (np.diff(offsets) > 0))
        if len(lacking):
            i = int(lacking[0])
            nodes = count(int(offsets[i + 1] - offsets[i]), "node")
            raise ValueError(
                f"Y[{i}] has no labels of type {kind!r}, of which X[{i}] has {nodes}; labels that are not known are "
                "for LatentStructuralSVM and LatentConditionalRandomField"
            )
        with naming_type(kind):
            return labels.coded(classes, offsets, allow_unknown=allow_unknown)


def read_typed_labels(Y: Any) -> TypedLabels:
    """Dicts from types to labels in one reading; names what is none.

    >>> Y = read_typed_labels([{"word": ["b", "a"], "topic": ["x"]}, {"word": ["b"]}])
    >>> Y.of_types["word"].classes, Y[1]
    (('a', 'b'), {'word': ['b'], 'topic': []})
    """
    if isinstance(Y, TypedLabels):
        return Y
    of_types = {}
    for kind in _types(Y):
        for i, y in enumerate(Y):
            if y is None or y.get(kind, ()) is None:
                raise partial_label(f"Y[{i}]" if y is None else f"Y[{i}][{kind!r}]", None)
        with naming_type(kind):
            of_types[kind] = read_label_sequences([y.get(kind, ()) for y in Y])
    return TypedLabels(of_types, len(Y))


def labels_in_types(Y: Any) -> dict[str, tuple[Any, ...]]:
    """All labels that are named of each type in outputs known in part, alone or among several."""
    found = {}
    for kind, entries in _by_types(Y, "Y").items():
        with naming_type(kind):
            found[kind] = labels_in(entries)
    return found


def typed_masks(
    allowed: Any,
    classes: Mapping[str, tuple[Any, ...]],
    offsets: Mapping[str, IntArray],
    *,
    name: str = "allowed",
    allow_unknown: bool = False,
) -> list[Flags]:
    """What is said about the nodes of each type, as flags (n_nodes, n_labels); see `label_mask`.

    An example of which nothing is said is None, and a type of which nothing is said may be left out.
    """
    n = len(next(iter(offsets.values()))) - 1
    if not is_listed(allowed) or len(allowed) != n:
        given = count(len(allowed), "entry") if is_listed(allowed) else shown(allowed)
        raise ValueError(f"X has {count(n, 'network')} but {name} has {given}")
    by_types = _by_types(allowed, name)
    check_types(allowed, classes, name)
    masks = []
    for kind, labels in classes.items():
        with naming_type(kind):
            entries = by_types.get(kind, [None] * n)
            masks.append(label_mask(entries, labels, offsets[kind], name=name, allow_unknown=allow_unknown))
    return masks


def check_types(Y: Any, known: Iterable[str], name: str = "Y") -> None:
    """Refuses labels of types that there are not."""
    known = list(known)
    if isinstance(Y, TypedLabels) and set(Y.of_types) <= set(known):
        return
    for i, y in enumerate(Y):
        for kind in y or ():
            if kind not in known:
                raise ValueError(
                    f"{name}[{i}] has labels of type {shown(kind)}; the types are {', '.join(map(repr, known))}"
                )


def _types(Y: Any, name: str = "Y") -> list[Any]:
    """The types that are named anywhere."""
    if not is_listed(Y) or len(Y) == 0:
        raise ValueError(f"{name} is empty; training needs at least one example")
    for i, y in enumerate(Y):
        if y is not None and not isinstance(y, Mapping):
            raise ValueError(f"{name}[{i}] is {shown(y)}; expected a dict from types of nodes to labels")
    return list(dict.fromkeys(kind for y in Y if y is not None for kind in y))


def _by_types(Y: Any, name: str) -> dict[str, list[Any]]:
    return {kind: [None if y is None else y.get(kind) for y in Y] for kind in _types(Y, name)}
