"""Whether the oracles of a user's model contradict each other: on a few examples before training, on all after it.

An oracle that returns the truth violates nothing, so training would end at w = 0 with a duality gap of 0.
`structlearn.testing.check_model` asks more, of models outside training.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Protocol

import numpy as np

from structlearn.data.arrays import FloatArray
from structlearn.waist.problem import Exactness

_N_EXAMPLES = 3

#: How messages name the oracles of a model that users write.
CALLS = {"inference": "inference(X[{0}], w)", "loss_augmented_inference": "loss_augmented_inference(X[{0}], Y[{0}], w)"}


class Asked(Protocol):
    """What is seen of a user's model bound to data; see `PythonProblem` and `PythonLatentProblem`."""

    n_examples: int
    n_features: int
    exactness: Exactness

    def ask_oracle(self, name: str, i: int, w: FloatArray) -> Any: ...
    def truth_at(self, i: int, w: FloatArray) -> Any: ...
    def score_of(self, i: int, output: Any, w: FloatArray) -> float: ...
    def loss_of(self, i: int, output: Any) -> float: ...


@contextmanager
def lent(w: FloatArray) -> Iterator[FloatArray]:
    """A copy of the weights for a user's code, refused if it changes them: its next answer would be another."""
    given = w.copy()
    yield given
    if not np.array_equal(given, w, equal_nan=True):
        raise ValueError("a method of the model changes the weights w that it is given; let it work on a copy")


def contradiction(
    problem: Asked, oracles: list[str], learnt: FloatArray | None, calls: dict[str, str] = CALLS
) -> str | None:
    """What is wrong with `inference` or `loss_augmented_inference`, whichever there are; None if nothing is.

    Asked of all examples with the weights that were `learnt`, or of a few with some others.
    """
    if problem.exactness == "approximate":
        return None
    if learnt is None:
        direction = np.random.default_rng(0).normal(size=problem.n_features)
        examples = np.unique(np.linspace(0, problem.n_examples - 1, _N_EXAMPLES).astype(int)).tolist()
        weights = [np.zeros(problem.n_features), direction, -10.0 * direction]
    else:
        examples, weights = list(range(problem.n_examples)), [learnt]
    for w in weights:
        for i in examples:
            try:
                found = next(_contradictions(problem, oracles, i, w, calls), None)
            except Exception:
                # Weights that training may never see; what fails there as well is told there.
                continue
            if found is not None:
                return found
    return None


def _contradictions(problem: Asked, oracles: list[str], i: int, w: FloatArray, calls: dict[str, str]) -> Iterator[str]:
    answers = {name: problem.ask_oracle(name, i, w.copy()) for name in oracles}
    outputs = [problem.truth_at(i, w.copy()), *answers.values()]
    scores = [problem.score_of(i, output, w) for output in outputs]
    values = {
        "inference": scores,
        "loss_augmented_inference": [a + problem.loss_of(i, y) for a, y in zip(scores, outputs, strict=True)],
    }
    for place, name in enumerate(answers, start=1):
        # Predictions of a relaxed model are rounded; only its most violating outputs are the best of a larger set.
        if name == "inference" and problem.exactness == "relaxed":
            continue
        own, best = values[name][place], int(np.argmax(values[name]))
        if values[name][best] > own + 1e-6 * (1.0 + abs(own)):
            what = "score" if name == "inference" else "score + loss"
            yield (
                f"{calls[name].format(i)} returns {outputs[place]!r} with {what} {own:.3g}, but {outputs[best]!r} has "
                f"{values[name][best]:.3g}"
            )
