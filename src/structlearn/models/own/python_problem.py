"""A user's model bound to data: the oracles of `structlearn.models.own.python_model`, example after example."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import islice
from typing import Any

import numpy as np
import scipy.sparse as sp

from structlearn.data.arrays import FloatArray, IntArray
from structlearn.data.examples import same_output
from structlearn.models.explanation import PartFeatures
from structlearn.models.own.joint_features import (
    Stack,
    checked_stack,
    difference_rows,
    feature_row,
    joined,
    score,
    stacked,
)
from structlearn.models.own.processes import ProblemInProcesses
from structlearn.models.own.relaxation import exactness_of, loss_between, relaxed_options
from structlearn.models.own.spot_check import lent
from structlearn.waist.objective import Oracle, Scaling
from structlearn.waist.planes import Outputs, Planes
from structlearn.waist.rows import Rows

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


class PythonProblem(ProblemInProcesses):
    """A user's model bound to data, asked in Python. Outputs are the user's own objects."""

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
        self._truths = None if Y is None else self._features(np.arange(len(X)), Y)

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
        return super().contradiction(w)

    def ask_oracle(self, name: str, i: int, w: FloatArray) -> Any:
        assert self._Y is not None
        if name == "inference":
            return self._model.inference(self._X[i], w)
        return self._model.loss_augmented_inference(self._X[i], self._Y[i], w, **self._relaxed)

    def truth_at(self, i: int, w: FloatArray) -> Any:
        assert self._Y is not None
        return self._Y[i]

    def some_outputs(self, i: int, n: int) -> list[Any]:
        return list(islice(self._model.outputs(self._X[i]), n)) if hasattr(self._model, "outputs") else []

    def best(self, w: FloatArray, examples: IntArray) -> list[Any]:
        return [y for found in self._answers("_inference", examples, w) for y in found]

    def _inference(self, examples: IntArray, w: FloatArray) -> list[Any]:
        with lent(w) as given:
            if hasattr(self._model, "batch_inference") and hasattr(self._model, "inference"):
                return self._ask_batch("inference", examples, _chosen(self._X, examples), given)
            if hasattr(self._model, "inference"):
                return [self._ask("inference", i, self._X[i], given) for i in examples.tolist()]
            return [max(self._listed(i), key=lambda y: self.score_of(i, y, given)) for i in examples.tolist()]

    def loss_augmented(self, w: FloatArray, examples: IntArray) -> list[Any]:
        if not hasattr(self._model, "loss_augmented_inference"):
            return self.loss_levels(w, examples, Scaling("margin", "linear"))
        assert self._Y is not None
        with lent(w) as given:
            if hasattr(self._model, "batch_loss_augmented_inference"):
                batch = _chosen(self._X, examples), _chosen(self._Y, examples)
                return self._ask_batch("loss_augmented_inference", examples, *batch, given, **self._relaxed)
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

    def _planes(self, w: FloatArray, examples: IntArray, scaling: Scaling) -> Planes:
        found = self._answers("_violation", examples, w, scaling)
        answered = np.concatenate([group[0] for group in found])
        outputs = [y for group in found for y in group[1]]
        rows, losses = self._compared(answered, [group[2] for group in found])
        a, b = scaling(losses)
        return Planes(answered, rows, losses, outputs, b - a * rows.dot(w))

    def _violation(self, examples: IntArray, w: FloatArray, scaling: Scaling) -> tuple[IntArray, Outputs, Any]:
        answered, outputs = self.most_violating(w, examples, scaling)
        return answered, outputs, self._described(answered, outputs)

    def differences(self, examples: IntArray, outputs: Outputs) -> tuple[Rows, FloatArray]:
        return self._compared(examples, self._answers("_described", examples, beside=outputs))

    def _described(self, examples: IntArray, outputs: Outputs) -> tuple[Stack, FloatArray]:
        """Ψ(x_i, y) and Δ(y_i, y) of every example with its output."""
        return self._features(examples, outputs), self._losses(examples, outputs)

    def _compared(self, examples: IntArray, described: list[tuple[Stack, FloatArray]]) -> tuple[Rows, FloatArray]:
        assert self._truths is not None
        features = joined([one for one, _ in described], self.n_features)
        return difference_rows(self._truths[examples], features), np.concatenate([losses for _, losses in described])

    def differing_parts(self, w: FloatArray) -> list[PartFeatures]:
        """Ψ(x, y₀) − Ψ(x, y₁) as one part: how a user's features belong to parts of an output nobody says."""
        assert self._truths is not None
        change = difference_rows(self._truths[[0]], self._truths[[1]]).sparse()
        return [PartFeatures.of_row("joint_feature", change.matrix(self.n_features))]

    def losses(self, outputs: Outputs) -> FloatArray:
        return np.concatenate(self._answers("_losses", np.arange(len(outputs)), beside=outputs))

    def k_best(self, w: FloatArray, k: int) -> list[list[tuple[Any, float]]]:
        return [best for found in self._answers("_k_best", np.arange(self.n_examples), w, k) for best in found]

    def _k_best(self, examples: IntArray, w: FloatArray, k: int) -> list[list[tuple[Any, float]]]:
        with lent(w) as given:
            return [[(y, self.score_of(i, y, w)) for y in self._best(i, given, k)] for i in examples.tolist()]

    def max_losses(self) -> FloatArray:
        if hasattr(self._model, "max_loss"):
            assert self._Y is not None
            return np.array([float(self._model.max_loss(y)) for y in self._Y])
        if not hasattr(self._model, "outputs"):
            raise NotImplementedError(
                f"score needs the largest loss of an example: write max_loss(y) or outputs(x) in "
                f"{type(self._model).__name__}"
            )
        return np.concatenate(self._answers("_largest_losses", np.arange(self.n_examples)))

    def _largest_losses(self, examples: IntArray) -> FloatArray:
        return np.array([max(self.loss_of(i, y) for y in self._listed(i)) for i in examples.tolist()], np.float64)

    def radii(self) -> FloatArray:
        assert self._Y is not None
        return np.array(
            [
                max(sp.linalg.norm(self._feature(i, truth) - self._feature(i, y)) for y in self._listed(i))
                for i, truth in enumerate(self._Y)
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

    def _ask_batch(self, method: str, examples: IntArray, *arguments: Any, **options: Any) -> list[Any]:
        """What the method of the same name for many examples answers, one output for each."""
        batch = f"batch_{method}"
        answers = list(getattr(self._model, batch)(*arguments, **options))
        if len(answers) != len(examples):
            raise ValueError(f"{batch} returned {len(answers)} outputs for {len(examples)} examples")
        if batch not in self._looked_at and answers:
            self._looked_at.add(batch)
            i, w = int(examples[0]), arguments[-1]
            self._look_at(batch, i, answers[0])
            self._compare(method, i, answers[0], w)
        return answers

    def _compare(self, method: str, i: int, y: Any, w: FloatArray) -> None:
        """Refuses a method for many examples that finds something worse than the one for one example."""
        if self._Y is None or self.exactness == "approximate":
            return
        answers = y, self.ask_oracle(method, i, w)
        many, one = (self.score_of(i, each, w) for each in answers)
        if method == "loss_augmented_inference":
            many, one = many + self.loss_of(i, y), one + self.loss_of(i, answers[1])
        if abs(many - one) > 1e-9 + 1e-6 * abs(one):
            raise ValueError(
                f"batch_{method} and {method} disagree on example {i}: what they find is worth {many:g} and {one:g}"
            )

    def _features(self, examples: IntArray, outputs: Outputs) -> Stack:
        """Ψ(x_i, y) of every example with its output."""
        if hasattr(self._model, "joint_features"):
            found = self._model.joint_features(_chosen(self._X, examples), _like(self._Y, outputs))
            return checked_stack(found, examples, self.n_features)
        pairs = zip(examples.tolist(), outputs, strict=True)
        return stacked((self._model.joint_feature(self._X[i], y) for i, y in pairs), examples, self.n_features)

    def _losses(self, examples: IntArray, outputs: Outputs) -> FloatArray:
        """Δ(y_i, ŷ) of every example with its output."""
        assert self._Y is not None
        pairs = list(zip(examples.tolist(), outputs, strict=True))
        if not hasattr(self._model, "batch_loss") or any(isinstance(y, tuple) for y in outputs):
            return np.array([self.loss_of(i, y) for i, y in pairs])
        found = self._model.batch_loss(_chosen(self._Y, examples), _like(self._Y, outputs))
        losses = np.array(found, np.float64)
        if losses.shape != (len(pairs),):
            raise ValueError(f"batch_loss returned losses of the shape {losses.shape} for {len(pairs)} examples")
        losses[(losses < 0.0) & (losses >= -1e-9)] = 0.0
        for k in np.flatnonzero(~(np.isfinite(losses) & (losses >= 0.0))).tolist():
            i, y = pairs[k]
            raise ValueError(_bad_loss(i, y, float(losses[k])))
        return losses

    def _feature(self, i: int, y: Any) -> sp.csr_array:
        return feature_row(self._model.joint_feature(self._X[i], y), i, self.n_features)

    def score_of(self, i: int, y: Any, w: FloatArray) -> float:
        return score(self._model.joint_feature(self._X[i], y), i, w)

    def loss_of(self, i: int, y: Any) -> float:
        assert self._Y is not None
        loss = loss_between(self._model, self._Y[i], y)
        if not (np.isfinite(loss) and loss >= 0.0):
            raise ValueError(_bad_loss(i, y, loss))
        return loss


def _bad_loss(i: int, y: Any, loss: float) -> str:
    return f"the loss of example {i} is {loss} for the output {y!r}; it must be finite and ≥ 0"


def _chosen(values: Sequence[Any], examples: IntArray) -> Any:
    """The values of these examples: an array where they are one, else a list."""
    return values[examples] if isinstance(values, np.ndarray) else [values[i] for i in examples.tolist()]


def _like(truths: Sequence[Any] | None, outputs: Outputs) -> Any:
    """Outputs for a method that takes many: an array where the truths are one."""
    return np.asarray(outputs) if isinstance(truths, np.ndarray) else list(outputs)
