"""Images of three stripes under noise (Iglesias 2013, section 4.3)."""

from dataclasses import dataclass

import numpy as np

from structlearn.data.arrays import FloatArray, IntArray
from structlearn.datasets._checks import RandomState, as_generator, check_at_least

N_STRIPES = 3


@dataclass(frozen=True, eq=False, slots=True)
class StripedImages:
    """Images of three vertical stripes.

    Attributes
    ----------
    X : (n, n_rows, n_columns, 3) float array
        1 in the channel of the pixel's label and 0 in the others, plus noise.
    Y : (n, n_rows, n_columns) int array
        Labels 0, 1 and 2.
    """

    X: FloatArray
    Y: IntArray


def make_stripes(
    n_samples: int = 20,
    noise: float = 0.5,
    *,
    n_rows: int = 12,
    n_columns: int = 12,
    random_state: RandomState = None,
) -> StripedImages:
    """Draw images of three vertical stripes of the same width, with the labels 0, 1 and 2 in random order.

    Data set 3 of Iglesias, *Structured Prediction of Network Data* (2013), section 4.3: a pixel tells little of its
    label, its neighbours much.

    Parameters
    ----------
    n_samples : int
    noise : float
        Standard deviation of the normal noise in each channel of each pixel.
    n_rows, n_columns : int
        Size of the images. Widths of stripes differ by at most one.
    random_state : int, numpy Generator or None
        Seed.

    Returns
    -------
    StripedImages

    Examples
    --------
    >>> from structlearn.datasets import make_stripes
    >>> data = make_stripes(2, noise=0.1, n_rows=4, n_columns=6, random_state=0)
    >>> data.X.shape, data.Y[0].tolist()
    ((2, 4, 6, 3), [[2, 2, 0, 0, 1, 1], [2, 2, 0, 0, 1, 1], [2, 2, 0, 0, 1, 1], [2, 2, 0, 0, 1, 1]])
    """
    check_at_least("n_samples", n_samples, 1)
    check_at_least("noise", noise, 0)
    check_at_least("n_rows", n_rows, 1)
    check_at_least("n_columns", n_columns, N_STRIPES)

    rng = as_generator(random_state)
    orders = rng.permuted(np.tile(np.arange(N_STRIPES), (n_samples, 1)), axis=1)
    stripes = np.arange(n_columns) * N_STRIPES // n_columns
    Y = np.repeat(orders[:, np.newaxis, stripes], n_rows, axis=1)
    X = np.eye(N_STRIPES)[Y] + noise * rng.standard_normal((*Y.shape, N_STRIPES))
    return StripedImages(X, Y)
