"""Losses of labels: how many are wrong, what it costs to take one for another, and F1 of those that matter."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Collection, Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from structlearn.data.arrays import FloatArray
from structlearn.data.options import real_option
from structlearn.losses.f_measure import FMeasure
from structlearn.waist.loss import AdditiveLoss, LocalParts
from structlearn.wording import shown


class LabelLoss(AdditiveLoss):
    """Δ(y, ŷ) = Σ_t cost[y_t, ŷ_t], zero on the diagonal."""

    @abstractmethod
    def cost(self, labels: Sequence[Any]) -> FloatArray:
        """What each label costs where another one is true, (n_labels, n_labels): true label, other label."""

    def parts(self, truth: Any, local: LocalParts) -> FloatArray:
        place = {label: k for k, label in enumerate(local.labels)}
        return np.asarray(self.cost(local.labels)[[place[label] for label in truth]])


class Hamming(LabelLoss):
    """Δ(y, ŷ) = Σ_t weight[y_t] [ŷ_t ≠ y_t], the number of wrong labels.

    Parameters
    ----------
    label_weight : mapping, optional
        What a wrong label costs, by the true label; 1 for labels not named.
    """

    def __init__(self, label_weight: Mapping[Any, float] | None = None):
        self.label_weight = label_weight

    def check_options(self) -> None:
        if self.label_weight is not None and not isinstance(self.label_weight, Mapping):
            raise ValueError(f"label_weight is {shown(self.label_weight)}; it must be a dict of labels and numbers")
        for label, weight in (self.label_weight or {}).items():
            real_option(f"label_weight[{label!r}]", weight)

    def check_labels(self, labels: Sequence[Any]) -> None:
        check_named("label_weight", self.label_weight or {}, labels)

    def in_words(self) -> str:
        return "wrong labels, by their weights" if self.label_weight else "wrong labels"

    def cost(self, labels: Sequence[Any]) -> FloatArray:
        weights = np.array([float((self.label_weight or {}).get(label, 1.0)) for label in labels])
        return np.asarray(weights[:, None] * (1.0 - np.eye(len(labels))))


class LabelCosts(LabelLoss):
    """Δ(y, ŷ) = Σ_t costs[y_t, ŷ_t]: what it costs to take one label for another.

    Parameters
    ----------
    costs : mapping
        Numbers ≥ 0 by pairs (true label, predicted label).
    other : float
        What a wrong label costs whose pair is not named.

    Examples
    --------
    >>> LabelCosts({("NAME", "O"): 5.0}).cost(["NAME", "O"])
    array([[0., 5.],
           [1., 0.]])
    """

    def __init__(self, costs: Mapping[tuple[Any, Any], float], other: float = 1.0):
        self.costs = costs
        self.other = other

    @classmethod
    def from_matrix(cls, labels: Sequence[Any], matrix: npt.ArrayLike) -> LabelCosts:
        """The costs of a matrix, rows by true label, columns by predicted label.

        >>> LabelCosts.from_matrix(["a", "b"], [[0, 2], [1, 0]]).costs
        {('a', 'b'): 2.0, ('b', 'a'): 1.0}
        """
        numbers = np.asarray(matrix, np.float64)
        if numbers.shape != (len(labels), len(labels)):
            raise ValueError(f"matrix has shape {numbers.shape}; {len(labels)} labels need a row and a column each")
        if np.any(np.diag(numbers) != 0.0):
            k = int(np.argmax(np.diag(numbers) != 0.0))
            raise ValueError(f"matrix[{k}, {k}] is {numbers[k, k]:g}; a right label costs nothing")
        places = [(true, other) for true in range(len(labels)) for other in range(len(labels)) if true != other]
        return cls({(labels[true], labels[other]): float(numbers[true, other]) for true, other in places})

    def check_options(self) -> None:
        real_option("other", self.other)
        if not isinstance(self.costs, Mapping):
            raise ValueError(
                f"costs is {shown(self.costs)}; it must be a dict of pairs (true label, predicted label) and numbers; "
                "LabelCosts.from_matrix makes one of a matrix"
            )
        for pair, cost in self.costs.items():
            if not isinstance(pair, tuple) or len(pair) != 2:
                raise ValueError(f"costs has the key {shown(pair)}; expected a pair (true label, predicted label)")
            if real_option(f"costs[{pair!r}]", cost) > 0.0 and pair[0] == pair[1]:
                raise ValueError(f"costs[{pair!r}] is {cost}; a right label costs nothing")

    def check_labels(self, labels: Sequence[Any]) -> None:
        check_named("costs", [label for pair in self.costs for label in pair], labels)

    def in_words(self) -> str:
        return "the cost of taking one label for another"

    def cost(self, labels: Sequence[Any]) -> FloatArray:
        found = [[float(self.costs.get((true, label), self.other)) for label in labels] for true in labels]
        return np.asarray(np.array(found).reshape(len(labels), len(labels)) * (1.0 - np.eye(len(labels))))


class LabelF1(FMeasure):
    """Δ(y, ŷ) = 1 − F_β of the labels that count, all taken together: 0 if a sequence should have and has none.

    A token is right if it has the true label, and that counts; it is found if its label counts. Labels such as B-PER
    and I-PER are labels of tokens here; whole spans are `SpanF1`, for `Segments`.

    Parameters
    ----------
    labels : collection, optional
        The labels that count; None is all but `negative`.
    negative : label, optional
        The label that does not count, where `labels` are not given; None if all count.
    beta : float
        A label that is missed weighs β² times one that is made up.

    Examples
    --------
    >>> from structlearn import StructuralSVM
    >>> from structlearn.models import Chain
    >>> X = [[{"word": "Ann"}, {"word": "sleeps"}], [{"word": "he"}, {"word": "calls"}, {"word": "Ann"}]]
    >>> Y = [["NAME", "O"], ["O", "O", "NAME"]]
    >>> svm = StructuralSVM(Chain(loss=LabelF1()), C=10, rescaling="slack").fit(X, Y)
    >>> svm.predict([[{"word": "Ann"}, {"word": "calls"}]])
    [['NAME', 'O']]
    """

    def __init__(self, labels: Collection[Any] | None = None, negative: Any = "O", beta: float = 1.0):
        super().__init__(beta)
        self.labels = labels
        self.negative = negative

    def check_options(self) -> None:
        super().check_options()
        check_counted(self.labels)

    def check_labels(self, labels: Sequence[Any]) -> None:
        check_counting(self.labels, self.negative, labels)

    def in_words(self) -> str:
        return f"{self.name()} of the labels"

    def counts(self, truth: Any, local: LocalParts) -> npt.NDArray[np.int64]:
        found = np.broadcast_to(counted_labels(self.labels, self.negative, local.labels), local.shape)
        right = np.array([[label == true for label in local.labels] for true in truth], bool).reshape(local.shape)
        return np.stack([found & right, found]).astype(np.int64)


def counted_labels(labels: Collection[Any] | None, negative: Any, every: Sequence[Any]) -> npt.NDArray[np.bool_]:
    """Which of the labels count: those given, or all but the negative one."""
    return np.array([label != negative if labels is None else label in labels for label in every], np.bool_)


def check_counted(labels: Any) -> None:
    """Refuses labels that are no collection, a text among them."""
    if labels is not None and (isinstance(labels, str) or not isinstance(labels, Collection) or not len(labels)):
        raise ValueError(f"labels is {shown(labels)}; it must be a list of the labels that count")


def check_counting(labels: Collection[Any] | None, negative: Any, every: Sequence[Any]) -> None:
    """Refuses names that are none of the labels: they would not change the loss."""
    if labels is not None:
        check_named("labels", labels, every)
    elif negative is not None:
        check_named("negative", [negative], every, "; name the one that does not count, or the `labels` that do")


def check_named(option: str, named: Collection[Any], labels: Sequence[Any], hint: str = "") -> None:
    """Refuses what an option names, if it is not one of the labels."""
    for label in named:
        if label not in labels:
            known = ", ".join(map(repr, labels[:10])) + (", …" if len(labels) > 10 else "")
            raise ValueError(f"{option} names {label!r}, which is not one of the labels: {known}{hint}")
