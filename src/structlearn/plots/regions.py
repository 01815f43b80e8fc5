"""Classes in the plane: where an estimator says which, its margins and its support vectors."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from structlearn.contract import check_is_fitted
from structlearn.data.arrays import FloatArray
from structlearn.data.labels import observed_classes
from structlearn.data.matrices import check_finite, checked_numbers
from structlearn.data.options import flag_option
from structlearn.plots.canvas import BLUE, INK, RED, axes, last_step
from structlearn.wording import count

if TYPE_CHECKING:
    from matplotlib.axes import Axes

#: A colour and a marker for each class, from the first on.
COLOURS = (BLUE, RED, "#2f7d4f", "#8a5aa8", "#b7791f", "#2b8a99", "#a3485f", "#5f6b2d")
MARKERS = "osD^vPX*"
#: Points of the plane that are asked for, along each side, and room around the data as a share of its width.
STEPS, ROOM = 300, 0.15


def decision_regions(
    estimator: Any, X: npt.ArrayLike, y: Any, ax: Axes | None = None, *, margins: bool | None = None
) -> Axes:
    """The regions of the plane in which a classifier says each class, and the examples.

    Parameters
    ----------
    estimator : fitted classifier
        Of two columns, with `predict`: `RegularizedRisk`, ``StructuralSVM(Multiclass())``, one of scikit-learn's.
    X : (n, 2) array
        The examples that are shown, and that the picture is as large as.
    y : (n,) labels
    ax : Axes, optional
    margins : bool, optional
        Whether lines show where f(x) = ±1, beside the one where f(x) = 0, of an estimator of two classes with a
        `decision_function`. By default where it has `support_vectors_`, which are circled.

    Examples
    --------
    >>> from structlearn import RegularizedRisk, plots
    >>> from structlearn.estimators.regularized_risk import L2, Hinge
    >>> from structlearn.kernels import RBF
    >>> X, y = [[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]], ["no", "yes", "yes", "no"]
    >>> svm = RegularizedRisk(Hinge(), L2(RBF(gamma=1.0)), C=40).fit(X, y)
    >>> ax = plots.decision_regions(svm, X, y)
    >>> [text.get_text() for text in ax.get_legend().get_texts()]
    ['no', 'yes', 'support vectors']
    """
    if margins is not None:
        flag_option("margins", margins)
    check_is_fitted(last_step(estimator))
    points, labels = _plane(X), np.asarray(y)
    if labels.shape != (len(points),):
        raise ValueError(f"X has {count(len(points), 'example')} but y has shape {labels.shape}")
    classes = list(observed_classes([*getattr(estimator, "classes_", []), *labels.tolist()]))
    if len(classes) > len(COLOURS):
        raise ValueError(f"there are {count(len(classes), 'class', 'classes')}; at most {len(COLOURS)} have a colour")
    ax = axes(ax, 5.6, 4.6)
    grid = np.meshgrid(*(_sides(points[:, column]) for column in (0, 1)))
    asked = np.column_stack([each.ravel() for each in grid])
    place = {label: k for k, label in enumerate(classes)}
    codes = np.array([place[label] for label in np.asarray(estimator.predict(asked)).tolist()])
    levels = np.arange(len(classes) + 1) - 0.5
    ax.contourf(*grid, codes.reshape(grid[0].shape), levels=levels, colors=COLOURS[: len(classes)], alpha=0.15)
    support = getattr(last_step(estimator), "support_vectors_", None)
    if len(classes) == 2 and hasattr(estimator, "decision_function"):
        scores = np.asarray(estimator.decision_function(asked)).reshape(grid[0].shape)
        shown = support is not None if margins is None else margins
        _lines(ax, grid, scores, [-1.0, 0.0, 1.0] if shown else [0.0])
    for k, label in enumerate(classes):
        own = points[[each == label for each in labels.tolist()]]
        ax.plot(*own.T, MARKERS[k], color=COLOURS[k], markersize=5, markeredgecolor="white", label=str(label))
    if _in_the_plane(support, estimator):
        ax.plot(*_plane(support).T, "o", color=INK, markersize=11, fillstyle="none", label="support vectors")
    ax.set(xlim=grid[0][0, [0, -1]], ylim=grid[1][[0, -1], 0])
    ax.legend(framealpha=0.8)
    ax.spines[["top", "right"]].set_visible(False)
    return ax


def _lines(ax: Axes, grid: Any, scores: FloatArray, levels: list[float]) -> None:
    """Where f has these values; those that it does not take have no line."""
    taken = [level for level in levels if scores.min() < level < scores.max()]
    if taken:
        styles = ["solid" if level == 0.0 else "dashed" for level in taken]
        ax.contour(*grid, scores, levels=taken, colors=INK, linestyles=styles, linewidths=1.2)


def _in_the_plane(support: Any, estimator: Any) -> bool:
    """Whether support vectors are points of the picture, and not of what a Pipeline made of these."""
    return len(np.shape(support)) == 2 and np.shape(support)[0] > 0 and last_step(estimator) is estimator


def _plane(X: Any) -> FloatArray:
    points = checked_numbers(X.toarray() if hasattr(X, "toarray") else X, "X").astype(np.float64)
    if points.ndim != 2 or points.shape[1] != 2 or not len(points):
        raise ValueError(f"X has shape {points.shape}; a picture of the plane needs examples with two columns")
    check_finite(points, lambda i, j: f"X[{i}, {j}]")
    return points


def _sides(values: FloatArray) -> FloatArray:
    """Places along a side of the picture, with room around the data."""
    low, high = float(values.min()), float(values.max())
    room = ROOM * (high - low) or 1.0
    return np.linspace(low - room, high + room, STEPS)
