"""Outputs as vectors of a space with inner products, and the outputs that are nearest to vectors."""

from structlearn.outputs.base import Outputs
from structlearn.outputs.coded import CodedOutputs
from structlearn.outputs.kernel_outputs import KernelOutputs
from structlearn.outputs.label_sequences import LabelSequenceOutputs
from structlearn.outputs.labels import LabelOutputs, LabelSetOutputs
from structlearn.outputs.vectors import VectorOutputs

__all__ = [
    "CodedOutputs",
    "KernelOutputs",
    "LabelOutputs",
    "LabelSequenceOutputs",
    "LabelSetOutputs",
    "Outputs",
    "VectorOutputs",
]
