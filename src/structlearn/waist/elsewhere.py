"""Examples that are not in this process: what `fit` takes in the place of X."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any

from structlearn.waist.problem import Problem


class Elsewhere(ABC):
    """Inputs with their outputs that are read where they are; see `structlearn.distributed`.

    `structlearn.models` and estimators know nothing of where that is.
    """

    @abstractmethod
    def __len__(self) -> int:
        """How many examples there are."""

    @abstractmethod
    def check(self, Y: Any, model: Any) -> None:
        """Refuses outputs that are not those of these examples, and models that cannot go to where they are."""

    @abstractmethod
    def specify(self, model: Any) -> Any:
        """What the model learns about all of the data, as its `specify` does."""

    @abstractmethod
    def bind(self, model: Any, spec: Any) -> Problem:
        """The model on all of the data."""
