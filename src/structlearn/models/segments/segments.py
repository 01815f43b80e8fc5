"""Segmentations: labels of stretches of tokens, with scores for whole stretches (a semi-Markov chain)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from structlearn import _core
from structlearn.data.arrays import FloatArray, IntArray, LabelArray
from structlearn.data.fields import LARGEST, check_whole
from structlearn.data.known.segments import KnownSegments, check_truth, checked_triples, rules_out
from structlearn.data.labels import LabelCodes, check_label, declared_classes, known_labels, observed_classes
from structlearn.data.options import flag_option, whole_option
from structlearn.data.ragged import reduced, summed
from structlearn.data.tokens.matrix import TokenMatrix
from structlearn.data.tokens.segments import Segmentations, read_segmentations
from structlearn.data.tokens.sequences import Sequences, read_sequences
from structlearn.losses import Hamming, LabelLoss, Loss, MissedSegments, SpanF1, ZeroOneLoss, loss_option
from structlearn.losses.bound import (
    MAX_LEVEL_TABLE,
    BoundLoss,
    Levels,
    bound_label_costs,
    bound_token_costs,
    level_table,
    no_levels,
)
from structlearn.losses.own import bound_own, segment_truth
from structlearn.models.base import Ability, ByDecoder, LinearSpec
from structlearn.models.description import (
    TransitionScores,
    WeightBlock,
    blocks_of,
    column_names,
    feature_text,
    stored_blocks,
)
from structlearn.models.pair_weights import compacted
from structlearn.models.partial import PartialModel
from structlearn.models.segments.problem import SegmentsProblem
from structlearn.models.segments.segment_losses import bound_segments
from structlearn.waist.problem import Problem
from structlearn.wording import count, shown


@dataclass(frozen=True)
class SegmentsSpec(LinearSpec):
    """A `LinearSpec` and the length of the longest segment."""

    max_length: int = 1

    def check(self) -> None:
        super().check()
        check_whole("max_length", self.max_length, 1)


_LOSSES: dict[str, type[Loss]] = {"segments": MissedSegments, "f1": SpanF1, "hamming": Hamming, "zero_one": ZeroOneLoss}


class Segments(PartialModel):
    """F(x, y) = Σ_(l, b, e)∈y [Σ_{b≤t<e} ⟨w_l, φ(x_t)⟩ + w^length_{l, e-b}] + Σ w_{l, l'} over neighbouring segments.

    An output is a list of segments (label, begin, end) that cover the sequence one after another. With `ends` a segment
    also has ⟨w^first_l, φ(x_b)⟩ + ⟨w^last_l, φ(x_{e-1})⟩. These are the semi-Markov models of Sarawagi and Cohen
    (2004); a pass takes O(T L (L + max_length)).

    Parameters
    ----------
    classes : sequence, optional
        The labels, of any hashable type. None takes those observed in training.
    max_length : int, optional
        The longest segment that there can be. None takes the longest observed in training.
    loss : {"segments", "f1", "hamming", "zero_one"} or Loss
        Δ(y, ŷ): the number of segments that are in only one of y and ŷ, so missed plus spurious ones, 1 − F1 of the
        segments with labels other than "O" (`SpanF1`), the number of tokens in a segment with the wrong label, or 1 for
        any other segmentation; or `LabelCosts` of the tokens, or a loss of one's own, additive or counted over
        segments, see `structlearn.losses`.
    lengths : bool
        Whether there are weights for the length of a segment, by its label.
    ends : bool
        Whether the first and the last token of a segment have weights of their own, by its label.

    Notes
    -----
    X is what `Chain` takes; Y is a list of lists of (label, begin, end). `from_bio` makes such lists of tags.

    The weights are, one after another, the emissions (n_features, n_labels), the transitions (n_labels, n_labels) from
    row to column, with lengths (max_length, n_labels), and with ends the emissions of the first and of the last token.
    After training with weights that came into being when they were needed, transitions and lengths come first, then
    those of the features that `spec_.pairs` lists.

    Examples
    --------
    >>> from structlearn import StructuralSVM
    >>> X = [[{"word": "Ann"}, {"word": "Lee"}, {"word": "sleeps"}], [{"word": "he"}, {"word": "sleeps"}]]
    >>> Y = [[("NAME", 0, 2), ("O", 2, 3)], [("O", 0, 1), ("O", 1, 2)]]
    >>> StructuralSVM(Segments(), C=10).fit(X, Y).predict([[{"word": "he"}, {"word": "Ann"}, {"word": "Lee"}]])
    [[('O', 0, 1), ('NAME', 1, 3)]]
    """

    kind = "segments"
    example = "sequence"
    takes_allowed = True

    @property
    def abilities(self) -> frozenset[Ability]:
        return frozenset({"k_best", "sums", "pair_marginals", "samples", "explain", "partial"})

    @property
    def costs(self) -> ByDecoder:
        once = "T L (L + M)"
        return {
            "best": once,
            "loss_augmented": once,
            "second_best": once,
            "k_best": f"{once} + k T log k",
            "loss_levels": f"{once} D",
            "sums": once,
            "pair_marginals": once,
            "samples": f"{once} + s T (L + M)",
            "partial": "the same",
        }

    def loss_in_words(self) -> str:
        return self.loss_object().in_words()

    def __init__(
        self,
        classes: Sequence[Any] | None = None,
        max_length: int | None = None,
        loss: Literal["segments", "f1", "hamming", "zero_one"] | Loss = "segments",
        lengths: bool = True,
        ends: bool = False,
    ):
        self.classes = classes
        self.max_length = max_length
        self.loss = loss
        self.lengths = lengths
        self.ends = ends

    def read(self, X: Any, Y: Any) -> tuple[Sequences, Segmentations]:
        return read_sequences(X), read_segmentations(Y)

    def specify(self, X: Any, Y: Any) -> SegmentsSpec:
        X, Y = self.read(X, Y)
        segments = [segment for y in Y for segment in y]
        return self._specified(X, [label for label, _, _ in segments], [end - begin for _, begin, end in segments])

    def read_partial(self, X: Any, Y: Any) -> tuple[Sequences, Any]:
        return read_sequences(X), Y

    def specify_partial(self, X: Any, Y: Any) -> SegmentsSpec:
        """See `PartialModel`; unless `max_length` is given, no segment is longer than those that are known."""
        labels: list[Any] = []
        sizes: list[int] = []
        for i, segments in enumerate(Y):
            for label, begin, end in checked_triples(segments, f"Y[{i}]"):
                for known in known_labels(label):
                    check_label(known, f"the label of Y[{i}]")
                    labels.append(known)
                sizes.append(end - begin)
        if self.classes is None and not labels:
            raise ValueError("Y says nothing about any label; training needs some segments with labels")
        return self._specified(read_sequences(X), labels, sizes)

    def _specified(self, X: Sequences, labels: list[Any], sizes: list[int]) -> SegmentsSpec:
        self.check_options()
        classes = observed_classes(labels) if self.classes is None else declared_classes(self.classes)
        longest = max(sizes, default=1)
        self.loss_object().check_labels(classes)
        return SegmentsSpec(
            classes=classes,
            n_inputs=X.tokens.shape[1],
            vocabulary=X.names,
            max_length=longest if self.max_length is None else int(self.max_length),
        )

    def bind(
        self, spec: SegmentsSpec, X: Any, Y: Any = None, *, allow_unknown: bool = False, allowed: Any = None
    ) -> SegmentsProblem:
        """See `Model.bind`; with `allow_unknown` segments may also be too long, and count as always wrong.

        `allowed` has for each sequence None or a list of segments (label, begin, end) that its segmentation must have,
        with gaps where nothing is known; a label may be None, for any, or a set of labels.
        """
        matrix, offsets = spec.stack(X)
        runs = None
        if allowed is not None:
            runs = KnownSegments.read(allowed, spec.classes, spec.max_length, offsets).runs()
        codes = judged = None
        if Y is not None:
            judged, possible = _encode(spec, offsets, Y, allow_unknown)
            if runs is not None:
                barred = rules_out(runs, judged, offsets)
                if not allow_unknown:
                    check_truth(barred, read_segmentations(Y), offsets)
                possible &= ~barred
            codes = np.where(possible, judged, np.int32(-1))
        return SegmentsProblem(
            tokens=TokenMatrix.from_matrix(matrix, intercept=spec.intercept),
            offsets=offsets,
            codes=codes,
            classes=spec.classes,
            max_length=spec.max_length,
            loss=self._bound_loss(spec, codes, offsets, Y),
            judged_loss=self._bound_loss(spec, judged, offsets, Y),
            lengths=bool(self.lengths),
            ends=bool(self.ends),
            runs=runs,
            pairs=spec.pairs,
        )

    def partial_loss(self, spec: SegmentsSpec, X: Any, Y: Any, *, allow_unknown: bool = False) -> BoundLoss:
        """Δ(Y_i, ŷ) of what is known of each segmentation, in the form that `allowed` of `bind` takes.

        With ``loss="segments"`` it is the number of known segments that ŷ has not, with "zero_one" whether there are
        any, and with "hamming" the number of tokens in them whose label is not possible.
        """
        offsets = spec.stack(X)[1]
        known = KnownSegments.read(Y, spec.classes, spec.max_length, offsets, name="Y", allow_unknown=allow_unknown)
        loss = self.loss_object()
        few = level_table(offsets, 4 * len(spec.classes)) <= MAX_LEVEL_TABLE
        if isinstance(loss, LabelLoss):
            return bound_token_costs(known.costs(loss.cost(spec.classes)), offsets, with_levels=few)
        plain = isinstance(loss, MissedSegments) and loss.get_params() == MissedSegments().get_params()
        if not (plain or isinstance(loss, ZeroOneLoss)):
            raise ValueError(
                f"loss={shown(loss)} is for whole segmentations; those known in part have one of "
                "['hamming', 'segments', 'zero_one']"
            )
        n_levels = np.asarray(summed((known.sizes > 0).astype(np.int64), offsets), np.int64) + 1
        missed = known.sizes, known.labels.astype(np.uint8), offsets, spec.max_length
        levels = Levels.of_units(_core.MissedKnownSegmentSteps(*missed), n_levels) if few else None
        identity = (known.sizes, known.labels)
        if plain:
            return BoundLoss(_core.MissedKnownSegments(*missed), levels, identity=identity)
        if levels is None:
            raise ValueError(f"loss='zero_one' is not possible{no_levels(offsets, 4 * len(spec.classes), BoundLoss())}")
        return BoundLoss(levels=levels.zero_one(), identity=identity)

    def loss_object(self) -> Loss:
        """The loss that the option stands for."""
        if isinstance(self.loss, Loss):
            return self.loss
        return _LOSSES[self.loss]()

    def _bound_loss(self, spec: SegmentsSpec, codes: LabelArray | None, offsets: IntArray, Y: Any) -> BoundLoss:
        if codes is None:
            return BoundLoss()
        loss, L = self.loss_object(), len(spec.classes)
        if isinstance(loss, ZeroOneLoss):
            return BoundLoss(max_losses=self._others(spec, codes, offsets))
        if isinstance(loss, LabelLoss):
            few = level_table(offsets, 4 * L) <= MAX_LEVEL_TABLE
            labels = np.where(codes < 0, -1, codes % L).astype(np.int32)
            return bound_label_costs(labels, offsets, loss.cost(spec.classes), with_levels=few)
        if isinstance(loss, (MissedSegments, SpanF1)):
            return bound_segments(loss, codes, offsets, spec.classes, spec.max_length, read_segmentations(Y))
        lengths = np.diff(offsets).tolist()
        truths = [
            segment_truth(y, length, spec.classes, spec.max_length)
            for y, length in zip(read_segmentations(Y), lengths, strict=True)
        ]
        return bound_own(loss, truths, of_spans=True)

    def _others(self, spec: SegmentsSpec, codes: LabelArray, offsets: IntArray) -> FloatArray:
        """Whether there are segmentations other than the true one."""
        known = reduced(np.logical_and, codes >= 0, offsets)
        several = (len(spec.classes) > 1) | ((np.diff(offsets) > 1) & (spec.max_length > 1))
        return np.asarray((np.diff(offsets) > 0) & (~known | several), np.float64)

    def named_weights(
        self, spec: SegmentsSpec, w: FloatArray, feature_names: Sequence[str] | None = None
    ) -> tuple[WeightBlock, ...]:
        names, labels = column_names(spec, feature_names), spec.classes
        tokens = [("features", (names, labels), "features")]
        shared: list[tuple[Any, ...]] = [("transitions", (labels, labels), "transitions")]
        if self.lengths:
            lengths = [count(n, "token") for n in range(1, spec.max_length + 1)]
            shared.append(("lengths", (lengths, labels), "others", "{1}, {0}"))
        ends: list[tuple[Any, ...]] = []
        if self.ends:
            axes = [feature_text(name) for name in names], labels
            ends += [(f"{which} tokens", axes, "others", "{1}: {0}") for which in ("first", "last")]
        if spec.pairs is None:
            return blocks_of(w, *tokens, *shared, *ends)
        n_shared = self._n_shared(spec)
        return (*blocks_of(w[:n_shared], *shared), *stored_blocks(w[n_shared:], spec.pairs, *tokens, *ends))

    def transition_scores(self, spec: SegmentsSpec, w: FloatArray) -> TransitionScores:
        steps = next(block for block in self.named_weights(spec, w) if block.kind == "transitions")
        return TransitionScores(spec.classes, steps.weights)

    def n_weights(self, spec: SegmentsSpec) -> int:
        blocks = [(spec.n_columns, len(spec.classes))] * (1 + 2 * self.ends)
        if spec.pairs is None:
            return self._n_shared(spec) + sum(rows * width for rows, width in blocks)
        spec.pairs.check(*blocks)
        return self._n_shared(spec) + len(spec.pairs)

    def _n_shared(self, spec: SegmentsSpec) -> int:
        return (len(spec.classes) + self.lengths * spec.max_length) * len(spec.classes)

    def compact(self, spec: SegmentsSpec, problem: Problem, w: FloatArray) -> tuple[SegmentsSpec, FloatArray]:
        return compacted(spec, problem, w)

    def spec_from_dict(self, values: dict[str, Any]) -> SegmentsSpec:
        return SegmentsSpec.from_dict(values)

    def check_options(self) -> None:
        loss_option(self.loss, tuple(_LOSSES))
        flag_option("lengths", self.lengths)
        flag_option("ends", self.ends)
        if self.max_length is not None:
            whole_option("max_length", self.max_length, 1, LARGEST)


def _encode(
    spec: SegmentsSpec, offsets: IntArray, Y: Any, allow_unknown: bool
) -> tuple[LabelArray, np.ndarray[Any, np.dtype[np.bool_]]]:
    """The codes of all tokens, see ``core/segments/data.hpp``, and whether the model can have the token's segment."""
    Y = read_segmentations(Y)
    if len(Y) != len(offsets) - 1:
        raise ValueError(f"X has {len(offsets) - 1} sequences but Y has {len(Y)}")
    codes = LabelCodes(spec.classes, allow_unknown=allow_unknown)
    L = len(spec.classes)
    encoded = np.empty(int(offsets[-1]), np.int32)
    possible = np.empty(len(encoded), np.bool_)
    for i, segments in enumerate(Y):
        length = int(offsets[i + 1] - offsets[i])
        reached = segments[-1][2] if segments else 0
        if reached != length:
            raise ValueError(f"Y[{i}] ends at {reached} but X[{i}] has {length} rows")
        labels = codes.encode([label for label, _, _ in segments], f"Y[{i}]")
        for k, (code, (_, begin, end)) in enumerate(zip(labels.tolist(), segments, strict=True)):
            fits = end - begin <= spec.max_length
            if not (fits or allow_unknown):
                raise ValueError(
                    f"Y[{i}][{k}] is {segments[k]!r}, {end - begin} tokens long, but max_length is {spec.max_length}"
                )
            here = slice(offsets[i] + begin, offsets[i] + end)
            encoded[here] = L + code if code >= 0 else -2
            encoded[here.start] = code
            possible[here] = fits and code >= 0
    return encoded, possible
