"""Points of Gaussian classes, dense or sparse."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from structlearn.datasets._checks import RandomState, as_generator, check_at_least, check_fraction


@dataclass(frozen=True, eq=False, slots=True)
class Multiclass:
    """Points of Gaussian classes.

    Attributes
    ----------
    X : (n, d) float array or CSR array
        Points.
    Y : (n,) int array
        Classes 0 to K - 1, after label noise.
    means : (K, d) float array
        Class means.
    """

    X: "NDArray[np.float64] | csr_array[np.float64]"
    Y: NDArray[np.int64]
    means: NDArray[np.float64]


def make_multiclass(
    n_samples: int = 300,
    *,
    n_features: int = 10,
    n_classes: int = 5,
    separation: float = 3.0,
    label_noise: float = 0.0,
    density: float | None = None,
    random_state: RandomState = None,
) -> Multiclass:
    """Draw points of equally frequent Gaussian classes with unit covariance.

    The K class means are uniform on the sphere of radius `separation` in d dimensions, so that two
    classes lie about √2 · separation standard deviations apart.

    Parameters
    ----------
    n_samples, n_features, n_classes : int
        Number n of points, of dimensions d and of classes K. Class frequencies differ by at most one
        before label noise.
    separation : float
        Length of the class means.
    label_noise : float
        Fraction of the labels, in [0, 1], replaced by another class chosen uniformly.
    density : float or None
        None gives a dense X. A number in [0, 1] gives a CSR array in which each point keeps that
        fraction of its entries, at random places.
    random_state : int, numpy Generator or None
        Seed.

    Returns
    -------
    Multiclass

    Examples
    --------
    >>> from structlearn.datasets import make_multiclass
    >>> data = make_multiclass(100, density=0.2, random_state=0)
    >>> data.X.shape, data.X.nnz, sorted(set(data.Y.tolist()))
    ((100, 10), 200, [0, 1, 2, 3, 4])
    """
    check_at_least("n_samples", n_samples, 1)
    check_at_least("n_features", n_features, 1)
    check_at_least("n_classes", n_classes, 2)
    check_at_least("separation", separation, 0)
    check_fraction("label_noise", label_noise)

    rng = as_generator(random_state)
    means = rng.standard_normal((n_classes, n_features))
    means *= separation / np.linalg.norm(means, axis=1, keepdims=True)
    classes = rng.permutation(np.arange(n_samples) % n_classes)
    X: NDArray[np.float64] | csr_array[np.float64]
    if density is None:
        X = means[classes] + rng.standard_normal((n_samples, n_features))
    else:
        check_fraction("density", density)
        n_kept = round(n_features * density)
        kept = np.array([np.sort(rng.choice(n_features, n_kept, replace=False)) for _ in classes])
        values = means[classes[:, np.newaxis], kept] + rng.standard_normal(kept.shape)
        row_starts = np.arange(n_samples + 1) * n_kept
        X = csr_array((values.ravel(), kept.ravel(), row_starts), shape=(n_samples, n_features))

    Y = classes.copy()
    noisy = rng.permutation(n_samples)[: round(n_samples * label_noise)]
    Y[noisy] += rng.integers(1, n_classes, size=len(noisy))
    return Multiclass(X, Y % n_classes, means)
