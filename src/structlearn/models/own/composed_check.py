"""Whether a scorer, an engine and a loss keep their promises, for `structlearn.testing.check_model`."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from structlearn.data.arrays import FloatArray
from structlearn.data.examples import same_output
from structlearn.models.own.composed_problem import PythonComposedProblem
from structlearn.models.own.spot_check import beaten
from structlearn.waist.engine import KBestEngine, SamplingEngine, SumsEngine
from structlearn.waist.loss import AdditiveLoss
from structlearn.waist.theta import Theta

if TYPE_CHECKING:
    from structlearn.models.own.composed import Composed

#: A kind of mistake, of which one is told, and the sentence that tells it.
Finding = tuple[str, str]


def composed_findings(
    model: Composed, X: Any, Y: Any, draw: Callable[[int], FloatArray], n_weights: int, random: np.random.Generator
) -> list[str]:
    """How the three break their rules on these examples at random weights, each way told once."""
    problem = model.bind(model.specify(X, Y), X, Y)
    seen: list[list[Any]] = [[y] for y in Y]
    told: dict[str, str] = {}
    for _ in range(n_weights):
        w = draw(problem.n_features)
        for i, x in enumerate(X):
            try:
                look = _Look(model, problem, i, x, w, problem.theta(i, w.copy()), seen[i], random)
                for kind, sentence in look.findings():
                    told.setdefault(kind, sentence)
            except Exception as error:
                told.setdefault("broken", f"X[{i}]: {type(error).__name__}: {error}")
    return list(told.values())


@dataclass(frozen=True, slots=True)
class _Look:
    """At one example and weights; `seen` are outputs of it that were met so far, the truth first."""

    model: Composed
    problem: PythonComposedProblem
    i: int
    x: Any
    w: FloatArray
    theta: Theta
    seen: list[Any]
    random: np.random.Generator

    def findings(self) -> Iterator[Finding]:
        engine = self.model.engine
        yield from self._scorer()
        yield from self._best("θ", self.theta)
        if isinstance(self.model.loss, AdditiveLoss):
            yield from self._best("θ + ℓ", self.theta.plus(self.problem.prices[self.i]))
        if isinstance(engine, KBestEngine):
            yield from self._k_best(engine)
        if isinstance(engine, SumsEngine):
            yield from self._sums(engine)
        if isinstance(engine, SamplingEngine):
            y = engine.sample(_copy(self.theta), self.random)
            if self._score(y) == -np.inf:
                yield "sample", f"sample(θ of X[{self.i}]) returns {y!r}, which is forbidden"
        for y in self.seen:
            self.problem.loss_of(self.i, y)

    def _score(self, y: Any) -> float:
        return self.theta.dot(self.problem.parts(self.i, y))

    def _scorer(self) -> Iterator[Finding]:
        i, w, theta = self.i, self.w, self.theta
        allowed = np.isfinite(theta.flat())
        twice = self.problem.theta(i, 2.0 * w).flat()[allowed]
        if not np.allclose(twice, 2.0 * theta.flat()[allowed], rtol=1e-9, atol=1e-9):
            yield "linear", f"the scores of X[{i}] at 2 w are not twice those at w"
        mu = theta.shaped(np.where(allowed, self.random.normal(size=len(allowed)), 0.0))
        pushed = self.problem.pushed(i, mu)
        if not np.isclose(theta.dot(mu), pushed @ w, rtol=1e-9, atol=1e-9 * (1.0 + np.abs(mu.flat()).sum())):
            yield "push", f"for X[{i}], ⟨scores(w), μ⟩ is {theta.dot(mu):.6g}, but ⟨w, push(μ)⟩ is {pushed @ w:.6g}"
        again = pushed.copy()
        self.model.scorer.push(self.x, mu, again)
        if not np.allclose(again, 2.0 * pushed, rtol=1e-9, atol=1e-9):
            yield "adds", f"push of X[{i}] does not add to what `out` holds"

    def _best(self, what: str, theta: Theta) -> Iterator[Finding]:
        handed = _copy(theta)
        found = self.model.engine.best(handed)
        self.model.engine.parts(found, handed)
        if not np.array_equal(handed.flat(), theta.flat()):
            yield "changes", "best or parts changes the θ that it is given"
        score, *others = (theta.dot(self.problem.parts(self.i, y)) for y in (found, *self.seen))
        call = f"best({what} of X[{self.i}])"
        sentence = beaten(call, found, score, zip(others, self.seen, strict=True))
        if self.problem.exactness == "exact" and sentence is not None:
            yield what, sentence
        if not any(same_output(found, y) for y in self.seen):
            self.seen.append(found)

    def _k_best(self, engine: KBestEngine) -> Iterator[Finding]:
        call = f"k_best(θ of X[{self.i}], 3)"
        found = list(engine.k_best(_copy(self.theta), 3))
        for rank, (y, said) in enumerate(found):
            if abs(said - self._score(y)) > _slack(said):
                yield "k_best scores", f"{call} says that {y!r} has score {said:.3g}, but it has {self._score(y):.3g}"
            if any(same_output(y, other) for other, _ in found[:rank]):
                yield "k_best twice", f"{call} returns {y!r} twice"
        scores = [score for _, score in found]
        if scores != sorted(scores, reverse=True):
            yield "k_best order", f"{call} is not in order of score: {scores}"
        for y in self.seen:
            score = self._score(y)
            belongs = score > -np.inf and (len(found) < 3 or score > scores[-1] + _slack(score))
            if belongs and not any(same_output(y, other) for other, _ in found):
                yield "k_best misses", f"{call} misses {y!r} with score {score:.3g}"

    def _sums(self, engine: SumsEngine) -> Iterator[Finding]:
        call, flat = f"sums(θ of X[{self.i}])", self.theta.flat()
        log_z, marginals = engine.sums(_copy(self.theta))
        known = np.logaddexp.reduce([self._score(y) for y in self.seen])
        if known > log_z + _slack(known):
            yield "log Z", f"{call} says that log Z is {log_z:.6g}, but {len(self.seen)} outputs have {known:.6g}"
        forbidden = ~np.isfinite(flat)
        if marginals.flat()[forbidden].any():
            yield "forbidden", f"{call} gives marginals to parts that are forbidden"
        step = np.where(forbidden, 0.0, 1e-5 * self.random.normal(size=len(flat)))
        ahead, behind = (engine.sums(self.theta.shaped(flat + sign * step))[0] for sign in (1.0, -1.0))
        growth, slope = 0.5 * (ahead - behind), float(marginals.flat() @ step)
        if not abs(growth - slope) <= 1e-3 * np.abs(step).sum():
            yield "marginals", f"{call}: log Z grows by {growth:.3g} where its marginals say {slope:.3g}"


def _copy(theta: Theta) -> Theta:
    return Theta(theta.shared.copy(), theta.local.copy())


def _slack(value: float) -> float:
    return 1e-9 * (1.0 + abs(value))
