"""The hidden Markov model: the generative baseline for label sequences."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any, Self

import numpy as np
import numpy.typing as npt

from structlearn.contract import Estimator, available_if, check_is_fitted, library_version
from structlearn.data.arrays import FloatArray, IntArray, LabelArray
from structlearn.data.examples import check_examples, is_listed
from structlearn.data.fields import LARGEST
from structlearn.data.labels import LabelCodes, check_label, declared_classes, label_array, read_label_sequences
from structlearn.data.matrices import checked_numbers
from structlearn.data.options import whole_option
from structlearn.data.ragged import Ragged, offsets_of
from structlearn.data.tokens.sequences import chosen, with_tokens
from structlearn.estimators.generative.emissions import Emission
from structlearn.estimators.generative.probabilities import (
    Smoothing,
    check_smoothing,
    checked_distributions,
    frequencies,
    log,
)
from structlearn.inference.chain import k_best, marginals
from structlearn.persistence import model_file
from structlearn.wording import shown


def _has_samples(estimator: HiddenMarkov) -> bool:
    if not hasattr(estimator.emission, "sample"):
        name = type(estimator.emission).__name__
        raise AttributeError(f"{name} gives scores that are no probabilities, from which nothing can be drawn")
    return True


class HiddenMarkov(Estimator):
    """p(x, y) = q_{y_1} b_{y_1}(x_1) Π_{t>1} A_{y_{t−1} y_t} b_{y_t}(x_t), trained by counting (Rabiner 1989).

    The states are the labels. A_ij is the frequency with which label j follows label i, q_i that with which label i
    comes first, and b is fitted to the tokens of each label; there is nothing to optimise.

    Parameters
    ----------
    emission : Emission
        b: `Discrete`, `Gaussian` or `PiecewiseLinearCounts` of `structlearn.estimators.generative.emissions`.
    smoothing : float or "floor"
        Added to the counts of q and A; "floor" raises counts below 1 to 1 instead, the rule of Rätsch and Zeller's
        HM-SVM toolbox, which belongs to `PiecewiseLinearCounts`.
    classes : sequence, optional
        The labels, of any hashable type. None takes those observed in training.
    ends : label, optional
        The label that the first and the last token of every sequence have, whatever their features and their labels in
        training: they are neither scored nor searched, nor are the transitions from and to them. q is then that of the
        second label, and uniform. This is the two-state model of Iglesias, *Structured Prediction of Network Data*
        (2013), section 4.1.

    Attributes
    ----------
    start_ : (n_labels,)
        q.
    transition_ : (n_labels, n_labels)
        A, from row to column.
    emission_ : Emission
    classes_ : (n_labels,) array
    training_ : dict
        How many sequences and tokens it was fitted to, and by which version of the library.

    Notes
    -----
    With `PiecewiseLinearCounts`, whose b is a score and no probability, "log p" is the score log q + log A + log b.

    Examples
    --------
    >>> from structlearn.estimators.generative.emissions import Discrete
    >>> X = [["walk", "shop", "clean"], ["clean", "clean", "shop"], ["walk", "walk"]]
    >>> Y = [["sun", "rain", "rain"], ["rain", "rain", "rain"], ["sun", "sun"]]
    >>> weather = HiddenMarkov(Discrete()).fit(X, Y)
    >>> weather.predict([["walk", "walk", "clean"], ["shop"]])
    [['sun', 'sun', 'rain'], ['rain']]
    >>> weather.transition_.tolist()
    [[0.8, 0.2], [0.5, 0.5]]
    """

    def __init__(
        self,
        emission: Emission,
        *,
        smoothing: Smoothing = 1.0,
        classes: Sequence[Any] | None = None,
        ends: Any = None,
    ):
        self.emission = emission
        self.smoothing = smoothing
        self.classes = classes
        self.ends = ends

    def check_options(self) -> None:
        """Refuses options that mean nothing, by name; `fit` asks for it before it looks at the data."""
        check_smoothing(self.smoothing)

    @classmethod
    def from_parameters(
        cls, start: Any, transition: Any, emission: Emission, classes: Sequence[Any], *, ends: Any = None
    ) -> Self:
        """A model with given q, A and b (such as ``Gaussian.from_parameters(means, variances)``), ready to predict.

        Examples
        --------
        >>> from structlearn.estimators.generative.emissions import Gaussian
        >>> emission = Gaussian.from_parameters(means=[[-1.0], [1.0]], variances=[[1.0], [1.0]])
        >>> transition = [[0.9, 0.1], [0.1, 0.9]]
        >>> truth = HiddenMarkov.from_parameters([0.5, 0.5], transition, emission, classes=["low", "high"])
        >>> truth.predict([[[-2.0], [0.5], [-1.0]]])
        [['low', 'low', 'low']]
        """
        model = cls(emission, classes=classes, ends=ends)
        model._check_emission()
        check_is_fitted(emission)
        labels = declared_classes(classes)
        if emission.n_labels_ != len(labels):
            raise ValueError(f"emission has {emission.n_labels_} labels but there are {len(labels)} classes")
        n = len(labels)
        model._take_over(
            checked_distributions("start", start, (n,)),
            checked_distributions("transition", transition, (n, n)),
            emission,
            labels,
        )
        return model

    def fit(self, X: Any, y: Any) -> Self:
        """Counts.

        Parameters
        ----------
        X : list of sequences
            (length, n_features) arrays for numeric emissions, sequences of symbols for `Discrete`.
        y : list of label sequences
        """
        self.check_options()
        self._check_emission()
        from sklearn.base import clone

        emission: Emission = clone(self.emission)
        tokens, offsets = emission.stack(X)
        labels = _checked_labels(y, offsets)
        classes = read_label_sequences(labels).classes if self.classes is None else declared_classes(self.classes)
        codes, lengths = _encoded(labels, LabelCodes(classes)), np.diff(offsets)
        if self.ends is not None:
            self._end_code(classes)
            between = np.ones(len(codes), bool)
            between[offsets[:-1]] = between[offsets[1:] - 1] = False
            if not between.any():
                raise ValueError(
                    "no sequence of X has more than two tokens; with `ends` there is nothing to learn from"
                )
            tokens, codes, lengths = tokens[between], codes[between], np.maximum(lengths - 2, 0)
        sequence = np.repeat(np.arange(len(lengths)), lengths)
        neighbours = sequence[1:] == sequence[:-1]
        moves = np.zeros((len(classes), len(classes)))
        np.add.at(moves, (codes[:-1][neighbours], codes[1:][neighbours]), 1.0)
        firsts = np.zeros(len(classes))
        if self.ends is None:
            np.add.at(firsts, codes[offsets[:-1]], 1.0)
        start, transition = frequencies(firsts, self.smoothing), frequencies(moves, self.smoothing)
        self._take_over(start, transition, emission.fit(tokens, codes, len(classes)), classes)
        sizes = {"examples": len(offsets) - 1, "tokens": int(offsets[-1])}
        self.training_ = sizes | {"library": library_version()}
        return self

    def predict(self, X: Any) -> list[list[Any]]:
        """The most probable labels of every sequence (Viterbi).

        Where every labelling has probability 0, one with the fewest factors that are 0.
        """
        names = self._names()
        return [names[self._best(scores)].tolist() for scores in self._scores(X)]

    def k_best(self, X: Any, k: int) -> list[list[tuple[list[Any], float]]]:
        """The k most probable labellings of every sequence with log p(x, y), best first; none of probability 0."""
        names, k = self._names(), whole_option("k", k, 1, LARGEST)
        return [
            [(names[codes].tolist(), score) for codes, score in self._decode(scores, k)] for scores in self._scores(X)
        ]

    def log_proba(self, X: Any, y: Any) -> FloatArray:
        """log p(x, y) of every sequence with its labels; −∞ where that is impossible."""
        names, scores = self._names(), self._scores(X)
        offsets = offsets_of([len(each) for each in scores])
        codes = _encoded(_checked_labels(y, offsets), LabelCodes(names.tolist()))
        return np.array([self._joint(*pair) for pair in zip(scores, Ragged(codes, offsets), strict=True)])

    def predict_marginals(self, X: Any) -> list[FloatArray]:
        """P(y_t = l | x) of every sequence, (length, n_labels); zero where no labelling is possible."""
        return [self._posterior(scores)[0] for scores in self._scores(X)]

    def log_likelihood(self, X: Any) -> FloatArray:
        """log p(x) = log Σ_y p(x, y) of every sequence."""
        return np.array([self._posterior(scores)[1] for scores in self._scores(X)])

    def score(self, X: Any, y: Any) -> float:
        """The share of the tokens whose label is right."""
        predicted = self.predict(X)
        truth = _checked_labels(y, offsets_of([len(labels) for labels in predicted]))
        codes = LabelCodes(self._names().tolist(), allow_unknown=True)
        return float(np.mean(_encoded(truth, codes) == _encoded(predicted, codes)))

    @available_if(_has_samples)
    def sample(
        self, n_sequences: int, lengths: npt.ArrayLike, random_state: int | np.random.Generator | None = None
    ) -> tuple[list[Any], list[list[Any]]]:
        """Draws sequences (X, Y) from p.

        Parameters
        ----------
        n_sequences : int
        lengths : int or (n_sequences,) ints
        random_state : int, numpy Generator or None
        """
        names = self._names()
        if self._end is not None:
            raise ValueError(f"with ends={shown(self.ends)} the tokens at the ends have no distribution to sample from")
        n_sequences = whole_option("n_sequences", n_sequences, 1, LARGEST)
        wanted = checked_numbers(lengths, "lengths")
        if wanted.shape not in ((), (n_sequences,)) or not np.issubdtype(wanted.dtype, np.integer) or wanted.min() < 1:
            raise ValueError(f"lengths is {shown(lengths)}; expected a whole number ≥ 1, or {n_sequences} of them")
        if random_state is not None and not isinstance(random_state, np.random.Generator):
            random_state = whole_option("random_state", random_state, 0)
        rng = np.random.default_rng(random_state)
        codes = np.empty((n_sequences, wanted.max()), np.int32)
        probabilities = np.tile(self.start_, (n_sequences, 1))
        for t in range(codes.shape[1]):
            codes[:, t] = rng.multinomial(1, probabilities).argmax(axis=1)
            probabilities = self.transition_[codes[:, t]]
        inside = np.arange(codes.shape[1]) < np.broadcast_to(wanted, n_sequences)[:, None]
        drawn = codes[inside]
        offsets = offsets_of(inside.sum(axis=1))
        emission: Any = self.emission_
        tokens = Ragged(emission.sample(drawn, rng), offsets)
        return list(tokens), [labels.tolist() for labels in Ragged(names[drawn], offsets)]

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes the fitted model to one file; `structlearn.load` reads it and never runs code from it."""
        model_file.save(self, path)

    def check_learnt(self) -> None:
        """Refuses what `fit` could not have learnt; who loads a model asks for it."""
        self._check_emission()
        if type(self.emission_) is not type(self.emission):
            raise ValueError(f"emission_ is a {type(self.emission_).__name__}, not a {type(self.emission).__name__}")
        check_is_fitted(self.emission_)
        labels = declared_classes(self.classes_)
        n = len(labels)
        if self.emission_.n_labels_ != n:
            raise ValueError(f"emission_ has {self.emission_.n_labels_} labels but there are {n} classes")
        if not isinstance(getattr(self, "training_", {}), dict):
            raise ValueError(f"training_ is {shown(self.training_)}, which is no dict")
        start = checked_distributions("start_", self.start_, (n,))
        self._take_over(start, checked_distributions("transition_", self.transition_, (n, n)), self.emission_, labels)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        tags.input_tags.two_d_array = False
        return tags

    def _check_emission(self) -> None:
        if isinstance(self.emission, type):
            raise TypeError(
                f"emission is the class {self.emission.__name__}; give an object, {self.emission.__name__}()"
            )
        if not isinstance(self.emission, Emission):
            raise TypeError(f"emission is {shown(self.emission)}; expected an Emission, such as Gaussian()")

    def _end_code(self, classes: tuple[Any, ...]) -> int | None:
        if self.ends is None:
            return None
        check_label(self.ends, "ends")
        if self.ends not in classes:
            raise ValueError(f"ends is {shown(self.ends)}, which is not among the classes {list(classes)}")
        return classes.index(self.ends)

    def _take_over(
        self, start: FloatArray, transition: FloatArray, emission: Emission, classes: tuple[Any, ...]
    ) -> None:
        self._end = self._end_code(classes)
        self.start_, self.transition_, self.emission_ = start, transition, emission
        self.classes_ = label_array(classes)

    def _names(self) -> npt.NDArray[Any]:
        check_is_fitted(self)
        names: npt.NDArray[Any] = self.classes_
        return names

    def _scores(self, X: Any) -> list[FloatArray]:
        """log b of every token and label, a matrix a sequence."""
        full = with_tokens(X)
        found: list[FloatArray] = []
        if full is None or len(full):
            tokens, offsets = self.emission_.stack(X if full is None else chosen(X, full))
            found = list(Ragged(self.emission_.log_score(tokens), offsets))
        if full is None:
            return found
        scores = [np.empty((0, len(self.classes_)))] * len(X)
        for i, each in zip(full, found, strict=True):
            scores[i] = each
        return scores

    def _best(self, scores: FloatArray) -> LabelArray:
        best = self._decode(scores, 1) or self._decode(scores, 1, bar_zeros=False)
        return best[0][0]

    def _decode(self, scores: FloatArray, k: int, *, bar_zeros: bool = True) -> list[tuple[LabelArray, float]]:
        """The k best labellings of a sequence, as codes, and their scores."""
        if not len(scores):
            return [(np.empty(0, np.int32), 0.0)]
        if self._end is not None:
            length, scores = len(scores), scores[1:-1]
            if length <= 2:
                return [(np.full(length, self._end, np.int32), 0.0)]
        parts = [scores, log(self.transition_), log(self.start_)]
        if not bar_zeros:
            parts = _priced(parts, len(scores))
        found = k_best(parts[0], parts[1], k, parts[2])
        if self._end is None:
            return found
        return [(np.pad(codes, 1, constant_values=self._end), score) for codes, score in found]

    def _posterior(self, scores: FloatArray) -> tuple[FloatArray, float]:
        """The label marginals of a sequence, and log p(x)."""
        nodes, log_z = np.zeros_like(scores), 0.0
        inner = slice(None)
        if self._end is not None and len(scores):
            nodes[[0, -1], self._end] = 1.0
            inner = slice(1, -1)
        if len(scores[inner]):
            found = marginals(scores[inner], log(self.transition_), log(self.start_))
            nodes[inner], log_z = found.nodes, found.log_z
        return nodes, log_z

    def _joint(self, scores: FloatArray, codes: LabelArray) -> float:
        if not len(codes):
            return 0.0
        if self._end is not None:
            if codes[0] != self._end or codes[-1] != self._end:
                return -np.inf
            scores, codes = scores[1:-1], codes[1:-1]
            if not len(codes):
                return 0.0
        moves = log(self.transition_)[codes[:-1], codes[1:]]
        return float(log(self.start_)[codes[0]] + scores[np.arange(len(codes)), codes].sum() + moves.sum())


def _priced(parts: list[FloatArray], length: int) -> list[FloatArray]:
    """Log-scores in which −∞ is a finite price, above all that a sequence can gain elsewhere."""
    most = sum(float(np.abs(part[np.isfinite(part)]).max(initial=0.0)) for part in parts)
    return [np.where(np.isneginf(part), -(2 * length * most + 1), part) for part in parts]


def _checked_labels(Y: Any, offsets: IntArray) -> list[list[Any]]:
    """One list of labels a sequence, as long as the sequence."""
    if Y is None:
        raise ValueError("HiddenMarkov requires y to be passed, but the target y is None")
    check_examples("y", Y)
    if len(Y) != len(offsets) - 1:
        raise ValueError(f"X has {len(offsets) - 1} sequences but Y has {len(Y)}")
    for i, (y, length) in enumerate(zip(Y, np.diff(offsets), strict=True)):
        if not is_listed(y):
            raise ValueError(f"Y[{i}] is {shown(y)}; expected a sequence of labels")
        if len(y) != length:
            raise ValueError(f"Y[{i}] has {len(y)} labels but X[{i}] has {length} tokens")
    return [y.tolist() if isinstance(y, np.ndarray) else list(y) for y in Y]


def _encoded(Y: list[list[Any]], codes: LabelCodes) -> LabelArray:
    return np.concatenate([codes.encode(y, f"Y[{i}]") for i, y in enumerate(Y)])
