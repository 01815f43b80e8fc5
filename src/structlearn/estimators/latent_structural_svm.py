"""The structural support vector machine where the annotation stops short of the structure."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from structlearn.data.arrays import FloatArray
from structlearn.estimators.latent import LatentEstimator
from structlearn.estimators.training import Training, chosen_solver, margin_objective
from structlearn.solvers import BlockCoordinate, ConcaveConvex, NSlack, OneSlack, Solver, Subgradient
from structlearn.waist.objective import MarginObjective, Rescaling, Slack
from structlearn.waist.problem import Problem

SOLVERS: dict[str, type[Solver]] = {
    "block_coordinate": BlockCoordinate,
    "n_slack": NSlack,
    "one_slack": OneSlack,
    "subgradient": Subgradient,
}


class LatentStructuralSVM(LatentEstimator):
    """min_w ½‖w‖² + (C/S) Σ_i s_i ξ_i with ξ_i = max_{ŷ,ĥ} [Δ + ⟨w, Ψ(x_i, ŷ, ĥ)⟩] − max_h ⟨w, Ψ(x_i, y_i, h)⟩.

    Outputs are pairs (y, h) of which the data have y only: where a motif lies, which mentions link to which, which
    of the relevant documents come first. Predictions are the best pairs. The objective is not convex; the
    concave-convex procedure (Yu 2011) goes down from where it begins, so `init` and `n_init` matter.

    Parameters
    ----------
    model : Model or object
        What is predicted: `Motif()`, `LatentForest()`, `PrecisionAtK()`, `LatentChain()`, or your own class, see
        `structlearn.models.own.python_latent_model`.
    C, rescaling, slack, nonnegative
        As for `StructuralSVM`.
    solver : str or Solver
        Which solver the convex problems get: "block_coordinate" ("auto"), "one_slack" or "n_slack". "subgradient"
        takes cheap stochastic steps on the objective itself instead. A `Solver` object other than `ConcaveConvex` and
        `Subgradient` is for the convex problems.
    tol : float, optional
        Stop when the objective exceeds the minimum of its convex upper bound by at most this part of itself; 0.001.
    max_iter : int, optional
        Most iterations, of all convex problems together; None leaves it to the solver.
    init : {"model", "random"}, array, list or callable
        Where to begin. "model": as the model does by itself; "random": from latent parts at random; an array: from
        the latent parts that are best at these weights; a list: from these latent parts, one an example; or a
        function of X, Y and a random generator that returns either.
    n_init : int
        How many runs to make from different random starts, `n_jobs` of them at a time; the one with the least
        objective is kept. A warm start goes on from that one, without new starts.
    n_iter_no_change, track_loss, warm_start, random_state, n_jobs, max_memory, verbose
        As for `StructuralSVM`; early stopping looks at every iteration of the convex problems.

    Attributes
    ----------
    w_, history_, objective_, C_, n_iter_, converged_, model_, spec_
        As for `StructuralSVM`. The records of the history have `completion`, how often the latent parts were
        completed so far, and `stationarity`; there is no dual, since nobody knows the minimum of such an objective.
    stationarity_ : float
        By which part of itself, at most, the objective at `w_` exceeds the minimum of its convex upper bound.
    objectives_ : (n_init,)
        Where each run ended; fewer, if Ctrl-C stopped them, and one after a warm start.

    Examples
    --------
    >>> class Somewhere:
    ...     '''A number is "high" if one of its digits is.'''
    ...     n_features = 11
    ...     def joint_feature(self, x, y, h):
    ...         return np.eye(11)[10 if y == "low" else x[h]]
    ...     def outputs(self, x):
    ...         return [("low", 0), *(("high", h) for h in range(len(x)))]
    ...     def complete(self, x, y, w):
    ...         return 0 if y == "low" else int(np.argmax(w[x]))
    ...     def loss(self, y, y_hat, h_hat):
    ...         return float(y != y_hat)
    >>> X = [[1, 7, 2], [3, 3, 1], [9, 0, 2], [0, 1, 2], [4, 2, 7], [4, 0, 3], [5, 9, 3], [5, 4, 0]]
    >>> Y = ["high", "low", "high", "low", "high", "low", "high", "low"]
    >>> svm = LatentStructuralSVM(Somewhere(), C=100, n_init=4, random_state=0).fit(X, Y)
    >>> svm.predict([[1, 1, 7], [4, 4, 3]]), svm.predict_latent([[1, 1, 7], [4, 4, 3]])
    (['high', 'low'], [2, 0])
    """

    _named_solvers = SOLVERS
    fit_intercept = False
    class_weight = None

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
        max_iter: int | None = None,
        init: str | FloatArray | Sequence[Any] | Callable[..., Any] = "model",
        n_init: int = 1,
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
        self.max_iter = max_iter
        self.init = init
        self.n_init = n_init
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
        solver = chosen_solver(self.solver, SOLVERS, BlockCoordinate)
        return solver if isinstance(solver, (ConcaveConvex, Subgradient)) else ConcaveConvex(inner=solver)

    def _configured(self, solver: Solver, **given: Any) -> Solver:
        return super()._configured(solver, tol=self.tol, **given)

    def _prepare(self, X: Any, Y: Any, sample_weight: Any, allowed: Any) -> Training:
        training = super()._prepare(X, Y, sample_weight, allowed)
        if training.start is None:
            return training
        if not isinstance(training.solver, ConcaveConvex):
            raise ValueError(f"{type(training.solver).__name__} begins at w = 0; leave init out")
        return replace(training, solver=replace(training.solver, start=training.start))
