"""The waist: what a solver sees of a model bound to data, and the objectives it minimises."""

from structlearn.waist.engine import Engine, KBestEngine, SamplingEngine, SumsEngine
from structlearn.waist.latent import LatentProblem, Start
from structlearn.waist.latent_parts import LatentPartProblem
from structlearn.waist.likelihood import Likelihood
from structlearn.waist.loss import AdditiveLoss, CountedLoss, LocalParts, Loss, ZeroOneLoss
from structlearn.waist.objective import LikelihoodObjective, MarginObjective, Objective, Scaling
from structlearn.waist.parts import PartProblem
from structlearn.waist.planes import Outputs, Planes
from structlearn.waist.problem import Problem
from structlearn.waist.risk import Risk
from structlearn.waist.rows import Rows, SparseRows
from structlearn.waist.scorer import Scorer
from structlearn.waist.theta import Theta

__all__ = [
    "AdditiveLoss",
    "CountedLoss",
    "Engine",
    "KBestEngine",
    "LatentPartProblem",
    "LatentProblem",
    "Likelihood",
    "LikelihoodObjective",
    "LocalParts",
    "Loss",
    "MarginObjective",
    "Objective",
    "Outputs",
    "PartProblem",
    "Planes",
    "Problem",
    "Risk",
    "Rows",
    "SamplingEngine",
    "Scaling",
    "Scorer",
    "SparseRows",
    "Start",
    "SumsEngine",
    "Theta",
    "ZeroOneLoss",
]
