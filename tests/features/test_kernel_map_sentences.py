"""Features of the tokens at the edges of phrases, their kernels against explicit features, and what is refused."""

import numpy as np
import pytest
from sklearn.pipeline import make_pipeline

import structlearn
from structlearn import ConditionalRandomField, StructuralSVM
from structlearn.features import KernelMap
from structlearn.kernels import RBF, Linear, Polynomial, median_gamma
from structlearn.models import Grammar
from tests.models import sums

MODEL = Grammar(spans=True)


def sentences(n, seed=0):
    """Trees over nouns; a phrase is of the kind A where the two numbers of its first token have the same sign."""
    random = np.random.default_rng(seed)
    X, Y = [], []
    for length in random.integers(2, 5, n):
        rows = random.choice([-1.0, 1.0], (length, 2)) + 0.1 * random.normal(size=(length, 2))
        cut = int(random.integers(1, length))
        phrases = [(begin, end, "A" if rows[begin].prod() > 0 else "B") for begin, end in ((0, cut), (cut, length))]
        X.append({"tokens": ["N"] * length, "features": rows})
        Y.append(("S", *((kind, *[("N", "N")] * (end - begin)) for begin, end, kind in phrases)))
    return X, Y


X, Y = sentences(12)


def mapped(function, X):
    return [x | {"features": function(x["features"])} for x in X]


def squares(rows):
    """φ with ⟨φ(x), φ(z)⟩ = (⟨x, z⟩ + 1)² of two columns."""
    a, b = rows.T
    return np.column_stack([np.ones(len(rows)), 2**0.5 * a, 2**0.5 * b, a * a, b * b, 2**0.5 * a * b])


@pytest.mark.parametrize(("kernel", "explicit"), [(Linear(), np.copy), (Polynomial(2), squares)], ids=["1", "2"])
@pytest.mark.parametrize("learner", [StructuralSVM, ConditionalRandomField])
def test_learners_are_those_with_the_explicit_features_of_the_kernel(learner, kernel, explicit):
    options = {"C": 5.0, "tol": 1e-9, "max_iter": 5000}
    plain = learner(MODEL, **options).fit(mapped(explicit, X), Y)
    kernelised = make_pipeline(KernelMap(kernel, None), learner(MODEL, **options)).fit(X, Y)
    assert kernelised[-1].objective_ == pytest.approx(plain.objective_, rel=1e-6)
    new = sentences(6, seed=1)[0]
    found = kernelised[-1].k_best(kernelised[:-1].transform(new), 1)
    for ((_, score),), ((_, expected),) in zip(found, plain.k_best(mapped(explicit, new), 1), strict=True):
        assert score == pytest.approx(expected, abs=1e-3)


def test_likelihood_solvers_agree_on_features_of_tokens():
    sums.check_same_optimum(MODEL, X, Y, ["lbfgs", "dual_coordinate", "exponentiated_gradient"])


def test_a_kernel_tells_phrases_by_what_no_linear_score_of_their_tokens_does():
    train, test = sentences(60), sentences(30, seed=1)
    linear = StructuralSVM(MODEL, C=60).fit(*train)
    gaussian = make_pipeline(KernelMap(RBF(median_gamma(train[0])), 10, "cholesky"), StructuralSVM(MODEL, C=60))
    assert gaussian.fit(*train).score(*test) > linear.score(*test) + 0.1


def test_fitted_pipelines_come_back_from_files(tmp_path):
    pipeline = make_pipeline(KernelMap("rbf", 4, random_state=0), StructuralSVM(MODEL)).fit(X, Y)
    assert pipeline[0].kernel_.gamma == median_gamma(X)
    structlearn.save(pipeline, tmp_path / "svm.slm")
    assert structlearn.load(tmp_path / "svm.slm").predict(X) == pipeline.predict(X)


def test_weights_of_features_have_names():
    svm = StructuralSVM(MODEL, C=10).fit(X, Y)
    names = svm.spec_.span_names()
    assert names[-8:-6] == ["begins with feature 0", "begins with feature 1"]
    assert svm.model_.n_weights(svm.spec_) == len(svm.spec_.rule_names()) + len(names) * len(svm.spec_.labels)


def changed(**parts):
    return {"tokens": ["N", "N"], "features": np.ones((2, 2))} | parts


REFUSED = [
    (changed(features=np.ones((2, 3))), r"X\[1\] has 3 features a token but {} had 2"),
    (changed(features=[[0.0, 1.0], [np.nan, 1.0]]), r"X\[1\]\['features'\]\[1, 0\] is nan"),
    (changed(features=np.ones((3, 2))), r"X\[1\] has features of 3 tokens but 2 tokens"),
    (changed(features=np.ones(2)), r"X\[1\]\['features'\] has the shape \(2,\); it must be a matrix"),
    (["N", "N"], r"X\[1\] has no features a token but {} had 2"),
    ({"tokens": ["N"], "rows": [[1.0, 2.0]]}, r"X\[1\] has 'tokens', 'rows'; a sentence with features has 'tokens'"),
]


@pytest.mark.parametrize("fitted", [KernelMap(n_components=3), StructuralSVM(MODEL)], ids=["map", "svm"])
@pytest.mark.parametrize(("sentence", "message"), REFUSED)
def test_features_that_do_not_fit_are_refused_by_name(fitted, sentence, message):
    with pytest.raises(ValueError, match=message.format(r"X\[0\]")):
        fitted.fit([X[0], sentence], Y[:2])
    fitted.fit(X, Y)
    with pytest.raises(ValueError, match=message.format("training")):
        (getattr(fitted, "transform", None) or fitted.predict)([X[0], sentence])


def test_features_of_tokens_need_spans_and_training_with_them():
    with pytest.raises(ValueError, match="X has features of tokens, which are for spans=True"):
        StructuralSVM(Grammar()).fit(X, Y)
    plain = StructuralSVM(MODEL).fit([x["tokens"] for x in X], Y)
    with pytest.raises(ValueError, match=r"X\[0\] has 2 features a token but training had none"):
        plain.predict(X)
