"""Functions of a space with a kernel: cutting planes, exact, sampled and in few dimensions; the binary SVM's dual."""

from structlearn.solvers.kernel.binary_dual import BinaryDual
from structlearn.solvers.kernel.binary_margins import BinaryMargins
from structlearn.solvers.kernel.kernel_cuts import KernelCuts, SampledCuts
from structlearn.solvers.kernel.subspace_pursuit import SubspacePursuit

__all__ = ["BinaryDual", "BinaryMargins", "KernelCuts", "SampledCuts", "SubspacePursuit"]
