"""Inference on graphs: how a search went, and what it found on a grid."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from structlearn.data.labels import observed_classes
from structlearn.inference.graphs.answers import Labelling
from structlearn.plots.canvas import BLUE, RED, axes, pyplot
from structlearn.wording import shown

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def bounds(found: Labelling, ax: Axes | None = None) -> Axes:
    """The best score and the upper bound of a search against time, which close in on the best labelling.

    Parameters
    ----------
    found : Labelling
        Of `structlearn.inference.best_labelling`.
    ax : Axes, optional

    Examples
    --------
    >>> from structlearn import plots
    >>> from structlearn.data import FactorGraph, Potts
    >>> from structlearn.inference import best_labelling
    >>> graph = FactorGraph.pairwise([[1.0, 0.0], [0.0, 0.4]], [(0, 1)], Potts(0.5))
    >>> [line.get_label() for line in plots.bounds(best_labelling(graph)).get_lines()]
    ['upper bound', 'score']
    """
    ax = axes(ax, 6.4, 4.0)
    seconds, score, bound = np.array(found.history).T
    for values, colour, label in ((bound, BLUE, "upper bound"), (score, RED, "score")):
        known = np.isfinite(values)
        # What was known last is known until the end.
        at, heights = np.append(seconds[known], found.seconds), np.append(values[known], values[known][-1:])
        ax.step(at[: len(heights)], heights, where="post", color=colour, label=label)
    ax.set(xlabel="seconds", ylabel="F(y)", title=f"{found.engine}: {found.stopped}")
    ax.legend(frameon=False)
    ax.spines[["top", "right"]].set_visible(False)
    return ax


def grid(
    labels: npt.ArrayLike,
    ax: Axes | None = None,
    *,
    classes: Sequence[Any] | None = None,
    legend: bool | None = None,
) -> Axes:
    """The labels of a grid as a picture, a colour a label.

    Parameters
    ----------
    labels : (n_rows, n_columns)
        Whole numbers or texts.
    ax : Axes, optional
    classes : sequence of labels, optional
        All there are, so that several pictures have the same colours. By default those that occur; of whole numbers
        from 0, all up to the largest.
    legend : bool, optional
        Whether there is one of the colours; by default where labels are texts.

    Examples
    --------
    >>> from structlearn import plots
    >>> plots.grid([[0, 1, 1], [0, 0, 1]]).get_images()[0].get_array().shape
    (2, 3)
    >>> ax = plots.grid([["sea", "sea"], ["sky", "sea"]])
    >>> [text.get_text() for text in ax.get_legend().get_texts()]
    ['sea', 'sky']
    """
    found = np.asarray(labels)
    if found.ndim != 2 or not found.size or found.dtype.kind not in "iubUO":
        raise ValueError(
            f"labels has shape {found.shape} and type {found.dtype}; expected rows and columns of numbers or texts"
        )
    known = _labels(found) if classes is None else list(classes)
    place = {label: k for k, label in enumerate(known)}
    new = next((label for label in found.ravel().tolist() if label not in place), None)
    if new is not None:
        raise ValueError(f"labels has {shown(new)}, which is not among classes")
    codes = np.array([place[label] for label in found.ravel().tolist()]).reshape(found.shape)
    height, width = found.shape
    ax = axes(ax, 4.8, 4.8 * height / width)
    colours = pyplot().get_cmap("viridis", len(known))
    ax.imshow(codes, cmap=colours, vmin=-0.5, vmax=len(known) - 0.5, interpolation="nearest")
    ax.set(xticks=[], yticks=[])
    if legend or (legend is None and any(isinstance(label, str) for label in known)):
        _legend(ax, known, [colours(k) for k in range(len(known))])
    return ax


def _labels(found: npt.NDArray[Any]) -> list[Any]:
    """All labels that have a colour."""
    if found.dtype.kind in "iu" and found.min() >= 0:
        return list(range(int(found.max()) + 1))
    return list(observed_classes(found.ravel().tolist()))


def _legend(ax: Axes, labels: Sequence[Any], colours: Sequence[Any]) -> None:
    """Beside the picture, which it would cover."""
    from matplotlib.patches import Patch

    handles = [Patch(color=colour, label=str(label)) for label, colour in zip(labels, colours, strict=True)]
    ax.legend(handles=handles, loc="center left", bbox_to_anchor=(1.0, 0.5), frameon=False)
