"""Kernels: inner products of examples that need no features, as objects that combine to others."""

from structlearn.kernels.algebra import Centred, Constant, Exponential, Normalised, Power, Product, Sum, Weighted
from structlearn.kernels.base import Kernel
from structlearn.kernels.given import FunctionKernel, PairwiseKernel, Precomputed, kernel_for, kernel_option
from structlearn.kernels.gram import (
    IncompleteCholesky,
    check_psd,
    incomplete_cholesky,
    mercer_map,
    pivoted_cholesky,
)
from structlearn.kernels.graphs import RandomWalk
from structlearn.kernels.joint import LabelledSequences, TensorProduct
from structlearn.kernels.operators import Decomposable, OperatorSum, graph_smoothing, heat_kernel, laplacian
from structlearn.kernels.rows import KernelRows
from structlearn.kernels.strings import GapWeighted, Mismatch, Spectrum
from structlearn.kernels.vectors import RBF, HistogramIntersection, Laplacian, Linear, Polynomial, median_gamma

__all__ = [
    "RBF",
    "Centred",
    "Constant",
    "Decomposable",
    "Exponential",
    "FunctionKernel",
    "GapWeighted",
    "HistogramIntersection",
    "IncompleteCholesky",
    "Kernel",
    "KernelRows",
    "LabelledSequences",
    "Laplacian",
    "Linear",
    "Mismatch",
    "Normalised",
    "OperatorSum",
    "PairwiseKernel",
    "Polynomial",
    "Power",
    "Precomputed",
    "Product",
    "RandomWalk",
    "Spectrum",
    "Sum",
    "TensorProduct",
    "Weighted",
    "check_psd",
    "graph_smoothing",
    "heat_kernel",
    "incomplete_cholesky",
    "kernel_for",
    "kernel_option",
    "laplacian",
    "median_gamma",
    "mercer_map",
    "pivoted_cholesky",
]
