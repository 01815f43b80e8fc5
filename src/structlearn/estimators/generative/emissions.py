"""Emissions b_s(x) of a hidden Markov model: how well a token x fits each label s."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any, Self

import numpy as np
import scipy.sparse as sp

from structlearn.contract import Estimator
from structlearn.data.arrays import FloatArray, IntArray, LabelArray
from structlearn.data.examples import check_examples, is_listed
from structlearn.data.fields import check_tuple, check_whole
from structlearn.data.labels import LabelCodes, check_label, declared_classes, label_array, observed_classes, plain
from structlearn.data.options import real_option
from structlearn.data.tokens.sequences import check_tokens, stack
from structlearn.estimators.generative.probabilities import (
    Smoothing,
    check_smoothing,
    checked_distributions,
    frequencies,
    log,
)
from structlearn.wording import shown


class Emission(Estimator, ABC):
    """Base class; an emission of your own has these methods.

    Tokens are one array with an entry or a row a token, labels are codes from 0 to n_labels − 1.
    """

    n_labels_: int

    @abstractmethod
    def stack(self, X: Any) -> tuple[Any, IntArray]:
        """All tokens of the sequences X as one array, and the offsets of the sequences in it."""

    @abstractmethod
    def fit(self, tokens: Any, codes: LabelArray, n_labels: int) -> Self:
        """Learns from tokens and their labels; a label may have none."""

    @abstractmethod
    def log_score(self, tokens: Any) -> FloatArray:
        """log b_s(x) of every token and label, (n_tokens, n_labels)."""


class Discrete(Emission):
    """b_s(v) = (n_{s,v} + smoothing) / Σ_u (n_{s,u} + smoothing) with n_{s,v} the number of tokens v with label s.

    The sum has one more term, with a count of 0, for all symbols that training did not show; that is their probability.

    Parameters
    ----------
    smoothing : float or "floor"
        Added to every count; "floor" raises counts below 1 to 1. With 0 an unseen symbol has probability 0.

    Attributes
    ----------
    symbols_ : tuple
    probabilities_ : (n_labels, n_symbols + 1)
        The last column is that of the unseen symbols.

    Notes
    -----
    A sequence is a list, an array or a string of symbols of any hashable type, one a token. Samples have the symbols
    that were seen, with their probabilities renormalised.

    Examples
    --------
    >>> coin = Discrete(smoothing=1).fit(["head", "tail", "head"], np.array([0, 0, 1]), n_labels=2)
    >>> np.exp(coin.log_score(["head", "edge"])).round(3).tolist()
    [[0.4, 0.5], [0.2, 0.25]]
    """

    def __init__(self, smoothing: Smoothing = 1.0):
        self.smoothing = smoothing

    def check_options(self) -> None:
        check_smoothing(self.smoothing)

    @classmethod
    def from_parameters(cls, symbols: Sequence[Any], probabilities: Any) -> Self:
        """Given probabilities, (n_labels, n_symbols); other symbols have probability 0."""
        emission = cls(smoothing=0.0)
        emission.symbols_ = declared_classes(symbols)
        given = checked_distributions("probabilities", probabilities, (None, len(emission.symbols_)))
        emission.probabilities_ = np.pad(given, ((0, 0), (0, 1)))
        emission.n_labels_ = len(given)
        return emission

    def stack(self, X: Any) -> tuple[Any, IntArray]:
        check_examples("X", X)
        if len(X) == 0:
            raise ValueError("X is empty; at least one sequence is needed")
        symbols: list[Any] = []
        offsets = np.zeros(len(X) + 1, np.int64)
        for i, x in enumerate(X):
            if not (is_listed(x) or isinstance(x, str)):
                raise ValueError(f"X[{i}] is {shown(x)}; expected a sequence of symbols")
            if len(x) == 0:
                raise ValueError(f"X[{i}] is an empty sequence")
            for t, symbol in enumerate(map(plain, x)):
                check_label(symbol, f"X[{i}][{t}]", "a symbol")
                symbols.append(symbol)
            offsets[i + 1] = len(symbols)
        return np.fromiter(symbols, object, len(symbols)), offsets

    def fit(self, tokens: Any, codes: LabelArray, n_labels: int) -> Self:
        symbols = observed_classes(tokens)
        counts = np.zeros((n_labels, len(symbols) + 1))
        np.add.at(counts, (codes, LabelCodes(symbols).encode(tokens, "tokens")), 1.0)
        self.probabilities_ = frequencies(counts, self.smoothing)
        self.symbols_, self.n_labels_ = symbols, n_labels
        return self

    def log_score(self, tokens: Any) -> FloatArray:
        # An unknown symbol has the code −1, which is the last column.
        codes = LabelCodes(self.symbols_, allow_unknown=True).encode(tokens, "tokens")
        return log(self.probabilities_).T[codes]

    def check_learnt(self) -> None:
        """Refuses what `fit` could not have learnt; who loads an emission asks for it."""
        check_whole("n_labels_", self.n_labels_, least=1)
        check_tuple("symbols_", self.symbols_)
        shape = (self.n_labels_, len(declared_classes(self.symbols_)) + 1)
        self.probabilities_ = checked_distributions("probabilities_", self.probabilities_, shape)

    def sample(self, codes: LabelArray, rng: np.random.Generator) -> Any:
        drawn = np.empty(len(codes), np.int64)
        for label in np.unique(codes):
            seen = self.probabilities_[label, :-1]
            drawn[codes == label] = rng.choice(len(seen), np.count_nonzero(codes == label), p=seen / seen.sum())
        return label_array(self.symbols_)[drawn]


class _Numeric(Emission):
    """Tokens are rows of numbers."""

    n_features_in_: int

    def stack(self, X: Any) -> tuple[FloatArray, IntArray]:
        tokens, offsets = stack(X, None, getattr(self, "n_features_in_", None))
        check_tokens(offsets)
        return np.asarray(tokens.toarray() if sp.issparse(tokens) else tokens, np.float64), offsets

    def _check_numbers(self, name: str, shape: tuple[int, ...]) -> FloatArray:
        check_whole("n_labels_", self.n_labels_, least=1)
        check_whole("n_features_in_", self.n_features_in_, least=1)
        found = getattr(self, name)
        if not isinstance(found, np.ndarray) or found.dtype != np.float64 or found.shape != shape:
            raise ValueError(f"{name} is no array of {' × '.join(map(str, shape))} numbers")
        return found


class Gaussian(_Numeric):
    """b_s(x) = Π_j N(x_j; μ_sj, σ²_sj): independent Gaussians, with the mean and variance of the label's tokens.

    A label without tokens has b_s = 0: it is never predicted.

    Parameters
    ----------
    variance_floor : float
        No σ²_sj is below this share of the variance of feature j over all tokens.

    Attributes
    ----------
    means_, variances_ : (n_labels, n_features)
        NaN for a label without tokens.

    Examples
    --------
    >>> emission = Gaussian().fit(np.array([[0.0], [2.0], [5.0], [7.0]]), np.array([0, 0, 1, 1]), n_labels=2)
    >>> emission.means_.tolist(), emission.variances_.tolist()
    ([[1.0], [6.0]], [[1.0], [1.0]])
    >>> emission.log_score(np.array([[3.5]])).round(3).tolist()
    [[-4.044, -4.044]]
    """

    def __init__(self, variance_floor: float = 1e-6):
        self.variance_floor = variance_floor

    @classmethod
    def from_parameters(cls, means: Any, variances: Any) -> Self:
        """Given means and variances, both (n_labels, n_features)."""
        emission = cls()
        emission.means_, emission.variances_ = np.array(means, np.float64), np.array(variances, np.float64)
        if emission.means_.ndim != 2 or emission.means_.shape != emission.variances_.shape:
            raise ValueError(
                f"means has shape {emission.means_.shape} and variances {emission.variances_.shape}; expected "
                "(n_labels, n_features) for both"
            )
        bad = np.argwhere(~(np.isfinite(emission.means_) & (emission.variances_ > 0) & (emission.variances_ < np.inf)))
        if len(bad):
            s, j = bad[0].tolist()
            raise ValueError(
                f"label {s} has mean {emission.means_[s, j]} and variance {emission.variances_[s, j]} in feature {j}; "
                "expected finite numbers and a variance above 0"
            )
        emission.n_labels_, emission.n_features_in_ = emission.means_.shape
        return emission

    def fit(self, tokens: FloatArray, codes: LabelArray, n_labels: int) -> Self:
        real_option("variance_floor", self.variance_floor, positive=True)
        varies = np.ptp(tokens, axis=0) > 0
        floor = self.variance_floor * np.where(varies, tokens.var(axis=0), 1.0)
        self.n_labels_, self.n_features_in_ = n_labels, tokens.shape[1]
        self.means_, self.variances_ = np.full((2, n_labels, tokens.shape[1]), np.nan)
        for label in np.unique(codes):
            own = tokens[codes == label]
            self.means_[label] = own.mean(axis=0)
            self.variances_[label] = np.maximum(own.var(axis=0), floor)
        return self

    def log_score(self, tokens: FloatArray) -> FloatArray:
        scores = np.empty((len(tokens), self.n_labels_))
        for label, (mean, variance) in enumerate(zip(self.means_, self.variances_, strict=True)):
            distance = (tokens - mean) ** 2 / variance
            scores[:, label] = -0.5 * (distance + np.log(2 * np.pi * variance)).sum(axis=1)
        scores[:, np.isnan(self.means_).any(axis=1)] = -np.inf
        return scores

    def check_learnt(self) -> None:
        """Refuses what `fit` could not have learnt; who loads an emission asks for it."""
        shape = self.n_labels_, self.n_features_in_
        means, variances = self._check_numbers("means_", shape), self._check_numbers("variances_", shape)
        without = np.isnan(means) & np.isnan(variances)
        with np.errstate(invalid="ignore"):
            fit = without.all(axis=1) | (np.isfinite(means) & (variances > 0) & (variances < np.inf)).all(axis=1)
        if not fit.all():
            s = int(np.argmin(fit))
            raise ValueError(f"label {s} has the means {means[s]} and the variances {variances[s]}")

    def sample(self, codes: LabelArray, rng: np.random.Generator) -> FloatArray:
        if np.isnan(self.means_[codes]).any():
            raise ValueError("a label that had no tokens in training was drawn; it has no distribution to sample from")
        noise = rng.standard_normal((len(codes), self.n_features_in_))
        return np.asarray(self.means_[codes] + np.sqrt(self.variances_[codes]) * noise)


class PiecewiseLinearCounts(_Numeric):
    """log b_s(x) = Σ_j Σ_p c_jp(x_j) log(n_sjp / Σ_q n_sjq): a piecewise linear score for each feature and label.

    c_jp are the coordinates of `structlearn.features.PiecewiseLinear`: the two knots of feature j beside x_j share a
    weight of 1. n_sjp = max(1, Σ c_jp(x_j)) counts them softly over the tokens with label s. These are scores, not
    probabilities; there is nothing to sample from. Iglesias, *Structured Prediction of Network Data* (2013), section
    4.1, with the end knots' ramps added and the counts floored and normalised as in Rätsch and Zeller's HM-SVM toolbox.

    Parameters
    ----------
    n_knots : int
        Knots of a feature, at quantiles of all its training values, the same for all labels; fewer where they are tied.

    Attributes
    ----------
    hats_ : PiecewiseLinear
        The coordinates; its `knots_` are the knots of each feature.
    log_frequencies_ : (n_labels, number of all knots)

    Examples
    --------
    >>> emission = PiecewiseLinearCounts(n_knots=2)
    >>> emission = emission.fit(np.array([[0.0], [0.0], [4.0], [4.0]]), np.array([0, 0, 1, 1]), n_labels=2)
    >>> np.exp(emission.log_score(np.array([[-9.0], [4.0]]))).round(3).tolist()
    [[0.667, 0.333], [0.333, 0.667]]
    """

    def __init__(self, n_knots: int = 20):
        self.n_knots = n_knots

    def fit(self, tokens: FloatArray, codes: LabelArray, n_labels: int) -> Self:
        self.n_labels_, self.n_features_in_ = n_labels, tokens.shape[1]
        from structlearn.features.piecewise_linear import PiecewiseLinear

        self.hats_ = PiecewiseLinear(self.n_knots).fit(tokens)
        of_label = sp.csr_array((np.ones(len(codes)), (codes, np.arange(len(codes)))), shape=(n_labels, len(codes)))
        counts = (of_label @ self.hats_.transform(tokens)).toarray()
        features = np.split(counts, np.cumsum([len(knots) for knots in self.hats_.knots_])[:-1], axis=1)
        self.log_frequencies_ = log(np.hstack([frequencies(feature, "floor") for feature in features]))
        return self

    def log_score(self, tokens: FloatArray) -> FloatArray:
        return np.asarray(self.hats_.transform(tokens) @ self.log_frequencies_.T)

    def check_learnt(self) -> None:
        """Refuses what `fit` could not have learnt; who loads an emission asks for it."""
        from structlearn.features.piecewise_linear import PiecewiseLinear

        if not isinstance(self.hats_, PiecewiseLinear):
            raise ValueError(f"hats_ is a {type(self.hats_).__name__}")
        self.hats_.check_learnt()
        check_whole("n_features_in_", self.n_features_in_, least=1)
        if self.hats_.n_features_in_ != self.n_features_in_:
            raise ValueError(f"hats_ is for {self.hats_.n_features_in_} features, but there are {self.n_features_in_}")
        scores = self._check_numbers("log_frequencies_", (self.n_labels_, sum(map(len, self.hats_.knots_))))
        if not (np.isfinite(scores) & (scores <= 0)).all():
            raise ValueError("log_frequencies_ holds what is no logarithm of a share")
