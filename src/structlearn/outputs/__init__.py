"""Outputs as vectors of a space with inner products, and the outputs that are nearest to vectors."""

from structlearn.outputs.base import Columns, Outputs, Preimages, Rows
from structlearn.outputs.candidates import Substitutions
from structlearn.outputs.coded import CodedOutputs
from structlearn.outputs.dependency_trees import DependencyTreeOutputs
from structlearn.outputs.graphs import GraphOutputs
from structlearn.outputs.kernel_outputs import KernelOutputs
from structlearn.outputs.label_sequences import LabelSequenceOutputs
from structlearn.outputs.labels import LabelOutputs, LabelSetOutputs
from structlearn.outputs.matchings import MatchingOutputs
from structlearn.outputs.trees import TreeOutputs
from structlearn.outputs.vectors import VectorOutputs

__all__ = [
    "CodedOutputs",
    "Columns",
    "DependencyTreeOutputs",
    "GraphOutputs",
    "KernelOutputs",
    "LabelOutputs",
    "LabelSequenceOutputs",
    "LabelSetOutputs",
    "MatchingOutputs",
    "Outputs",
    "Preimages",
    "Rows",
    "Substitutions",
    "TreeOutputs",
    "VectorOutputs",
]
