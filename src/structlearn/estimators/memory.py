"""The memory of a fit: what it will take, what it may take, and the refusal of what does not fit."""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
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


def bound_memory(training: Training, max_memory: int | None, named: Mapping[str, type[Solver]]) -> Training:
    """The same training with what a run may take, which the problem is told; refused if it cannot do with that.

    Where nothing is granted by number, the bound is what the machine has, and is set only where a run could need more:
    what a run does shall not depend on the machine otherwise.
    """
    problem, solver = training.problem, training.solver
    limit = _limit(problem, max_memory)
    training = replace(training, memory=limit)
    if limit is None:
        return training
    if (refused := refusal(training, named, given=max_memory is not None)) is not None:
        raise refused
    if max_memory is not None or solver.most_nbytes(problem) > limit:
        problem.max_memory = limit
    return training


def refusal(
    training: Training, named: Mapping[str, type[Solver]], *, given: bool, planes: int = 0
) -> InsufficientMemoryError | None:
    """What is against vectors over the weights that there are now, and so many bytes of planes; None if they fit."""
    problem, solver, limit = training.problem, training.solver, training.memory
    vectors = solver.nbytes(problem)
    if limit is None or vectors + planes <= limit:
        return None
    n_parts = _of_parts(problem, solver) // 8
    parts = "" if not n_parts else f" and {count(n_parts, 'number')} over the parts of all examples"
    needed = max(_unbounded_bytes(training), vectors + planes)
    more = f", and {in_bytes(needed)} in all" if needed > vectors else ""
    told = f"about {in_bytes(vectors)} for {_weights(training)}{parts}{more}"
    ways = (*_ways(training, limit, named, planes), ("max_memory", _enough(needed + problem.structure_bytes)))
    return InsufficientMemoryError(told, max(limit, 0), given, ways, training.model.class_name)


def warn_of_growth(refused: InsufficientMemoryError, n_iter: int, gap: float) -> None:
    """Of a run that ended because its weights had come to take more than it may."""
    from sklearn.exceptions import ConvergenceWarning

    at = "" if math.isnan(gap) else f" at a relative duality gap of {gap:.2g}"
    warning = ConvergenceWarning(
        f"stopped after {count(n_iter, 'iteration')}{at}, with the best weights so far: {refused}"
    )
    warning.refused = refused
    warnings.warn(warning, stacklevel=4)


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
    problem, expected = training.problem, _unbounded_bytes(training)
    most = problem.max_memory
    return expected if most is None else min(expected, max(most, training.solver.nbytes(problem)))


def _unbounded_bytes(training: Training) -> int:
    """The same if there were no bound."""
    problem, solver = training.problem, training.solver
    return solver.expected_nbytes(problem) + ((_GROWTH - 1) * solver.nbytes(problem) if problem.grows else 0)


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


def _ways(training: Training, limit: int, named: Mapping[str, type[Solver]], planes: int) -> list[Way]:
    """What would need less."""
    problem, solver, model = training.problem, training.solver, training.model
    ways: list[Way] = []
    parts = _of_parts(problem, solver)
    # The part of the weights that there may be, planes in proportion.
    share = (limit - parts) / max(solver.nbytes(problem) + planes - parts, 1)
    n_inputs = getattr(training.spec, "n_inputs", 0)
    if share * n_inputs >= 2 and not model.tabular:
        ways += [("min_count", None), ("n_hashed", 2 ** int(math.log2(share * n_inputs)))]
    if share > 0 and not problem.latent and getattr(model, "observed_only", True) is False:
        ways.append(("observed_only", True))
    others = {name: other() for name, other in named.items() if other is not type(solver)}
    ways += [("solver", name) for name, other in others.items() if _fits(other, training, limit, planes)]
    return [*ways, ("labels", None)] if len(getattr(training.spec, "classes", ())) > 2 else ways


def _fits(solver: Solver, training: Training, limit: int, planes: int) -> bool:
    if training.problem.latent and not solver.takes_latent:
        return False
    try:
        solver.check(training.problem, training.objective)
    except ValueError:
        return False
    vectors = solver.nbytes(training.problem)
    return vectors + (planes if solver.expected_nbytes(training.problem) > vectors else 0) <= limit


def _enough(needed: int) -> str:
    """As an option, rounded up."""
    unit, name = (10**9, "GB") if needed >= 10**9 else (10**6, "MB")
    tenths = -(-10 * needed // unit)
    return f"{tenths / 10:g}{name}"
