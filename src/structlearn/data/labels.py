"""Labels of any hashable type and their integer codes."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Hashable, Iterable, Sequence
from itertools import chain, count, pairwise, repeat
from typing import Any, NoReturn

import numpy as np
import numpy.typing as npt

from structlearn.data.arrays import IntArray, LabelArray
from structlearn.data.examples import SEQUENCES, Words, is_listed
from structlearn.data.ragged import Ragged, locate, offsets_of
from structlearn.wording import shown


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


def declared_classes(classes: Iterable[Any], name: str = "classes") -> tuple[Any, ...]:
    if not isinstance(classes, Iterable):
        raise ValueError(f"{name} is {shown(classes)}; it must be a list of labels")
    result = tuple(plain(label) for label in classes)
    for k, label in enumerate(result):
        check_label(label, f"{name}[{k}]")
    if not result:
        raise ValueError(f"{name} is empty; declare at least one label or leave it None")
    repeated = [label for label in result if result.count(label) > 1]
    if repeated:
        raise ValueError(f"{name} has {shown(repeated[0])} more than once")
    return result


class Labels(list[Any]):
    """Labels, one an example, that have been checked."""


def read_labels(Y: Any) -> Labels:
    """One label an example, in a list or an array; names what is none."""
    if isinstance(Y, Labels):
        return Y
    if Y is None:
        raise ValueError("this model requires y to be passed, but the target y is None")
    if isinstance(Y, (list, tuple)) and not all(isinstance(y, (int, float, str, np.generic)) for y in Y):
        for i, y in enumerate(Y):
            if isinstance(y, set) and y:
                raise partial_label(f"Y[{i}]", y)
        if any(isinstance(y, (list, np.ndarray)) for y in Y):
            raise ValueError("Y must hold one label an example; for sequences of labels use Chain")
        for i, y in enumerate(Y):
            check_label(y, f"Y[{i}]")
        return Labels(Y)
    shape = np.asarray(Y).shape
    if len(shape) > 2 or (len(shape) == 2 and 0 in shape):
        raise ValueError(f"Y has the shape {shape}; one label an example is expected")
    from sklearn.utils import column_or_1d

    Y = column_or_1d(Y, warn=True)
    for i, y in enumerate(Y if Y.dtype.kind == "O" else ()):
        check_label(y, f"Y[{i}]")
    if Y.dtype.kind == "f" and not np.isfinite(Y).all():
        i = int(np.argmin(np.isfinite(Y)))
        raise ValueError(f"Y[{i}] is {Y[i]}")
    if Y.dtype.kind == "f" and np.any(np.round(Y) != Y):
        i = int(np.argmax(np.round(Y) != Y))
        raise ValueError(f"Unknown label type: continuous. Y[{i}] is {Y[i]}; labels are classes, not measurements")
    return Labels(Y.tolist())


class LabelSequences(Ragged):
    """Labels of several sequences as codes, and the classes that these are of; see `read_label_sequences`."""

    __slots__ = ("classes",)

    def __init__(self, codes: LabelArray, offsets: IntArray, classes: tuple[Any, ...]):
        super().__init__(codes, offsets)
        self.classes = classes

    def listed(self) -> list[list[Any]]:
        """The labels themselves."""
        labels = [self.classes[code] for code in self.flat.tolist()]
        return [labels[begin:end] for begin, end in pairwise(self.offsets.tolist())]

    def take(self, which: npt.ArrayLike) -> LabelSequences:
        chosen = super().take(which)
        return LabelSequences(chosen.flat, chosen.offsets, self.classes)

    def between(self, begin: int, end: int) -> LabelSequences:
        """The labels of neighbouring sequences, without a copy."""
        offsets = self.offsets[begin : end + 1]
        return LabelSequences(self.flat[offsets[0] : offsets[-1]], offsets - offsets[0], self.classes)

    def check_lengths(self, offsets: IntArray, words: Words = SEQUENCES) -> None:
        """Refuses labels that are not those of sequences which begin at these offsets."""
        if len(self) != len(offsets) - 1:
            raise ValueError(f"X has {len(offsets) - 1} {words.example}s but Y has {len(self)}")
        if not np.array_equal(self.offsets, offsets):
            i = int(np.argmax(self.lengths != np.diff(offsets)))
            raise ValueError(f"Y[{i}] has {self.lengths[i]} labels but X[{i}] has {np.diff(offsets)[i]} {words.places}")

    def coded(
        self, classes: tuple[Any, ...], offsets: IntArray, *, allow_unknown: bool = False, words: Words = SEQUENCES
    ) -> LabelArray:
        """Codes among other classes, −1 for what is none of them, where the sequences of X begin at these offsets."""
        self.check_lengths(offsets, words)
        codes: LabelArray = self.flat
        if self.classes == classes:
            return codes
        codes = np.asarray(LabelCodes(classes, allow_unknown=True).encode(self.classes, "Y")[self.flat])
        if not allow_unknown and codes.min(initial=0) < 0:
            place = int(np.argmax(codes < 0))
            i, t = locate(offsets, place)
            raise unknown_label(f"Y[{i}][{t}]", self.classes[self.flat[place]], classes)
        return codes


def read_label_sequences(Y: Any, words: Words = SEQUENCES) -> LabelSequences:
    """Lists of labels in one reading; names what is none. `words` are for messages.

    >>> Y = read_label_sequences([["b", "a"], ["b"]])
    >>> Y.flat, Y.classes
    (array([1, 0, 1], dtype=int32), ('a', 'b'))
    """
    if isinstance(Y, LabelSequences):
        return Y
    if not is_listed(Y) or len(Y) == 0:
        raise ValueError(f"Y is empty; training needs at least one {words.example}")
    for i, y in enumerate(Y):
        if not is_listed(y):
            raise ValueError(f"Y[{i}] is {shown(y)}; expected a sequence of labels")
    lists = [y.tolist() if isinstance(y, np.ndarray) else y for y in Y]
    numbers: defaultdict[Any, int] = defaultdict(count().__next__)
    try:
        found = np.fromiter(map(numbers.__getitem__, chain.from_iterable(lists)), np.int32)
    except TypeError:
        found = None
    if found is None or any(label != label for label in numbers if isinstance(label, float)):
        _refuse_labels(lists)
    classes = observed_classes(numbers)
    codes = LabelCodes(classes).encode(list(numbers), "Y")
    return LabelSequences(codes[found], offsets_of([len(y) for y in lists]), classes)


def known_labels(entry: Any) -> tuple[Any, ...]:
    """What is said of a place: one of these labels stands there; nothing, if there are none.

    >>> known_labels("a"), known_labels(["a", "b"]), known_labels(None)
    (('a',), ('a', 'b'), ())
    """
    if entry is None:
        return ()
    return tuple(entry) if isinstance(entry, (set, frozenset, list)) else (entry,)


def is_partial(label: Any) -> bool:
    """Whether something says of a label only in part which it is: nothing, or one of several.

    >>> is_partial(None), is_partial({"a", "b"}), is_partial("a")
    (True, True, False)
    """
    return label is None or (isinstance(label, (set, frozenset, list)) and len(label) > 0)


def partial_label(where: str, label: Any) -> ValueError:
    """The refusal where whole truths are needed."""
    return ValueError(
        f"{where} is {shown(label)}: labels that are known in part are for LatentStructuralSVM and "
        "LatentConditionalRandomField"
    )


def check_label(label: Any, where: str, what: str = "a label") -> None:
    """Refuses what cannot be told from other labels."""
    if isinstance(label, float) and label != label:
        raise ValueError(f"{where} is nan; {what} must be equal to itself")
    try:
        hash(label)
    except TypeError:
        raise ValueError(f"{where} is {shown(label)}; {what} must be hashable, such as a text") from None


def _refuse_labels(lists: Sequence[Any]) -> NoReturn:
    """Names the first label that can be none."""
    for i, labels in enumerate(lists):
        for t, label in enumerate(labels):
            if is_partial(label):
                raise partial_label(f"Y[{i}][{t}]", label)
            check_label(label, f"Y[{i}][{t}]")
    raise AssertionError("all labels can be labels")


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
                raise unknown_label(f"{where}[{k}]", label, list(self._codes))
            codes[k] = code
        return codes


def unknown_label(where: str, label: Any, classes: Sequence[Any]) -> ValueError:
    return ValueError(f"{where} is {shown(label)}, which is not among the {len(classes)} classes ({_shorten(classes)})")


def label_array(classes: Sequence[Any]) -> npt.NDArray[Any]:
    """The labels as an array that can be indexed by code: typed where they are alike, of objects otherwise."""
    kinds = {type(label) for label in classes}
    if len(kinds) == 1 and kinds <= {bool, int, float, str, bytes}:
        return np.array(classes)
    array = np.empty(len(classes), object)
    array[:] = classes
    return array


def _shorten(labels: Sequence[Any]) -> str:
    names = [shown(label) for label in labels[:8]]
    return ", ".join(names + ["…"] * (len(labels) > 8))
