"""Sets of labels: each label on its own, and scores of pairs of labels."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import scipy.sparse as sp

from structlearn.data.arrays import FloatArray, IntArray, LabelArray
from structlearn.data.fields import LARGEST, check_flag, check_tuple
from structlearn.data.label_sets import LabelSets, read_label_sets
from structlearn.data.labels import declared_classes
from structlearn.data.matrices import check_finite, checked_matrix
from structlearn.data.options import choice_option, whole_option
from structlearn.data.tokens.matrix import TokenMatrix
from structlearn.data.tokens.sequences import Sequences, read_sequences
from structlearn.drawing.base import Drawing
from structlearn.drawing.label_sets import draw_label_set
from structlearn.losses import Hamming, LabelF1, LabelLoss, Loss, ZeroOneLoss, loss_option
from structlearn.losses.bound import BoundLoss, bound_label_costs
from structlearn.losses.own import bound_own, label_truth
from structlearn.metrics.label_sets import label_set_measures
from structlearn.metrics.measures import Measures
from structlearn.models.base import Ability, ByDecoder, LinearSpec
from structlearn.models.description import WeightBlock, blocks_of, column_names, stored_blocks
from structlearn.models.graph.groups import FactorGroup, NodeGroup
from structlearn.models.graph.pair_tables import PairTable
from structlearn.models.graph.search import Engines, Search
from structlearn.models.graph.searched_problem import bound_graphs
from structlearn.models.label_losses import bound_possible
from structlearn.models.multilabel.label_pairs import PairChoice, chosen_pairs
from structlearn.models.multilabel.problem import (
    PAIR_STATES,
    STATES,
    MultiLabelProblem,
    SearchedMultiLabelProblem,
    repeated_edges,
)
from structlearn.models.pair_weights import compacted
from structlearn.models.partial import PartialModel
from structlearn.waist.likelihood import LIKELIHOODS, LikelihoodName
from structlearn.waist.problem import Problem
from structlearn.wording import count, shown

#: Without and with a label.
_BINARY = (0, 1)


@dataclass(frozen=True)
class MultiLabelSpec(LinearSpec):
    """A `LinearSpec` whose classes are the labels of the sets.

    Attributes
    ----------
    label_pairs : tuple of pairs
        Which labels, by their numbers, have scores together.
    by_name : bool
        Whether outputs are sets of labels, and not rows of zeros and ones.
    """

    label_pairs: tuple[tuple[int, int], ...] = ()
    by_name: bool = False

    @classmethod
    def from_dict(cls, values: dict[str, Any]) -> MultiLabelSpec:
        pairs = tuple(tuple(pair) for pair in values.get("label_pairs", ()))
        return super().from_dict(values | {"label_pairs": pairs})

    def check(self) -> None:
        super().check()
        check_tuple("label_pairs", self.label_pairs, tuple)
        check_flag("by_name", self.by_name)
        for pair in self.label_pairs:
            if len(pair) != 2 or not all(isinstance(k, int) and 0 <= k < len(self.classes) for k in pair):
                raise ValueError(f"label_pairs has {shown(pair)}; there are {count(len(self.classes), 'label')}")
            if pair[0] >= pair[1]:
                raise ValueError(f"label_pairs has {shown(pair)}; expected the lower number first")
        if len(set(self.label_pairs)) < len(self.label_pairs):
            raise ValueError("label_pairs has a pair twice")


class MultiLabel(PartialModel):
    """F(x, y) = Σ_k ⟨w_{k, y_k}, φ(x)⟩ + Σ_{kl} w_{kl, y_k, y_l} with y_k = 1 for the labels that x has, else 0.

    Parameters
    ----------
    classes : sequence, optional
        The labels. None takes those observed in training, or the numbers of the columns where Y is a table.
    pairs : {"independent", "tree", "sparse", "full"}
        Which pairs of labels have scores: none; the spanning tree with the most mutual information in the training data
        (Chow and Liu 1968); the `n_pairs` pairs with the most; or all.
    n_pairs : int, optional
        For "sparse"; two for each label by default.
    loss : {"hamming", "f1", "zero_one"} or Loss
        Δ(y, ŷ): the number of labels that are wrong, 1 − F1 of the labels of the example, or whether any is wrong.
    engine : str or engine
        What finds the best labels, as for `Graph`: junction trees serve as long as few labels hang together.
    max_seconds : float, optional
        How long an engine may take for one example.
    likelihood : {"exact", "pseudo", "piecewise", "tree_reweighted", "belief_propagation"}
        What `ConditionalRandomField` maximises, as for `Graph`.

    Notes
    -----
    X is a matrix with a row an example, dense or sparse, or a list of dicts of features; Y a table of zeros and ones
    with a column a label, dense or sparse, or a list of sets of labels. Predictions are sets where Y had these in
    training, otherwise a dense table.

    The weights are, one after another, (n_features, n_labels, 2), without and with each label, and for each pair
    (n_pairs, 2, 2).

    Examples
    --------
    >>> from structlearn import StructuralSVM
    >>> X, Y = [[1.0, 0.0], [0.0, 1.0], [1.0, 1.0]], [{"sea"}, {"hills"}, {"sea", "hills"}]
    >>> [sorted(y) for y in StructuralSVM(MultiLabel(), C=10).fit(X, Y).predict([[1.0, 0.9], [0.9, 0.0]])]
    [['hills', 'sea'], ['sea']]
    """

    kind = "outputs"
    in_words = "chooses a set of labels for every example; which labels stand together counts, too"
    takes_allowed = True

    def __init__(
        self,
        classes: Sequence[Any] | None = None,
        pairs: PairChoice = "tree",
        n_pairs: int | None = None,
        loss: Literal["hamming", "f1", "zero_one"] | Loss = "hamming",
        engine: Engines = "auto",
        max_seconds: float | None = None,
        likelihood: LikelihoodName = "exact",
    ):
        self.classes = classes
        self.pairs = pairs
        self.n_pairs = n_pairs
        self.loss = loss
        self.engine = engine
        self.max_seconds = max_seconds
        self.likelihood = likelihood

    @property
    def abilities(self) -> frozenset[Ability]:
        return frozenset({"k_best", "sums", "pair_marginals", "samples", "posterior", "explain", "partial"})

    @property
    def costs(self) -> ByDecoder:
        once = "K 2^(w + 1)"
        return {
            "best": once,
            "loss_augmented": once,
            "second_best": once,
            "k_best": f"{once} + k K",
            "loss_levels": f"{once} D²",
            "sums": once,
            "pair_marginals": once,
            "samples": f"{once} + s K",
            "partial": "the same",
        }

    def read(self, X: Any, Y: Any) -> tuple[Any, LabelSets]:
        return _matrix(X), read_label_sets(Y)

    def read_partial(self, X: Any, Y: Any) -> tuple[Any, LabelSets]:
        return _matrix(X), read_label_sets(Y, partial=True)

    def specify(self, X: Any, Y: Any) -> MultiLabelSpec:
        return self._specified(*self.read(X, Y))

    def specify_partial(self, X: Any, Y: Any) -> MultiLabelSpec:
        X, Y = self.read_partial(X, Y)
        if len(Y) and (Y.table < 0).all():
            raise ValueError("Y says nothing about any label; training needs some")
        return self._specified(X, Y)

    def _specified(self, X: Any, Y: LabelSets) -> MultiLabelSpec:
        self.check_options()
        if not len(Y):
            raise ValueError("Y is empty; training needs at least one example")
        observed = tuple(range(Y.table.shape[1])) if Y.classes is None else Y.classes
        classes = observed if self.classes is None else declared_classes(self.classes)
        if not classes:
            raise ValueError("Y has no labels; training needs at least one")
        by_name, by_features = Y.classes is not None, isinstance(X, Sequences)
        table = Y.coded(classes, by_name=by_name)
        return MultiLabelSpec(
            classes=classes,
            n_inputs=(X.tokens if by_features else X).shape[1],
            vocabulary=X.names if by_features else None,
            label_pairs=chosen_pairs(self.pairs, table, self.n_pairs),
            by_name=by_name,
        )

    def bind(
        self, spec: MultiLabelSpec, X: Any, Y: Any = None, *, allow_unknown: bool = False, allowed: Any = None
    ) -> MultiLabelProblem | SearchedMultiLabelProblem:
        """See `Model.bind`; `allowed` is a table of labels that are known, NaN or None where they are not."""
        matrix = _columns(spec, _matrix(X))
        n, K = matrix.shape[0], len(spec.classes)
        offsets = np.arange(n + 1) * K
        codes = None
        if Y is not None:
            codes = self._table(spec, Y, n).ravel()
        edges, edge_offsets, numbers = repeated_edges(spec.label_pairs, n)
        tokens = TokenMatrix.from_matrix(matrix, intercept=spec.intercept)
        table = PairTable.of("free", _BINARY) if spec.label_pairs else None
        data: dict[str, Any] = {
            "nodes": [NodeGroup(tokens, offsets, _BINARY, rows=np.arange(n + 1), nodes_a_row=K)],
            "factors": [FactorGroup(edges, edge_offsets, table, _one_hot(numbers, len(spec.label_pairs)))],
            "codes": codes,
            "loss": self._bound_loss(codes, offsets),
            "allowed": None if allowed is None else _possible(self._table(spec, allowed, n, partial=True)),
            "pairs": spec.pairs,
            "likelihood": self.likelihood,
            "names": spec.classes,
            "as_sets": spec.by_name,
        }
        search = Search(self.engine, self.max_seconds)
        found: MultiLabelProblem | SearchedMultiLabelProblem
        found = bound_graphs(search, data, MultiLabelProblem, SearchedMultiLabelProblem)
        return found

    def partial_loss(self, spec: MultiLabelSpec, X: Any, Y: Any, *, allow_unknown: bool = False) -> BoundLoss:
        """Labels that are not known cost nothing."""
        table = self._table(spec, Y, _n_rows(_matrix(X)), partial=True)
        offsets = np.arange(len(table) + 1) * len(spec.classes)
        return bound_possible(self.loss_object(), _BINARY, _possible(table), offsets)

    def _table(self, spec: MultiLabelSpec, Y: Any, n: int, *, partial: bool = False) -> LabelArray:
        """Labels that training never saw are refused, also by `evaluate`: no prediction can have them."""
        sets = read_label_sets(Y, partial=partial)
        if len(sets) != n:
            raise ValueError(f"X has {n} rows but Y has {len(sets)}")
        return sets.coded(spec.classes, by_name=spec.by_name)

    def loss_object(self) -> Loss:
        """The loss that the option stands for, on labels 0 and 1."""
        if isinstance(self.loss, Loss):
            return self.loss
        if self.loss == "f1":
            return LabelF1(negative=0)
        return ZeroOneLoss() if self.loss == "zero_one" else Hamming()

    def loss_in_words(self) -> str:
        return "1 for a set with a wrong label" if self.loss == "zero_one" else self.loss_object().in_words()

    def _bound_loss(self, codes: LabelArray | None, offsets: IntArray) -> BoundLoss:
        if codes is None:
            return BoundLoss()
        loss = self.loss_object()
        if isinstance(loss, LabelLoss):
            return bound_label_costs(codes, offsets, loss.cost(_BINARY))
        if isinstance(loss, ZeroOneLoss):
            return BoundLoss(max_losses=np.ones(len(offsets) - 1))
        rows = codes.reshape(len(offsets) - 1, -1).tolist()
        return bound_own(loss, [label_truth(row, _BINARY) for row in rows])

    def measures(self, X: Any, Y: Any, predicted: Any) -> Measures:
        first = "example_f1" if self.loss == "f1" else "label_accuracy"
        return label_set_measures(Y, predicted, labels=self.classes, first=first)

    def drawing(self, x: Any, y: Any, truth: Any = None, *, width: int = 100) -> Drawing:
        names = self.classes
        if names is None and not isinstance(y, (set, frozenset)):
            names = range(len(y))
        return draw_label_set(y, truth, names=names, width=width)

    def named_weights(
        self, spec: MultiLabelSpec, w: FloatArray, feature_names: Sequence[str] | None = None
    ) -> tuple[WeightBlock, ...]:
        states = [state.format(label) for label in spec.classes for state in STATES]
        blocks: list[tuple[Any, ...]] = [("features", (column_names(spec, feature_names), states), "features")]
        if spec.label_pairs:
            pairs = [(spec.classes[k], spec.classes[j]) for k, j in spec.label_pairs]
            names = [f"{first}, {second}" for first, second in pairs]
            states = [state.format("first", "second") for state in PAIR_STATES]
            blocks.append(("pairs of labels", (names, states), "others", "{0}: {1}"))
        return blocks_of(w, *blocks) if spec.pairs is None else stored_blocks(w, spec.pairs, *blocks)

    def n_weights(self, spec: MultiLabelSpec) -> int:
        blocks = [(spec.n_columns, 2 * len(spec.classes))]
        if spec.label_pairs:
            blocks.append((len(spec.label_pairs), 4))
        if spec.pairs is None:
            return sum(rows * width for rows, width in blocks)
        spec.pairs.check(*blocks)
        return len(spec.pairs)

    def compact(self, spec: MultiLabelSpec, problem: Problem, w: FloatArray) -> tuple[MultiLabelSpec, FloatArray]:
        return compacted(spec, problem, w)

    def spec_from_dict(self, values: dict[str, Any]) -> MultiLabelSpec:
        return MultiLabelSpec.from_dict(values)

    def check_options(self) -> None:
        choice_option("pairs", self.pairs, ("independent", "tree", "sparse", "full"))
        if self.n_pairs is not None:
            whole_option("n_pairs", self.n_pairs, 0, LARGEST)
            if self.pairs != "sparse":
                raise ValueError(f"n_pairs belongs to pairs='sparse'; with pairs={shown(self.pairs)} leave it out")
        loss_option(self.loss, ("hamming", "f1", "zero_one"))
        Search(self.engine, self.max_seconds).check()
        choice_option("likelihood", self.likelihood, tuple(LIKELIHOODS))


def _matrix(X: Any) -> Any:
    """A matrix, or sequences of one token each where features came by name."""
    if isinstance(X, Sequences):
        return X
    if isinstance(X, (list, tuple)) and any(isinstance(x, Mapping) for x in X):
        try:
            return read_sequences([[x] for x in X])
        except ValueError as error:
            raise ValueError(re.sub(r"^X\[(\d+)\]\[0\]", r"X[\1]", str(error))) from None
    if isinstance(X, (list, tuple)) and len(X) and all(sp.issparse(x) for x in X):
        X = sp.vstack([x.reshape(1, -1) for x in X], format="csr")
    matrix = checked_matrix(X, "X")
    if matrix.ndim != 2:
        raise ValueError(f"X has {matrix.ndim} dimensions; expected a matrix with a row an example")
    matrix = matrix if sp.issparse(matrix) else np.ascontiguousarray(matrix, np.float64)
    check_finite(matrix, lambda row, column: f"X[{row}, {column}]")
    return matrix


def _n_rows(X: Any) -> int:
    return len(X) if isinstance(X, Sequences) else int(X.shape[0])


def _columns(spec: MultiLabelSpec, X: Any) -> Any:
    """A matrix of the columns that training had."""
    by_name = isinstance(X, Sequences)
    if by_name != (spec.vocabulary is not None):
        here, before = ("by name", "in columns") if by_name else ("in columns", "by name")
        raise ValueError(f"X has features {here} but training had them {before}")
    if by_name:
        return spec.stack(X)[0]
    if X.shape[1] != spec.n_inputs:
        raise ValueError(f"X has {X.shape[1]} features but training had {spec.n_inputs}")
    return X


def _possible(table: LabelArray) -> Any:
    """Which of 0 and 1 each label of each example may be, (n_examples · n_labels, 2)."""
    flat = table.ravel()[:, None]
    return (flat < 0) | (flat == np.arange(2))


def _one_hot(numbers: IntArray, width: int) -> TokenMatrix | None:
    """A row with a one in the column of each number."""
    if not width:
        return None
    ones = np.ones(len(numbers), np.float32)
    return TokenMatrix(np.arange(len(numbers) + 1), numbers.astype(np.int32), ones, width)
