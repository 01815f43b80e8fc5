"""Rankings: the documents of a query, the best first."""

from __future__ import annotations

from typing import Any

import numpy as np
from rich.text import Text

from structlearn.drawing.base import Drawing
from structlearn.markup import element

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
    shown = order[:MOST_DOCUMENTS]
    lines = ["place  document"]
    marks = [False] * len(shown)
    values: list[str] = []
    if relevance is not None:
        ranked = np.asarray(relevance, np.float64)[order]
        best_after = np.append(np.maximum.accumulate(ranked[::-1])[::-1][1:], -np.inf)
        marks = (best_after > ranked)[: len(shown)].tolist()
        values = [f"{value:g}" for value in ranked[: len(shown)]]
        lines[0] += "  relevance"
    rule = "-" * len(lines[0])
    texts = [Text(lines[0], "dim")]
    for place, (document, wrong) in enumerate(zip(shown.tolist(), marks, strict=True)):
        if place == k:
            texts.append(Text(rule, "dim"))
        line = f"{place + 1:>5}  {document + 1:>8}" + (f"  {values[place]:>9}" if values else "")
        texts.append(Text.assemble(line, (" ✗", "bold red")) if wrong else Text(line))
    if len(order) > len(shown):
        texts.append(Text(f"and {len(order) - len(shown)} more", "dim"))
    rows = [
        [element("span", text.plain, class_="given") if text.plain.endswith("✗") else text.plain, "\n"]
        for text in texts
    ]
    figure = element("figure", element("pre", rows, class_="alignment"))
    return Drawing(Text("\n").join(texts), element("div", figure, class_="drawing"))
