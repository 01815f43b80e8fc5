"""The perceptron of two classes: Novikoff's bound, and w, b and α that say the same."""

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import Perceptron

from structlearn import BinaryPerceptron
from structlearn.kernels import RBF, Linear, Spectrum


def separable(seed, gap=0.3, n=80):
    """Points at least `gap` away from a line, and the line."""
    random = np.random.default_rng(seed)
    u = random.normal(size=2)
    u, beta = u / np.linalg.norm(u), random.uniform(-1, 1)
    X = random.uniform(-3, 3, (n, 2))
    distance = X @ u + beta
    X, distance = X[np.abs(distance) > gap], distance[np.abs(distance) > gap]
    return X, np.where(distance > 0, "above", "below"), np.append(u, beta)


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize("fit_intercept", [True, False])
def test_mistakes_are_within_novikoffs_bound(seed, fit_intercept):
    X, y, line = separable(seed)
    if not fit_intercept:
        # Through the origin, in three dimensions.
        X = np.column_stack([X, np.ones(len(X))])
    perceptron = BinaryPerceptron(fit_intercept=fit_intercept, max_iter=10_000).fit(X, y)
    extended = np.column_stack([X, np.ones(len(X))]) if fit_intercept else X
    margin = np.abs(extended @ line).min() / np.linalg.norm(line)
    radius = np.linalg.norm(extended, axis=1).max()
    assert perceptron.converged_
    assert 0 < perceptron.n_mistakes_ <= (radius / margin) ** 2
    assert perceptron.score(X, y) == 1.0
    assert sum(record["mistakes"] for record in perceptron.history_) == perceptron.n_mistakes_
    assert perceptron.history_[-1]["mistakes"] == 0


def plain(X, signs, passes):
    """The rule, example by example."""
    w, b = np.zeros(X.shape[1]), 0.0
    for _ in range(passes):
        for x, y in zip(X, signs, strict=True):
            if y * (w @ x + b) <= 0:
                w, b = w + y * x, b + y
    return w, b


@pytest.mark.parametrize("passes", [1, 2, 7])
def test_it_is_the_rule_applied_to_one_example_after_the_other(passes):
    random = np.random.default_rng(passes)
    X, signs = random.integers(-5, 6, (50, 3)).astype(float), random.choice([-1, 1], 50)
    with pytest.warns(ConvergenceWarning, match=f"mistakes in pass {passes}"):
        perceptron = BinaryPerceptron(max_iter=passes).fit(X, signs)
    w, b = plain(X, signs, passes)
    np.testing.assert_array_equal(perceptron.coef_, w)
    assert perceptron.intercept_ == b
    theirs = Perceptron(shuffle=False, max_iter=passes, tol=None).fit(X, signs)
    np.testing.assert_array_equal(perceptron.coef_, theirs.coef_[0])
    assert perceptron.intercept_ == theirs.intercept_[0]


def test_the_kernel_form_of_inner_products_is_the_linear_one():
    X, y, _ = separable(1)
    linear, kernel = BinaryPerceptron().fit(X, y), BinaryPerceptron(Linear()).fit(X, y)
    sparse = BinaryPerceptron().fit(sp.csr_array(X), y)
    np.testing.assert_array_equal(kernel.dual_coef_, linear.dual_coef_)
    np.testing.assert_allclose(kernel.support_vectors_.T @ kernel.dual_coef_, linear.coef_)
    np.testing.assert_allclose(kernel.decision_function(X), linear.decision_function(X))
    np.testing.assert_allclose(sparse.coef_, linear.coef_)
    assert np.abs(kernel.dual_coef_).sum() == kernel.n_mistakes_
    np.testing.assert_allclose(kernel.coef_, linear.coef_)


def test_kernels_separate_what_no_line_does():
    random = np.random.default_rng(0)
    X = random.normal(size=(100, 2))
    y = np.hypot(*X.T) > 1.2
    perceptron = BinaryPerceptron(RBF(gamma=2.0)).fit(X, y)
    assert perceptron.converged_
    assert perceptron.score(X, y) == 1.0
    words = BinaryPerceptron(Spectrum(2)).fit(["banana", "ananas", "kiwi", "wiki"], ["a", "a", "i", "i"])
    assert words.predict(["anna", "kiwis"]).tolist() == ["a", "i"]


def test_where_it_ends_depends_on_where_it_begins():
    X, y, _ = separable(2)
    starts = [BinaryPerceptron().fit(X, y, coef_init=w, intercept_init=1.0) for w in ([5.0, 0.0], [0.0, -5.0])]
    assert all(each.score(X, y) == 1.0 for each in starts)
    assert not np.allclose(*(each.coef_ / np.linalg.norm(each.coef_) for each in starts), atol=1e-3)
    line = BinaryPerceptron().fit(X, y)
    again = BinaryPerceptron().fit(X, y, coef_init=line.coef_, intercept_init=line.intercept_)
    assert again.n_mistakes_ == 0
    np.testing.assert_array_equal(again.predict(X), y)


@pytest.mark.parametrize(
    ("options", "fit", "message"),
    [
        ({"kernel": RBF(gamma=-1)}, {}, "^gamma is -1"),
        ({"max_iter": 0}, {}, "^max_iter is 0"),
        ({"fit_intercept": 3}, {}, "^fit_intercept is 3"),
        ({}, {"coef_init": [1.0]}, r"^coef_init has shape \(1,\) but X has 2 columns"),
        ({}, {"coef_init": [1.0, np.nan]}, r"^coef_init\[1\] is nan"),
        ({}, {"intercept_init": np.inf}, "^intercept_init is inf"),
        ({"fit_intercept": False}, {"intercept_init": 1.0}, "^intercept_init is 1.0, but fit_intercept is False"),
        ({"kernel": RBF()}, {"coef_init": [1.0, 1.0]}, "^coef_init is for a perceptron without a kernel"),
        ({}, {"y": ["a", "a"]}, "^y has one class only, 'a'"),
        ({}, {"y": ["a"]}, "^X has 2 examples but y has 1 entry"),
        ({}, {"X": [[np.nan, 1.0], [0.0, 1.0]]}, "Input X contains NaN"),
    ],
)
def test_what_means_nothing_is_refused(options, fit, message):
    with pytest.raises(ValueError, match=message):
        BinaryPerceptron(**options).fit(**{"X": [[0.0, 1.0], [1.0, 0.0]], "y": ["a", "b"]} | fit)
