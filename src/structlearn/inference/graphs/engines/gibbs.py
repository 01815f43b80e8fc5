"""Gibbs sampling, with what tells whether it sampled long enough."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from structlearn import _core
from structlearn.data.arrays import FloatArray, LabelArray
from structlearn.data.factor_graphs import FactorGraph
from structlearn.data.options import jobs_option, whole_option
from structlearn.inference.graphs.engines.icm import Icm
from structlearn.kernels.threads import in_order

_AT_ONCE = 100


@dataclass(frozen=True)
class Gibbs:
    """Several chains that draw the label of one variable after another given all others, and count.

    They give marginals, no log Z. ``details`` has `effective_sample_size` and `r_hat` of the scores F(y) of the
    samples: how many independent ones they are worth, and by how much chains differ (near 1 if they agree).

    Where scores of −∞ keep labellings apart that differ in more than one label, a chain does not get from one to the
    other, and `r_hat` may not tell.

    Parameters
    ----------
    n_sweeps : int
        Samples of each chain.
    burn_in : int
        Sweeps before these.
    n_chains : int
    random_state : int
    n_jobs : int, optional
        Threads, for a chain each; None is one, -1 all cores. The result does not depend on it.
    """

    n_sweeps: int = 2000
    burn_in: int = 500
    n_chains: int = 4
    random_state: int = 0
    n_jobs: int | None = None
    name: ClassVar[str] = "gibbs"

    def sums(self, graph: FactorGraph) -> GibbsSums:
        for option, least in (("n_sweeps", 4), ("burn_in", 0), ("n_chains", 2)):
            whole_option(option, getattr(self, option), least)
        jobs_option("n_jobs", self.n_jobs)
        return GibbsSums(graph, self)


class GibbsSums:
    #: Not "converged": nobody knows.
    ended = "sampled"

    def __init__(self, graph: FactorGraph, options: Gibbs):
        self.log_zs: FloatArray = np.full(graph.n_graphs, np.nan)
        self.lower, self.upper = -np.inf, np.inf
        self._graph = graph
        self._options = options
        self._random = np.random.default_rng(options.random_state)
        self._samplers = [_core.LocalSearch(graph.core) for _ in range(options.n_chains)]
        self._chains = [self._start() for _ in range(options.n_chains)]
        self._counts = np.zeros((options.n_chains, len(graph.unaries)))
        self._scores: list[list[FloatArray]] = [[] for _ in self._chains]
        self._done = -options.burn_in

    def step(self) -> bool:
        n = min(_AT_ONCE, -self._done if self._done < 0 else self._options.n_sweeps - self._done)
        counted = self._counts if self._done >= 0 else np.zeros_like(self._counts)
        seeds = [int(self._random.integers(2**63)) for _ in self._chains]

        def sweep(k: int) -> FloatArray:
            trace = np.empty(n)
            self._samplers[k].gibbs(self._chains[k], seeds[k], counted[k], trace)
            return trace

        traces = in_order(sweep, range(len(self._chains)), jobs_option("n_jobs", self._options.n_jobs))
        for scores, trace in zip(self._scores, traces, strict=True):
            if self._done >= 0:
                scores.append(trace)
        self._done += n
        return self._done < self._options.n_sweeps

    def marginals(self, factors: bool) -> tuple[FloatArray, FloatArray | None]:
        if factors:
            raise ValueError("Gibbs sampling counts the labels of variables only; factors=True needs another engine")
        return self._counts.sum(axis=0) / max(1, self._options.n_chains * max(self._done, 0)), None

    def details(self) -> Mapping[str, Any]:
        if self._done < 4:
            return {"effective_sample_size": 0.0, "r_hat": np.nan}
        chains = np.stack([np.concatenate(scores) for scores in self._scores])
        return {"effective_sample_size": effective_sample_size(chains), "r_hat": r_hat(chains)}

    def _start(self) -> LabelArray:
        """Random labels, or what `Icm` makes of them where they are forbidden."""
        labels = (self._random.random(self._graph.n_variables) * self._graph.n_labels).astype(np.int32)
        if self._graph.score(labels) > -np.inf:
            return labels
        search = Icm().search(self._graph)
        while search.step():
            pass
        if search.score == -np.inf:
            raise ValueError("Gibbs sampling found no labels to start from that are not forbidden")
        return search.labels.copy()


def r_hat(chains: FloatArray) -> float:
    """The potential scale reduction of (n_chains, n_samples) numbers, each chain split in two (Gelman et al. 2013).

    >>> r_hat(np.random.default_rng(0).normal(size=(4, 1000))).__round__(2)
    1.0
    """
    half = chains.shape[1] // 2
    split = np.concatenate([chains[:, :half], chains[:, -half:]])
    within = split.var(axis=1, ddof=1).mean()
    between = split.mean(axis=1).var(ddof=1)
    if within == 0.0:
        return 1.0 if between == 0.0 else np.inf
    return float(np.sqrt((half - 1) / half + between / within))


def effective_sample_size(chains: FloatArray) -> float:
    """How many independent numbers (n_chains, n_samples) dependent ones are worth: Geyer's initial monotone sequence.

    >>> round(effective_sample_size(np.random.default_rng(0).normal(size=(4, 1000))), -3)
    4000.0
    """
    n = chains.shape[1]
    centred = chains - chains.mean(axis=1, keepdims=True)
    if not centred.any():
        return float(chains.size)
    power = np.abs(np.fft.rfft(centred, 2 * n, axis=1)) ** 2
    covariance = np.fft.irfft(power, axis=1)[:, :n].mean(axis=0) / n
    spread = covariance[0] + chains.mean(axis=1).var(ddof=1)
    correlation = 1.0 - (covariance[0] - covariance) / spread
    pairs = correlation[: n // 2 * 2].reshape(-1, 2).sum(axis=1)
    ends = np.flatnonzero(pairs < 0.0)
    positive = np.minimum.accumulate(pairs[: ends[0]] if len(ends) else pairs)
    return float(min(chains.size, chains.size / max(2.0 * positive.sum() - 1.0, 1.0 / chains.size)))
