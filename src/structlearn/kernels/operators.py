"""Operator-valued kernels: K(x, x′) is a matrix that acts on vectors of outputs."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from structlearn.contract import Parameters
from structlearn.data.arrays import FloatArray
from structlearn.data.matrices import check_finite, checked_numbers
from structlearn.data.options import choice_option, real_option
from structlearn.kernels.base import Kernel
from structlearn.kernels.given import Precomputed, kernel_for, kernel_option
from structlearn.kernels.gram import check_psd

OutputMatrix = Literal["identity", "covariance", "learnt"]


class Decomposable(Parameters):
    """K(x, x′) = k(x, x′)A: a kernel of inputs, and a positive semidefinite matrix that couples outputs.

    Sums of these are operator-valued kernels as well: ``Decomposable(k1, A1) + Decomposable(k2, A2)``.

    Parameters
    ----------
    kernel : Kernel, str or callable
        k. "rbf" and "laplacian" have the γ that `median_gamma` proposes for the training data.
    A : {"identity", "covariance", "learnt"} or (d, d) array
        "covariance" is (1/n) Σ_i ỹ_i ỹ_iᵀ of the training outputs; "learnt" finds A with tr A = d together with f. A
        graph over outputs gives one by `graph_smoothing`.
    identity : float
        So much of the identity is added to A.

    Examples
    --------
    >>> Decomposable("linear", "covariance") + Decomposable("rbf")
    OperatorSum(terms=[Decomposable(A='covariance', kernel='linear'), Decomposable()])
    """

    def __init__(
        self,
        kernel: Kernel | str | Callable[[Any, Any], Any] = "rbf",
        A: OutputMatrix | npt.ArrayLike = "identity",
        identity: float = 0.0,
    ):
        self.kernel = kernel
        self.A = A
        self.identity = identity

    def check_options(self) -> None:
        kernel_option(self.kernel)
        real_option("identity", self.identity)
        if isinstance(self.A, str):
            choice_option("A", self.A, ("identity", "covariance", "learnt"))
            if self.identity and self.A != "covariance":
                raise ValueError(f"identity is {self.identity:g}, but A is {self.A!r}, to which nothing is added")
        else:
            A = checked_numbers(self.A, "A")
            if A.ndim != 2:
                raise ValueError(f"A has {A.ndim} dimensions; expected a matrix")
            check_finite(A, lambda i, j: f"A[{i}, {j}]")
            check_psd(A, name="A")

    def on(self, rows: Any) -> Decomposable:
        """The same with a kernel whose width is chosen for rows of training data."""
        return Decomposable(kernel_for(self.kernel, rows), self.A, self.identity)

    def __add__(self, other: Any) -> OperatorSum:
        return OperatorSum([self, *_terms(other)])


class OperatorSum(Parameters):
    """Σ_m k_m(x, x′)A_m.

    Parameters
    ----------
    terms : list of Decomposable
    """

    def __init__(self, terms: list[Decomposable]):
        self.terms = terms

    def check_options(self) -> None:
        if not isinstance(self.terms, list) or not all(isinstance(term, Decomposable) for term in self.terms):
            raise ValueError(f"terms is {self.terms!r}; expected a list of Decomposable")
        for term in self.terms:
            term.check_options()
            if isinstance(term.A, str) and term.A == "learnt" and len(self.terms) > 1:
                raise ValueError("A is learnt for a single term only; this sum has more")

    def __add__(self, other: Any) -> OperatorSum:
        return OperatorSum([*self.terms, *_terms(other)])


def _terms(kernel: Any) -> list[Decomposable]:
    return kernel.terms if isinstance(kernel, OperatorSum) else [kernel]


def graph_smoothing(edges: npt.ArrayLike, mu: float = 1.0) -> FloatArray:
    """(I + μL)⁻¹ with the Laplacian L of a graph over outputs: neighbours share what they learn.

    Parameters
    ----------
    edges : (d, d) array
        Weights ≥ 0 of edges between outputs, symmetric.
    mu : float
        μ ≥ 0; 0 couples nothing.

    Examples
    --------
    >>> graph_smoothing([[0, 1], [1, 0]], mu=1.0).round(3)
    array([[0.667, 0.333],
           [0.333, 0.667]])
    """
    real_option("mu", mu)
    L = laplacian(edges)
    return np.asarray(np.linalg.inv(np.eye(len(L)) + mu * L), np.float64)


def heat_kernel(edges: npt.ArrayLike, t: float = 1.0) -> Precomputed:
    """exp(−tL) of the Laplacian L of a graph, as a kernel of the numbers of its nodes.

    Parameters
    ----------
    edges : (n, n) array
        Weights ≥ 0 of edges, symmetric.
    t : float
        Time t > 0 for which heat flows along the edges.

    Examples
    --------
    >>> heat_kernel([[0, 1], [1, 0]], t=0.5)([0, 1]).round(3)
    array([[0.684, 0.316],
           [0.316, 0.684]])
    """
    real_option("t", t, positive=True)
    values, vectors = np.linalg.eigh(laplacian(edges))
    return Precomputed((vectors * np.exp(-t * values)) @ vectors.T)


def laplacian(edges: npt.ArrayLike) -> FloatArray:
    """L = D − W of weights W of edges, with the sums of its rows on the diagonal of D; positive semidefinite.

    >>> laplacian([[0, 2], [2, 0]]).tolist()
    [[2.0, -2.0], [-2.0, 2.0]]
    """
    W = checked_numbers(edges, "edges").astype(np.float64)
    if W.ndim != 2 or W.shape[0] != W.shape[1]:
        raise ValueError(f"edges has shape {W.shape}; expected a square matrix with a row a node")
    check_finite(W, lambda i, j: f"edges[{i}, {j}]")
    wrong = np.argwhere((W < 0) | (W != W.T))
    if len(wrong):
        i, j = wrong[0].tolist()
        raise ValueError(
            f"edges[{i}, {j}] is {W[i, j]:g} and edges[{j}, {i}] is {W[j, i]:g}; both must be the same, ≥ 0"
        )
    return np.asarray(np.diag(W.sum(axis=1)) - W)
