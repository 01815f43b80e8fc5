"""Theorems on cuts that are sampled or projected, as numbers (chapter 6 of Yu's thesis, 2011).

The thesis has the zero-one loss of two classes; the same proofs serve any loss up to Δ̄, since no w that is best under
whatever cuts is longer than √(2CΔ̄).
"""

from __future__ import annotations

from math import exp, expm1, log, sqrt

from structlearn.data.options import real_option, whole_option
from structlearn.theory.cutting_planes import checked_reach, cutting_plane_iterations, line_search_gain


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
    checked_reach("Theorem 6.1", 8.0, C, eps, real_option("radius", radius))
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


def _exponent(deviation: float, C: float, n_samples: int, radius: float, largest_loss: float) -> float:
    """kγ²/(4CΔ̄R²), Hoeffding's exponent for terms between −R√(2CΔ̄) and R√(2CΔ̄)."""
    width = 4.0 * real_option("C", C, positive=True) * real_option("largest_loss", largest_loss, positive=True)
    spread = width * real_option("radius", radius, positive=True) ** 2
    return whole_option("n_samples", n_samples, 1) * real_option("deviation", deviation) ** 2 / spread
