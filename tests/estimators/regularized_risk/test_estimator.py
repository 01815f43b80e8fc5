"""Every pair of a loss and a regularizer: certified, and what scikit-learn finds where it has the same objective."""

import warnings

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.optimize import minimize
from sklearn import linear_model as linear
from sklearn.base import clone, is_classifier, is_regressor
from sklearn.exceptions import ConvergenceWarning
from sklearn.kernel_ridge import KernelRidge
from sklearn.model_selection import GridSearchCV
from sklearn.svm import SVC, LinearSVC

from structlearn import RegularizedRisk, plots
from structlearn.estimators.regularized_risk import (
    L1,
    L2,
    ElasticNet,
    Entropy,
    Hinge,
    Huber,
    Logistic,
    Lp,
    Squared,
    SquaredHinge,
)
from structlearn.estimators.regularized_risk.objective import Risk
from structlearn.kernels import RBF, FunctionKernel, Linear, Spectrum

LOSSES = [Squared(), Huber(0.5), Logistic(), SquaredHinge(), Hinge()]
REGULARIZERS = [L2(), L1(), ElasticNet(0.4), Lp(1.5), Entropy()]
N = 60
random = np.random.default_rng(3)
X = random.normal(size=(N, 5)) * [1.0, 0.5, 2.0, 1.0, 1.0]
F = X @ [1.0, -2.0, 0.5, 0.0, 0.0] + 0.7
NUMBERS = F + 0.5 * random.normal(size=N)
LABELS = np.where(F + 1.5 * random.normal(size=N) > 0, "yes", "no")
SIGNS = np.where(LABELS == "yes", 1.0, -1.0)


def truths(loss):
    return LABELS if loss.of_margins else NUMBERS


def objective(risk, w, b, weight=None):
    """As the docstring writes it down."""
    s = np.ones(N) if weight is None else weight
    y = SIGNS if risk.loss.of_margins else NUMBERS
    return risk.regularizer.value(w) + risk.C_ / s.sum() * (s @ risk.loss.value(y, X @ w + b))


@pytest.mark.parametrize("fit_intercept", [True, False])
@pytest.mark.parametrize("regularizer", REGULARIZERS, ids=repr)
@pytest.mark.parametrize("loss", LOSSES, ids=repr)
def test_every_pair_is_certified(loss, regularizer, fit_intercept):
    weight = np.random.default_rng(0).integers(0, 3, N).astype(float)
    risk = RegularizedRisk(loss, regularizer, C=100, fit_intercept=fit_intercept, tol=1e-5)
    risk.fit(X, truths(loss), sample_weight=weight)
    assert risk.converged_
    assert -1e-12 < risk.duality_gap_ <= 1e-5
    assert risk.objective_ == pytest.approx(objective(risk, risk.coef_, risk.intercept_, weight))
    last = risk.history_[-1]
    assert last["primal"] == risk.objective_
    assert last["dual"] <= last["primal"] + 1e-9
    # The bound holds: no step from the optimum leads below it.
    for _ in range(20):
        w, b = risk.coef_ + 0.1 * random.normal(size=5), risk.intercept_ + 0.1 * random.normal() * fit_intercept
        if isinstance(regularizer, Entropy):
            w = np.abs(w) / np.abs(w).sum()
        assert objective(risk, w, b, weight) >= last["dual"] - 1e-9
    assert fit_intercept or risk.intercept_ == 0.0


def close(ours, coef, intercept, atol=1e-4):
    np.testing.assert_allclose(ours.coef_, np.ravel(coef), atol=atol)
    np.testing.assert_allclose(ours.intercept_, np.ravel(intercept)[0], atol=atol)


@pytest.mark.parametrize("weight", [None, np.arange(N) % 4])
def test_ridge_regression_is_solved_by_equations(weight):
    s = N if weight is None else weight.sum()
    ours = RegularizedRisk(Squared(), L2(), C=20).fit(X, NUMBERS, weight)
    theirs = linear.Ridge(alpha=s / 20).fit(X, NUMBERS, weight)
    close(ours, theirs.coef_, theirs.intercept_, atol=1e-10)
    assert abs(ours.duality_gap_) < 1e-12
    assert ours.n_iter_ == 1
    wide = RegularizedRisk(Squared(), L2(), C=20).fit(X.T, NUMBERS[:5])
    close(wide, *(lambda ridge: (ridge.coef_, ridge.intercept_))(linear.Ridge(alpha=5 / 20).fit(X.T, NUMBERS[:5])))


def test_kernel_ridge_regression():
    ours = RegularizedRisk(Squared(), L2(RBF(gamma=0.5)), C=300, fit_intercept=False).fit(X, NUMBERS)
    theirs = KernelRidge(alpha=N / 300, kernel="rbf", gamma=0.5).fit(X, NUMBERS)
    np.testing.assert_allclose(ours.dual_coef_, theirs.dual_coef_, atol=1e-6)
    np.testing.assert_allclose(ours.predict(X + 0.1), theirs.predict(X + 0.1), atol=1e-6)
    assert ours.support_.tolist() == list(range(N))
    # Saha's (2.6), (1/n) Σ (y − f)² + λ‖f‖², is that of C = 1/λ: a = (G + nλI)⁻¹ y.
    gram = RBF(gamma=0.5)(X)
    np.testing.assert_allclose(ours.dual_coef_, np.linalg.solve(gram + N / 300 * np.eye(N), NUMBERS), atol=1e-6)


def test_logistic_regression():
    ours = RegularizedRisk(Logistic(), L2(), C=30, tol=1e-9).fit(X, LABELS)
    theirs = linear.LogisticRegression(C=30 / N, tol=1e-10).fit(X, LABELS)
    close(ours, theirs.coef_, theirs.intercept_)
    np.testing.assert_allclose(ours.predict_proba(X), theirs.predict_proba(X), atol=1e-4)
    assert ours.classes_.tolist() == ["no", "yes"]
    assert ours.score(X, LABELS) == theirs.score(X, LABELS)


@pytest.mark.parametrize("ratio", [1.0, 0.5])
def test_lasso_and_elastic_net(ratio):
    ours = RegularizedRisk(Squared(), L1() if ratio == 1.0 else ElasticNet(ratio), C=5, tol=1e-8).fit(X, NUMBERS)
    theirs = linear.ElasticNet(alpha=1 / 5, l1_ratio=ratio, tol=1e-10).fit(X, NUMBERS)
    close(ours, theirs.coef_, theirs.intercept_)
    np.testing.assert_array_equal(ours.coef_ == 0, theirs.coef_ == 0)
    assert (ours.coef_ == 0).any()
    assert ours.score(X, NUMBERS) == pytest.approx(theirs.score(X, NUMBERS), abs=1e-6)


@pytest.mark.parametrize("kernel", [RBF(gamma=0.3), Linear()], ids=repr)
def test_support_vector_machine(kernel):
    ours = RegularizedRisk(Hinge(), L2(kernel), C=60, tol=1e-8).fit(X, LABELS)
    options = {"kernel": "linear"} if isinstance(kernel, Linear) else {"gamma": 0.3}
    theirs = SVC(C=1.0, tol=1e-8, **options).fit(X, LABELS)
    np.testing.assert_allclose(ours.decision_function(X), theirs.decision_function(X), atol=2e-3)
    assert set(theirs.support_) <= set(ours.support_)
    large = np.abs(ours.dual_coef_) > 1e-4
    assert set(ours.support_[large]) <= set(theirs.support_)
    # Saha's dual: 0 ≤ a_i ≤ 1/n at λ = 1/C, and w = (1/λ) Σ a_i y_i φ(x_i).
    assert (ours.dual_coef_ * SIGNS[ours.support_]).min() >= 0
    assert np.abs(ours.dual_coef_).max() <= 1.0 + 1e-12
    assert ours.dual_coef_.sum() == pytest.approx(0.0, abs=1e-9)
    linear_one = RegularizedRisk(Hinge(), L2(), C=60, tol=1e-8).fit(X, LABELS)
    if isinstance(kernel, Linear):
        np.testing.assert_allclose(ours.decision_function(X), linear_one.decision_function(X), atol=2e-3)


def test_support_vector_machine_with_squared_slacks():
    ours = RegularizedRisk(SquaredHinge(), L2(), C=60, fit_intercept=False, tol=1e-10).fit(X, LABELS)
    theirs = LinearSVC(C=0.5, loss="squared_hinge", fit_intercept=False, tol=1e-10, max_iter=100_000).fit(X, LABELS)
    close(ours, theirs.coef_, 0.0)


@pytest.mark.parametrize("loss", [Huber(0.5), Hinge(), Logistic()], ids=repr)
def test_a_general_optimiser_finds_the_same_value(loss):
    ours = RegularizedRisk(loss, Lp(1.5), C=10, tol=1e-8).fit(X, truths(loss))
    found = minimize(lambda t: objective(ours, t[:-1], t[-1]), np.zeros(6), method="Powell", options={"ftol": 1e-12})
    assert ours.objective_ <= found.fun + 1e-6
    assert found.fun == pytest.approx(ours.objective_, rel=1e-2)


def test_entropy_keeps_weights_a_distribution():
    experts = F[:, None] + random.normal(size=(N, 4)) * [0.1, 0.1, 3.0, 3.0]
    mixture = RegularizedRisk(Squared(), Entropy(), C=10).fit(experts, F)
    assert mixture.coef_.min() > 0
    assert mixture.coef_.sum() == pytest.approx(1.0)
    assert mixture.coef_[:2].min() > mixture.coef_[2:].max()
    even = RegularizedRisk(Squared(), Entropy(), C=1e-9).fit(experts, F)
    np.testing.assert_allclose(even.coef_, 0.25, atol=1e-6)


@pytest.mark.parametrize("loss", LOSSES, ids=repr)
def test_weights_count_examples_and_zero_leaves_them_out(loss):
    counts = np.random.default_rng(1).integers(0, 3, N)
    copies = np.repeat(np.arange(N), counts)
    risk = RegularizedRisk(loss, L2(RBF(gamma=0.2)), tol=1e-9)
    weighted = clone(risk).fit(X, truths(loss), sample_weight=counts)
    repeated = clone(risk).fit(X[copies], truths(loss)[copies])
    np.testing.assert_allclose(weighted._scores(X), repeated._scores(X), atol=2e-3)
    assert counts[weighted.support_].min() > 0
    assert weighted.C_ == repeated.C_ == counts.sum()


@pytest.mark.parametrize("loss", LOSSES, ids=repr)
def test_sparse_rows_are_like_dense_ones(loss):
    dense = RegularizedRisk(loss, ElasticNet(0.2), tol=1e-7).fit(X, truths(loss))
    sparse = RegularizedRisk(loss, ElasticNet(0.2), tol=1e-7).fit(sp.csr_matrix(X), truths(loss))
    np.testing.assert_allclose(sparse.coef_, dense.coef_, atol=1e-3)
    np.testing.assert_allclose(sparse._scores(sp.csr_array(X)), sparse._scores(X), atol=1e-12)


def test_kernels_of_strings():
    words = ["banana", "bandana", "ananas", "kiwi", "wiki", "kiki"]
    risk = RegularizedRisk(Hinge(), L2(Spectrum(2).normalised()), C=600).fit(words, [1, 1, 1, 0, 0, 0])
    assert risk.predict(["anna", "kiwis"]).tolist() == [1, 0]
    assert all("".join(word) in words for word in risk.support_vectors_)


def test_it_can_be_searched_and_knows_what_it_is():
    search = GridSearchCV(
        RegularizedRisk(Logistic(), L2(RBF())), {"regularizer__kernel__gamma": [0.01, 1.0], "C": [1, 100]}
    )
    search.fit(X, LABELS)
    assert search.best_score_ > 0.7
    assert is_classifier(RegularizedRisk(Hinge(), L2()))
    assert is_regressor(RegularizedRisk(Huber(), L2()))
    assert hasattr(RegularizedRisk(Logistic(), L2()), "predict_proba")
    assert not hasattr(RegularizedRisk(Hinge(), L2()), "predict_proba")
    assert not hasattr(RegularizedRisk(Squared(), L2()), "decision_function")


def test_a_run_that_is_cut_short_says_how_far_it_came():
    with pytest.warns(ConvergenceWarning, match="stopped after 2 iterations at the relative duality gap"):
        risk = RegularizedRisk(Logistic(), L2(), C=1000, max_iter=2).fit(X, LABELS)
    assert not risk.converged_
    assert risk.duality_gap_ > risk.tol
    assert risk.n_iter_ == 2


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"loss": Hinge}, "^loss is <class"),
        ({"loss": "hinge"}, "^loss is 'hinge'; expected an object such as Hinge"),
        ({"regularizer": None}, "^regularizer is None"),
        ({"regularizer": Lp(3)}, "^p is 3"),
        ({"regularizer": L2(RBF(gamma=0))}, "^gamma is 0; it must be a positive number"),
        ({"regularizer": L2(RBF)}, "^kernel is the class RBF"),
        ({"C": 0}, "^C is 0"),
        ({"tol": -1}, "^tol is -1"),
        ({"max_iter": 0}, "^max_iter is 0"),
        ({"fit_intercept": "no"}, "^fit_intercept is 'no'"),
    ],
)
def test_options_that_mean_nothing_are_refused_by_name(change, message):
    with pytest.raises(ValueError, match=message):
        RegularizedRisk(Hinge(), L2()).set_params(**change).fit(X, LABELS)


@pytest.mark.parametrize(
    ("loss", "y", "message"),
    [
        (Hinge(), ["a"] * N, "^y has one class only, 'a'"),
        (Hinge(), list("abc") * 20, "y has 3 classes, 'a', 'b', 'c' among them"),
        (Hinge(), [1.0, np.nan] * 30, r"^Y\[1\] is nan"),
        (Hinge(), ["a", "b"], "^X has 60 examples but y has 2 entries"),
        (Hinge(), None, "y to be passed"),
        (Hinge(), [0.5 + i for i in range(N)], "Unknown label type"),
        (Squared(), [np.nan] * N, "Input y contains NaN"),
        (Squared(), ["a"] * N, "could not convert|numbers"),
        (Squared(), [1e200] * N, "y.0. is 1e"),
    ],
)
def test_truths_that_mean_nothing_are_refused(loss, y, message):
    with pytest.raises(ValueError, match=message):
        RegularizedRisk(loss, L2()).fit(X, y)


@pytest.mark.parametrize(
    ("weight", "message"),
    [
        (np.where(np.arange(N) == 3, -1.0, 1.0), r"^sample_weight\[3\] is -1.0; weights must be finite and ≥ 0"),
        (np.zeros(N), "^sample_weight is zero for every example"),
        ((LABELS == "yes").astype(float), "^y has one class only, 'yes'; examples of two with a sample_weight above 0"),
        (np.ones(3), "^sample_weight has 3 entries"),
    ],
)
def test_weights_that_mean_nothing_are_refused(weight, message):
    with pytest.raises(ValueError, match=message):
        RegularizedRisk(Hinge(), L2()).fit(X, LABELS, sample_weight=weight)


def test_numbers_that_are_none_and_kernels_that_are_none_are_refused():
    with pytest.raises(ValueError, match="Input X contains NaN"):
        RegularizedRisk(Hinge(), L2()).fit(np.where(np.arange(5) == 2, np.nan, X), LABELS)
    risk = RegularizedRisk(Hinge(), L2(FunctionKernel(lambda A, B: -(A @ B.T))))
    with pytest.raises(ValueError, match="the kernel matrix of X is not positive semidefinite"):
        risk.fit(X, LABELS)
    with pytest.raises(ValueError, match="every example of X has the kernel 0 with itself"):
        RegularizedRisk(Hinge(), L2(Linear())).fit(0 * X, LABELS)


def test_a_failed_fit_leaves_the_last_one():
    risk = RegularizedRisk(Logistic(), L2()).fit(X, LABELS)
    before = risk.coef_
    with pytest.raises(ValueError, match="one class"):
        risk.fit(X, ["a"] * N)
    assert risk.coef_ is before
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert risk.set_params(loss=Squared()).fit(X, NUMBERS).predict(X).shape == (N,)


@pytest.mark.parametrize("fit_intercept", [True, False])
@pytest.mark.parametrize("regularizer", REGULARIZERS, ids=repr)
@pytest.mark.parametrize("loss", LOSSES, ids=repr)
def test_every_point_has_a_bound_below_the_optimum(loss, regularizer, fit_intercept):
    best = RegularizedRisk(loss, regularizer, C=50, fit_intercept=fit_intercept).fit(X, truths(loss))
    y = SIGNS if loss.of_margins else NUMBERS
    risk = Risk(X, y, np.full(N, 50 / N), loss, regularizer, fit_intercept)
    for seed in range(10):
        w, b = np.random.default_rng(seed).normal(size=5), seed / 5.0 if fit_intercept else 0.0
        found = risk.certificate(w, b, loss)
        assert found.dual <= best.objective_ * (1 + 1e-9)
        assert not fit_intercept or abs(found.slopes.sum()) < 1e-9


@pytest.mark.parametrize("C", [0.01, 1.0, 1e4])
def test_kernel_machines_need_few_iterations_at_any_price(C):
    svm = RegularizedRisk(Hinge(), L2(RBF(gamma=1.0)), C=C * N, max_iter=150).fit(X, LABELS)
    assert svm.converged_
    # The certificate is that of the very function that predicts.
    f, alpha = svm.decision_function(X), np.zeros(N)
    alpha[svm.support_] = svm.dual_coef_
    penalty = 0.5 * alpha @ RBF(gamma=1.0)(X) @ alpha
    assert svm.objective_ == pytest.approx(penalty + C * np.maximum(0, 1 - SIGNS * f).sum(), rel=1e-8)


def test_numbers_that_are_all_the_same_have_a_perfect_fit():
    for loss in (Squared(), Huber()):
        risk = RegularizedRisk(loss, L1()).fit(X, np.full(N, 3.0))
        assert risk.converged_
        np.testing.assert_allclose(risk.predict(X), 3.0, atol=1e-2)


def test_the_history_can_be_drawn():
    ax = plots.convergence(RegularizedRisk(Logistic(), L1(), C=100).fit(X, LABELS))
    assert [line.get_label() for line in ax.get_lines()] == ["objective", "lower bound"]
