"""Engines on factor graphs: from scores of labels, pairs and larger groups to labellings, bounds and marginals."""

from structlearn.data.factor_graphs.reduction import InfeasibleError
from structlearn.inference.graphs.answers import Labelling, LabellingMarginals, Record
from structlearn.inference.graphs.best import best_labelling
from structlearn.inference.graphs.engines.belief_propagation import BeliefPropagation, MaxProduct
from structlearn.inference.graphs.engines.branch_and_bound import BranchAndBound
from structlearn.inference.graphs.engines.dual_ascent import DualAscent
from structlearn.inference.graphs.engines.enumeration import Enumeration
from structlearn.inference.graphs.engines.forest_moves import ForestMoves
from structlearn.inference.graphs.engines.gibbs import Gibbs
from structlearn.inference.graphs.engines.graph_cut import CutSolver, GraphCut, max_marginals
from structlearn.inference.graphs.engines.icm import Icm
from structlearn.inference.graphs.engines.junction_tree import JunctionTree
from structlearn.inference.graphs.engines.linear_program import IntegerProgram, LinearProgram
from structlearn.inference.graphs.engines.mean_field import MeanField
from structlearn.inference.graphs.engines.moves import AlphaBetaSwap, AlphaExpansion
from structlearn.inference.graphs.engines.qpbo import Qpbo
from structlearn.inference.graphs.engines.tree_reweighted import TreeReweighted
from structlearn.inference.graphs.marginals import labelling_marginals
from structlearn.inference.graphs.markov import markov_violations
from structlearn.inference.graphs.several import k_best_labellings, sample_labellings

__all__ = [
    "AlphaBetaSwap",
    "AlphaExpansion",
    "BeliefPropagation",
    "BranchAndBound",
    "CutSolver",
    "DualAscent",
    "Enumeration",
    "ForestMoves",
    "Gibbs",
    "GraphCut",
    "Icm",
    "InfeasibleError",
    "IntegerProgram",
    "JunctionTree",
    "Labelling",
    "LabellingMarginals",
    "LinearProgram",
    "MaxProduct",
    "MeanField",
    "Qpbo",
    "Record",
    "TreeReweighted",
    "best_labelling",
    "k_best_labellings",
    "labelling_marginals",
    "markov_violations",
    "max_marginals",
    "sample_labellings",
]
