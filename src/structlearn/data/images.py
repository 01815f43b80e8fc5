"""Images as users give them: features of pixels, and labels of pixels."""

from __future__ import annotations

from typing import Any

import numpy as np

from structlearn.data.arrays import FloatArray, LabelArray
from structlearn.data.examples import is_listed
from structlearn.data.labels import LabelSequences, read_label_sequences
from structlearn.data.matrices import LARGEST_FEATURE, checked_numbers
from structlearn.data.ragged import Ragged, offsets_of
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


class LabelImages:
    """Labels of the pixels of several images, as codes of classes."""

    def __init__(self, labels: LabelSequences, shapes: list[tuple[int, int]]):
        self.labels = labels
        self.shapes = shapes

    def __len__(self) -> int:
        return len(self.shapes)

    def coded(self, classes: tuple[Any, ...], images: list[FloatArray], *, allow_unknown: bool) -> list[LabelArray]:
        """Codes among other classes, −1 for what is none of them, refused where they do not fit the images."""
        if len(self) != len(images):
            raise ValueError(f"X has {len(images)} images but Y has {len(self)}")
        for i, (shape, image) in enumerate(zip(self.shapes, images, strict=True)):
            if shape != image.shape[:2]:
                raise ValueError(f"Y[{i}] has shape {shape} but X[{i}] has {image.shape[:2]} pixels")
        flat = self.labels.coded(classes, self.labels.offsets, allow_unknown=allow_unknown)
        parts = Ragged(flat, self.labels.offsets)
        return [part.reshape(shape) for part, shape in zip(parts, self.shapes, strict=True)]


def read_label_images(Y: Any) -> LabelImages:
    """A list of (n_rows, n_columns) arrays or lists of labels."""
    if isinstance(Y, LabelImages):
        return Y
    if not is_listed(Y):
        raise ValueError(f"Y is {shown(Y)}; expected a list of label images, (n_rows, n_columns) each")
    flat, shapes = [], []
    for i, y in enumerate(Y):
        array = y if isinstance(y, np.ndarray) else np.array(y, object if _has_text(y) else None)
        if array.ndim != 2:
            told = "; put the labels of one image into a list, [labels]" if array.ndim == 1 else ""
            raise ValueError(f"Y[{i}] has {array.ndim} dimensions; expected (n_rows, n_columns) labels{told}")
        flat.append(array.ravel().tolist())
        shapes.append((int(array.shape[0]), int(array.shape[1])))
    labels = read_label_sequences(flat)
    assert np.array_equal(labels.offsets, offsets_of([len(one) for one in flat]))
    return LabelImages(labels, shapes)


def _has_text(y: Any) -> bool:
    return is_listed(y) and any(is_listed(row) and any(not isinstance(v, (int, float)) for v in row) for row in y)
