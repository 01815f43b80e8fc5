"""What fitting learns about queries and their documents."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self

from structlearn.data.tokens.sequences import read_sequences
from structlearn.models.base import Spec, TokenColumns


@dataclass(frozen=True)
class DocumentSpec(TokenColumns, Spec):
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
        X = read_sequences(X)
        return cls(X.tokens.shape[1], X.names)

    @classmethod
    def from_dict(cls, values: dict[str, Any]) -> Self:
        names = values["vocabulary"]
        spec = cls(values["n_inputs"], None if names is None else tuple(names))
        spec.check()
        return spec

    def check(self) -> None:
        self.check_columns()
