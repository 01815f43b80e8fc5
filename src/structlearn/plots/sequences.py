"""One sequence and what is said about it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from structlearn.data.labels import observed_classes, plain
from structlearn.data.tokens.segments import Segment, checked_segments
from structlearn.plots.canvas import FADED, INK, RED, axes, pyplot

if TYPE_CHECKING:
    from matplotlib.axes import Axes

Rows = dict[str, list[Segment]]
Colours = dict[Any, tuple[float, float, float]]

#: Most characters on a line of words; inches for a character and for a row.
LINE, CHARACTER, ROW = 84, 0.088, 0.27


def sequence(
    tokens: Any, y: Any, predicted: Any = None, ax: Axes | None = None, *, classes: Sequence[Any] | None = None
) -> Axes:
    """One sequence with its labels in colour, and below them other labels, framed in red where they differ.

    Parameters
    ----------
    tokens : sequence
        Words, or tuples that begin with one, are written above their labels, a long sentence on several lines. Of
        anything else, such as the rows of an array, only the number counts, and the labels are stripes of colour.
    y, predicted : sequence of labels, or list of segments (label, begin, end)
        The second may be left out.
    ax : Axes, optional
    classes : sequence, optional
        All labels, such as `classes_` of an estimator, so that several pictures have the same colours. None takes those
        that occur here.

    Examples
    --------
    >>> from structlearn import plots
    >>> ax = plots.sequence(["the", "dog", "barks"], ["DET", "NOUN", "VERB"], ["DET", "NOUN", "NOUN"])
    >>> [text.get_text() for text in ax.texts][:3]
    ['the', 'dog', 'barks']
    """
    n = tokens.shape[0] if hasattr(tokens, "shape") else len(tokens)
    if n == 0:
        raise ValueError("the sequence has no tokens")
    rows = {"true" if predicted is not None else "labels": _pieces(y, n, "y")}
    if predicted is not None:
        rows["predicted"] = _pieces(predicted, n, "predicted")
    labels = [label for pieces in rows.values() for label, _, _ in pieces]
    colours = _colours(labels if classes is None else [*map(plain, classes), *labels])
    differs = np.zeros(n, bool)
    for _, begin, end in set(rows.get("predicted", ())) - set(next(iter(rows.values()))):
        differs[begin:end] = True
    words = _words(tokens)
    if words is None:
        return _draw_stripes(axes(ax, 8.0, 1.0 + 0.3 * len(rows)), n, rows, colours, differs)
    lines = list(_lines(_widths(words, rows)))
    size = 1.0 + CHARACTER * max(line[-1] for _, line in lines), ROW * len(lines) * (len(rows) + 1.5)
    return _draw_words(axes(ax, *size), words, lines, rows, colours, differs)


def _pieces(y: Any, n: int, name: str) -> list[Segment]:
    """Labels as segments of one token; segments as they are."""
    if len(y) and all(isinstance(part, tuple) and len(part) == 3 for part in y):
        segments = checked_segments(y, name)
        if segments[-1][2] != n:
            raise ValueError(f"{name} ends at {segments[-1][2]} but there are {n} tokens")
        return segments
    if len(y) != n:
        raise ValueError(f"{name} has {len(y)} labels but there are {n} tokens")
    return [(plain(label), t, t + 1) for t, label in enumerate(y)]


def _words(tokens: Any) -> list[str] | None:
    if hasattr(tokens, "shape"):
        tokens = tokens.tolist() if isinstance(tokens, np.ndarray) and tokens.dtype.kind in "UO" else [None]
    words = [token[0] if isinstance(token, tuple) and token else token for token in tokens]
    return words if all(isinstance(word, str) for word in words) else None


def _colours(labels: list[Any]) -> Colours:
    """Light colours that carry dark text; "O", which says that there is nothing, is grey."""
    classes = [label for label in observed_classes(labels) if label != "O"]
    maps = pyplot().colormaps
    few = len(classes) <= 10
    full = [maps["tab10"](k) if few else maps["hsv"](k / len(classes)) for k in range(len(classes))]
    light = [tuple(0.5 + 0.5 * part for part in colour[:3]) for colour in full]
    return {"O": (0.9, 0.9, 0.9)} | dict(zip(classes, light, strict=True))


def _widths(words: list[str], rows: Rows) -> list[int]:
    """Characters every token takes: its word has room, and so has the label above whose tokens it is the last."""
    widths = [len(word) + 2 for word in words]
    for pieces in rows.values():
        for label, begin, end in pieces:
            widths[end - 1] += max(0, len(str(label)) + 2 - sum(widths[begin:end]))
    return widths


def _lines(widths: list[int]) -> Iterator[tuple[int, npt.NDArray[np.int64]]]:
    """The first token of each line, and where its tokens begin and the last one ends, in characters."""
    first, used = 0, 0
    for t, width in enumerate(widths):
        if used and used + width > LINE:
            yield first, np.cumsum([0, *widths[first:t]])
            first, used = t, 0
        used += width
    yield first, np.cumsum([0, *widths[first:]])


def _draw_words(
    ax: Axes,
    words: list[str],
    lines: list[tuple[int, npt.NDArray[np.int64]]],
    rows: Rows,
    colours: Colours,
    differs: npt.NDArray[np.bool_],
) -> Axes:
    height = len(rows) + 1.5
    for k, (first, at) in enumerate(lines):
        last = first + len(at) - 1
        for t in range(first, last):
            middle = (at[t - first] + at[t - first + 1]) / 2
            ax.text(middle, k * height + 0.5, words[t], ha="center", va="center", color=INK)
        for row, (name, pieces) in enumerate(rows.items(), 1):
            top = k * height + row
            ax.text(-1, top + 0.5, name, ha="right", va="center", color=FADED, fontsize=8)
            for label, begin, end in pieces:
                if begin < last and end > first:
                    left, right = at[max(begin - first, 0)], at[min(end, last) - first]
                    wrong = row == 2 and bool(differs[begin:end].any())
                    _draw_cell(ax, left, right, top, str(label), colours[label], wrong)
    ax.set(xlim=(0, max(at[-1] for _, at in lines)), ylim=(len(lines) * height - 0.5, 0))
    ax.axis("off")
    return ax


def _draw_cell(
    ax: Axes, left: float, right: float, top: float, text: str, colour: tuple[float, float, float], wrong: bool
) -> None:
    frame = {"edgecolor": RED, "linewidth": 1.6} if wrong else {"edgecolor": "none"}
    ax.add_patch(
        pyplot().Rectangle((left + 0.2, top + 0.07), right - left - 0.4, 0.86, facecolor=colour, clip_on=False, **frame)
    )
    weight = "bold" if wrong else "normal"
    ax.text((left + right) / 2, top + 0.5, text, ha="center", va="center", color=INK, fontsize=8, weight=weight)


def _draw_stripes(ax: Axes, n: int, rows: Rows, colours: Colours, differs: npt.NDArray[np.bool_]) -> Axes:
    for row, pieces in enumerate(rows.values()):
        for label, colour in colours.items():
            spans = [(begin, end - begin) for found, begin, end in pieces if found == label]
            if spans:
                # Neighbours of one colour touch: without an edge a hairline would show between them.
                ax.broken_barh(spans, (row, 0.9), facecolors=colour, edgecolors=colour, linewidth=0.5)
    if differs.any():
        ax.broken_barh([(t, 1) for t in np.flatnonzero(differs).tolist()], (1.95, 0.12), facecolors=RED, edgecolors=RED)
    ax.set_yticks(np.arange(len(rows)) + 0.45, list(rows))
    ax.set(xlim=(0, n), ylim=(len(rows) + 0.15, 0), xlabel="position")
    ax.tick_params(axis="y", length=0)
    ax.spines[:].set_visible(False)
    shown = [label for label in colours if any(label == found for pieces in rows.values() for found, _, _ in pieces)]
    patches = [pyplot().Rectangle((0, 0), 1, 1, facecolor=colours[label], label=str(label)) for label in shown]
    ax.legend(handles=patches, frameon=False, loc="lower right", bbox_to_anchor=(1, 1), ncols=10, handlelength=1)
    return ax
