"""Problems whose features come into being while the oracle is asked."""

from __future__ import annotations

import numpy as np

from structlearn.data.arrays import FloatArray, IntArray
from structlearn.waist.objective import MarginObjective, Scaling
from structlearn.waist.planes import Planes
from structlearn.waist.problem import Problem


class GrowingProblem(Problem):
    """A problem that finds its features as it goes: `decode` and `differences` may raise `n_features`.

    A feature that was not seen yet has weight 0, so that nothing is lost by leaving it out, and the optimum is that of
    the problem with all features from the start. New ones are appended: an index never changes its meaning. `decode`
    gets weights for the features that there were when it was asked.
    """

    grows = True

    def extend(self, w: FloatArray) -> FloatArray:
        return w if len(w) == self.n_features else np.concatenate([w, np.zeros(self.n_features - len(w))])

    def _planes(self, w: FloatArray, examples: IntArray, scaling: Scaling) -> Planes:
        examples, outputs = self.decode(w, examples, scaling)
        rows, losses = self.differences(examples, outputs)
        a, b = scaling(losses)
        return Planes(examples, rows, losses, outputs, b - a * rows.dot(self.extend(w)))

    def risk(self, w: FloatArray, objective: MarginObjective) -> tuple[float, FloatArray]:
        value, gradient = 0.0, np.zeros(self.n_features)
        for examples in self.chunks():
            planes = self.oracle(w, examples, objective.scaling)
            w, gradient = self.extend(w), self.extend(gradient)
            weight = objective.sample_weight[planes.examples]
            slacks = np.maximum(planes.bounds, 0.0)
            value += float(weight @ objective.slack_loss(slacks))
            a, _ = objective.scaling(planes.losses)
            planes.rows.add_to(gradient, -weight * objective.slack_slope(slacks) * a)
        return value, gradient
