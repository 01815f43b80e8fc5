"""Problems whose features come into being while the oracle is asked."""

from __future__ import annotations

import numpy as np

from structlearn.data.arrays import FloatArray, IntArray
from structlearn.waist.objective import Scaling
from structlearn.waist.planes import Planes
from structlearn.waist.problem import Problem


class GrowingProblem(Problem):
    """A problem that finds its features as it goes: the oracle and `differences` may raise `n_features`.

    A feature that was not seen yet has weight 0, so that nothing is lost by leaving it out, and the optimum is that of
    the problem with all features from the start. New ones are appended: an index never changes its meaning. The
    oracle gets weights for the features that there were when it was asked.
    """

    grows = True

    def extend(self, w: FloatArray) -> FloatArray:
        return w if len(w) == self.n_features else np.concatenate([w, np.zeros(self.n_features - len(w))])

    def _planes(self, w: FloatArray, examples: IntArray, scaling: Scaling) -> Planes:
        examples, outputs = self.most_violating(w, examples, scaling)
        rows, losses = self.differences(examples, outputs)
        a, b = scaling(losses)
        return Planes(examples, rows, losses, outputs, b - a * rows.dot(self.extend(w)))
