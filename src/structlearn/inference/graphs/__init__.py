"""Engines on factor graphs: from scores of labels, pairs and larger groups to labellings, bounds and marginals."""

from structlearn.inference.graphs.answers import Labelling, LabellingMarginals
from structlearn.inference.graphs.belief_propagation import BeliefPropagation, MaxProduct
from structlearn.inference.graphs.best import best_labelling
from structlearn.inference.graphs.branch_and_bound import BranchAndBound
from structlearn.inference.graphs.dual_ascent import DualAscent
from structlearn.inference.graphs.enumeration import Enumeration
from structlearn.inference.graphs.forest_moves import ForestMoves
from structlearn.inference.graphs.gibbs import Gibbs
from structlearn.inference.graphs.icm import Icm
from structlearn.inference.graphs.junction_tree import JunctionTree
from structlearn.inference.graphs.linear_program import IntegerProgram, LinearProgram
from structlearn.inference.graphs.marginals import labelling_marginals
from structlearn.inference.graphs.markov import markov_violations
from structlearn.inference.graphs.mean_field import MeanField
from structlearn.inference.graphs.several import k_best_labellings, sample_labellings
from structlearn.inference.graphs.tree_reweighted import TreeReweighted

__all__ = [
    "BeliefPropagation",
    "BranchAndBound",
    "DualAscent",
    "Enumeration",
    "ForestMoves",
    "Gibbs",
    "Icm",
    "IntegerProgram",
    "JunctionTree",
    "Labelling",
    "LabellingMarginals",
    "LinearProgram",
    "MaxProduct",
    "MeanField",
    "TreeReweighted",
    "best_labelling",
    "k_best_labellings",
    "labelling_marginals",
    "markov_violations",
    "sample_labellings",
]
