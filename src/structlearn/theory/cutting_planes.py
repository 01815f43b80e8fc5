"""Theorems on cutting planes as numbers: how many there can be before none is violated by more than ε.

The objective is ½‖w‖² + (C/S) Σ_i s_i ℓ(ξ_i) as everywhere here. Of Tsochantaridis et al. 2005 come the line search
(Lemma 10 to Corollary 13), Propositions 14 to 17 and Theorem 18; of Yu's thesis (2011) Lemma 3.1 and Theorem 3.1. All
suppose that quadratic programs are solved exactly.
"""

from __future__ import annotations

from math import ceil, inf, log2

import numpy as np

from structlearn.data.options import choice_option, real_option
from structlearn.waist.objective import Rescaling, Scaling, Slack


class PreconditionError(ValueError):
    """What a theorem supposes does not hold, so that it says nothing."""


def line_search_gain(slope: float, curvature: float, longest_step: float = inf) -> float:
    """½ min(longest step, slope/curvature) · slope: what a step along a line at least adds to a concave quadratic.

    Lemma 10 to Corollary 13, and Lemma 3.1 of Yu. It is all that the best step adds, unless the longest one is shorter.

    Parameters
    ----------
    slope : float
        ⟨∇D(α), η⟩ > 0 of D(α) = ⟨h, α⟩ − ½ αᵀHα in the direction η.
    curvature : float
        ηᵀHη ≥ 0.
    longest_step : float
        The largest β for which α + βη is allowed.

    Examples
    --------
    >>> line_search_gain(2.0, 4.0), line_search_gain(2.0, 4.0, longest_step=0.1)
    (0.5, 0.1)
    """
    slope, curvature = real_option("slope", slope, positive=True), real_option("curvature", curvature)
    if not longest_step > 0:
        raise ValueError(f"longest_step is {longest_step}; it must be a positive number or infinite")
    return 0.5 * min(longest_step, slope / curvature if curvature else inf) * slope


def dual_gain(
    *,
    C: float,
    eps: float,
    n_examples: float,
    radius: float,
    largest_loss: float,
    rescaling: Rescaling = "margin",
    slack: Slack = "linear",
) -> float:
    """What a constraint that is violated by `eps` at least adds to the dual of n slacks (Propositions 14 to 17).

    Proposition 17 with both branches of its minimum, as its proof has it. Parameters are those of `constraints_added`.

    Examples
    --------
    >>> dual_gain(C=10.0, eps=0.5, n_examples=100, radius=2.0, largest_loss=1.0)
    0.0078125
    """
    a, _ = _scaled(largest_loss, rescaling, slack)
    share = real_option("C", C, positive=True) / real_option("n_examples", n_examples, positive=True)
    eps, reach = real_option("eps", eps, positive=True), (a * real_option("radius", radius)) ** 2
    if slack == "squared":
        return line_search_gain(eps, reach + 1.0 / share)
    return line_search_gain(eps, 4.0 * reach, share)


def constraints_added(
    *,
    C: float,
    eps: float,
    n_examples: float,
    radius: float,
    largest_loss: float,
    rescaling: Rescaling = "margin",
    slack: Slack = "linear",
) -> float:
    """The most constraints that n-slack cutting planes add before none is violated by more than eps (Theorem 18).

    For linear slacks max(2nΔ̄/ε, 8CΔ̄R̄²/ε²) with margins rescaled, and Δ̄³ for the second Δ̄ with slacks rescaled; for
    squared ones (CΔ̄R̄² + nΔ̄)/ε², and Δ̄² for the first Δ̄. Without rescaling Δ̄ is 1.

    Parameters
    ----------
    C, eps : float
        Price of the mean slack, and the violation above which a constraint is added.
    n_examples : float
        n; with weights s_i of examples, Σ_i s_i / min_i s_i.
    radius : float
        R̄ ≥ ‖Ψ(x_i, y_i) − Ψ(x_i, y)‖ for all examples and outputs.
    largest_loss : float
        Δ̄ ≥ Δ(y_i, y).
    rescaling, slack
        As for `StructuralSVM`; the hard margin has no such bound.

    Examples
    --------
    >>> constraints_added(C=10.0, eps=0.5, n_examples=100, radius=2.0, largest_loss=1.0)
    1280.0
    """
    _, b = _scaled(largest_loss, rescaling, slack)
    gain = dual_gain(
        C=C,
        eps=eps,
        n_examples=n_examples,
        radius=radius,
        largest_loss=largest_loss,
        rescaling=rescaling,
        slack=slack,
    )
    # The dual begins at 0 and stays below the objective at w = 0.
    return C * (0.5 * b**2 if slack == "squared" else b) / gain


def cutting_plane_iterations(
    *, C: float, eps: float, radius: float, largest_loss: float, rescaling: Rescaling = "margin"
) -> int:
    """The most cuts of the one-slack algorithm: ⌈log₂(Δ̄/4R²C)⌉ + ⌈16R²C/ε⌉ (Yu, Theorem 3.1).

    For linear slacks and eps ≤ 4R²C. The first part is 0 where Δ̄ < 4R²C. Cuts are Δ̄ times as long with slacks rescaled.

    Parameters
    ----------
    C, eps, radius, largest_loss, rescaling
        As for `constraints_added`. It does not matter how many examples there are, or with what weights.

    Examples
    --------
    >>> cutting_plane_iterations(C=10.0, eps=0.1, radius=2.0, largest_loss=1.0)
    6400
    >>> cutting_plane_iterations(C=10.0, eps=0.1, radius=0.01, largest_loss=1.0)
    Traceback (most recent call last):
    ...
    structlearn.theory.cutting_planes.PreconditionError: Theorem 3.1 needs eps ≤ 4R²C = 0.004, but eps is 0.1
    """
    a, b = _scaled(largest_loss, rescaling, "linear")
    reach = checked_reach("Theorem 3.1", 4.0, C, eps, a * real_option("radius", radius))
    return max(0, ceil(log2(b / reach))) + ceil(4.0 * reach / eps)


def checked_reach(theorem: str, times: float, C: float, eps: float, radius: float) -> float:
    """So many times R²C, above which the theorem does not allow eps."""
    most = times * radius**2 * real_option("C", C, positive=True)
    if real_option("eps", eps, positive=True) > most:
        raise PreconditionError(f"{theorem} needs eps ≤ {times:g}R²C = {most:g}, but eps is {eps:g}")
    return most


def _scaled(largest_loss: float, rescaling: Rescaling, slack: Slack) -> tuple[float, float]:
    """The largest (a, b) of constraints ξ ≥ b − a⟨w, δΨ⟩."""
    choice_option("rescaling", rescaling, ("margin", "slack", None))
    choice_option("slack", slack, ("linear", "squared", "hard"))
    if slack == "hard":
        raise PreconditionError("Theorem 18 needs slacks, but slack is 'hard'")
    a, b = Scaling(rescaling, slack)(np.array([real_option("largest_loss", largest_loss, positive=True)]))
    return float(a[0]), float(b[0])
