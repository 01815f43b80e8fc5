"""What outputs are to a learner of vectors."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any, ClassVar, Self

from structlearn.contract import Parameters
from structlearn.data.arrays import FloatArray, IntArray
from structlearn.models.base import Model


class Outputs(Parameters, ABC):
    """ỹ = K_Y(y, ·) of outputs y, as coordinates; and y for a vector, its pre-image.

    A learner fits a copy of the object to the outputs of its training data. Attributes that `fit` leaves end with an
    underscore, and are in the files of models.

    Attributes
    ----------
    metric_ : (d, d) array or None
        Inner products of the vectors that coordinates belong to; None if these are orthonormal.
    """

    #: Whether an input is a sequence with a row a token, and its output has a vector for each.
    of_sequences: ClassVar[bool] = False

    metric_: FloatArray | None = None

    def check_options(self) -> None:
        """Refuses options that cannot be; called before any work, and when a model file is read."""
        return

    def model(self) -> Model | None:
        """The model that predicts the same, which knows how outputs are measured, drawn and called; None without one.

        Asked for after `fit`.
        """
        return None

    @abstractmethod
    def fit(self, Y: Any) -> Self:
        """Learns what outputs there are."""

    @abstractmethod
    def n_coordinates(self) -> int:
        """d, how many coordinates a vector has."""

    @abstractmethod
    def targets(self, Y: Any, offsets: IntArray) -> FloatArray:
        """Coordinates of ỹ, (n_rows, d), of outputs whose inputs have their rows from these offsets on."""

    @abstractmethod
    def nearest(self, vectors: FloatArray, offsets: IntArray) -> Any:
        """The outputs y with the least ‖f(x) − ỹ‖², for coordinates of f(x), (n_rows, d)."""

    @abstractmethod
    def score(self, Y: Any, predicted: Any, offsets: IntArray, sample_weight: FloatArray) -> float:
        """How right predictions are: 1 if all are."""

    @abstractmethod
    def check_learnt(self) -> None:
        """Refuses what `fit` could not have learnt; who loads an estimator asks for it."""
