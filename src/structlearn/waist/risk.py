"""What an objective prices: a sum over examples, with all that solvers and certificates ask of it at one point."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from structlearn.data.arrays import FloatArray


@dataclass(frozen=True, slots=True)
class Risk:
    """R(w) = Σ_i s_i ℓ_i(w) at one w, never divided by anything: shards add their values, gradients and offsets.

    ℓ_i is −log P(y_i | x_i), or ξ_i or ½ξ_i² with the slack ξ_i of a margin. R is convex where the truths are fixed, so
    R(v) ≥ offset + ⟨gradient, v⟩ for every v, with equality at w: a cutting plane.

    Attributes
    ----------
    value : float
    gradient : (n_features,)
        A subgradient in w.
    offset : float
        R(w) − ⟨gradient, w⟩, the linearisation at zero. Of a likelihood this is Σ_i s_i H(P(· | x_i)).
    losses : (n_examples,)
        What `Objective.primal` takes: −log P(y_i | x_i), or the violation max_y b − a⟨w, δΨ_i(y)⟩ (−∞ where an example
        has no constraint).
    coefficients : (n_examples,)
        Of margins: with the most violating rows δΨ_i, gradient = −Σ_i coefficients_i δΨ_i. Empty for likelihoods.
    """

    value: float
    gradient: FloatArray
    offset: float
    losses: FloatArray
    coefficients: FloatArray = field(default_factory=lambda: np.empty(0))
