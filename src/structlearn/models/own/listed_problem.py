"""A user's model that lists its outputs, bound to data: likelihoods by enumeration."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import scipy.sparse as sp

from structlearn.data.arrays import FloatArray, IntArray
from structlearn.data.examples import same_output
from structlearn.data.ragged import offsets_of, owners_of, places_of, reduced, summed
from structlearn.models.own.python_problem import PythonProblem
from structlearn.waist.parts import PartProblem
from structlearn.waist.rows import SparseRows

#: Bytes that the rows of all listed outputs may take.
MAX_BYTES = 2**32


@dataclass(frozen=True, slots=True)
class Lists:
    """The outputs of every example.

    Attributes
    ----------
    outputs : list of list
    offsets : (n_examples + 1,)
        Where the outputs of each example begin, if all are listed.
    rows : n outputs
        Ψ(x_i, y).
    truths : (n_examples,)
        Which of the outputs of its example each truth is, −1 where it is none; empty without truths.
    """

    outputs: list[list[Any]]
    offsets: IntArray
    rows: SparseRows
    truths: IntArray


class ListedProblem(PythonProblem, PartProblem):
    """A user's model with ``outputs(x)``, bound to data. The parts of an example are its outputs, θ_y = ⟨w, Ψ(x, y)⟩.

    Thus μ(y) is 1 at y and 0 elsewhere, marginals are probabilities of outputs, and every loss is a sum over parts.
    When sums are first asked for, the outputs of all examples are listed and their rows Ψ(x, y) made; both are kept.
    The rows take 16 bytes for every feature that is not zero, and at most `MAX_BYTES`.
    """

    @cached_property
    def part_offsets(self) -> IntArray:  # type: ignore[override]
        return self._lists.offsets

    def scores(self, w: FloatArray, examples: IntArray) -> FloatArray:
        return self._rows(examples).dot(w)

    def expectations(self, theta: FloatArray, examples: IntArray) -> tuple[FloatArray, FloatArray]:
        places = self._part_places(examples)
        owners = owners_of(places)
        largest = reduced(np.maximum, theta, places)
        odds = np.exp(theta - largest[owners])
        totals = summed(odds, places)
        return largest + np.log(totals), odds / totals[owners]

    def push(self, marginals: FloatArray, examples: IntArray, coefficients: FloatArray, out: FloatArray) -> None:
        owners = owners_of(self._part_places(examples))
        self._rows(examples).add_to(out, marginals * coefficients[owners])

    def true_parts(self, examples: IntArray) -> FloatArray:
        places = self._part_places(examples)
        truths = self._lists.truths[examples]
        if (truths < 0).any():
            i = int(examples[np.argmax(truths < 0)])
            assert self._Y is not None
            raise ValueError(f"Y[{i}] is {self._Y[i]!r}, which outputs(X[{i}]) does not list")
        parts = np.zeros(places[-1])
        parts[places[:-1] + truths] = 1.0
        return parts

    def part_losses(self, examples: IntArray) -> FloatArray:
        return np.array([self.loss_of(i, y) for i in examples.tolist() for y in self._lists.outputs[i]])

    def log_probabilities(self, w: FloatArray) -> FloatArray:
        everything, lists = np.arange(self.n_examples), self._lists
        theta = self.scores(w, everything)
        log_z, _ = self.expectations(theta, everything)
        known = lists.truths >= 0
        found = np.full(self.n_examples, -np.inf)
        found[known] = (theta[lists.offsets[:-1] + np.maximum(lists.truths, 0)] - log_z)[known]
        return found

    def samples(self, w: FloatArray, n_samples: int, random: np.random.Generator) -> list[list[Any]]:
        """Outputs drawn from P(y | x), `n_samples` of each example."""
        drawn = []
        for outputs, p in zip(self._lists.outputs, self.label_probabilities(w), strict=True):
            drawn.append([outputs[k] for k in random.choice(len(outputs), n_samples, p=p / p.sum())])
        return drawn

    def feature_totals(self) -> FloatArray:
        rows = self._lists.rows
        if rows.values.min(initial=0.0) < 0.0:
            worst = int(np.argmin(rows.values))
            owner = np.searchsorted(rows.indptr, worst, side="right") - 1
            i = int(np.searchsorted(self.part_offsets, owner, side="right")) - 1
            raise ValueError(
                f"joint_feature of example {i} holds {rows.values[worst]:g}; iterative scaling needs features ≥ 0"
            )
        return reduced(np.maximum, summed(rows.values, rows.indptr), self.part_offsets)

    @cached_property
    def _lists(self) -> Lists:
        outputs, blocks, size = [], [], 0
        for i in range(self.n_examples):
            outputs.append(self._listed(i))
            if not outputs[i]:
                raise ValueError(f"outputs(X[{i}]) lists nothing")
            blocks.append(sp.vstack([self._feature(i, y) for y in outputs[i]], format="csr"))
            size += 16 * blocks[i].nnz + 8 * len(outputs[i])
            if size > MAX_BYTES:
                raise ValueError(
                    f"the {sum(map(len, outputs))} outputs of the first {i + 1} of {self.n_examples} examples have "
                    f"features of {size / 2**30:.3g} GB, more than {MAX_BYTES / 2**30:.3g} GB: too many for "
                    "likelihoods by enumeration"
                )
        matrix = sp.vstack([*blocks, sp.csr_array((0, self.n_features))], format="csr")
        return Lists(
            outputs,
            offsets_of([len(each) for each in outputs]),
            SparseRows.from_matrix(sp.csr_array(matrix)),
            np.array([_index(y, outputs[i]) for i, y in enumerate(() if self._Y is None else self._Y)], np.int64),
        )

    def _rows(self, examples: IntArray) -> SparseRows:
        """Ψ of all outputs of the examples; views of what is kept where these stand together, as they mostly do."""
        rows = self._lists.rows
        if not len(examples) or np.any(np.diff(examples) != 1):
            return rows.take(places_of(self.part_offsets, examples)[0])
        first, last = self.part_offsets[examples[0]], self.part_offsets[examples[-1] + 1]
        begin, end = rows.indptr[first], rows.indptr[last]
        return SparseRows(rows.indptr[first : last + 1] - begin, rows.indices[begin:end], rows.values[begin:end])


def _index(truth: Any, outputs: Sequence[Any]) -> int:
    return next((k for k, y in enumerate(outputs) if same_output(truth, y)), -1)
