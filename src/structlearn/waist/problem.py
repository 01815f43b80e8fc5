"""The waist: what a solver sees of a model bound to data."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from types import MappingProxyType
from typing import Any, ClassVar, Literal

import numpy as np
import numpy.typing as npt

from structlearn import _core
from structlearn.data.arrays import FloatArray, IntArray
from structlearn.waist.likelihood import EXACT, Likelihood
from structlearn.waist.mixtures import Mixtures
from structlearn.waist.objective import MarginObjective, Oracle, Scaling
from structlearn.waist.planes import Outputs, Planes
from structlearn.waist.risk import Risk
from structlearn.waist.rows import Rows, check_weights

Exactness = Literal["exact", "relaxed", "approximate"]


class Problem(ABC):
    """A model bound to data: all that a solver ever sees.

    A subclass says which outputs are best (`best`), which violate most (`most_violating`) and what they look like in
    weight space (`differences`); the rest follows. All answers are sums over examples, never means.

    Attributes
    ----------
    n_examples, n_features : int
        Number of examples and of weights.
    oracles : frozenset of str
        Which argmax problems can be solved; a solver that needs another one is refused before training. "sums" is for
        likelihoods, see `PartProblem`; "gibbs" for chains that draw outputs: ``gibbs_start()``, codes of an output for
        every example, and ``gibbs(w, examples, chains, n_sweeps, random)``, which moves those of some examples in place
        by sweeps of Gibbs sampling under P(y | x) and returns them as outputs.
    exactness : {"exact", "relaxed", "approximate"}
        Whether the argmax is found. Only "approximate" forfeits certificates.
    has_cheaper_planes : bool
        Whether `planes_above` is cheaper than the oracle; solvers ask the oracle alone otherwise.
    n_threads : int
        Threads for the compiled kernels; answers do not depend on it.
    max_memory : int or None
        Bytes that a run may take beside the problem itself: what vectors leave is for planes. None leaves it to the
        solver.
    structure_bytes : int
        What the problem holds beside the features of its examples: structures that were listed for them.
    planes_nbytes : int
        About what the planes of an example take at the end of a run, as measured: see the decision about memory.
    latent : bool
        Whether parts of the truths are latent, so that the truths depend on w and the objective is not convex.
    truths_move : bool
        Whether the truths may move between one convex problem and the next, so that `Solver.rebase` is asked for.
    user_oracles : bool
        Whether a user wrote the oracles, so that they may be wrong and an optimum at w = 0 is suspicious.
    grows : bool
        Whether `n_features` may grow while the oracle is asked, or `differences`. A feature that was not seen yet has
        weight 0, so that nothing is lost by leaving it out, and the optimum is that of the problem with all features
        from the start. New ones are appended: an index never changes its meaning. The oracle gets weights for the
        features that there were when it was asked; see `extend`.
    likelihood : Likelihood
        What the log-losses are; another one than the exact serves solvers that ask for log-losses and their gradients
        alone.
    weight_groups : mapping
        Weights that stand together and have a name, for options that speak of them: where they begin and end.
    metric : RowMetric or None
        The inner product of weights where it is not the Euclidean one, see `structlearn.kernels.row_metric`.
    absent_groups : mapping
        Names of those that the model would have with another option, and what that is.
    sharded : bool
        Whether the examples are in parts that may be on other machines, see `ShardedProblem`.
    """

    n_examples: int
    n_features: int
    oracles: frozenset[Oracle]
    exactness: Exactness = "exact"
    has_cheaper_planes: bool = False
    n_threads: int = 1
    max_memory: int | None = None
    structure_bytes: int = 0
    planes_nbytes: ClassVar[int] = 2800
    latent: bool = False
    truths_move: bool = False
    user_oracles: bool = False
    grows: bool = False
    likelihood: Likelihood = EXACT
    weight_groups: Mapping[str, tuple[int, int]] = MappingProxyType({})
    metric: Any = None
    absent_groups: Mapping[str, str] = MappingProxyType({})
    sharded: ClassVar[bool] = False

    _chunk: ClassVar[int] = 4096

    @abstractmethod
    def best(self, w: FloatArray, examples: IntArray) -> Outputs:
        """argmax_y ⟨w, Ψ(x_i, y)⟩ of each of the examples: what the model predicts."""

    def most_violating(self, w: FloatArray, examples: IntArray, scaling: Scaling) -> tuple[IntArray, Outputs]:
        """argmax_ŷ b − a⟨w, δΨ(ŷ)⟩ with (a, b) = scaling(Δ(y, ŷ)): the examples that have an answer, and the answers.

        The truth is a candidate unless all outputs count alike; then an example without any other has no answer. By
        default asks the method that is named like the oracle: ``loss_augmented(w, examples)`` for argmax_ŷ ⟨w, Ψ(x, ŷ)⟩
        + Δ(y, ŷ), ``second_best(w, examples)`` for the best output that is not the truth, with the examples that have
        one, ``loss_levels(w, examples, scaling)`` for everything else.
        """
        ask = getattr(self, scaling.oracle)
        found: tuple[IntArray, Outputs]
        if scaling.oracle == "second_best":
            found = ask(w, examples)
        elif scaling.oracle == "loss_augmented":
            found = examples, ask(w, examples)
        else:
            found = examples, ask(w, examples, scaling)
        return found

    @abstractmethod
    def differences(self, examples: IntArray, outputs: Outputs) -> tuple[Rows, FloatArray]:
        """δΨ = Ψ(x_i, y_i) − Ψ(x_i, ŷ) and Δ(y_i, ŷ) for given outputs."""

    @abstractmethod
    def max_losses(self) -> FloatArray:
        """max_y Δ(y_i, y) for each example, (n_examples,)."""

    @abstractmethod
    def radii(self) -> FloatArray:
        """Upper bounds R_i ≥ max_y ‖Ψ(x_i, y_i) − Ψ(x_i, y)‖, (n_examples,); the papers' R̄ is the largest."""

    @abstractmethod
    def present(self, outputs: Outputs) -> Any:
        """Outputs in the user's own terms, as `predict` returns them."""

    def reachable(self) -> npt.NDArray[np.bool_]:
        """(n_examples,): whether each truth is an output that the model can have; only those have a score."""
        return np.ones(self.n_examples, bool)

    def missing(self, oracle: str) -> str:
        """What to add to the message that this oracle is missing: how the user can supply it."""
        return ""

    def contradiction(self, w: FloatArray | None = None) -> str | None:
        """How the oracles contradict each other, asked before training on a few examples, after it on all at w.

        For oracles that users write; those of the library are compared with enumeration by its tests.
        """
        return None

    def release(self) -> None:
        """Ends what passes over examples have started beside this process; they start it again where they need it."""
        return

    def sizes(self) -> dict[str, int]:
        """How much data there is, for people: examples, tokens."""
        return {"examples": self.n_examples}

    def notes(self) -> dict[str, Any]:
        """What a line of the history says of the work since the last one, beside what the solver says."""
        return {}

    def fingerprint(self) -> str | None:
        """A digest of the data, equal only for equal data; None where there is no such thing."""
        return None

    def oracle(self, w: FloatArray, examples: IntArray, scaling: Scaling) -> Planes:
        """The most violating output of each example at w, as a plane; see `most_violating`."""
        check_weights(w, self.n_features)
        if len(examples) and not (examples.min() >= 0 and examples.max() < self.n_examples):
            raise IndexError(f"examples are {examples.min()} to {examples.max()}, but there are {self.n_examples}")
        return self._planes(w, examples, scaling)

    def _planes(self, w: FloatArray, examples: IntArray, scaling: Scaling) -> Planes:
        """The oracle, where there is a shorter way than this."""
        examples, outputs = self.most_violating(w, examples, scaling)
        rows, losses = self.differences(examples, outputs)
        a, b = scaling(losses)
        return Planes(examples, rows, losses, outputs, b - a * rows.dot(self.extend(w)))

    def mixtures(self) -> Mixtures | None:
        """Distributions over outputs that climb the dual of margin rescaling; None where there are none."""
        return None

    def planes_above(self, w: FloatArray, examples: IntArray, scaling: Scaling, enough: FloatArray) -> Planes:
        """Planes for training alone: one that is violated by more than `enough`, (m,), will do for an example.

        It need not be the most violating one, so that `bounds` are the violations of these planes and certify nothing.
        Where none is found that is violated by so much, the answer is any that was found on the way.
        """
        return self.oracle(w, examples, scaling)

    def working_sets(self) -> _core.WorkingSets:
        """Empty working sets, one an example, that hold planes in the form that `keep` gives them."""
        return _core.SparseSets(self.n_examples, self.n_features)

    def keep(self, sets: _core.WorkingSets, planes: Planes, which: IntArray, a: FloatArray, b: FloatArray) -> int:
        """Adds the chosen planes, with constraints ξ ≥ b − a⟨w, δΨ⟩, to working sets; returns how many were new."""
        assert isinstance(sets, _core.SparseSets)
        rows = planes.rows.sparse()
        return sets.add(planes.examples, rows.indptr, rows.indices, rows.values, which, a, b)

    def extend(self, w: FloatArray) -> FloatArray:
        """A vector over the weights that there were, with zeros for those that have come into being since.

        Solvers ask for it after every answer of the oracle, before they use the rows.
        """
        return w if len(w) >= self.n_features else np.concatenate([w, np.zeros(self.n_features - len(w))])

    def with_growing_weights(self) -> Problem | None:
        """The same problem with weights that come into being when training needs them; see `grows`.

        None where it cannot be, or has a layout of its weights already.
        """
        return None

    def with_weights_of(self, other: Problem) -> Problem:
        """These data for the weights of another problem of the model, which has a layout of its own if it grows."""
        return self

    def save_layout(self) -> Any:
        """Where the weights that have come into being stand, as plain values and arrays; None without a layout."""
        return None

    def restore_layout(self, saved: Any) -> None:
        """Takes up what `save_layout` gave, which may come from a file that anybody could have written."""
        if saved is not None:
            raise ValueError("the weights of the earlier run had a layout, and this problem has none")

    def risk(self, w: FloatArray, objective: MarginObjective, observe: Callable[[Planes], None] | None = None) -> Risk:
        """Σ_i s_i ℓ(ξ_i(w)), with ℓ(ξ) = ξ for linear and ½ξ² for squared slacks, and its linearisation at w.

        An oracle pass over all examples; `observe` sees the planes of every chunk, for a solver that keeps them.
        """
        value, offset = 0.0, 0.0
        gradient, coefficients = np.zeros(self.n_features), np.zeros(self.n_examples)
        violations = np.full(self.n_examples, -np.inf)
        for examples in self.chunks():
            planes = self.oracle(w, examples, objective.scaling)
            w, gradient = self.extend(w), self.extend(gradient)
            np.maximum.at(violations, planes.examples, planes.bounds)
            weight = objective.sample_weight[planes.examples]
            slacks = np.maximum(planes.bounds, 0.0)
            loss, slope = objective.slack_loss(slacks), objective.slack_slope(slacks)
            a, b = objective.scaling(planes.losses)
            value += float(weight @ loss)
            # R(w) − ⟨gradient, w⟩ without the difference: what the curvature of ℓ takes is 0 for linear slacks.
            offset += float(weight @ (slope * b)) - float(weight @ (slope * slacks - loss))
            planes.rows.add_to(gradient, -weight * slope * a)
            coefficients[planes.examples] = weight * slope * a
            if observe is not None:
                observe(planes)
        return Risk(value, gradient, offset, violations, coefficients)

    def violations(self, w: FloatArray, objective: MarginObjective) -> FloatArray:
        """The `losses` of `risk` alone: all that the value of the objective takes, without the sum of a gradient."""
        found = np.full(self.n_examples, -np.inf)
        for examples in self.chunks():
            planes = self.oracle(w, examples, objective.scaling)
            w = self.extend(w)
            np.maximum.at(found, planes.examples, planes.bounds)
        return found

    def chunks(self) -> Iterator[IntArray]:
        """All examples in order, a few thousand at a time, so that planes never fill the memory."""
        for begin in range(0, self.n_examples, self._chunk):
            yield np.arange(begin, min(begin + self._chunk, self.n_examples))

    def predict(self, w: FloatArray) -> Outputs:
        """The best output of every example, in compact form."""
        check_weights(w, self.n_features)
        return self.best(w, np.arange(self.n_examples))

    def true_margins(self, w: FloatArray, examples: IntArray, outputs: Outputs) -> FloatArray:
        """F(x_i, y_i) − F(x_i, ŷ): by how much the truths are preferred to given outputs."""
        return self.differences(examples, outputs)[0].dot(w)

    def losses(self, outputs: Outputs) -> FloatArray:
        """Δ(y_i, ŷ_i) for one output an example."""
        return self.differences(np.arange(self.n_examples), outputs)[1]


@contextmanager
def released(*problems: Problem | None) -> Iterator[None]:
    """Ends at the end what the problems have started beside this process, whatever happens."""
    try:
        yield
    finally:
        for problem in problems:
            if problem is not None:
                problem.release()
