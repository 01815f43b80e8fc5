"""scikit-learn's face: one estimator for each objective, the solver a parameter."""

from typing import TYPE_CHECKING

from structlearn.lazy import names

if TYPE_CHECKING:
    from structlearn.estimators.conditional_random_field import ConditionalRandomField
    from structlearn.estimators.generative.gibbs_motif import GibbsMotif
    from structlearn.estimators.generative.hidden_markov import HiddenMarkov
    from structlearn.estimators.generative.relative_frequencies import RelativeFrequencies
    from structlearn.estimators.inspectable import explain, top_weights
    from structlearn.estimators.kernel_structural_svm import KernelStructuralSVM
    from structlearn.estimators.latent_conditional_random_field import LatentConditionalRandomField
    from structlearn.estimators.latent_structural_svm import LatentStructuralSVM
    from structlearn.estimators.regularized_risk import RegularizedRisk
    from structlearn.estimators.scalar.binary_perceptron import BinaryPerceptron
    from structlearn.estimators.scalar.binary_svm import BinarySVM
    from structlearn.estimators.structural_svm import StructuralSVM
    from structlearn.estimators.structured_perceptron import StructuredPerceptron
    from structlearn.estimators.vector_valued.ridge import VectorValuedRidge
    from structlearn.estimators.vector_valued.svm import VectorValuedSVM
else:
    # One that holds a structural SVM need not wait for baselines that only count.
    __getattr__, __dir__ = names(
        __name__,
        {
            "BinaryPerceptron": "scalar.binary_perceptron",
            "BinarySVM": "scalar.binary_svm",
            "ConditionalRandomField": "conditional_random_field",
            "GibbsMotif": "generative.gibbs_motif",
            "HiddenMarkov": "generative.hidden_markov",
            "KernelStructuralSVM": "kernel_structural_svm",
            "LatentConditionalRandomField": "latent_conditional_random_field",
            "LatentStructuralSVM": "latent_structural_svm",
            "RegularizedRisk": "regularized_risk",
            "RelativeFrequencies": "generative.relative_frequencies",
            "StructuralSVM": "structural_svm",
            "StructuredPerceptron": "structured_perceptron",
            "VectorValuedRidge": "vector_valued.ridge",
            "VectorValuedSVM": "vector_valued.svm",
            "explain": "inspectable",
            "top_weights": "inspectable",
        },
    )

__all__ = [
    "BinaryPerceptron",
    "BinarySVM",
    "ConditionalRandomField",
    "GibbsMotif",
    "HiddenMarkov",
    "KernelStructuralSVM",
    "LatentConditionalRandomField",
    "LatentStructuralSVM",
    "RegularizedRisk",
    "RelativeFrequencies",
    "StructuralSVM",
    "StructuredPerceptron",
    "VectorValuedRidge",
    "VectorValuedSVM",
    "explain",
    "top_weights",
]
