"""What happens after every iteration of a fit: callbacks, progress, tracked losses and early stopping."""

from __future__ import annotations

from types import TracebackType
from typing import TYPE_CHECKING, Any

import numpy as np

from structlearn.callbacks import Progress
from structlearn.problem import FloatArray, Problem
from structlearn.solvers import State

if TYPE_CHECKING:
    from structlearn.estimators.base import StructuredEstimator, _Training


class Watch:
    """Observes a run for an estimator.

    Attributes
    ----------
    chosen : (record, w)
        The last point, or with held-out data the one with the least loss there.
    stopped : bool
        Whether a callback or early stopping ended the run.
    """

    def __init__(
        self,
        estimator: StructuredEstimator,
        training: _Training,
        X: Any,
        Y: Any,
        sample_weight: Any,
        held_out: Problem | None,
    ):
        self._estimator = estimator
        self._training = training
        self._data: dict[str, Any] = {"X": X, "y": Y}
        if sample_weight is not None:
            self._data["metadata"] = {"sample_weight": sample_weight}
        self._history: list[dict[str, Any]] = []
        self._held_out = held_out
        self._progress = Progress() if estimator.verbose else None
        self._least = np.inf
        self._since_least = 0
        self._judged: tuple[FloatArray, float] | None = None
        self.chosen: tuple[dict[str, Any], FloatArray] = ({}, np.empty(0))
        self.stopped = False

    def __enter__(self) -> None:
        tasks = self._training.solver.max_iter + 1
        self._context = self._estimator._init_callback_context(max_subtasks=tasks)
        if self._progress is not None:
            self._progress.setup(self._estimator, self._context)
        self._context.call_on_fit_task_begin(estimator=self._estimator, **self._data)
        self._begin_task()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if kind is None:
            self._context.call_on_fit_task_end(
                estimator=self._estimator, reconstruction_attributes=self._fitted, **self._data
            )
        if self._progress is not None:
            self._progress.teardown(self._estimator, self._context)

    def __call__(self, state: State) -> bool:
        record = state.record
        self._history.append(record)
        if self._estimator.track_loss:
            record |= self._training_loss(state)
        patience_is_over = False
        if self._held_out is None:
            self.chosen = record, state.w
        else:
            patience_is_over = self._compare_held_out(self._held_out, state)
        stop = self._task.call_on_fit_task_end(
            estimator=self._estimator, reconstruction_attributes=self._fitted, **self._data
        )
        if self._progress is not None:
            self._progress.show(self._estimator, record)
        self.stopped = bool(stop) or patience_is_over
        if not self.stopped and state.iteration < self._training.solver.max_iter:
            self._begin_task()
        return self.stopped

    def _begin_task(self) -> None:
        self._task = self._context.subcontext(task_name="iteration")
        self._task.call_on_fit_task_begin(estimator=self._estimator, **self._data)

    def _fitted(self) -> dict[str, Any]:
        return self._training.fitted(self.chosen[1].copy()) | {"history_": list(self._history)}

    def _training_loss(self, state: State) -> dict[str, float]:
        """The empirical risk beside its bound, the mean slack (Propositions 1 and 2)."""
        problem, objective = self._training.problem, self._training.objective
        share = objective.sample_weight / objective.sample_weight.sum()
        tracked = {"train_loss": float(share @ problem.losses(problem.predict(state.w)))}
        slacks = getattr(state, "slacks", None)
        if slacks is not None:
            squared = getattr(objective, "slack", None) == "squared"
            tracked["mean_slack"] = float(share @ (slacks**2 if squared else slacks))
        return tracked

    def _compare_held_out(self, held_out: Problem, state: State) -> bool:
        if self._judged is not None and np.array_equal(state.w, self._judged[0]):
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
