"""Models with latent parts that users write in Python.

An output is a pair (y, h): y is what the data have, h what they leave out. A model is any object with

- ``joint_feature(x, y, h)``: Ψ(x, y, h), a vector, dense or sparse;
- ``loss(y, y_hat, h_hat)``: Δ(y, ŷ, ĥ) ≥ 0, zero if ĥ completes ŷ = y;
- ``inference(x, w)``: the best pair (y, h);
- ``loss_augmented_inference(x, y, w)``: the pair (ŷ, ĥ) with the largest ⟨w, Ψ(x, ŷ, ĥ)⟩ + Δ(y, ŷ, ĥ);
- ``complete(x, y, w)``: the best h for this y.

``outputs(x)``, a list of all pairs, takes the place of the two inferences where outputs are few, and serves the
other formulations. Also understood: ``completions(x, y)``, a list of all h for this y, from which random starts are
drawn (without it they are the best h at random weights); ``initialize(X, Y)``, ``max_loss(y)`` and ``exactness`` as
for models without latent parts, see `structlearn.models.own.python_model`.

How many weights there are is told by an attribute ``n_features``, or seen from the features of what ``completions``
lists.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import islice
from typing import Any, ClassVar

import numpy as np
import scipy.sparse as sp

from structlearn.data.arrays import FloatArray, IntArray
from structlearn.data.examples import same_output
from structlearn.models.base import Ability
from structlearn.models.explanation import PartFeatures
from structlearn.models.own.joint_features import feature_row
from structlearn.models.own.processes import ProblemInProcesses
from structlearn.models.own.python_model import PythonModel, PythonSpec
from structlearn.models.own.relaxation import exactness_of
from structlearn.models.own.spot_check import lent
from structlearn.waist.latent import LatentProblem
from structlearn.waist.objective import Oracle, Scaling
from structlearn.waist.planes import Outputs
from structlearn.waist.rows import SparseRows


class PythonLatentModel(PythonModel):
    """A user's model with latent parts in the form that estimators expect.

    Parameters
    ----------
    user_model : object
        See the module's docstring.
    """

    latent = True

    methods: ClassVar[dict[str, tuple[str, ...]]] = {
        "joint_feature": ("x", "y", "h"),
        "loss": ("y", "y_hat", "h_hat"),
        "complete": ("x", "y", "w"),
    }

    @property
    def abilities(self) -> frozenset[Ability]:
        return frozenset({"explain"})

    def specify(self, X: Any, Y: Any) -> PythonSpec:
        if len(X) == 0:
            raise ValueError("X is empty; training needs at least one example")
        if len(X) != len(Y):
            raise ValueError(f"X has {len(X)} examples but Y has {len(Y)}")
        spec = self._sized(X, Y)
        self._check_answers(X[0], Y[0], np.zeros(spec.n_features))
        return spec

    def _sized(self, X: Any, Y: Any) -> PythonSpec:
        if hasattr(self.user_model, "n_features"):
            return PythonSpec(n_features=int(self.user_model.n_features))
        if not hasattr(self.user_model, "completions"):
            raise TypeError(
                f"the number of weights of {type(self.user_model).__name__} cannot be told: give it an attribute "
                "n_features, or a method completions(x, y) that lists latent parts"
            )
        h = next(iter(self.user_model.completions(X[0], Y[0])), None)
        row = feature_row(self.user_model.joint_feature(X[0], Y[0], h), 0, None)
        return PythonSpec(n_features=row.shape[1])

    def bind(self, spec: PythonSpec, X: Any, Y: Any = None, *, allow_unknown: bool = False) -> PythonLatentProblem:
        if Y is not None and len(X) != len(Y):
            raise ValueError(f"X has {len(X)} examples but Y has {len(Y)}")
        return PythonLatentProblem(self.user_model, spec.n_features, X, Y)

    def _check_answers(self, x: Any, y: Any, w: FloatArray) -> None:
        """Refuses pairs in the place of latent parts and the other way round, which training might not notice."""
        model = self.user_model
        if hasattr(model, "inference"):
            best = checked_pair("inference", 0, model.inference(x, w))
        elif hasattr(model, "outputs"):
            best = checked_pair("outputs", 0, next(iter(model.outputs(x)), None))
        else:
            return
        h = model.complete(x, y, w)
        if _begins_with(h, y) and not _begins_with(best[1], best[0]):
            raise TypeError(f"complete of example 0 returned {h!r}, the pair (y, h); expected the latent part h alone")


class PythonLatentProblem(ProblemInProcesses, LatentProblem):
    """A user's model with latent parts, bound to data. Outputs are tuples (y, h) of the user's own objects."""

    user_oracles = True

    def __init__(self, model: Any, n_features: int, X: Sequence[Any], Y: Sequence[Any] | None):
        self.n_examples = len(X)
        self.n_features = n_features
        self.exactness = exactness_of(model)
        listed = hasattr(model, "outputs")
        oracles: dict[Oracle, bool] = {
            "best": listed or hasattr(model, "inference"),
            "loss_augmented": listed or hasattr(model, "loss_augmented_inference"),
            "loss_levels": listed,
        }
        self.oracles = frozenset(oracle for oracle, there in oracles.items() if there)
        self._model = model
        self._X = X
        self._Y = Y

    def ask_oracle(self, name: str, i: int, w: FloatArray) -> Any:
        assert self._Y is not None
        arguments = (self._X[i], w) if name == "inference" else (self._X[i], self._Y[i], w)
        return getattr(self._model, name)(*arguments)

    def truth_at(self, i: int, w: FloatArray) -> Any:
        assert self._Y is not None
        return (self._Y[i], self._model.complete(self._X[i], self._Y[i], w))

    def some_outputs(self, i: int, n: int) -> list[Any]:
        return list(islice(self._model.outputs(self._X[i]), n)) if hasattr(self._model, "outputs") else []

    def best(self, w: FloatArray, examples: IntArray) -> list[Any]:
        return [pair for found in self._answers("_inference", examples, w) for pair in found]

    def _inference(self, examples: IntArray, w: FloatArray) -> list[Any]:
        with lent(w) as given:
            if hasattr(self._model, "inference"):
                return [
                    checked_pair("inference", i, self._model.inference(self._X[i], given)) for i in examples.tolist()
                ]
            return [max(self._listed(i), key=lambda pair: self.score_of(i, pair, given)) for i in examples.tolist()]

    def loss_augmented(self, w: FloatArray, examples: IntArray) -> list[Any]:
        if not hasattr(self._model, "loss_augmented_inference"):
            return self.loss_levels(w, examples, Scaling("margin", "linear"))
        return [pair for found in self._answers("_loss_augmented", examples, w) for pair in found]

    def _loss_augmented(self, examples: IntArray, w: FloatArray) -> list[Any]:
        assert self._Y is not None
        ask = self._model.loss_augmented_inference
        with lent(w) as given:
            return [
                checked_pair("loss_augmented_inference", i, ask(self._X[i], self._Y[i], given))
                for i in examples.tolist()
            ]

    def loss_levels(self, w: FloatArray, examples: IntArray, scaling: Scaling) -> list[Any]:
        truths = self.truths(w, examples)
        found = self._answers("_loss_levels", examples, w, scaling, beside=truths)
        return [pair for group in found for pair in group]

    def _loss_levels(self, examples: IntArray, truths: Outputs, w: FloatArray, scaling: Scaling) -> list[Any]:
        with lent(w) as given:
            return [
                self._most_violating(i, given, scaling, self.score_of(i, truth, given))
                for i, truth in zip(examples.tolist(), truths, strict=True)
            ]

    def complete(self, w: FloatArray, examples: IntArray) -> list[Any]:
        return [pair for found in self._answers("_completed", examples, w) for pair in found]

    def _completed(self, examples: IntArray, w: FloatArray) -> list[Any]:
        assert self._Y is not None
        with lent(w) as given:
            return [(self._Y[i], self._model.complete(self._X[i], self._Y[i], given)) for i in examples]

    def between(self, examples: IntArray, left: Outputs, right: Outputs) -> SparseRows:
        both = list(zip(left, right, strict=True))
        matrix = sp.vstack(self._answers("_between", examples, beside=both), format="csr")
        return SparseRows.from_matrix(sp.csr_array(matrix))

    def _between(self, examples: IntArray, both: list[tuple[Any, Any]]) -> sp.csr_array:
        pairs = zip(examples.tolist(), both, strict=True)
        rows = [self._feature(i, left) - self._feature(i, right) for i, (left, right) in pairs]
        return sp.csr_array(sp.vstack([*rows, sp.csr_array((0, self.n_features))], format="csr"))

    def differing_parts(self, w: FloatArray) -> list[PartFeatures]:
        """See `PythonProblem.differing_parts`; both outputs are completed by their best latent parts."""
        left, right = self.complete(w, np.arange(2))
        return [PartFeatures.of_row("joint_feature", self._feature(0, left) - self._feature(0, right))]

    def output_losses(self, examples: IntArray, outputs: Outputs) -> FloatArray:
        return np.concatenate(self._answers("_losses", examples, beside=outputs))

    def _losses(self, examples: IntArray, outputs: Outputs) -> FloatArray:
        return np.array([self.loss_of(i, output) for i, output in zip(examples.tolist(), outputs, strict=True)])

    def random_completions(self, random: np.random.Generator) -> list[Any]:
        assert self._Y is not None
        if not hasattr(self._model, "completions"):
            return self.complete(random.normal(size=self.n_features), np.arange(self.n_examples))
        completions = []
        for i, (x, y) in enumerate(zip(self._X, self._Y, strict=True)):
            latent = list(self._model.completions(x, y))
            if not latent:
                raise ValueError(f"Y[{i}] is {y!r}, which no latent part completes")
            completions.append((y, latent[random.integers(len(latent))]))
        return completions

    def check_completions(self, completions: Any) -> None:
        """Nothing but the user's own code sees them, which says what it does not like."""
        if len(completions) != self.n_examples:
            raise ValueError(f"there are {len(completions)} completions of {self.n_examples} examples")

    def completions_of(self, latent: Sequence[Any]) -> list[Any]:
        assert self._Y is not None
        return list(zip(self._Y, latent, strict=True))

    def max_losses(self) -> FloatArray:
        assert self._Y is not None
        if hasattr(self._model, "max_loss"):
            return np.array([float(self._model.max_loss(y)) for y in self._Y])
        if not hasattr(self._model, "outputs"):
            raise NotImplementedError(
                f"score needs the largest loss of an example: write max_loss(y) or outputs(x) in "
                f"{type(self._model).__name__}"
            )
        return np.array([max(self.loss_of(i, pair) for pair in self._listed(i)) for i in range(self.n_examples)])

    def radii(self) -> FloatArray:
        assert self.completions is not None
        return np.array(
            [
                max(sp.linalg.norm(self._feature(i, truth) - self._feature(i, pair)) for pair in self._listed(i))
                for i, truth in enumerate(self.completions)
            ]
        )

    def present(self, outputs: Outputs) -> list[Any]:
        return [y for y, _ in outputs]

    def present_latent(self, outputs: Outputs) -> list[Any]:
        return [h for _, h in outputs]

    def missing(self, oracle: str) -> str:
        name = {"best": "inference or outputs", "loss_augmented": "loss_augmented_inference or outputs"}
        return f"; write {name.get(oracle, 'outputs')} in {type(self._model).__name__}"

    def fingerprint(self) -> str:
        import joblib

        options = dict(self._model.get_params()) if hasattr(self._model, "get_params") else {}
        return str(joblib.hash((options, self._X, self._Y)))

    def _most_violating(self, i: int, w: FloatArray, scaling: Scaling, truth_score: float) -> Any:
        def violation(pair: Any) -> float:
            a, b = scaling(np.array([self.loss_of(i, pair)]))
            return float(b[0] - a[0] * (truth_score - self.score_of(i, pair, w)))

        return max(self._listed(i), key=violation)

    def _listed(self, i: int) -> list[Any]:
        if not hasattr(self._model, "outputs"):
            raise NotImplementedError(f"{type(self._model).__name__} does not list its outputs: write outputs(x)")
        return [checked_pair("outputs", i, pair) for pair in self._model.outputs(self._X[i])]

    def _feature(self, i: int, pair: Any) -> sp.csr_array:
        return feature_row(self._model.joint_feature(self._X[i], *pair), i, self.n_features)

    def score_of(self, i: int, pair: Any, w: FloatArray) -> float:
        return float((self._feature(int(i), pair) @ w)[0])

    def loss_of(self, i: int, pair: Any) -> float:
        assert self._Y is not None
        loss = float(self._model.loss(self._Y[i], *pair))
        if not (np.isfinite(loss) and loss >= 0.0):
            raise ValueError(f"the loss of example {i} is {loss} for the output {pair!r}; it must be finite and ≥ 0")
        return loss


def checked_pair(method: str, i: int, answer: Any) -> tuple[Any, Any]:
    """What a method returned for an example, refused if it is no pair."""
    if not (isinstance(answer, tuple) and len(answer) == 2):
        raise TypeError(f"{method} of example {i} returned {answer!r}; expected pairs (y, h)")
    return answer


def _begins_with(h: Any, y: Any) -> bool:
    return isinstance(h, tuple) and len(h) == 2 and same_output(h[0], y)
