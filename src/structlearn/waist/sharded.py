"""Problems whose examples are in parts, each of which may be on another machine."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, fields, replace
from typing import Any

import numpy as np

from structlearn.data.arrays import FloatArray, IntArray
from structlearn.data.ragged import offsets_of
from structlearn.waist.likelihood import Likelihood
from structlearn.waist.objective import MarginObjective, Objective, Oracle, Scaling
from structlearn.waist.packed import add_packed, packed
from structlearn.waist.planes import Outputs, Planes
from structlearn.waist.problem import Exactness, Problem
from structlearn.waist.risk import Risk
from structlearn.waist.rows import Rows, SparseRows, check_weights


@dataclass
class Part:
    """A part where it is held: its examples as a problem, and what calls leave there for later ones.

    What is kept may be gone at the next call, if the machine is: calls that use it must do without.
    """

    problem: Problem
    kept: dict[str, Any] = field(default_factory=dict)


class Parts(ABC):
    """All parts, wherever they are.

    `ask` is the only way to them. A part is a pure function of its source: where the machine that held it is lost,
    another one makes it again, with nothing kept.
    """

    @abstractmethod
    def __len__(self) -> int: ...

    @abstractmethod
    def ask(
        self,
        call: Callable[..., Any],
        *common: Any,
        own: Sequence[Any] | None = None,
        which: Sequence[int] | None = None,
    ) -> list[Any]:
        """call(part, *common) of all parts, or of those that are asked, in the order of the parts.

        `call` is a function that other machines find by its name; `own` has a further argument for each part asked.
        """

    def notes(self) -> dict[str, Any]:
        """What a line of the history says of the calls since the last time that it was asked for."""
        return {}

    def release(self) -> None:
        """Gives up what machines hold; they read it again if they are asked."""
        return


class PartsHere(Parts):
    """Parts in this process, for tests and as the plainest of all."""

    def __init__(self, problems: Sequence[Problem]):
        self.parts = [Part(problem) for problem in problems]

    def __len__(self) -> int:
        return len(self.parts)

    def ask(
        self,
        call: Callable[..., Any],
        *common: Any,
        own: Sequence[Any] | None = None,
        which: Sequence[int] | None = None,
    ) -> list[Any]:
        asked = [self.parts[k] for k in (range(len(self)) if which is None else which)]
        if own is None:
            return [call(part, *common) for part in asked]
        return [call(part, *common, each) for part, each in zip(asked, own, strict=True)]


@dataclass(frozen=True, slots=True)
class Share:
    """A part's share of an objective: the same price for its examples, whose weights travel unless all are 1."""

    objective: Any
    price: float
    weight: FloatArray | None

    def of(self, n_examples: int) -> Any:
        weight = np.ones(n_examples) if self.weight is None else self.weight
        return replace(self.objective, sample_weight=weight, C=self.price * float(weight.sum()))


@dataclass(frozen=True, slots=True)
class PartOutputs:
    """Outputs of examples that stand in several parts: which of each, and what its problem says of them."""

    examples: tuple[IntArray, ...]
    outputs: tuple[Any, ...]

    def __len__(self) -> int:
        return sum(map(len, self.examples))

    def __getitem__(self, k: Any) -> Any:
        return list(self)[k]

    def __iter__(self) -> Iterator[Any]:
        for outputs in self.outputs:
            yield from outputs


class ShardedProblem(Problem):
    """A sum over parts. Answers are added in the order of the parts, so that they do not depend on who was first.

    Solvers may treat it as any other problem; what asks for single examples is slow, since every question travels.
    `risk` and `violations` take one call a part; see also `ShardedAscent`.

    Attributes
    ----------
    begins : (n_parts + 1,)
        Where the examples of each part begin.
    """

    sharded = True

    def __init__(self, parts: Parts):
        self.parts = parts
        found: list[_Facts] = parts.ask(_facts)
        first = found[0]
        for k, facts in enumerate(found):
            if facts.n_features != first.n_features:
                raise ValueError(f"part {k} has {facts.n_features} weights, but part 0 has {first.n_features}")
            if facts.latent:
                raise ValueError("data that are distributed cannot have latent parts")
        self.begins = offsets_of([facts.n_examples for facts in found])
        self.n_examples = int(self.begins[-1])
        self.n_features = first.n_features
        self.oracles = frozenset.intersection(*(facts.oracles for facts in found))
        order: tuple[Exactness, ...] = ("exact", "relaxed", "approximate")
        self.exactness = max((facts.exactness for facts in found), key=order.index)
        self.likelihood = first.likelihood
        self.user_oracles = first.user_oracles
        self._sizes = {name: sum(facts.sizes[name] for facts in found) for name in first.sizes}

    def on_parts(
        self,
        call: Callable[..., Any],
        *common: Any,
        own: Sequence[Any] | None = None,
        which: Sequence[int] | None = None,
    ) -> list[Any]:
        """`Parts.ask`, with as many threads as this problem may have."""
        return self.parts.ask(_with_threads, call, self.n_threads, *common, own=own, which=which)

    def shares(self, objective: Objective) -> list[Share]:
        """What the objective is for each part."""
        bare = replace(objective, sample_weight=np.ones(1))
        weights = np.split(objective.sample_weight, self.begins[1:-1])
        return [Share(bare, objective.price, None if (each == 1.0).all() else each) for each in weights]

    def notes(self) -> dict[str, Any]:
        return self.parts.notes()

    def release(self) -> None:
        self.parts.release()

    def sizes(self) -> dict[str, int]:
        return self._sizes

    def fingerprint(self) -> str | None:
        found = self.on_parts(_fingerprint)
        return None if None in found else "+".join(found)

    def risk(self, w: FloatArray, objective: Objective, observe: Callable[[Planes], None] | None = None) -> Risk:
        """See `Problem.risk`; planes stay where they are, so that there is nothing to observe."""
        check_weights(w, self.n_features)
        found: list[Risk] = self.on_parts(_risk, w, own=self.shares(objective))
        gradient = np.zeros(self.n_features)
        for each in found:
            add_packed(gradient, each.gradient)
        losses = np.concatenate([each.losses for each in found])
        return Risk(sum(each.value for each in found), gradient, sum(each.offset for each in found), losses)

    def violations(self, w: FloatArray, objective: MarginObjective) -> FloatArray:
        check_weights(w, self.n_features)
        return np.concatenate(self.on_parts(_violations, w, own=self.shares(objective)))

    def best(self, w: FloatArray, examples: IntArray) -> PartOutputs:
        placed = self._placed(examples)
        return PartOutputs(placed, tuple(self.on_parts(_best, w, own=placed)))

    def most_violating(self, w: FloatArray, examples: IntArray, scaling: Scaling) -> tuple[IntArray, Outputs]:
        found = self.on_parts(_most_violating, w, scaling, own=self._placed(examples))
        chosen = tuple(each for each, _ in found)
        numbers = [begin + each for begin, each in zip(self.begins[:-1], chosen, strict=True)]
        return np.concatenate(numbers), PartOutputs(chosen, tuple(outputs for _, outputs in found))

    def differences(self, examples: IntArray, outputs: Any) -> tuple[Rows, FloatArray]:
        found = self.on_parts(_differences, own=list(zip(outputs.examples, outputs.outputs, strict=True)))
        matrices = [rows.matrix(self.n_features) for rows, _ in found]
        import scipy.sparse as sp

        return SparseRows.from_matrix(sp.csr_array(sp.vstack(matrices))), np.concatenate([each for _, each in found])

    def losses(self, outputs: Any) -> FloatArray:
        return np.concatenate(self.on_parts(_losses, own=outputs.outputs))

    def max_losses(self) -> FloatArray:
        return np.concatenate(self.on_parts(_max_losses))

    def radii(self) -> FloatArray:
        return np.concatenate(self.on_parts(_radii))

    def present(self, outputs: Any) -> list[Any]:
        return [y for found in self.on_parts(_present, own=outputs.outputs) for y in found]

    def _placed(self, examples: IntArray) -> tuple[IntArray, ...]:
        """The examples of each part, counted from its first one; those of several parts must be in order."""
        if np.any(np.diff(examples) < 0):
            raise ValueError("examples of a problem in parts are asked for in their order")
        cuts = np.searchsorted(examples, self.begins)
        placed = [examples[a:b] - begin for a, b, begin in zip(cuts[:-1], cuts[1:], self.begins[:-1], strict=True)]
        return tuple(placed)


@dataclass(frozen=True, slots=True)
class _Facts:
    """What a sharded problem says of itself; the names are those of `Problem`."""

    n_examples: int
    n_features: int
    oracles: frozenset[Oracle]
    exactness: Exactness
    likelihood: Likelihood
    latent: bool
    user_oracles: bool
    sizes: dict[str, int]


def _facts(part: Part) -> _Facts:
    names = [option.name for option in fields(_Facts) if option.name != "sizes"]
    return _Facts(**{name: getattr(part.problem, name) for name in names}, sizes=part.problem.sizes())


def _with_threads(part: Part, call: Callable[..., Any], n_threads: int, *arguments: Any) -> Any:
    part.problem.n_threads = n_threads
    return call(part, *arguments)


def _fingerprint(part: Part) -> str | None:
    return part.problem.fingerprint()


def _risk(part: Part, w: FloatArray, share: Share) -> Risk:
    risk = part.problem.risk(w, share.of(part.problem.n_examples))
    return replace(risk, gradient=packed(risk.gradient), coefficients=np.empty(0))  # type: ignore[arg-type]


def _violations(part: Part, w: FloatArray, share: Share) -> FloatArray:
    return part.problem.violations(w, share.of(part.problem.n_examples))


def _best(part: Part, w: FloatArray, examples: IntArray) -> Outputs:
    return part.problem.best(w, examples)


def _most_violating(part: Part, w: FloatArray, scaling: Scaling, examples: IntArray) -> tuple[IntArray, Outputs]:
    return part.problem.most_violating(w, examples, scaling)


def _differences(part: Part, chosen: tuple[IntArray, Outputs]) -> tuple[SparseRows, FloatArray]:
    rows, losses = part.problem.differences(*chosen)
    return rows.sparse(), losses


def _losses(part: Part, outputs: Outputs) -> FloatArray:
    return part.problem.losses(outputs)


def _max_losses(part: Part) -> FloatArray:
    return part.problem.max_losses()


def _radii(part: Part) -> FloatArray:
    return part.problem.radii()


def _present(part: Part, outputs: Outputs) -> Any:
    return part.problem.present(outputs)
