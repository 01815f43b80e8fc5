"""What a fit works with: the data bound to a model, the objective and the solver, and how arguments become these."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from structlearn.data.arrays import FloatArray, IntArray
from structlearn.data.examples import is_listed
from structlearn.data.labels import label_array
from structlearn.data.matrices import check_squares, checked_numbers
from structlearn.data.tokens.matrix import TokenMatrix
from structlearn.data.tokens.sequences import Sequences, entry_names
from structlearn.models.base import Model
from structlearn.solvers import Solver
from structlearn.waist.latent import Start
from structlearn.waist.loss import Loss
from structlearn.waist.objective import MarginObjective, Objective
from structlearn.waist.problem import Problem
from structlearn.wording import shown


@dataclass(frozen=True, slots=True)
class Training:
    """Everything a run needs, made before the estimator itself is touched.

    Where the oracles contradict each other, `contradiction` says how, and the problem counts as approximate. `start` is
    where learning begins, if latent parts were given. `memory` are the bytes that a run may take beside the problem.
    """

    model: Model
    problem: Problem
    spec: Any
    objective: Objective
    solver: Solver
    kept: npt.NDArray[np.bool_]
    contradiction: str | None = None
    start: Start | None = None
    memory: int | None = None

    def fitted(self, w: FloatArray) -> dict[str, Any]:
        """The attributes that make an estimator ready to predict with w."""
        spec, w = self.model.compact(self.spec, self.problem, w)
        attributes = {"w_": w, "model_": self.model, "spec_": spec}
        if hasattr(self.spec, "classes"):
            attributes["classes_"] = label_array(self.spec.classes)
        if self.model.tabular:
            attributes["n_features_in_"] = self.spec.n_inputs
        return attributes


def restriction(model: Model, allowed: Any) -> dict[str, Any]:
    if allowed is None:
        return {}
    if not model.takes_allowed:
        own = getattr(model, "user_model", model)
        raise ValueError(f"{type(own).__name__} cannot restrict its outputs; leave `allowed` out")
    return {"allowed": allowed}


def checked_weight(sample_weight: Any, n: int) -> FloatArray:
    if sample_weight is None:
        return np.ones(n)
    weight = checked_numbers(sample_weight, "sample_weight").astype(np.float64)
    if weight.ndim != 1:
        raise ValueError(f"Sample weights must be a 1D array; sample_weight has {weight.ndim} dimensions")
    if len(weight) != n:
        raise ValueError(f"sample_weight has {len(weight)} entries but there are {n} examples")
    bad = ~(np.isfinite(weight) & (weight >= 0))
    if bad.any():
        i = int(np.argmax(bad))
        raise ValueError(f"sample_weight[{i}] is {weight[i]}; weights must be finite and ≥ 0")
    with np.errstate(over="ignore"):
        if np.isinf(weight.sum()):
            raise ValueError("sample_weight adds up to infinity")
    return weight


def is_given(nonnegative: Any) -> bool:
    return not (nonnegative is None or nonnegative is False)


def nonnegative_weights(given: Any, problem: Problem) -> IntArray:
    """The indices of the weights that must be ≥ 0."""
    n_weights = problem.n_features
    if problem.grows and is_given(given):
        raise ValueError(f"nonnegative is not possible: the weights of {type(problem).__name__} come into being later")
    if given is None or isinstance(given, (bool, np.bool_)):
        return np.arange(n_weights if given else 0)
    if isinstance(given, str) and given in problem.weight_groups:
        return np.arange(*problem.weight_groups[given])
    if isinstance(given, str) and given in problem.absent_groups:
        raise ValueError(f"nonnegative={given!r} needs {problem.absent_groups[given]}")
    if not is_listed(given):
        groups = "".join(f", {name!r}" for name in problem.weight_groups)
        raise ValueError(f"nonnegative is {shown(given)}; expected True{groups}, indices of weights or a mask of them")
    which = checked_numbers(given, "nonnegative")
    if not which.size:
        return np.empty(0, np.int64)
    if which.ndim != 1 or which.dtype.kind not in "iub":
        raise ValueError(
            f"nonnegative is {which.dtype} of the shape {which.shape}; expected True, indices of weights or a mask"
        )
    if which.dtype == bool:
        if len(which) != n_weights:
            raise ValueError(f"nonnegative is a mask of {len(which)} weights, but the model has {n_weights}")
        return np.flatnonzero(which)
    bad = (which < 0) | (which >= n_weights)
    if bad.any():
        k = int(np.argmax(bad))
        raise ValueError(f"nonnegative[{k}] is {which[k]}, but the weights are 0 to {n_weights - 1}")
    return np.unique(which).astype(np.int64)


def check_own_loss(model: Model, problem: Problem, objective: Objective) -> None:
    """Refuses a loss of the user's own that falls below zero, and warns of one that no output has.

    Asked are the outputs that are predicted at random weights and their opposites, and the most violating ones at 0.
    """
    loss = getattr(model, "loss", getattr(model, "cost", None))
    own = isinstance(loss, Loss) and not type(loss).__module__.startswith("structlearn.")
    if not own or problem.latent or not isinstance(objective, MarginObjective) or objective.rescaling is None:
        return
    name, direction = type(loss).__name__, np.random.default_rng(0).normal(size=problem.n_features)
    for w in (direction, -direction) if "best" in problem.oracles else ():
        outputs = problem.predict(w)
        losses = problem.losses(outputs)
        i = int(np.argmin(losses))
        if losses[i] < -1e-9:
            raise ValueError(
                f"{name} of example {i} is {losses[i]:.6g} for the output {shown(problem.present(outputs)[i])}; a loss "
                "must not be negative (structlearn.testing.check_loss compares it with a plain function)"
            )
    at_zero = (
        problem.oracle(np.zeros(problem.n_features), examples, objective.scaling).losses
        for examples in problem.chunks()
    )
    if not any(losses.any() for losses in at_zero):
        warnings.warn(
            f"{name} is zero for every output of every example, so that there is nothing to learn: the numbers of the "
            "truth are taken off (see structlearn.testing.check_loss)",
            RuntimeWarning,
            stacklevel=5,
        )


def check_lengths(X: Any) -> None:
    """Refuses features that have no length ‖φ‖ in floating point, which all solvers go by."""
    if isinstance(X, Sequences):
        if isinstance(X.tokens, TokenMatrix):
            return  # checked where it was read
        check_squares(X.tokens, entry_names(X.offsets))
    elif sp.issparse(X) or (isinstance(X, np.ndarray) and X.ndim == 2 and X.dtype == np.float64):
        check_squares(X, lambda row, column: f"X[{row}, {column}]")


def class_weights(class_weight: Any, Y: Sequence[Any]) -> FloatArray:
    from sklearn.utils import compute_class_weight

    given = label_array(Y)
    try:
        labels, codes = np.unique(given, return_inverse=True)
    except TypeError:
        raise ValueError("class_weight needs labels that can be sorted, but those in Y are of several types") from None
    return np.asarray(compute_class_weight(class_weight, classes=labels, y=given))[codes]


def price(C: Any, default: float, sample_weight: FloatArray) -> float:
    """C as given, or the default times S = Σ s_i."""
    return default * float(sample_weight.sum()) if C is None else float(C)


def chosen_solver(given: Any, named: dict[str, type[Solver]], default: type[Solver]) -> Solver:
    """The solver that was given, by name or as an object; "auto" is the default."""
    if isinstance(given, Solver):
        return given
    if isinstance(given, str) and given == "auto":
        return default()
    if not isinstance(given, str) or given not in named:
        names = ", ".join(map(repr, ["auto", *named]))
        raise ValueError(f"solver is {given!r}; it may be {names} or a Solver object")
    return named[given]()


def margin_objective(svm: Any, sample_weight: FloatArray, problem: Problem) -> MarginObjective:
    """What the options of a structural SVM, latent or not, ask to be minimised."""
    nonnegative = nonnegative_weights(svm.nonnegative, problem)
    return MarginObjective(sample_weight, price(svm.C, 0.1, sample_weight), svm.rescaling, svm.slack, nonnegative)
