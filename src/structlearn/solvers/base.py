"""What every solver is: options, a state, one step, and the loop around it, which is written once."""

from __future__ import annotations

import time
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, fields
from typing import Any, ClassVar, Self, get_origin, get_type_hints

import numpy as np

from structlearn.data.arrays import FloatArray
from structlearn.data.options import declared_option
from structlearn.solvers.states import UNCERTIFIED, DualState, Record, State
from structlearn.waist.objective import LikelihoodObjective, MarginObjective, Objective
from structlearn.waist.problem import Problem
from structlearn.waist.rows import SparseRows

Observer = Callable[["State"], bool]

#: Bytes that planes may take where `Problem.max_memory` sets no bound.
PLANE_BYTES = 2**30
#: What working sets keep of an example beside its planes, at most, and the allocator of the five arrays of these.
EXAMPLE_BYTES = 208 + 5 * 16


@dataclass(frozen=True, slots=True)
class Solution:
    """What a run gives back.

    Attributes
    ----------
    w : (n_features,)
    history : list of dict
        One record an iteration.
    converged : bool
        Whether the stopping rule was met, not just the limit on iterations.
    state : State
        Where the run ended. Solvers with a dual go on from it, see `run`.
    """

    w: FloatArray
    history: list[Record]
    converged: bool
    state: State


@dataclass(frozen=True, kw_only=True)
class Solver(ABC):
    """An algorithm and its options; nothing here changes during a run.

    Parameters
    ----------
    max_iter : int
        Most iterations of a run.
    """

    max_iter: int = 1000

    #: What the algorithm can minimise.
    objectives: ClassVar[tuple[type[Objective], ...]] = (MarginObjective,)
    #: Slack forms the algorithm is made for, where it minimises margins.
    slacks: ClassVar[tuple[str, ...]] = ("linear",)
    #: Whether the objective need not be convex, so that parts of the truths may be latent.
    takes_latent: ClassVar[bool] = False
    #: Whether the log-losses and their gradients are all that is asked for, so that they may be of another likelihood.
    takes_any_likelihood: ClassVar[bool] = False
    #: Whether weights can be kept nonnegative.
    takes_nonnegative: ClassVar[bool] = False
    #: Whether weights may come into being during a run.
    takes_growing: ClassVar[bool] = False
    #: Whether it asks for whole passes, or tells parts what to do, so that examples may be on other machines.
    takes_sharded: ClassVar[bool] = False
    #: Whether it is made for weights with an inner product of their own, as functions of a space with a kernel have.
    takes_metric: ClassVar[bool] = False
    #: How many vectors over the weights a run has at its peak, and how many over the parts of all examples.
    vectors: ClassVar[int] = 4
    part_vectors: ClassVar[int] = 0
    #: What is kept of each example beside its planes.
    example_bytes: ClassVar[int] = 0

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """The options, as scikit-learn asks for them: they can be searched as ``solver__tol`` and so on."""
        return {option.name: getattr(self, option.name) for option in fields(self)}

    def set_params(self, **options: Any) -> Self:
        """For scikit-learn, which sets options on copies that nobody else has."""
        for name, value in options.items():
            if name not in self.get_params():
                raise ValueError(f"{type(self).__name__} has no option {name!r}")
            object.__setattr__(self, name, value)
        return self

    def check(self, problem: Any, objective: Any) -> None:
        """Refuses, before any work, a problem or an objective that the algorithm cannot handle."""
        name = type(self).__name__
        for option, declared in get_type_hints(type(self)).items():
            if get_origin(declared) is not ClassVar:
                declared_option(option, getattr(self, option), declared)
        if not isinstance(objective, self.objectives):
            known = ", ".join(each.__name__ for each in self.objectives)
            raise ValueError(f"{name} is not made for {objective}: the objectives that it declares are {known}")
        if problem.latent and not self.takes_latent:
            raise ValueError(
                f"{name} is not made for truths with latent parts: use LatentStructuralSVM or "
                "LatentConditionalRandomField"
            )
        if problem.grows and not self.takes_growing:
            raise ValueError(
                f"{name} is not made for {type(problem).__name__}, whose weights come into being as it runs"
            )
        if (problem.metric is not None) != self.takes_metric:
            kind = "functions of a kernel: use KernelStructuralSVM" if self.takes_metric else "weights"
            raise ValueError(f"{name} is made for {kind}")
        substitute = isinstance(objective, LikelihoodObjective) and not problem.likelihood.is_exact
        if substitute:
            self._check_substitute(problem)
        needed = self.oracle(objective)
        if needed not in problem.oracles and not substitute:
            raise ValueError(
                f"{name} with {objective} needs the oracle {needed!r}, which this problem does not have (it has "
                f"{', '.join(sorted(problem.oracles))}){problem.missing(needed)}"
            )
        if isinstance(objective, MarginObjective) and objective.slack not in self.slacks:
            raise ValueError(f"{name} has no form for slack={objective.slack!r}, only for {self.slacks}")
        if isinstance(objective, MarginObjective) and len(objective.nonnegative) and not self.takes_nonnegative:
            raise ValueError(f"{name} cannot keep weights nonnegative: use BlockCoordinate, NSlack or OneSlack")

    def _check_substitute(self, problem: Any) -> None:
        """Refuses a likelihood that is not the exact one where sums over outputs are needed."""
        name, option = type(self).__name__, f"likelihood={problem.likelihood.name!r}"
        if problem.latent:
            raise ValueError(f"{option} needs whole truths; with latent parts use likelihood='exact' or margins")
        if not self.takes_any_likelihood:
            raise ValueError(
                f"{name} needs exact sums over outputs, and {option} has none: use solver='lbfgs', or "
                "likelihood='exact' where junction trees are small"
            )

    def oracle(self, objective: Any) -> str:
        """The oracle that training asks for."""
        return str(objective.scaling.oracle)

    def nbytes(self, problem: Any) -> int:
        """Bytes that a run takes beside the data for certain: over the weights, over the parts, and by the example."""
        n_parts = int(problem.part_offsets[-1]) if self.part_vectors else 0
        numbers = self.vectors * int(problem.n_features) + self.part_vectors * n_parts
        return 8 * numbers + self.example_bytes * int(problem.n_examples)

    def expected_nbytes(self, problem: Any) -> int:
        """About what it will take, with the planes that runs mostly come to have."""
        return self.nbytes(problem)

    def most_nbytes(self, problem: Any) -> int:
        """Bytes that it may come to take where `Problem.max_memory` sets no bound."""
        return self.nbytes(problem)

    @abstractmethod
    def init_state(self, problem: Any, objective: Any) -> State:
        """The state before the first step, w = 0."""

    @abstractmethod
    def update(self, state: Any, problem: Any, objective: Any) -> State:
        """One iteration. What it puts into ``state.record`` becomes a line of the history."""

    def resume(self, state: Any, problem: Any, objective: Any) -> State:
        """Takes up a state of an earlier run, for the same data, under another objective."""
        raise ValueError(
            f"{type(self).__name__} cannot go on from an earlier run: it does not implement "
            "resume(state, problem, objective)"
        )

    def rebase(self, state: Any, problem: Any, objective: Any, shifts: SparseRows) -> State:
        """Takes up a state when the truths have moved; row i of `shifts` is Ψ(x_i, new truth) − Ψ(x_i, old truth).

        What a state knows of the outputs stays true but for these shifts. By default the run begins anew.
        """
        return self.init_state(problem, objective)

    def done(self, state: Any) -> bool:
        """Whether the stopping rule is met."""
        return False

    def unfinished(self, state: Any) -> str | None:
        """What the user should know of a run that ended at `max_iter`; None if the solver claims no convergence."""
        return None

    def finish(self, state: Any, problem: Any, objective: Any) -> None:
        """Completes ``state.record`` where `observe` ended the run, if `update` puts anything off."""
        return

    def conclude(self, state: Any) -> None:
        """Makes ``state.w`` the best point of a run that did not converge, if it is another than the last one."""
        return

    def template(self, problem: Any, objective: Any) -> State:
        """A state with everything that a state can hold: the form into which a saved one is put back.

        Arrays of a saved state must have the shapes of these. By default a fresh state; a solver whose states get more
        parts later, such as another state, adds them here.
        """
        return self.init_state(problem, objective)

    def run(
        self,
        problem: Problem,
        objective: Any,
        *,
        state: State | None = None,
        history: list[Record] | None = None,
        observe: Observer | None = None,
    ) -> Solution:
        """Iterates until the stopping rule is met, `max_iter` is reached, or `observe` returns True.

        Parameters
        ----------
        state : State, optional
            Where an earlier run on the same data ended, perhaps under another C; consumed.
        history : list of dict, optional
            The records of that run: it then goes on exactly where it stood, with this solver and objective as before.
        observe : callable, optional
            Called after every iteration with the state; may add to its record; True ends the run.
        """
        self.check(problem, objective)
        return self.iterate(problem, objective, state=state, history=history, observe=observe)

    def iterate(
        self,
        problem: Problem,
        objective: Any,
        *,
        state: State | None = None,
        history: list[Record] | None = None,
        observe: Observer | None = None,
    ) -> Solution:
        """The same for a problem and an objective that `check` has passed already."""
        begin = time.perf_counter()
        if history is not None:
            assert state is not None
            history, begin, stopped = list(history), begin - state.seconds, False
        else:
            history = []
            state = self.init_state(problem, objective) if state is None else self.resume(state, problem, objective)
            stopped = self._end_iteration(state, problem, history, begin, observe)
        while not (stopped or self.done(state) or state.stuck or state.iteration >= self.max_iter):
            iteration, record = state.iteration + 1, state.record
            state = self.update(state, problem, objective)
            if not isinstance(state, State):
                raise TypeError(f"{type(self).__name__}.update returned {state!r}; it must return the state")
            if "primal" not in state.record or (state.record is record and np.isnan(record["primal"])):
                raise ValueError(
                    f"{type(self).__name__}.update puts no 'primal' into state.record: expected "
                    "{'primal': objective.primal(w, violations)}, or NaN where that is not known"
                )
            state.iteration = iteration
            stopped = self._end_iteration(state, problem, history, begin, observe)
        converged = self.done(state)
        if stopped and not converged:
            self.finish(state, problem, objective)
            history[-1].update(state.record)
            state.record = history[-1]
        if not converged:
            self.conclude(state)
        return Solution(state.w, history, converged, state)

    def _end_iteration(
        self, state: State, problem: Problem, history: list[Record], begin: float, observe: Observer | None
    ) -> bool:
        """Adds the line of an iteration to the history; returns whether the observer ends the run."""
        state.seconds = time.perf_counter() - begin
        times = {name: getattr(state, name) for name in ("iteration", "seconds", "oracle_seconds", "dual_seconds")}
        state.record = UNCERTIFIED | state.record | times
        self._check_numbers(state, problem)
        history.append(state.record)
        return bool(observe(state)) if observe is not None else False

    def _check_numbers(self, state: State, problem: Problem) -> None:
        """Ends a run that can only go on from NaN to NaN, or whose weights are none of the problem's."""
        w, record = state.w, state.record
        if not (isinstance(w, np.ndarray) and w.dtype == np.float64 and w.shape == (problem.n_features,)):
            found = f"{w.dtype} of the shape {w.shape}" if isinstance(w, np.ndarray) else type(w).__name__
            raise ValueError(
                f"the weights of {type(self).__name__} are {found}; expected float64 of the shape "
                f"({problem.n_features},)"
            )
        with np.errstate(over="ignore", invalid="ignore"):
            norm = float(w @ w)
        what = "" if np.isfinite(norm) else f"‖w‖² is {norm}"
        if record["certified"] and np.isnan(record["primal"]):
            what = what or "the objective is no number"
        if record["certified"] and isinstance(state, DualState) and np.isnan(state.dual):
            what = what or "its lower bound is no number"
        if what:
            raise FloatingPointError(
                f"{what} after {state.iteration} iterations of {type(self).__name__}; scale the features or lower C"
            )


@dataclass(frozen=True, kw_only=True)
class GapSolver(Solver):
    """A solver that certifies: it knows a lower bound on the optimum beside the objective.

    Parameters
    ----------
    tol : float, optional
        Stop when (primal − dual)/primal ≤ tol; None is 0.001.
    """

    tol: float | None = None

    def done(self, state: Any) -> bool:
        return bool(state.relative_gap <= self.tolerance)

    def unfinished(self, state: Any) -> str:
        record = state.record
        if "stationarity" in record:
            how = "rounding left no further step" if state.stuck else f"stopped at max_iter={self.max_iter}"
            return (
                f"{how} after {state.iteration} iterations, where the objective may be {record['stationarity']:.2g} of "
                f"itself above the minimum of its upper bound (tol={self.tolerance:g}); loosen tol, lower C or scale "
                "the features"
            )
        if "slope" in record:
            how = "no step leads further down" if state.stuck else f"stopped at max_iter={self.max_iter}"
            return (
                f"{how} after {state.iteration} iterations, where half the squared slope is {record['slope']:.2g} of "
                f"the objective (tol={self.tolerance:g}); loosen tol, lower C or scale the features"
            )
        gap = 0.0 if record["primal"] == 0.0 else record["gap"] / record["primal"]
        eps = getattr(self, "eps", None)
        limit = f"tol={self.tolerance:g}" if self.tolerance > 0 or eps is None else f"eps={eps:g}"
        if state.stuck:
            return (
                f"rounding left no further step after {state.iteration} iterations, at a relative duality gap of "
                f"{gap:.2g} ({limit}); loosen the tolerance, lower C or scale the features"
            )
        return (
            f"stopped after max_iter={self.max_iter} iterations at a relative duality gap of {gap:.2g} ({limit}); "
            "raise max_iter, loosen the tolerance, lower C or scale the features"
        )

    @property
    def tolerance(self) -> float:
        return 1e-3 if self.tol is None else self.tol


@dataclass(frozen=True, kw_only=True)
class DualSolver(GapSolver):
    """A solver that certifies and knows the constraints of the margins.

    Parameters
    ----------
    tol : float, optional
        Stop when (primal − dual)/primal ≤ tol. 0.001 if neither `tol` nor `eps` is given; if both are, whichever is met
        first ends the run.
    eps : float, optional
        Stop when no constraint is violated by more than eps beyond the known slacks, as in the papers; for linear
        slacks the objective is then within C·eps of the optimum, up to the accuracy of the quadratic program.
    """

    eps: float | None = None

    def done(self, state: Any) -> bool:
        # With an approximate oracle this is as far as the oracle can see; the record then claims no certificate.
        if state.primal == 0.0:
            return True
        if self.eps is not None and state.record.get("violation", np.inf) <= self.eps:
            return bool(state.restricted_gap <= self.qp_accuracy(state, state.objective))
        return bool(state.relative_gap <= self.tolerance)

    def expected_nbytes(self, problem: Any) -> int:
        return self.nbytes(problem) + int(problem.planes_nbytes * problem.n_examples)

    def most_nbytes(self, problem: Any) -> int:
        return self.nbytes(problem) + PLANE_BYTES

    def room_for_planes(self, problem: Problem) -> int:
        """Bytes that planes may take now: weights that come into being leave less."""
        left = PLANE_BYTES if problem.max_memory is None else problem.max_memory - self.nbytes(problem)
        # Weights that outgrow what there is end the run, and to give up all planes now would only spoil its answer.
        return PLANE_BYTES if problem.grows and left < 0 else max(0, left)

    @property
    def tolerance(self) -> float:
        return -1.0 if self.tol is None and self.eps is not None else super().tolerance

    def check_state(self, state: Any, kind: type[DualState], objective: MarginObjective) -> None:
        """Refuses a state whose constraints say nothing about this objective; another C is always possible."""
        if not isinstance(state, kind) or state.objective is None:
            raise ValueError(f"{type(self).__name__} cannot go on from a {type(state).__name__}")
        if state.objective.scaling != objective.scaling:
            raise ValueError(f"the earlier run was for {state.objective}; its constraints do not serve {objective}")

    def qp_accuracy(self, state: DualState, objective: MarginObjective | None) -> float:
        """How exactly the restricted problem need be solved next: a tenth of the gap that is left."""
        accuracy = 0.1 * min(1.0, state.relative_gap)
        if self.eps is not None and objective is not None and 0 < state.primal < np.inf:
            accuracy = min(0.1, 0.01 * objective.C * self.eps / state.primal)
        return max(accuracy, 1e-13)
