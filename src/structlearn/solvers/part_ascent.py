"""Ascent on the dual of a likelihood or of a margin, one example after another, for outputs that are sums of parts.

    D(μ) = Σ_i u_i (κ H(μ_i) + ⟨ℓ_i, μ_i⟩) − ½‖w‖²,   w = Σ_i u_i A_iᵀ (τ_i − μ_i),

with μ_i the marginals of a distribution over outputs, τ_i those of the truth, H the entropy. κ = 1 and ℓ = 0 is the
conditional random field, κ = 0 and ℓ the loss of each part the max-margin Markov network. ``core/parts/ascent.hpp`` has
the same steps for compiled structures.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass

import numpy as np

from structlearn.data.arrays import FloatArray, IntArray
from structlearn.waist.parts import PartProblem

#: So many visits are made before the steps of one are known, fewer of few examples: what threads do beside each other.
LAG = 3


def n_copies(problem: PartProblem) -> int:
    """How many threads beside the first take part in `mix`: more than visits under way would only wait."""
    return min(problem.n_threads, max(_lag(problem), 1)) - 1 if hasattr(problem, "kernel") else 0


def _lag(problem: PartProblem) -> int:
    return min(LAG, problem.n_examples // 16)


def mix(
    problem: PartProblem,
    order: IntArray,
    limits: FloatArray,
    marginals: FloatArray,
    entropies: FloatArray,
    ratios: FloatArray,
    w: FloatArray,
    copies: FloatArray,
) -> None:
    """Moves each μ_i to (1 − γ) μ_i + γ p, where p is the distribution that w gives, with the best γ ≤ 1.

    Of the entropies it keeps lower bounds, H((1 − γ) μ + γ p) ≥ (1 − γ) H(μ) + γ H(p), which makes D a parabola in γ.
    Its curvature is found afterwards, and kept for the next visit: `ratios`, 0 where nothing is known. Compiled steps
    have a thread more for each of the `copies` of w, one after another, which become what w becomes.
    """
    lag = _lag(problem)
    kernel = getattr(problem, "kernel", None)
    if kernel is not None:
        kernel.mix(order, problem.part_offsets, limits, marginals, entropies, ratios, w, copies, lag)
        return
    under_way: deque[_Mixture] = deque()
    for i in order:
        if len(under_way) > lag:
            _carry(problem, under_way.popleft(), limits, marginals, entropies, ratios, w)
        under_way.append(_mixture(problem, i, limits[i], _parts_of(problem, i, marginals), entropies[i], ratios[i], w))
    for step in under_way:
        _carry(problem, step, limits, marginals, entropies, ratios, w)


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


@dataclass
class _Mixture:
    """How u μ_i of an example shall change, and with it u H and w; ⟨w, change of w⟩ when that was found."""

    i: int
    change: FloatArray
    entropy: float
    of_w: FloatArray
    along: float


def _mixture(
    problem: PartProblem, i: int, limit: float, mine: FloatArray, entropy: float, ratio: float, w: FloatArray
) -> _Mixture:
    example = np.array([i])
    theta = problem.scores(w, example)
    log_z, found = problem.expectations(theta, example)
    change = limit * (mine - found)
    gain = limit * float(problem.entropies(theta, log_z, found, example)[0] - entropy)
    of_w = _moved(problem, example, change)
    along = float(w @ of_w)
    curvature = ratio * float(change @ change)
    step = min(max((gain - along) / curvature, 0.0), 1.0) if curvature > 0.0 else 1.0
    return _Mixture(i, step * change, step * gain, step * of_w, step * along)


def _carry(
    problem: PartProblem,
    step: _Mixture,
    limits: FloatArray,
    marginals: FloatArray,
    entropies: FloatArray,
    ratios: FloatArray,
    w: FloatArray,
) -> None:
    """Takes a step, or the part of it by which the dual grows most where it would fall."""
    square = float(step.change @ step.change)
    if square == 0.0:
        return
    along, curvature = float(w @ step.of_w), float(step.of_w @ step.of_w)
    part, seen = 1.0, curvature + 2.0 * (along - step.along)
    if step.entropy < along + 0.5 * curvature:
        part = min(max((step.entropy - step.along) / seen, 0.0), 0.5) if seen > 0.0 else 0.0
        if part > 0.0:
            seen = curvature
            if step.entropy < along + 0.5 * part * curvature:
                part = min(max((step.entropy - along) / curvature, 0.0), 1.0)
    if part == 0.0:
        return
    w += part * step.of_w
    mine = _parts_of(problem, step.i, marginals)
    mine -= part / limits[step.i] * step.change
    entropies[step.i] += part / limits[step.i] * step.entropy
    ratios[step.i] = max(seen, 0.0) / square


def _parts_of(problem: PartProblem, i: int, values: FloatArray) -> FloatArray:
    """The values of an example's parts, a view."""
    return values[problem.part_offsets[i] : problem.part_offsets[i + 1]]


def _moved(problem: PartProblem, example: IntArray, change: FloatArray) -> FloatArray:
    """Aᵀ of a change of an example's parts."""
    out = np.zeros(problem.n_features)
    problem.push(change, example, np.ones(1), out)
    return out
