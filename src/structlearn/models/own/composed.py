"""A structure put together from a scorer, an engine and a loss."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from structlearn.data.arrays import FloatArray
from structlearn.models.base import Ability, Model
from structlearn.models.description import WeightBlock
from structlearn.models.own.composed_check import composed_findings
from structlearn.models.own.composed_problem import PythonComposedProblem, SummedProblem
from structlearn.models.own.python_model import PythonSpec
from structlearn.waist.engine import Engine, KBestEngine, SamplingEngine, SumsEngine
from structlearn.waist.loss import AdditiveLoss, Loss, ZeroOneLoss
from structlearn.waist.scorer import Scorer


class Composed(Model):
    """F(x, y) = ⟨θ, μ(y)⟩ with θ = A_x w: the scorer makes scores of parts, the engine outputs of scores.

    What estimators can do with it follows from the methods of the engine: `sums` makes it a model for
    `ConditionalRandomField`, `sample` and `k_best` give the methods of these names.

    Parameters
    ----------
    scorer : Scorer
        From weights to scores of parts, and back.
    engine : Engine
        From scores of parts to outputs. X is a list of what the scorer takes, Y one of what the engine returns.
    loss : AdditiveLoss or ZeroOneLoss
        Δ. One that adds up over local parts is added to their scores; for the zero-one loss the engine needs `k_best`.

    Notes
    -----
    A file does not hold the code of these three: ``structlearn.load(path, model=Composed(…))``.
    """

    in_files = False

    def __init__(self, scorer: Scorer, engine: Engine, loss: Loss):
        self.scorer = scorer
        self.engine = engine
        self.loss = loss

    @property
    def abilities(self) -> frozenset[Ability]:
        able: dict[Ability, bool] = {
            "explain": True,
            "k_best": isinstance(self.engine, KBestEngine),
            "sums": isinstance(self.engine, SumsEngine),
            "samples": isinstance(self.engine, SumsEngine) and isinstance(self.engine, SamplingEngine),
        }
        return frozenset(ability for ability, there in able.items() if there)

    def check_options(self) -> None:
        for name, methods in (("scorer", ("scores", "push")), ("engine", ("best", "parts"))):
            given = getattr(self, name)
            for method in methods:
                if not callable(getattr(given, method, None)):
                    raise TypeError(f"{name} is a {type(given).__name__}, which has no method {method!r}")
        if not isinstance(self.loss, (AdditiveLoss, ZeroOneLoss)):
            raise TypeError(
                f"loss is a {type(self.loss).__name__}; Composed has oracles for an AdditiveLoss and a ZeroOneLoss only"
            )

    def specify(self, X: Any, Y: Any) -> PythonSpec:
        self.check_options()
        if len(X) == 0:
            raise ValueError("X is empty; training needs at least one example")
        return PythonSpec(n_features=int(self.scorer.n_features))

    def bind(self, spec: PythonSpec, X: Any, Y: Any = None, *, allow_unknown: bool = False) -> PythonComposedProblem:
        if Y is not None and len(X) != len(Y):
            raise ValueError(f"X has {len(X)} examples but Y has {len(Y)}")
        kind = SummedProblem if isinstance(self.engine, SumsEngine) else PythonComposedProblem
        problem = kind(self.scorer, self.engine, self.loss, X, Y)
        if Y is not None and not allow_unknown:
            problem.check_truths()
        return problem

    def named_weights(
        self, spec: PythonSpec, w: FloatArray, feature_names: Sequence[str] | None = None
    ) -> tuple[WeightBlock, ...]:
        """One block, with the names that the scorer has as `feature_names`, if it has any."""
        own = getattr(self.scorer, "feature_names", None)
        return super().named_weights(spec, w, own if feature_names is None else feature_names)

    def n_weights(self, spec: PythonSpec) -> int:
        self.check_options()
        if spec.n_features != self.scorer.n_features:
            raise ValueError(
                f"there are {spec.n_features} weights, but {type(self.scorer).__name__} has {self.scorer.n_features}"
            )
        return spec.n_features

    def findings(
        self, X: Any, Y: Any, draw: Callable[[int], FloatArray], n_weights: int, random: np.random.Generator
    ) -> list[str]:
        """How scorer, engine and loss break their rules, for `structlearn.testing.check_model`."""
        return composed_findings(self, X, Y, draw, n_weights, random)

    def loss_in_words(self) -> str:
        return self.loss.in_words()

    def spec_from_dict(self, values: dict[str, Any]) -> PythonSpec:
        return PythonSpec.from_dict(values)
