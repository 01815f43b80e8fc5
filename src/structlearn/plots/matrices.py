"""Label against label: mistakes, and learnt transitions."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from sklearn.utils.validation import check_is_fitted

from structlearn.data.arrays import FloatArray
from structlearn.estimators.generative.hidden_markov import HiddenMarkov
from structlearn.metrics.labels import Labels
from structlearn.metrics.labels import confusion as counted
from structlearn.models.description import TransitionScores
from structlearn.plots.canvas import FADED, INK, axes, last_step, pyplot

if TYPE_CHECKING:
    from matplotlib.axes import Axes

#: With more labels than this, cells are too small for numbers.
MOST_NUMBERED = 16


def confusion(
    Y: Labels, predicted: Labels, ax: Axes | None = None, *, normalize: Literal["true", "predicted"] | None = None
) -> Axes:
    """Which labels are taken for which: a row for a true label, a column for a predicted one.

    What is right is blue, mistakes are red; the darker, the greater the part of the row, or, with
    ``normalize="predicted"``, of the column. The darkest red is the greatest mistake, however rare it is.

    Parameters
    ----------
    Y, predicted : lists of label sequences
        As for `structlearn.metrics.confusion`.
    ax : Axes, optional
    normalize : {"true", "predicted"}, optional
        Whether the numbers are percentages of their row (on the diagonal: recall) or of their column (precision)
        instead of counts.

    Examples
    --------
    >>> from structlearn import plots
    >>> ax = plots.confusion([["DET", "NOUN", "VERB"]], [["DET", "NOUN", "NOUN"]])
    >>> [label.get_text() for label in ax.get_xticklabels()]
    ['DET', 'NOUN', 'VERB']
    """
    if normalize not in (None, "true", "predicted"):
        raise ValueError(f"normalize is {normalize!r}; it may be 'true', 'predicted' or None")
    found = counted(Y, predicted)
    share = found.counts / np.maximum(found.counts.sum(axis=0 if normalize == "predicted" else 1, keepdims=True), 1)
    names = [str(label) for label in found.labels]
    ax = axes(ax, *_size(len(names), len(names)))
    right = np.eye(len(names), dtype=bool)
    worst = np.where(right, 0.0, share).max()
    strength = np.where(right, share, share * (0.7 / worst if worst > 0 else 0.0))
    _draw(ax, np.where(right, strength, -strength), "RdBu", 1.0, names, names)
    if normalize is None:
        _number(ax, found.counts.astype(np.float64), strength, digits=0)
    else:
        _number(ax, 100 * share, strength, digits=1)
    unit = {None: "", "true": " (% of the row)", "predicted": " (% of the column)"}[normalize]
    ax.set(xlabel="predicted" + unit, ylabel="true")
    return ax


def transitions(estimator: Any, ax: Axes | None = None) -> Axes:
    """What was learnt about which label follows which, from row to column.

    A cell has the score η w_{a, b} that a step from a to b adds: red above zero, blue below. The row and the column
    apart have the scores of the first and the last label, where the model has them. Forbidden steps are crossed out.
    A `HiddenMarkov` shows its probabilities.

    Parameters
    ----------
    estimator : fitted estimator
        With a `Chain` or with `Segments`, or a `HiddenMarkov`.
    ax : Axes, optional

    Examples
    --------
    >>> from structlearn import StructuralSVM, plots
    >>> from structlearn.models import Chain
    >>> svm = StructuralSVM(Chain(), C=10).fit([[[0.0], [1.0]], [[0.0], [2.0]]], [["low", "high"], ["low", "high"]])
    >>> ax = plots.transitions(svm)
    >>> [label.get_text() for label in ax.get_yticklabels()]
    ['high', 'low', 'start']
    """
    estimator = last_step(estimator)
    check_is_fitted(estimator)
    if isinstance(estimator, HiddenMarkov):
        labels: Sequence[Any] = estimator.classes_.tolist()
        scores, colours = np.vstack([estimator.transition_, estimator.start_]), "Reds"
    else:
        labels, scores = _step_scores(estimator.model_, estimator.spec_, estimator.w_)
        colours = "RdBu_r"
    names = [str(label) for label in labels]
    rows, columns = (
        names + [name] * (size - len(names)) for name, size in zip(("start", "stop"), scores.shape, strict=True)
    )
    ax = axes(ax, *_size(*scores.shape))
    reach = 1.0 if colours == "Reds" else max(float(np.nanmax(np.abs(scores), initial=0.0)), 1e-12)
    _draw(ax, scores, colours, reach, rows, columns)
    _number(ax, scores, np.abs(scores) / reach, digits=2)
    forbidden = np.isnan(scores)
    # Nothing goes from start to stop.
    forbidden[len(names) :, len(names) :] = False
    down, across = np.nonzero(forbidden)
    ax.scatter(across, down, marker="x", color=FADED, s=16, linewidths=1)
    for line, along in ((ax.axhline, rows), (ax.axvline, columns)):
        if len(along) > len(names):
            line(len(names) - 0.5, color="white", linewidth=5)
    ax.set(xlabel="to", ylabel="from")
    return ax


def _step_scores(model: Any, spec: Any, w: FloatArray) -> tuple[Sequence[Any], FloatArray]:
    """Labels, and scores from row to column, start and stop last if there are such; NaN where a step cannot be."""
    scores: TransitionScores | None = model.transition_scores(spec, w)
    if scores is None:
        raise TypeError(f"{model.class_name} has no transitions; Chain, Segments and HiddenMarkov have")
    if scores.start is None or scores.stop is None:
        return scores.labels, scores.moves
    return scores.labels, np.block([[scores.moves, scores.stop[:, None]], [scores.start, np.full(1, np.nan)]])


def _size(n_rows: int, n_columns: int) -> tuple[float, float]:
    """Inches that leave room for a number in every cell, as long as there are numbers."""
    cell = 0.52 if max(n_rows, n_columns) <= MOST_NUMBERED else 0.2
    return max(3.2, 1.2 + cell * n_columns), max(2.8, 1.0 + cell * n_rows)


def _draw(ax: Axes, values: FloatArray, colours: str, reach: float, rows: list[str], columns: list[str]) -> None:
    pyplot()
    ax.imshow(values, cmap=colours, vmin=0 if colours == "Reds" else -reach, vmax=reach)
    fits = max(map(len, columns)) <= (5 if max(values.shape) <= MOST_NUMBERED else 2)
    ax.set_xticks(range(len(columns)), columns, rotation=0 if fits else 90)
    ax.set_yticks(range(len(rows)), rows)
    ax.set_xticks(np.arange(len(columns) - 1) + 0.5, minor=True)
    ax.set_yticks(np.arange(len(rows) - 1) + 0.5, minor=True)
    ax.grid(which="minor", color="white", linewidth=0.6)
    ax.tick_params(which="both", length=0)
    ax.spines[:].set_visible(False)


def _number(ax: Axes, values: FloatArray, strength: FloatArray, digits: int) -> None:
    """Writes what is not zero into its cell, in white where the cell is dark."""
    if max(values.shape) > MOST_NUMBERED:
        return
    for row, column in np.argwhere(np.nan_to_num(values) != 0):
        value, dark = values[row, column], strength[row, column] > 0.6
        text = f"{value:.{digits if abs(value) < 10 else 0}f}".replace("-", "−")
        ax.text(column, row, text, ha="center", va="center", fontsize=8, color="white" if dark else INK)
