"""What all estimators that minimise share: from data, an objective and a solver to weights."""

from __future__ import annotations

import numbers
import os
import sys
import warnings
from abc import abstractmethod
from collections.abc import Mapping
from dataclasses import fields, replace
from typing import Any, ClassVar, Self

import numpy as np
import numpy.typing as npt

from structlearn.contract import CallbackSupport, library_version, with_callbacks
from structlearn.data.arrays import FloatArray
from structlearn.data.examples import check_examples
from structlearn.data.matrices import checked_table
from structlearn.data.memory import memory_option
from structlearn.data.options import flag_option, jobs_option, real_option, whole_option
from structlearn.estimators.abilities import check_decoder, for_parts
from structlearn.estimators.checkpoint import Checkpoint, identity
from structlearn.estimators.interruption import Interruption
from structlearn.estimators.memory import announcement, bound_memory, fitting, warn_of_growth
from structlearn.estimators.predictor import StructuredPredictor
from structlearn.estimators.training import (
    Training,
    check_lengths,
    check_own_loss,
    checked_weight,
    class_weights,
    is_given,
    restriction,
)
from structlearn.estimators.watch import Watch
from structlearn.kernels.threads import one_thread_of_blas
from structlearn.models.base import Model
from structlearn.models.own.pystruct_latent import adapter
from structlearn.solvers import DualState, Solution, Solver
from structlearn.waist.elsewhere import Elsewhere
from structlearn.waist.objective import MarginObjective, Objective
from structlearn.waist.problem import Problem, released
from structlearn.wording import count

#: A problem with its spec, the weights of the examples, which of these have one, and their outputs.
Bound = tuple[Problem, Any, FloatArray, npt.NDArray[np.bool_], Any]
#: Rounding may leave a relative gap this far below zero; one further below is no certificate.
_LEAST_GAP = -1e-6


class StructuredEstimator(StructuredPredictor, CallbackSupport):
    """Base class of estimators that minimise. A subclass has the parameters below and says what it minimises and how.

    Parameters every estimator has: ``model``, ``solver``, ``max_iter``, ``fit_intercept``, ``class_weight``,
    ``n_iter_no_change``, ``track_loss``, ``warm_start``, ``random_state``, ``n_jobs``, ``max_memory``, ``verbose``.
    """

    max_iter: int | None
    fit_intercept: bool
    class_weight: Any
    n_iter_no_change: int
    track_loss: bool
    warm_start: bool
    random_state: int | np.random.RandomState | None
    max_memory: str | int | None
    verbose: int

    #: Solvers by name.
    _named_solvers: ClassVar[Mapping[str, type[Solver]]] = {}

    @abstractmethod
    def _objective(self, sample_weight: FloatArray, problem: Problem) -> Objective: ...

    @abstractmethod
    def _solver(self) -> Solver: ...

    def _solver_of_parts(self) -> Solver:
        """What is used where the examples are in parts on other machines."""
        return self._solver()

    @with_callbacks
    def fit(
        self,
        X: Any,
        y: Any,
        sample_weight: Any = None,
        *,
        validation: tuple[Any, Any] | None = None,
        allowed: Any = None,
        checkpoint: str | os.PathLike[str] | None = None,
        checkpoint_every: float = 60.0,
    ) -> Self:
        """Trains. Ctrl-C lets the present iteration end and leaves an estimator fitted with the weights so far.

        Parameters
        ----------
        X, y : what the model takes
            One input and one output an example.
        sample_weight : (n_examples,), optional
            s_i, the price of an example's slack: weight k equals k copies, weight 0 equals removal.
        validation : (X, Y), optional
            Held-out examples for early stopping: the run ends when their loss has not improved for
            `n_iter_no_change` iterations, and the weights with the least loss are kept.
        allowed : optional
            What is known of the output of each example, None for nothing, where the model can restrict outputs; see
            its `bind`. For a chain, a sequence with None (any label), a label, or a set of labels for each token.
        checkpoint : path, optional
            A file for the state of the run. If a run with the same data and parameters left one there, training goes
            on exactly where that run stood. A run that comes to its end removes the file; one that was stopped by
            Ctrl-C or by a callback leaves it.
        checkpoint_every : float
            Seconds after which the state is written, at the end of the iteration.
        """
        training = self._on_earlier_problem(self._prepare(X, y, sample_weight, allowed))
        if training.contradiction is not None:
            _warn_of_oracle(training.contradiction)
        if self.verbose:
            print(announcement(training), file=sys.stderr)
            whole = not (training.problem.latent or training.problem.sharded)
            if changed := training.model.changed_truths(y) if whole else "":
                print(changed, file=sys.stderr)
        held_out = None
        if validation is not None:
            if not (isinstance(validation, (tuple, list)) and len(validation) == 2):
                raise ValueError("validation must be a pair (X, Y) of held-out examples")
            for name, part in zip(("X", "Y"), validation, strict=True):
                check_examples(f"the {name} of validation", part)
            if not len(validation[1]):
                raise ValueError("validation holds no examples")
            held_out = self._bound(training.model, training.spec, *validation, allow_unknown=True)
            held_out = held_out.with_weights_of(training.problem)
            held_out.n_threads = training.problem.n_threads
        file = None
        if checkpoint is not None:
            file = Checkpoint(checkpoint, checkpoint_every, identity(self, training, held_out))
        with released(training.problem, held_out), Interruption() as interruption, one_thread_of_blas():
            watch = Watch(self, training, (X, y, sample_weight), held_out, file, interruption)
            start = {} if file is None else file.restore(training, watch)
            if start and self.verbose:
                print(f"going on from {checkpoint}, iteration {start['state'].iteration}", file=sys.stderr)
            start = start or {"state": self._earlier_state(training)}
            with watch:
                solution = training.solver.iterate(training.problem, training.objective, **start, observe=watch)
            if training.contradiction is None and not interruption.requested:
                training = replace(training, contradiction=training.problem.contradiction(watch.chosen[1]))
                if training.contradiction is not None:
                    _warn_of_oracle(training.contradiction)
        outgrown = None if solution.converged else watch.refused
        if outgrown is not None and not solution.w.any():
            raise outgrown
        self._take_over(training, solution, watch, X)
        if file is not None and (solution.converged or not watch.ended_from_outside):
            self._dispose(file)
        if interruption.requested:
            raise KeyboardInterrupt(self._interrupted(file))
        if outgrown is not None:
            warn_of_growth(outgrown, self.n_iter_, self.duality_gap_)
        unfinished = training.solver.unfinished(solution.state)
        if unfinished and not (solution.converged or watch.stopped):
            from sklearn.exceptions import ConvergenceWarning

            warnings.warn(unfinished, ConvergenceWarning, stacklevel=3)
        suspicious = training.problem.user_oracles and training.contradiction is None
        if suspicious and self.objective_ == 0.0 and not self.w_.any():
            warnings.warn(
                "the best weights are all zero: no constraint was ever violated, since every output that the oracles "
                "found has loss 0 (see structlearn.testing.check_model)",
                RuntimeWarning,
                stacklevel=3,
            )
        if self.duality_gap_ < _LEAST_GAP:
            warnings.warn(
                f"the duality gap is {self.duality_gap_:.2g}, below zero: an oracle of the model does not find the "
                "most violating output (see structlearn.testing.check_model), or the solver's dual is no lower bound",
                RuntimeWarning,
                stacklevel=3,
            )
        return self

    def __getstate__(self) -> dict[str, Any]:
        # Where the last run ended serves `warm_start` in this process only; it is as large as the training data.
        state = vars(self).copy()
        state.pop("_ended_at", None)
        return state

    def _prepare(self, X: Any, Y: Any, sample_weight: Any, allowed: Any) -> Training:
        model = self.model
        if isinstance(model, type):
            raise TypeError(f"model is the class {model.__name__}; give an object, {model.__name__}()")
        self.check_options()
        for name, data in (("X", X), ("y", Y)):
            if name == "X" or data is not None:
                check_examples(name, data)
        if isinstance(X, Elsewhere):
            X.check(Y, model)
        if not isinstance(model, Model):
            model = adapter(model).prepared(model, X, Y)
        model.check_overrides()
        max_memory = memory_option("max_memory", self.max_memory)
        model = model.within(max_memory)
        if Y is None:
            raise ValueError(f"{type(self).__name__} requires y to be passed, but the target y is None")
        bind = self._bind_elsewhere if isinstance(X, Elsewhere) else self._bind_here
        problem, spec, weight, kept, truths = bind(model, X, Y, sample_weight, allowed)
        problem.n_threads = jobs_option("n_jobs", self.n_jobs)
        if self.class_weight is not None:
            if not model.tabular:
                raise ValueError("class_weight is for models with one label an example (Chain itself has label_weight)")
            weight = weight * class_weights(self.class_weight, truths)
        solver = self._configured(for_parts(self._solver_of_parts()) if problem.sharded else self._solver())
        problem = fitting(problem, solver, max_memory, may_grow=solver.takes_growing and self._all_weights_free())
        objective = self._objective(weight, problem)
        check_decoder(model, solver, objective)
        solver.check(problem, objective)
        self._check_latent(problem)
        check_own_loss(model, problem, objective)
        # Oracles may rely on weights ≥ 0 where these are asked for; before training they would be asked at random ones.
        restricted = isinstance(objective, MarginObjective) and len(objective.nonnegative)
        contradiction = None if restricted else problem.contradiction()
        if contradiction is not None:
            problem.exactness = "approximate"
        training = Training(model, problem, spec, objective, solver, kept, contradiction)
        return bound_memory(training, max_memory, self._named_solvers)

    def _bind_here(self, model: Model, X: Any, Y: Any, sample_weight: Any, allowed: Any) -> Bound:
        """The model on data of this process."""
        if model.tabular:
            # scikit-learn's own words for what is wrong with X.
            from sklearn.utils import check_array

            X = check_array(checked_table(X), accept_sparse="csr", dtype=np.float64, estimator=self, input_name="X")
        n = X.shape[0] if hasattr(X, "shape") else len(X)
        weight = checked_weight(sample_weight, n)
        if n and not weight.any():
            raise ValueError("sample_weight is zero for every example")
        kept = weight > 0
        if not kept.all():
            from sklearn.utils import _safe_indexing

            which = np.flatnonzero(kept)
            X, Y, weight = _safe_indexing(X, which), _safe_indexing(Y, which), weight[which]
            allowed = None if allowed is None else _safe_indexing(allowed, which)
        X, truths = self._read(model, X, Y)
        check_lengths(X)
        spec = self._with_intercept(self._specified(model, X, truths))
        return self._bound(model, spec, X, truths, **restriction(model, allowed)), spec, weight, kept, truths

    def _bind_elsewhere(self, model: Model, X: Elsewhere, Y: Any, sample_weight: Any, allowed: Any) -> Bound:
        """The model on data that stay where they are."""
        if allowed is not None or self.class_weight is not None:
            raise ValueError("allowed and class_weight are for data of this process")
        spec = self._with_intercept(X.specify(model))
        weight = checked_weight(sample_weight, len(X))
        if not weight.all():
            i = int(np.argmin(weight))
            raise ValueError(f"sample_weight[{i}] is 0; of data that are elsewhere leave such examples out")
        return X.bind(model, spec), spec, weight, weight > 0, Y

    def _with_intercept(self, spec: Any) -> Any:
        if not self.fit_intercept:
            return spec
        if not hasattr(spec, "with_intercept"):
            raise ValueError(f"fit_intercept=True has no meaning for {type(self.model).__name__}")
        return spec.with_intercept()

    def check_options(self) -> None:
        """Refuses options that mean nothing, by name; `fit` asks for it before it looks at the data."""
        for name in ("fit_intercept", "track_loss", "warm_start"):
            flag_option(name, getattr(self, name, False))
        for name in ("C", "tol", "eps"):
            if getattr(self, name, None) is not None:
                real_option(name, getattr(self, name), positive=True)
        whole_option("n_iter_no_change", getattr(self, "n_iter_no_change", 1), 1)
        if self.max_iter is not None:
            whole_option("max_iter", self.max_iter, 0)
        if isinstance(self.random_state, numbers.Integral):
            whole_option("random_state", self.random_state, 0, 2**32 - 1)
        jobs_option("n_jobs", self.n_jobs)
        memory_option("max_memory", self.max_memory)
        self._solver()

    def _all_weights_free(self) -> bool:
        """Whether no weight was named that training must treat otherwise, so that they may come into being later."""
        return not is_given(getattr(self, "nonnegative", None))

    def _check_latent(self, problem: Problem) -> None:
        """Refuses truths with latent parts; an estimator that is for these refuses all others."""
        if problem.latent:
            raise ValueError(
                f"{type(self).__name__} is not made for truths with latent parts: use LatentStructuralSVM or "
                "LatentConditionalRandomField"
            )

    @staticmethod
    def _read(model: Model, X: Any, Y: Any) -> tuple[Any, Any]:
        return model.read(X, Y)

    @staticmethod
    def _specified(model: Model, X: Any, Y: Any) -> Any:
        return model.specify(X, Y)

    def _configured(self, solver: Solver, **given: Any) -> Solver:
        """The solver with those of its options that were given to the estimator."""
        known = {field.name for field in fields(solver)}
        given["max_iter"] = self.max_iter
        if "random_state" in known:
            given["random_state"] = self.random_state
        given = {name: value for name, value in given.items() if value is not None}
        for name, value in given.items():
            if name not in known:
                raise ValueError(f"{type(solver).__name__} has no option {name!r}, but {name}={value!r} was given")
            if solver is getattr(self, "solver", None):
                raise ValueError(
                    f"{name}={value!r} was given beside a solver object; give it to {type(solver).__name__}"
                )
        if "random_state" in given:
            from sklearn.utils import check_random_state

            given["random_state"] = int(check_random_state(self.random_state).randint(2**31 - 1))
        return replace(solver, **given)

    def _on_earlier_problem(self, training: Training) -> Training:
        """The same, on the problem of the last fit if that is to be gone on from: its state has the weights of that."""
        ended_at = self.__dict__.pop("_ended_at", None)
        if not self.warm_start or ended_at is None:
            return training
        problem, _ = ended_at
        if problem.fingerprint() is None:
            raise ValueError(f"warm_start=True is not possible: {type(training.problem).__name__} has no fingerprint")
        if problem.fingerprint() != training.problem.fingerprint():
            raise ValueError("warm_start=True goes on from the last fit, but the data are not the same")
        problem.n_threads, problem.max_memory = training.problem.n_threads, training.problem.max_memory
        self._ended_at = ended_at
        return replace(training, problem=problem)

    def _earlier_state(self, training: Training) -> Any:
        _, state = self.__dict__.pop("_ended_at", (None, None))
        return state

    def _dispose(self, file: Checkpoint) -> None:
        """What becomes of the file of a run that came to its end."""
        file.remove()

    def _interrupted(self, file: Checkpoint | None) -> str:
        gap = "" if np.isnan(self.duality_gap_) else f" (relative duality gap {self.duality_gap_:.2g})"
        stopped = f"training stopped after {count(self.n_iter_, 'iteration')}"
        message = f"{stopped}; the estimator is fitted with the weights so far{gap}"
        if file is not None and file.is_current and not self.converged_:
            message += f"; fit it again with checkpoint={str(file.path)!r} to go on"
        return message

    def _take_over(self, training: Training, solution: Solution, watch: Watch, X: Any) -> None:
        """Sets all fitted attributes at once: a fit that failed leaves the estimator as it was."""
        record, w = watch.chosen
        if watch.held_out is None:
            # The solver may have seen a better point than the last one.
            w = solution.w
            if isinstance(solution.state, DualState) and not np.isnan(record["primal"]):
                record = record | {"primal": solution.state.primal}
        for name, value in training.fitted(w).items():
            setattr(self, name, value)
        self.C_ = training.objective.C
        self.history_ = solution.history
        self.n_iter_ = max(solution.state.iteration, 1)
        self.objective_ = float(record["primal"])
        # The best bound that the whole run proved, also for weights that early stopping chose from its middle.
        self.duality_gap_ = relative_gap(record | {"gap": record["primal"] - solution.history[-1]["dual"]})
        if training.contradiction is not None:
            self.objective_ = self.duality_gap_ = np.nan
        self.converged_ = solution.converged and training.contradiction is None and not self.duality_gap_ < _LEAST_GAP
        self.training_ = training.problem.sizes() | {
            "seconds": solution.state.seconds,
            "library": library_version(),
        }
        self.slacks_ = None
        if isinstance(solution.state, DualState):
            self.slacks_ = np.full(len(training.kept), np.nan)
            self.slacks_[training.kept] = solution.state.slacks
        if training.model.tabular and not training.problem.sharded:
            from sklearn.utils.validation import _check_feature_names

            _check_feature_names(self, X, reset=True)
        if self.warm_start:
            self._ended_at = (training.problem, solution.state)


def _warn_of_oracle(contradiction: str) -> None:
    warnings.warn(
        f"{contradiction}; nothing is certified with such an oracle (see structlearn.testing.check_model; one that "
        "only approximates is declared by exactness = 'approximate')",
        RuntimeWarning,
        stacklevel=4,
    )


def relative_gap(record: dict[str, Any]) -> float:
    """(primal − dual)/primal, 0 when the primal is 0, NaN where there is no certificate."""
    return 0.0 if record["primal"] == 0.0 else float(record["gap"] / record["primal"])
