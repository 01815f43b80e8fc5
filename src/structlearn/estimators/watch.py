"""What happens after every iteration of a fit: callbacks, progress, tracked losses, early stopping, checkpoints."""

from __future__ import annotations

from types import TracebackType
from typing import TYPE_CHECKING, Any

import numpy as np

from structlearn.callbacks import Progress
from structlearn.contract import has_callbacks
from structlearn.data.arrays import FloatArray
from structlearn.estimators.memory import InsufficientMemoryError, refusal
from structlearn.solvers import State
from structlearn.solvers.working_sets import WorkingSetState
from structlearn.waist.problem import Problem

if TYPE_CHECKING:
    from structlearn.estimators.base import StructuredEstimator
    from structlearn.estimators.checkpoint import Checkpoint
    from structlearn.estimators.interruption import Interruption
    from structlearn.estimators.training import Training


class Watch:
    """Observes a run for an estimator.

    Attributes
    ----------
    problem : Problem
        What is trained on.
    chosen : (record, w)
        The last point, or with held-out data the one with the least loss there.
    held_out : Problem or None
        What early stopping looks at.
    history : list of dict
        The records so far.
    stopped : bool
        Whether a callback, Ctrl-C, early stopping or a lack of memory ended the run.
    ended_from_outside : bool
        Whether it was a callback or Ctrl-C, so that the run might go on.
    refused : InsufficientMemoryError or None
        What is against the weights that have come into being, if they no longer fit.
    """

    def __init__(
        self,
        estimator: StructuredEstimator,
        training: Training,
        data: tuple[Any, Any, Any],
        held_out: Problem | None,
        checkpoint: Checkpoint | None,
        interruption: Interruption,
    ):
        X, Y, sample_weight = data
        self._estimator = estimator
        self._training = training
        self.problem = training.problem
        self._data: dict[str, Any] = {"X": X, "y": Y}
        if sample_weight is not None:
            self._data["metadata"] = {"sample_weight": sample_weight}
        self.held_out = held_out
        self._checkpoint = checkpoint
        self._interruption = interruption
        self._progress = Progress() if estimator.verbose else None
        self._context: Any = None
        self._task: Any = None
        self._least = np.inf
        self._since_least = 0
        self._judged: tuple[FloatArray, float] | None = None
        self.history: list[dict[str, Any]] = []
        self.chosen: tuple[dict[str, Any], FloatArray] = ({}, np.empty(0))
        self.stopped = False
        self.ended_from_outside = False
        self.refused: InsufficientMemoryError | None = None

    def __enter__(self) -> None:
        tasks = self._training.solver.max_iter + 1
        if has_callbacks(self._estimator):
            self._context = self._estimator._init_callback_context(max_subtasks=tasks)
        if self._progress is not None:
            self._progress.setup(self._estimator, self._context)
        if self._context is not None:
            self._context.call_on_fit_task_begin(estimator=self._estimator, **self._data)
        self._begin_task()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if kind is None and self._context is not None:
            self._context.call_on_fit_task_end(
                estimator=self._estimator, reconstruction_attributes=self._fitted, **self._data
            )
        if self._progress is not None:
            self._progress.teardown(self._estimator, self._context)

    def __call__(self, state: State) -> bool:
        record = state.record
        record |= self.problem.notes()
        self.history.append(record)
        if self._estimator.track_loss:
            record |= self._training_loss(state)
        patience_is_over = False
        if self.held_out is None:
            self.chosen = record, state.w
        else:
            patience_is_over = self._compare_held_out(self.held_out, state)
        stop = self._task is not None and self._task.call_on_fit_task_end(
            estimator=self._estimator, reconstruction_attributes=self._fitted, **self._data
        )
        if self._progress is not None:
            self._progress.show(self._estimator, record)
        self.ended_from_outside = not patience_is_over and (bool(stop) or self._interruption.requested)
        self.stopped = self.ended_from_outside or patience_is_over or self._outgrown(state)
        # A state at which patience was over would be gone on from.
        due = self._checkpoint is not None and self._checkpoint.is_due and not patience_is_over
        if self._checkpoint is not None and (self.ended_from_outside or due):
            self._checkpoint.write(state, self)
        if not self.stopped and state.iteration < self._training.solver.max_iter:
            self._begin_task()
        return self.stopped

    def _outgrown(self, state: State) -> bool:
        """Whether weights that have come into being leave no room to go on."""
        if self.problem.grows:
            planes = state.sets.nbytes() if isinstance(state, WorkingSetState) and state.crowded else 0
            self.refused = refusal(
                self._training,
                self._estimator._named_solvers,
                given=self._estimator.max_memory is not None,
                planes=planes,
            )
        return self.refused is not None

    def save(self) -> dict[str, Any] | None:
        """What early stopping remembers, as plain values and arrays."""
        if self._judged is None:
            return None
        record, w = self.chosen
        return {
            "chosen": self.history.index(record),
            "w": w,
            "least": self._least,
            "since_least": self._since_least,
            "judged": self._judged[0],
            "loss": self._judged[1],
        }

    def restore(self, saved: dict[str, Any] | None, history: list[dict[str, Any]], state: State) -> None:
        """Takes up what was saved when the run had this history and state."""
        self.history = list(history)
        self.chosen = history[-1], state.w
        if saved is None:
            return
        for name in ("w", "judged"):
            fits = isinstance(saved[name], np.ndarray) and saved[name].ndim == 1
            if not fits or self.problem.extend(saved[name]).shape != state.w.shape:
                raise ValueError("the weights that early stopping kept are not those of this problem")
            if saved[name].dtype != np.float64 or not np.isfinite(saved[name]).all():
                raise ValueError("the weights that early stopping kept are not finite numbers")
        if np.isnan(saved["least"]) or not np.isfinite(saved["loss"]):
            raise ValueError(f"early stopping kept the losses {saved['least']} and {saved['loss']}")
        self.chosen = history[saved["chosen"]], saved["w"].astype(np.float64)
        self._least, self._since_least = float(saved["least"]), int(saved["since_least"])
        self._judged = saved["judged"].astype(np.float64), float(saved["loss"])

    def _begin_task(self) -> None:
        if self._context is not None:
            self._task = self._context.subcontext(task_name="iteration")
            self._task.call_on_fit_task_begin(estimator=self._estimator, **self._data)

    def _fitted(self) -> dict[str, Any]:
        return self._training.fitted(self.chosen[1].copy()) | {"history_": list(self.history)}

    def _training_loss(self, state: State) -> dict[str, float]:
        """The empirical risk beside its bound, the mean slack (Propositions 1 and 2)."""
        problem, objective = self.problem, self._training.objective
        share = objective.sample_weight / objective.sample_weight.sum()
        tracked = {"train_loss": float(share @ problem.losses(problem.predict(state.w)))}
        slacks = getattr(state, "slacks", None)
        if slacks is not None:
            squared = getattr(objective, "slack", None) == "squared"
            tracked["mean_slack"] = float(share @ (slacks**2 if squared else slacks))
        return tracked

    def _compare_held_out(self, held_out: Problem, state: State) -> bool:
        if self._judged is not None and np.array_equal(state.w, self.problem.extend(self._judged[0])):
            # Cutting planes keep their best point for several iterations; that is no reason to lose patience.
            state.record["validation_loss"] = self._judged[1]
            return False
        loss = float(held_out.losses(held_out.predict(state.w)).mean())
        state.record["validation_loss"] = loss
        self._judged = state.w.copy(), loss
        if loss < self._least:
            self._least = loss
            self._since_least = 0
            self.chosen = state.record, state.w.copy()
        else:
            self._since_least += 1
        return self._since_least >= self._estimator.n_iter_no_change
