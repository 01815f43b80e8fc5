"""Synthetic two-label sequences with known truth (Iglesias 2013, sections 4.1 and 4.2)."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from structlearn.datasets._checks import RandomState, as_generator, check_at_least, check_fraction


@dataclass(frozen=True, eq=False, slots=True)
class HMMSequences:
    """Sequences drawn from a two-state hidden Markov model, with its parameters.

    State 0 carries the label -1 and state 1 the label +1.

    Attributes
    ----------
    X : list of (T, d) float arrays
        Observations.
    Y : list of (T,) int arrays
        Labels -1 and +1.
    start : (2,) float array
        Probability of each state at the first position.
    transition : (2, 2) float array
        ``transition[r, s]`` is the probability of moving from state r to state s; rows sum to one.
    means, variances : (2, d) float arrays
        Of the Gaussian that emits each feature in each state.
    """

    X: list[NDArray[np.float64]]
    Y: list[NDArray[np.int64]]
    start: NDArray[np.float64]
    transition: NDArray[np.float64]
    means: NDArray[np.float64]
    variances: NDArray[np.float64]


@dataclass(frozen=True, eq=False, slots=True)
class BlockSequences:
    """Sequences with blocks of positive labels under heavily distorted features.

    Attributes
    ----------
    X : list of (T, d) float arrays
        Features.
    Y : list of (T,) int arrays
        Labels -1 and +1.
    noise_features : (k,) int array
        Columns that carry no information, in increasing order.
    """

    X: list[NDArray[np.float64]]
    Y: list[NDArray[np.int64]]
    noise_features: NDArray[np.int64]


def make_hmm_sequences(
    n_sequences: int = 200,
    *,
    length: int = 250,
    n_features: int = 10,
    stay: tuple[float, float] = (0.8, 1.0),
    random_state: RandomState = None,
) -> HMMSequences:
    """Draw sequences from a random two-state hidden Markov model with Gaussian emissions.

    Data set 1 of Iglesias, *Structured Prediction of Network Data* (2013), section 4.1. In state s every
    feature is Gaussian with mean -1 (s = 0) or +1 (s = 1) and a variance drawn from U[0, 1] once for each
    feature and state. Both states are equally likely at the start.

    Parameters
    ----------
    n_sequences, length, n_features : int
        Number of sequences, their common length T and the number d of features.
    stay : (low, high)
        Each state's probability of staying is drawn from U[low, high]. The source says only that
        staying is much more probable than moving.
    random_state : int, numpy Generator or None
        Seed.

    Returns
    -------
    HMMSequences

    Examples
    --------
    >>> from structlearn.datasets import make_hmm_sequences
    >>> data = make_hmm_sequences(3, length=20, random_state=0)
    >>> data.X[0].shape, data.Y[0].shape, data.transition.sum(axis=1).tolist()
    ((20, 10), (20,), [1.0, 1.0])
    """
    check_at_least("n_sequences", n_sequences, 1)
    check_at_least("length", length, 1)
    check_at_least("n_features", n_features, 1)
    low, high = stay
    if not 0 <= low <= high <= 1:
        raise ValueError(f"stay must satisfy 0 <= low <= high <= 1, got {stay!r}")

    rng = as_generator(random_state)
    p, q = rng.uniform(low, high, size=2)
    start = np.array([0.5, 0.5])
    transition = np.array([[p, 1 - p], [1 - q, q]])
    means = np.repeat([[-1.0], [1.0]], n_features, axis=1)
    variances = rng.uniform(size=(2, n_features))

    states = np.empty((n_sequences, length), dtype=np.int64)
    states[:, 0] = rng.uniform(size=n_sequences) < start[1]
    for t in range(1, length):
        states[:, t] = rng.uniform(size=n_sequences) < transition[states[:, t - 1], 1]
    noise = rng.standard_normal((n_sequences, length, n_features))
    observations = means[states] + np.sqrt(variances)[states] * noise
    return HMMSequences(list(observations), list(2 * states - 1), start, transition, means, variances)


def make_block_sequences(
    n_sequences: int = 200,
    *,
    length: int = 250,
    n_features: int = 10,
    n_blocks: tuple[int, int] = (2, 6),
    block_length: tuple[int, int] = (10, 60),
    prop_distort: float = 0.2,
    noise: float = 4.0,
    n_noise_features: int = 2,
    random_state: RandomState = None,
) -> BlockSequences:
    """Draw sequences of blocks of +1 among -1, seen through flipped and noisy copies of the labels.

    Data set 2 of Iglesias, *Structured Prediction of Network Data* (2013), section 4.2 and listing B.2.
    A sequence starts as all -1; blocks of +1 are laid at uniform places and may overlap. Each feature is
    a copy of all labels of all sequences in which ``round(N * prop_distort)`` of the N positions, chosen
    anew for each feature, have their sign flipped, plus Gaussian noise. Finally some features are
    replaced by white noise of the same standard deviation.

    The source leaves `n_blocks`, `block_length` and `n_noise_features` open; the defaults give about 40 %
    positive labels and an accuracy of a maximum-likelihood HMM near the printed one from 10 % distortion on.

    Parameters
    ----------
    n_sequences, length, n_features : int
        Number of sequences, their common length T and the number d of features.
    n_blocks : (low, high)
        The number of blocks in a sequence is uniform on ``range(low, high)``.
    block_length : (low, high)
        A block covers r + 1 positions with r uniform on ``range(low, high)``, as in the source.
    prop_distort : float
        Fraction of positions flipped in each feature, in [0, 1].
    noise : float
        Standard deviation of the noise.
    n_noise_features : int
        Number of features replaced by white noise, chosen at random.
    random_state : int, numpy Generator or None
        Seed.

    Returns
    -------
    BlockSequences

    Examples
    --------
    >>> from structlearn.datasets import make_block_sequences
    >>> data = make_block_sequences(3, random_state=0)
    >>> data.X[0].shape, sorted(set(data.Y[0].tolist())), len(data.noise_features)
    ((250, 10), [-1, 1], 2)
    """
    check_at_least("n_sequences", n_sequences, 1)
    check_at_least("length", length, 1)
    check_at_least("n_features", n_features, 1)
    if not 0 <= n_blocks[0] < n_blocks[1]:
        raise ValueError(f"n_blocks must satisfy 0 <= low < high, got {n_blocks!r}")
    if not 0 <= block_length[0] < block_length[1] <= length:
        raise ValueError(f"block_length must satisfy 0 <= low < high <= length = {length}, got {block_length!r}")
    check_fraction("prop_distort", prop_distort)
    check_at_least("noise", noise, 0)
    if not 0 <= n_noise_features <= n_features:
        raise ValueError(f"n_noise_features must lie between 0 and n_features = {n_features}, got {n_noise_features!r}")

    rng = as_generator(random_state)
    labels = np.full((n_sequences, length), -1, dtype=np.int64)
    for y in labels:
        for reach in rng.integers(*block_length, size=rng.integers(*n_blocks)):
            first = rng.integers(length - reach)
            y[first : first + reach + 1] = 1

    pooled = labels.ravel()
    signal = np.repeat(pooled[:, np.newaxis].astype(np.float64), n_features, axis=1)
    n_flipped = round(len(pooled) * prop_distort)
    for feature in range(n_features):
        signal[rng.permutation(len(pooled))[:n_flipped], feature] *= -1
    noise_features = np.sort(rng.choice(n_features, size=n_noise_features, replace=False))
    signal[:, noise_features] = 0
    signal += noise * rng.standard_normal(signal.shape)
    return BlockSequences(list(signal.reshape(n_sequences, length, n_features)), list(labels), noise_features)
