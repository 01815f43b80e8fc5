"""The loss that counts every wrong output alike: its most violating output is the truth or the best one beside it."""

from __future__ import annotations

from typing import Any, Protocol

import numpy as np

from structlearn.data.arrays import FloatArray, IntArray
from structlearn.waist.objective import Scaling
from structlearn.waist.planes import Outputs


class Told(Protocol):
    """What is asked of a problem whose truths can be told from all other outputs."""

    def second_best(self, w: FloatArray, examples: IntArray) -> tuple[IntArray, Outputs]: ...
    def true_margins(self, w: FloatArray, examples: IntArray, outputs: Outputs) -> FloatArray: ...
    def true_outputs(self, examples: IntArray) -> Outputs: ...


def truth_or_best_wrong(problem: Told, w: FloatArray, examples: IntArray, scaling: Scaling) -> list[Any]:
    """argmax_ŷ b − a⟨w, δΨ(ŷ)⟩ of each example, with (a, b) = scaling([ŷ ≠ y])."""
    answered, wrong = problem.second_best(w, examples)
    a, b = scaling(np.ones(len(answered)))
    violates = b - a * problem.true_margins(w, answered, wrong) > 0.0
    found = {int(i): y for i, y, chosen in zip(answered, wrong, violates, strict=True) if chosen}
    return [found.get(int(i), truth) for i, truth in zip(examples, problem.true_outputs(examples), strict=True)]
