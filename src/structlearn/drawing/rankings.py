"""Rankings: the documents of a query, the best first."""

from __future__ import annotations

from typing import Any

import numpy as np
from rich.text import Text

from structlearn.drawing.base import Drawing
from structlearn.drawing.markup import Html, element, markup

#: Documents that are shown.
MOST_DOCUMENTS = 20


def draw_ranking(ranking: Any, relevance: Any = None, *, k: int | None = None) -> Drawing:
    """The documents of a query in the order of a ranking, with their relevance where it is known.

    A document is marked ✗ where a more relevant one comes after it. Documents are counted from 1.

    Parameters
    ----------
    ranking : (n_documents,)
        Their numbers, counted from 0, the best first.
    relevance : (n_documents,), optional
    k : int, optional
        How many count; a line is drawn after them.

    Examples
    --------
    >>> print(draw_ranking([2, 0, 1], [1, 0, 0], k=1))
    place  document  relevance
        1         3          0 ✗
    --------------------------
        2         1          1
        3         2          0
    """
    order = np.asarray(ranking, np.int64)
    shown = order[:MOST_DOCUMENTS].tolist()
    heading = "place  document"
    lines = [(f"{place:>5}  {document + 1:>8}", "", False) for place, document in enumerate(shown, 1)]
    if relevance is not None:
        heading += "  relevance"
        ranked = np.asarray(relevance, np.float64)[order]
        best_after = np.append(np.maximum.accumulate(ranked[::-1])[::-1][1:], -np.inf)
        wrong = (best_after > ranked).tolist()
        values = [f"{value:g}" for value in ranked]
        lines = [
            (line + "  " + " " * (9 - len(values[j])), values[j], wrong[j]) for j, (line, _, _) in enumerate(lines)
        ]
    return _drawn(heading, lines, k, len(order) - len(shown))


def _drawn(heading: str, lines: list[tuple[str, str, bool]], k: int | None, n_more: int) -> Drawing:
    """Lines of places and documents, what is known of each, and whether that is wrong."""
    texts, rows = [Text(heading, "dim")], [markup(heading)]
    for place, (line, value, wrong) in enumerate(lines):
        if place == k:
            texts.append(Text("-" * len(heading), "dim"))
            rows.append(markup(texts[-1].plain))
        texts.append(Text.assemble(line, value, (" ✗", "bold red") if wrong else ""))
        rows.append(markup([line, element("span", f"{value} ✗", class_="given") if wrong else value]))
    if n_more:
        texts.append(Text(f"and {n_more} more", "dim"))
        rows.append(markup(texts[-1].plain))
    figure = element("figure", element("pre", Html("\n".join(rows)), class_="alignment"))
    return Drawing(Text("\n").join(texts), element("div", figure, class_="drawing"))
