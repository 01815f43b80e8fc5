"""What all pictures share: where they are drawn, and in which colours. The only place that imports matplotlib."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sklearn.pipeline import Pipeline

if TYPE_CHECKING:
    from matplotlib.axes import Axes

INK, FADED, RED, BLUE = "#20242c", "#8a919c", "#d1411f", "#2463a8"


def pyplot() -> Any:
    try:
        from matplotlib import pyplot
    except ImportError as error:
        raise ImportError('pictures need matplotlib: pip install "structlearn[plot]"') from error
    return pyplot


def axes(ax: Axes | None, width: float, height: float) -> Axes:
    """The given Axes, or the only one of a new figure of this size in inches."""
    if ax is not None:
        return ax
    created: Axes = pyplot().subplots(figsize=(width, height), layout="constrained")[1]
    return created


def last_step(estimator: Any) -> Any:
    """The estimator itself, or the one at the end of a Pipeline."""
    return estimator[-1] if isinstance(estimator, Pipeline) else estimator
