"""A chain bound to data: its decoders, and its planes in weight space."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from itertools import pairwise
from math import gcd, lcm
from typing import Any

import numpy as np
import numpy.typing as npt

from structlearn import _core
from structlearn.data.arrays import FloatArray, IntArray, LabelArray, digest
from structlearn.data.ragged import Ragged, offsets_of, places_of, reduced, summed
from structlearn.data.tokens import TokenMatrix
from structlearn.models.chain.transitions import TransitionMask
from structlearn.waist.compiled_parts import CompiledParts
from structlearn.waist.factored_rows import FactoredRows
from structlearn.waist.objective import Oracle, Scaling
from structlearn.waist.planes import Outputs, Planes
from structlearn.waist.zero_one import best_beside, truth_or_best_wrong

#: Unequal label weights make many loss levels; beyond this number the level decoder is refused.
MAX_LEVELS = 256
#: Bytes that the level decoder may need for one sequence: length × levels × labels doubles.
MAX_LEVEL_TABLE = 2**32


class ChainProblem(CompiledParts):
    """A `Chain` model bound to data. Outputs are label codes, see `Ragged`.

    `codes` is the truth that training aims at, `judged` the one that predictions are compared with.
    """

    def __init__(
        self,
        *,
        tokens: TokenMatrix,
        offsets: IntArray,
        codes: LabelArray | None,
        judged: LabelArray | None,
        classes: Sequence[Any],
        loss: str,
        label_weight: FloatArray,
        balance: float,
        boundaries: bool,
        pair_tokens: TokenMatrix | None,
        allowed_labels: npt.NDArray[np.bool_] | None,
        allowed_transitions: TransitionMask | None,
        observed_only: bool,
    ):
        L = len(classes)
        self.n_examples = len(offsets) - 1
        self.n_features = (tokens.n_columns + L + 2 * boundaries) * L
        if pair_tokens is not None:
            self.n_features += pair_tokens.n_columns * L * L
        self._tokens = tokens
        self._pair_tokens = pair_tokens
        self._offsets = offsets
        self._codes = codes
        self._judged = judged
        self._classes = tuple(classes)
        self._labels = np.fromiter(classes, object, len(classes))
        self._zero_one = loss == "zero_one"
        self._weight = label_weight
        self._balance = balance
        self._boundaries = boundaries
        self._masks = (
            None if allowed_labels is None else allowed_labels.astype(np.uint8).ravel(),
            None if allowed_transitions is None else allowed_transitions.flat(),
        )
        self._kept = self._observed() if observed_only else None
        pairs = None if pair_tokens is None else pair_tokens.core()
        self._core = _core.Chain(tokens.core(), offsets, L, balance, boundaries, pairs, *self._masks, self._kept)
        lengths = np.diff(offsets)
        matrices = 1 if pair_tokens is None else lengths - 1
        self.part_offsets = offsets_of(lengths * L + matrices * L * L + 2 * boundaries * L)
        self._unit = self._level_unit()
        self.oracles: frozenset[Oracle] = frozenset({"best", "loss_augmented", "second_best", "sums"})
        if self._unit is not None:
            self.oracles |= {"loss_levels"}

    def missing(self, oracle: str) -> str:
        lengths = np.diff(self._offsets)
        if self._level_table() > MAX_LEVEL_TABLE:
            return (
                f": X[{lengths.argmax()}] has {lengths.max()} tokens and as many loss levels, whose table would take "
                f"{self._level_table() / 2**30:.3g} GB; cut it up, or use rescaling='margin' with slack='linear'"
            )
        return (
            f": label_weight {self._weight.tolist()} gives more than {MAX_LEVELS} loss levels; use weights that are "
            "small multiples of one unit, or rescaling='margin' with slack='linear'"
        )

    def best(self, w: FloatArray, examples: IntArray) -> Ragged:
        out = self._empty(examples)
        self._core.best(w, examples, out.flat, self.n_threads)
        return out

    def loss_augmented(self, w: FloatArray, examples: IntArray) -> Ragged:
        if self._zero_one:
            return Ragged.of(truth_or_best_wrong(self, w, examples, Scaling("margin", "linear")))
        return self._loss_augmented(w, examples)[0]

    def second_best(self, w: FloatArray, examples: IntArray) -> tuple[IntArray, Ragged]:
        two_best = zip(examples.tolist(), self.true_outputs(examples), self._k_best(w, examples, 2), strict=True)
        found = {i: best_beside(truth, best) for i, truth, best in two_best}
        wrong = {i: output for i, output in found.items() if output is not None}
        return np.array(list(wrong), np.int64), Ragged.of(wrong.values())

    def true_outputs(self, examples: IntArray) -> list[LabelArray]:
        assert self._codes is not None
        return [self._codes[self._offsets[i] : self._offsets[i + 1]] for i in examples]

    def loss_levels(self, w: FloatArray, examples: IntArray, scaling: Scaling) -> Ragged:
        if self._zero_one:
            return Ragged.of(truth_or_best_wrong(self, w, examples, scaling))
        out = self._empty(examples)
        assert self._unit is not None
        a, b = scaling(self._unit * np.arange(self._largest_level() + 1, dtype=np.float64))
        self._core.most_violating_level(w, examples, self._codes, self._whole_weight, a, b, out.flat, self.n_threads)
        return out

    def _planes(self, w: FloatArray, examples: IntArray, scaling: Scaling) -> Planes:
        if self._zero_one or scaling.oracle != "loss_augmented":
            return super()._planes(w, examples, scaling)
        # Viterbi has the loss and the violation at hand.
        outputs, losses, violations = self._loss_augmented(w, examples)
        return Planes(examples, self._rows(examples, outputs), losses, outputs, violations)

    def differences(self, examples: IntArray, outputs: Outputs) -> tuple[FactoredRows, FloatArray]:
        out = Ragged.of(outputs)
        return self._rows(examples, out), self._losses(examples, out)

    def working_sets(self) -> _core.WorkingSets:
        assert self._codes is not None
        if self._pair_tokens is not None or self._kept is not None:
            return super().working_sets()
        return _core.ChainSets(self._core, self._codes, self.n_examples)

    def keep(self, sets: _core.WorkingSets, planes: Planes, which: IntArray, a: FloatArray, b: FloatArray) -> int:
        if not isinstance(sets, _core.ChainSets):
            return super().keep(sets, planes, which, a, b)
        outputs = Ragged.of(planes.outputs)
        return sets.add(planes.examples, outputs.flat, outputs.offsets, which, a, b)

    def losses(self, outputs: Outputs) -> FloatArray:
        return self._losses(np.arange(self.n_examples), Ragged.of(outputs), self._judged)

    def part_losses(self, examples: IntArray) -> FloatArray | None:
        if self._zero_one:
            return None
        assert self._codes is not None
        L = len(self._classes)
        places = self._part_places(examples)
        losses = np.zeros(int(places[-1]))
        for begin, i in zip(places, examples, strict=False):
            truth = self._codes[self._offsets[i] : self._offsets[i + 1]]
            node = losses[begin : begin + len(truth) * L].reshape(-1, L)
            node += self._token_weight(truth)[:, None]
            node[np.arange(len(truth)), truth] = 0.0
        return losses

    def feature_totals(self) -> FloatArray:
        sums = summed(self._tokens.totals(), self._offsets)
        if self._pair_tokens is not None:
            inner = self._pair_tokens.totals()
            inner[self._offsets[1:] - 1] = 0.0
            sums = sums + summed(inner, self._offsets)
        return np.asarray(sums + self._balance * (np.diff(self._offsets) - 1 + 2 * self._boundaries))

    def label_probabilities(self, w: FloatArray) -> list[FloatArray]:
        """P(y_t = l | x) of every sequence, (length, n_labels)."""
        return self._token_marginals(w, np.diff(self._offsets), len(self._classes))

    def most_probable_labels(self, w: FloatArray) -> Ragged:
        return Ragged.of([nodes.argmax(axis=1) for nodes in self.label_probabilities(w)])

    def samples(self, w: FloatArray, n_samples: int, random: np.random.Generator) -> list[list[list[Any]]]:
        """Labellings drawn from P(y | x), `n_samples` of each sequence."""
        examples = np.arange(self.n_examples)
        lengths = np.diff(self._offsets)
        out = np.empty(n_samples * int(lengths.sum()), np.int32)
        self._core.samples(w, examples, n_samples, random.random(len(out)), out, self.n_threads)
        names = self._names(out)
        drawn, begin = [], 0
        for length in lengths.tolist():
            drawn.append([names[begin + k * length : begin + (k + 1) * length] for k in range(n_samples)])
            begin += n_samples * length
        return drawn

    def token_features(self, token: int) -> tuple[IntArray, FloatArray]:
        """The columns and values of what emits at a token, all sequences counted through."""
        return self._tokens.row(token)

    def pair_features(self, token: int) -> tuple[IntArray, FloatArray]:
        """The columns and values of what scores the labels of a token and the next; nothing if the model has none."""
        return (np.empty(0, np.int64), np.empty(0)) if self._pair_tokens is None else self._pair_tokens.row(token)

    def k_best(self, w: FloatArray, k: int) -> list[list[tuple[Any, float]]]:
        examples = np.arange(self.n_examples)
        found = self._k_best(w, examples, k)
        return [[(self._names(labels), score) for labels, score in best] for best in found]

    def best_per_loss_level(self, w: FloatArray, example: int) -> list[tuple[float, list[Any], float]]:
        """(loss, labels, score) of the best output at every loss that the example can have."""
        if self._unit is None or self._codes is None or self._zero_one:
            raise ValueError("loss levels need labels and a Hamming loss on a grid" + self.missing("loss_levels"))
        begin, end = self._offsets[example], self._offsets[example + 1]
        levels, scores, labels = self._core.best_per_level(w, example, self._codes[begin:end], self._whole_weight)
        return [
            (float(level * self._unit), self._names(output), float(score))
            for level, output, score in zip(levels, labels.reshape(len(levels), -1), scores, strict=True)
        ]

    def sizes(self) -> dict[str, int]:
        return {"examples": self.n_examples, "tokens": self._tokens.n_tokens}

    def fingerprint(self) -> str:
        tokens = self._tokens
        assert self._codes is not None
        options = np.array([self._balance, self._boundaries, self._zero_one, tokens.n_columns])
        arrays: list[npt.NDArray[Any]] = [
            tokens.indptr,
            tokens.columns,
            tokens.values,
            self._offsets,
            self._codes,
            self._weight,
            options,
        ]
        arrays += [mask for mask in (*self._masks, self._kept) if mask is not None]
        if self._pair_tokens is not None:
            arrays += [self._pair_tokens.indptr, self._pair_tokens.columns, self._pair_tokens.values]
        return digest(*arrays)

    def max_losses(self) -> FloatArray:
        assert self._judged is not None
        weights = self._token_weight(self._judged) if len(self._classes) > 1 else 1.0 * (self._judged < 0)
        most = np.asarray(summed(weights, self._offsets))
        return (most > 0).astype(np.float64) if self._zero_one else most

    def radii(self) -> FloatArray:
        # Proposition 25, with the term for the two ends: each moves one unit from one label to another.
        T = np.diff(self._offsets)
        R = reduced(np.maximum, self._tokens.norms(), self._offsets)
        ends = 4.0 if self._boundaries else 0.0
        squares: FloatArray = 2.0 * T**2 * R**2 + self._balance**2 * (2.0 * (T - 1) ** 2 + ends)
        if self._pair_tokens is not None:
            squares = squares + 2.0 * (T - 1) ** 2 * reduced(np.maximum, self._pair_tokens.norms(), self._offsets) ** 2
        return np.sqrt(squares)

    def present(self, outputs: Outputs) -> list[list[Any]]:
        out = Ragged.of(outputs)
        names = self._names(out.flat)
        return [names[begin:end] for begin, end in pairwise(out.offsets.tolist())]

    def _all_of_example(self, flags: npt.NDArray[np.bool_]) -> npt.NDArray[np.bool_]:
        return reduced(np.logical_and, flags, self._offsets)

    @property
    def _whole_weight(self) -> LabelArray:
        """What it costs to miss each label, in units of the loss levels."""
        assert self._unit is not None
        return np.round(self._weight / self._unit).astype(np.int32)

    def _rows(self, examples: IntArray, outputs: Ragged) -> FactoredRows:
        assert self._codes is not None
        return FactoredRows(
            self._core, self.n_features, self._codes, examples, outputs.flat, outputs.offsets, self.n_threads
        )

    def _loss_augmented(self, w: FloatArray, examples: IntArray) -> tuple[Ragged, FloatArray, FloatArray]:
        out = self._empty(examples)
        losses, violations = np.empty(len(examples)), np.empty(len(examples))
        self._core.loss_augmented(w, examples, self._codes, self._weight, out.flat, losses, violations, self.n_threads)
        return out, losses, violations

    def _k_best(self, w: FloatArray, examples: IntArray, k: int) -> list[list[tuple[LabelArray, float]]]:
        lengths = np.diff(self._offsets)[examples]
        labels = np.empty(k * lengths.sum(), np.int32)
        scores = np.empty(k * len(examples))
        counts = np.empty(len(examples), np.int64)
        self._core.k_best(w, examples, k, labels, scores, counts, self.n_threads)
        starts = offsets_of(k * lengths)
        result = []
        for j, (start, T, count) in enumerate(zip(starts, lengths, counts, strict=False)):
            sequences = labels[start : start + count * T].reshape(count, T)
            result.append(list(zip(sequences, scores[j * k : j * k + count].tolist(), strict=True)))
        return result

    def _empty(self, examples: IntArray) -> Ragged:
        return Ragged.filled(np.diff(self._offsets)[examples])

    def _losses(self, examples: IntArray, outputs: Ragged, codes: LabelArray | None = None) -> FloatArray:
        codes = self._codes if codes is None else codes
        assert codes is not None
        place, _ = places_of(self._offsets, examples)
        truth = codes[place]
        wrong = np.where(truth != outputs.flat, self._token_weight(truth), 0.0)
        losses = summed(wrong, outputs.offsets)
        return (losses > 0).astype(np.float64) if self._zero_one else losses

    def _token_weight(self, codes: LabelArray) -> FloatArray:
        return np.where(codes < 0, 1.0, self._weight[codes])

    def _level_unit(self) -> float | None:
        """The largest unit of which all label weights are whole multiples, if the levels are few enough."""
        different = set(self._weight.tolist()) - {0.0}
        if self._codes is None or not different:
            return 1.0
        if self._level_table() > MAX_LEVEL_TABLE:
            return None
        if len(different) == 1:
            return float(different.pop())
        weights = [Fraction(weight).limit_denominator(10_000) for weight in different]
        if not all(weights):
            return None
        denominator = lcm(*(weight.denominator for weight in weights))
        unit = Fraction(gcd(*(int(weight * denominator) for weight in weights)), denominator)
        on_grid = all(abs(round(weight / unit) * unit - weight) <= 1e-12 * weight for weight in different)
        if not on_grid or self.max_losses().max() / float(unit) >= MAX_LEVELS:
            return None
        return float(unit)

    def _observed(self) -> npt.NDArray[np.uint8]:
        """Which weights belong to features that occur with their label in the data."""
        assert self._codes is not None
        L = len(self._classes)
        kept = np.zeros(self.n_features, np.uint8)
        kept[self._tokens.columns.astype(np.int64) * L + self._codes[self._tokens.row_numbers()]] = 1
        base = self._tokens.n_columns * L
        inner = np.ones(len(self._codes), bool)
        inner[self._offsets[1:] - 1] = False
        pairs = np.zeros(len(self._codes), np.int64)
        pairs[:-1] = self._codes[:-1].astype(np.int64) * L + self._codes[1:]
        kept[base + pairs[inner]] = 1
        base += L * L
        if self._boundaries:
            kept[base + self._codes[self._offsets[:-1]]] = 1
            kept[base + L + self._codes[self._offsets[1:] - 1]] = 1
            base += 2 * L
        if self._pair_tokens is not None:
            rows = self._pair_tokens.row_numbers()
            columns = self._pair_tokens.columns[inner[rows]].astype(np.int64)
            kept[base + columns * L * L + pairs[rows[inner[rows]]]] = 1
        return kept

    def _level_table(self) -> int:
        """Bytes for the longest sequence, if a wrong label is one level."""
        longest = int(np.diff(self._offsets).max(initial=0))
        return 8 * longest * (longest + 1) * len(self._classes)

    def _largest_level(self) -> int:
        assert self._unit is not None
        return round(float(self.max_losses().max()) / self._unit)

    def _names(self, labels: npt.NDArray[Any]) -> list[Any]:
        names: list[Any] = self._labels[labels].tolist()
        return names
