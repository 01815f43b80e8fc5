"""Inference on graphs: how a search went, and what it found on a grid."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from structlearn.inference.graphs.answers import Labelling
from structlearn.plots.canvas import BLUE, RED, axes, pyplot

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


def grid(labels: npt.ArrayLike, ax: Axes | None = None) -> Axes:
    """The labels of a grid as a picture, a colour a label.

    Parameters
    ----------
    labels : (n_rows, n_columns)
    ax : Axes, optional

    Examples
    --------
    >>> from structlearn import plots
    >>> plots.grid([[0, 1, 1], [0, 0, 1]]).get_images()[0].get_array().shape
    (2, 3)
    """
    codes = np.asarray(labels)
    if codes.ndim != 2 or codes.dtype.kind not in "iu":
        raise ValueError(
            f"labels has shape {codes.shape} and type {codes.dtype}; expected rows and columns of integers"
        )
    ax = axes(ax, 4.8, 4.8 * codes.shape[0] / max(codes.shape[1], 1))
    n_labels = int(codes.max(initial=0)) + 1
    colours = pyplot().get_cmap("viridis", n_labels)
    ax.imshow(codes, cmap=colours, vmin=-0.5, vmax=n_labels - 0.5, interpolation="nearest")
    ax.set(xticks=[], yticks=[])
    return ax
