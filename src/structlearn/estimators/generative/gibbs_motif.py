"""Finding a motif by Gibbs sampling: the generative baseline for `Motif`."""

from __future__ import annotations

import math
import os
from collections.abc import Sequence
from typing import Any, Self

import numpy as np
import numpy.typing as npt

from structlearn.contract import Estimator, check_is_fitted
from structlearn.data.arrays import FloatArray, IntArray
from structlearn.data.biosequences.dna import BASES, OTHER, Site, base_codes
from structlearn.data.examples import check_examples
from structlearn.data.fields import check_whole
from structlearn.data.labels import LabelCodes, declared_classes, label_array
from structlearn.data.options import whole_option
from structlearn.estimators.generative.probabilities import checked_distributions
from structlearn.models.motif.motif import Motif
from structlearn.persistence import model_file


class GibbsMotif(Estimator):
    """log p(x | site at h) − log p(x) = Σ_j log p_j(x_{h+j}) − Σ_{i in [h, h+l)} log q(x_i | x_{i−3}, …, x_{i−1}).

    Every positive sequence has one site, whose letters are independent with frequencies p_j; all other letters follow a
    Markov chain q. In turn, each sequence's site is drawn from its distribution given the sites of the others (Lawrence
    et al. 1993, the site sampler); after each sweep the sites of all may move together by one letter where that is
    better. The sites with the largest sum of the log ratio above are kept.

    A sequence is predicted to be positive if its best site has a log ratio above the threshold, which is the one with
    the fewest mistakes in training.

    Parameters
    ----------
    width, both_strands, positive
        As for `Motif`, but one width only.
    background_order : int
        Of q, whose frequencies are counted, plus one, in the sequences that are given as background.
    n_sweeps : int
        How often all sites are drawn in a run.
    n_init : int
        How many runs to make from different random sites.
    random_state : int, RandomState or None

    Attributes
    ----------
    pattern_ : (width, 4)
        p, with half a count added to each base.
    background_ : (4,) * (background_order + 1)
        q, the present letter last.
    threshold_ : float
    sites_ : list of Site or None
        Those of the training sequences.
    classes_ : (2,)

    Examples
    --------
    >>> X = ["GGTATACC", "CTATAGGC", "CCGGTATA", "GGCCTTCA", "ATTACGGC", "TGGCATCA"]
    >>> sampler = GibbsMotif(width=4, background_order=0, random_state=0).fit(X, [1, 1, 1, 0, 0, 0])
    >>> sampler.predict(["CCTATAGG", "CCTTTGGC"]), sampler.predict_latent(["CCTATAGG"])
    (array([1, 0]), [Site(start=2, strand='+', width=4)])
    """

    pattern_: FloatArray
    background_: FloatArray
    threshold_: float
    classes_: npt.NDArray[Any]
    sites_: list[Site | None]

    def __init__(
        self,
        width: int = 11,
        background_order: int = 3,
        both_strands: bool = False,
        positive: Any = None,
        n_sweeps: int = 50,
        n_init: int = 5,
        random_state: int | np.random.RandomState | None = None,
    ):
        self.width = width
        self.background_order = background_order
        self.both_strands = both_strands
        self.positive = positive
        self.n_sweeps = n_sweeps
        self.n_init = n_init
        self.random_state = random_state

    def fit(self, X: Any, y: Any, background: Sequence[str] | None = None) -> Self:
        """Finds the pattern in the positive sequences; q is counted in `background`, by default the negative ones."""
        model = Motif(self.width, self.background_order, self.both_strands, self.positive)
        whole_option("width", self.width, 1)
        whole_option("n_sweeps", self.n_sweeps, 0)
        whole_option("n_init", self.n_init, 1)
        if y is None:
            raise ValueError("GibbsMotif requires y to be passed, but the target y is None")
        spec = model.specify(X, y)
        # Checks all that there is to check, and names what is wrong.
        model.bind(spec, X, y).random_completions(np.random.default_rng(0))
        is_positive = LabelCodes((spec.negative, spec.positive)).encode(list(y), "Y") == 1
        if background is not None:
            check_examples("background", background)
        else:
            background = [x for x, p in zip(X, is_positive, strict=True) if not p]
        self.background_ = _frequencies(background, self.background_order)
        from sklearn.utils import check_random_state

        random = np.random.default_rng(check_random_state(self.random_state).randint(2**31 - 1))
        windows = [self._windows(x, f"X[{i}]") for i, x in enumerate(X)]
        positives = [windows[i] for i in np.flatnonzero(is_positive)]
        runs = [_sampled(positives, self.width, self.n_sweeps, random) for _ in range(self.n_init)]
        _, pattern = max(runs, key=lambda run: run[0])
        self.pattern_ = pattern
        self.classes_ = label_array((spec.negative, spec.positive))
        self.threshold_ = best_threshold(self.decision_function(X), is_positive)
        self.sites_ = [site if p else None for site, p in zip(self._best_sites(windows), is_positive, strict=True)]
        return self

    def decision_function(self, X: Any) -> FloatArray:
        """The log ratio of the best site of every sequence, −∞ without a site."""
        check_is_fitted(self)
        check_examples("X", X)
        scores = [self._scores(self._windows(x, f"X[{i}]")) for i, x in enumerate(X)]
        return np.array([score.max(initial=-np.inf) for score in scores])

    def predict(self, X: Any) -> npt.NDArray[Any]:
        labels: npt.NDArray[Any] = self.classes_[(self.decision_function(X) > self.threshold_).astype(np.int64)]
        return labels

    def predict_latent(self, X: Any) -> list[Site | None]:
        """The best site of every sequence, None where it is predicted to be negative."""
        sites = self.best_sites(X)
        above = self.decision_function(X) > self.threshold_
        return [site if there else None for site, there in zip(sites, above, strict=True)]

    def best_sites(self, X: Any) -> list[Site | None]:
        """The best site of every sequence, whatever its label; None if it has none."""
        check_is_fitted(self)
        check_examples("X", X)
        return self._best_sites([self._windows(x, f"X[{i}]") for i, x in enumerate(X)])

    def score(self, X: Any, y: Any) -> float:
        """The share of right labels."""
        check_examples("y", y)
        predicted = self.predict(X)
        if len(y) != len(predicted):
            raise ValueError(f"X has {len(predicted)} sequences but Y has {len(y)} labels")
        codes = LabelCodes(self.classes_.tolist(), allow_unknown=True)
        return float(np.mean(codes.encode(predicted, "predicted") == codes.encode(list(y), "Y")))

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes the fitted sampler to one file; `structlearn.load` reads it and never runs code from it."""
        model_file.save(self, path)

    def check_learnt(self) -> None:
        """Refuses what `fit` could not have learnt; who loads a sampler asks for it."""
        Motif(self.width, self.background_order, self.both_strands, self.positive).check_options()
        check_whole("width", self.width, least=1)
        for name, rows, shape in (
            ("pattern_", self.pattern_, (self.width, len(BASES))),
            ("background_", self.background_, (len(BASES),) * (self.background_order + 1)),
        ):
            if not isinstance(rows, np.ndarray) or rows.shape != shape:
                raise ValueError(f"{name} is no array of the shape {shape}")
            checked_distributions(name, rows.reshape(-1, len(BASES)), (None, len(BASES)))
            if not (rows > 0).all():
                raise ValueError(f"{name} has a share of 0, whose logarithm nothing can outweigh")
        if not isinstance(self.threshold_, float) or math.isnan(self.threshold_):
            raise ValueError(f"threshold_ is {self.threshold_!r}; it must be a number")
        labels = declared_classes(self.classes_)
        if len(labels) != 2:
            raise ValueError(f"classes_ holds {len(labels)} labels, not two")
        self.classes_ = label_array(labels)
        self.sites_ = [None if site is None else _checked_site(site, self.width) for site in self.sites_]

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        tags.input_tags.two_d_array = False
        return tags

    def _windows(self, x: str, where: str) -> _Windows:
        return _Windows(base_codes(x, where), self.width, self.both_strands, np.log(self.background_))

    def _scores(self, windows: _Windows) -> FloatArray:
        return windows.scores(np.log(self.pattern_))

    def _best_sites(self, windows: list[_Windows]) -> list[Site | None]:
        found: list[Site | None] = []
        for one in windows:
            scores = self._scores(one)
            found.append(one.site(int(scores.argmax())) if len(scores) else None)
        return found


def _checked_site(site: Any, width: int) -> Site:
    start, strand, reach = site
    check_whole("the start of a site", start)
    if strand not in ("+", "-") or reach != width:
        raise ValueError(f"a site is {site!r}; expected its start, its strand and the width {width}")
    return Site(start, strand, width)


class _Windows:
    """All sites of a sequence: their letters, (n_sites, width), and the log probabilities of the background there."""

    def __init__(self, codes: npt.NDArray[np.int8], width: int, both_strands: bool, log_background: FloatArray):
        order = log_background.ndim - 1
        upto = np.concatenate([[0.0], np.cumsum(_log_letters(codes, log_background, order))])
        n = max(len(codes) - width + 1, 0)
        letters = codes[np.arange(n)[:, None] + np.arange(width)].astype(np.int64)
        starts = np.flatnonzero((letters < OTHER).all(axis=1))
        letters = letters[starts]
        self.width = width
        self.background = upto[starts + width] - upto[starts]
        self.starts, self.strands = starts, np.zeros(len(starts), np.int64)
        if both_strands:
            letters = np.concatenate([letters, len(BASES) - 1 - letters[:, ::-1]])
            self.background = np.tile(self.background, 2)
            self.starts, self.strands = np.tile(starts, 2), np.repeat([0, 1], len(starts))
        self.letters = letters

    def scores(self, log_pattern: FloatArray) -> FloatArray:
        score: FloatArray = log_pattern[np.arange(self.width), self.letters].sum(axis=1) - self.background
        return score

    def site(self, k: int) -> Site:
        return Site(int(self.starts[k]), "+-"[self.strands[k]], self.width)

    def shifted(self, k: int, by: int) -> int | None:
        """The site whose pattern begins `by` letters further on the same strand."""
        start = self.starts[k] + (-by if self.strands[k] else by)
        there = np.flatnonzero((self.starts == start) & (self.strands == self.strands[k]))
        return int(there[0]) if len(there) else None


def _sampled(
    sequences: list[_Windows], width: int, n_sweeps: int, random: np.random.Generator
) -> tuple[float, FloatArray]:
    """One run: the largest sum of log ratios, and the pattern that had it."""
    chosen = np.array([random.integers(len(one.letters)) for one in sequences])
    counts = _counts(sequences, chosen, width)
    best = (-np.inf, _smoothed(counts))
    places = np.arange(width)
    for _ in range(n_sweeps):
        for i in random.permutation(len(sequences)):
            one = sequences[i]
            counts[places, one.letters[chosen[i]]] -= 1.0
            scores = one.scores(np.log(_smoothed(counts)))
            weights = np.exp(scores - scores.max()).cumsum()
            chosen[i] = np.searchsorted(weights, random.random() * weights[-1], side="right")
            counts[places, one.letters[chosen[i]]] += 1.0
        chosen = max(_moves(sequences, chosen), key=lambda sites: _total(sequences, sites, width))
        counts = _counts(sequences, chosen, width)
        best = max(best, (_total(sequences, chosen, width), _smoothed(counts)), key=lambda run: run[0])
    return best


def _moves(sequences: list[_Windows], chosen: IntArray) -> list[IntArray]:
    """The present sites, and all of them one letter further to either side; a site at an end stays."""
    moves = [chosen]
    for by in (-1, 1):
        shifted = [one.shifted(int(k), by) for one, k in zip(sequences, chosen, strict=True)]
        moves.append(np.array([k if s is None else s for s, k in zip(shifted, chosen, strict=True)]))
    return moves


def _total(sequences: list[_Windows], chosen: IntArray, width: int) -> float:
    log_pattern = np.log(_smoothed(_counts(sequences, chosen, width)))
    letters = np.array([one.letters[k] for one, k in zip(sequences, chosen, strict=True)])
    background = sum(one.background[k] for one, k in zip(sequences, chosen, strict=True))
    return float(log_pattern[np.arange(width), letters].sum() - background)


def _counts(sequences: list[_Windows], chosen: IntArray, width: int) -> FloatArray:
    counts = np.zeros((width, len(BASES)))
    for one, k in zip(sequences, chosen, strict=True):
        counts[np.arange(width), one.letters[k]] += 1.0
    return counts


def _smoothed(counts: FloatArray) -> FloatArray:
    added = counts + 0.5
    share: FloatArray = added / added.sum(axis=1, keepdims=True)
    return share


def _frequencies(X: Sequence[str], order: int) -> FloatArray:
    """q(letter | `order` letters before it)."""
    counts = np.ones((len(BASES),) * (order + 1))
    for i, x in enumerate(X):
        codes = base_codes(x, f"background[{i}]").astype(np.int64)
        words = codes[np.arange(max(len(codes) - order, 0))[:, None] + np.arange(order + 1)]
        np.add.at(counts, tuple(words[(words < OTHER).all(axis=1)].T), 1.0)
    share: FloatArray = counts / counts.sum(axis=-1, keepdims=True)
    return share


def _log_letters(codes: npt.NDArray[np.int8], log_background: FloatArray, order: int) -> FloatArray:
    """log q of each letter; of one without enough known letters before it, log ¼."""
    values = np.full(len(codes), np.log(1.0 / len(BASES)))
    words = codes.astype(np.int64)[np.arange(max(len(codes) - order, 0))[:, None] + np.arange(order + 1)]
    known = (words < OTHER).all(axis=1)
    values[order:][known] = log_background[tuple(words[known].T)]
    return values


def best_threshold(scores: FloatArray, is_positive: npt.NDArray[np.bool_]) -> float:
    """The threshold with the fewest mistakes if positive is what is above it; the middle of the gap where it lies.

    >>> best_threshold(np.array([1.0, 2.0, 3.0, 5.0]), np.array([False, True, True, True]))
    1.5
    """
    order = np.argsort(scores, kind="stable")
    ranked, truth = scores[order], is_positive[order]
    # Mistakes if the first k are negative and the others positive.
    mistakes = np.concatenate([[0], np.cumsum(truth)]) + (~truth).sum() - np.concatenate([[0], np.cumsum(~truth)])
    possible = np.concatenate([[True], ranked[1:] > ranked[:-1], [True]])
    k = int(np.argmin(np.where(possible, mistakes, np.inf)))
    if k == 0:
        return float(np.nextafter(ranked[0], -np.inf))
    return float(ranked[-1]) if k == len(ranked) else float(0.5 * (ranked[k - 1] + ranked[k]))
