"""How training went."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from sklearn.utils.validation import check_is_fitted

from structlearn.data.arrays import FloatArray
from structlearn.plots.canvas import BLUE, FADED, RED, axes, last_step

if TYPE_CHECKING:
    from matplotlib.axes import Axes

#: At w = 0 the objective can be a hundred times the optimum; curves are cut at this multiple of the last value, so that
#: one sees where they meet.
SHOWN = 2.5


def convergence(
    estimator_or_history: Any, ax: Axes | None = None, *, against: Literal["seconds", "iteration"] = "seconds"
) -> Axes:
    """The objective and the lower bound, which close in on the optimum, and the gap between them.

    The relative gap, (objective − bound)/objective, is on the right axis, which is logarithmic. The objective is known
    where it was certified, and drawn as a line from one certificate to the next. Solvers without a bound have no gap,
    and a perceptron, which has no objective, shows how many examples were wrong in each pass.

    Parameters
    ----------
    estimator_or_history : fitted estimator or list of dict
        An estimator, or its `history_`.
    ax : Axes, optional
    against : {"seconds", "iteration"}

    Examples
    --------
    >>> from structlearn import StructuralSVM, plots
    >>> from structlearn.models import Multiclass
    >>> svm = StructuralSVM(Multiclass(), C=10).fit([[0.0, 1.0], [1.0, 0.0]], ["north", "east"])
    >>> ax = plots.convergence(svm, against="iteration")
    >>> [line.get_label() for line in ax.get_lines()]
    ['objective', 'lower bound']
    """
    if against not in ("seconds", "iteration"):
        raise ValueError(f"against is {against!r}; it may be 'seconds' or 'iteration'")
    history = _history(estimator_or_history)
    at, primal, dual, mistakes = (
        np.array([record.get(key, np.nan) for record in history], np.float64)
        for key in (against, "primal", "dual", "mistakes")
    )
    if np.isfinite(primal).any():
        ax = axes(ax, 6.4, 4.0)
        _draw_bounds(ax, at, primal, dual)
    elif np.isfinite(mistakes).any():
        ax = axes(ax, 6.4, 4.0)
        # Before the first pass nothing has been counted.
        ax.plot(at[1:], mistakes[1:], color=RED, marker=".")
        ax.set(ylabel="examples wrong in the pass", ylim=(0, None))
    else:
        raise ValueError("the history has no objective: the oracle only approximates, so nothing was certified")
    ax.set_xlabel("seconds" if against == "seconds" else "iterations")
    ax.locator_params(axis="x", integer=against == "iteration")
    ax.spines[["top", "right"]].set_visible(False)
    return ax


def _draw_bounds(ax: Axes, at: FloatArray, primal: FloatArray, dual: FloatArray) -> None:
    priced, bounded = np.isfinite(primal), np.isfinite(dual)
    marker = "." if priced.sum() <= 60 else None
    lines = ax.plot(at[priced], primal[priced], color=RED, marker=marker, label="objective")
    last = primal[priced][-1]
    ax.set(ylabel="objective", ylim=(0, SHOWN * last if primal[priced].max() > SHOWN * last > 0 else None))
    both = priced & bounded & (primal > 0)
    if bounded.any():
        lines += ax.plot(at[bounded], dual[bounded], color=BLUE, label="lower bound")
    if both.any():
        gap = (primal[both] - dual[both]) / primal[both]
        right = ax.twinx()
        lines += right.plot(
            at[both], gap, color=FADED, linestyle="--", linewidth=1, label=f"gap, {gap[-1]:.2%} at the end"
        )
        # A gap of 0, or one below by rounding, has no place on a logarithmic axis.
        right.set_yscale("log", nonpositive="mask")
        right.set_ylabel("relative gap", color=FADED)
        right.tick_params(axis="y", which="both", colors=FADED)
        right.spines["top"].set_visible(False)
    ax.legend(handles=lines, frameon=False, loc="upper right")


def _history(source: Any) -> list[dict[str, Any]]:
    if not isinstance(source, list):
        source = last_step(source)
        check_is_fitted(source)
        if not hasattr(source, "history_"):
            raise TypeError(f"{type(source).__name__} is trained without iterations: it has no history_ to draw")
        source = source.history_
    if not source:
        raise ValueError("the history is empty")
    return list(source)
