"""Losses: what it costs to predict ŷ where y is true, and how that enters a decoder.

Outputs are made of parts, and a loss speaks of the local ones: labels at places, labelled spans, pairs of letters. How
they lie in an array depends on the structure:

==================  ==================================  ===========================================================
structure           shape of the local parts            entry
==================  ==================================  ===========================================================
``Multiclass``      (n_labels,)                         the label
``Chain``           (length, n_labels)                  token t has label l
``Segments``        (length, longest, n_labels)         a segment with label l begins at t and has k + 1 tokens
``Grammar``         (length + 1, length + 1, n_labels)  a phrase with label l spans the tokens begin, …, end − 1
``DependencyTree``  (length + 1, length + 1, n_labels)  an arc with label l from a head, 0 for the root, to a token
``Alignment``       (length of s, length of t)          letters i and j are partners
``Matching``        (n_rows, n_columns)                 row i and column j are partners
hypergraphs         (n_parts,)                          the output has the part, which stands among the labels
==================  ==================================  ===========================================================
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from structlearn.contract import Parameters
from structlearn.data.arrays import FloatArray
from structlearn.data.options import choice_option


class LocalParts(NamedTuple):
    """What the local parts of an example are.

    Attributes
    ----------
    shape : tuple of int
        Of an array with an entry for each.
    labels : tuple
        The labels, in the order of the last axis; empty where parts have none.
    """

    shape: tuple[int, ...]
    labels: tuple[Any, ...] = ()


class Loss(Parameters):
    """Δ(y, ŷ) ≥ 0, zero on the truth. One of `AdditiveLoss`, `CountedLoss` and `ZeroOneLoss`, or with an own oracle.

    Options are arguments of the constructor, kept under their names, so that losses can be cloned and searched.
    """

    def in_words(self) -> str:
        """What one unit of the loss is, for reports."""
        return f"the loss of {type(self).__name__}"

    def check_options(self) -> None:
        """Refuses options that cannot be; called before training, and when a model file is read."""

    def check_labels(self, labels: Sequence[Any]) -> None:
        """Refuses options that name none of the labels; called before training."""


class AdditiveLoss(Loss, ABC):
    """Δ(y, ŷ) = ⟨ℓ, μ(ŷ)⟩ − ⟨ℓ, μ(y)⟩ with a number ℓ for every local part, which may depend on y.

    The truth has loss zero by definition; that no other output has less is for the loss to see to.
    """

    @abstractmethod
    def parts(self, truth: Any, local: LocalParts) -> FloatArray:
        """ℓ, an array of the shape of the local parts."""


class CountedLoss(Loss, ABC):
    """Δ(y, ŷ) = value(counts of ŷ), where one or two whole numbers are counted over the local parts."""

    @abstractmethod
    def counts(self, truth: Any, local: LocalParts) -> npt.NDArray[np.integer[Any]]:
        """What each local part adds to each count, whole numbers ≥ 0 of the shape ``(1 or 2, *shape)``."""

    @abstractmethod
    def value(self, counts: npt.NDArray[np.int64], true_counts: npt.NDArray[np.int64]) -> FloatArray:
        """Δ of outputs with these counts, (m, 1 or 2) → (m,); `true_counts`, (1 or 2,), are those of the truth.

        All combinations of counts are asked for; those that no output has may have any value.
        """


class ZeroOneLoss(Loss):
    """Δ(y, ŷ) = [ŷ ≠ y]."""

    def in_words(self) -> str:
        return "1 for a wrong output"


def loss_option(loss: Any, names: tuple[str, ...]) -> None:
    """Refuses what is neither a loss nor the name of one."""
    if isinstance(loss, Loss):
        loss.check_options()
    elif isinstance(loss, type) and issubclass(loss, Loss):
        raise ValueError(f"loss is the class {loss.__name__}; give an object, {loss.__name__}()")
    else:
        choice_option("loss", loss, names)
