"""One label an example, with any cost of confusing two labels and any features of the labels."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar, Literal

import numpy as np
import numpy.typing as npt
from sklearn.utils import check_array, column_or_1d

from structlearn import _core
from structlearn.data.arrays import FloatArray, IntArray, LabelArray, digest
from structlearn.data.labels import LabelCodes, Labels, check_label, declared_classes, label_array, observed_classes
from structlearn.data.matrices import checked_numbers, checked_table
from structlearn.data.tokens import TokenMatrix
from structlearn.models.base import Ability, LinearSpec, Model, Weights
from structlearn.models.multiclass.output_features import OutputFeatures, Taxonomy
from structlearn.waist.compiled_parts import CompiledParts
from structlearn.waist.factored_rows import FactoredRows
from structlearn.waist.objective import Scaling
from structlearn.waist.planes import Outputs, Planes
from structlearn.wording import shown


class Multiclass(Model):
    """Ψ(x, y) = φ(x) ⊗ Λ(y): one label an example.

    Parameters
    ----------
    classes : sequence, optional
        The labels, of any hashable type. None takes those observed in training.
    cost : "zero_one", Taxonomy or (n_classes, n_classes) array
        Δ(y, ŷ) = cost[y, ŷ], rows and columns in the order of `classes`; zero on the diagonal. A `Taxonomy` stands for
        its tree loss, the height of the first common ancestor.
    output_features : OutputFeatures, optional
        Λ, such as a `Taxonomy`; None is class identity, the ordinary multiclass SVM.

    Notes
    -----
    The weights are a matrix, ``w_.reshape(n_features, n_output_features)``, with a column a class if there are no
    output features.

    Examples
    --------
    >>> from structlearn import StructuralSVM
    >>> svm = StructuralSVM(Multiclass(cost=[[0, 1], [5, 0]], classes=["healthy", "ill"]), C=10)
    >>> svm.fit([[0.0, 1.0], [0.2, 1.0], [1.0, 0.1]], ["healthy", "healthy", "ill"]).predict([[0.9, 0.3]])
    array(['ill'], dtype='<U7')
    """

    tabular: ClassVar[bool] = True

    kind = "examples"

    @property
    def abilities(self) -> frozenset[Ability]:
        return frozenset({"k_best", "sums", "samples", "posterior", "top_weights", "explain"})

    def loss_in_words(self) -> str:
        return "1 for a wrong label" if isinstance(self.cost, str) else "the cost of taking one label for another"

    def __init__(
        self,
        classes: Sequence[Any] | None = None,
        cost: Literal["zero_one"] | Taxonomy | npt.ArrayLike = "zero_one",
        output_features: OutputFeatures | None = None,
    ):
        self.classes = classes
        self.cost = cost
        self.output_features = output_features

    def read(self, X: Any, Y: Any) -> tuple[Any, Labels]:
        return X, _label_list(Y)

    def specify(self, X: Any, Y: Any) -> LinearSpec:
        self.check_options()
        labels = _label_list(Y)
        classes = observed_classes(labels) if self.classes is None else declared_classes(self.classes)
        if not len(labels):
            raise ValueError("Y is empty; training needs at least one example")
        if not isinstance(self.cost, (str, Taxonomy)) and self.classes is None:
            size = len(self._cost_table())
            if size != len(classes):
                raise ValueError(
                    f"cost is for {size} classes but Y has {len(classes)} different labels; declare `classes`"
                )
        return LinearSpec(classes=classes, n_inputs=_matrix(X, finite=False).shape[1])

    def bind(self, spec: LinearSpec, X: Any, Y: Any = None, *, allow_unknown: bool = False) -> MulticlassProblem:
        X = _matrix(X)
        if X.shape[1] != spec.n_inputs:
            raise ValueError(f"X has {X.shape[1]} features but training had {spec.n_inputs}")
        codes = None
        if Y is not None:
            labels = _label_list(Y)
            if len(labels) != X.shape[0]:
                raise ValueError(f"X has {X.shape[0]} rows but Y has {len(labels)} labels")
            zero_one = isinstance(self.cost, str) and self.cost == "zero_one"
            codes = LabelCodes(spec.classes, allow_unknown=allow_unknown and zero_one).encode(labels, "Y")
        features = None if self.output_features is None else self.output_features.matrix(spec.classes)
        tokens = TokenMatrix.from_matrix(X, intercept=spec.intercept)
        return MulticlassProblem(tokens, codes, spec.classes, self.cost_matrix(spec.classes), features)

    def check_options(self) -> None:
        if self.output_features is not None and not isinstance(self.output_features, OutputFeatures):
            raise ValueError(f"output_features is {shown(self.output_features)}; it must be OutputFeatures or None")

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
            return Weights(w.reshape(spec.n_columns, len(spec.classes)))
        return Weights(w.reshape(spec.n_columns, -1) @ self.output_features.matrix(spec.classes).T)

    def n_weights(self, spec: LinearSpec) -> int:
        classes, features = spec.classes, self.output_features
        return spec.n_columns * (len(classes) if features is None else features.matrix(classes).shape[1])

    def cost_matrix(self, classes: Sequence[Any]) -> FloatArray | None:
        """Δ as a matrix over the classes, (n_classes, n_classes); None is zero-one, which needs no matrix."""
        if isinstance(self.cost, str):
            if self.cost == "zero_one":
                return None
            raise ValueError(f"cost is {self.cost!r}; it may be 'zero_one', a Taxonomy or a matrix")
        if isinstance(self.cost, Taxonomy):
            return self.cost.tree_loss(classes)
        cost = check_array(self._cost_table(), input_name="cost")
        if cost.shape != (len(classes), len(classes)):
            raise ValueError(f"cost has shape {cost.shape} but there are {len(classes)} classes")
        if np.any(np.diag(cost) != 0.0) or np.any(cost < 0.0):
            k = int(np.argmax(np.diag(cost) != 0.0)) if np.any(np.diag(cost) != 0.0) else -1
            what = f"cost[{k}, {k}] is {cost[k, k]}" if k >= 0 else f"its least entry is {cost.min()}"
            raise ValueError(f"cost must be zero on the diagonal and nowhere negative; {what}")
        return np.asarray(cost, np.float64)


class MulticlassProblem(CompiledParts):
    """A `Multiclass` model bound to data. Outputs are class codes."""

    oracles = frozenset({"best", "loss_augmented", "second_best", "loss_levels", "sums"})

    def __init__(
        self,
        tokens: TokenMatrix,
        codes: LabelArray | None,
        classes: Sequence[Any],
        cost: FloatArray | None,
        output_features: FloatArray | None,
    ):
        K = len(classes)
        self.n_examples = tokens.n_tokens
        self.n_features = tokens.n_columns * (K if output_features is None else output_features.shape[1])
        self._tokens = tokens
        self._codes = codes
        self._labels = label_array(classes)
        self._cost = cost
        self._output_features = output_features
        # The truth itself is never priced, so one row serves all classes where every mistake costs the same.
        self._prices = np.ones((1, K)) if cost is None else cost
        self._core = _core.Multiclass(tokens.core(), output_features, K)
        self.part_offsets = np.arange(self.n_examples + 1) * K

    def best(self, w: FloatArray, examples: IntArray) -> LabelArray:
        best = np.empty(len(examples), np.int32)
        self._core.best(w, examples, best, self.n_threads)
        return best

    def loss_augmented(self, w: FloatArray, examples: IntArray) -> LabelArray:
        return self._most_violating(w, examples, Scaling("margin", "linear"))[1]

    def most_violating(self, w: FloatArray, examples: IntArray, scaling: Scaling) -> tuple[IntArray, LabelArray]:
        examples, outputs, _ = self._most_violating(w, examples, scaling)
        return examples, outputs

    def _planes(self, w: FloatArray, examples: IntArray, scaling: Scaling) -> Planes:
        examples, outputs, violations = self._most_violating(w, examples, scaling)
        rows, losses = self.differences(examples, outputs)
        return Planes(examples, rows, losses, outputs, violations)

    def class_scores(self, w: FloatArray, examples: IntArray) -> FloatArray:
        """F(x, y) of every class, (m, n_classes)."""
        out = np.empty(len(examples) * len(self._labels))
        self._core.scores(w, examples, out, self.n_threads)
        return out.reshape(len(examples), -1)

    def token_features(self, token: int) -> tuple[IntArray, FloatArray]:
        """The columns and values of an example."""
        return self._tokens.row(token)

    def differences(self, examples: IntArray, outputs: Outputs) -> tuple[FactoredRows, FloatArray]:
        others = np.ascontiguousarray(outputs, np.int32)
        assert self._codes is not None
        rows = FactoredRows(self._core, self.n_features, self._codes, examples, others, n_threads=self.n_threads)
        return rows, self._losses(self._codes[examples], others)

    def working_sets(self) -> _core.MulticlassSets:
        assert self._codes is not None
        return _core.MulticlassSets(self._core, self._codes, self.n_examples)

    def keep(self, sets: _core.WorkingSets, planes: Planes, which: IntArray, a: FloatArray, b: FloatArray) -> int:
        assert isinstance(sets, _core.MulticlassSets)
        return sets.add(planes.examples, np.ascontiguousarray(planes.outputs, np.int32), which, a, b)

    def losses(self, outputs: Outputs) -> FloatArray:
        assert self._codes is not None
        return self._losses(self._codes, np.asarray(outputs))

    def part_losses(self, examples: IntArray) -> FloatArray:
        assert self._codes is not None
        truths = self._codes[examples]
        if self._cost is not None:
            return np.asarray(self._cost[truths]).ravel()
        return np.asarray(np.arange(len(self._labels)) != truths[:, None], np.float64).ravel()

    def label_probabilities(self, w: FloatArray) -> FloatArray:
        """P(y | x) of every class, (n_examples, n_classes)."""
        examples = np.arange(self.n_examples)
        _, marginals = self.expectations(self.scores(w, examples), examples)
        return marginals.reshape(self.n_examples, -1)

    def most_probable_labels(self, w: FloatArray) -> IntArray:
        return np.asarray(self.label_probabilities(w).argmax(axis=1))

    def samples(self, w: FloatArray, n_samples: int, random: np.random.Generator) -> list[list[Any]]:
        """Classes drawn from P(y | x), `n_samples` of each example."""
        upto = np.cumsum(self.label_probabilities(w), axis=1)
        drawn = random.random((self.n_examples, n_samples, 1)) * upto[:, None, -1:]
        return [list(self._labels[row]) for row in (upto[:, None, :] <= drawn).sum(axis=2)]

    def feature_totals(self) -> FloatArray:
        if self._output_features is None:
            return self._tokens.totals()
        if self._output_features.min() < 0:
            raise ValueError("output_features has entries below zero; iterative scaling needs features ≥ 0")
        return self._tokens.totals() * float(self._output_features.sum(axis=1).max())

    def k_best(self, w: FloatArray, k: int) -> list[list[tuple[Any, float]]]:
        found = []
        for examples in self.chunks():
            for row in self.class_scores(w, examples):
                best = np.argsort(-row, kind="stable")[:k]
                found.append([(self._labels[y], float(row[y])) for y in best])
        return found

    def fingerprint(self) -> str:
        tokens = self._tokens
        assert self._codes is not None
        features = np.empty(0) if self._output_features is None else self._output_features
        size = np.array([self.n_features])
        return digest(tokens.indptr, tokens.columns, tokens.values, self._codes, self._prices, features, size)

    def max_losses(self) -> FloatArray:
        assert self._codes is not None
        if self._cost is not None:
            return np.asarray(self._cost.max(axis=1)[self._codes])
        mistakes = self._codes < 0 if len(self._labels) == 1 else np.ones(self.n_examples)
        return mistakes.astype(np.float64)

    def radii(self) -> FloatArray:
        # Proposition 24 holds for features of one sign only; the distance between two classes always does.
        features = self._output_features
        if features is None:
            return self._tokens.norms() * float(np.sqrt(2.0))
        norms = (features**2).sum(axis=1)
        distances = norms[:, None] + norms[None, :] - 2.0 * features @ features.T
        return self._tokens.norms() * float(np.sqrt(max(distances.max(), 0.0)))

    def present(self, outputs: Outputs) -> npt.NDArray[Any]:
        labels: npt.NDArray[Any] = self._labels[np.asarray(outputs)]
        return labels

    def _all_of_example(self, flags: npt.NDArray[np.bool_]) -> npt.NDArray[np.bool_]:
        return flags

    def _most_violating(
        self, w: FloatArray, examples: IntArray, scaling: Scaling
    ) -> tuple[IntArray, LabelArray, FloatArray]:
        a, b = scaling(self._prices)
        outputs, violations = np.empty(len(examples), np.int32), np.empty(len(examples))
        self._core.most_violating(
            w, examples, self._codes, a, b, scaling.oracle == "second_best", outputs, violations, self.n_threads
        )
        if len(self._labels) > 1:
            return examples, outputs, violations
        known = outputs >= 0
        return examples[known], outputs[known], violations[known]

    def _losses(self, truths: LabelArray, outputs: npt.NDArray[Any]) -> FloatArray:
        # A label that training never saw has the code −1 and is always missed.
        return np.asarray(truths != outputs if self._cost is None else self._cost[truths, outputs], np.float64)


def _matrix(X: Any, *, finite: bool = True) -> Any:
    X = checked_table(X)
    return check_array(X, accept_sparse="csr", dtype=np.float64, ensure_all_finite=finite, input_name="X")


def _label_list(Y: Any) -> Labels:
    if isinstance(Y, Labels):
        return Y
    if Y is None:
        raise ValueError("this model requires y to be passed, but the target y is None")
    if isinstance(Y, (list, tuple)) and not all(isinstance(y, (int, float, str, np.generic)) for y in Y):
        if any(isinstance(y, (list, np.ndarray)) for y in Y):
            raise ValueError("Y must hold one label an example; for sequences of labels use Chain")
        for i, y in enumerate(Y):
            check_label(y, f"Y[{i}]")
        return Labels(Y)
    shape = np.asarray(Y).shape
    if len(shape) > 2 or (len(shape) == 2 and 0 in shape):
        raise ValueError(f"Y has the shape {shape}; one label an example is expected")
    Y = column_or_1d(Y, warn=True)
    for i, y in enumerate(Y if Y.dtype.kind == "O" else ()):
        check_label(y, f"Y[{i}]")
    if Y.dtype.kind == "f" and not np.isfinite(Y).all():
        i = int(np.argmin(np.isfinite(Y)))
        raise ValueError(f"Y[{i}] is {Y[i]}")
    if Y.dtype.kind == "f" and np.any(np.round(Y) != Y):
        i = int(np.argmax(np.round(Y) != Y))
        raise ValueError(f"Unknown label type: continuous. Y[{i}] is {Y[i]}; labels are classes, not measurements")
    return Labels(Y.tolist())
