"""scikit-learn's face: one estimator for each objective, the solver a parameter."""

from structlearn.estimators.conditional_random_field import ConditionalRandomField
from structlearn.estimators.generative.gibbs_motif import GibbsMotif
from structlearn.estimators.generative.hidden_markov import HiddenMarkov
from structlearn.estimators.generative.relative_frequencies import RelativeFrequencies
from structlearn.estimators.inspectable import explain, top_weights
from structlearn.estimators.latent_conditional_random_field import LatentConditionalRandomField
from structlearn.estimators.latent_structural_svm import LatentStructuralSVM
from structlearn.estimators.structural_svm import StructuralSVM
from structlearn.estimators.structured_perceptron import StructuredPerceptron

__all__ = [
    "ConditionalRandomField",
    "GibbsMotif",
    "HiddenMarkov",
    "LatentConditionalRandomField",
    "LatentStructuralSVM",
    "RelativeFrequencies",
    "StructuralSVM",
    "StructuredPerceptron",
    "explain",
    "top_weights",
]
