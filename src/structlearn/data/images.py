"""Images as users give them: features of pixels, and labels of pixels."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import count
from typing import Any, NoReturn

import numpy as np
import numpy.typing as npt

from structlearn.data.arrays import Flags, FloatArray, LabelArray
from structlearn.data.examples import is_listed
from structlearn.data.known.labels import label_flags
from structlearn.data.labels import (
    check_label,
    is_partial,
    known_labels,
    observed_classes,
    partial_label,
    plain,
    unknown_label,
)
from structlearn.data.matrices import LARGEST_FEATURE, checked_numbers
from structlearn.wording import shown


def read_images(X: Any) -> list[FloatArray]:
    """A list of (n_rows, n_columns, n_channels) arrays of finite numbers; images of one channel may have two axes.

    >>> [image.shape for image in read_images([np.zeros((2, 3)), np.ones((4, 4, 1))])]
    [(2, 3, 1), (4, 4, 1)]
    """
    if not is_listed(X):
        raise ValueError(f"X is {shown(X)}; expected a list of images, (n_rows, n_columns, n_channels) each")
    if len(X) == 0:
        raise ValueError("X is empty; at least one image is needed")
    if isinstance(X, np.ndarray) and X.ndim == 2:
        raise ValueError(f"X has shape {X.shape}; expected a list of images: put one image into a list, [image]")
    images = [_image(x, f"X[{i}]") for i, x in enumerate(X)]
    for i, image in enumerate(images):
        if image.shape[2] != images[0].shape[2]:
            raise ValueError(f"X[{i}] has {image.shape[2]} channels but X[0] has {images[0].shape[2]}")
    return images


def _image(x: Any, name: str) -> FloatArray:
    array = np.asarray(checked_numbers(x, name), np.float64)
    array = array[:, :, None] if array.ndim == 2 else array
    if array.ndim != 3 or 0 in array.shape:
        raise ValueError(f"{name} has shape {array.shape}; expected (n_rows, n_columns, n_channels), none of them 0")
    # Not a number is not below anything.
    bad = np.argwhere(~(np.abs(array) <= LARGEST_FEATURE))
    if len(bad):
        r, c, k = bad[0].tolist()
        raise ValueError(f"{name}[{r}, {c}, {k}] is {array[r, c, k]}; expected a finite number")
    return np.ascontiguousarray(array)


@dataclass(frozen=True, eq=False)
class LabelImages:
    """What is said of the pixels of several images: the label of each, one of several, or nothing.

    Attributes
    ----------
    kinds : list of (n_rows, n_columns) arrays
        The number of what is said of each pixel.
    said : tuple
        What is said: a label, a frozenset of labels of which one stands there, or None for nothing.
    name : str
        What the images are called in messages.
    """

    kinds: list[LabelArray]
    said: tuple[Any, ...]
    name: str = "Y"

    def __len__(self) -> int:
        return len(self.kinds)

    @cached_property
    def classes(self) -> tuple[Any, ...]:
        """All labels that are named, alone or among several."""
        return observed_classes(label for entry in self.said for label in known_labels(entry))

    def coded(self, classes: tuple[Any, ...], *, allow_unknown: bool) -> list[LabelArray]:
        """Codes of whole label images, −1 for what is none of the classes; refuses pixels that are known in part."""
        codes = {label: code for code, label in enumerate(classes)}
        for kind, entry in enumerate(self.said):
            if entry not in codes and is_partial(entry):
                raise partial_label(self._where(kind), entry)
            if entry not in codes and not allow_unknown:
                raise unknown_label(self._where(kind), entry, classes)
        of_kinds = np.array([codes.get(entry, -1) for entry in self.said], np.int32)
        return [of_kinds[kinds] for kinds in self.kinds]

    def possible(self, classes: tuple[Any, ...], *, allow_unknown: bool = False) -> Flags:
        """Which labels each kind of pixel may have, (n_kinds, n_labels); with `allow_unknown` perhaps none."""
        codes = {label: code for code, label in enumerate(classes)}
        flags = np.empty((len(self.said), len(classes)), bool)
        for kind, entry in enumerate(self.said):
            flags[kind] = label_flags(entry, codes, self._where(kind), allow_unknown=allow_unknown)
        return flags

    @property
    def whole(self) -> bool:
        """Whether all labels are known."""
        return not any(map(is_partial, self.said))

    def beside(self, predicted: Sequence[npt.NDArray[Any]]) -> list[npt.NDArray[Any]]:
        """The labels as truths of predictions: None where nothing is known, and one of several that is right if any is.

        >>> found = read_label_images([[[{"a", "b"}, None]]], [np.zeros((1, 2, 1))]).beside([np.array([["b", "a"]])])
        >>> found[0].tolist()
        [['b', None]]
        """
        truths = []
        for kinds, labels in zip(self.kinds, predicted, strict=True):
            truth = np.fromiter(self.said, object, len(self.said))[kinds]
            for kind in (kind for kind, entry in enumerate(self.said) if isinstance(entry, frozenset)):
                one = observed_classes(self.said[kind])[0]
                for place in map(tuple, np.argwhere(kinds == kind)):
                    truth[place] = plain(labels[place]) if labels[place] in self.said[kind] else one
            truths.append(truth)
        return truths

    def check_truths(self, truths: list[LabelArray], classes: tuple[Any, ...], possible: Flags) -> None:
        """Refuses codes of whole label images that are not among what is possible here."""
        for i, (codes, kinds) in enumerate(zip(truths, self.kinds, strict=True)):
            barred = np.argwhere(~possible[kinds, codes])
            if len(barred):
                r, c = barred[0].tolist()
                raise ValueError(f"Y[{i}][{r}, {c}] is {shown(classes[codes[r, c]])}, which is not allowed there")

    def _where(self, kind: int) -> str:
        """The first pixel of which this is said."""
        i = next(i for i, kinds in enumerate(self.kinds) if (kinds == kind).any())
        r, c = np.argwhere(self.kinds[i] == kind)[0].tolist()
        return f"{self.name}[{i}][{r}, {c}]"


def read_label_images(Y: Any, images: Sequence[FloatArray], *, name: str = "Y") -> LabelImages:
    """A label for each pixel of some images, or what is known of it.

    Parameters
    ----------
    Y : list of (n_rows, n_columns) arrays or lists
        Of each pixel a label, a set of labels of which one stands there, or None or NaN for nothing; masked arrays say
        nothing where they are masked. None for a whole image says nothing about it.
    images : list of arrays
        What the labels must fit.
    name : str
        For messages.

    Examples
    --------
    >>> Y = read_label_images([[["sea", None], [{"sea", "sky"}, "sky"]], None], [np.zeros((2, 2, 1))] * 2)
    >>> Y.classes, Y.possible(("land", "sea", "sky")).astype(int)[Y.kinds[0][:, 1]].tolist()
    (('sea', 'sky'), [[1, 1, 1], [0, 0, 1]])
    """
    if not is_listed(Y):
        raise ValueError(f"{name} is {shown(Y)}; expected a list of label images, (n_rows, n_columns) each")
    if len(Y) != len(images):
        single = len(images) == 1 and len(Y) == len(images[0]) and np.ndim(Y[0]) == 1
        told = "; put the labels of one image into a list, [labels]" if single else ""
        raise ValueError(f"X has {len(images)} images but {name} has {len(Y)}{told}")
    found: LabelImages = Y if isinstance(Y, LabelImages) else _numbered(Y, images, name)
    for i, (kinds, image) in enumerate(zip(found.kinds, images, strict=True)):
        if kinds.shape != image.shape[:2]:
            raise ValueError(f"{name}[{i}] has shape {kinds.shape} but X[{i}] has {image.shape[:2]} pixels")
    return found


def _numbered(Y: Sequence[Any], images: Sequence[FloatArray], name: str) -> LabelImages:
    numbers: defaultdict[Any, int] = defaultdict(count().__next__)
    found = []
    for i, (y, image) in enumerate(zip(Y, images, strict=True)):
        if y is None:
            found.append(np.full(image.shape[:2], numbers[None], np.int32))
            continue
        array = _table(y, f"{name}[{i}]")
        entries = array.ravel().tolist()
        try:
            kinds = np.fromiter((numbers[_entry(entry)] for entry in entries), np.int32, len(entries))
        except TypeError:
            _refuse_entries(entries, array.shape[1], f"{name}[{i}]")
        found.append(kinds.reshape(array.shape))
    return LabelImages(found, tuple(numbers), name)


def _table(y: Any, where: str) -> npt.NDArray[Any]:
    if not is_listed(y):
        raise ValueError(f"{where} is {shown(y)}; expected (n_rows, n_columns) labels")
    array = y if isinstance(y, np.ndarray) else np.array(y, object if _has_text(y) else None)
    if array.ndim != 2:
        raise ValueError(f"{where} has {array.ndim} dimensions; expected (n_rows, n_columns) labels")
    return array


def _entry(entry: Any) -> Any:
    """What is said of a pixel, as it is looked up: arrays of numbers have NaN in place of None."""
    if isinstance(entry, (set, list)):
        return frozenset(entry)
    return None if isinstance(entry, float) and entry != entry else entry


def _refuse_entries(entries: list[Any], n_columns: int, where: str) -> NoReturn:
    """Names the first that is no label and no set of labels."""
    for place, entry in enumerate(entries):
        for label in known_labels(entry):
            check_label(label, f"{where}[{place // n_columns}, {place % n_columns}]")
    raise AssertionError("all entries can be looked up")


def _has_text(y: Any) -> bool:
    return any(is_listed(row) and any(not isinstance(v, (int, float)) for v in row) for row in y)
