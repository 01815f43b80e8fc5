"""A scorer, an engine and a loss bound to data, example after example."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from structlearn.data.arrays import FloatArray, IntArray
from structlearn.data.examples import same_output
from structlearn.data.ragged import offsets_of
from structlearn.models.explanation import PartFeatures
from structlearn.models.own.relaxation import exactness_of
from structlearn.models.own.spot_check import contradiction, lent
from structlearn.waist.engine import KBestEngine, SumsEngine
from structlearn.waist.loss import AdditiveLoss, LocalParts
from structlearn.waist.objective import Oracle, Scaling
from structlearn.waist.parts import PartProblem
from structlearn.waist.planes import Outputs
from structlearn.waist.problem import Problem
from structlearn.waist.rows import SparseRows
from structlearn.waist.theta import Theta
from structlearn.waist.zero_one import truth_or_best_wrong

#: How the oracles are called in messages.
_CALLS = {"inference": "best(θ of X[{0}])", "loss_augmented_inference": "best(θ + ℓ of X[{0}])"}


class PythonComposedProblem(Problem):
    """See `structlearn.models.Composed`. Outputs are those of the engine."""

    user_oracles = True

    def __init__(self, scorer: Any, engine: Any, loss: Any, X: Sequence[Any], Y: Sequence[Any] | None):
        self.n_examples = len(X)
        self.n_features = int(scorer.n_features)
        self.exactness = exactness_of(engine)
        self._scorer = scorer
        self._engine = engine
        self._loss = loss
        self._X = X
        self._Y = Y
        self._additive = isinstance(loss, AdditiveLoss)
        several = isinstance(engine, KBestEngine)
        oracles: dict[Oracle, bool] = {
            "best": True,
            "loss_augmented": self._additive or several,
            "second_best": several,
            "loss_levels": several and not self._additive,
            "sums": isinstance(engine, SumsEngine),
        }
        self.oracles = frozenset(oracle for oracle, there in oracles.items() if there)

    def missing(self, oracle: str) -> str:
        if oracle == "sums":
            return f"; write sums(theta) in {type(self._engine).__name__}"
        if oracle == "loss_levels" and self._additive:
            return f": {type(self._loss).__name__} is added to scores; use rescaling='margin' with slack='linear'"
        return f"; write k_best(theta, k) in {type(self._engine).__name__}"

    def check_truths(self) -> None:
        """Refuses truths that have parts which the scorer forbids."""
        assert self._Y is not None
        forbidden = self._forbidden()
        if forbidden.any():
            i = int(np.argmax(forbidden))
            raise ValueError(f"Y[{i}] is {self._Y[i]!r}, which has a part that the scores of X[{i}] forbid")

    def best(self, w: FloatArray, examples: IntArray) -> list[Any]:
        with lent(w) as given:
            return [self._engine.best(self.theta(i, given)) for i in examples.tolist()]

    def loss_augmented(self, w: FloatArray, examples: IntArray) -> list[Any]:
        if not self._additive:
            return self.loss_levels(w, examples, Scaling("margin", "linear"))
        with lent(w) as given:
            return [self._engine.best(self.theta(i, given).plus(self.prices[i])) for i in examples.tolist()]

    def loss_levels(self, w: FloatArray, examples: IntArray, scaling: Scaling) -> list[Any]:
        return truth_or_best_wrong(self, w, examples, scaling)

    def second_best(self, w: FloatArray, examples: IntArray) -> tuple[IntArray, list[Any]]:
        answered, found = [], []
        with lent(w) as given:
            for i, truth in zip(examples.tolist(), self.true_outputs(examples), strict=True):
                others = [y for y, _ in self._engine.k_best(self.theta(i, given), 2) if not same_output(y, truth)]
                if others:
                    answered.append(i)
                    found.append(others[0])
        return np.array(answered, np.int64), found

    def true_outputs(self, examples: IntArray) -> list[Any]:
        assert self._Y is not None
        return [self._Y[i] for i in examples.tolist()]

    def k_best(self, w: FloatArray, k: int) -> list[list[tuple[Any, float]]]:
        with lent(w) as given:
            return [list(self._engine.k_best(self.theta(i, given), k)) for i in range(self.n_examples)]

    def differences(self, examples: IntArray, outputs: Outputs) -> tuple[SparseRows, FloatArray]:
        rows, losses = [], []
        for i, y in zip(examples.tolist(), outputs, strict=True):
            rows.append(sp.csr_array(self.pushed(i, self._truths[i].minus(self.parts(i, y)))[None, :]))
            losses.append(self.loss_of(i, y))
        matrix = sp.vstack([*rows, sp.csr_array((0, self.n_features))], format="csr")
        return SparseRows.from_matrix(sp.csr_array(matrix)), np.array(losses, np.float64)

    def differing_parts(self, w: FloatArray) -> list[PartFeatures]:
        """See `ComposedProblem.differing_parts`; parts are called by their places in θ."""
        change = self._truths[0].minus(self._truths[1])
        labels = getattr(self._engine, "labels", None)
        found = []
        for where, counts in (("shared", change.shared), ("local", change.local)):
            for place in np.argwhere(counts):
                one = self._truths[0].minus(self._truths[0])
                getattr(one, where)[tuple(place)] = counts[tuple(place)]
                at = place.tolist()
                if where == "local" and labels is not None:
                    at[-1] = labels[at[-1]]
                name = f"{where}[{', '.join(map(str, at))}]"
                row = sp.coo_array(self.pushed(0, one)[None, :])
                found.append(PartFeatures.of_row(name, row, float(counts[tuple(place)])))
        return found

    def losses(self, outputs: Outputs) -> FloatArray:
        return np.array([self.loss_of(i, y) for i, y in enumerate(outputs)], np.float64)

    def max_losses(self) -> FloatArray:
        if not self._additive:
            return np.ones(self.n_examples)
        worst = [self._engine.best(nothing.plus(self.prices[i])) for i, nothing in enumerate(self._nothing)]
        return self.losses(worst)

    def radii(self) -> FloatArray:
        # ‖Ψ(y)‖ ≤ Σ_p μ_p ‖A_p‖, and the engine finds the output for which that is largest.
        found = []
        for i, nothing in enumerate(self._nothing):
            norms = nothing.shaped(np.array([np.linalg.norm(row) for row in self._part_rows(i)]))
            truth = self.pushed(i, self._truths[i])
            found.append(self._largest(i, norms.plus(nothing.local)) + float(np.linalg.norm(truth)))
        return np.array(found)

    def present(self, outputs: Outputs) -> list[Any]:
        return list(outputs)

    def fingerprint(self) -> str:
        import joblib

        three = (self._scorer, self._engine, self._loss)
        options = [(type(each).__name__, getattr(each, "__dict__", {})) for each in three]
        return str(joblib.hash((options, self._X, self._Y)))

    def contradiction(self, w: FloatArray | None = None) -> str | None:
        oracles = ["inference", "loss_augmented_inference"] if self._additive else ["inference"]
        return contradiction(self, oracles, w, _CALLS)

    def ask_oracle(self, name: str, i: int, w: FloatArray) -> Any:
        theta = self.theta(i, w)
        return self._engine.best(theta if name == "inference" else theta.plus(self.prices[i]))

    def truth_at(self, i: int, w: FloatArray) -> Any:
        assert self._Y is not None
        return self._Y[i]

    def some_outputs(self, i: int, n: int) -> list[Any]:
        return []

    def score_of(self, i: int, y: Any, w: FloatArray) -> float:
        return float(self.pushed(i, self.parts(i, y)) @ w)

    def loss_of(self, i: int, y: Any) -> float:
        assert self._Y is not None
        if not self._additive:
            return 0.0 if same_output(self._Y[i], y) else 1.0
        loss = -float(np.sum(self.prices[i] * self._truths[i].minus(self.parts(i, y)).local))
        if not loss >= -1e-9:
            raise ValueError(f"the loss of example {i} is {loss} for the output {y!r}; it must be ≥ 0")
        return max(loss, 0.0)

    def theta(self, i: int, w: FloatArray) -> Theta:
        """θ of an example."""
        theta = self._scorer.scores(self._X[i], w)
        if not isinstance(theta, Theta):
            raise TypeError(f"the scores of X[{i}] are a {type(theta).__name__}; expected a Theta(shared, local)")
        if not (np.isfinite(theta.shared).all() and (theta.local < np.inf).all()):
            raise ValueError(f"the scores of X[{i}] must be numbers, or −∞ for local parts that are forbidden")
        return theta

    def parts(self, i: int, y: Any) -> Theta:
        """μ(y) of an output of an example."""
        mu = self._engine.parts(y, self._nothing[i])
        shapes = [(part.shared.shape, part.local.shape) for part in (mu, self._nothing[i])]
        if shapes[0] != shapes[1]:
            raise ValueError(f"the parts of {y!r} have the shapes {shapes[0]}, but the scores of X[{i}] {shapes[1]}")
        parts: Theta = mu
        return parts

    def pushed(self, i: int, mu: Theta) -> FloatArray:
        """A_iᵀ μ, which of an output is Ψ(x_i, y)."""
        out = np.zeros(self.n_features)
        self._scorer.push(self._X[i], mu, out)
        return out

    @cached_property
    def _nothing(self) -> list[Theta]:
        """θ of every example at w = 0: zero, and −∞ for parts that are forbidden."""
        found = [self.theta(i, np.zeros(self.n_features)) for i in range(self.n_examples)]
        for i, theta in enumerate(found):
            if theta.shared.any() or theta.local[~np.isneginf(theta.local)].any():
                raise ValueError(f"the scores of X[{i}] at w = 0 are not zero; they must be linear in w")
        return found

    @cached_property
    def _truths(self) -> list[Theta]:
        """μ(y_i) of every example."""
        assert self._Y is not None
        return [self.parts(i, y) for i, y in enumerate(self._Y)]

    def _forbidden(self) -> npt.NDArray[np.bool_]:
        """(n_examples,): whether each truth has parts that its scores forbid."""
        pairs = zip(self._nothing, self._truths, strict=True)
        return np.array([nothing.dot(truth) == -np.inf for nothing, truth in pairs], np.bool_)

    @cached_property
    def prices(self) -> list[FloatArray]:
        """ℓ of every example."""
        assert self._Y is not None
        labels = tuple(getattr(self._engine, "labels", ()))
        found = []
        for i, (y, theta) in enumerate(zip(self._Y, self._nothing, strict=True)):
            local = LocalParts(theta.local.shape, labels)
            prices = np.asarray(self._loss.parts(y, local), np.float64)
            if prices.shape != local.shape or not np.isfinite(prices).all():
                raise ValueError(
                    f"the loss of Y[{i}] has parts of the shape {prices.shape}; expected finite numbers of the shape "
                    f"{local.shape}"
                )
            found.append(prices)
        return found

    def _part_rows(self, i: int) -> Iterator[FloatArray]:
        """A_i row after row: what a single part has of each feature."""
        nothing = self._nothing[i]
        allowed = np.isfinite(nothing.flat())
        for p, unit in enumerate(np.eye(len(allowed))):
            yield self.pushed(i, nothing.shaped(unit * allowed[p]))

    def _largest(self, i: int, theta: Theta) -> float:
        """max_y ⟨θ, μ(y)⟩ for bounds that hold where μ is nowhere negative."""
        mu = self.parts(i, self._engine.best(theta))
        if mu.flat().min(initial=0.0) < 0.0:
            raise ValueError(f"an output of X[{i}] has a part with the coefficient {mu.flat().min():g}; expected ≥ 0")
        return theta.dot(mu)


class SummedProblem(PythonComposedProblem, PartProblem):
    """The same with an engine that sums."""

    @cached_property
    def part_offsets(self) -> IntArray:  # type: ignore[override]
        return offsets_of([nothing.shared.size + nothing.local.size for nothing in self._nothing])

    def scores(self, w: FloatArray, examples: IntArray) -> FloatArray:
        with lent(w) as given:
            found = [self.theta(i, given).flat() for i in examples.tolist()]
        theta = np.concatenate([*found, np.empty(0)])
        theta[np.isneginf(theta)] = 0.0
        return theta

    def expectations(self, theta: FloatArray, examples: IntArray) -> tuple[FloatArray, FloatArray]:
        log_z, marginals = np.empty(len(examples)), np.empty_like(theta)
        for k, (i, place) in enumerate(self._places(examples)):
            nothing = self._nothing[i]
            log_z[k], found = self._engine.sums(nothing.shaped(theta[place]).plus(nothing.local))
            marginals[place] = found.flat()
        return log_z, marginals

    def push(self, marginals: FloatArray, examples: IntArray, coefficients: FloatArray, out: FloatArray) -> None:
        for (i, place), coefficient in zip(self._places(examples), coefficients, strict=True):
            self._scorer.push(self._X[i], self._nothing[i].shaped(coefficient * marginals[place]), out)

    def true_parts(self, examples: IntArray) -> FloatArray:
        return np.concatenate([*(self._truths[i].flat() for i in examples.tolist()), np.empty(0)])

    def log_probabilities(self, w: FloatArray) -> FloatArray:
        return np.where(self._forbidden(), -np.inf, -self.log_losses(w))

    def part_losses(self, examples: IntArray) -> FloatArray | None:
        if not self._additive:
            return None
        found = []
        for i in examples.tolist():
            own = float(np.sum(self.prices[i] * self._truths[i].local))
            if own != 0.0:
                raise ValueError(f"the parts of Y[{i}] cost {own:g}; distributions need a loss that gives them nothing")
            found.append(Theta(np.zeros_like(self._nothing[i].shared), self.prices[i]).flat())
        return np.concatenate([*found, np.empty(0)])

    def label_probabilities(self, w: FloatArray) -> list[FloatArray]:
        """The marginals of the local parts under P(y | x), an array of their shape for each example."""
        flat = super().label_probabilities(w)
        return [nothing.shaped(marginals).local for nothing, marginals in zip(self._nothing, flat, strict=True)]

    def samples(self, w: FloatArray, n_samples: int, random: np.random.Generator) -> list[list[Any]]:
        """Outputs drawn from P(y | x), `n_samples` of each example."""
        with lent(w) as given:
            thetas = [self.theta(i, given) for i in range(self.n_examples)]
        return [[self._engine.sample(theta, random) for _ in range(n_samples)] for theta in thetas]

    def feature_totals(self) -> FloatArray:
        for i in range(self.n_examples):
            least = min((float(row.min(initial=0.0)) for row in self._part_rows(i)), default=0.0)
            if least < 0.0:
                raise ValueError(f"a part of X[{i}] has the feature {least:g}; iterative scaling needs features ≥ 0")
        ones = np.ones(self.n_features)
        return np.array([self._largest(i, self.theta(i, ones)) for i in range(self.n_examples)])

    def _places(self, examples: IntArray) -> Iterator[tuple[int, slice]]:
        """Each of the examples, and where its parts are if these stand one after another."""
        ends = self._part_places(examples).tolist()
        return ((i, slice(ends[k], ends[k + 1])) for k, i in enumerate(examples.tolist()))
