"""Baselines that only count: hidden Markov models, probabilistic grammars, Gibbs sampling of motifs."""

from structlearn.estimators.generative.emissions import Discrete, Emission, Gaussian, PiecewiseLinearCounts
from structlearn.estimators.generative.gibbs_motif import GibbsMotif
from structlearn.estimators.generative.hidden_markov import HiddenMarkov
from structlearn.estimators.generative.relative_frequencies import RelativeFrequencies

__all__ = [
    "Discrete",
    "Emission",
    "Gaussian",
    "GibbsMotif",
    "HiddenMarkov",
    "PiecewiseLinearCounts",
    "RelativeFrequencies",
]
