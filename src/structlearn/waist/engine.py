"""Engines: from scores of parts to outputs."""

from __future__ import annotations

from typing import Any, Protocol, runtime_checkable

import numpy as np

from structlearn.waist.theta import Theta


class Engine(Protocol):
    """Finds outputs y by their scores ⟨θ, μ(y)⟩. It knows neither inputs nor weights.

    Outputs are objects of any kind; they are told apart by ``==``, arrays and lists of arrays included. Optional
    attributes: ``exactness``, "exact" unless said otherwise, "relaxed" or "approximate" as in `Problem`; ``labels``,
    what the last axis of local parts stands for, for losses that ask. Methods beyond these two say what else the engine
    can do: `KBestEngine`, `SumsEngine`, `SamplingEngine`.
    """

    def best(self, theta: Theta) -> Any:
        """argmax_y ⟨θ, μ(y)⟩, which has no part that scores −∞."""

    def parts(self, output: Any, theta: Theta) -> Theta:
        """μ(y) in the shapes of θ: coefficients, mostly how often y has each part."""


@runtime_checkable
class KBestEngine(Protocol):
    """Can find several outputs: for the zero-one loss, `rescaling=None` and the estimator's `k_best`."""

    def k_best(self, theta: Theta, k: int) -> list[tuple[Any, float]]:
        """The k best outputs, or fewer if there are no more, with ⟨θ, μ(y)⟩, best first."""


@runtime_checkable
class SumsEngine(Protocol):
    """Can sum over all outputs: for likelihoods and max-margin Markov networks."""

    def sums(self, theta: Theta) -> tuple[float, Theta]:
        """log Z = log Σ_y exp⟨θ, μ(y)⟩, and E μ(y) under P(y) ∝ exp⟨θ, μ(y)⟩; zero for parts that score −∞."""


@runtime_checkable
class SamplingEngine(Protocol):
    """Can draw outputs."""

    def sample(self, theta: Theta, random: np.random.Generator) -> Any:
        """An output y with probability P(y) ∝ exp⟨θ, μ(y)⟩."""
