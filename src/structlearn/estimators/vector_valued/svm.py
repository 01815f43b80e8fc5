"""The support vector machine onto outputs as vectors."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from copy import copy
from time import perf_counter
from typing import Any, Self

import numpy as np

from structlearn.contract import library_version
from structlearn.data.arrays import FloatArray
from structlearn.data.options import jobs_option, real_option, whole_option
from structlearn.estimators.interruption import Interruption
from structlearn.estimators.passes import Passes
from structlearn.estimators.training import checked_weight, price
from structlearn.estimators.vector_valued.base import VectorPredictor, check_kinds, check_vectors, operator_of
from structlearn.estimators.vector_valued.systems import DecomposableSystem, Regression, gram
from structlearn.kernels import Kernel
from structlearn.kernels.base import length
from structlearn.kernels.gram import refuse_indefinite
from structlearn.kernels.operators import Decomposable, OperatorSum
from structlearn.outputs import CodedOutputs, KernelOutputs
from structlearn.outputs.listed_outputs import ListedOutputs
from structlearn.solvers.kernel.vector_blocks import VectorBlocks
from structlearn.solvers.kernel.vector_exponents import VectorExponents
from structlearn.solvers.kernel.vector_margins import VectorMargins, VectorSolver
from structlearn.wording import count, shown

SOLVERS: dict[str, type[VectorSolver]] = {
    "block_coordinate": VectorBlocks,
    "exponentiated_gradient": VectorExponents,
}


class VectorValuedSVM(VectorPredictor):
    """f: X → H_Y with the least ½‖f‖² + (C/n) Σ_i ξ_i, where ξ_i ≥ Δ(y_i, y) − ⟨f(x_i), ỹ_i − ỹ⟩ for all outputs y.

    It is the structural SVM with the joint kernel ⟨ỹ, K(x, x′)ỹ′⟩ of an operator-valued kernel K. Predicted is the y
    with the largest ⟨f(x), ỹ⟩.

    Parameters
    ----------
    outputs : LabelOutputs, LabelSetOutputs, LabelSequenceOutputs or KernelOutputs
        What outputs are as vectors. Of `KernelOutputs`, y is among a list of candidates, or those of the training data.
    kernel : Kernel, str, callable or Decomposable
        K, with A "identity", "covariance" or given. "rbf" and "laplacian" have the γ that `median_gamma` proposes.
    C : float, optional
        Price of the mean slack. None means a tenth of the number of examples; `C_` records it.
    loss : {"hamming", "zero_one", "squared", "distance"}, optional
        Δ: how many labels are wrong, or of `KernelOutputs` whether ỹ is; ‖ỹ_i − ỹ‖²; or ‖ỹ_i − ỹ‖. None is the first
        that outputs have.
    solver : {"auto", "block_coordinate", "exponentiated_gradient"}
        Ascent on the dual: an example at a time over a working set of outputs, with the most violating one as the
        oracle; or in distributions over all outputs, with marginals of labels and pairs, for losses that are sums over
        them. "auto" is the first.
    tol : float
        Stop at this relative duality gap.
    max_iter : int
        Most passes over the examples.
    random_state : int, optional
        Seed of the order of examples.
    n_jobs : int, optional
        Threads that compute kernels; −1 takes all cores.
    verbose : int
        1 shows progress on standard error.

    Attributes
    ----------
    kernel_ : OperatorSum
        What was used.
    basis_, weights_
        The rows of the training data, and w with f(x) = Σ_i k(x, x_i) w_i, in a list.
    objective_, duality_gap_ : float
        The objective, and the relative gap that certifies it.
    history_ : list of dict
        `iteration`, `primal`, `dual`, `gap` and `seconds` of every pass.
    C_, n_iter_, converged_, outputs_

    Examples
    --------
    >>> from structlearn.outputs import LabelSetOutputs
    >>> X, Y = [[0.0], [1.0], [2.0], [3.0]], [{"low"}, {"low", "odd"}, {"high"}, {"high", "odd"}]
    >>> svm = VectorValuedSVM(LabelSetOutputs(), "rbf", C=40).fit(X, Y)
    >>> [sorted(y) for y in svm.predict([[0.9], [2.1]])], svm.duality_gap_ <= 0.01
    ([['low', 'odd'], ['high']], True)
    """

    def __init__(
        self,
        outputs: CodedOutputs | KernelOutputs,
        kernel: Kernel | str | Callable[[Any, Any], Any] | Decomposable = "rbf",
        *,
        C: float | None = None,
        loss: str | None = None,
        solver: str = "auto",
        tol: float = 0.01,
        max_iter: int = 1000,
        random_state: int | None = None,
        n_jobs: int | None = None,
        verbose: int = 0,
    ):
        self.outputs = outputs
        self.kernel = kernel
        self.C = C
        self.loss = loss
        self.solver = solver
        self.tol = tol
        self.max_iter = max_iter
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    def check_options(self) -> None:
        if not isinstance(self.outputs, (CodedOutputs, KernelOutputs)):
            raise ValueError(
                f"outputs is {shown(self.outputs)}; give LabelOutputs, LabelSetOutputs or LabelSequenceOutputs, "
                "whose best output is found exactly, or KernelOutputs with a list of candidates"
            )
        self.outputs.check_options()
        self._outputs().check_loss(self._loss())
        self._solver().check(self._loss())
        (kernel,) = self._candidates()
        kernel.check_options()
        if len(kernel.terms) > 1 or (isinstance(kernel.terms[0].A, str) and kernel.terms[0].A == "learnt"):
            raise ValueError("kernel must be a single term, with an A that is not learnt")
        if isinstance(self.outputs, KernelOutputs):
            self._check_kernel_outputs(self.outputs, kernel.terms[0])
        if self.C is not None:
            real_option("C", self.C, positive=True)
        real_option("tol", self.tol, positive=True)
        whole_option("max_iter", self.max_iter, 1)
        if self.random_state is not None:
            whole_option("random_state", self.random_state, 0, 2**32 - 1)
        jobs_option("n_jobs", self.n_jobs)

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Trains. Ctrl-C lets the present pass end and leaves an estimator fitted with what there is so far.

        Parameters
        ----------
        X : (n, d) array or sparse matrix, or list
            What the kernel takes; for sequences of labels, sequences with a row a token.
        y : list or array
            What `outputs` takes.
        sample_weight : (n,), optional
            Weights of the slacks: weight k equals k copies.
        """
        self.check_options()
        begun = perf_counter()
        rows, offsets = self._read(X, reset=True)[:2]
        fitted = copy(self._outputs()).fit(y)
        check_vectors(length(rows), fitted.n_coordinates())
        truths = fitted.encode(y, offsets)
        weight = checked_weight(sample_weight, len(offsets) - 1)
        if not weight.any():
            raise ValueError("sample_weight is zero for every example")
        C = price(self.C, 0.1, weight)
        data = Regression(rows, fitted.vectors(truths, offsets), fitted.metric_, None)
        check_kinds(fitted, data.targets)
        term = operator_of(self.kernel).terms[0].on(rows)
        A = DecomposableSystem(term, data, None, self.n_jobs).operator
        G = gram(term.kernel, rows, self.n_jobs)
        refuse_indefinite(G, "the kernel matrix of X")
        margins = VectorMargins(G, A, fitted, truths, offsets, weight * (C / weight.sum()), self._loss())
        with Interruption() as interruption, Passes(self) as passes:

            def observe(state: Any) -> bool:
                passes.observe(state.history[-1])
                return interruption.requested

            state = self._solver().run(margins, observe)
            if "seconds" not in state.history[-1]:
                passes.observe(state.history[-1])
        self.outputs_, self.C_ = fitted, C
        self.kernel_ = OperatorSum([Decomposable(term.kernel, "identity" if A is None else A)])
        self.map_, self.basis_, self.weights_ = None, rows, [margins.weights(state.C)]
        self.objective_, self.duality_gap_ = state.primal, state.relative_gap
        self.history_, self.n_iter_ = state.history, max(state.iteration, 1)
        self.converged_ = state.relative_gap <= self.tol
        seconds = perf_counter() - begun
        self.training_ = {"examples": len(offsets) - 1, "seconds": seconds, "library": library_version()}
        if interruption.requested:
            raise KeyboardInterrupt(
                f"training stopped after {count(self.n_iter_, 'pass', 'passes')}; the estimator is fitted with what it "
                f"had learnt (relative duality gap {self.duality_gap_:.2g})"
            )
        if not self.converged_:
            from sklearn.exceptions import ConvergenceWarning

            warnings.warn(
                f"stopped at max_iter={self.max_iter} passes at a relative duality gap of {self.duality_gap_:.2g} "
                f"(tol={self.tol:g}); raise max_iter, loosen tol or lower C",
                ConvergenceWarning,
                stacklevel=2,
            )
        return self

    def check_learnt(self) -> None:
        super().check_learnt()
        real_option("C_", self.C_, positive=True)

    def _outputs(self) -> CodedOutputs:
        outputs = self.outputs
        return ListedOutputs(outputs.kernel, outputs.candidates) if isinstance(outputs, KernelOutputs) else outputs

    def _check_kernel_outputs(self, outputs: KernelOutputs, term: Decomposable) -> None:
        if outputs.candidates is not None and (callable(outputs.candidates) or hasattr(outputs.candidates, "k_best")):
            raise ValueError(
                "margins are asked of the same candidates for all inputs; give KernelOutputs a list of them"
            )
        for name in ("n_components", "n_landmarks", "search"):
            if getattr(outputs, name, None) is not None:
                raise ValueError(
                    f"{name} of KernelOutputs is {shown(getattr(outputs, name))}, which margins do not take"
                )
        if not isinstance(term.A, str) or term.A != "identity":
            raise ValueError(
                "A must be 'identity' for KernelOutputs, which have no coordinates that another could act on"
            )
        if outputs.candidates is not None and self.solver == "exponentiated_gradient":
            raise ValueError(
                "solver is 'exponentiated_gradient', which needs the truth among the candidates; leave these out, or "
                "take solver='block_coordinate'"
            )

    def _found(self, vectors: FloatArray, places: Any) -> Any:
        assert isinstance(self.outputs_, CodedOutputs)
        return self.outputs_.best(vectors, places)

    def _scores(self, vectors: FloatArray, targets: FloatArray) -> FloatArray:
        return np.asarray((vectors * targets).sum(axis=1))

    def _loss(self) -> str:
        return self._outputs().losses[0] if self.loss is None else self.loss

    def _solver(self) -> VectorSolver:
        if not isinstance(self.solver, str) or self.solver not in ("auto", *SOLVERS):
            names = ", ".join(map(repr, ["auto", *SOLVERS]))
            raise ValueError(f"solver is {shown(self.solver)}; it may be {names}")
        solver = VectorBlocks if self.solver == "auto" else SOLVERS[self.solver]
        return solver(tol=self.tol, max_iter=self.max_iter, random_state=self.random_state or 0)
