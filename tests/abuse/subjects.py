"""What is abused: every estimator with every model, on data that it can learn."""

from __future__ import annotations

import inspect
from functools import cache
from typing import Any, NamedTuple

import numpy as np
from sklearn.base import clone

from structlearn import (
    BinaryPerceptron,
    BinarySVM,
    ConditionalRandomField,
    GibbsMotif,
    HiddenMarkov,
    KernelStructuralSVM,
    LatentConditionalRandomField,
    LatentStructuralSVM,
    RegularizedRisk,
    RelativeFrequencies,
    StructuralSVM,
    StructuredPerceptron,
    VectorValuedRidge,
    VectorValuedSVM,
)
from structlearn.estimators.generative.emissions import Discrete, Gaussian, PiecewiseLinearCounts
from structlearn.estimators.regularized_risk import L2, ElasticNet, Hinge, Huber, Logistic, Lp
from structlearn.kernels import RBF, Decomposable, Spectrum
from structlearn.models import (
    Alignment,
    Chain,
    CorrelationClustering,
    DependencyTree,
    Factor,
    Grammar,
    LatentChain,
    LatentForest,
    Matching,
    Multiclass,
    MultivariateBinary,
    Segments,
    TypedGraph,
)
from structlearn.outputs import (
    DependencyTreeOutputs,
    GraphOutputs,
    KernelOutputs,
    LabelOutputs,
    LabelSequenceOutputs,
    LabelSetOutputs,
    MatchingOutputs,
    Substitutions,
    TreeOutputs,
)
from tests.persistence import version_2_data as data
from tests.persistence.version_2_cases import CASES, SEGMENTS, Somewhere


class Subject(NamedTuple):
    """An estimator and data that it can learn."""

    estimator: Any
    X: Any
    Y: Any

    def arguments(self, method: str) -> dict[str, Any]:
        """What the method is given when all is well, by name."""
        known = self.accepted(method)
        given = {name: value for name, value in self._good(method).items() if name in known}
        return given | self._compared() if method == "explain" else given

    def _compared(self) -> dict[str, Any]:
        """What an explanation is about, where it is not the best output against the second best."""
        model, n = self.estimator.model, 0 if np.isscalar(self.Y[0]) else len(self.Y[0])
        if isinstance(model, Chain):
            return {"t": 0}
        if isinstance(model, LatentChain):
            labels = sorted({label for y in self.Y for label in y if isinstance(label, str)})
            return {"label": labels[:1] * n, "against": labels[-1:] * n}
        if isinstance(model, (CorrelationClustering, LatentForest)):
            return {"label": [0] * len(data.CLUSTERS[0]), "against": list(range(len(data.CLUSTERS[0])))}
        return {"label": "low", "against": "high"} if isinstance(model, Somewhere) else {}

    def accepted(self, method: str) -> set[str]:
        """The names of the arguments that the method has."""
        return set(inspect.signature(getattr(self.estimator, method)).parameters)

    def _good(self, method: str) -> dict[str, Any]:
        y = {} if method in ("predict", "sample") else {"y": self.Y}
        return {"X": self.X, "x": self.X[0], "k": 2, "n_samples": 2, "n_sequences": 2, "lengths": 3, "n": 3} | y


#: Whose first step is scikit-learn's, which has words of its own for what it does not take.
OF_SCIKIT_LEARN = ("dict_vectorizer", "token_transformers")
SHORT = {"max_iter": 3}
#: Words of a text, two of which a factor joins with it.
TEXTS = [
    ({"word": np.eye(2), "text": np.ones((1, 1))}, {"three": [(0, 1, 0)]}, {"three": np.array([[1.0, value]])})
    for value in (0.0, 1.0)
]
TEXT = TypedGraph({"three": Factor(("word", "word", "text"))}, {"text": ["arts", "life"]})
#: Pairs of which the near ones belong together.
TABLES = [np.array([[[1.0, 0.0], [0.0, 1.0]], [[0.0, 1.0], [1.0, 0.5]]]), np.ones((1, 2, 2))]
PAIRED = [[(0, 0), (1, 1)], [(0, 1)]]
PARSED = [[("dogs", "NOUN"), ("bark", "VERB")], [("a", "DET"), ("cat", "NOUN"), ("sleeps", "VERB")]]
ARCS = [[(2, "nsubj"), (0, "root")], [(2, "det"), (3, "nsubj"), (0, "root")]]
TWO = [label == data.CLASSES[0] for label in data.CLASSES]
NUMBERS = [float(len(data.CLASSES) - i) for i in range(len(data.CLASSES))]
SUBJECTS: dict[str, Subject] = {
    name: Subject(case.estimator, case.X, case.Y) for name, case in CASES.items() if name not in OF_SCIKIT_LEARN
} | {
    "chain_crf": Subject(ConditionalRandomField(Chain(), **SHORT), data.ROWS, data.LETTERS),
    # None is a label only where it is declared as one.
    "chain_labels_of_any_type": Subject(
        StructuralSVM(Chain(classes=[("x", 1), None, 2.5]), C=10, **SHORT), [np.eye(3)], [[("x", 1), None, 2.5]]
    ),
    "chain_intercept": Subject(StructuralSVM(Chain(), fit_intercept=True, **SHORT), data.ROWS, data.LETTERS),
    "chain_perceptron_rows": Subject(StructuredPerceptron(Chain(), **SHORT), data.ROWS, data.LETTERS),
    "chain_second_order_perceptron": Subject(StructuredPerceptron(Chain(order=2), **SHORT), data.ROWS, data.LETTERS),
    "segments_perceptron": Subject(StructuredPerceptron(Segments(), **SHORT), data.described(data.WORDS), SEGMENTS),
    "grammar_perceptron": Subject(StructuredPerceptron(Grammar(), **SHORT), data.tags(data.TAGGED), data.TREES),
    "alignment_perceptron": Subject(StructuredPerceptron(Alignment(), **SHORT), data.PAIRS, data.MATCHES),
    "chain_kernel": Subject(KernelStructuralSVM(Chain(), **SHORT), data.ROWS, data.LETTERS),
    "chain_kernel_exact": Subject(KernelStructuralSVM(Chain(), solver="exact", **SHORT), data.ROWS, data.LETTERS),
    "multiclass_kernel_sampled": Subject(
        KernelStructuralSVM(Multiclass(), "polynomial", solver="sampled", **SHORT), data.POINTS, data.CLASSES
    ),
    "matching": Subject(StructuralSVM(Matching(), **SHORT), TABLES, PAIRED),
    "matching_perceptron": Subject(StructuredPerceptron(Matching(fertility=2), **SHORT), TABLES, PAIRED),
    "matching_known_in_part": Subject(LatentStructuralSVM(Matching(), **SHORT), TABLES, [[(0, 0)], None]),
    "binary_perceptron": Subject(
        StructuredPerceptron(MultivariateBinary(), **SHORT), data.QUERIES, [(y > 0).tolist() for y in data.RELEVANCE]
    ),
    "latent_chain_random": Subject(
        LatentStructuralSVM(LatentChain(2), init="random", random_state=0, **SHORT), data.ROWS, data.LETTERS
    ),
    "chain_known_in_part": Subject(
        LatentStructuralSVM(Chain(), **SHORT), data.ROWS, [[None, *y[1:]] for y in data.LETTERS]
    ),
    "chain_known_in_part_crf": Subject(
        LatentConditionalRandomField(Chain(), **SHORT), data.ROWS, [[None, *y[1:]] for y in data.LETTERS]
    ),
    "latent_chain_crf": Subject(
        LatentConditionalRandomField(LatentChain(2), solver="em", random_state=0, **SHORT), data.ROWS, data.LETTERS
    ),
    "typed_graph": Subject(StructuralSVM(TEXT, **SHORT), TEXTS, [{"word": ["a", "b"], "text": ["arts"]}] * 2),
    "typed_graph_hidden": Subject(
        LatentConditionalRandomField(TEXT, random_state=0, **SHORT), TEXTS, [{"word": ["a", "b"]}] * 2
    ),
    "frequencies_of_words": Subject(RelativeFrequencies(Grammar("words")), data.TAGGED, data.TREES),
    "multiclass_crf_intercept": Subject(
        ConditionalRandomField(Multiclass(), fit_intercept=True, **SHORT), data.POINTS, data.CLASSES
    ),
    "dependency_tree": Subject(StructuralSVM(DependencyTree(), C=10, **SHORT), PARSED, ARCS),
    "dependency_tree_perceptron": Subject(StructuredPerceptron(DependencyTree(order=2), **SHORT), PARSED, ARCS),
    "dependency_tree_crf": Subject(
        ConditionalRandomField(DependencyTree(projective=False, n_hashed=50), **SHORT), PARSED, ARCS
    ),
    "dependency_tree_known_in_part": Subject(
        LatentConditionalRandomField(DependencyTree(), **SHORT), PARSED, [[(2, None), *ARCS[0][1:]], *ARCS[1:]]
    ),
    "hidden_markov_discrete": Subject(HiddenMarkov(Discrete()), data.WORDS, data.TAGS),
    "hidden_markov_gaussian": Subject(HiddenMarkov(Gaussian()), data.ROWS, data.LETTERS),
    "hidden_markov_curves": Subject(HiddenMarkov(PiecewiseLinearCounts(3), smoothing="floor"), data.ROWS, data.LETTERS),
    "binary_svm": Subject(BinarySVM("rbf", tol=0.1), data.POINTS, TWO),
    "perceptron_of_two_classes": Subject(BinaryPerceptron(**SHORT), data.POINTS, TWO),
    "perceptron_kernel": Subject(BinaryPerceptron("rbf", **SHORT), data.POINTS, TWO),
    "logistic_elastic_net": Subject(RegularizedRisk(Logistic(), ElasticNet(), **SHORT), data.POINTS, TWO),
    "hinge_kernel": Subject(RegularizedRisk(Hinge(), L2(RBF()), **SHORT), data.POINTS, TWO),
    "ridge_of_numbers": Subject(VectorValuedRidge(), data.POINTS, NUMBERS),
    "ridge_of_labels": Subject(VectorValuedRidge(LabelOutputs(), lam=0.1), data.POINTS, data.CLASSES),
    "ridge_of_label_sets": Subject(
        VectorValuedRidge(LabelSetOutputs(), Decomposable("rbf", "covariance")),
        data.POINTS,
        [{y} for y in data.CLASSES],
    ),
    "ridge_of_sequences": Subject(VectorValuedRidge(LabelSequenceOutputs(), "linear"), data.ROWS, data.LETTERS),
    "ridge_of_matchings": Subject(VectorValuedRidge(MatchingOutputs()), TABLES, PAIRED),
    "ridge_of_graphs": Subject(
        VectorValuedRidge(GraphOutputs(), "linear"), [(x, [(0, 1)]) for x in data.ROWS], data.LETTERS
    ),
    "ridge_of_trees": Subject(
        VectorValuedRidge(DependencyTreeOutputs(), lam=0.1),
        [np.arange(12.0).reshape(3, 2, 2), np.ones((2, 1, 2))],
        [[(2, "a"), (0, "b")], [(0, "b")]],
    ),
    "ridge_of_parse_trees": Subject(
        VectorValuedRidge(TreeOutputs(), lam=0.1),
        [
            {"tokens": ["A", "B"], "features": np.arange(8.0).reshape(2, 2, 2)},
            {"tokens": ["A"], "features": np.ones((1, 1, 2))},
        ],
        ["(S (NP (A A)) (B B))", "(S (NP (A A)))"],
    ),
    "ridge_of_strings": Subject(
        VectorValuedRidge(KernelOutputs(Spectrum(1))), data.POINTS, [str(y) * 2 for y in data.CLASSES]
    ),
    "ridge_of_searched_strings": Subject(
        VectorValuedRidge(KernelOutputs(Spectrum(1), ["a", "c"], n_landmarks=2, search=Substitutions("ac")), lam=0.1),
        data.POINTS,
        [str(y) * 2 for y in data.CLASSES],
    ),
    "vector_svm_of_labels": Subject(
        VectorValuedSVM(LabelOutputs(), solver="exponentiated_gradient", tol=0.1), data.POINTS, data.CLASSES
    ),
    "vector_svm_of_sequences": Subject(
        VectorValuedSVM(LabelSequenceOutputs(), "linear", loss="distance", tol=0.3), data.ROWS, data.LETTERS
    ),
    "vector_svm_of_strings": Subject(
        VectorValuedSVM(KernelOutputs(Spectrum(1), ["aa", "ab"]), loss="squared", tol=0.3),
        data.POINTS,
        [str(y) * 2 for y in data.CLASSES],
    ),
    "huber_numbers": Subject(RegularizedRisk(Huber(), Lp(), **SHORT), data.POINTS, NUMBERS),
    "gibbs_motif": Subject(
        GibbsMotif(4, background_order=0, n_sweeps=3, n_init=2, random_state=0), data.DNA, data.BOUND
    ),
}

#: What a fitted estimator can be asked, where it has it.
METHODS = (
    *(
        "fit",
        "predict",
        "score",
        "k_best",
        "decision_function",
        "predict_marginals",
        "predict_proba",
        "predict_log_proba",
    ),
    *("entropy", "sample", "explain", "top_weights", "predict_latent", "describe_latent", "complete"),
    *("log_proba", "log_likelihood", "best_sites"),
)


def fresh(name: str, **options: Any) -> Any:
    estimator = clone(SUBJECTS[name].estimator, safe=False)
    # Data beyond all bounds may take every iteration that there is.
    if "solver__max_iter" in estimator.get_params():
        estimator.set_params(solver__max_iter=20)
    return estimator.set_params(**options)


@cache
def fitted(name: str) -> Any:
    """The estimator after a fit on its own good data."""
    return fresh(name).fit(SUBJECTS[name].X, SUBJECTS[name].Y)


def asked() -> dict[str, tuple[str, ...]]:
    """The methods of each subject, but those that one before it has for the same model, or loss, and kind of input."""
    known: set[tuple[Any, ...]] = set()
    found = {}
    for name, (estimator, X, _) in SUBJECTS.items():
        methods = METHODS[:3] if hasattr(estimator, "steps") else METHODS
        kind = type(estimator), type(getattr(estimator, "model", getattr(estimator, "loss", None))), type(X[0])
        found[name] = tuple(each for each in methods if hasattr(estimator, each) and (*kind, each) not in known)
        known |= {(*kind, each) for each in found[name]}
    return found
