"""What outputs are to a learner of vectors."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any, NamedTuple, Self

import numpy as np

from structlearn.contract import Parameters
from structlearn.data.arrays import Flags, FloatArray, IntArray
from structlearn.data.examples import SEQUENCES, Words
from structlearn.data.tokens.sequences import NamedColumns, Sequences, stack
from structlearn.models.base import Model


class Columns(NamedTuple):
    """The columns of features that rows have in training: how many, and their names where they have some."""

    width: int
    names: tuple[str, ...] | None = None

    def chosen(self, X: Any, words: Words) -> tuple[Any, IntArray]:
        """These columns of inputs with several rows each, and where the rows of each begin."""
        if isinstance(X, Sequences) and X.names is not None and self.names is None and X.tokens.shape[0]:
            raise ValueError("X has features by name, but training had columns of numbers")
        return stack(X, None if self.names is None else NamedColumns(self.names), self.width, words)


class Rows(NamedTuple):
    """What is read of inputs.

    Attributes
    ----------
    matrix : (n_rows, n_columns) array or sparse matrix, or what else a kernel takes
    offsets : (n_examples + 1,)
        Where the rows of each input begin.
    columns : Columns
        Of the rows where an input has several.
    places : Any
        What `targets`, `nearest` and `score` are told: the offsets, or what more of inputs these outputs need.
    """

    matrix: Any
    offsets: IntArray
    columns: Columns
    places: Any


def part_rows(X: Any, columns: Columns | None, words: Words = SEQUENCES) -> Rows:
    """Sequences that were read; in prediction, where the columns are known, any that can be."""
    if columns is None:
        return Rows(X.tokens, X.offsets, Columns(int(X.tokens.shape[1]), X.names), X.offsets)
    matrix, offsets = columns.chosen(X, words)
    return Rows(matrix, offsets, columns, offsets)


class Preimages(NamedTuple):
    """Outputs for vectors.

    Attributes
    ----------
    outputs : list or array
        One a vector, as near to it as was found.
    exact : (n_examples,)
        Whether it is proven that no output is nearer; False where it is the best of candidates, or of an engine that
        proves nothing.
    """

    outputs: Any
    exact: Flags


class Outputs(Parameters, ABC):
    """ỹ = K_Y(y, ·) of outputs y, as coordinates; and y for a vector, its pre-image.

    A learner fits a copy of the object to the outputs of its training data. Attributes that `fit` leaves end with an
    underscore, and are in the files of models.

    An example has one vector, or one for each of several rows that `read` finds in its input: tokens, nodes, pairs.
    Then ỹ is all of these together, and a whole example is left out at a time.

    Attributes
    ----------
    metric_ : (d, d) array or None
        Inner products of the vectors that coordinates belong to; None if these are orthonormal.
    """

    metric_: FloatArray | None = None

    def check_options(self) -> None:
        """Refuses options that cannot be; called before any work, and when a model file is read."""
        return

    def read(self, X: Any, columns: Columns | None) -> Rows | None:
        """The rows of inputs that have several, checked, and None where each is one.

        `columns` are those of training, None in training itself.
        """
        return None

    @property
    def of_parts(self) -> bool:
        """Whether inputs have several rows, with a vector for each: `read` finds them."""
        return type(self).read is not Outputs.read

    def places(self, X: Any, offsets: IntArray) -> Any:
        """What `targets`, `nearest` and `score` are told of inputs that are one row each."""
        return offsets

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
    def targets(self, Y: Any, places: Any) -> FloatArray:
        """Coordinates of ỹ, (n_rows, d), of outputs whose inputs have their rows at these places; see `Rows`."""

    @abstractmethod
    def nearest(self, vectors: FloatArray, places: Any) -> Any:
        """The outputs y with the least ‖f(x) − ỹ‖², for coordinates of f(x), (n_rows, d)."""

    def preimages(self, vectors: FloatArray, places: Any) -> Preimages:
        """`nearest`, and which of them are proven to be."""
        found = self.nearest(vectors, places)
        return Preimages(found, np.ones(len(found), np.bool_))

    @abstractmethod
    def score(self, Y: Any, predicted: Any, places: Any, sample_weight: FloatArray) -> float:
        """How right predictions are: 1 if all are."""

    @abstractmethod
    def check_learnt(self) -> None:
        """Refuses what `fit` could not have learnt; who loads an estimator asks for it."""
