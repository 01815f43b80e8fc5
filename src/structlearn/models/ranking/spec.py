"""What fitting learns about queries and their documents."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self

from structlearn.data.sequences import feature_names, token_width
from structlearn.models.base import Spec


@dataclass(frozen=True)
class DocumentSpec(Spec):
    """What documents look like.

    Attributes
    ----------
    n_inputs : int
        Features of a document, which are all the weights there are.
    vocabulary : tuple of str or None
        Their names in column order, where they came as dicts.
    """

    n_inputs: int
    vocabulary: tuple[str, ...] | None = None

    @classmethod
    def of(cls, X: Any) -> Self:
        names = feature_names(X)
        return cls(token_width(X) if names is None else len(names), names)

    @classmethod
    def from_dict(cls, values: dict[str, Any]) -> Self:
        names = values["vocabulary"]
        return cls(values["n_inputs"], None if names is None else tuple(names))
