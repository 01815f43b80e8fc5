"""Label images of which some pixels are known, without junction trees."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import scipy.sparse as sp

from structlearn.data.arrays import FloatArray, IntArray, LabelArray
from structlearn.models.grid.problem import GridProblem
from structlearn.models.grid.summed_problem import WITH_TREES
from structlearn.waist.latent import LatentProblem, Start
from structlearn.waist.objective import Scaling
from structlearn.waist.planes import Outputs, Planes
from structlearn.waist.rows import SparseRows


class PartialGridProblem(LatentProblem):
    """Label images of which the data say something; the latent part is the rest of each. As `PartialProblem`, searched.

    Parameters
    ----------
    free : GridProblem
        Whose prices are zero for the labels that may be true.
    possible : callable
        Gives the one that has these labels only, when it is first needed.
    encode : callable
        The codes of whole label images in the user's terms; refuses by name those that cannot be true.
    """

    def __init__(
        self,
        free: GridProblem,
        possible: Callable[[], GridProblem],
        encode: Callable[[Sequence[Any]], list[LabelArray]],
    ):
        self.n_examples, self.n_features = free.n_examples, free.n_features
        self.likelihood = free.likelihood
        self.exactness = free.exactness
        self.weight_groups = free.weight_groups
        self.oracles = free.oracles - {"gibbs"}
        self._free = free
        self._bind_possible = possible
        self._possible: GridProblem | None = None
        self._encode = encode

    @property
    def n_threads(self) -> int:
        return self._free.n_threads

    @n_threads.setter
    def n_threads(self, n_threads: int) -> None:
        self._free.n_threads = n_threads

    @property
    def possible(self) -> GridProblem:
        """The problem that has the labels only that may be true."""
        if self._possible is None:
            self._possible = self._bind_possible()
        self._possible.n_threads = self.n_threads
        return self._possible

    def missing(self, oracle: str) -> str:
        if oracle == "sums":
            return f": {self._free.without_sums}; {WITH_TREES}, or use LatentStructuralSVM"
        return self._free.missing(oracle)

    def best(self, w: FloatArray, examples: IntArray) -> list[LabelArray]:
        return self._free.best(w, examples)

    def complete(self, w: FloatArray, examples: IntArray) -> list[LabelArray]:
        return self.possible.best(w, examples)

    def loss_augmented(self, w: FloatArray, examples: IntArray) -> list[LabelArray]:
        return self._free.loss_augmented(w, examples)

    def _planes(self, w: FloatArray, examples: IntArray, scaling: Scaling) -> Planes:
        # The engine's bounds in place of scores: the primal is never too low.
        outputs, values = self._free.augmented(w, examples)
        truths = self.truths(w, examples)
        scores = [float(self._free.joint_feature(i, y) @ w) for i, y in zip(examples.tolist(), truths, strict=True)]
        rows = self.between(examples, truths, outputs)
        return Planes(examples, rows, self.output_losses(examples, outputs), outputs, values - np.array(scores))

    def between(self, examples: IntArray, left: Outputs, right: Outputs) -> SparseRows:
        rows = [
            self._free.joint_feature(i, y) - self._free.joint_feature(i, z)
            for i, y, z in zip(examples.tolist(), left, right, strict=True)
        ]
        return SparseRows.from_matrix(sp.csr_array(np.array(rows).reshape(-1, self.n_features)))

    def output_losses(self, examples: IntArray, outputs: Outputs) -> FloatArray:
        return np.array([self._free.loss(i, y) for i, y in zip(examples.tolist(), outputs, strict=True)])

    def max_losses(self) -> FloatArray:
        return self._free.max_losses()

    def start(self, random: np.random.Generator) -> Start:
        """From w = 0, with the labels that are best where the likelihood rises most steeply: there all are equal."""
        free, possible = self._free.feature_at_random(), self.possible.feature_at_random()
        return Start(np.zeros(self.n_features), self.complete(possible - free, np.arange(self.n_examples)))

    def random_completions(self, random: np.random.Generator) -> list[LabelArray]:
        return self.complete(random.normal(size=self.n_features), np.arange(self.n_examples))

    def completions_of(self, latent: Sequence[Any]) -> list[LabelArray]:
        return self._encode(latent)

    def check_completions(self, completions: Outputs) -> None:
        if len(completions) != self.n_examples:
            raise ValueError(f"there are {len(completions)} completions of {self.n_examples} examples")
        for i, codes in enumerate(completions):
            if not self.possible.allows(i, codes):
                raise ValueError(f"the completion of example {i} cannot be")

    def present_latent(self, outputs: Outputs) -> list[Any]:
        return self.present(outputs)

    def present(self, outputs: Outputs) -> list[Any]:
        return self._free.present(outputs)

    def radii(self) -> FloatArray:
        return self._free.radii()

    def sizes(self) -> dict[str, int]:
        return self._free.sizes()

    def fingerprint(self) -> str:
        return f"{self._free.fingerprint()} {self.possible.fingerprint()}"
