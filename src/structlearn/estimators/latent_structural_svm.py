"""The structural support vector machine where the annotation stops short of the structure."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any, Self

import joblib
import numpy as np
from sklearn.base import clone
from sklearn.utils import check_random_state
from threadpoolctl import threadpool_limits

from structlearn.data.arrays import FloatArray
from structlearn.data.examples import check_examples
from structlearn.data.options import whole_option
from structlearn.estimators.base import StructuredEstimator, chosen_solver, margin_objective
from structlearn.estimators.checkpoint import Checkpoint
from structlearn.estimators.interruption import Interruption
from structlearn.estimators.training import Training
from structlearn.solvers import BlockCoordinate, ConcaveConvex, NSlack, OneSlack, Solver, Subgradient
from structlearn.waist.latent import LatentProblem, Start
from structlearn.waist.objective import MarginObjective, Rescaling, Slack
from structlearn.waist.problem import Problem

SOLVERS: dict[str, type[Solver]] = {
    "block_coordinate": BlockCoordinate,
    "n_slack": NSlack,
    "one_slack": OneSlack,
    "subgradient": Subgradient,
}


class LatentStructuralSVM(StructuredEstimator):
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
    n_iter_no_change, track_loss, warm_start, random_state, n_jobs, verbose
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

    fit_intercept = False
    class_weight = None

    #: Of one of several runs: the checkpoints of those that have come to their end.
    _ended: list[Checkpoint] | None = None

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
        self.verbose = verbose

    def fit(
        self,
        X: Any,
        y: Any,
        sample_weight: Any = None,
        *,
        validation: tuple[Any, Any] | None = None,
        checkpoint: str | os.PathLike[str] | None = None,
        checkpoint_every: float = 60.0,
    ) -> Self:
        """Trains; see `StructuralSVM.fit`. With several runs, `checkpoint` is a folder with a file for each."""
        whole_option("n_init", self.n_init, 1)
        options: dict[str, Any] = {"validation": validation, "checkpoint_every": checkpoint_every}
        if self.n_init == 1 or (self.warm_start and "_ended_at" in vars(self)):
            super().fit(X, y, sample_weight, checkpoint=checkpoint, **options)
            self.stationarity_ = float(self.history_[-1].get("stationarity", np.nan))
            self.objectives_ = np.array([self.objective_])
            return self
        if isinstance(self.init, (np.ndarray, list, tuple)):
            raise ValueError(f"with a given init all {self.n_init} runs would be the same; leave n_init at 1")
        folder = None if checkpoint is None else self._folder(Path(checkpoint))
        seeds = check_random_state(self.random_state).randint(2**31 - 1, size=self.n_init)
        runs = [clone(self).set_params(n_init=1, n_jobs=1, random_state=int(seed)) for seed in seeds]
        ended: list[Checkpoint] = []
        # Here once: runs side by side would each restore what another has set.
        with Interruption() as interruption, threadpool_limits(1, user_api="blas"):

            def attempt(k: int, run: LatentStructuralSVM) -> None:
                run._ended = ended
                file = None if folder is None else folder / str(k)
                with suppress(KeyboardInterrupt):
                    if not interruption.requested:
                        run.fit(X, y, sample_weight, checkpoint=file, **options)

            parallel = joblib.Parallel(n_jobs=self.n_jobs, prefer="threads")
            parallel(joblib.delayed(attempt)(k, run) for k, run in enumerate(runs))
        runs = [run for run in runs if hasattr(run, "w_")]
        if runs:
            best = min(runs, key=lambda run: float(run.objective_))
            for name, value in vars(best).items():
                if name == "_ended_at" or (name.endswith("_") and not name.startswith("_")):
                    setattr(self, name, value)
            self.objectives_ = np.array([run.objective_ for run in runs])
        if folder is not None and len(ended) == self.n_init:
            for file in ended:
                file.remove()
            folder.rmdir()
        if interruption.requested:
            told = f"training stopped in run {len(runs)} of {self.n_init}; the best so far is kept"
            if folder is not None:
                told += f"; fit it again with checkpoint='{folder}' to go on"
            raise KeyboardInterrupt(told)
        return self

    def predict_latent(self, X: Any) -> list[Any]:
        """The latent parts of the predictions."""
        problem = self._bind(X)
        assert isinstance(problem, LatentProblem)
        return problem.present_latent(problem.predict(self.w_))

    def describe_latent(self, X: Any) -> list[dict[str, Any]]:
        """The same as rows of a table, plain values by the names of columns: of a motif where it lies and its score."""
        problem = self._bind(X)
        assert isinstance(problem, LatentProblem)
        return problem.describe_latent(self.w_, problem.predict(self.w_))

    def complete(self, X: Any, y: Any) -> list[Any]:
        """The best latent parts for given y."""
        check_examples("y", y)
        problem = self._bind(X, y)
        assert isinstance(problem, LatentProblem)
        return problem.present_latent(problem.complete(self.w_, np.arange(problem.n_examples)))

    def _folder(self, path: Path) -> Path:
        """Where the checkpoints of several runs are."""
        if self.random_state is None:
            raise ValueError(f"a checkpoint of n_init={self.n_init} runs needs a random_state, from which they begin")
        if path.exists() and not path.is_dir():
            raise ValueError(f"{path} is a file, but n_init={self.n_init} runs keep their checkpoints in a folder")
        path.mkdir(exist_ok=True)
        return path

    def _dispose(self, file: Checkpoint) -> None:
        # The file of one of several runs is the only trace of what it has done, until all have come to their end.
        if self._ended is None:
            file.remove()
        else:
            self._ended.append(file)

    def _objective(self, sample_weight: FloatArray, problem: Problem) -> MarginObjective:
        return margin_objective(self, sample_weight, problem)

    def _solver(self) -> Solver:
        solver = chosen_solver(self.solver, SOLVERS, BlockCoordinate)
        return solver if isinstance(solver, (ConcaveConvex, Subgradient)) else ConcaveConvex(inner=solver)

    def _check_latent(self, problem: Problem) -> None:
        if not problem.latent:
            raise TypeError(f"{type(problem).__name__} has no latent parts to complete: use StructuralSVM")

    def _configured(self, solver: Solver, **given: Any) -> Solver:
        return super()._configured(solver, tol=self.tol, **given)

    def _prepare(self, X: Any, Y: Any, sample_weight: Any, allowed: Any) -> Training:
        training = super()._prepare(X, Y, sample_weight, allowed)
        if not isinstance(training.solver, ConcaveConvex) or isinstance(self.init, str):
            if isinstance(self.init, str) and self.init not in ("model", "random"):
                raise ValueError(f"init is {self.init!r}; as a word it may be 'model' or 'random'")
            return training if self.init == "model" else self._starting(training, self.init)
        init = self.init
        if callable(init):
            init = init(X, Y, np.random.default_rng(training.solver.random_state))
        return self._starting(training, self._start(training, init))

    def _starting(self, training: Training, start: Any) -> Training:
        if not isinstance(training.solver, ConcaveConvex):
            raise ValueError(f"{type(training.solver).__name__} begins at w = 0; leave init out")
        return replace(training, solver=replace(training.solver, start=start))

    def _start(self, training: Training, init: Any) -> Start:
        problem = training.problem
        assert isinstance(problem, LatentProblem)
        if isinstance(init, np.ndarray) and init.dtype.kind == "f":
            if init.shape != (problem.n_features,):
                raise ValueError(f"init has shape {init.shape}, but the model has {problem.n_features} weights")
            if not np.isfinite(init).all():
                raise ValueError("init holds weights that are not finite")
            return Start(w=np.asarray(init, np.float64))
        if not hasattr(init, "__len__"):
            raise ValueError(f"init is {init!r}; expected a word, weights, latent parts or a function that gives these")
        if len(init) != len(training.kept):
            raise ValueError(f"init has {len(init)} latent parts, but there are {len(training.kept)} examples")
        kept = [h for h, there in zip(init, training.kept, strict=True) if there]
        return Start(completions=problem.completions_of(kept))
