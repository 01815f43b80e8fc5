"""The waist: what a solver sees of a model bound to data, and the objectives it minimises."""

from structlearn.waist.growing import GrowingProblem
from structlearn.waist.latent import LatentProblem, Start
from structlearn.waist.objective import LikelihoodObjective, MarginObjective, Objective, Scaling
from structlearn.waist.parts import PartProblem
from structlearn.waist.planes import Outputs, Planes
from structlearn.waist.problem import Problem
from structlearn.waist.risk import Risk
from structlearn.waist.rows import Rows, SparseRows

__all__ = [
    "GrowingProblem",
    "LatentProblem",
    "LikelihoodObjective",
    "MarginObjective",
    "Objective",
    "Outputs",
    "PartProblem",
    "Planes",
    "Problem",
    "Risk",
    "Rows",
    "Scaling",
    "SparseRows",
    "Start",
]
