"""What the weights of rankings are called, and why one document stands before another."""

from __future__ import annotations

import numbers
from collections.abc import Sequence
from typing import Any

import numpy as np

from structlearn.data.arrays import FloatArray
from structlearn.data.queries import ranked
from structlearn.models.base import TokenColumns
from structlearn.models.description import WeightBlock, blocks_of, column_names
from structlearn.models.explanation import Comparison, PartFeatures, comparison
from structlearn.models.ranking.documents import Documents
from structlearn.wording import shown


def document_blocks(spec: TokenColumns, w: FloatArray, feature_names: Sequence[str] | None) -> tuple[WeightBlock, ...]:
    return blocks_of(w, ("relevance", (column_names(spec, feature_names),)))


def order_of_two(
    spec: TokenColumns,
    w: FloatArray,
    x: Any,
    t: int | None,
    document: Any,
    against: Any,
    blocks: Sequence[WeightBlock],
) -> Comparison:
    """Why a document, by default the first of the ranking, stands before another, by default the one after it.

    The joint features of whole rankings depend on the loss and on which documents are relevant; what puts one document
    before another does not: ⟨w, x_i⟩ − ⟨w, x_j⟩.
    """
    if t is not None:
        raise ValueError(f"t is {t}, but a ranking has no tokens; give two documents as label and against")
    documents = Documents.bound(spec, [x])
    n = int(documents.offsets[-1])
    order = ranked(documents.scores(w, np.arange(n)), documents.offsets, 1).tolist()
    first = order[0] if document is None else _checked("label", document, n)
    if against is None and n == 1:
        raise ValueError("x has one document only: there is nothing to compare it with")
    after = order.index(first) + 1
    other = order[after if after < n else after - 2] if against is None else _checked("against", against, n)
    if other == first:
        raise ValueError(f"label and against are both {other}; give two different documents")
    parts = [
        PartFeatures.of_row(f"document {k}", sign * documents.flat[[k]], sign)
        for k, sign in ((first, 1.0), (other, -1.0))
    ]
    return comparison(first, other, parts, w, blocks)


def wrong_pair(ranking: Sequence[int], relevance: Sequence[float]) -> tuple[int, int]:
    """The first document of a ranking that stands before a more relevant one, and the most relevant of those.

    >>> wrong_pair([2, 0, 1], [1.0, 3.0, 2.0])
    (2, 1)
    """
    order = [int(document) for document in ranking]
    for place, document in enumerate(order):
        most = max(order[place:], key=lambda other: relevance[other])
        if relevance[most] > relevance[document]:
            return document, most
    return order[0], order[1]


def _checked(name: str, document: Any, n: int) -> int:
    if not isinstance(document, numbers.Integral) or not 0 <= int(document) < n:
        raise ValueError(f"{name} is {shown(document)}; expected the number of one of the {n} documents, from 0")
    return int(document)
