"""The models once more, as plain slow classes that list all outputs."""

from itertools import pairwise, product
from typing import NamedTuple

import numpy as np

from structlearn.models import PythonModel
from structlearn.waist import Planes


class EnumeratedMulticlass:
    def __init__(self, cost, output_features=None):
        self.cost = np.asarray(cost, float)
        self.output_features = np.eye(len(self.cost)) if output_features is None else output_features

    def joint_feature(self, x, y):
        return np.kron(x, self.output_features[y])

    def loss(self, y, y_hat):
        return self.cost[y, y_hat]

    def outputs(self, x):
        return range(len(self.cost))


class EnumeratedChain:
    def __init__(
        self,
        n_labels,
        *,
        boundaries=True,
        balance=1.0,
        label_weight=None,
        zero_one=False,
        pair_features=False,
        allowed_transitions=None,
    ):
        self.n_labels = n_labels
        self.pair_features = pair_features
        self.allowed = allowed_transitions
        self.boundaries = boundaries
        self.balance = balance
        self.label_weight = label_weight or {}
        self.zero_one = zero_one

    def joint_feature(self, x, y):
        emissions = np.zeros((x.shape[1], self.n_labels))
        transitions = np.zeros((self.n_labels, self.n_labels))
        ends = np.zeros((2, self.n_labels))
        for token, label in zip(x, y, strict=True):
            emissions[:, label] += token
        for left, right in pairwise(y):
            transitions[left, right] += self.balance
        ends[0, y[0]] += self.balance
        ends[1, y[-1]] += self.balance
        parts = [emissions, transitions, ends] if self.boundaries else [emissions, transitions]
        if self.pair_features:
            pairs = np.zeros((x.shape[1], self.n_labels, self.n_labels))
            for token, (left, right) in zip(x, pairwise(y), strict=False):
                pairs[:, left, right] += token
            parts.append(pairs)
        return np.concatenate([part.ravel() for part in parts])

    def loss(self, y, y_hat):
        wrong = [true for true, label in zip(y, y_hat, strict=True) if true != label]
        if self.zero_one:
            return float(len(wrong) > 0)
        return sum((self.label_weight.get(label, 1.0) for label in wrong), 0.0)

    def outputs(self, x):
        outputs = product(range(self.n_labels), repeat=len(x))
        if self.allowed is None:
            return list(outputs)
        return [y for y in outputs if all(pair in self.allowed for pair in pairwise((None, *y, None)))]


class EnumeratedSecondOrder(EnumeratedChain):
    def joint_feature(self, x, y):
        triplets = np.zeros((self.n_labels,) * 3)
        for before, middle, after in zip(y, y[1:], y[2:], strict=False):
            triplets[middle, before, after] += self.balance
        return np.concatenate([super().joint_feature(x, y), triplets.ravel()])


class EnumeratedSegments:
    def __init__(self, n_labels, max_length, *, lengths=True, ends=False, loss="segments"):
        self.n_labels = n_labels
        self.max_length = max_length
        self.lengths = lengths
        self.ends = ends
        self.kind = loss

    def joint_feature(self, x, y):
        emissions, firsts, lasts = np.zeros((3, x.shape[1], self.n_labels))
        transitions = np.zeros((self.n_labels, self.n_labels))
        lengths = np.zeros((self.max_length, self.n_labels))
        for label, begin, end in y:
            emissions[:, label] += x[begin:end].sum(axis=0)
            firsts[:, label] += x[begin]
            lasts[:, label] += x[end - 1]
            lengths[end - begin - 1, label] += 1
        for (left, _, _), (right, _, _) in pairwise(y):
            transitions[left, right] += 1
        parts = [emissions, transitions] + [lengths] * self.lengths + [firsts, lasts] * self.ends
        return np.concatenate([part.ravel() for part in parts])

    def loss(self, y, y_hat):
        if self.kind == "zero_one":
            return float(tuple(y) != tuple(y_hat))
        if self.kind == "segments":
            return float(len(set(y) ^ set(y_hat)))
        labels = [[label for label, begin, end in some for _ in range(begin, end)] for some in (y, y_hat)]
        return float(sum(left != right for left, right in zip(*labels, strict=True)))

    def outputs(self, x):
        return list(self._outputs(0, len(x)))

    def _outputs(self, begin, length):
        if begin == length:
            yield ()
        for end in range(begin + 1, min(begin + self.max_length, length) + 1):
            for rest in self._outputs(end, length):
                yield from (((label, begin, end), *rest) for label in range(self.n_labels))


#: In the place of a scaling: what the model predicts.
BEST = None


def asked(problem, w, examples, scaling):
    """The planes of the most violating outputs, or of the best ones, which violate by their scores."""
    if scaling is not BEST:
        return problem.oracle(w, examples, scaling)
    outputs = problem.best(w, examples)
    rows, losses = problem.differences(examples, outputs)
    return Planes(examples, rows, losses, outputs, -rows.dot(w))


class Listed(NamedTuple):
    """All outputs of one example with δΨ, Δ and whether the output is the truth."""

    outputs: list
    rows: np.ndarray
    losses: np.ndarray
    true: np.ndarray

    def violations(self, w, scaling):
        """b − a⟨w, δΨ⟩ of every output, −∞ for a truth that is no candidate."""
        if scaling is BEST:
            return -self.rows @ w
        a, b = scaling(self.losses)
        barred = self.true & (scaling.rescaling is None)
        return np.where(barred, -np.inf, b - a * (self.rows @ w))


def listed(reference, x, y):
    outputs = list(reference.outputs(x))
    truth = reference.joint_feature(x, y)
    return Listed(
        outputs,
        np.array([truth - reference.joint_feature(x, other) for other in outputs]),
        np.array([reference.loss(y, other) for other in outputs]),
        np.array([same(y, other) for other in outputs]),
    )


def same(y, other):
    # Trees are tuples of tuples of any lengths, of which NumPy makes no arrays.
    return y == other if isinstance(y, tuple) and isinstance(other, tuple) else np.array_equal(y, other)


def bound(model, X, Y):
    return model.bind(model.specify(X, Y), X, Y)


class Twins(NamedTuple):
    """A compiled problem and its enumerated twin, on the same data."""

    problem: object
    reference: object
    X: list
    Y: list

    def listed(self):
        return [listed(self.reference, x, y) for x, y in zip(self.X, self.Y, strict=True)]

    def python_problem(self):
        return bound(PythonModel(self.reference), self.X, self.Y)
