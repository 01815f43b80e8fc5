"""The structural support vector machine."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from structlearn.data.arrays import FloatArray
from structlearn.estimators.base import StructuredEstimator
from structlearn.estimators.training import chosen_solver, is_given, margin_objective
from structlearn.solvers import (
    BlockCoordinate,
    ExcessiveGap,
    ExponentiatedGradient,
    Extragradient,
    GapSolver,
    NSlack,
    OneSlack,
    ShardedAscent,
    Solver,
    Subgradient,
)
from structlearn.waist.objective import MarginObjective, Rescaling, Slack
from structlearn.waist.problem import Problem

#: The relative gap at which training stops unless told otherwise: see docs/experiments/tolerance.md.
TOL = 0.03

SOLVERS: dict[str, type[Solver]] = {
    "block_coordinate": BlockCoordinate,
    "excessive_gap": ExcessiveGap,
    "exponentiated_gradient": ExponentiatedGradient,
    "extragradient": Extragradient,
    "n_slack": NSlack,
    "one_slack": OneSlack,
    "sharded_ascent": ShardedAscent,
    "subgradient": Subgradient,
}


class StructuralSVM(StructuredEstimator):
    """min_w ½‖w‖² + (C/S) Σ_i s_i ξ_i: large-margin learning of any output structure.

    ξ_i is how much the most violating output of example i exceeds the truth; S = Σ s_i is the number of examples when
    there are no weights. All seven formulations of Tsochantaridis et al. 2005 are combinations of `rescaling` and
    `slack`.

    Parameters
    ----------
    model : Model or object
        What is predicted: `Chain()`, `Multiclass()`, … or your own class with `joint_feature`, `loss` and oracles.
    C : float, optional
        Price of the mean slack. None means a tenth of the number of examples, C/S = 0.1; `C_` records it.
    rescaling : {"margin", "slack", None}
        The loss Δ scales the margin (ξ ≥ Δ − ⟨w, δΨ⟩) or the slack (ξ ≥ Δ (1 − ⟨w, δΨ⟩)); None counts every wrong
        output alike (ξ ≥ 1 − ⟨w, δΨ⟩).
    slack : {"linear", "squared", "hard"}
        SVM₁, SVM₂ (with √Δ in place of Δ and ½ξ² in place of ξ), or no slack at all, SVM₀, with rescaling=None.
    nonnegative : {"pairs", "further"}, True, int array or bool array, optional
        Weights that must be ≥ 0: those of the labels of neighbours in graphs and images, which then never like to
        differ; the price of further partners in matchings; all of them; those of these indices; or a mask of them. For
        the solvers "block_coordinate", "n_slack" and "one_slack", which certify the minimum under that constraint.
    solver : str or Solver
        How w is found: "block_coordinate", "n_slack", "one_slack", "subgradient"; for losses that are sums over parts
        also "exponentiated_gradient", "extragradient", "excessive_gap"; "auto" is "block_coordinate", or "n_slack" for
        the hard margin. Of data in parts on other machines it is "sharded_ascent". A `Solver` object brings its own
        `tol`, `eps`, `max_iter` and `random_state`.
    tol : float, optional
        Stop at this relative duality gap, (primal − dual)/primal; 0.03 if `eps` is not given either, below which
        predictions hardly change.
    eps : float, optional
        Stop when no constraint is violated by more than eps, as in the papers; whichever of the two is met first.
    max_iter : int, optional
        Most iterations; None leaves it to the solver.
    fit_intercept : bool
        Whether every token or example gets a constant feature 1 (its weight is regularised like the others).
    class_weight : dict or "balanced", optional
        Multiplies the weight of the examples of a class; for models with one label an example.
    n_iter_no_change : int
        Patience of early stopping, see `fit`.
    track_loss : bool
        Whether the history has `train_loss`, the empirical risk, and `mean_slack`, its bound.
    warm_start : bool
        Whether `fit` goes on from the last fit, which must have had the same data: for a path of C.
    random_state : int or RandomState, optional
        Seed for solvers that draw at random; None takes the solver's own fixed seed.
    n_jobs : int, optional
        Threads, or processes for models in Python; None is one, -1 all cores. The result does not depend on it.
    max_memory : int or str, optional
        Bytes that training may take beside the data, also as text, "500MB" or "2GiB": for vectors of weights, for what
        a model lists for the inputs, and what these leave for planes. None is what the machine has available, and of it
        1 GiB for planes.

        A `Chain`, `Segments` or `Multiclass` whose weights do not fit gets only those that training comes to need; what
        does not fit is refused.
    verbose : int
        1 shows a progress line.

    Attributes
    ----------
    w_ : (n_weights,)
        The weights.
    history_ : list of dict
        One record an iteration: `primal`, `dual`, `gap`, `violation`, `planes`, `certified`, `iteration`, and, counted
        from the start of the fit, `seconds`, `oracle_seconds`, `dual_seconds`.
    objective_, duality_gap_ : float
        The objective at `w_`, and the relative gap that certifies it.
    slacks_ : (n_examples,) or None
        ξ_i at the end; NaN for examples of weight 0; None of solvers without a bound.
    C_, n_iter_, converged_, classes_, model_, spec_
        What was used and learnt.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from structlearn.models import Multiclass
    >>> X, y = load_iris(return_X_y=True)
    >>> svm = StructuralSVM(Multiclass(), C=100).fit(X, y)
    >>> svm.score(X, y) > 0.9, svm.duality_gap_ <= 0.03
    (True, True)
    """

    _named_solvers = SOLVERS

    def __init__(
        self,
        model: Any,
        *,
        C: float | None = None,
        rescaling: Rescaling = "margin",
        slack: Slack = "linear",
        nonnegative: Any = None,
        solver: str | Solver = "auto",
        tol: float | None = None,
        eps: float | None = None,
        max_iter: int | None = None,
        fit_intercept: bool = False,
        class_weight: Any = None,
        n_iter_no_change: int = 5,
        track_loss: bool = False,
        warm_start: bool = False,
        random_state: int | np.random.RandomState | None = None,
        n_jobs: int | None = None,
        max_memory: str | int | None = None,
        verbose: int = 0,
    ):
        self.model = model
        self.C = C
        self.rescaling = rescaling
        self.slack = slack
        self.nonnegative = nonnegative
        self.solver = solver
        self.tol = tol
        self.eps = eps
        self.max_iter = max_iter
        self.fit_intercept = fit_intercept
        self.class_weight = class_weight
        self.n_iter_no_change = n_iter_no_change
        self.track_loss = track_loss
        self.warm_start = warm_start
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.max_memory = max_memory
        self.verbose = verbose

    def check_options(self) -> None:
        super().check_options()
        MarginObjective(np.ones(1), 1.0, self.rescaling, self.slack)

    def _objective(self, sample_weight: FloatArray, problem: Problem) -> MarginObjective:
        return margin_objective(self, sample_weight, problem)

    def _solver(self) -> Solver:
        hard = isinstance(self.slack, str) and self.slack == "hard"
        solver = chosen_solver(self.solver, SOLVERS, NSlack if hard else BlockCoordinate)
        if isinstance(solver, GapSolver) and solver is not self.solver and self.eps is None:
            solver = replace(solver, tol=TOL)
        return solver

    def _solver_of_parts(self) -> Solver:
        if self.solver != "auto" or self.slack == "hard":
            return self._solver()
        return OneSlack() if is_given(self.nonnegative) or self.eps is not None else ShardedAscent(tol=TOL)

    def _configured(self, solver: Solver, **given: Any) -> Solver:
        return super()._configured(solver, tol=self.tol, eps=self.eps, **given)
