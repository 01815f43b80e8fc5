"""Handwritten words, one image a letter (Kassel 1995; Taskar, Guestrin and Koller 2003)."""

from dataclasses import dataclass
from string import ascii_lowercase

import numpy as np
from numpy.typing import NDArray

from structlearn.datasets._files import arrays_of, find_file, reading

HOME = "https://ai.stanford.edu/~btaskar/ocr"


@dataclass(frozen=True, eq=False, slots=True)
class LetterSequences:
    """Handwritten words.

    Attributes
    ----------
    X : list of (T_i, 128) float arrays
        Pixels 0.0 or 1.0 of the T_i letters of word i, row by row of the 16 by 8 image.
    Y : list of (T_i,) arrays of dtype '<U1'
        The letters 'a' to 'z'.
    folds : (n_words,) int array
        Fold 0 to 9 of each word.
    """

    X: list[NDArray[np.float64]]
    Y: list[NDArray[np.str_]]
    folds: NDArray[np.int64]


def fetch_letters() -> LetterSequences:
    """Read the OCR letters: 6,877 words, 52,152 letters of 26 classes, 10 folds.

    The first letter of each word, often a capital, was removed by the set's authors.

    The file is ``letters/letters.npz``, the set's ``letter.data`` as four arrays: `pixels` (52152, 16)
    uint8, the 128 pixels of each letter packed by :func:`numpy.packbits`; `labels` (52152,), 0 to 25 for
    a to z; `offsets` (6878,), word i being rows ``offsets[i]`` to ``offsets[i + 1] - 1``; `folds` (6877,).

    Returns
    -------
    LetterSequences

    Raises
    ------
    FileNotFoundError
        If the file is neither in ``$STRUCTLEARN_DATA`` nor in the user's cache.
    ValueError
        If the file is damaged or holds something else.
    """
    path = find_file("letters", "letters.npz", HOME)
    with reading(path):
        packed, labels, offsets, folds = arrays_of(path, "pixels", "labels", "offsets", "folds")
        _check_arrays(packed, labels, offsets, folds)
        letters = np.array(list(ascii_lowercase))[labels]
    pixels = np.unpackbits(packed, axis=1).astype(np.float64)
    ends = offsets[1:-1]
    return LetterSequences(np.split(pixels, ends), np.split(letters, ends), folds.astype(np.int64))


def _check_arrays(
    packed: NDArray[np.uint8],
    labels: NDArray[np.integer],
    offsets: NDArray[np.integer],
    folds: NDArray[np.integer],
) -> None:
    if packed.dtype != np.uint8 or packed.shape != (len(labels), 16):
        raise ValueError(f"pixels must be uint8 of shape ({len(labels)}, 16), got {packed.dtype} {packed.shape}")
    if labels.min() < 0 or labels.max() > 25:
        raise ValueError(f"labels must be 0 to 25, got {labels.min()} to {labels.max()}")
    if offsets[0] != 0 or offsets[-1] != len(labels) or np.any(np.diff(offsets) <= 0):
        raise ValueError(f"offsets must increase from 0 to the number of letters, {len(labels)}")
    if len(folds) != len(offsets) - 1:
        raise ValueError(f"{len(offsets) - 1} words but {len(folds)} folds")
