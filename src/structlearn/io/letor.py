"""The queries of LETOR and SVM^rank: ``relevance qid:number index:value … # comment``, one document a line."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Self

import numpy as np

from structlearn.io.format import Example, Structure
from structlearn.io.svmhmm import QID, SvmHmm, numbered_groups
from structlearn.io.svmlight import fields_before_comment, parse_features, with_labels
from structlearn.io.text import Lines, quoted


@dataclass(frozen=True)
class Letor(SvmHmm):
    """Documents of features by their indices; successive lines with the same ``qid`` are the documents of a query.

    y is a list of numbers, the relevance of the documents. A value NULL is as if its index were not there. All else is
    as in `SvmHmm`, whose files look alike: a file is taken for queries if its comments name documents, ``#docid = …``,
    or if a document has the label 0, which is no tag of SVM^hmm, and all have the same indices. A predicted ranking of
    n documents replaces the labels by n for the best, n − 1, …, 1.

    Examples
    --------
    >>> lines = Lines([b"1 qid:7 1:0.5 2:NULL #docid = a\\n0 qid:7 1:2 2:3 #docid = b\\n"], "train.txt")
    >>> (query,) = Letor().read(lines)
    >>> query.y, query.x
    ([1.0, 0.0], [{'1': 0.5}, {'1': 2.0, '2': 3.0}])
    >>> print(Letor().annotate(query, [1, 0]), end="")
    1 qid:7 1:0.5 2:NULL #docid = a
    2 qid:7 1:2 2:3 #docid = b
    """

    name: ClassVar[str] = "letor"
    look_alike: ClassVar[str] = "taken for queries with documents to rank; for sequences of tokens, say --format svmhmm"

    @property
    def structure(self) -> Structure:
        return "query"

    @classmethod
    def recognise(cls, head: Sequence[str], filename: str) -> Self | None:
        rows = [(fields_before_comment(line), line.partition("#")[2]) for line in head]
        rows = [(fields, comment) for fields, comment in rows if fields]
        if not rows or not all(any(map(QID.fullmatch, fields[:2])) for fields, _ in rows):
            return None
        if all(comment.strip().startswith("docid") for _, comment in rows):
            return cls()
        indices = {tuple(field.partition(":")[0] for field in fields[2:]) for fields, _ in rows}
        return cls() if any(fields[0] in ("0", "0.0") for fields, _ in rows) and len(indices) == 1 else None

    def parse(self, lines: Lines) -> Iterator[Example]:
        for example in numbered_groups(lines, _features):
            yield example if example.y is None else replace(example, y=[float(label) for label in example.y])

    def annotate(self, example: Example, y: Any) -> str:
        order, n = np.asarray(y), len(example.x)
        if order.dtype.kind not in "iu" or sorted(order.tolist()) != list(range(n)):
            raise ValueError(f"{quoted(str(y))} is no ranking of {n} documents")
        labels = (n - np.argsort(order)).tolist()
        return with_labels(example.source, labels, had_some=example.y is not None)

    def title(self, example: Example) -> str:
        fields = fields_before_comment(example.source[0])
        return next(field for field in fields if QID.fullmatch(field))


def _features(lines: Lines, line: str, fields: Sequence[str], first: int) -> dict[str, float]:
    known = [field for field in fields if not field.endswith(":NULL")]
    return parse_features(lines, line, known, first)
