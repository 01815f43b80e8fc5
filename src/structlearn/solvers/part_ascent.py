"""Ascent on the dual of a likelihood or of a margin, one example after another, for outputs that are sums of parts.

    D(μ) = Σ_i u_i (κ H(μ_i) + ⟨ℓ_i, μ_i⟩) − ½‖w‖²,   w = Σ_i u_i A_iᵀ (τ_i − μ_i),

with μ_i the marginals of a distribution over outputs, τ_i those of the truth, H the entropy. κ = 1 and ℓ = 0 is the
conditional random field, κ = 0 and ℓ the loss of each part the max-margin Markov network. ``core/parts/ascent.hpp`` has
the same steps for compiled structures.
"""

from __future__ import annotations

import numpy as np

from structlearn.data.arrays import FloatArray, IntArray
from structlearn.waist.parts import PartProblem


def mix(
    problem: PartProblem,
    order: IntArray,
    limits: FloatArray,
    marginals: FloatArray,
    entropies: FloatArray,
    gaps: FloatArray,
    w: FloatArray,
) -> None:
    """Moves each μ_i to (1 − γ) μ_i + γ p, where p is the distribution that w gives, with the best γ ≤ 1.

    Of the entropies it keeps lower bounds, H((1 − γ) μ + γ p) ≥ (1 − γ) H(μ) + γ H(p), which makes D a parabola in γ;
    `gaps` become log Z − H − ⟨A_i w, μ_i⟩, by how much the example's own primal exceeds its own dual.
    """
    kernel = getattr(problem, "kernel", None)
    if kernel is not None:
        kernel.mix(order, problem.part_offsets, limits, marginals, entropies, gaps, w)
        return
    for i in order:
        example = np.array([i])
        mine = _parts_of(problem, i, marginals)
        theta = problem.scores(w, example)
        log_z, found = problem.expectations(theta, example)
        gaps[i] = (problem.entropies(theta, log_z, mine, example) - entropies[i])[0]
        change = _moved(problem, example, mine - found)
        square = limits[i] * float(change @ change)
        step = min(max(gaps[i] / square, 0.0), 1.0) if square > 0.0 else 1.0
        w += step * limits[i] * change
        entropies[i] += step * float(problem.entropies(theta, log_z, found, example)[0] - entropies[i])
        mine += step * (found - mine)


def exponentiate(
    problem: PartProblem,
    order: IntArray,
    limits: FloatArray,
    kappa: float,
    losses: FloatArray | None,
    theta: FloatArray,
    marginals: FloatArray,
    entropies: FloatArray,
    steps: FloatArray,
    w: FloatArray,
) -> None:
    """Moves each θ_i, of which μ_i is the distribution, to θ_i + η (ℓ_i + A_i w − κ θ_i): exponentiated gradient.

    η is halved until the dual grows, and grows a little where it did at once (Collins et al. 2008).
    """
    kernel = getattr(problem, "kernel", None)
    if kernel is not None:
        kernel.exponentiate(order, problem.part_offsets, limits, kappa, losses, theta, marginals, entropies, steps, w)
        return
    for i in order:
        example = np.array([i])
        mine, scores = _parts_of(problem, i, marginals), _parts_of(problem, i, theta)
        under_w = problem.scores(w, example)
        reward = np.zeros_like(under_w) if losses is None else _parts_of(problem, i, losses)
        slope = under_w + reward - kappa * scores
        # At the optimum of the block rounding alone decides about the sign of the gain.
        for attempt in range(31):
            ahead = scores + steps[i] * slope
            log_z, found = problem.expectations(ahead, example)
            entropy = float(problem.entropies(ahead, log_z, found, example)[0])
            change = _moved(problem, example, mine - found)
            along = float(problem.part_dots(under_w + reward, found - mine, example)[0])
            if kappa * (entropy - entropies[i]) + along >= 0.5 * limits[i] * float(change @ change):
                w += limits[i] * change
                scores[:], mine[:], entropies[i] = ahead, found, entropy
                steps[i] *= 1.2 if attempt == 0 else 1.0
                if kappa > 0.0:
                    steps[i] = min(steps[i], 1.0 / kappa)
                break
            if attempt < 30:
                steps[i] *= 0.5


def _parts_of(problem: PartProblem, i: int, values: FloatArray) -> FloatArray:
    """The values of an example's parts, a view."""
    return values[problem.part_offsets[i] : problem.part_offsets[i + 1]]


def _moved(problem: PartProblem, example: IntArray, change: FloatArray) -> FloatArray:
    """Aᵀ of a change of an example's parts."""
    out = np.zeros(problem.n_features)
    problem.push(change, example, np.ones(1), out)
    return out
