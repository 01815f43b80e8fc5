"""Estimators of every kind whose files of version 2 are kept, and what those files are asked."""

from functools import partial
from typing import Any, NamedTuple

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.feature_extraction import DictVectorizer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from structlearn import (
    ConditionalRandomField,
    LatentStructuralSVM,
    RelativeFrequencies,
    StructuralSVM,
    StructuredPerceptron,
)
from structlearn.data import from_bio
from structlearn.features import MonotoneCurves, PiecewiseLinear, TextFeatures, TokenTransformer
from structlearn.models import (
    Alignment,
    Chain,
    ClassAttributes,
    ClassDescriptions,
    ClassKernel,
    CorrelationClustering,
    Grammar,
    Homologues,
    LatentChain,
    LatentForest,
    Motif,
    Multiclass,
    MultivariateBinary,
    PrecisionAtK,
    Ranking,
    Segments,
    Taxonomy,
)
from structlearn.solvers import (
    LBFGS,
    BlockCoordinate,
    ConcaveConvex,
    DualCoordinate,
    ExcessiveGap,
    ExponentiatedGradient,
    Extragradient,
    IterativeScaling,
    NSlack,
    OneSlack,
    Subgradient,
)
from tests.persistence import version_2_data as data


class Case(NamedTuple):
    """What is trained on X and Y, and what its file is asked about X and the new inputs.

    Attributes
    ----------
    asked : tuple of str
        Methods that give predictions.
    kept : tuple of str
        Options that the file must bring back, by the names of attributes of the estimator.
    model : object, optional
        What `load` needs beside the file, for a model of the user's own.
    """

    estimator: Any
    X: Any
    Y: Any
    new: Any
    asked: tuple[str, ...] = ()
    kept: tuple[str, ...] = ()
    model: Any = None


K_BEST = ("k_best",)
PROBABILITIES = ("predict_marginals", "predict_log_proba", "entropy")
LATENT = ("predict_latent", "complete")
#: Files grow with the number of iterations.
SVM = partial(StructuralSVM, C=10, max_iter=3)
CRF = partial(ConditionalRandomField, max_iter=3)
LatentSVM = partial(LatentStructuralSVM, C=10, tol=0.3, random_state=0)


class Thresholds(BaseEstimator):
    """A model of one's own: whether a number is large, with an option, and something that `initialize` learns."""

    def __init__(self, steepness=1.0):
        self.steepness = steepness

    def initialize(self, X, Y):
        self.mean = float(np.mean(X))

    def joint_feature(self, x, y):
        return np.array([y * self.steepness * (x - self.mean), y])

    def loss(self, y, y_hat):
        return float(y != y_hat)

    def outputs(self, x):
        return [-1, 1]


class Somewhere:
    """A model of one's own with a latent part: a number is high if one of its digits is."""

    n_features = 11

    def joint_feature(self, x, y, h):
        return np.eye(11)[10 if y == "low" else x[h]]

    def outputs(self, x):
        return [("low", 0), *(("high", h) for h in range(len(x)))]

    def complete(self, x, y, w):
        return 0 if y == "low" else int(np.argmax(w[x]))

    def loss(self, y, y_hat, h_hat):
        return float(y != y_hat)


class OwnChain(Chain):
    pass


def rows(estimator, *asked, kept=()):
    return Case(estimator, data.ROWS, data.LETTERS, data.NEW_ROWS, asked, kept)


def dicts(estimator, *asked, kept=()):
    return Case(estimator, data.described(data.WORDS), data.TAGS, data.described(data.NEW_WORDS), asked, kept)


def points(estimator, *asked, kept=()):
    return Case(estimator, data.POINTS, data.CLASSES, data.NEW_POINTS, asked, kept)


def trees(estimator, *asked):
    return Case(estimator, data.tags(data.TAGGED), data.TREES, data.tags(data.NEW_TAGGED), asked)


def pairs(estimator, *asked):
    return Case(estimator, data.PAIRS, data.MATCHES, data.NEW_PAIRS, asked)


def proteins(estimator, *asked):
    return Case(estimator, data.annotated(data.PROTEINS), data.PARTNERS, data.annotated(data.NEW_PROTEINS), asked)


def queries(estimator, *asked):
    return Case(estimator, data.QUERIES, data.RELEVANCE, data.NEW_QUERIES, asked)


def items(estimator, *asked):
    return Case(estimator, data.ITEMS, data.CLUSTERS, data.NEW_ITEMS, asked)


def dna(estimator, kept=()):
    return Case(estimator, data.DNA, data.BOUND, data.NEW_DNA, (*LATENT, "describe_latent"), kept)


def words(*steps, asked=()):
    return Case(make_pipeline(*steps), data.WORDS, data.TAGS, data.NEW_WORDS, asked)


def solved(solver, *kept):
    """A classifier with a solver that is not the default."""
    return points(StructuralSVM(Multiclass(), C=10, solver=solver), "decision_function", kept=kept)


def likely(solver, *kept, **options):
    crf = ConditionalRandomField(Multiclass(), solver=solver, **options)
    return Case(crf, np.add(data.POINTS, 1.0), data.CLASSES, np.add(data.NEW_POINTS, 1.0), ("predict_marginals",), kept)


ANIMALS = Taxonomy({"cat": "pet", "dog": "pet", "cow": ["farm"], "pet": "all", "farm": "all"}, {"pet": 0.5})
SEGMENTS = [from_bio(tags) for tags in data.TAGS]
PARTLY = [[{"O", "B-PER"} if tag == "B-PER" else tag for tag in tags] for tags in data.TAGS[:3]] + [[None] * 6]
PRICES = np.array([[0.0, 2.0, 1.0], [1.0, 0.0, 3.0], [0.5, 1.0, 0.0]])
MOODS = {"cat": [1.0, 0.0], "cow": [0.0, 1.0], "dog": [1.0, 1.0]}
TEXTS = {"cat": "small pet that purrs", "cow": "large animal on a farm", "dog": "pet that barks on a farm"}

CASES = {
    "chain": rows(SVM(Chain()), *K_BEST),
    "chain_dicts": dicts(
        SVM(Chain(allowed_transitions="BIO", pair_features=["word=in", "capital"])),
        *K_BEST,
        kept=("model.allowed_transitions", "model.pair_features"),
    ),
    "chain_options": rows(
        CRF(
            Chain(
                classes=["C", "B", "A", "never"],
                boundaries=False,
                balance=0.5,
                label_weight={"A": 2.0},
                pair_features=True,
                allowed_transitions=[(a, b) for a in "ABC" for b in "ABC" if a + b != "AA"],
                ends="B",
            ),
            fit_intercept=True,
        ),
        *(*K_BEST, *PROBABILITIES),
        kept=("model.classes", "model.label_weight", "model.allowed_transitions", "model.ends", "fit_intercept"),
    ),
    "chain_observed_only": dicts(CRF(Chain(observed_only=True)), *PROBABILITIES),
    "chain_zero_one": rows(SVM(Chain(loss="zero_one"), rescaling=None, slack="squared"), *K_BEST),
    "chain_second_order": rows(SVM(Chain(order=2)), kept=("model.order",)),
    "chain_second_order_crf": dicts(CRF(Chain(order=2, boundaries=False)), *PROBABILITIES),
    "chain_labels_of_any_type": Case(SVM(Chain()), [np.eye(3)], [[("x", 1), None, 2.5]], [np.eye(3)[::-1]], K_BEST),
    "chain_perceptron": dicts(StructuredPerceptron(Chain(), max_iter=3, random_state=1), *K_BEST, kept=("max_iter",)),
    "chain_of_ones_own": rows(SVM(OwnChain()), *K_BEST)._replace(model=OwnChain()),
    "segments": Case(SVM(Segments(max_length=3)), data.described(data.WORDS), SEGMENTS, data.described(data.NEW_WORDS)),
    "segments_crf": Case(
        CRF(Segments(loss="hamming", ends=True, lengths=False)),
        data.described(data.WORDS),
        SEGMENTS,
        data.described(data.NEW_WORDS),
        PROBABILITIES,
    ),
    "grammar": trees(SVM(Grammar()), *K_BEST),
    "grammar_crf": trees(CRF(Grammar(horizontal=1, vertical=2)), *K_BEST, "predict_log_proba", "entropy"),
    "grammar_words": Case(
        SVM(Grammar("words", loss="f1", spans=True, min_count=1)),
        data.TAGGED,
        data.TREES,
        data.NEW_TAGGED,
        K_BEST,
    ),
    "grammar_frequencies": trees(RelativeFrequencies(Grammar(horizontal=0)), *K_BEST),
    "alignment": pairs(SVM(Alignment()), *K_BEST),
    "alignment_crf": pairs(CRF(Alignment("ACGTN", ends="semiglobal")), *K_BEST, *PROBABILITIES),
    "alignment_local": pairs(
        SVM(Alignment(ends="local", gaps="affine", loss="q_shift", shift=1, reading="text")), *K_BEST
    ),
    "alignment_annotated": proteins(SVM(Alignment(features="anova2", gap_features="context"))),
    "alignment_profiles": proteins(
        SVM(Alignment(features="profile", gaps="affine", gap_features="context", normalise=True), C=1000),
        *K_BEST,
    ),
    "homologues": Case(
        SVM(Homologues(Alignment(gaps="affine")), rescaling=None, slack="squared"),
        data.FAMILIES,
        data.RELATIVES,
        data.NEW_FAMILIES,
        kept=("model.alignment.gaps", "rescaling", "slack"),
    ),
    "multiclass": points(SVM(Multiclass()), "decision_function", *K_BEST),
    "multiclass_cost": points(
        SVM(Multiclass(["cat", "cow", "dog"], PRICES), rescaling="slack", fit_intercept=True),
        "decision_function",
        kept=("model.cost", "rescaling"),
    ),
    "multiclass_taxonomy": points(
        SVM(Multiclass(cost=ANIMALS, output_features=ANIMALS)),
        "decision_function",
        kept=("model.cost.parents", "model.output_features.weights"),
    ),
    "multiclass_attributes": points(
        SVM(Multiclass(output_features=ClassAttributes(MOODS, identity=False))), "decision_function"
    ),
    "multiclass_descriptions": points(SVM(Multiclass(output_features=ClassDescriptions(TEXTS))), "decision_function"),
    "multiclass_kernel": points(
        # Eigenvectors of a matrix that is not diagonal have another sign on another machine.
        SVM(Multiclass(output_features=ClassKernel(np.diag([1.0, 2.0, 4.0]), ["dog", "cat", "cow"]))),
        "decision_function",
    ),
    "multiclass_crf": points(CRF(Multiclass(), class_weight={"cat": 2.0}), "predict_marginals", kept=("class_weight",)),
    "multiclass_perceptron": points(StructuredPerceptron(Multiclass(), average=False), "decision_function"),
    "ranking_roc_area": queries(SVM(Ranking())),
    "ranking_average_precision": queries(SVM(Ranking("average_precision", threshold=1.0))),
    "ranking_ndcg": queries(SVM(Ranking("ndcg", k=3, gain="linear"))),
    "ranking_precision_at_k": queries(SVM(Ranking("precision_at_k", k=2))),
    "ranking_recall_at_k": queries(SVM(Ranking("recall_at_k", k=2))),
    "ranking_break_even": queries(StructuredPerceptron(Ranking("break_even"))),
    "precision_at_k": queries(LatentSVM(PrecisionAtK(2)), *LATENT),
    "multivariate_binary": Case(
        SVM(MultivariateBinary("f1"), fit_intercept=True),
        data.QUERIES,
        [np.where(y > 0, "yes", "no").tolist() for y in data.RELEVANCE],
        data.NEW_QUERIES,
    ),
    "multivariate_binary_error_rate": Case(
        SVM(MultivariateBinary("error_rate", classes=[1, 0])),
        data.QUERIES,
        [(y > 0).astype(int).tolist() for y in data.RELEVANCE],
        data.NEW_QUERIES,
    ),
    "correlation_clustering": items(SVM(CorrelationClustering())),
    "correlation_clustering_lp": items(SVM(CorrelationClustering("lp"))),
    "latent_forest": items(LatentSVM(LatentForest(r=0.5), C=100), *LATENT),
    "latent_chain": rows(LatentSVM(LatentChain({"A": 2}), n_init=2), *LATENT),
    "latent_chain_partly_labelled": Case(
        LatentSVM(LatentChain(1, boundaries=False, allowed_transitions="BIO")),
        data.described(data.WORDS),
        PARTLY,
        data.described(data.NEW_WORDS),
        LATENT,
    ),
    "motif": dna(LatentSVM(Motif(4, background_order=0), C=100)),
    "motif_widths": dna(
        LatentStructuralSVM(
            Motif((3, 4), background_order=1, both_strands=True, positive=0),
            C=100,
            solver=ConcaveConvex(inner=OneSlack(cache=4), tol=0.3, carry_over=False),
        ),
        kept=("solver.inner.cache", "solver.carry_over", "model.positive"),
    ),
    "python_model": Case(
        SVM(Thresholds(2.0)), [1.0, 2.0, 5.0, 7.0], [-1, -1, 1, 1], [3.5, 4.5], K_BEST, (), Thresholds(2.0)
    ),
    "python_latent_model": Case(
        LatentSVM(Somewhere(), C=100, n_init=4),
        [[1, 7, 2], [3, 3, 1], [9, 0, 2], [0, 1, 2], [4, 2, 7], [4, 0, 3], [5, 9, 3], [5, 4, 0]],
        ["high", "low"] * 4,
        [[1, 1, 7], [4, 4, 3]],
        LATENT,
        model=Somewhere(),
    ),
    "solver_block_coordinate": solved(BlockCoordinate(averaging=True, chunk_size=4, tol=0.3), "solver.averaging"),
    "solver_n_slack": solved(NSlack(update_on="example", eps=0.01), "solver.update_on", "solver.eps"),
    "solver_one_slack": solved(OneSlack(cache=3, tol=0.01), "solver.cache", "solver.tol"),
    "solver_subgradient": solved(Subgradient(max_iter=5, step="constant"), "solver.step"),
    "solver_exponentiated_gradient": solved(ExponentiatedGradient(tol=0.3), "solver.tol"),
    "solver_extragradient": solved(Extragradient(tol=0.3), "solver.tol"),
    "solver_excessive_gap": solved(ExcessiveGap(tol=0.3), "solver.tol"),
    "solver_named": solved("one_slack", "solver"),
    "solver_dual_coordinate": likely(DualCoordinate(random_state=3), "solver.random_state"),
    "solver_lbfgs": likely(LBFGS(memory=4), "solver.memory", "l1_ratio", l1_ratio=0.5),
    "solver_iterative_scaling": likely(IterativeScaling(tol=0.3), "solver.tol"),
    "text_features": words(
        TextFeatures(["word[-1..0]", "word.suffix2[0]", "word[-1]|word[0]", "bias"], min_count=2),
        SVM(Chain()),
        asked=K_BEST,
    ),
    "text_features_hashed": words(
        TextFeatures(["word[-1..1]"], n_hashed=16, boundary=False), CRF(Chain()), asked=PROBABILITIES
    ),
    "token_transformers": Case(
        make_pipeline(
            TokenTransformer(StandardScaler()),
            TokenTransformer(PiecewiseLinear(n_knots=3, smoothness=0.5)),
            SVM(Chain()),
        ),
        data.ROWS,
        data.LETTERS,
        data.NEW_ROWS,
        K_BEST,
    ),
    "monotone_curves": Case(
        make_pipeline(
            TokenTransformer(PiecewiseLinear(knots=[-0.5, 0.0, 0.5])),
            StructuralSVM(
                Chain(),
                C=10,
                solver=Subgradient(max_iter=5, projection=MonotoneCurves((3, 3, 3), (1, 0, -1))),
            ),
        ),
        data.ROWS,
        data.LETTERS,
        data.NEW_ROWS,
        K_BEST,
        ("solver.projection.directions",),
    ),
    "dict_vectorizer": Case(
        make_pipeline(DictVectorizer(), StandardScaler(with_mean=False), SVM(Multiclass())),
        [{"size": 1.0, "sound": "purr"}, {"size": 9.0, "sound": "moo"}, {"size": 2.0, "sound": "bark"}],
        ["cat", "cow", "dog"],
        [{"size": 3.0, "sound": "moo"}, {"size": 1.5}],
        ("decision_function",),
    ),
}
