"""Homologues among decoys: alignment costs by which a sequence's relative is told from strangers."""

from __future__ import annotations

import numbers
from collections.abc import Sequence
from itertools import pairwise
from typing import Any, ClassVar

import numpy as np

from structlearn.data.arrays import FloatArray, IntArray, LabelArray, digest
from structlearn.data.biosequences.matches import Matches, checked_matches, matches_of
from structlearn.data.examples import is_listed
from structlearn.data.fields import LARGEST
from structlearn.data.options import whole_option
from structlearn.data.ragged import Ragged, places_of, reduced
from structlearn.metrics import Measures
from structlearn.metrics.measures import Columns, Formulas
from structlearn.metrics.resampled import quotient
from structlearn.models.alignment.alignment import Alignment
from structlearn.models.alignment.features import AlignmentSpec
from structlearn.models.alignment.problem import AlignmentProblem
from structlearn.models.base import Ability, ByDecoder, Model
from structlearn.models.description import WeightBlock
from structlearn.models.explanation import Comparison, Explanation, PartFeatures
from structlearn.waist.objective import Oracle, Scaling
from structlearn.waist.planes import Outputs
from structlearn.waist.problem import Problem
from structlearn.waist.rows import SparseRows
from structlearn.waist.zero_one import truth_or_best_wrong
from structlearn.wording import shown


class Homologues(Model):
    """f(x) = argmax_k max_a ⟨w, Ψ(x, z_k, a)⟩: which candidate z_k aligns best (Tsochantaridis et al. 2005, 4.4).

    Training asks that the homologue, with its known alignment, scores more than every decoy with any alignment; other
    alignments of the homologue are no constraints. The loss is zero-one.

    Parameters
    ----------
    alignment : Alignment, optional
        How two sequences are aligned; its loss plays no part. None is ``Alignment(ends="local")``.

    Notes
    -----
    An example's input is a pair (native, candidates), its output for training (k, matches), the homologue's place among
    the candidates and its matches (i, j) with the native sequence. `predict` returns places; `score` also takes them.
    `ranked` has all candidates, best first, each with its best alignment and its score.

    Examples
    --------
    >>> from structlearn import StructuralSVM
    >>> X = [("acca", ["acta", "tgtt"]), ("gcac", ["tttg", "gcac"])]
    >>> Y = [(0, ((0, 0), (1, 1), (3, 3))), (1, ((0, 0), (1, 1), (2, 2), (3, 3)))]
    >>> svm = StructuralSVM(Homologues(), rescaling=None, slack="squared", C=10).fit(X, Y)
    >>> svm.predict([("ccac", ["gttg", "tgca", "ccag"])])
    [2]
    >>> (ranking,) = svm.model_.ranked(svm.spec_, svm.w_, [("ccac", ["gttg", "tgca", "ccag"])], k=2)
    >>> [(place, matches) for place, matches, score in ranking]
    [(2, ((0, 0), (1, 1), (2, 2))), (1, ((0, 2), (2, 3)))]
    """

    refusals: ClassVar[ByDecoder] = {
        "k_best": "the best alignments of one candidate would fill the list; Alignment has them for each",
        "sums": "a likelihood of candidates with their alignments is not written; Alignment has that of alignments",
        "pair_marginals": "an output is one candidate; Alignment has the probabilities of matches",
        "partial": "an alignment of the homologue must be given; Alignment takes some of its matches",
    }

    @property
    def costs(self) -> ByDecoder:
        return {"best": "c m n", "loss_augmented": "c m n", "second_best": "c m n", "loss_levels": "c m n"}

    @property
    def abilities(self) -> frozenset[Ability]:
        return frozenset({"explain"})

    def __init__(self, alignment: Alignment | None = None):
        self.alignment = alignment

    def loss_in_words(self) -> str:
        return "1 for a decoy in the place of the homologue"

    def check_options(self) -> None:
        if self.alignment is not None and not isinstance(self.alignment, Alignment):
            raise ValueError(f"alignment is {shown(self.alignment)}; it must be an Alignment or None")

    def specify(self, X: Any, Y: Any) -> AlignmentSpec:
        self.check_options()
        return self._aligner().specify(_pairs(X)[0], None)

    def bind(self, spec: AlignmentSpec, X: Any, Y: Any = None, *, allow_unknown: bool = False) -> HomologuesProblem:
        """See `Model.bind`; with `allow_unknown` an output may also be a place without an alignment."""
        pairs, offsets = _pairs(X)
        aligner = self._aligner().bind(spec, pairs)
        places = alignments = None
        if Y is not None:
            if len(Y) != len(offsets) - 1:
                raise ValueError(f"X has {len(offsets) - 1} examples but Y has {len(Y)}")
            places, alignments = np.empty(len(Y), np.int64), []
            for i, y in enumerate(Y):
                places[i], matches = _truth(y, f"Y[{i}]", int(offsets[i + 1] - offsets[i]), allow_unknown)
                s, t = pairs[offsets[i] + places[i]]
                codes = np.full(_length(s), -1, np.int32)
                for k, j in checked_matches(matches, _length(s), _length(t), f"Y[{i}][1]", f"the pair of Y[{i}]"):
                    codes[k] = j
                alignments.append(codes)
        return HomologuesProblem(aligner, offsets, places, alignments)

    def named_weights(
        self, spec: AlignmentSpec, w: FloatArray, feature_names: Sequence[str] | None = None
    ) -> tuple[WeightBlock, ...]:
        return self._aligner().named_weights(spec, w, feature_names)

    def facts(self, spec: AlignmentSpec, w: FloatArray) -> dict[str, Any]:
        return self._aligner().facts(spec, w)

    def explain(
        self,
        spec: AlignmentSpec,
        w: FloatArray,
        x: Any,
        t: int | None = None,
        label: Any = None,
        against: Any = None,
        feature_names: Sequence[str] | None = None,
    ) -> Explanation | Comparison:
        """Why a candidate is chosen, with the matches that are given, (k, matches), or with its best ones."""
        pairs, _ = _pairs([x])
        aligned = self._aligner().bind(spec, pairs)
        codes, scores = aligned.best_scored(w, np.arange(len(pairs)))
        matches, order = aligned.present(codes), np.argsort(-scores, kind="stable").tolist()
        chosen = order[0] if label is None else label
        place = chosen[0] if isinstance(chosen, tuple) else chosen
        if against is None and len(order) == 1:
            raise ValueError("x has one candidate only: there is nothing to compare it with")
        other = next(k for k in order if k != place) if against is None else against

        def with_matches(y: Any) -> Any:
            return (int(y), matches[int(y)]) if y in range(len(pairs)) else y

        return super().explain(spec, w, x, t, with_matches(chosen), with_matches(other), feature_names)

    def ranked(
        self, spec: AlignmentSpec, w: FloatArray, X: Any, k: int | None = None
    ) -> list[list[tuple[int, Matches, float]]]:
        """(place, matches, score) of the k best candidates of every example, best first; None for all of them.

        Parameters
        ----------
        spec, w
            `spec_` and `w_` of a fitted estimator.
        X : list of (native, candidates)
        """
        return self.bind(spec, X).ranked(w, None if k is None else whole_option("k", k, 1, LARGEST))

    def measures(self, X: Any, Y: Any, predicted: Any) -> Measures:
        """How many homologues were found; true outputs may be places alone."""
        places = [y if isinstance(y, numbers.Integral) else y[0] for y in Y]
        right = np.array([place == guess for place, guess in zip(places, predicted, strict=True)], bool)
        counts = np.column_stack([right, np.ones(len(right))])
        return Measures(counts, _formulas, right)

    def n_weights(self, spec: AlignmentSpec) -> int:
        return self._aligner().n_weights(spec)

    def spec_from_dict(self, values: dict[str, Any]) -> AlignmentSpec:
        return AlignmentSpec.from_dict(values)

    def _aligner(self) -> Alignment:
        return Alignment(ends="local") if self.alignment is None else self.alignment


def _formulas(columns: Columns) -> Formulas:
    return {"found": quotient(0, 1)}


class HomologuesProblem(Problem):
    """A `Homologues` model bound to data. Outputs are the place of a candidate and the codes of its alignment."""

    oracles: frozenset[Oracle] = frozenset({"best", "loss_augmented", "second_best", "loss_levels"})

    def __init__(
        self,
        aligner: AlignmentProblem,
        offsets: IntArray,
        places: IntArray | None,
        alignments: list[LabelArray] | None,
    ):
        self.n_examples = len(offsets) - 1
        self.n_features = aligner.n_features
        self._aligner = aligner
        self._offsets = offsets
        self._places = places
        self._alignments = alignments
        if places is not None and alignments is not None:
            self._truths = aligner.joint_features(offsets[:-1] + places, Ragged.of(alignments))

    def best(self, w: FloatArray, examples: IntArray) -> list[LabelArray]:
        return [output for _, output in self._best(w, examples)]

    def loss_augmented(self, w: FloatArray, examples: IntArray) -> list[LabelArray]:
        return self.loss_levels(w, examples, Scaling("margin", "linear"))

    def second_best(self, w: FloatArray, examples: IntArray) -> tuple[IntArray, list[LabelArray]]:
        """The best decoys: other alignments of the homologue are no constraints."""
        found = self._best(w, examples, but=self._places)
        return np.array([i for i, _ in found], np.int64), [output for _, output in found]

    def loss_levels(self, w: FloatArray, examples: IntArray, scaling: Scaling) -> list[LabelArray]:
        return truth_or_best_wrong(self, w, examples, scaling)

    def _best(self, w: FloatArray, examples: IntArray, but: IntArray | None = None) -> list[tuple[int, LabelArray]]:
        """Of each example that has one, the best candidate, perhaps without one of them, and its alignment."""
        pairs, begins = places_of(self._offsets, examples)
        self._aligner.n_threads = self.n_threads
        codes, scores = self._aligner.best_scored(w, pairs)
        found = []
        for i, (begin, end) in zip(examples.tolist(), pairwise(begins.tolist()), strict=True):
            here = scores[begin:end].copy()
            if but is not None:
                here[but[i]] = -np.inf
            best = int(here.argmax())
            if here[best] > -np.inf:
                found.append((i, np.concatenate([[best], codes[begin + best]]).astype(np.int32)))
        return found

    def ranked(self, w: FloatArray, k: int | None) -> list[list[tuple[int, Matches, float]]]:
        """See `Homologues.ranked`."""
        self._aligner.n_threads = self.n_threads
        codes, scores = self._aligner.best_scored(w, np.arange(int(self._offsets[-1])))
        found = []
        for begin, end in pairwise(self._offsets.tolist()):
            # Of equals the first comes first, as in `best`.
            order = np.argsort(-scores[begin:end], kind="stable")[:k].tolist()
            found.append([(j, matches_of(codes[begin + j]), float(scores[begin + j])) for j in order])
        return found

    def differences(self, examples: IntArray, outputs: Outputs) -> tuple[SparseRows, FloatArray]:
        assert self._places is not None
        chosen = np.array([output[0] for output in outputs], np.int64)
        features = self._aligner.joint_features(
            self._offsets[examples] + chosen, Ragged.of([output[1:] for output in outputs])
        )
        return self._truths.take(examples).minus(features), (chosen != self._places[examples]).astype(np.float64)

    def differing_parts(self, w: FloatArray) -> list[PartFeatures]:
        """See `ComposedProblem.differing_parts`: both outputs are alignments with candidates of the first example."""
        assert self._places is not None
        assert self._alignments is not None
        counts: dict[int, FloatArray] = {}
        for sign, place, codes in zip((1.0, -1.0), self._places.tolist(), self._alignments, strict=True):
            counts[place] = counts.get(place, 0.0) + sign * self._aligner.part_counts(place, codes)
        return [
            part._replace(name=f"candidate {place}: {part.name}")
            for place, each in counts.items()
            for part in self._aligner.listed_parts(place, each)
        ]

    def losses(self, outputs: Outputs) -> FloatArray:
        return np.asarray(np.array([output[0] for output in outputs]) != self._places, np.float64)

    def max_losses(self) -> FloatArray:
        return (np.diff(self._offsets) > 1).astype(np.float64)

    def radii(self) -> FloatArray:
        # The bound on differences of two alignments of a pair is one on the length of each.
        largest = reduced(np.maximum, self._aligner.radii(), self._offsets)
        return np.asarray(2.0 * largest)

    def present(self, outputs: Outputs) -> list[int]:
        return [int(output[0]) for output in outputs]

    def sizes(self) -> dict[str, int]:
        return {"examples": self.n_examples, "candidates": int(self._offsets[-1])}

    def fingerprint(self) -> str:
        assert self._places is not None
        return digest(self._offsets, self._places, *self._aligner.arrays(), *self._truths_arrays())

    def _truths_arrays(self) -> tuple[Any, ...]:
        return self._truths.indptr, self._truths.indices, self._truths.values

    def true_outputs(self, examples: IntArray) -> list[LabelArray]:
        assert self._places is not None
        assert self._alignments is not None
        return [np.concatenate([[self._places[i]], self._alignments[i]]).astype(np.int32) for i in examples]


def _pairs(X: Any) -> tuple[list[tuple[Any, Any]], IntArray]:
    """(native, candidate) of all examples one after another, and where each example begins."""
    pairs: list[tuple[Any, Any]] = []
    offsets = [0]
    for i, x in enumerate(X):
        if not is_listed(x) or len(x) != 2:
            raise ValueError(f"X[{i}] is no pair (native, candidates)")
        native, candidates = x
        if not is_listed(candidates) or not len(candidates):
            raise ValueError(f"X[{i}][1] is {shown(candidates)}; expected a list of at least one candidate")
        pairs += [(native, candidate) for candidate in candidates]
        offsets.append(len(pairs))
    return pairs, np.array(offsets, np.int64)


def _truth(y: Any, where: str, count: int, bare: bool) -> tuple[int, Any]:
    """The place of the homologue and its matches, none where only the place is given and that is enough."""
    place, matches = (y, ()) if bare and isinstance(y, numbers.Integral) else (None, None)
    if place is None:
        if not (isinstance(y, (tuple, list)) and len(y) == 2):
            raise ValueError(f"{where} is {shown(y)}; expected (place of the homologue, matches)")
        place, matches = y
    if not isinstance(place, numbers.Integral) or not 0 <= int(place) < count:
        raise ValueError(f"{where} says candidate {shown(place)}, but there are {count}")
    return int(place), matches


def _length(sequence: Any) -> int:
    return len(sequence["residue"]) if isinstance(sequence, dict) else len(sequence)
