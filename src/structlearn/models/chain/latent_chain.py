"""Label sequences with latent states behind the labels, and sequences that are labelled in part."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import pairwise
from typing import Any, ClassVar

import numpy as np

from structlearn.data.arrays import Flags, FloatArray, IntArray, LabelArray
from structlearn.data.known.labels import label_mask, labels_in
from structlearn.data.labels import declared_classes
from structlearn.data.options import flag_option, real_option, whole_option
from structlearn.data.ragged import Ragged, reduced
from structlearn.data.tokens.matrix import TokenMatrix
from structlearn.data.tokens.sequences import Sequences, read_sequences
from structlearn.losses.bound import MAX_LEVEL_TABLE, BoundLoss, bound_possible_costs, level_table
from structlearn.models.base import Ability, ByDecoder, LinearSpec, Model
from structlearn.models.chain.allowed_labels import first_impossible
from structlearn.models.chain.k_means import k_means
from structlearn.models.chain.layout import ChainLayout
from structlearn.models.chain.problem import ChainProblem
from structlearn.models.chain.transitions import AllowedTransitions, TransitionMask, transition_mask
from structlearn.models.description import WeightBlock, column_names
from structlearn.models.explanation import PartFeatures
from structlearn.models.partial import PartialProblem
from structlearn.waist.latent import Start
from structlearn.waist.planes import Outputs
from structlearn.wording import shown

#: How many states a label may have.
MOST_STATES = 1000

#: With larger transition features no solver would come to an end.
LARGEST_BALANCE = 1e9


class LatentChain(Model):
    """F(x, y, h) = Σ_t ⟨w_{h_t}, φ(x_t)⟩ + η Σ_t w_{h_t, h_{t+1}} with a latent state h_t of each label y_t.

    A label with several states can look and follow differently in different places, which is more than a `Chain` can
    express. Labels may be missing or uncertain: a latent state is then one of any label that is possible.

    Parameters
    ----------
    states : int or mapping
        How many latent states a label has: each of them, or by label (1 for labels not named). 1 is a plain chain, for
        sequences that are labelled in part.
    classes : sequence, optional
        The labels. None takes those observed in training.
    boundaries : bool
        Whether there are scores for the first and the last label.
    balance : float
        η, the size of the transition features beside the emission features.
    allowed_transitions : {"BIO", "IOB1", "BIOES"} or pairs of labels, optional
        Which label may follow which, whatever their states, as for `Chain`.

    Notes
    -----
    X is as for `Chain`. Y is a list of sequences with, for every token, its label, a set of labels one of which is
    right, or None where nothing is known. Δ is the number of tokens whose label is wrong; where nothing is known,
    nothing is.

    Learning begins from states that k-means finds in the features of the tokens of each label. `predict` gives labels;
    `predict_latent` pairs (label, state) with states counted from 0.

    Examples
    --------
    >>> from structlearn import LatentStructuralSVM
    >>> X = [[{"word": "the"}, {"word": "dog"}], [{"word": "the"}, {"word": "cat"}, {"word": "sleeps"}]]
    >>> Y = [["DET", {"NOUN", "VERB"}], [None, "NOUN", "VERB"]]
    >>> svm = LatentStructuralSVM(LatentChain(states=1), C=10, random_state=0).fit(X, Y)
    >>> svm.predict([[{"word": "the"}, {"word": "cat"}]])
    [['DET', 'NOUN']]
    """

    kind = "sequences"

    refusals: ClassVar[ByDecoder] = {
        "k_best": "the best sequences of states are often one sequence of labels many times",
        "pair_marginals": "those of states are not those of labels, whose pairs nobody has asked for",
    }

    @property
    def costs(self) -> ByDecoder:
        return {
            "best": "T S²",
            "loss_augmented": "T S²",
            "second_best": "T S² D",
            "loss_levels": "T S² D",
            "sums": "T S²",
            "samples": "T S² + s T S",
            "partial": "the same",
        }

    @property
    def abilities(self) -> frozenset[Ability]:
        return frozenset({"sums", "samples", "posterior", "explain", "partial"})

    def __init__(
        self,
        states: int | Mapping[Any, int] = 2,
        classes: Sequence[Any] | None = None,
        boundaries: bool = True,
        balance: float = 1.0,
        allowed_transitions: AllowedTransitions | None = None,
    ):
        self.states = states
        self.classes = classes
        self.boundaries = boundaries
        self.balance = balance
        self.allowed_transitions = allowed_transitions

    def read(self, X: Any, Y: Any) -> tuple[Sequences, Any]:
        return read_sequences(X), Y

    def check_options(self) -> None:
        if abs(real_option("balance", self.balance)) > LARGEST_BALANCE:
            raise ValueError(f"balance is {self.balance:g}; beyond {LARGEST_BALANCE:g} emissions would no longer count")
        flag_option("boundaries", self.boundaries)
        if not isinstance(self.states, Mapping):
            whole_option("states", self.states, 1, MOST_STATES)

    def specify(self, X: Any, Y: Any) -> LinearSpec:
        self.check_options()
        observed = labels_in(Y)
        if self.classes is None and not observed:
            raise ValueError("Y says nothing about any token; training needs some labels")
        classes = observed if self.classes is None else declared_classes(self.classes)
        X = read_sequences(X)
        spec = LinearSpec(classes=classes, n_inputs=X.tokens.shape[1], vocabulary=X.names)
        self.label_of_state(spec)
        return spec

    def bind(self, spec: LinearSpec, X: Any, Y: Any = None, *, allow_unknown: bool = False) -> LatentChainProblem:
        matrix, offsets = spec.stack(X)
        possible = moves = None
        if Y is not None:
            if len(Y) != len(offsets) - 1:
                raise ValueError(f"X has {len(offsets) - 1} sequences but Y has {len(Y)}")
            possible = label_mask(Y, spec.classes, offsets, name="Y", allow_unknown=allow_unknown)
        if self.allowed_transitions is not None:
            moves = transition_mask(self.allowed_transitions, spec.classes)
        if not allow_unknown and (impossible := first_impossible(offsets, possible, moves)) is not None:
            raise ValueError(f"Y[{impossible}] admits no labelling that satisfies allowed_transitions")
        groups = self.label_of_state(spec)
        if moves is not None:
            moves = TransitionMask(moves.moves[np.ix_(groups, groups)], moves.start[groups], moves.stop[groups])
        tokens = TokenMatrix.from_matrix(matrix, intercept=False)

        def chain(allowed: Flags | None) -> ChainProblem:
            return ChainProblem(
                tokens=tokens,
                offsets=offsets,
                codes=None,
                classes=_state_names(_states(spec.classes, groups)),
                loss=BoundLoss(),
                judged_loss=BoundLoss(),
                balance=float(self.balance),
                boundaries=bool(self.boundaries),
                order=1,
                pair_tokens=None,
                allowed_labels=allowed,
                allowed_transitions=moves,
                observed_only=False,
            )

        return LatentChainProblem(chain, matrix, offsets, possible, spec.classes, groups)

    def loss_in_words(self) -> str:
        return "wrong labels"

    def named_weights(
        self, spec: LinearSpec, w: FloatArray, feature_names: Sequence[str] | None = None
    ) -> tuple[WeightBlock, ...]:
        """As those of a `Chain`, with states in the place of labels, such as NOUN/0."""
        states = _state_names(_states(spec.classes, self.label_of_state(spec)))
        names = column_names(spec, feature_names)
        return self._layout(spec).blocks(w, states, names, ())

    def n_weights(self, spec: LinearSpec) -> int:
        return self._layout(spec).n_weights

    def _layout(self, spec: LinearSpec) -> ChainLayout:
        return ChainLayout(sum(self._state_counts(spec)), spec.n_inputs, 0, bool(self.boundaries), triplets=False)

    def label_of_state(self, spec: LinearSpec) -> IntArray:
        """The code of the label that each state belongs to: states of one label are neighbours."""
        counts = self._state_counts(spec)
        return np.repeat(np.arange(len(counts)), counts)

    def _state_counts(self, spec: LinearSpec) -> list[int]:
        """How many states each label has."""
        if isinstance(self.states, Mapping):
            unknown = [label for label in self.states if label not in spec.classes]
            if unknown:
                raise ValueError(f"states names {unknown[0]!r}, which is not one of the labels")
        counts = [self.states.get(c, 1) if isinstance(self.states, Mapping) else self.states for c in spec.classes]
        for label, count in zip(spec.classes, counts, strict=True):
            whole = isinstance(count, (int, np.integer)) and not isinstance(count, bool)
            if not (whole and 1 <= count <= MOST_STATES):
                raise ValueError(
                    f"label {label!r} has states={count!r}; it must be a whole number ≥ 1, at most {MOST_STATES}"
                )
        return counts


class LatentChainProblem(PartialProblem):
    """A `LatentChain` bound to data: a chain of states, known in part by their labels. Outputs are codes of states.

    Parameters
    ----------
    chain : callable
        The chain over the states, with those only that are allowed, (n_tokens, n_states), or with all of them.
    matrix : (n_tokens, n_inputs)
    offsets : (n_examples + 1,)
    possible : (n_tokens, n_labels) or None
        Which labels may be true.
    classes : sequence
    groups : (n_states,)
        The label of each state.
    """

    def __init__(
        self,
        chain: Callable[[Flags | None], ChainProblem],
        matrix: Any,
        offsets: IntArray,
        possible: Flags | None,
        classes: Sequence[Any],
        groups: IntArray,
    ):
        self._offsets = offsets
        self._possible_labels = possible
        self._classes = classes
        self._groups = groups
        self._states = _states(classes, groups)
        self._matrix = matrix
        self._chain: ChainProblem = chain(None)
        loss = BoundLoss()
        if possible is not None:
            few = level_table(offsets, len(groups)) <= MAX_LEVEL_TABLE
            wrong = 1.0 - np.eye(len(groups))
            loss = bound_possible_costs(possible[:, groups], offsets, wrong, with_levels=few)
        super().__init__(self._chain, lambda: chain(self._completing()), loss, self._coded)

    def _completing(self) -> Flags:
        """Which states may be true. Tokens whose labels training never saw are judged, but nothing completes them."""
        assert self._possible_labels is not None
        known = self._possible_labels | ~self._possible_labels.any(axis=1, keepdims=True)
        return np.asarray(known[:, self._groups])

    def differing_parts(self, w: FloatArray) -> list[PartFeatures]:
        """See `ComposedProblem.differing_parts`; both labellings have their best states."""
        left, right = self.complete(w, np.arange(2))
        return self._chain.listed_parts(0, self._chain.part_counts(0, left) - self._chain.part_counts(0, right))

    def start(self, random: np.random.Generator) -> Start:
        """Each token in the state it resembles most: that of the nearest of the means of its possible labels' tokens.

        The means are found by k-means over the tokens whose label is certain.
        """
        assert self._possible_labels is not None
        certain = np.flatnonzero(self._possible_labels.sum(axis=1) == 1)
        labels = self._possible_labels[certain].argmax(axis=1)
        means = random.normal(scale=1e-3, size=(self._matrix.shape[1], len(self._groups)))
        for label in range(len(self._classes)):
            states = np.flatnonzero(self._groups == label)
            tokens = certain[labels == label]
            if len(tokens):
                centres = k_means(self._matrix[tokens], min(len(states), len(tokens)), random)
                means[:, states[: len(centres)]] += (
                    centres / np.maximum(np.linalg.norm(centres, axis=1, keepdims=True), 1e-12)
                ).T
        w = np.zeros(self.n_features)
        w[: means.size] = means.ravel()
        return Start(completions=self.complete(w, np.arange(self.n_examples)))

    def _coded(self, latent: Sequence[Any]) -> Ragged:
        assert self._possible_labels is not None
        code = {state: s for s, state in enumerate(self._states)}
        completions = []
        for i, (h, (begin, end)) in enumerate(zip(latent, pairwise(self._offsets.tolist()), strict=True)):
            if len(h) != end - begin:
                raise ValueError(
                    f"the latent part of example {i} has {len(h)} states but X[{i}] has {end - begin} rows"
                )
            for t, state in enumerate(h):
                if state not in code or not self._possible_labels[begin + t, self._groups[code[state]]]:
                    raise ValueError(
                        f"token {t} of example {i} cannot have the state {state!r}; expected (label, number)"
                    )
            completions.append([code[state] for state in h])
        return Ragged.of(completions)

    def label_probabilities(self, w: FloatArray) -> list[FloatArray]:
        """P(y_t = l | x), the sum over the states of l, (length, n_labels) of every sequence."""
        of_states = self._chain.label_probabilities(w)
        first = np.flatnonzero(np.diff(self._groups, prepend=-1))
        return [np.add.reduceat(marginals, first, axis=1) for marginals in of_states]

    def most_probable_labels(self, w: FloatArray) -> list[LabelArray]:
        """The first state of each token's most probable label."""
        first = np.flatnonzero(np.diff(self._groups, prepend=-1)).astype(np.int32)
        return [first[marginals.argmax(axis=1)] for marginals in self.label_probabilities(w)]

    def log_probabilities(self, w: FloatArray) -> FloatArray:
        assert self._possible_labels is not None
        found = super().log_probabilities(w)
        known = np.asarray(self._possible_labels.any(axis=1))
        found[~reduced(np.logical_and, known, self._offsets)] = -np.inf
        return found

    def samples(self, w: FloatArray, n_samples: int, random: np.random.Generator) -> list[list[Any]]:
        """Labels drawn from P(y | x): states are drawn, and their labels kept."""
        drawn = self.present(self._chain.sampled(w, n_samples, random))
        return [drawn[begin : begin + n_samples] for begin in range(0, len(drawn), n_samples)]

    def present(self, outputs: Outputs) -> list[list[Any]]:
        return [[self._states[s][0] for s in y] for y in outputs]

    def present_latent(self, outputs: Outputs) -> list[Any]:
        return [[self._states[s] for s in y] for y in outputs]


def _states(classes: Sequence[Any], groups: IntArray) -> list[tuple[Any, int]]:
    """The label of each state, and which of its states it is."""
    return [(classes[g], int(np.sum(groups[:s] == g))) for s, g in enumerate(groups)]


def _state_names(states: Sequence[tuple[Any, int]]) -> list[str]:
    return [f"{label if isinstance(label, str) else shown(label)}/{k}" for label, k in states]
