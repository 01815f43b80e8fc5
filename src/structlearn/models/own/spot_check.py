"""Whether the oracles of a user's model contradict each other, asked on a few examples before training.

An oracle that returns the truth violates nothing, so training would end at w = 0 with a duality gap of 0.
`structlearn.testing.check_model` asks more, of models outside training.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Protocol

import numpy as np

from structlearn.data.arrays import FloatArray
from structlearn.waist.problem import Exactness

_N_EXAMPLES = 3


class Asked(Protocol):
    """What is seen of a user's model bound to data; see `PythonProblem` and `PythonLatentProblem`."""

    n_examples: int
    n_features: int
    exactness: Exactness

    def ask_oracle(self, name: str, i: int, w: FloatArray) -> Any: ...
    def truth_at(self, i: int, w: FloatArray) -> Any: ...
    def score_of(self, i: int, output: Any, w: FloatArray) -> float: ...
    def loss_of(self, i: int, output: Any) -> float: ...


def contradiction(problem: Asked, oracles: list[str]) -> str | None:
    """What is wrong with `inference` or `loss_augmented_inference`, whichever there are; None if nothing is."""
    if problem.exactness == "approximate":
        return None
    random = np.random.default_rng(0)
    direction = random.normal(size=problem.n_features)
    examples = np.unique(np.linspace(0, problem.n_examples - 1, _N_EXAMPLES).astype(int)).tolist()
    for w in (np.zeros(problem.n_features), direction, -10.0 * direction):
        for i in examples:
            try:
                found = next(_contradictions(problem, oracles, i, w), None)
            except Exception:
                # Weights that training may never see; what fails there as well is told there.
                continue
            if found is not None:
                return found
    return None


def _contradictions(problem: Asked, oracles: list[str], i: int, w: FloatArray) -> Iterator[str]:
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
            call, what = ("X[{0}], w", "score") if name == "inference" else ("X[{0}], Y[{0}], w", "score + loss")
            yield (
                f"{name}({call.format(i)}) returns {outputs[place]!r} with {what} {own:.3g}, but {outputs[best]!r} has "
                f"{values[name][best]:.3g}"
            )
