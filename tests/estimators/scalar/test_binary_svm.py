"""The binary SVM against scikit-learn's, against its quadratic program written out, and on bad input."""

import io
import signal
import warnings
from contextlib import redirect_stderr

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.optimize import LinearConstraint, minimize
from sklearn.datasets import make_circles
from sklearn.exceptions import ConvergenceWarning
from sklearn.svm import SVC
from sklearn.utils.estimator_checks import parametrize_with_checks

from structlearn import BinarySVM
from structlearn.kernels import RBF, FunctionKernel, Linear, PairwiseKernel, Polynomial, Precomputed, Spectrum
from structlearn.solvers import InseparableError

with warnings.catch_warnings():
    warnings.filterwarnings("ignore", "Estimator .* does not inherit from", UserWarning)
    CHECKS = parametrize_with_checks([BinarySVM(tol=1e-11), BinarySVM(RBF(0.5), C=100.0, tol=1e-9)])

INDEFINITE = PairwiseKernel("sigmoid", {"gamma": 2.0, "coef0": -3.0})


@pytest.mark.sample(3)
@CHECKS
def test_it_passes_scikit_learns_checks(estimator, check):
    check(estimator)


def problem(seed, n=50):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 3))
    return X, np.where(X[:, 0] * X[:, 1] + 0.5 * rng.normal(size=n) > 0, 1, -1)


def objective(K, y, beta, bias, prices, squared=False):
    scores = K @ beta
    slacks = np.maximum(0.0, 1.0 - y * (scores + bias))
    return 0.5 * beta @ scores + prices @ (0.5 * slacks**2 if squared else slacks)


def spread(svm, n):
    beta = np.zeros(n)
    beta[svm.support_] = np.ravel(svm.dual_coef_)
    return beta


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("price", [0.1, 3.0])
@pytest.mark.parametrize(
    ("kernel", "theirs"),
    [
        (RBF(0.5), {"kernel": "rbf", "gamma": 0.5}),
        (Linear(), {"kernel": "linear"}),
        (Polynomial(2), {"kernel": "poly", "degree": 2, "gamma": 1.0, "coef0": 1.0}),
    ],
    ids=str,
)
def test_objective_and_decisions_are_those_of_scikit_learn(kernel, theirs, price, seed):
    X, y = problem(seed)
    weight = np.random.default_rng(seed).uniform(0.5, 2.0, len(y))
    svc = SVC(C=price, tol=1e-6, **theirs).fit(X, y, weight)
    svm = BinarySVM(kernel, C=price * weight.sum(), tol=1e-8).fit(X, y, weight)
    ours, reached = (
        objective(kernel(X), y, spread(each, len(y)), float(np.ravel(each.intercept_)[0]), price * weight)
        for each in (svm, svc)
    )
    assert ours == pytest.approx(svm.objective_, rel=1e-9)
    assert ours == pytest.approx(reached, rel=1e-6 if price < 1 else 1e-5)
    assert ours <= reached * (1 + 1e-8)
    assert 0 <= svm.duality_gap_ <= 1e-8 or abs(svm.duality_gap_) < 1e-12
    np.testing.assert_allclose(svm.decision_function(X), svc.decision_function(X), atol=1e-2)


@pytest.mark.parametrize("slack", ["linear", "squared"])
@pytest.mark.parametrize("fit_intercept", [True, False])
def test_the_quadratic_program_written_out_has_the_same_optimum(slack, fit_intercept):
    X, y = problem(7, 25)
    weight = np.random.default_rng(0).uniform(0.5, 2.0, len(y))
    prices = 0.8 * weight
    svm = BinarySVM(RBF(0.5), C=0.8 * weight.sum(), slack=slack, fit_intercept=fit_intercept, tol=1e-9)
    svm.fit(X, y, weight)
    Q = np.outer(y, y) * RBF(0.5)(X) + (np.diag(1.0 / prices) if slack == "squared" else 0.0)
    found = minimize(
        lambda a: 0.5 * a @ Q @ a - a.sum(),
        np.zeros(len(y)),
        jac=lambda a: Q @ a - 1.0,
        bounds=[(0.0, price if slack == "linear" else None) for price in prices],
        constraints=[LinearConstraint(y[None], 0.0, 0.0)] if fit_intercept else [],
        method="SLSQP" if fit_intercept else "L-BFGS-B",
        options={"maxiter": 5000, "ftol": 1e-13},
    )
    assert svm.objective_ == pytest.approx(-found.fun, rel=1e-6)
    beta = spread(svm, len(y))
    assert (y * beta >= 0).all()
    assert objective(RBF(0.5)(X), y, beta, svm.intercept_, prices, slack == "squared") == pytest.approx(
        svm.objective_, rel=1e-9
    )
    assert fit_intercept or svm.intercept_ == 0.0


@pytest.mark.parametrize("fit_intercept", [True, False])
def test_the_hard_margin_separates_and_its_support_vectors_lie_on_it(fit_intercept):
    rng = np.random.default_rng(1)
    X = rng.normal(size=(80, 2))
    X = X[np.abs(X[:, 0] - X[:, 1]) > 0.3]
    y = np.where(X[:, 0] > X[:, 1], "a", "b")
    svm = BinarySVM(slack="hard", fit_intercept=fit_intercept, tol=1e-8).fit(X, y)
    margins = np.where(y == "b", 1, -1) * svm.decision_function(X)
    w = svm.coef_
    assert margins.min() == pytest.approx(np.sqrt(0.5 * w @ w / svm.objective_), rel=1e-5)
    np.testing.assert_allclose(margins[svm.support_], margins.min(), rtol=1e-3)
    soft = SVC(kernel="linear", C=1e5, tol=1e-6).fit(X, y)
    if fit_intercept:
        assert svm.objective_ == pytest.approx(0.5 * float((soft.coef_**2).sum()), rel=1e-3)


@pytest.mark.parametrize("fit_intercept", [True, False])
def test_data_that_no_margin_separates_are_refused(fit_intercept):
    svm = BinarySVM(slack="hard", fit_intercept=fit_intercept)
    with pytest.raises(InseparableError, match="cannot be separated"):
        svm.fit([[0.0], [1.0], [2.0], [1.0]], [0, 1, 0, 0])
    X, y = problem(0)
    with pytest.raises(InseparableError, match="cannot be separated"):
        svm.fit(X, y)


def test_weights_equal_copies_and_zero_weight_equals_removal():
    X, y = problem(3)
    weight = np.random.default_rng(0).integers(0, 3, len(y))
    weighted = BinarySVM(RBF(np.float64(1.0)), C=20.0, tol=1e-10).fit(X, y, weight)
    copied = BinarySVM(RBF(1.0), C=20.0, tol=1e-10).fit(np.repeat(X, weight, axis=0), np.repeat(y, weight))
    assert weighted.objective_ == pytest.approx(copied.objective_, rel=1e-8)
    np.testing.assert_allclose(weighted.decision_function(X), copied.decision_function(X), atol=1e-4)
    assert (weight[weighted.support_] > 0).all()


def test_sparse_rows_duplicates_and_little_memory_change_nothing():
    X, y = problem(5, 200)
    X = np.where(np.abs(X) < 0.7, 0.0, X)
    dense = BinarySVM(RBF(0.5), C=200.0, tol=1e-9).fit(X, y)
    for other in (
        BinarySVM(RBF(0.5), C=200.0, tol=1e-9).fit(sp.csr_array(X), y),
        BinarySVM(1.0 * RBF(0.5), C=200.0, tol=1e-9, max_memory=20 * 200 * 4).fit(X, y),
        BinarySVM(lambda X, Z: RBF(0.5)(X, Z), C=200.0, tol=1e-9).fit(X, y),
        BinarySVM(Precomputed(RBF(0.5)(X)), C=200.0, tol=1e-9).fit(np.arange(200)[:, None], y),
    ):
        assert other.objective_ == pytest.approx(dense.objective_, rel=1e-8)
    assert BinarySVM(RBF(0.5), C=400.0, tol=1e-9).fit(np.tile(X, (2, 1)), np.tile(y, 2)).objective_ == pytest.approx(
        BinarySVM(RBF(0.5), C=400.0, tol=1e-9).fit(X, y).objective_, rel=1e-7
    )


def test_strings_any_labels_and_the_default_price():
    words = ["banana", "bandana", "cabana", "sugar", "burger", "sugars"]
    svm = BinarySVM(Spectrum(2)).fit(words, [None, None, None, ("x",), ("x",), ("x",)])
    assert svm.predict(["ananas", "sugary"]).tolist() == [None, ("x",)]
    assert pytest.approx(0.6) == svm.C_
    assert svm.score(words, [None, None, None, ("x",), ("x",), "new"]) == pytest.approx(5 / 6)
    assert isinstance(svm.support_vectors_, list)


def test_an_unfinished_run_warns_and_keeps_what_it_has():
    X, y = problem(1)
    with pytest.warns(ConvergenceWarning, match="max_iter=1, after 1 iteration at a relative duality gap"):
        svm = BinarySVM(RBF(5.0), C=1e5, tol=1e-12, max_iter=1).fit(X, y)
    assert not svm.converged_
    assert svm.history_[-1]["certified"]
    with pytest.warns(ConvergenceWarning):
        assert BinarySVM(max_iter=0).fit(X, y).decision_function(X).shape == (50,)


def test_progress_is_shown_and_the_history_has_a_bound_that_rises():
    X, y = problem(2, 100)
    out = io.StringIO()
    with redirect_stderr(out):
        svm = BinarySVM(RBF(1.0), C=100.0, tol=1e-6, verbose=1).fit(X, y)
    assert "BinarySVM  iteration" in out.getvalue()
    duals = [record["dual"] for record in svm.history_]
    assert (np.diff(duals) > -1e-5 * max(duals)).all()
    assert svm.history_[-1]["gap"] <= 1e-6 * svm.history_[-1]["primal"]


def test_ctrl_c_leaves_a_fitted_estimator():
    X, y = problem(2, 100)
    calls = []

    def kernel(X, Z):
        calls.append(len(X))
        # The first call is the look at some examples, before training.
        if len(calls) == 2:
            signal.raise_signal(signal.SIGINT)
        return RBF(1.0)(X, Z)

    svm = BinarySVM(FunctionKernel(kernel), C=100.0, tol=1e-9, max_memory=60 * 100 * 4)
    with pytest.raises(KeyboardInterrupt, match=r"training stopped after .*relative duality gap"):
        svm.fit(X, y)
    assert svm.predict(X).shape == (100,)


def test_options_and_data_that_cannot_be_are_refused_by_name():
    X, y = problem(0)
    bad = X.copy()
    bad[3, 1] = np.nan
    for svm, data, message in [
        (BinarySVM(), (bad, y), "NaN"),
        (BinarySVM(RBF(-1.0)), (X, y), "gamma is -1.0"),
        (BinarySVM(C=-1), (X, y), "C is -1"),
        (BinarySVM(slack="none"), (X, y), "slack is 'none'"),
        (BinarySVM("cubic"), (X, y), "kernel is 'cubic'"),
        (BinarySVM(), (X, np.ones(50)), "y has one class only, 1"),
        (BinarySVM(), (X, np.arange(50)), "Only binary classification is supported. .* y has 50 classes"),
        (BinarySVM(), (X, y[:-1]), "X has 50 examples but y has 49 entries"),
        (BinarySVM(), (np.empty((0, 3)), []), "0 sample"),
        (BinarySVM(max_memory=100), (X, y), "two rows of the kernel matrix of 50 examples take"),
        (BinarySVM(lambda X, Z: np.full((len(X), len(Z)), np.nan)), (X, y), r"the kernel of X\[0\] and X\[0\] is nan"),
        (BinarySVM(lambda X, Z: np.ones((2, 2))), (X, y), r"shape \(2, 2\)"),
        (BinarySVM(), (X, y, np.zeros(50)), "sample_weight is zero for every example"),
    ]:
        with pytest.raises(ValueError, match=message):
            svm.fit(*data)
        assert not hasattr(svm, "classes_")


@pytest.mark.parametrize("fit_intercept", [True, False])
def test_a_kernel_with_negative_curvature_is_refused(fit_intercept):
    X, y = problem(0)
    with pytest.raises(ValueError, match="not positive semidefinite"):
        BinarySVM(INDEFINITE, C=1e4, fit_intercept=fit_intercept).fit(X, y)


def test_a_function_that_training_would_take_for_a_kernel_is_refused():
    X, y = make_circles(120, noise=0.1, factor=0.5, random_state=0)
    with pytest.raises(ValueError, match="the kernel matrix of 100 examples of X is not positive semidefinite"):
        BinarySVM(lambda A, B: np.tanh(A @ B.T - 1.0), C=120).fit(X, y)


def test_kernels_that_overflow_are_refused_without_a_warning():
    with pytest.raises(ValueError, match=r"the kernel of X\[0\] and X\[0\] is inf"):
        BinarySVM(Polynomial(3), C=1.0).fit([[1e120], [-1e120]], [0, 1])
