"""How w is found. A solver knows a `Problem` and an `Objective`, never a model."""

from structlearn.solvers.base import DualSolver, DualState, Solution, Solver, State
from structlearn.solvers.block_coordinate import BlockCoordinate
from structlearn.solvers.n_slack import InseparableError, NSlack
from structlearn.solvers.one_slack import OneSlack
from structlearn.solvers.perceptron import Perceptron
from structlearn.solvers.subgradient import Subgradient

__all__ = [
    "BlockCoordinate",
    "DualSolver",
    "DualState",
    "InseparableError",
    "NSlack",
    "OneSlack",
    "Perceptron",
    "Solution",
    "Solver",
    "State",
    "Subgradient",
]
