"""One label an example, with any cost of confusing two labels and any features of the labels."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, ClassVar, Literal

import numpy as np
import numpy.typing as npt

from structlearn import _core
from structlearn.data.arrays import Flags, FloatArray, LabelArray
from structlearn.data.known.labels import check_allowed, label_flags
from structlearn.data.labels import (
    LabelCodes,
    Labels,
    check_label,
    declared_classes,
    is_partial,
    known_labels,
    observed_classes,
    partial_label,
    read_labels,
)
from structlearn.data.matrices import checked_matrix, checked_numbers, checked_table
from structlearn.data.tokens.matrix import TokenMatrix
from structlearn.losses import Hamming, LabelLoss, Loss, ZeroOneLoss
from structlearn.losses.bound import BoundLoss, Levels, bound_label_costs, class_levels
from structlearn.losses.own import bound_own, single_label_truth
from structlearn.models.base import Ability, ByDecoder, LinearSpec, Weights
from structlearn.models.description import WeightBlock, blocks_of, column_names, stored_blocks
from structlearn.models.explanation import Explanation
from structlearn.models.label_explanation import explain_label
from structlearn.models.multiclass.output_features import OutputFeatures, Taxonomy
from structlearn.models.multiclass.problem import MulticlassProblem
from structlearn.models.pair_weights import compacted
from structlearn.models.partial import PartialModel
from structlearn.waist.problem import Problem
from structlearn.wording import shown


class Multiclass(PartialModel):
    """Ψ(x, y) = φ(x) ⊗ Λ(y): one label an example.

    Parameters
    ----------
    classes : sequence, optional
        The labels, of any hashable type. None takes those observed in training.
    cost : "zero_one", Taxonomy, (n_classes, n_classes) array or Loss
        Δ(y, ŷ) = cost[y, ŷ], rows and columns in the order of `classes`; zero on the diagonal. `LabelCosts` has it by
        the names of labels. A `Taxonomy` stands for its tree loss, the height of the first common ancestor.
    output_features : OutputFeatures, optional
        Λ, such as a `Taxonomy`; None is class identity, the ordinary multiclass SVM.

    Notes
    -----
    The weights are a matrix, ``w_.reshape(n_features, n_output_features)``, with a column a class if there are no
    output features. After training with weights that came into being when they were needed they are those that
    `spec_.pairs` lists.

    Examples
    --------
    >>> from structlearn import StructuralSVM
    >>> svm = StructuralSVM(Multiclass(cost=[[0, 1], [5, 0]], classes=["healthy", "ill"]), C=10)
    >>> svm.fit([[0.0, 1.0], [0.2, 1.0], [1.0, 0.1]], ["healthy", "healthy", "ill"]).predict([[0.9, 0.3]])
    array(['ill'], dtype='<U7')
    """

    tabular: ClassVar[bool] = True
    takes_allowed = True
    kind = "examples"

    @property
    def abilities(self) -> frozenset[Ability]:
        return frozenset({"k_best", "sums", "samples", "posterior", "explain", "partial"})

    refusals: ClassVar[ByDecoder] = {
        "pair_marginals": "one label has no neighbour",
    }

    @property
    def costs(self) -> ByDecoder:
        return {
            "best": "L",
            "loss_augmented": "L",
            "second_best": "L",
            "k_best": "L log L",
            "loss_levels": "L",
            "sums": "L",
            "samples": "s L",
            "partial": "the same",
        }

    def loss_in_words(self) -> str:
        if isinstance(self.cost, Loss):
            return self.cost.in_words()
        return "1 for a wrong label" if isinstance(self.cost, str) else "the cost of taking one label for another"

    def __init__(
        self,
        classes: Sequence[Any] | None = None,
        cost: Literal["zero_one"] | Taxonomy | Loss | npt.ArrayLike = "zero_one",
        output_features: OutputFeatures | None = None,
    ):
        self.classes = classes
        self.cost = cost
        self.output_features = output_features

    def read(self, X: Any, Y: Any) -> tuple[Any, Labels]:
        return X, read_labels(Y)

    def specify(self, X: Any, Y: Any) -> LinearSpec:
        labels = read_labels(Y)
        for i, label in enumerate(labels):
            if is_partial(label) and (self.classes is None or label not in declared_classes(self.classes)):
                raise partial_label(f"Y[{i}]", label)
        return self._specified(X, labels)

    def specify_partial(self, X: Any, Y: Any) -> LinearSpec:
        found: dict[Any, None] = {}
        for i, entry in enumerate(Y):
            for label in known_labels(entry):
                check_label(label, f"Y[{i}]")
                found[label] = None
        if len(Y) and self.classes is None and not found:
            raise ValueError("Y says nothing about any example; training needs some labels")
        return self._specified(X, list(found) if len(found) else Y)

    def _specified(self, X: Any, labels: Sequence[Any]) -> LinearSpec:
        self.check_options()
        classes = observed_classes(labels) if self.classes is None else declared_classes(self.classes)
        if not len(labels):
            raise ValueError("Y is empty; training needs at least one example")
        if isinstance(self.cost, Loss):
            self.cost.check_labels(classes)
        if not isinstance(self.cost, (str, Taxonomy, Loss)) and self.classes is None:
            size = len(self._cost_table())
            if size != len(classes):
                raise ValueError(
                    f"cost is for {size} classes but Y has {len(classes)} different labels; declare `classes`"
                )
        return LinearSpec(classes=classes, n_inputs=_matrix(X, finite=False).shape[1])

    def bind(
        self, spec: LinearSpec, X: Any, Y: Any = None, *, allow_unknown: bool = False, allowed: Any = None
    ) -> MulticlassProblem:
        """See `Model.bind`; `allowed` has for each example None (any label), a label, or a set or list of labels."""
        X = _matrix(X)
        if X.shape[1] != spec.n_inputs:
            raise ValueError(f"X has {X.shape[1]} features but training had {spec.n_inputs}")
        codes = None
        if Y is not None:
            labels = read_labels(Y)
            if len(labels) != X.shape[0]:
                raise ValueError(f"X has {X.shape[0]} rows but Y has {len(labels)} labels")
            zero_one = isinstance(self.cost, str) and self.cost == "zero_one"
            codes = LabelCodes(spec.classes, allow_unknown=allow_unknown and zero_one).encode(labels, "Y")
        possible = None if allowed is None else _label_table(allowed, spec.classes, X.shape[0], "allowed")
        if codes is not None and possible is not None and not allow_unknown:
            barred = ~possible[np.arange(len(codes)), codes]
            if barred.any():
                i = int(np.argmax(barred))
                raise ValueError(f"Y[{i}] is {spec.classes[codes[i]]!r}, but allowed[{i}] is {shown(allowed[i])}")
        features = None if self.output_features is None else self.output_features.matrix(spec.classes)
        tokens = TokenMatrix.from_matrix(X, intercept=spec.intercept)
        return MulticlassProblem(
            tokens, codes, spec.classes, self._bound_loss(spec, codes, Y), features, possible, spec.pairs
        )

    def partial_loss(self, spec: LinearSpec, X: Any, Y: Any, *, allow_unknown: bool = False) -> BoundLoss:
        """Δ(Y_i, ŷ) where labels are known in part: the least of cost[y, ŷ] over the labels y that Y_i allows.

        Y has for each example what `allowed` of `bind` takes.
        """
        if isinstance(self.cost, Loss) and not isinstance(self.cost, (LabelLoss, ZeroOneLoss)):
            raise ValueError(f"cost={shown(self.cost)} is for labels that are known; give a matrix or 'zero_one'")
        n, K = _matrix(X).shape[0], len(spec.classes)
        labels = _label_table(Y, spec.classes, n, "Y", allow_unknown=allow_unknown)
        cost = self.cost_matrix(spec.classes)
        cost = Hamming().cost(spec.classes) if cost is None else cost
        costs = np.array([cost[row].min(axis=0) if row.any() else np.ones(K) for row in labels]).reshape(n, K)
        offsets = np.arange(n + 1) * K
        number = np.tile(np.arange(K, dtype=np.int32), n)
        steps = _core.ListedSteps(number, offsets, np.full((n, 2), K, np.int64))
        return BoundLoss(
            _core.ListedLosses(costs.ravel(), offsets, np.zeros(n)),
            Levels(steps, np.full(n, K), lambda examples: costs[examples].ravel()),
            lambda i: costs[i],
            costs.max(axis=1),
            (labels, cost),
        )

    def check_options(self) -> None:
        if isinstance(self.cost, Loss):
            self.cost.check_options()
        if self.output_features is not None and not isinstance(self.output_features, OutputFeatures):
            raise ValueError(f"output_features is {shown(self.output_features)}; it must be OutputFeatures or None")

    def _bound_loss(self, spec: LinearSpec, codes: LabelArray | None, Y: Any) -> BoundLoss:
        if codes is None:
            return BoundLoss()
        offsets = np.arange(len(codes) + 1)
        if isinstance(self.cost, Loss) and not isinstance(self.cost, (LabelLoss, ZeroOneLoss)):
            return bound_own(self.cost, [single_label_truth(y, spec.classes) for y in read_labels(Y)])
        cost = self.cost_matrix(spec.classes)
        cost = Hamming().cost(spec.classes) if cost is None else cost
        return replace(bound_label_costs(codes, offsets, cost, with_levels=False), levels=class_levels(codes, cost))

    def _cost_table(self) -> FloatArray:
        cost = checked_numbers(self.cost, "cost")
        if cost.ndim != 2:
            raise ValueError(f"cost has {cost.ndim} dimensions; it must be a matrix")
        return np.asarray(cost, np.float64)

    def unpack(self, spec: LinearSpec, w: FloatArray) -> Weights:
        """The weights of every class, a view of w; with output features Λ the product W Λᵀ, which scores the same.

        >>> spec = LinearSpec(classes=("a", "b"), n_inputs=3)
        >>> Multiclass().unpack(spec, np.arange(6.0)).emissions
        array([[0., 1.],
               [2., 3.],
               [4., 5.]])
        """
        if self.output_features is None:
            return Weights(self.named_weights(spec, w)[0].whole())
        return Weights(w.reshape(spec.n_columns, -1) @ self.output_features.matrix(spec.classes).T)

    def named_weights(
        self, spec: LinearSpec, w: FloatArray, feature_names: Sequence[str] | None = None
    ) -> tuple[WeightBlock, ...]:
        """The weights of every class, or, with output features, of every one of these."""
        features = self.output_features
        columns = spec.classes if features is None else features.names(spec.classes)
        described = "features", (column_names(spec, feature_names), columns), "features"
        return blocks_of(w, described) if spec.pairs is None else stored_blocks(w, spec.pairs, described)

    def explain(
        self,
        spec: LinearSpec,
        w: FloatArray,
        x: Any,
        t: int | None = None,
        label: Any = None,
        against: Any = None,
        feature_names: Sequence[str] | None = None,
    ) -> Explanation:
        """Why a label is chosen, feature by feature; with output features by the weights that they give each class."""
        if t is not None:
            raise ValueError(f"t is {t}, but x has one label and no tokens; leave t out")
        names = column_names(spec, feature_names)
        problem = self.bind(spec, checked_matrix(x, "x").reshape(1, -1))
        columns, values = problem.token_features(0)
        entries = zip(columns.tolist(), values.tolist(), strict=True)
        terms = [(names[k], value, self._class_weights(spec, w, k)) for k, value in entries]
        possible = np.ones(len(spec.classes), bool)
        return explain_label(terms, spec.classes, possible, int(problem.predict(w)[0]), label, against, None)

    def _class_weights(self, spec: LinearSpec, w: FloatArray, column: int) -> FloatArray:
        """The weights of a feature for all classes."""
        if spec.pairs is not None:
            return spec.pairs.weights_of(column, w, len(spec.classes))
        weights = w.reshape(spec.n_columns, -1)[column]
        features = self.output_features
        return weights if features is None else np.asarray(features.matrix(spec.classes) @ weights)

    def compact(self, spec: LinearSpec, problem: Problem, w: FloatArray) -> tuple[LinearSpec, FloatArray]:
        return compacted(spec, problem, w)

    def unseen_cost(self, spec: LinearSpec) -> float | None:
        """The worst of all mistakes, where a matrix prices them: it has no price for labels that it does not know."""
        cost = self.cost_matrix(spec.classes)
        return None if cost is None else float(cost.max())

    def n_weights(self, spec: LinearSpec) -> int:
        classes, features = spec.classes, self.output_features
        if spec.pairs is not None:
            spec.pairs.check((spec.n_columns, len(classes)))
            return len(spec.pairs)
        return spec.n_columns * (len(classes) if features is None else features.matrix(classes).shape[1])

    def cost_matrix(self, classes: Sequence[Any]) -> FloatArray | None:
        """Δ as a matrix over the classes, (n_classes, n_classes); None is zero-one, which needs no matrix."""
        if isinstance(self.cost, LabelLoss):
            return self.cost.cost(classes)
        if isinstance(self.cost, Loss):
            return None
        if isinstance(self.cost, str):
            if self.cost == "zero_one":
                return None
            raise ValueError(f"cost is {self.cost!r}; it may be 'zero_one', a Taxonomy or a matrix")
        if isinstance(self.cost, Taxonomy):
            return self.cost.tree_loss(classes)
        from sklearn.utils import check_array

        cost = check_array(self._cost_table(), input_name="cost")
        if cost.shape != (len(classes), len(classes)):
            raise ValueError(f"cost has shape {cost.shape} but there are {len(classes)} classes")
        if np.any(np.diag(cost) != 0.0) or np.any(cost < 0.0):
            k = int(np.argmax(np.diag(cost) != 0.0)) if np.any(np.diag(cost) != 0.0) else -1
            what = f"cost[{k}, {k}] is {cost[k, k]}" if k >= 0 else f"its least entry is {cost.min()}"
            raise ValueError(f"cost must be zero on the diagonal and nowhere negative; {what}")
        return np.asarray(cost, np.float64)


def _label_table(given: Any, classes: Sequence[Any], n: int, name: str, *, allow_unknown: bool = False) -> Flags:
    """Which labels each of the n examples may have, (n, n_classes)."""
    check_allowed(given, n, "examples", name=name)
    codes = {label: code for code, label in enumerate(classes)}
    flags = np.empty((n, len(codes)), bool)
    for i, entry in enumerate(given):
        flags[i] = label_flags(entry, codes, f"{name}[{i}]", allow_unknown=allow_unknown)
    return flags


def _matrix(X: Any, *, finite: bool = True) -> Any:
    X = checked_table(X)
    from sklearn.utils import check_array

    return check_array(X, accept_sparse="csr", dtype=np.float64, ensure_all_finite=finite, input_name="X")
