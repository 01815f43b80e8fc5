"""Label sequences with latent states behind the labels, and sequences that are labelled in part."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any

import numpy as np
import scipy.sparse as sp

from structlearn import _core
from structlearn.data.arrays import Flags, FloatArray, IntArray, LabelArray, digest
from structlearn.data.examples import is_listed
from structlearn.data.labels import check_label, declared_classes, observed_classes
from structlearn.data.options import flag_option, real_option
from structlearn.data.ragged import Ragged, places_of, summed
from structlearn.data.sequences import Sequences, read_sequences
from structlearn.data.tokens import TokenMatrix
from structlearn.losses.bound import BoundLoss
from structlearn.models.base import Ability, LinearSpec, Model
from structlearn.models.chain.allowed_labels import first_impossible, label_mask
from structlearn.models.chain.description import chain_blocks
from structlearn.models.chain.k_means import k_means
from structlearn.models.chain.problem import ChainProblem
from structlearn.models.chain.transitions import AllowedTransitions, TransitionMask, transition_mask
from structlearn.models.description import WeightBlock, column_names
from structlearn.models.explanation import PartFeatures
from structlearn.waist.latent import LatentProblem, Start
from structlearn.waist.objective import Oracle
from structlearn.waist.planes import Outputs
from structlearn.waist.rows import SparseRows
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

    @property
    def abilities(self) -> frozenset[Ability]:
        return frozenset({"explain"})

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

    def specify(self, X: Any, Y: Any) -> LinearSpec:
        self.check_options()
        if not is_listed(Y) or len(Y) == 0:
            raise ValueError("Y is empty; training needs at least one sequence")
        for i, y in enumerate(Y):
            if not is_listed(y):
                raise ValueError(f"Y[{i}] is {shown(y)}; expected a sequence of labels")
        classes = declared_classes(self.classes) if self.classes is not None else observed_classes(_said(Y))
        if not classes:
            raise ValueError("Y says nothing about any token; training needs some labels")
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
        return LatentChainProblem(
            matrix,
            offsets,
            possible,
            spec.classes,
            groups,
            moves,
            boundaries=bool(self.boundaries),
            balance=self.balance,
        )

    def loss_in_words(self) -> str:
        return "wrong labels"

    def named_weights(
        self, spec: LinearSpec, w: FloatArray, feature_names: Sequence[str] | None = None
    ) -> tuple[WeightBlock, ...]:
        """As those of a `Chain`, with states in the place of labels, such as NOUN/0."""
        states = _state_names(_states(spec.classes, self.label_of_state(spec)))
        names = column_names(spec, feature_names)
        return chain_blocks(w, states, names, (), boundaries=self.boundaries, triplets=False)

    def n_weights(self, spec: LinearSpec) -> int:
        S = sum(self._state_counts(spec))
        return (spec.n_inputs + S + 2 * self.boundaries) * S

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


class LatentChainProblem(LatentProblem):
    """A `LatentChain` bound to data. Outputs are codes of states, whose labels follow.

    Two chains over the states do the work: one without constraints, and one in which the truth's labels are the only
    possible ones.
    """

    oracles: frozenset[Oracle] = frozenset({"best", "loss_augmented"})

    def __init__(
        self,
        matrix: Any,
        offsets: IntArray,
        possible: Flags | None,
        classes: Sequence[Any],
        groups: IntArray,
        moves: TransitionMask | None,
        *,
        boundaries: bool,
        balance: float,
    ):
        self._offsets = offsets
        self._possible = possible
        self._classes = classes
        self._groups = groups
        self._states = _states(classes, groups)
        self._matrix = matrix

        def chain(allowed: Flags | None) -> ChainProblem:
            return ChainProblem(
                tokens=tokens,
                offsets=offsets,
                codes=None,
                classes=_state_names(self._states),
                loss=BoundLoss(),
                judged_loss=BoundLoss(),
                balance=float(balance),
                boundaries=boundaries,
                order=1,
                pair_tokens=None,
                allowed_labels=allowed,
                allowed_transitions=moves,
                observed_only=False,
            )

        tokens = TokenMatrix.from_matrix(matrix, intercept=False)
        self._free = chain(None)
        self.n_examples, self.n_features = self._free.n_examples, self._free.n_features
        if possible is not None:
            sets, which = np.unique(possible, axis=0, return_inverse=True)
            wrong = np.ascontiguousarray(~sets[:, groups], np.float64)
            self._wrong_labels = _core.LabelCosts(which.reshape(-1).astype(np.int32), offsets, wrong)
            # Tokens whose labels training never saw are judged, but nothing completes them.
            self._completing = chain((possible | ~possible.any(axis=1, keepdims=True))[:, groups])

    def best(self, w: FloatArray, examples: IntArray) -> list[LabelArray]:
        return self._best(self._free, w, examples)

    def loss_augmented(self, w: FloatArray, examples: IntArray) -> list[LabelArray]:
        self._free.n_threads = self.n_threads
        return list(self._free.best_with(self._wrong_labels, w, examples)[0])

    def complete(self, w: FloatArray, examples: IntArray) -> list[LabelArray]:
        return self._best(self._completing, w, examples)

    def between(self, examples: IntArray, left: Outputs, right: Outputs) -> SparseRows:
        codes = np.zeros(int(self._offsets[-1]), np.int32)
        place, _ = places_of(self._offsets, examples)
        codes[place] = Ragged.of(left).flat
        return self._free.rows_between(Ragged(codes, self._offsets), examples, Ragged.of(right)).sparse()

    def differing_parts(self, w: FloatArray) -> list[PartFeatures]:
        """See `ComposedProblem.differing_parts`; both labellings have their best states."""
        left, right = self.complete(w, np.arange(2))
        return self._free.listed_parts(0, self._free.part_counts(0, left) - self._free.part_counts(0, right))

    def output_losses(self, examples: IntArray, outputs: Outputs) -> FloatArray:
        assert self._possible is not None
        out = Ragged.of(outputs)
        place, _ = places_of(self._offsets, examples)
        wrong = ~self._possible[place, self._groups[out.flat]]
        return summed(wrong.astype(np.float64), out.offsets) if len(examples) else np.empty(0)

    def start(self, random: np.random.Generator) -> Start:
        """Each token in the state it resembles most: that of the nearest of the means of its possible labels' tokens.

        The means are found by k-means over the tokens whose label is certain.
        """
        assert self._possible is not None
        certain = np.flatnonzero(self._possible.sum(axis=1) == 1)
        labels = self._possible[certain].argmax(axis=1)
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

    def random_completions(self, random: np.random.Generator) -> list[LabelArray]:
        # The best states at random weights, so that transitions that are not allowed do not occur.
        return self.complete(random.normal(size=self.n_features), np.arange(self.n_examples))

    def completions_of(self, latent: Sequence[Any]) -> list[LabelArray]:
        assert self._possible is not None
        code = {state: s for s, state in enumerate(self._states)}
        completions = []
        for i, (h, (begin, end)) in enumerate(zip(latent, pairwise(self._offsets.tolist()), strict=True)):
            if len(h) != end - begin:
                raise ValueError(
                    f"the latent part of example {i} has {len(h)} states but X[{i}] has {end - begin} rows"
                )
            for t, state in enumerate(h):
                if state not in code or not self._possible[begin + t, self._groups[code[state]]]:
                    raise ValueError(
                        f"token {t} of example {i} cannot have the state {state!r}; expected (label, number)"
                    )
            completions.append(np.array([code[state] for state in h], np.int32))
        return completions

    def max_losses(self) -> FloatArray:
        assert self._possible is not None
        refutable = np.asarray(~self._possible.all(axis=1), np.float64)
        return summed(refutable, self._offsets)

    def radii(self) -> FloatArray:
        return self._free.radii()

    def present(self, outputs: Outputs) -> list[list[Any]]:
        return [[self._states[s][0] for s in y] for y in outputs]

    def present_latent(self, outputs: Outputs) -> list[Any]:
        return [[self._states[s] for s in y] for y in outputs]

    def sizes(self) -> dict[str, int]:
        return self._free.sizes()

    def fingerprint(self) -> str:
        assert self._possible is not None
        matrix = sp.csr_array(self._matrix)
        return digest(matrix.indptr, matrix.indices, matrix.data, self._offsets, self._possible, self._groups)

    def _best(self, chain: ChainProblem, w: FloatArray, examples: IntArray) -> list[LabelArray]:
        chain.n_threads = self.n_threads
        return list(chain.best(w, examples))


def _states(classes: Sequence[Any], groups: IntArray) -> list[tuple[Any, int]]:
    """The label of each state, and which of its states it is."""
    return [(classes[g], int(np.sum(groups[:s] == g))) for s, g in enumerate(groups)]


def _state_names(states: Sequence[tuple[Any, int]]) -> list[str]:
    return [f"{label}/{k}" for label, k in states]


def _said(Y: Any) -> list[Any]:
    """All labels that occur, alone or in sets."""
    said: dict[Any, None] = {}
    for i, y in enumerate(Y):
        for t, entry in enumerate(y.tolist() if isinstance(y, np.ndarray) else y):
            for label in entry if isinstance(entry, (set, frozenset, list)) else (entry,):
                check_label(label, f"Y[{i}][{t}]")
                if label is not None:
                    said[label] = None
    return list(said)
