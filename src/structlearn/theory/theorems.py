"""Theorems on cutting planes as numbers: how many there can be, and how far from the optimum training may end.

The objective is ½‖w‖² + (C/S) Σ_i s_i ℓ(ξ_i) as everywhere here. Of Tsochantaridis et al. 2005 come the line search
(Lemma 10 to Corollary 13), Propositions 14 to 17 and Theorem 18; of Yu's thesis (2011) Lemmas 3.1 and 6.2 and Theorems
3.1 and 6.1 to 6.4. All suppose that quadratic programs are solved exactly.
"""

from __future__ import annotations

from math import ceil, exp, expm1, inf, log, log2, sqrt

import numpy as np

from structlearn.data.options import choice_option, real_option, whole_option
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
    structlearn.theory.theorems.PreconditionError: Theorem 3.1 needs eps ≤ 4R²C = 0.004, but eps is 0.1
    """
    a, b = _scaled(largest_loss, rescaling, "linear")
    reach = _reach("Theorem 3.1", 4.0, C, eps, a * real_option("radius", radius))
    return max(0, ceil(log2(b / reach))) + ceil(4.0 * reach / eps)


def sampling_tail(
    deviation: float, *, C: float, n_samples: int, radius: float, largest_loss: float = 1.0, share: float = 1.0
) -> float:
    """exp(−kγ²/(4CΔ̄R²η²)): how likely a sampled cut lies γ or more below the exact one (Yu, Lemma 6.2).

    At any w with ½‖w‖² ≤ CΔ̄ that was chosen before the sample; the best w, under whatever cuts, is among these.

    Parameters
    ----------
    deviation : float
        γ, of ⟨w, cut⟩.
    C : float
    n_samples : int
        k, terms of the cut, drawn independently.
    radius : float
        R ≥ ‖z‖ of all terms z; a cut is η times the mean of those that are in it. For two classes, with the terms
        y_i φ(x_i), max ‖φ(x_i)‖.
    largest_loss : float
        Δ̄, 1 in the thesis.
    share : float
        η, the share of all terms that are in the cut.

    Examples
    --------
    >>> round(sampling_tail(0.5, C=1.0, n_samples=100, radius=1.0), 4)
    0.0019
    """
    longest = radius * real_option("share", share, positive=True)
    return exp(-_exponent(deviation, C, n_samples, longest, largest_loss))


def sampled_cuts(*, C: float, eps: float, n_samples: int, radius: float, largest_loss: float = 1.0) -> float:
    """How many cuts of `n_samples` terms are expected at most: 32CΔ̄R²/(ε²(1 − exp(−kε²/16CΔ̄R²))) (Yu, Theorem 6.1).

    For eps ≤ 8R²C (the thesis prints C² by mistake). A cut that lies at most ε/2 below the exact one adds to the dual,
    and Lemma 6.2 says how often one does. Parameters are as for `constraints_added` and `sampling_tail`.

    Examples
    --------
    >>> round(sampled_cuts(C=1.0, eps=0.1, n_samples=400, radius=1.0))
    14467
    """
    _reach("Theorem 6.1", 8.0, C, eps, real_option("radius", radius))
    good = C * largest_loss / line_search_gain(0.5 * eps, 4.0 * radius**2, C)
    return good / -expm1(-_exponent(0.5 * eps, C, n_samples, radius, largest_loss))


def sampling_gap(
    *, C: float, eps: float, n_samples: int, n_cuts: int, delta: float, radius: float, largest_loss: float = 1.0
) -> float:
    """How far above the optimum sampled cuts end, at most, with probability 1 − δ (Yu, Theorem 6.2).

    C(ε + √(4CΔ̄R² log(T/δ)/k)), where training stops as soon as no exact cut is violated by more than ε.

    Parameters
    ----------
    C, eps, n_samples, radius, largest_loss
        As for `sampled_cuts`.
    n_cuts : int
        T: no run may make more cuts, whatever was drawn.
    delta : float
        δ, between 0 and 1.

    Examples
    --------
    >>> round(sampling_gap(C=1.0, eps=0.001, n_samples=4000, n_cuts=1000, delta=0.05, radius=1.0), 3)
    0.101
    """
    if not 0 < real_option("delta", delta) < 1:
        raise ValueError(f"delta is {delta}; it must be between 0 and 1")
    tail = log(whole_option("n_cuts", n_cuts, 1) / delta)
    # At the deviation γ = 1 the exponent is k/(4CΔ̄R²).
    deviation = sqrt(tail / _exponent(1.0, C, n_samples, radius, largest_loss))
    return C * (real_option("eps", eps) + deviation)


def subspace_iterations(*, C: float, eps: float, k_max: int, radius: float, largest_loss: float = 1.0) -> int:
    """The most iterations of cutting-plane subspace pursuit: `k_max` and those of Theorem 3.1 (Yu, Theorem 6.3).

    The basis grows in each of the first `k_max` iterations. Cuts are then projected on a fixed space, which makes none
    longer, and the dual there is not below 0.

    Examples
    --------
    >>> subspace_iterations(C=10.0, eps=0.1, k_max=50, radius=2.0)
    6450
    """
    return whole_option("k_max", k_max, 0) + cutting_plane_iterations(
        C=C, eps=eps, radius=radius, largest_loss=largest_loss
    )


def projection_gap(*, C: float, eps: float, distance: float, largest_loss: float = 1.0) -> float:
    """C(ε + δ√(2CΔ̄)): how far above the optimum training with projected cuts ends, at most (Yu, Theorem 6.4).

    Parameters
    ----------
    C, eps : float
    distance : float
        δ ≥ ‖g − ĝ‖ of every cut and its projection; for exact cuts 0.
    largest_loss : float
        Δ̄, 1 in the thesis.

    Examples
    --------
    >>> round(projection_gap(C=8.0, eps=0.01, distance=0.02), 10)
    0.72
    """
    norm = sqrt(2.0 * real_option("C", C, positive=True) * real_option("largest_loss", largest_loss))
    return C * (real_option("eps", eps) + real_option("distance", distance) * norm)


def _scaled(largest_loss: float, rescaling: Rescaling, slack: Slack) -> tuple[float, float]:
    """The largest (a, b) of constraints ξ ≥ b − a⟨w, δΨ⟩."""
    choice_option("rescaling", rescaling, ("margin", "slack", None))
    choice_option("slack", slack, ("linear", "squared", "hard"))
    if slack == "hard":
        raise PreconditionError("Theorem 18 needs slacks, but slack is 'hard'")
    a, b = Scaling(rescaling, slack)(np.array([real_option("largest_loss", largest_loss, positive=True)]))
    return float(a[0]), float(b[0])


def _reach(theorem: str, times: float, C: float, eps: float, radius: float) -> float:
    """So many times R²C, above which eps may not be."""
    most = times * radius**2 * real_option("C", C, positive=True)
    if real_option("eps", eps, positive=True) > most:
        raise PreconditionError(f"{theorem} needs eps ≤ {times:g}R²C = {most:g}, but eps is {eps:g}")
    return most


def _exponent(deviation: float, C: float, n_samples: int, radius: float, largest_loss: float) -> float:
    """kγ²/(4CΔ̄R²), Hoeffding's exponent for terms between −R√(2CΔ̄) and R√(2CΔ̄)."""
    width = 4.0 * real_option("C", C, positive=True) * real_option("largest_loss", largest_loss, positive=True)
    spread = width * real_option("radius", radius, positive=True) ** 2
    return whole_option("n_samples", n_samples, 1) * real_option("deviation", deviation) ** 2 / spread
