"""The memory of a fit: what it will take, what it may take, and the refusal of what does not fit."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Any

from structlearn.data.memory import available_memory
from structlearn.models.pair_weights import MANY_WEIGHTS
from structlearn.solvers import Solver
from structlearn.waist.problem import Problem
from structlearn.wording import count, in_bytes

if TYPE_CHECKING:
    from structlearn.estimators.training import Training

#: By what vectors grow over weights that come into being, with the copies that growing takes; see the decision "memory"
#: in the docs.
_GROWTH = 4
#: An option and a value for it that needs less.
Way = tuple[str, Any]


class InsufficientMemoryError(ValueError):
    """Training would take more memory than `max_memory` grants, or than the machine has.

    Attributes
    ----------
    ways : tuple of (option, value)
        What would need less, and last what would grant enough. A value of None is not known here: a larger `min_count`
        than the features were made with; "labels" is no option, but there may be fewer of them.
    """

    def __init__(self, needed: str, limit: int, given: bool, ways: tuple[Way, ...], model: str):
        self.needed = needed
        self.limit = limit
        self.given = given
        self.ways = ways
        self._model = model
        owners = {"min_count": "TextFeatures", "n_hashed": "TextFeatures", "observed_only": model}

        def option(name: str, value: Any) -> str:
            if name not in owners:
                return f"{name}={value!r}"
            return f"a larger {name} of {owners[name]}" if value is None else f"{owners[name]}({name}={value})"

        super().__init__(self.told("max_memory", option, ways))

    def __reduce__(self) -> Any:
        # As an exception is copied otherwise, from its message, it cannot be made again.
        return type(self), (self.needed, self.limit, self.given, self.ways, self._model)

    def told(self, max_memory: str, option: Callable[[str, Any], str], ways: Iterable[Way]) -> str:
        """The message, for an interface that has its own words for options, and not all of them."""
        room = in_bytes(self.limit)
        limit = f"{max_memory} leaves {room}" if self.given else f"{room} are available"
        *others, last = ("fewer labels" if name == "labels" else option(name, value) for name, value in ways)
        helps = f"{', '.join(others)} or {last}" if others else last
        return f"training needs {self.needed}, but {limit}; what helps: {helps}"


def fitting(problem: Problem, solver: Solver, max_memory: int | None, *, may_grow: bool) -> Problem:
    """The problem as it is, or with growing weights if all are too many for speed or memory and they may grow."""
    if not may_grow:
        return problem
    limit = _limit(problem, max_memory)
    too_many = problem.n_features >= MANY_WEIGHTS or (limit is not None and solver.nbytes(problem) > limit)
    return (problem.with_growing_weights() if too_many else None) or problem


def bound_memory(training: Training, max_memory: int | None, named: Mapping[str, type[Solver]]) -> None:
    """Tells the problem how much a run may take; refuses training that cannot do with it.

    Where nothing is granted by number, the bound is what the machine has, and is set only where a run could need more:
    what a run does shall not depend on the machine otherwise.
    """
    problem, solver = training.problem, training.solver
    limit = _limit(problem, max_memory)
    if limit is None:
        return
    if solver.nbytes(problem) > limit:
        n_parts = _of_parts(problem, solver) // 8
        parts = "" if not n_parts else f" and {count(n_parts, 'number')} over the parts of all examples"
        vectors, needed = solver.nbytes(problem), expected_bytes(training)
        more = f", and {in_bytes(needed)} in all" if needed > vectors else ""
        told = f"about {in_bytes(vectors)} for {_weights(training)}{parts}{more}"
        ways = (*_ways(training, limit, named), ("max_memory", _enough(needed + problem.structure_bytes)))
        raise InsufficientMemoryError(told, max(limit, 0), max_memory is not None, ways, training.model.class_name)
    if max_memory is not None or solver.most_nbytes(problem) > limit:
        problem.max_memory = limit


def announcement(training: Training) -> str:
    """How large the problem is, and what memory training it will take, in a line."""
    problem, spec = training.problem, training.spec
    sizes = [count(number, name.removesuffix("s")) for name, number in problem.sizes().items()]
    if hasattr(spec, "n_inputs"):
        sizes.append(count(spec.n_inputs, "feature"))
    if hasattr(spec, "classes"):
        sizes.append(count(len(spec.classes), "label"))
    return f"{', '.join(sizes)}: {_weights(training)}, about {in_bytes(expected_bytes(training))}"


def expected_bytes(training: Training) -> int:
    """About what training will take beside the data and what was listed for them."""
    problem, solver = training.problem, training.solver
    vectors = solver.nbytes(problem)
    expected = solver.expected_nbytes(problem) + ((_GROWTH - 1) * vectors if problem.grows else 0)
    return expected if problem.max_memory is None else min(expected, max(problem.max_memory, vectors))


def _limit(problem: Problem, max_memory: int | None) -> int | None:
    """What a run may take beside the problem, which is there already."""
    return available_memory() if max_memory is None else max_memory - problem.structure_bytes


def _of_parts(problem: Any, solver: Solver) -> int:
    return 8 * solver.part_vectors * int(problem.part_offsets[-1]) if solver.part_vectors else 0


def _weights(training: Training) -> str:
    problem = training.problem
    if not problem.grows:
        return count(problem.n_features, "weight")
    return f"those of {count(training.model.n_weights(training.spec) or 0, 'weight')} that come to be needed"


def _ways(training: Training, limit: int, named: Mapping[str, type[Solver]]) -> list[Way]:
    """What would need less."""
    problem, solver, model = training.problem, training.solver, training.model
    ways: list[Way] = []
    parts = _of_parts(problem, solver)
    # The part of the weights that there may be.
    share = (limit - parts) / max(solver.nbytes(problem) - parts, 1)
    n_inputs = getattr(training.spec, "n_inputs", 0)
    if share * n_inputs >= 2 and not model.tabular:
        ways += [("min_count", None), ("n_hashed", 2 ** int(math.log2(share * n_inputs)))]
    if share > 0 and not problem.latent and getattr(model, "observed_only", True) is False:
        ways.append(("observed_only", True))
    ways += [("solver", name) for name, other in named.items() if _fits(other(), training, limit)]
    return [*ways, ("labels", None)] if len(getattr(training.spec, "classes", ())) > 2 else ways


def _fits(solver: Solver, training: Training, limit: int) -> bool:
    if training.problem.latent and not solver.takes_latent:
        return False
    try:
        solver.check(training.problem, training.objective)
    except ValueError:
        return False
    return solver.nbytes(training.problem) <= limit


def _enough(needed: int) -> str:
    """As an option, rounded up."""
    unit, name = (10**9, "GB") if needed >= 10**9 else (10**6, "MB")
    tenths = -(-10 * needed // unit)
    return f"{tenths / 10:g}{name}"
