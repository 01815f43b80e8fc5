"""How w is found. A solver knows a `Problem` and an `Objective`, never a model."""

from structlearn.solvers.base import DualSolver, GapSolver, Solution, Solver
from structlearn.solvers.block_coordinate import BlockCoordinate
from structlearn.solvers.concave_convex import ConcaveConvex
from structlearn.solvers.contrastive_divergence import ContrastiveDivergence
from structlearn.solvers.dual_coordinate import DualCoordinate
from structlearn.solvers.excessive_gap import ExcessiveGap
from structlearn.solvers.expectation_maximization import ExpectationMaximization
from structlearn.solvers.exponentiated_gradient import ExponentiatedGradient
from structlearn.solvers.extragradient import Extragradient
from structlearn.solvers.iterative_scaling import IterativeScaling
from structlearn.solvers.kernel import BinaryDual, BinaryMargins, KernelCuts, SampledCuts, SubspacePursuit
from structlearn.solvers.lbfgs import LBFGS
from structlearn.solvers.n_slack import InseparableError, NSlack
from structlearn.solvers.one_slack import OneSlack
from structlearn.solvers.perceptron import Perceptron
from structlearn.solvers.sharded_ascent import ShardedAscent
from structlearn.solvers.states import DualState, State, dual_record
from structlearn.solvers.subgradient import Subgradient

__all__ = [
    "LBFGS",
    "BinaryDual",
    "BinaryMargins",
    "BlockCoordinate",
    "ConcaveConvex",
    "ContrastiveDivergence",
    "DualCoordinate",
    "DualSolver",
    "DualState",
    "ExcessiveGap",
    "ExpectationMaximization",
    "ExponentiatedGradient",
    "Extragradient",
    "GapSolver",
    "InseparableError",
    "IterativeScaling",
    "KernelCuts",
    "NSlack",
    "OneSlack",
    "Perceptron",
    "SampledCuts",
    "ShardedAscent",
    "Solution",
    "Solver",
    "State",
    "Subgradient",
    "SubspacePursuit",
    "dual_record",
]
