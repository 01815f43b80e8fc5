"""A user's model bound to data: the oracles of `structlearn.models.own.python_model`, example after example."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
import scipy.sparse as sp

from structlearn.data.arrays import FloatArray, IntArray
from structlearn.data.examples import same_output
from structlearn.data.matrices import checked_matrix
from structlearn.models.explanation import PartFeatures
from structlearn.models.own.relaxation import exactness_of, loss_between, relaxed_options
from structlearn.models.own.spot_check import contradiction, lent
from structlearn.waist.objective import Oracle, Scaling
from structlearn.waist.planes import Outputs
from structlearn.waist.problem import Problem
from structlearn.waist.rows import SparseRows

#: From which methods each oracle is made, the first one that exists.
SOURCES: dict[Oracle, tuple[str, ...]] = {
    "best": ("inference", "outputs"),
    "loss_augmented": ("loss_augmented_inference", "best_per_loss_level", "outputs"),
    "second_best": ("k_best", "outputs"),
    "loss_levels": ("best_per_loss_level", "outputs"),
    "sums": ("outputs",),
}

#: The oracles that return one output.
ONE_OUTPUT = ("inference", "loss_augmented_inference")

#: What each method returns.
_FORMS = {
    "inference": "one output",
    "loss_augmented_inference": "one output",
    "k_best": "a list of outputs, best first, without scores",
    "best_per_loss_level": "a list of outputs, one for each value of the loss, without losses or scores",
    "outputs": "a list of all outputs",
}


class PythonProblem(Problem):
    """A user's model bound to data: loops over the examples in Python. Outputs are the user's own objects."""

    user_oracles = True

    def __init__(self, model: Any, n_features: int, X: Sequence[Any], Y: Sequence[Any] | None):
        self.n_examples = len(X)
        self.n_features = n_features
        self.exactness = exactness_of(model)
        self.oracles = frozenset(
            oracle for oracle, names in SOURCES.items() if any(hasattr(model, name) for name in names)
        )
        self._model = model
        self._X = X
        self._Y = Y
        self._relaxed = relaxed_options(model)
        self._looked_at: set[str] = set()
        self._truths = None if Y is None else [self._feature(i, y) for i, y in enumerate(Y)]

    def missing(self, oracle: str) -> str:
        names = " or ".join(SOURCES[oracle])  # type: ignore[index]
        return f"; write {names} in {type(self._model).__name__}"

    def fingerprint(self) -> str:
        import joblib

        options = dict(self._model.get_params()) if hasattr(self._model, "get_params") else {}
        return str(joblib.hash((options, self._X, self._Y)))

    def contradiction(self, w: FloatArray | None = None) -> str | None:
        if self._Y is not None and self.n_examples and self.loss_of(0, self._Y[0]) > 0.0:
            return f"loss(Y[0], Y[0]) is {self.loss_of(0, self._Y[0]):g}, but the truth has no loss"
        return contradiction(self, [name for name in ONE_OUTPUT if hasattr(self._model, name)], w)

    def ask_oracle(self, name: str, i: int, w: FloatArray) -> Any:
        assert self._Y is not None
        if name == "inference":
            return self._model.inference(self._X[i], w)
        return self._model.loss_augmented_inference(self._X[i], self._Y[i], w, **self._relaxed)

    def truth_at(self, i: int, w: FloatArray) -> Any:
        assert self._Y is not None
        return self._Y[i]

    def best(self, w: FloatArray, examples: IntArray) -> list[Any]:
        with lent(w) as given:
            if hasattr(self._model, "inference"):
                return [self._ask("inference", i, self._X[i], given) for i in examples.tolist()]
            return [max(self._listed(i), key=lambda y: self.score_of(i, y, given)) for i in examples.tolist()]

    def loss_augmented(self, w: FloatArray, examples: IntArray) -> list[Any]:
        if not hasattr(self._model, "loss_augmented_inference"):
            return self.loss_levels(w, examples, Scaling("margin", "linear"))
        assert self._Y is not None
        with lent(w) as given:
            return [
                self._ask("loss_augmented_inference", i, self._X[i], self._Y[i], given, **self._relaxed)
                for i in examples.tolist()
            ]

    def second_best(self, w: FloatArray, examples: IntArray) -> tuple[IntArray, list[Any]]:
        assert self._Y is not None
        answered, found = [], []
        with lent(w) as given:
            for i in examples.tolist():
                candidates = self._best(i, given, 2) if hasattr(self._model, "k_best") else self._listed(i)
                others = [y for y in candidates if not same_output(y, self._Y[i])]
                if others:
                    answered.append(i)
                    found.append(max(others, key=lambda y: self.score_of(i, y, given)))
        return np.array(answered, np.int64), found

    def loss_levels(self, w: FloatArray, examples: IntArray, scaling: Scaling) -> list[Any]:
        with lent(w) as given:
            return [self._most_violating(i, given, scaling) for i in examples.tolist()]

    def differences(self, examples: IntArray, outputs: Outputs) -> tuple[SparseRows, FloatArray]:
        assert self._truths is not None
        rows = [self._truths[i] - self._feature(int(i), y) for i, y in zip(examples, outputs, strict=True)]
        matrix = sp.vstack([*rows, sp.csr_array((0, self.n_features))], format="csr")
        losses = np.array([self.loss_of(int(i), y) for i, y in zip(examples, outputs, strict=True)])
        return SparseRows.from_matrix(sp.csr_array(matrix)), losses

    def differing_parts(self, w: FloatArray) -> list[PartFeatures]:
        """Ψ(x, y₀) − Ψ(x, y₁) as one part: how a user's features belong to parts of an output nobody says."""
        assert self._truths is not None
        return [PartFeatures.of_row("joint_feature", self._truths[0] - self._truths[1])]

    def losses(self, outputs: Outputs) -> FloatArray:
        return np.array([self.loss_of(i, y) for i, y in enumerate(outputs)])

    def k_best(self, w: FloatArray, k: int) -> list[list[tuple[Any, float]]]:
        with lent(w) as given:
            return [[(y, self.score_of(i, y, w)) for y in self._best(i, given, k)] for i in range(self.n_examples)]

    def max_losses(self) -> FloatArray:
        if hasattr(self._model, "max_loss"):
            assert self._Y is not None
            return np.array([float(self._model.max_loss(y)) for y in self._Y])
        if not hasattr(self._model, "outputs"):
            raise NotImplementedError(
                f"score needs the largest loss of an example: write max_loss(y) or outputs(x) in "
                f"{type(self._model).__name__}"
            )
        return np.array([max(self.loss_of(i, y) for y in self._listed(i)) for i in range(self.n_examples)])

    def radii(self) -> FloatArray:
        assert self._truths is not None
        return np.array(
            [
                max(sp.linalg.norm(truth - self._feature(i, y)) for y in self._listed(i))
                for i, truth in enumerate(self._truths)
            ]
        )

    def present(self, outputs: Outputs) -> list[Any]:
        return list(outputs)

    def _most_violating(self, i: int, w: FloatArray, scaling: Scaling) -> Any:
        assert self._Y is not None
        truth = self._Y[i]
        if hasattr(self._model, "best_per_loss_level"):
            candidates = self._ask("best_per_loss_level", i, self._X[i], truth, w)
        else:
            candidates = self._listed(i)
        truth_score = self.score_of(i, truth, w)

        def violation(y: Any) -> float:
            a, b = scaling(np.array([self.loss_of(i, y)]))
            return float(b[0] - a[0] * (truth_score - self.score_of(i, y, w)))

        return max([truth, *candidates], key=violation)

    def _best(self, i: int, w: FloatArray, k: int) -> list[Any]:
        if hasattr(self._model, "k_best"):
            best: list[Any] = self._ask("k_best", i, self._X[i], w, k)
            if len(best) > k:
                raise ValueError(f"k_best of example {i} returned {len(best)} outputs for k={k}")
            return best
        return sorted(self._listed(i), key=lambda y: -self.score_of(i, y, w))[:k]

    def _listed(self, i: int) -> list[Any]:
        if not hasattr(self._model, "outputs"):
            raise NotImplementedError(f"{type(self._model).__name__} does not list its outputs: write outputs(x)")
        listed: list[Any] = self._ask("outputs", i, self._X[i])
        return listed

    def _ask(self, method: str, i: int, *arguments: Any, **options: Any) -> Any:
        """What a method of the model answers for an example, a list where it stands for several outputs."""
        answer = getattr(self._model, method)(*arguments, **options)
        several = method not in ONE_OUTPUT
        if several:
            if isinstance(answer, (str, bytes, Mapping)) or not isinstance(answer, Iterable):
                raise TypeError(f"{method} of example {i} returned {answer!r}; expected {_FORMS[method]}")
            answer = list(answer)
        if method not in self._looked_at:
            # Once for each method: a look at every answer would double the work.
            self._looked_at.add(method)
            for y in answer if several else [answer]:
                self._look_at(method, i, y)
        return answer

    def _look_at(self, method: str, i: int, y: Any) -> None:
        """Refuses what is no output, such as an output with its score."""
        wrong = f"{method} of example {i} returned {y!r}, which is no output"
        if isinstance(y, tuple) and self._Y is not None and not isinstance(self._Y[i], tuple):
            numbers = [isinstance(part, (float, np.floating)) for part in y]
            if any(numbers) and not all(numbers):
                raise TypeError(f"{wrong}; expected {_FORMS[method]}")
        try:
            self._model.joint_feature(self._X[i], y)
        except Exception as error:
            raise TypeError(f"{wrong} for joint_feature ({error}); expected {_FORMS[method]}") from error

    def _feature(self, i: int, y: Any) -> sp.csr_array:
        return feature_row(self._model.joint_feature(self._X[i], y), i, self.n_features)

    def score_of(self, i: int, y: Any, w: FloatArray) -> float:
        return float((self._feature(i, y) @ w)[0])

    def loss_of(self, i: int, y: Any) -> float:
        assert self._Y is not None
        loss = loss_between(self._model, self._Y[i], y)
        if not (np.isfinite(loss) and loss >= 0.0):
            raise ValueError(f"the loss of example {i} is {loss} for the output {y!r}; it must be finite and ≥ 0")
        return loss


def feature_row(feature: Any, i: int, size: int | None) -> sp.csr_array:
    """A joint feature of example i as a row of this size, or of any size."""
    feature = checked_matrix(feature, f"joint_feature of example {i}")
    if not sp.issparse(feature):
        if feature.ndim != 1:
            raise ValueError(f"joint_feature of example {i} has {feature.ndim} dimensions; a vector is expected")
        feature = feature[None, :]
    row = sp.csr_array(feature, dtype=np.float64)
    if size is not None and row.shape != (1, size):
        raise ValueError(f"joint_feature of example {i} has shape {row.shape[1:]} but the first had ({size},)")
    if not np.isfinite(row.data).all():
        raise ValueError(f"joint_feature of example {i} holds {row.data[~np.isfinite(row.data)][0]}")
    return row
