"""Searches: the candidates of every query, ranked, with their scores and alignments."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from structlearn.data.biosequences.matches import to_gapped
from structlearn.io.fasta import Row, read_fasta
from structlearn.io.text import open_text
from structlearn.persistence.model_file import steps_of
from structlearn.wording import shown

HEADINGS = ("query", "rank", "candidate", "score", "query_row", "candidate_row")


def rankings(
    estimator: Any, queries: str, candidates: str, encoding: str, k_best: int | None, *, as_json: bool
) -> Iterator[str]:
    """A line for each query and candidate with tabs between, best first, or a JSON object for each query."""
    _, last = steps_of(estimator)
    known = set(last.spec_.residues)
    others = list(_sequences(candidates, encoding, known))
    if not as_json:
        yield "\t".join(HEADINGS) + "\n"
    for query in _sequences(queries, encoding, known):
        x = (query.sequence, [other.sequence for other in others])
        (found,) = last.model_.ranked(last.spec_, last.w_, [x], k_best)
        ranked = [
            (others[place].name, round(score, 6), *to_gapped(query.sequence, others[place].sequence, matches))
            for place, matches, score in found
        ]
        if as_json:
            listed = [{"candidate": name, "score": score, "rows": rows} for name, score, *rows in ranked]
            told = {"file": queries, "line": query.line, "query": query.name, "ranking": listed}
            yield json.dumps(told, ensure_ascii=False) + "\n"
            continue
        for rank, (name, score, *rows) in enumerate(ranked, start=1):
            yield "\t".join([query.name, str(rank), name, f"{score:.6g}", *rows]) + "\n"


def _sequences(file: str, encoding: str, known: set[Any]) -> Iterator[Row]:
    """The sequences of a FASTA file; names a letter that the model does not know."""
    with open_text(file, encoding) as lines:
        for row in read_fasta(lines):
            wrong = next((letter for letter in row.sequence if letter not in known), None)
            if wrong is not None:
                told = f"{row.name} has the letter {shown(wrong)}, which is not among {' '.join(sorted(known))}"
                raise lines.error(told, line=row.line)
            yield row
