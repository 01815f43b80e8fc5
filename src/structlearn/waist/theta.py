"""Numbers for the parts of one example: scores θ, or the coefficients μ with which an output has them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from structlearn.data.arrays import FloatArray


@dataclass(frozen=True, slots=True, eq=False)
class Theta:
    """A number for every part of one example, in two arrays of any shape.

    Attributes
    ----------
    shared : array
        Of parts that are the same in all examples and may occur several times in an output: transitions, rules.
    local : array
        Of the example's own parts: labels at places, spans, cells. Losses and restrictions live on these only: a local
        part with the score −∞ is in no output.

    Examples
    --------
    >>> theta = Theta(shared=np.zeros((2, 2)), local=np.array([[1.0, -np.inf], [0.5, 2.0]]))
    >>> mu = Theta(shared=np.array([[0.0, 1.0], [0.0, 0.0]]), local=np.array([[1.0, 0.0], [0.0, 1.0]]))
    >>> theta.dot(mu)
    3.0
    """

    shared: FloatArray
    local: FloatArray

    def dot(self, mu: Theta) -> float:
        """⟨θ, μ⟩; parts that μ does not have are left out, whatever they score."""
        total = 0.0
        for scores, counts in ((self.shared, mu.shared), (self.local, mu.local)):
            has = counts != 0.0
            total += float(scores[has] @ counts[has])
        return total

    def plus(self, local: FloatArray) -> Theta:
        """The same with something added to the local parts, such as a loss."""
        return Theta(self.shared, self.local + local)

    def minus(self, other: Theta) -> Theta:
        """The differences, part by part."""
        return Theta(self.shared - other.shared, self.local - other.local)

    def flat(self) -> FloatArray:
        """All numbers in one array, the shared ones first."""
        return np.concatenate([self.shared.ravel(), self.local.ravel()])

    def shaped(self, flat: FloatArray) -> Theta:
        """Such an array in the shapes of this."""
        split = self.shared.size
        return Theta(flat[:split].reshape(self.shared.shape), flat[split:].reshape(self.local.shape))
