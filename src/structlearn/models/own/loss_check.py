"""Whether the loss inside the decoders of a model is the one that was meant, for `structlearn.testing.check_loss`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from structlearn.data.arrays import FloatArray
from structlearn.data.examples import same_output
from structlearn.models.base import Model
from structlearn.models.own.spot_check import beaten
from structlearn.waist.objective import Scaling
from structlearn.waist.problem import Problem

#: Δ(y, ŷ) by a plain function of two outputs.
Function = Callable[[Any, Any], Any]


class _Seen(NamedTuple):
    """An output that was met: in the user's terms, with δΨ and the loss that decoders take for it."""

    output: Any
    change: FloatArray
    loss: float


def loss_findings(
    model: Model, X: Any, Y: Any, function: Function | None, draw: Callable[[int], FloatArray], n_weights: int
) -> tuple[list[str], bool]:
    """How a loss breaks its rules among outputs met at random weights, each way told once; whether it was ever > 0."""
    read_X, truths = model.read(X, Y)
    problem = model.bind(model.specify(read_X, truths), read_X, truths)
    weights = [draw(problem.n_features) * scale for _ in range(n_weights) for scale in (1.0, 0.01)]
    told: dict[str, str] = {}
    largest = 0.0
    for i, y in enumerate(Y):
        if function is not None and function(y, y) != 0:
            told.setdefault("truth", f"the function of (Y[{i}], Y[{i}]) is {function(y, y)}, not zero")
        seen = _outputs(problem, i, weights)
        for output, _, loss in seen:
            said = loss if function is None else float(function(y, output))
            if loss < -1e-9:
                told.setdefault("negative", f"the loss of Y[{i}] and {output!r} is {loss:.6g}; it must not be negative")
            elif same_output(y, output) and loss > 1e-9:
                told.setdefault("truth", f"the loss of Y[{i}] and itself is {loss:.6g}, not zero")
            elif abs(loss - said) > 1e-9 * (1.0 + abs(said)):
                message = f"the loss of Y[{i}] and {output!r} is {loss:.6g}, but the function says {said:.6g}"
                told.setdefault("function", message)
            largest = max(largest, loss)
        if not told and "loss_augmented" in problem.oracles:
            for found in (_wrong_oracle(problem, i, w, seen) for w in weights):
                if found is not None:
                    told.setdefault("oracle", found)
    return list(told.values()), largest > 0.0


def _outputs(problem: Problem, i: int, weights: list[FloatArray]) -> list[_Seen]:
    """Different outputs of an example: predictions, and most violating ones, at all weights and their opposites."""
    seen: list[_Seen] = []
    for w in weights:
        for found in (problem.best(w, np.array([i])), problem.best(-w, np.array([i])), _most_violating(problem, i, w)):
            output = problem.present(found)[0] if found is not None else None
            if found is not None and not any(same_output(output, other.output) for other in seen):
                seen.append(_as_seen(problem, i, found))
    return seen


def _most_violating(problem: Problem, i: int, w: FloatArray) -> Any:
    if "loss_augmented" not in problem.oracles:
        return None
    _, found = problem.most_violating(w, np.array([i]), Scaling("margin", "linear"))
    return found if len(found) else None


def _as_seen(problem: Problem, i: int, found: Any) -> _Seen:
    rows, losses = problem.differences(np.array([i]), found)
    change = np.zeros(problem.n_features)
    rows.add_to(change, np.ones(1))
    return _Seen(problem.present(found)[0], change, float(losses[0]))


def _wrong_oracle(problem: Problem, i: int, w: FloatArray, seen: list[_Seen]) -> str | None:
    """What beats the most violating output; scores are relative to that of the truth."""
    found = _as_seen(problem, i, _most_violating(problem, i, w))
    values = ((each.loss - float(each.change @ w), each.output) for each in seen)
    call = f"the search with the loss of Y[{i}]"
    return beaten(call, found.output, found.loss - float(found.change @ w), values, augmented=True)
