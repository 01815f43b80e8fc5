"""Models whose outputs are a label for each place of an example: tokens of a sequence, nodes of a graph."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

from structlearn.data.examples import Words
from structlearn.data.known.labels import labels_in
from structlearn.data.labels import LabelSequences, read_label_sequences
from structlearn.losses import Loss
from structlearn.models.label_losses import label_loss, refuse_partial
from structlearn.models.partial import PartialModel


class LabellingModel(PartialModel):
    """What such models have in common: how data are read, and what they teach.

    A subclass has the options `classes`, `loss` and `label_weight`.

    Attributes
    ----------
    words : Words
        What an input and its places are called in messages.
    """

    words: ClassVar[Words]
    kind = "sequences"
    takes_allowed = True

    classes: Sequence[Any] | None
    loss: Any
    label_weight: Mapping[Any, float] | None

    @abstractmethod
    def read_inputs(self, X: Any) -> Any:
        """The inputs, checked, in a form that is not read again."""

    @abstractmethod
    def specified(self, X: Any, observed: tuple[Any, ...]) -> Any:
        """The spec, from inputs that were read and the labels that were seen."""

    def read(self, X: Any, Y: Any) -> tuple[Any, LabelSequences]:
        return self.read_inputs(X), read_label_sequences(Y, self.words)

    def specify(self, X: Any, Y: Any) -> Any:
        X, Y = self.read(X, Y)
        spec = self.specified(X, Y.classes)
        refuse_partial(Y, spec.classes, declared=self.classes is not None)
        return spec

    def read_partial(self, X: Any, Y: Any) -> tuple[Any, Any]:
        return self.read_inputs(X), Y

    def specify_partial(self, X: Any, Y: Any) -> Any:
        observed = labels_in(Y, self.words)
        if self.classes is None and not observed:
            raise ValueError(f"Y says nothing about any {self.words.place}; training needs some labels")
        return self.specified(self.read_inputs(X), observed)

    def loss_object(self) -> Loss:
        """The loss that the option stands for."""
        return label_loss(self.loss, self.label_weight)

    def loss_in_words(self) -> str:
        if isinstance(self.loss, str) and self.loss == "zero_one":
            return f"1 for a {self.words.example} with a wrong label"
        return self.loss_object().in_words()
