"""Points and noisy copies of them in another order, to be matched."""

from dataclasses import dataclass

import numpy as np

from structlearn.data.arrays import FloatArray
from structlearn.data.matchings import Pair
from structlearn.datasets._checks import RandomState, as_generator, check_at_least


@dataclass(frozen=True, eq=False, slots=True)
class MatchedPoints:
    """Tables of the distances of points and their copies, and which belong together.

    Attributes
    ----------
    X : list of (n_points, n_points, n_features) float arrays
        How far a point and a copy are apart in each coordinate.
    Y : list of tuples of (row, column)
        Which copy is of which point.
    """

    X: list[FloatArray]
    Y: list[tuple[Pair, ...]]


def make_matchings(
    n_examples: int = 50,
    *,
    n_points: int = 6,
    n_features: int = 5,
    noise: float = 0.3,
    random_state: RandomState = None,
) -> MatchedPoints:
    """Draw points and copies of them under noise, in random order.

    Coordinates are normal; the noise of coordinate k is `noise` times k + 1, so that the first ones tell more.

    Parameters
    ----------
    n_examples, n_points, n_features : int
    noise : float
        Standard deviation of the noise in the first coordinate of the copies.
    random_state : int, numpy Generator or None
        Seed.

    Returns
    -------
    MatchedPoints

    Examples
    --------
    >>> from structlearn.datasets import make_matchings
    >>> data = make_matchings(2, n_points=3, random_state=0)
    >>> data.X[0].shape, data.Y[0]
    ((3, 3, 5), ((0, 2), (1, 0), (2, 1)))
    """
    for name, value in (("n_examples", n_examples), ("n_points", n_points), ("n_features", n_features)):
        check_at_least(name, value, 1)
    check_at_least("noise", noise, 0)
    rng = as_generator(random_state)
    data = MatchedPoints([], [])
    for _ in range(n_examples):
        points = rng.standard_normal((n_points, n_features))
        copies = points + noise * np.arange(1, n_features + 1) * rng.standard_normal(points.shape)
        order = rng.permutation(n_points)
        data.X.append(np.abs(points[:, None] - copies[order]))
        data.Y.append(tuple(enumerate(np.argsort(order).tolist())))
    return data
