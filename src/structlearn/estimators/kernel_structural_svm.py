"""The structural support vector machine whose features are functions of a space with a kernel."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import replace
from typing import Any, ClassVar, Self

import numpy as np
import scipy.sparse as sp

from structlearn.contract import check_is_fitted
from structlearn.data.fields import check_distinct, check_tuple
from structlearn.data.input_rows import input_rows, read_inputs, row_names, with_input_rows
from structlearn.data.matrices import checked_matrix
from structlearn.data.memory import memory_option
from structlearn.data.networks import Networks
from structlearn.data.options import whole_option
from structlearn.data.tokens.sequences import NamedColumns, Sequences
from structlearn.estimators.structural_svm import TOL, StructuralSVM
from structlearn.estimators.training import Training, chosen_solver
from structlearn.estimators.watch import Watch
from structlearn.kernels import Kernel, kernel_for, kernel_option
from structlearn.kernels.base import checked_rows
from structlearn.kernels.gram import check_kernel
from structlearn.kernels.row_metric import KEPT, RowMetric, expansion_at
from structlearn.kernels.rows import with_fast_products
from structlearn.models.base import Model
from structlearn.models.explanation import Comparison, Explanation
from structlearn.solvers import KernelCuts, SampledCuts, Solution, Solver, SubspacePursuit
from structlearn.waist.objective import Rescaling, Slack
from structlearn.waist.problem import Problem

SOLVERS: dict[str, type[Solver]] = {"exact": KernelCuts, "sampled": SampledCuts, "subspace": SubspacePursuit}


class KernelStructuralSVM(StructuralSVM):
    """`StructuralSVM` with φ(x) of a kernel in the place of the rows of features x, and all other features as they are.

    A row is one of a table, a token of a sequence, a node of a graph, a document of a query. Transitions, edges and
    whatever else has weights keep these (Yu 2011, section 6.6): the kernel of two labelled rows is
    k((x, y), (x', y')) = [y = y'] k(x, x'), or ⟨Λ(y), Λ(y')⟩ k(x, x') with output features Λ of `Multiclass`.

    Parameters
    ----------
    model : Model
        What is predicted: `Chain`, `Segments`, `Multiclass`, `MultiLabel`, `Graph` or a ranking.
    kernel : Kernel, str or callable
        An object of `structlearn.kernels`, the name of one or a function of two matrices. "rbf" and "laplacian"
        have the γ that `median_gamma` proposes for the training data; `kernel_` records it.
    rescaling : {"margin", "slack", None}
    slack : {"linear", "squared"}
    C, tol, eps, max_iter, fit_intercept, class_weight, track_loss, warm_start, random_state
    n_jobs, max_memory, verbose
        As for `StructuralSVM`.
    solver : {"auto", "exact", "sampled", "subspace"} or Solver
        "exact" finds the minimum with a certificate, by cutting planes in the space of the kernel (`KernelCuts`): for
        thousands of rows. "sampled" draws some of the rows of each cut (`SampledCuts`). "subspace" finds the best w in
        the span of few functions, which it chooses (`SubspacePursuit`): its predictions are the fastest. "auto" is
        "subspace".
    n_components : int, optional
        How many functions "subspace" chooses, and how many rows "sampled" draws. None leaves it to them: 200 and 400.

    Attributes
    ----------
    kernel_ : Kernel
        What was used.
    basis_ : (n_basis, d) array or sparse matrix
        The rows b_j that functions are made of; of "exact" and "sampled" the support vectors.
    coefficients_ : (n_basis, n_labels)
        c, so that the scores of a row are Σ_j k(x, b_j) c_j.
    w_ : (n_weights,)
        The weights of the model on inputs that have these scores as their features: 1 for the score of its own label,
        and those of all other features.
    history_, objective_, duality_gap_, slacks_, C_, n_iter_, converged_, classes_, model_, spec_
        As for `StructuralSVM`. The objective is exact; only "exact" has a gap.

    Notes
    -----
    With a fixed basis, `KernelMap` before any other estimator is the kernel learner: a kernel CRF, a kernel perceptron.

    Examples
    --------
    >>> from sklearn.datasets import make_circles
    >>> from structlearn.models import Multiclass
    >>> X, y = make_circles(100, noise=0.05, factor=0.5, random_state=0)
    >>> svm = KernelStructuralSVM(Multiclass(), "rbf", C=100, solver="exact").fit(X, y)
    >>> svm.score(X, y), svm.duality_gap_ <= 0.03
    (1.0, True)
    """

    nonnegative: ClassVar[None] = None  # type: ignore[misc]
    _named_solvers = SOLVERS

    def __init__(
        self,
        model: Any,
        kernel: Kernel | str | Callable[[Any, Any], Any] = "rbf",
        *,
        C: float | None = None,
        rescaling: Rescaling = "margin",
        slack: Slack = "linear",
        solver: str | Solver = "auto",
        n_components: int | None = None,
        tol: float | None = None,
        eps: float | None = None,
        max_iter: int | None = None,
        fit_intercept: bool = False,
        class_weight: Any = None,
        track_loss: bool = False,
        warm_start: bool = False,
        random_state: int | np.random.RandomState | None = None,
        n_jobs: int | None = None,
        max_memory: str | int | None = None,
        verbose: int = 0,
    ):
        self.model = model
        self.kernel = kernel
        self.C = C
        self.rescaling = rescaling
        self.slack = slack
        self.solver = solver
        self.tol = tol
        self.eps = eps
        self.max_iter = max_iter
        self.fit_intercept = fit_intercept
        self.class_weight = class_weight
        self.track_loss = track_loss
        self.warm_start = warm_start
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.max_memory = max_memory
        self.verbose = verbose
        self.n_components = n_components

    def fit(  # type: ignore[override]
        self,
        X: Any,
        y: Any,
        sample_weight: Any = None,
        *,
        allowed: Any = None,
        checkpoint: str | os.PathLike[str] | None = None,
        checkpoint_every: float = 60.0,
    ) -> Self:
        """Trains; see `StructuralSVM.fit`."""
        return super().fit(
            X, y, sample_weight, allowed=allowed, checkpoint=checkpoint, checkpoint_every=checkpoint_every
        )

    def check_options(self) -> None:
        super().check_options()
        kernel_option(self.kernel).check_options()
        if self.n_components is not None:
            whole_option("n_components", self.n_components, 1)

    def check_fitted(self) -> None:
        """Refuses what `fit` could not have learnt; who loads an estimator asks for it."""
        for name in ("kernel_", "basis_", "coefficients_", "vocabulary_", "n_features_in_"):
            if not hasattr(self, name):
                raise ValueError(f"{name} is missing")
        self.kernel_.check_options()
        n, width = len(self.coefficients_), self.spec_.n_inputs
        shapes = self.coefficients_.shape == (n, width) and self.basis_.shape == (n, self.n_features_in_)
        if not shapes or self.coefficients_.dtype != np.float64 or not np.isfinite(self.coefficients_).all():
            raise ValueError(
                f"basis_ of the shape {self.basis_.shape} and coefficients_ of {self.coefficients_.shape} do not fit "
                f"{self.n_features_in_} features and {width} labels"
            )
        if n:
            self.kernel_.read(self.basis_, "basis_")
        if self.vocabulary_ is not None:
            check_tuple("vocabulary_", self.vocabulary_, str)
            check_distinct("vocabulary_", self.vocabulary_)

    def explain(
        self, x: Any, t: int | None = None, label: Any = None, against: Any = None, feature_names: Any = None
    ) -> Explanation | Comparison:
        """See `StructuralSVM.explain`; the scores that the kernel gives each label are the features of a row."""
        check_is_fitted(self)
        scored = self._scored(checked_matrix(x, "x").reshape(1, -1) if self.model_.tabular else [x])[0]
        why: Explanation | Comparison = self.model_.explain(
            self.spec_, self.w_, scored, t, label, against, self._feature_names(feature_names)
        )
        return why

    def _feature_names(self, given: Any) -> Any:
        labels = getattr(self, "classes_", range(self.spec_.n_inputs))
        if given is None and len(labels) == self.spec_.n_inputs:
            return [f"kernel score of {label}" for label in labels]
        return given

    def _solver(self) -> Solver:
        kernel = kernel_option(self.kernel)
        solver = chosen_solver(self.solver, SOLVERS, SubspacePursuit)
        if not isinstance(solver, KernelCuts):
            raise ValueError(f"{type(solver).__name__} is made for weights, not for functions of a kernel")
        if solver is self.solver:
            if self.n_components is not None:
                raise ValueError(f"n_components is {self.n_components}, but {type(solver).__name__} has its own size")
            return solver
        if isinstance(solver, SubspacePursuit):
            solver = replace(solver, preimages=kernel.differentiable)
        if self.n_components is not None:
            solver = _sized(solver, self.n_components)
        return replace(solver, tol=TOL) if self.eps is None else solver

    def _specified(self, model: Model, X: Any, Y: Any) -> Any:  # type: ignore[override]
        """The spec of the model on rows that are unit vectors, one feature each."""
        spec: Any = model.specify(X, Y)
        has_rows = isinstance(X, (Sequences, Networks, np.ndarray)) or sp.issparse(X)
        if not has_rows or not hasattr(spec, "n_inputs"):
            raise ValueError(
                f"KernelStructuralSVM is not made for {type(model).__name__}: it needs inputs with rows of features, "
                "as those of Chain, Segments, Multiclass, MultiLabel and Graph; see also KernelMap"
            )
        return replace(spec, n_inputs=input_rows(X).shape[0], vocabulary=None)

    def _bound(self, model: Model, spec: Any, X: Any, Y: Any, **options: Any) -> Problem:  # type: ignore[override]
        kernel = kernel_option(self.kernel)
        if kernel.of_rows is False:
            raise ValueError(f"{kernel} takes no rows of numbers; KernelMap before StructuralSVM makes features of it")
        rows = kernel.read(input_rows(X), "X")
        if sp.issparse(rows) and not rows.has_sorted_indices:
            # What is found shall not depend on the order in which numbers are added up.
            rows = rows.sorted_indices()
        rows = with_fast_products(rows)
        kernel = kernel_for(self.kernel, rows)
        # Cuts in a subspace look at few kernels, and would not notice a function that is none.
        check_kernel(kernel, rows)
        units = with_input_rows(X, sp.eye_array(rows.shape[0], format="csr"))
        problem = model.bind(spec, units, Y, **options)
        tokens = X.nodes if isinstance(X, Networks) else X
        offsets = tokens.offsets if isinstance(tokens, Sequences) else np.arange(rows.shape[0] + 1)
        room = min(KEPT, (memory_option("max_memory", self.max_memory) or 2 * KEPT) // 2)
        problem.metric = RowMetric(kernel, rows, _width(model, spec), offsets, row_names(X), room, self.n_jobs)
        return problem

    def _on_earlier_problem(self, training: Training) -> Training:
        """See `StructuredEstimator`; unit vectors do not tell which rows they stand for, and which kernel is meant."""
        earlier, _ = getattr(self, "_ended_at", None) or (None, None)
        if self.warm_start and earlier is not None and not training.problem.metric.same_as(earlier.metric):
            raise ValueError("warm_start=True goes on from the last fit, but the rows or the kernel are not the same")
        return super()._on_earlier_problem(training)

    def _take_over(self, training: Training, solution: Solution, watch: Watch, X: Any) -> None:
        super()._take_over(training, solution, watch, X)
        metric, cuts = training.problem.metric, solution.state.cuts  # type: ignore[attr-defined]
        found = cuts.best
        self.kernel_, self.basis_, self.coefficients_ = metric.kernel, cuts.vectors(found.numbers), found.coefficients
        self.vocabulary_ = metric.names
        self.spec_ = replace(training.spec, n_inputs=metric.width)
        self.w_ = np.concatenate([np.eye(metric.width).ravel(), found.rest])
        self.n_features_in_ = metric.rows.shape[1]

    def _bound_new(self, X: Any, Y: Any, **options: Any) -> Problem:
        problem: Problem = self.model_.bind(self.spec_, self._scored(X), Y, **options)
        return problem

    def _scored(self, X: Any) -> Any:
        """Inputs with the scores that the kernel gives each label in the place of their rows."""
        columns = None if self.vocabulary_ is None else NamedColumns(self.vocabulary_)
        inputs = None if self.model_.tabular else read_inputs(X, columns, self.n_features_in_)
        if inputs is None:
            inputs = checked_rows(X, "X")
        rows = input_rows(inputs)
        if rows.shape[1] != self.n_features_in_:
            raise ValueError(f"X has {rows.shape[1]} features but training had {self.n_features_in_}")
        return with_input_rows(inputs, expansion_at(self.kernel_, rows, self.basis_, self.coefficients_, self.n_jobs))


def _sized(solver: KernelCuts, n_components: int) -> KernelCuts:
    if isinstance(solver, SubspacePursuit):
        return replace(solver, n_basis=n_components)
    if isinstance(solver, SampledCuts):
        return replace(solver, n_samples=n_components)
    raise ValueError(f"n_components is {n_components}; solver='exact' takes all rows")


def _width(model: Model, spec: Any) -> int:
    """How many weights a feature of a row has; refused where they do not stand together at the beginning of w."""
    few = replace(spec, n_inputs=2)
    n = model.n_weights(few)
    more = model.n_weights(replace(spec, n_inputs=3))
    if n is None or more is None:
        raise ValueError(f"KernelStructuralSVM is not made for {type(model).__name__}, whose weights have no layout")
    first = model.named_weights(few, np.arange(float(n)))[0].whole()
    width = more - n
    if width < 1 or not np.array_equal(np.ravel(first)[: 2 * width], np.arange(2 * width)):
        raise ValueError("KernelStructuralSVM is not made for features that score pairs of labels as well")
    return width
