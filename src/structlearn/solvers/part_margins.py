"""What the solvers of max-margin Markov networks share: the loss by parts, and the exact price of a point."""

from __future__ import annotations

import numpy as np

from structlearn.objective import MarginObjective
from structlearn.parts import PartProblem
from structlearn.problem import FloatArray
from structlearn.solvers.base import DualState, Solver


def check_part_losses(solver: Solver, problem: PartProblem, objective: MarginObjective) -> None:
    """Refuses losses that are no sums over parts."""
    name = type(solver).__name__
    if objective.scaling.oracle != "loss_augmented":
        raise ValueError(f"{name} needs rescaling='margin' and slack='linear', not {objective}")
    if problem.part_losses(np.arange(min(1, problem.n_examples))) is None:
        raise ValueError(f"{name} needs a loss that is a sum over parts, such as the Hamming loss")


def price_margins(state: DualState, w: FloatArray, problem: PartProblem, objective: MarginObjective) -> None:
    """An oracle pass: certifies w exactly."""
    violations = np.full(problem.n_examples, -np.inf)
    for examples in problem.chunks():
        with state.timed("oracle_seconds"):
            planes = problem.oracle(w, examples, objective.scaling)
        violations = np.maximum(violations, planes.violations(problem.n_examples))
    state.certify(w, violations, objective)
