"""Label sequences: emissions, transitions between neighbours, and scores for the two ends."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Literal

import numpy as np

from structlearn.data.arrays import FloatArray, IntArray, LabelArray
from structlearn.data.examples import SEQUENCES
from structlearn.data.known.labels import label_mask
from structlearn.data.labels import (
    check_label,
    declared_classes,
    read_label_sequences,
)
from structlearn.data.options import flag_option, real_option, whole_option
from structlearn.data.tokens.matrix import TokenMatrix
from structlearn.data.tokens.sequences import Sequences, check_tokens, read_sequences
from structlearn.losses import Loss, MissedSegments, SpanF1, loss_option
from structlearn.losses.bound import (
    MAX_LEVEL_TABLE,
    BoundLoss,
    level_table,
    no_levels,
)
from structlearn.models.base import Ability, ByDecoder, LinearSpec, Weights
from structlearn.models.chain.allowed_labels import check_truth, first_impossible
from structlearn.models.chain.description import chain_scores
from structlearn.models.chain.layout import ChainLayout
from structlearn.models.chain.problem import ChainProblem
from structlearn.models.chain.token_explanation import explain_token
from structlearn.models.chain.transitions import AllowedTransitions, TransitionMask, transition_mask
from structlearn.models.description import TransitionScores, WeightBlock, column_names
from structlearn.models.explanation import Comparison, Explanation
from structlearn.models.label_losses import (
    bound_labels,
    bound_possible,
    check_label_weight,
    check_loss_labels,
    possible_labels,
)
from structlearn.models.labelling import LabellingModel
from structlearn.models.pair_weights import compacted
from structlearn.waist.problem import Problem
from structlearn.wording import shown


class Chain(LabellingModel):
    """F(x, y) = Σ_t ⟨w_{y_t}, φ(x_t)⟩ + η Σ_t w_{y_t, y_{t+1}} (+ η w^start_{y_1} + η w^stop_{y_T}).

    With features of label pairs, Σ_t ⟨w_{y_t, y_{t+1}}, φ'(x_t)⟩ comes to it; with ``order=2``, the scores of label
    triplets, η Σ_t w_{y_{t-1}, y_t, y_{t+1}}.

    Parameters
    ----------
    classes : sequence, optional
        The labels, of any hashable type. None takes those observed in training.
    loss : {"hamming", "f1", "zero_one"} or Loss
        Δ(y, ŷ): the number of wrong labels, 1 − F1 of the labels other than "O" (`LabelF1`), or whether any label is
        wrong; or `LabelCosts`, or a loss of one's own, additive or counted over the labels of tokens, see
        `structlearn.losses`.
    boundaries : bool
        Whether there are scores for the first and the last label.
    balance : float
        η, the size of the transition features beside the emission features.
    label_weight : mapping, optional
        What a wrong label costs in the Hamming loss, by the true label; 1 for labels not named.
    pair_features : bool or sequence
        Which features of token t also score the pair of labels at t and t + 1: all, none, or those named, by column
        or, for features that came as dicts, by name.
    allowed_transitions : {"BIO", "IOB1", "BIOES"} or pairs of labels, optional
        Which label may follow which, in training as in prediction; None in a pair stands for what is beyond the ends.
    observed_only : bool
        Whether only features that occur together with their label in the training data have a weight.
    ends : label, optional
        The label that the first and the last token of every sequence have, whatever their features.
    order : {1, 2}
        Over how many labels back scores reach: 2 adds the triplets. A pass then takes O(T L³) instead of O(T L²).

    Notes
    -----
    X is a list of (length, n_features) arrays or sparse matrices, a list of lists of feature dicts, or a
    `Sequences` object; Y is a list of label sequences.

    The weights are, one after another, the emissions (n_features, n_labels), the transitions (n_labels, n_labels) from
    row to column, with boundaries the start (n_labels) and the stop scores (n_labels), the weights of label pairs,
    (n_pair_features, n_labels, n_labels), and with ``order=2`` those of triplets, (n_labels, n_labels, n_labels): by
    the label in the middle, then the one before, then the one after; `unpack` cuts them up. Where a fit kept only the
    weights of features that are not 0, as it does with many features and labels, those of transitions, ends and
    triplets come first, then those of emissions and label pairs that `spec_.pairs` lists.

    Examples
    --------
    >>> from structlearn import StructuralSVM
    >>> X = [[{"word": "the"}, {"word": "dog"}], [{"word": "a"}, {"word": "cat"}, {"word": "sleeps"}]]
    >>> Y = [["DET", "NOUN"], ["DET", "NOUN", "VERB"]]
    >>> StructuralSVM(Chain(), C=10).fit(X, Y).predict([[{"word": "the"}, {"word": "cat"}]])
    [['DET', 'NOUN']]
    """

    words, example, place = SEQUENCES, SEQUENCES.example, SEQUENCES.place

    @property
    def abilities(self) -> frozenset[Ability]:
        return frozenset({"k_best", "sums", "pair_marginals", "samples", "posterior", "explain", "partial"})

    @property
    def costs(self) -> ByDecoder:
        once = "T L²" if self.order == 1 else "T L³"
        return {
            "best": once,
            "loss_augmented": once,
            "second_best": once,
            "k_best": f"{once} + k T log k",
            "loss_levels": f"{once} D",
            "sums": once,
            "pair_marginals": once,
            "samples": f"{once} + s T L",
            "partial": "the same",
        }

    def __init__(
        self,
        classes: Sequence[Any] | None = None,
        loss: Literal["hamming", "f1", "zero_one"] | Loss = "hamming",
        boundaries: bool = True,
        balance: float = 1.0,
        label_weight: Mapping[Any, float] | None = None,
        pair_features: bool | Sequence[Any] = False,
        allowed_transitions: AllowedTransitions | None = None,
        observed_only: bool = False,
        ends: Any = None,
        order: Literal[1, 2] = 1,
    ):
        self.classes = classes
        self.loss = loss
        self.boundaries = boundaries
        self.balance = balance
        self.label_weight = label_weight
        self.pair_features = pair_features
        self.allowed_transitions = allowed_transitions
        self.observed_only = observed_only
        self.ends = ends
        self.order = order

    def read_inputs(self, X: Any) -> Sequences:
        return read_sequences(X)

    def specify_partial(self, X: Any, Y: Any) -> LinearSpec:
        if self.observed_only:
            raise ValueError("observed_only=True needs to know every label; with labels known in part leave it out")
        spec: LinearSpec = super().specify_partial(X, Y)
        return spec

    def specified(self, X: Sequences, observed: tuple[Any, ...]) -> LinearSpec:
        self.check_options()
        classes = observed if self.classes is None else declared_classes(self.classes)
        check_loss_labels(self.loss, self.loss_object(), classes)
        return LinearSpec(classes=classes, n_inputs=X.tokens.shape[1], vocabulary=X.names)

    def partial_loss(self, spec: LinearSpec, X: Any, Y: Any, *, allow_unknown: bool = False) -> BoundLoss:
        """A label that cannot be true costs what it costs beside the cheapest of those that can."""
        offsets = spec.stack(X)[1]
        possible = possible_labels(Y, spec.classes, offsets, self.words, allow_unknown=allow_unknown)
        if self.ends is not None:
            possible[_end_tokens(offsets)] = True
        width = len(spec.classes) ** self.order
        few = level_table(offsets, width) <= MAX_LEVEL_TABLE
        why_not = "" if few else no_levels(offsets, width, BoundLoss())
        return bound_possible(self.loss_object(), spec.classes, possible, offsets, few=few, why_not=why_not)

    def bind(
        self, spec: LinearSpec, X: Any, Y: Any = None, *, allow_unknown: bool = False, allowed: Any = None
    ) -> ChainProblem:
        """See `Model.bind`; `allowed` says which labels each token may have, see `label_mask`."""
        matrix, offsets = spec.stack(X)
        codes = None
        if Y is not None:
            codes = read_label_sequences(Y).coded(spec.classes, offsets, allow_unknown=allow_unknown)
        tokens = TokenMatrix.from_matrix(matrix, intercept=spec.intercept)
        labels = None if allowed is None else label_mask(allowed, spec.classes, offsets)
        moves = self._moves(spec)
        judged = codes
        judged_loss = self._bound_loss(spec, judged, offsets, Y)
        if self.ends is not None:
            tokens, codes, labels = self._with_ends(spec, tokens, codes, labels, offsets)
        if codes is not None and not allow_unknown:
            check_tokens(offsets)
            check_truth(codes, spec.classes, offsets, labels, moves)
        impossible = first_impossible(offsets, labels, moves)
        if impossible is not None:
            raise ValueError(f"X[{impossible}] has no labelling that satisfies all constraints")
        return ChainProblem(
            tokens=tokens,
            offsets=offsets,
            codes=codes,
            classes=spec.classes,
            loss=judged_loss if codes is judged else self._bound_loss(spec, codes, offsets, Y),
            judged_loss=judged_loss,
            order=self.order,
            balance=float(self.balance),
            boundaries=bool(self.boundaries),
            pair_tokens=self._pair_tokens(spec, matrix),
            allowed_labels=labels,
            allowed_transitions=moves,
            observed_only=self.observed_only and codes is not None and not allow_unknown,
            pairs=spec.pairs,
        )

    def _bound_loss(self, spec: LinearSpec, codes: LabelArray | None, offsets: IntArray, Y: Any) -> BoundLoss:
        few = level_table(offsets, len(spec.classes) ** self.order) <= MAX_LEVEL_TABLE
        return bound_labels(self.loss_object(), spec.classes, codes, offsets, Y, few=few)

    def unpack(self, spec: LinearSpec, w: FloatArray) -> Weights:
        """The parts of w, as views.

        >>> model, spec = Chain(), LinearSpec(classes=("a", "b"), n_inputs=3)
        >>> model.unpack(spec, np.arange(14.0)).transitions
        array([[6., 7.],
               [8., 9.]])
        """
        return self.layout(spec).unpack(w)

    def named_weights(
        self, spec: LinearSpec, w: FloatArray, feature_names: Sequence[str] | None = None
    ) -> tuple[WeightBlock, ...]:
        names = column_names(spec, feature_names)
        pairs = [names[column] for column in self.pair_columns(spec)]
        return self.layout(spec).blocks(w, spec.classes, names, pairs)

    def transition_scores(self, spec: LinearSpec, w: FloatArray) -> TransitionScores:
        return chain_scores(self.named_weights(spec, w), float(self.balance), self._moves(spec))

    def explain(
        self,
        spec: LinearSpec,
        w: FloatArray,
        x: Any,
        t: int | None = None,
        label: Any = None,
        against: Any = None,
        feature_names: Sequence[str] | None = None,
    ) -> Explanation | Comparison:
        """Why a label is chosen at token t, or, without t, why the whole labelling is."""
        if t is None:
            return super().explain(spec, w, x, None, label, against, feature_names)
        return explain_token(self, spec, w, x, t, label, against, column_names(spec, feature_names))

    def n_weights(self, spec: LinearSpec) -> int:
        return self.layout(spec).n_weights

    def layout(self, spec: LinearSpec) -> ChainLayout:
        """Where the weights stand in w."""
        L, n_pairs = len(spec.classes), len(self.pair_columns(spec))
        return ChainLayout(L, spec.n_columns, n_pairs, bool(self.boundaries), self.order == 2, spec.pairs)

    def compact(self, spec: LinearSpec, problem: Problem, w: FloatArray) -> tuple[LinearSpec, FloatArray]:
        return compacted(spec, problem, w)

    def _moves(self, spec: LinearSpec) -> TransitionMask | None:
        """Which label may follow which; None if any may."""
        if self.allowed_transitions is None:
            return None
        return transition_mask(self.allowed_transitions, spec.classes)

    def pair_columns(self, spec: LinearSpec) -> list[int]:
        """The columns of the features that score pairs of labels, in the order of their weights."""
        chosen = self.pair_features
        if isinstance(chosen, (bool, np.bool_)):
            return list(range(spec.n_inputs)) if chosen else []
        columns = []
        if isinstance(chosen, str) or not isinstance(chosen, Iterable):
            raise ValueError(f"pair_features is {shown(chosen)}; it must be True, False or a list of features")
        for name in chosen:
            column = spec.vocabulary.index(name) if spec.vocabulary and name in spec.vocabulary else name
            whole = isinstance(column, (int, np.integer)) and not isinstance(column, bool)
            if not (whole and 0 <= column < spec.n_inputs):
                raise ValueError(f"pair_features holds {name!r}, which is no feature of a token")
            columns.append(int(column))
        return columns

    def _pair_tokens(self, spec: LinearSpec, matrix: Any) -> TokenMatrix | None:
        columns = self.pair_columns(spec)
        if not columns:
            return None
        chosen = matrix if self.pair_features is True else matrix[:, columns]
        return TokenMatrix.from_matrix(chosen, intercept=False)

    def _with_ends(
        self,
        spec: LinearSpec,
        tokens: TokenMatrix,
        codes: LabelArray | None,
        labels: Any,
        offsets: IntArray,
    ) -> tuple[TokenMatrix, LabelArray | None, Any]:
        """The first and the last token without features and with one allowed label, which is also their truth."""
        check_label(self.ends, "ends")
        if self.ends not in spec.classes:
            raise ValueError(f"ends is {shown(self.ends)}, which is not one of the labels")
        code = spec.classes.index(self.ends)
        ends = _end_tokens(offsets)
        labels = np.ones((tokens.n_tokens, len(spec.classes)), bool) if labels is None else labels
        labels[ends] = np.arange(len(spec.classes)) == code
        if codes is not None:
            codes = codes.copy()
            codes[ends] = code
        return tokens.without_rows(ends), codes, labels

    def check_options(self) -> None:
        if isinstance(self.loss, (SpanF1, MissedSegments)) or str(self.loss) == "span_f1":
            raise ValueError(
                f"loss is {shown(self.loss)}, which is about whole spans, and labels of tokens such as B-PER and I-PER "
                "do not say alone where a span ends; use Segments, with `from_bio` for its outputs, or LabelF1 here"
            )
        loss_option(self.loss, ("hamming", "f1", "zero_one"))
        real_option("balance", self.balance)
        flag_option("boundaries", self.boundaries)
        flag_option("observed_only", self.observed_only)
        check_label_weight(self.loss, self.label_weight)
        whole_option("order", self.order, 1, 2)


def _end_tokens(offsets: IntArray) -> IntArray:
    """The first and the last token of every sequence."""
    filled = np.diff(offsets) > 0
    return np.unique(np.concatenate([offsets[:-1][filled], offsets[1:][filled] - 1]))
