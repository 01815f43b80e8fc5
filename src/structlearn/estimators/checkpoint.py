"""Saving a fit while it runs, and going on with it."""

from __future__ import annotations

import numbers
import os
import time
import warnings
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from structlearn.data.arrays import digest
from structlearn.persistence import atomic
from structlearn.persistence import checkpoint as checkpoint_file
from structlearn.persistence.checkpoint import Identity
from structlearn.solvers import State, saved_state
from structlearn.waist.problem import Problem

if TYPE_CHECKING:
    from structlearn.estimators.base import StructuredEstimator
    from structlearn.estimators.training import Training
    from structlearn.estimators.watch import Watch

#: Parameters that do not change what a run does, and those that stand for something compared by itself.
_FREE = ("n_jobs", "verbose", "warm_start", "model", "solver", "random_state")


class Checkpoint:
    """The file of one fit.

    Parameters
    ----------
    path : path
    every : float
        Seconds between two writes.
    identity : Identity
        Whose state the file must hold.

    Attributes
    ----------
    is_current : bool
        Whether the last write succeeded.
    """

    def __init__(self, path: str | os.PathLike[str], every: Any, identity: Identity):
        if isinstance(every, bool) or not isinstance(every, numbers.Real) or not float(every) >= 0:
            raise ValueError(f"checkpoint_every is {every!r}; it must be a number of seconds ≥ 0")
        self.path = Path(path)
        atomic.check_writable(self.path)
        self.is_current = False
        self._every = float(every)
        self._identity = identity
        self._since = time.monotonic()
        self._warned = False

    def restore(self, training: Training, watch: Watch) -> dict[str, Any]:
        """Where an earlier fit stood, as arguments for `Solver.run`; nothing if there is no file."""
        if not self.path.exists():
            return {}
        saved = checkpoint_file.read(self.path, self._identity)
        try:
            training.problem.restore_layout(saved.get("layout"))
            state = saved_state.restore(saved["state"], training.solver, training.problem, training.objective)
            history = _checked_history(saved["history"])
            watch.restore(saved["watch"], history, state)
        except Exception as error:
            raise checkpoint_file.damaged(self.path, error) from error
        self._since = time.monotonic()
        return {"state": state, "history": history}

    @property
    def is_due(self) -> bool:
        return time.monotonic() - self._since >= self._every

    def write(self, state: State, watch: Watch) -> None:
        """Writes the file. If that fails, training goes on: a warning says so once, and the next time may succeed."""
        try:
            contents = {
                "state": saved_state.save(state),
                "history": watch.history,
                "watch": watch.save(),
                "layout": watch.problem.save_layout(),
            }
            checkpoint_file.write(self.path, self._identity, contents)
            self.is_current = True
        except Exception as error:
            self.is_current = False
            if not self._warned:
                self._warned = True
                warnings.warn(f"no checkpoint: {error}; training goes on", RuntimeWarning, stacklevel=2)
        self._since = time.monotonic()

    def remove(self) -> None:
        checkpoint_file.remove(self.path)


def identity(estimator: StructuredEstimator, training: Training, held_out: Problem | None) -> Identity:
    """Whose state a checkpoint of this fit is."""
    problem, solver = training.problem, training.solver
    own = getattr(training.model, "user_model", training.model)
    options = {
        "estimator": type(estimator).__name__,
        "model": type(own).__name__,
        "solver": type(solver).__name__,
        **{name: value for name, value in estimator.get_params(deep=False).items() if name not in _FREE},
        **{f"model__{name}": value for name, value in _params(own).items()},
        **{f"solver__{name}": value for name, value in solver.get_params(deep=False).items()},
    }
    # Slow to import, and for checkpoints only.
    import joblib

    return Identity(
        {name: _comparable(value) for name, value in options.items()},
        {"examples": problem.n_examples, "features": problem.n_features},
        {
            "data": _fingerprint(problem),
            "labels or features": joblib.hash(training.spec.to_dict()),
            "sample weights": digest(training.objective.sample_weight),
            "validation data": None if held_out is None else _fingerprint(held_out),
        },
    )


def _fingerprint(problem: Problem) -> str:
    found = problem.fingerprint()
    if found is not None and problem.metric is not None:
        # Rows of such a problem are unit vectors, whatever they stand for.
        return f"{found} {problem.metric.fingerprint()}"
    if found is None:
        name = type(problem).__name__
        raise ValueError(
            f"a checkpoint is not possible: {name} has no fingerprint of its data; write fingerprint() in it"
        )
    return found


def _params(model: Any) -> dict[str, Any]:
    return dict(model.get_params(deep=False)) if hasattr(model, "get_params") else {}


def _comparable(value: Any) -> Any:
    """A plain value as it is; of others the type and, if they have one, a digest."""
    if isinstance(value, np.generic):
        value = value.item()
    if value is None or isinstance(value, (bool, int, float, str)):
        return value
    if isinstance(value, (list, tuple, dict)) and len(repr(value)) <= 80 and _is_plain(value):
        return value
    import joblib

    try:
        return f"{type(value).__name__} {joblib.hash(value)[:12]}"
    except Exception:  # whatever pickling an object of the user's may raise
        return f"{type(value).__name__} {getattr(value, '__qualname__', '')}".rstrip()


def _is_plain(value: Any) -> bool:
    if isinstance(value, dict):
        return all(_is_plain(item) for pair in value.items() for item in pair)
    if isinstance(value, (list, tuple)):
        return all(map(_is_plain, value))
    return value is None or type(value) in (bool, int, float, str)


def _checked_history(history: Any) -> list[dict[str, Any]]:
    if not (isinstance(history, list) and history and all(isinstance(record, Mapping) for record in history)):
        raise ValueError("the history is no list of records")
    for record in history:
        for name in ("iteration", "seconds", "primal", "dual", "gap"):
            if not isinstance(record.get(name), (int, float)):
                raise ValueError(f"a record of the history lacks the number {name!r}")
    return history
