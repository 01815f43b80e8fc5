"""Whether the oracles of a user's model contradict each other: on a few examples before training, on all after it.

An oracle that returns the truth violates nothing, so training would end at w = 0 with a duality gap of 0.
`structlearn.testing.check_model` asks more, of models outside training.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from typing import Any, Protocol

import numpy as np

from structlearn.data.arrays import FloatArray, IntArray
from structlearn.data.examples import same_output
from structlearn.waist.problem import Exactness

_N_EXAMPLES = 3
#: Of the outputs that a model lists, that many of each of these examples.
_N_OUTPUTS = 100

#: How messages name the oracles of a model that users write.
CALLS = {"inference": "inference(X[{0}], w)", "loss_augmented_inference": "loss_augmented_inference(X[{0}], Y[{0}], w)"}


class Asked(Protocol):
    """What is seen of a user's model bound to data; see `PythonProblem` and `PythonLatentProblem`."""

    n_examples: int
    n_features: int
    exactness: Exactness

    def ask_oracle(self, name: str, i: int, w: FloatArray) -> Any: ...
    def truth_at(self, i: int, w: FloatArray) -> Any: ...
    def some_outputs(self, i: int, n: int) -> list[Any]: ...
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
    problem: Asked,
    oracles: list[str],
    learnt: FloatArray | None,
    calls: dict[str, str] = CALLS,
    examples: IntArray | None = None,
) -> str | None:
    """What is wrong with `inference` or `loss_augmented_inference`, whichever there are; None if nothing is.

    Asked of all examples, or of the `examples`, with the weights that were `learnt`, or of a few with some others. An
    answer is compared with those at other weights, and before training with outputs that the model lists.
    """
    if problem.exactness == "approximate":
        return None
    nothing = np.zeros(problem.n_features)
    if learnt is not None:
        # An oracle that forgets the loss agrees with itself at every w, but not with what violates most at w = 0.
        examples = np.arange(problem.n_examples) if examples is None else examples
        n_listed, questions = 0, [(learnt, oracles), (nothing, oracles[-1:])]
    else:
        direction = np.random.default_rng(0).normal(size=problem.n_features)
        examples, n_listed = np.linspace(0, problem.n_examples - 1, _N_EXAMPLES).astype(int), _N_OUTPUTS
        questions = [(w, oracles) for w in (nothing, direction, 0.01 * direction, -10.0 * direction)]
    found = (_contradiction(problem, i, questions, n_listed, calls) for i in dict.fromkeys(examples.tolist()))
    return next((sentence for sentence in found if sentence is not None), None)


def _contradiction(
    problem: Asked, i: int, questions: list[tuple[FloatArray, list[str]]], n_listed: int, calls: dict[str, str]
) -> str | None:
    """What beats an answer for example i: the truth, any other answer, or a listed output."""
    outputs: list[Any] = []
    asked: list[tuple[FloatArray, dict[str, int]]] = []

    def place_of(y: Any) -> int:
        known = next((place for place, other in enumerate(outputs) if same_output(y, other)), len(outputs))
        outputs[known:] = outputs[known:] or [y]
        return known

    # What fails at weights that training may never see is told by training, if it fails there as well.
    with suppress(Exception):
        outputs += problem.some_outputs(i, n_listed) if n_listed else []
    for w, oracles in questions:
        asked.append((w, {}))
        with suppress(Exception):
            place_of(problem.truth_at(i, w.copy()))
        for name in oracles:
            with suppress(Exception):
                asked[-1][1][name] = place_of(problem.ask_oracle(name, i, w.copy()))
    for w, places in asked:
        with suppress(Exception):
            scores = [problem.score_of(i, y, w) for y in outputs] if places else []
            for name, place in places.items():
                # Predictions of a relaxed model are rounded; only its most violating outputs are of a larger set.
                if name == "inference" and problem.exactness == "relaxed":
                    continue
                augmented = name == "loss_augmented_inference"
                values = (
                    [a + problem.loss_of(i, y) for a, y in zip(scores, outputs, strict=True)] if augmented else scores
                )
                known, call = zip(values, outputs, strict=True), calls[name].format(i)
                found = beaten(call, outputs[place], values[place], known, augmented=augmented, tolerance=1e-6)
                if found is not None:
                    return found
    return None


def beaten(
    call: str,
    output: Any,
    value: float,
    others: Iterable[tuple[float, Any]],
    *,
    augmented: bool = False,
    tolerance: float = 1e-9,
) -> str | None:
    """That a call returns an output of this value where another one has more; None if none has."""
    best = max(others, key=lambda pair: pair[0], default=None)
    if best is None or not best[0] > value + tolerance * (1.0 + abs(value)):
        return None
    what = "score + loss" if augmented else "score"
    return f"{call} returns {output!r} with {what} {value:.3g}, but {best[1]!r} has {best[0]:.3g}"
