"""Alignments of two sequences: which letters belong together."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, Literal

import numpy as np
from rich.cells import cell_len

from structlearn import _core
from structlearn.data.arrays import FloatArray, IntArray, LabelArray
from structlearn.data.biosequences.annotations import ANNOTATIONS, AnnotatedPairs, annotated, read_pairs
from structlearn.data.biosequences.matches import ENDS, Ends, matches_of
from structlearn.data.examples import is_listed
from structlearn.data.fields import LARGEST
from structlearn.data.known.partners import known_partners, partners_of
from structlearn.data.labels import check_label, observed_classes
from structlearn.data.options import choice_option, flag_option, whole_option
from structlearn.data.ragged import Ragged, locate, offsets_of, ranks_of, summed
from structlearn.drawing import Drawing, draw_alignment
from structlearn.losses import Loss, MatchF1, MissedMatches, ZeroOneLoss, loss_option
from structlearn.losses.bound import MAX_LEVEL_TABLE, BoundLoss, Levels
from structlearn.losses.own import bound_own, match_truth
from structlearn.metrics import Measures
from structlearn.metrics.alignments import alignment_measures
from structlearn.models.alignment.codes import coded
from structlearn.models.alignment.description import alignment_blocks
from structlearn.models.alignment.features import AlignmentSpec, Features, GapFeatures, Gaps, Layout, has_profiles
from structlearn.models.alignment.problem import AlignmentProblem, match_table
from structlearn.models.base import Ability, ByDecoder
from structlearn.models.description import WeightBlock, refuse_names
from structlearn.models.partial import PartialModel
from structlearn.wording import shown

AlignmentLoss = Literal["q", "q_shift", "f1", "zero_one"]

_CHOICES = {
    "ends": ENDS,
    "gaps": ("linear", "affine"),
    "features": ("substitution", "simple", "anova2", "tensor", "sum", "window", "profile", "products"),
    "gap_features": ("plain", "context"),
    "reading": ("figure", "text"),
}


class Alignment(PartialModel):
    """F((s, t), y) = Σ_(i, j)∈y ⟨w, φ(s, i, t, j)⟩ + Σ_gaps ⟨w, φ_gap⟩ over alignments y of two sequences.

    An example's input is a pair of sequences (s, t), its output the tuple of matches (i, j), places counted from 0 that
    increase in both; all other letters have no partner. Between two matches the letters of s without partner come
    before those of t, so that an alignment is one path and is counted once in sums.

    Parameters
    ----------
    alphabet : sequence, optional
        The residues there can be, letters or any hashable symbols. None takes those observed in training.
    ends : {"global", "semiglobal", "local"}
        Which letters without partner cost nothing: none (Needleman and Wunsch 1970); those before the first and after
        the last match, where they are of one sequence only; or all of those (Smith and Waterman 1981).
    gaps : {"linear", "affine"}
        Whether the first letter of a gap has weights on top of those of all its letters.
    features : {"substitution", "simple", "anova2", "tensor", "sum", "window", "profile", "products"}
        What a match is described by: the two residues, one of the six models of Yu (2011, chapter 4), or products of
        the profiles of both letters, see Notes.
    gap_features : {"plain", "context"}
        What a gap is described by: nothing, the same weight for both sequences; or, as in Yu, by the letter without
        partner and the structure and accessibility around the place in the other sequence.
    normalise : bool
        Whether all features are divided by the number of letters of both sequences.
    loss : {"q", "q_shift", "f1", "zero_one"} or Loss
        Δ(y, ŷ): the part of the true matches that are missing; or of which no match lies within `shift`; 1 − F1 of the
        matches; or whether anything differs; or a loss of one's own, additive or counted over matches, see
        `structlearn.losses`.
    shift : int
        m of the loss Q_m: how many letters a match may be off.
    reading : {"figure", "text"}
        For which letter "off" is measured, where Yu's thesis contradicts itself: a match (i, j) is good if (i, v) is
        true for a v within the shift of j, as the example in its figure 4.5 needs, or if (u, j) is true for a u within
        the shift of i, as its text says.

    Notes
    -----
    A sequence is a text, a list of symbols, or a dict with "residue" and any of "structure", "accessibility" (symbols,
    bins in increasing order) and "profile" (length, n_columns). Which of them there are is learnt in training, as far
    as features use them.

    "simple" has weights for all pairs of one annotation of s and one of t, "anova2" for all pairs of two annotations,
    "tensor" for all annotations of both; "sum" has all three, "window" also those of residues, structures and
    accessibilities in windows of 3, 5 and 7 letters, binned to 7, 3 and 2 kinds; "profile" is "window" with, in place
    of "simple", products of indicators and profiles. What is the same twice, because annotations are missing, is there
    once: of residues alone "simple", "tensor" and "sum" are "substitution".

    "products" is "simple" and aᵀWb of the profiles a and b of the two letters, which may be any numbers. Of profiles
    that `KernelMap` has mapped, aᵀWb is a function with the kernel k(a, a′) k(b, b′): of a Gaussian kernel the Gaussian
    one of a and b together.

    Examples
    --------
    >>> from structlearn import StructuralSVM
    >>> from structlearn.data import to_gapped
    >>> X = [("ACGT", "AGT"), ("GGAC", "GAC"), ("TTA", "TCTA")]
    >>> Y = [((0, 0), (2, 1), (3, 2)), ((0, 0), (2, 1), (3, 2)), ((0, 0), (1, 2), (2, 3))]
    >>> svm = StructuralSVM(Alignment(), C=100).fit(X, Y)
    >>> (found,) = svm.predict([("TACG", "TCG")])
    >>> found
    ((0, 0), (2, 1), (3, 2))
    >>> print(*to_gapped("TACG", "TCG", found), sep="\\n")
    TACG
    T-CG
    """

    takes_allowed = True

    @property
    def abilities(self) -> frozenset[Ability]:
        return frozenset({"k_best", "sums", "pair_marginals", "samples", "posterior", "explain", "partial"})

    @property
    def costs(self) -> ByDecoder:
        return {
            "best": "m n",
            "loss_augmented": "m n",
            "second_best": "m n",
            "k_best": "m n + k (m + n) log k",
            "loss_levels": "m n D",
            "sums": "m n",
            "pair_marginals": "m n",
            "samples": "m n + s (m + n)",
            "partial": "the same",
        }

    def loss_in_words(self) -> str:
        return "1 for a wrong alignment" if self.loss == "zero_one" else self.loss_object().in_words()

    def __init__(
        self,
        alphabet: Sequence[Any] | None = None,
        *,
        ends: Ends = "global",
        gaps: Gaps = "linear",
        features: Features = "substitution",
        gap_features: GapFeatures = "plain",
        normalise: bool = False,
        loss: AlignmentLoss | Loss = "q",
        shift: int = 4,
        reading: Literal["figure", "text"] = "figure",
    ):
        self.alphabet = alphabet
        self.ends = ends
        self.gaps = gaps
        self.features = features
        self.gap_features = gap_features
        self.normalise = normalise
        self.loss = loss
        self.shift = shift
        self.reading = reading

    def read(self, X: Any, Y: Any) -> tuple[AnnotatedPairs, Any]:
        return read_pairs(X), Y

    def specify(self, X: Any, Y: Any) -> AlignmentSpec:
        self.check_options()
        parts = read_pairs(X)
        if not parts.first:
            raise ValueError("X is empty; training needs at least one pair of sequences")
        # What no weight depends on need not be there in prediction.
        names = ("residue",) if self._has_plain_weights else (*ANNOTATIONS, "profile")
        given = [[name for name in names if all(name in p for p in side)] for side in parts]

        def observed(name: str, *which: int) -> tuple[Any, ...]:
            return observed_classes(symbol for side in which for p in parts[side] for symbol in _listed(p[name]))

        def of_both(name: str) -> tuple[tuple[Any, ...] | None, tuple[Any, ...] | None]:
            first, second = (observed(name, side) if name in given[side] else None for side in (0, 1))
            return first, second

        sizes = [
            np.shape(side[0]["profile"])[1] if "profile" in has else 0 for side, has in zip(parts, given, strict=True)
        ]
        if has_profiles(self.features) and 0 in sizes:
            raise ValueError(f"features={self.features!r} needs a 'profile' in every sequence")
        return AlignmentSpec(
            residues=observed("residue", 0, 1) if self.alphabet is None else tuple(self.alphabet),
            structures=of_both("structure"),
            accessibilities=of_both("accessibility"),
            profile_sizes=(sizes[0], sizes[1]),
        )

    def bind(
        self, spec: AlignmentSpec, X: Any, Y: Any = None, *, allow_unknown: bool = False, allowed: Any = None
    ) -> AlignmentProblem:
        """See `Model.bind`; `allowed` has for each pair None or the matches (i, j) that its alignment must have."""
        pairs = read_pairs(X)
        layout = self.layout(spec)
        s, t = coded(layout, 0, pairs.first), coded(layout, 1, pairs.second)
        codes = None if Y is None else partners_of(s.offsets, t.offsets, Y)
        known = None if allowed is None else known_partners(s.offsets, t.offsets, allowed)
        if codes is not None and known is not None and not allow_unknown:
            missed = (known >= 0) & (codes != known)
            if missed.any():
                i, k = locate(s.offsets, int(np.argmax(missed)))
                match = (k, int(known[s.offsets[i] + k]))
                raise ValueError(f"Y[{i}] lacks the match {match}, which allowed[{i}] has")
        return AlignmentProblem(
            layout=layout,
            s=s,
            t=t,
            codes=codes,
            ends=self.ends,
            normalise=self.normalise,
            loss=BoundLoss() if codes is None else self._bound_loss(codes, s.offsets, t.offsets, Y),
            known=known,
        )

    def read_partial(self, X: Any, Y: Any) -> tuple[AnnotatedPairs, Any]:
        return self.read(X, Y)

    def specify_partial(self, X: Any, Y: Any) -> AlignmentSpec:
        """`specify`, which learns from the sequences alone."""
        return self.specify(X, Y)

    def partial_loss(self, spec: AlignmentSpec, X: Any, Y: Any, *, allow_unknown: bool = False) -> BoundLoss:
        """Δ(Y_i, ŷ) of what is known of each alignment, in the form that `allowed` of `bind` takes.

        The share of the known matches that ŷ has not, within the shift if the loss has one; with ``loss="zero_one"``
        whether any is missed.
        """
        s, t = (offsets_of([len(p["residue"]) for p in side]) for side in read_pairs(X))
        known, loss = known_partners(s, t, Y, name="Y"), self.loss_object()
        # Matches that are made up cannot be told from those that are not known.
        if not isinstance(loss, (MissedMatches, ZeroOneLoss)) or getattr(loss, "beta", None) is not None:
            raise ValueError(f"loss={shown(loss)} is for whole alignments; those known in part have 'q' or 'q_shift'")
        if isinstance(loss, MissedMatches):
            bound = self._bound_loss(known, s, t, Y)
            return replace(bound, identity=(known, *bound.identity))
        count = np.asarray(summed((known >= 0).astype(np.int64), s), np.int64)
        if match_table(np.diff(s), np.diff(t), count).max(initial=0) > MAX_LEVEL_TABLE:
            raise ValueError("loss='zero_one' of alignments this long would take more than 4 GB; use loss='q'")
        found = _core.FoundMatches(known, s, t, 0, False)
        levels = Levels(found, count + 1, lambda examples: np.ceil(_missed_shares(count[examples])))
        return BoundLoss(levels=levels, max_losses=np.asarray(count > 0, np.float64), identity=(known,))

    def loss_object(self) -> Loss:
        """The loss that the option stands for."""
        if isinstance(self.loss, Loss):
            return self.loss
        if self.loss in ("zero_one", "f1"):
            return ZeroOneLoss() if self.loss == "zero_one" else MatchF1()
        return MissedMatches(int(self.shift) if self.loss == "q_shift" else 0, along_s=self.reading == "text")

    def _bound_loss(self, codes: LabelArray, s: IntArray, t: IntArray, Y: Any) -> BoundLoss:
        loss = self.loss_object()
        truths = Ragged(codes, s)
        if isinstance(loss, ZeroOneLoss):
            return BoundLoss(max_losses=np.ones(len(truths)))
        n = np.diff(t)
        if isinstance(loss, MissedMatches) and loss.beta is None:
            true = np.asarray(summed((codes >= 0).astype(np.int64), s), np.int64)
            found = _core.FoundMatches(codes, s, t, loss.shift, loss.along_s)
            few = match_table(np.diff(s), n, true).max(initial=0) <= MAX_LEVEL_TABLE
            return BoundLoss(
                _core.MissedMatches(found),
                levels=Levels(found, true + 1, lambda examples: _missed_shares(true[examples])) if few else None,
                # Where ends are free, letters without partner are no parts.
                local=(lambda i: _letter_losses(loss, truths[i], int(n[i]))) if self.ends == "global" else None,
                max_losses=np.asarray(true > 0, np.float64),
                identity=(np.array([loss.shift, loss.along_s]),),
            )
        sizes = zip(truths, n.tolist(), strict=True)
        return bound_own(loss, [match_truth(matches_of(y), len(y), k) for y, k in sizes])

    @property
    def _has_plain_weights(self) -> bool:
        return (self.features, self.gap_features) == ("substitution", "plain")

    def layout(self, spec: AlignmentSpec) -> Layout:
        """Which weights there are and where."""
        return Layout(spec, self.features, self.gaps, self.gap_features)

    def measures(self, X: Any, Y: Any, predicted: Any) -> Measures:
        """Q, without shifts and with some, by the model's reading, and how many of the predicted matches are true.

        The score that the model's loss is about comes first. See `structlearn.metrics.q_score`.
        """
        first = int(self.shift) if self.loss == "q_shift" else 0
        return alignment_measures(Y, predicted, [first, *sorted({0, 1, 2, int(self.shift)} - {first})], self.reading)

    def drawing(self, x: Any, y: Any, truth: Any = None, *, width: int = 100) -> Drawing | None:
        """See `structlearn.drawing.draw_alignment`; None where a symbol is not one letter wide."""
        s, t = (_listed(annotated(sequence, "x")["residue"]) for sequence in x)
        if any(cell_len(str(symbol)) != 1 for sequence in (s, t) for symbol in sequence):
            return None
        names = [(getattr(sequence, "header", "").split() or [""])[0] for sequence in x]
        return draw_alignment(s, t, y, truth, names=names, width=width)

    def named_weights(
        self, spec: AlignmentSpec, w: FloatArray, feature_names: Sequence[str] | None = None
    ) -> tuple[WeightBlock, ...]:
        refuse_names(feature_names, self.class_name)
        return alignment_blocks(self.layout(spec), w)

    def facts(self, spec: AlignmentSpec, w: FloatArray) -> dict[str, Any]:
        return {"alphabet": "".join(map(str, spec.residues))}

    def n_weights(self, spec: AlignmentSpec) -> int:
        return self.layout(spec).n_features

    def spec_from_dict(self, values: dict[str, Any]) -> AlignmentSpec:
        return AlignmentSpec.from_dict(values)

    def weights(
        self, spec: AlignmentSpec, matrix: Mapping[tuple[Any, Any], float], gap: float, first: float = 0.0
    ) -> FloatArray:
        """w of a given substitution matrix, for ``features="substitution"`` and plain gaps.

        Parameters
        ----------
        matrix : dict
            Scores of pairs of residues; pairs that are missing score 0.
        gap, first : float
            Scores of a letter without partner, and, where gaps are affine, of the first one of a gap on top.
        """
        if not self._has_plain_weights:
            raise ValueError(
                "a substitution matrix is all that Alignment has with features='substitution' and plain gaps only"
            )
        scores = [float(matrix.get((a, b), 0.0)) for a in spec.residues for b in spec.residues]
        return np.array([*scores, gap, *([first] if self.gaps == "affine" else [])])

    def check_options(self) -> None:
        for name, choices in _CHOICES.items():
            choice_option(name, getattr(self, name), choices)
        loss_option(self.loss, ("q", "q_shift", "f1", "zero_one"))
        whole_option("shift", self.shift, 0, LARGEST)
        flag_option("normalise", self.normalise)
        if self.alphabet is not None and not (isinstance(self.alphabet, str) or is_listed(self.alphabet)):
            raise ValueError(f"alphabet is {shown(self.alphabet)}; it must be a text or a list of symbols")
        for k, symbol in enumerate(() if self.alphabet is None else self.alphabet):
            check_label(symbol, f"alphabet[{k}]")
        if self.alphabet is not None and len(set(self.alphabet)) < max(len(self.alphabet), 1):
            raise ValueError(f"alphabet is {shown(self.alphabet)}; it must have at least one symbol, and none twice")


def _listed(values: Any) -> Sequence[Any]:
    return values.tolist() if isinstance(values, np.ndarray) else values  # type: ignore[no-any-return]


def _missed_shares(true: IntArray) -> FloatArray:
    """1 − Q of alignments that find 0, 1, …, all of the true matches, one alignment after another."""
    found = ranks_of(offsets_of(true + 1))
    return np.asarray(
        np.where(np.repeat(true, true + 1) > 0, 1.0 - found / np.repeat(np.maximum(true, 1), true + 1), 0.0)
    )


def _letter_losses(loss: MissedMatches, truth: LabelArray, n: int) -> FloatArray:
    """The loss as a sum over the parts of a global alignment, without a constant: letters that lack their match."""
    m = len(truth)
    rows = np.flatnonzero(truth >= 0)
    losses = np.zeros(m * n + 4 * (m + n + 1))
    match = losses[: m * n].reshape(m, n)
    if loss.along_s:
        columns = truth[rows]
        match[:, columns] = np.abs(np.arange(m)[:, None] - rows) > loss.shift
        losses[m * n + m + n + 1 + columns] = 1.0
    else:
        match[rows] = np.abs(np.arange(n) - truth[rows][:, None]) > loss.shift
        losses[m * n + rows] = 1.0
    return losses / max(len(rows), 1)
