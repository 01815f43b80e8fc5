"""Learning from outputs that are known in part, for all structures whose decoders can be restricted."""

from __future__ import annotations

import re
from abc import abstractmethod
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from structlearn import _core
from structlearn.data.arrays import FloatArray, IntArray, digest
from structlearn.data.ragged import Ragged, offsets_of, places_of
from structlearn.losses.bound import BoundLoss
from structlearn.models.base import Model, Spec
from structlearn.models.composed import ComposedProblem
from structlearn.waist.latent import Start
from structlearn.waist.latent_parts import LatentPartProblem
from structlearn.waist.mixtures import Mixtures
from structlearn.waist.objective import Scaling
from structlearn.waist.planes import Outputs, Planes
from structlearn.waist.rows import SparseRows

#: By which part of the largest slope weights are moved at random where labels cannot be told apart.
TIE_BREAK = 1e-3
#: How often they are drawn.
N_DRAWS = 10


class PartialProblem(LatentPartProblem):
    """Outputs of which the data say something, Y_i, the set of those that may be true; the latent part is which one is.

    Two problems over the same data do the work: a free one, and one that has the possible outputs only.

    Parameters
    ----------
    free : ComposedProblem
    possible : callable
        Gives the restricted one, with the same parts, when it is first needed: predictions are judged without it.
    loss : BoundLoss
        Δ(Y_i, ŷ), zero on the outputs in Y_i.
    encode : callable
        The codes of whole outputs in the user's terms, one an example; refuses by name those that are not in Y_i.
    at_random : bool
        Whether learning must begin at random, since w = 0 cannot tell some labels from others.
    """

    def __init__(
        self,
        free: ComposedProblem,
        possible: Callable[[], ComposedProblem],
        loss: BoundLoss,
        encode: Callable[[Sequence[Any]], Ragged],
        *,
        at_random: bool = False,
    ):
        self.n_examples, self.n_features = free.n_examples, free.n_features
        self.part_offsets = free.part_offsets
        self.structure_bytes = free.structure_bytes
        self.likelihood = free.likelihood
        self.exactness = free.exactness
        self.weight_groups, self.absent_groups = free.weight_groups, free.absent_groups
        self._free = free.with_loss(loss)
        self._bind_possible = possible
        self._possible: ComposedProblem | None = None
        self._loss = loss
        self._encode = encode
        self._at_random = at_random
        self.oracles = self._free.oracles if loss.levels is not None else self._free.oracles - {"second_best"}

    @property
    def n_threads(self) -> int:
        return self._free.n_threads

    @n_threads.setter
    def n_threads(self, n_threads: int) -> None:
        self._free.n_threads = n_threads

    @property
    def kernel(self) -> _core.Composed:
        """See `ComposedProblem.kernel`."""
        return self._free.kernel

    @property
    def possible(self) -> ComposedProblem:
        """The problem that has the possible outputs only."""
        if self._possible is None:
            self._possible = self._bind_possible()
        self._possible.n_threads = self.n_threads
        return self._possible

    def missing(self, oracle: str) -> str:
        return self._free.missing(oracle)

    def best(self, w: FloatArray, examples: IntArray) -> Outputs:
        return _plain(self._free.best(w, examples))

    def complete(self, w: FloatArray, examples: IntArray) -> Outputs:
        return _plain(self.possible.best(w, examples))

    def loss_augmented(self, w: FloatArray, examples: IntArray) -> Outputs:
        if self._loss.parts is None:
            return self.loss_levels(w, examples, Scaling("margin", "linear"))
        return _plain(self._free.best_with(self._loss.parts, w, examples)[0])

    def loss_levels(self, w: FloatArray, examples: IntArray, scaling: Scaling) -> Outputs:
        assert self._loss.levels is not None
        a, b = scaling(self._loss.levels.values(examples))
        return self._best_level(w, examples, a, b)

    def second_best(self, w: FloatArray, examples: IntArray) -> tuple[IntArray, Outputs]:
        """The best output with a loss above zero, from the best of every loss level."""
        assert self._loss.levels is not None
        losses = self._loss.levels.values(examples)
        # No violation is below zero if all of them are raised by the distance of the best score from the worst.
        reach = self._free.best_scored(w, examples)[1] + self._free.best_scored(-w, examples)[1]
        raised = 1.0 + np.repeat(reach, self._loss.levels.n_levels[examples])
        found = self._best_level(w, examples, np.ones_like(losses), np.where(losses > 0.0, raised, -np.inf))
        wrong = np.flatnonzero(self.output_losses(examples, found) > 0.0)
        return examples[wrong], found[wrong] if isinstance(found, np.ndarray) else [found[k] for k in wrong]

    def _planes(self, w: FloatArray, examples: IntArray, scaling: Scaling) -> Planes:
        if self._loss.parts is None or scaling.oracle != "loss_augmented":
            return super()._planes(w, examples, scaling)
        # Where an engine has not proven its answer, its bound is the plane's.
        outputs, losses, excess = self._free.best_bounded(self._loss.parts, w, examples)
        rows = self.between(examples, self.truths(w, examples), outputs)
        a, b = scaling(losses)
        return Planes(examples, rows, losses, _plain(outputs), b - a * rows.dot(w) + excess)

    def mixtures(self) -> Mixtures | None:
        if self.completions is None:
            return None
        return self._free.mixtures_of(self._free.unpack(self.completions), self._loss)

    def between(self, examples: IntArray, left: Outputs, right: Outputs) -> SparseRows:
        truths = self._of_all_examples(examples, left)
        return self._free.rows_between(truths, examples, self._free.unpack(right)).sparse()

    def output_losses(self, examples: IntArray, outputs: Outputs) -> FloatArray:
        return self._free.losses_of(self._loss, examples, outputs)

    def max_losses(self) -> FloatArray:
        return self._free.max_losses()

    def start(self, random: np.random.Generator) -> Start:
        """From w = 0, and for margins from the outputs that are best where the likelihood rises most steeply."""
        gradient = np.zeros(self.n_features)
        if "sums" in self._free.oracles:
            self.log_losses(np.zeros(self.n_features), np.ones(self.n_examples), gradient)
        else:
            # What is searched has no sums, but at w = 0 they need none: all outputs are equally likely.
            free, possible = self._free.parts_at_random(), self.possible.parts_at_random()
            self.push(free - possible, np.arange(self.n_examples), np.ones(self.n_examples), gradient)
        if self._at_random:
            return Start(completions=self._told_apart(gradient, random))
        return Start(np.zeros(self.n_features), self.complete(-gradient, np.arange(self.n_examples)))

    def _told_apart(self, gradient: FloatArray, random: np.random.Generator) -> Outputs:
        """Where the likelihood rises, with labels between which the gradient is undecided told apart by chance.

        At w = 0 they would stay alike for ever. Of several draws the one that has them most evenly is taken, whose
        features are spread over most weights.
        """
        every, size = np.arange(self.n_examples), TIE_BREAK * (np.abs(gradient).max() or 1.0)
        draws = [self.complete(size * random.normal(size=len(gradient)) - gradient, every) for _ in range(N_DRAWS)]

        def length(draw: Outputs) -> float:
            total = np.zeros(self.n_features)
            self.push(self.parts_of(every, draw), every, np.ones(self.n_examples), total)
            return float(total @ total)

        return min(draws, key=length)

    def random_completions(self, random: np.random.Generator) -> Outputs:
        # The best outputs at random weights, so that all are outputs that the model can have.
        return self.complete(random.normal(size=self.n_features), np.arange(self.n_examples))

    def completions_of(self, latent: Sequence[Any]) -> Outputs:
        return _plain(self._free.pack(self._encode(latent), np.arange(self.n_examples)))

    def check_completions(self, completions: Outputs) -> None:
        if len(completions) != self.n_examples:
            raise ValueError(f"there are {len(completions)} completions of {self.n_examples} examples")
        given = self._free.unpack(completions)
        again = self._free.unpack(self.completions_of(self.present_latent(completions)))
        for i, (mine, possible) in enumerate(zip(given, again, strict=True)):
            if not np.array_equal(mine, possible):
                raise ValueError(f"the completion of example {i} is {mine}; it cannot be")

    def scores(self, w: FloatArray, examples: IntArray) -> FloatArray:
        return self._free.scores(w, examples)

    def expectations(self, theta: FloatArray, examples: IntArray) -> tuple[FloatArray, FloatArray]:
        return self._free.expectations(theta, examples)

    def true_expectations(self, theta: FloatArray, examples: IntArray) -> tuple[FloatArray, FloatArray]:
        return self.possible.expectations(theta, examples)

    def push(self, marginals: FloatArray, examples: IntArray, coefficients: FloatArray, out: FloatArray) -> None:
        self._free.push(marginals, examples, coefficients, out)

    def parts_of(self, examples: IntArray, outputs: Outputs) -> FloatArray:
        truths = self._of_all_examples(examples, outputs)
        marginals = np.empty(int(self._part_places(examples)[-1]))
        self.kernel.indicators(truths.flat, truths.offsets, examples, marginals)
        return marginals

    def log_losses(
        self, w: FloatArray, weight: FloatArray | None = None, gradient: FloatArray | None = None
    ) -> FloatArray:
        if not self.latent:
            return super().log_losses(w, weight, gradient)
        losses, everything = np.empty(self.n_examples), np.arange(self.n_examples)
        self.kernel.set_log_losses(self.possible.kernel, w, everything, losses, weight, gradient, self.n_threads)
        return losses

    def radii(self) -> FloatArray:
        return self._free.radii()

    def present(self, outputs: Outputs) -> Any:
        return self._free.present(outputs)

    def present_latent(self, outputs: Outputs) -> list[Any]:
        return list(self.present(outputs))

    def sizes(self) -> dict[str, int]:
        return self._free.sizes()

    def fingerprint(self) -> str:
        return f"{self.possible.fingerprint()} {digest(*self._loss.identity)}"

    def _best_level(self, w: FloatArray, examples: IntArray, a: FloatArray, b: FloatArray) -> Outputs:
        assert self._loss.levels is not None
        truths = self._of_all_examples(examples, self.truths(w, examples))
        return _plain(self._free.best_level(w, examples, truths, self._loss.levels, a, b))

    def _of_all_examples(self, examples: IntArray, outputs: Outputs) -> Ragged:
        """Codes of one output an example, in a list of all; those that are not asked for are empty."""
        codes = self._free.unpack(outputs)
        lengths = np.zeros(self.n_examples, np.int64)
        lengths[examples] = codes.lengths
        offsets = offsets_of(lengths)
        flat = np.zeros(int(offsets[-1]), np.int32)
        flat[places_of(offsets, examples)[0]] = codes.flat
        return Ragged(flat, offsets)


class PartialModel(Model):
    """A structure that can learn from outputs known in part, as `bind` takes them for `allowed`."""

    predicts_latent = False

    @abstractmethod
    def specify_partial(self, X: Any, Y: Any) -> Spec: ...

    @abstractmethod
    def partial_loss(self, spec: Any, X: Any, Y: Any, *, allow_unknown: bool = False) -> BoundLoss:
        """Δ(Y_i, ŷ), zero on the outputs that agree with Y_i; with `allow_unknown` none need agree."""

    def begins_at_random(self, spec: Any, Y: Any) -> bool:
        """Whether there are labels that nothing tells from each other before learning: those of hidden nodes."""
        return False

    def read_partial(self, X: Any, Y: Any) -> tuple[Any, Any]:
        return X, Y

    def bind_partial(self, spec: Any, X: Any, Y: Any, *, allow_unknown: bool = False) -> PartialProblem:
        """The model on data with partial outputs; see `bind` for `allow_unknown`."""
        bind: Callable[..., Any] = self.bind
        # The loss first: what is wrong with Y is named as such.
        loss = self.partial_loss(spec, X, Y, allow_unknown=allow_unknown)
        problem = PartialProblem(
            bind(spec, X),
            lambda: self._bind_possible(spec, X, Y),
            loss,
            lambda outputs: bind(spec, X, outputs, allowed=Y).truths,
            at_random=self.begins_at_random(spec, Y),
        )
        if not allow_unknown:
            # Refused before training, if no output is possible.
            assert problem.possible.n_features == problem.n_features
        return problem

    def _bind_possible(self, spec: Any, X: Any, Y: Any) -> Any:
        bind: Callable[..., Any] = self.bind
        try:
            return bind(spec, X, allowed=Y)
        except ValueError as error:
            # Whoever trains has given no `allowed`.
            raise ValueError(re.sub(r"^allowed\[", "Y[", str(error))) from None


def _plain(outputs: Outputs) -> Outputs:
    """Outputs as an array or a list, which checkpoints hold."""
    return outputs if isinstance(outputs, np.ndarray) else list(outputs)
