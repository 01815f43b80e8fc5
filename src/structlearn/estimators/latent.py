"""What estimators have in common whose truths have a latent part: where they begin, several runs, completions."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any, Self

import numpy as np

from structlearn.contract import available_if
from structlearn.data.arrays import FloatArray
from structlearn.data.examples import check_examples
from structlearn.data.memory import memory_option
from structlearn.data.options import jobs_option, whole_option
from structlearn.estimators.base import StructuredEstimator
from structlearn.estimators.checkpoint import Checkpoint
from structlearn.estimators.interruption import Interruption
from structlearn.estimators.training import Training
from structlearn.kernels.threads import one_thread_of_blas
from structlearn.models.base import Model
from structlearn.waist.latent import LatentProblem, Start
from structlearn.waist.problem import Problem


def _predicts_latent(estimator: LatentEstimator) -> bool:
    if not getattr(estimator.model, "predicts_latent", True):
        name = type(estimator.model).__name__
        raise AttributeError(f"predictions of {name} have no latent part: predict gives all of them")
    return True


class LatentEstimator(StructuredEstimator):
    """Base class of estimators for outputs (y, h) of which the data have y only, or outputs that are known in part.

    Parameters every such estimator has beside those of `StructuredEstimator`: ``init``, ``n_init``.
    """

    init: str | FloatArray | Sequence[Any] | Callable[..., Any]
    n_init: int

    #: Of one of several runs: the checkpoints of those that have come to their end.
    _ended: list[Checkpoint] | None = None

    # What is known of an output, `allowed`, is part of its truth here.
    def fit(  # type: ignore[override]
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
        self.check_options()
        options: dict[str, Any] = {"validation": validation, "checkpoint_every": checkpoint_every}
        if self.n_init == 1 or (self.warm_start and "_ended_at" in vars(self)):
            super().fit(X, y, sample_weight, checkpoint=checkpoint, **options)
            self.stationarity_ = float(self.history_[-1].get("stationarity", np.nan))
            self.objectives_ = np.array([self.objective_])
            return self
        if isinstance(self.init, (np.ndarray, list, tuple)):
            raise ValueError(f"with a given init all {self.n_init} runs would be the same; leave n_init at 1")
        import joblib
        from sklearn.base import clone
        from sklearn.utils import check_random_state

        folder = None if checkpoint is None else self._folder(Path(checkpoint))
        seeds = check_random_state(self.random_state).randint(2**31 - 1, size=self.n_init)
        # Runs side by side share what there is.
        granted = memory_option("max_memory", self.max_memory)
        n_jobs = jobs_option("n_jobs", self.n_jobs)
        # Threads are of no use to models written in Python, whose runs have processes of their own, one after another.
        side_by_side, each = (n_jobs, 1) if isinstance(self.model, Model) else (1, n_jobs)
        share = None if granted is None else max(1, granted // min(self.n_init, side_by_side))
        one = {"n_init": 1, "n_jobs": each, "max_memory": share}
        runs = [clone(self).set_params(**one, random_state=int(seed)) for seed in seeds]
        ended: list[Checkpoint] = []
        # Here once: runs side by side would each restore what another has set.
        with Interruption() as interruption, one_thread_of_blas():

            def attempt(k: int, run: LatentEstimator) -> None:
                run._ended = ended
                file = None if folder is None else folder / str(k)
                with suppress(KeyboardInterrupt):
                    if not interruption.requested:
                        run.fit(X, y, sample_weight, checkpoint=file, **options)

            parallel = joblib.Parallel(n_jobs=side_by_side, prefer="threads")
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

    def check_options(self) -> None:
        super().check_options()
        whole_option("n_init", self.n_init, 1)
        if isinstance(self.init, str) and self.init not in ("model", "random"):
            raise ValueError(f"init is {self.init!r}; as a word it may be 'model' or 'random'")

    @available_if(_predicts_latent)
    def predict_latent(self, X: Any) -> list[Any]:
        """The latent parts of the predictions."""
        problem = self._bind(X)
        assert isinstance(problem, LatentProblem)
        return problem.present_latent(problem.predict(self.w_))

    @available_if(_predicts_latent)
    def describe_latent(self, X: Any) -> list[dict[str, Any]]:
        """The same as rows of a table, plain values by the names of columns: of a motif where it lies and its score."""
        problem = self._bind(X)
        assert isinstance(problem, LatentProblem)
        return problem.describe_latent(self.w_, problem.predict(self.w_))

    def complete(self, X: Any, y: Any) -> list[Any]:
        """The best latent parts for given y; of outputs that are known in part, the best of those that may be true."""
        check_examples("y", y)
        problem = self._bind(X, y)
        assert isinstance(problem, LatentProblem)
        return problem.present_latent(problem.complete(self.w_, np.arange(problem.n_examples)))

    @staticmethod
    def _read(model: Model, X: Any, Y: Any) -> tuple[Any, Any]:
        return model.read_partial(X, Y)

    @staticmethod
    def _specified(model: Model, X: Any, Y: Any) -> Any:
        return model.specify_partial(X, Y)

    @staticmethod
    def _bound(model: Any, spec: Any, X: Any, Y: Any, **options: Any) -> Problem:
        bind = model.bind if Y is None else model.bind_partial
        problem: Problem = bind(spec, X, Y, **options)
        return problem

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

    def _check_latent(self, problem: Problem) -> None:
        if not problem.latent:
            convex = type(self).__name__.removeprefix("Latent")
            raise TypeError(f"{type(problem).__name__} has no latent parts to complete: use {convex}")

    def _prepare(self, X: Any, Y: Any, sample_weight: Any, allowed: Any) -> Training:
        training = super()._prepare(X, Y, sample_weight, allowed)
        problem, init = training.problem, self.init
        if isinstance(init, str) and init == "model":
            return training
        assert isinstance(problem, LatentProblem)
        if isinstance(init, str):
            return replace(training, start=Start(completions=problem.random_completions(self._random(training))))
        if callable(init):
            init = init(X, Y, self._random(training))
        return replace(training, start=self._start(training, init))

    def _random(self, training: Training) -> np.random.Generator:
        """What the start is drawn from: as the solver, if it draws at random."""
        from sklearn.utils import check_random_state

        own = 0 if self.random_state is None else int(check_random_state(self.random_state).randint(2**31 - 1))
        return np.random.default_rng(getattr(training.solver, "random_state", own))

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
