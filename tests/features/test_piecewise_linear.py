"""Hat functions against their definition, and the smoothness penalty against a generic optimiser."""

import numpy as np
import pytest
import scipy.optimize
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from sklearn.base import clone
from sklearn.linear_model import Ridge
from sklearn.utils.estimator_checks import parametrize_with_checks

from structlearn import StructuralSVM
from structlearn.features import PiecewiseLinear, TokenTransformer
from structlearn.models import Chain, Multiclass

finite = st.floats(-1e300, 1e300)
few_values = st.sampled_from([-1.0, 0.0, 0.5, 0.5000000000000001, 5e-324, 2.0])
matrices = arrays(
    np.float64,
    st.tuples(st.integers(1, 12), st.integers(1, 3)),
    elements=st.one_of(finite, few_values),
    fill=st.nothing(),
)


@parametrize_with_checks([PiecewiseLinear(), PiecewiseLinear(n_knots=3, smoothness=2.0), PiecewiseLinear(n_knots=1)])
def test_scikit_learns_checks_pass(estimator, check):
    check(estimator)


@given(matrices, matrices, st.integers(1, 6))
def test_the_contributions_of_a_feature_sum_to_one_with_at_most_two_entries(X, others, n_knots):
    hats = PiecewiseLinear(n_knots).fit(X)
    for numbers in (X, np.resize(others, (5, X.shape[1]))):
        rows = hats.transform(numbers)
        assert rows.has_canonical_format
        assert (rows.data > 0).all()
        begin = 0
        for knots in hats.knots_:
            part = rows[:, begin : begin + len(knots)]
            begin += len(knots)
            np.testing.assert_allclose(part.sum(axis=1), 1.0, rtol=1e-15)
            assert (np.diff(part.tocsr().indptr) <= 2).all()
        assert begin == rows.shape[1]


@given(arrays(np.float64, st.integers(1, 8), elements=st.floats(-1e6, 1e6)), st.floats(-1e6, 1e6), st.data())
def test_a_score_is_interpolated_linearly_between_the_knots_and_constant_outside(knots, x, data):
    s = np.unique(np.round(knots, 3))
    v = data.draw(arrays(np.float64, len(s), elements=st.floats(-10, 10)))
    row = PiecewiseLinear(knots=s).fit([[0.0]]).transform([[x]])
    np.testing.assert_allclose(row @ v, np.interp([x], s, v), atol=1e-9)


def test_the_contributions_are_those_of_the_definition():
    s = [0.0, 1.0, 4.0]
    hats = PiecewiseLinear(knots=s).fit([[0.0]])
    for x in (-1.0, 0.0, 0.25, 1.0, 2.0, 4.0, 5.0):
        c1 = 1.0 if x <= 0 else max(1.0 - x, 0.0)
        c2 = x if 0 < x <= 1 else (4.0 - x) / 3.0 if 1 < x < 4 else 0.0
        c3 = 1.0 if x >= 4 else max((x - 1.0) / 3.0, 0.0)
        np.testing.assert_allclose(hats.transform([[x]]).toarray(), [[c1, c2, c3]], atol=1e-15)


def test_knots_are_the_middles_of_equally_full_bins():
    numbers = np.sort(np.random.default_rng(0).standard_normal(99))
    edges = np.linspace(1, 99, 4 + 1)
    ranks = np.round((edges[:-1] + edges[1:]) / 2).astype(int)
    assert ranks.tolist() == [13, 38, 62, 87]
    shuffled = np.random.default_rng(1).permutation(numbers)
    np.testing.assert_array_equal(PiecewiseLinear(4).fit(shuffled[:, None]).knots_[0], numbers[ranks - 1])


def test_a_constant_feature_is_one_column_of_ones():
    X = np.column_stack([np.full(5, 3.0), np.arange(5.0)])
    hats = PiecewiseLinear(3).fit(X)
    assert [len(s) for s in hats.knots_] == [1, 3]
    np.testing.assert_array_equal(hats.transform(X + 7).toarray()[:, 0], np.ones(5))


def test_equal_knots_are_merged():
    X = np.array([[0.0]] * 50 + [[1.0], [2.0]] * 2)
    assert PiecewiseLinear(10).fit(X).knots_[0].tolist() == [0.0, 1.0]
    assert PiecewiseLinear(knots=[0.0, 0.0, 1.0]).fit(X).knots_[0].tolist() == [0.0, 1.0]


def test_knots_are_given_once_or_for_every_feature():
    X = np.zeros((2, 2))
    assert [s.tolist() for s in PiecewiseLinear(knots=[1, 2]).fit(X).knots_] == [[1.0, 2.0]] * 2
    assert [s.tolist() for s in PiecewiseLinear(knots=[[1, 2], [3]]).fit(X).knots_] == [[1.0, 2.0], [3.0]]
    with pytest.raises(ValueError, match="knots are given for 1 features but X has 2"):
        PiecewiseLinear(knots=[[1, 2]]).fit(X)
    with pytest.raises(ValueError, match=r"the knots of feature 1 are \[2.0, 1.0\]; they must be increasing"):
        PiecewiseLinear(knots=[[1, 2], [2, 1]]).fit(X)


def test_what_is_not_finite_is_named_by_place():
    X = np.arange(6.0).reshape(3, 2)
    hats = PiecewiseLinear(2).fit(X)
    X[2, 1] = np.nan
    with pytest.raises(ValueError, match=r"X\[2, 1\] is NaN"):
        hats.transform(X)
    with pytest.raises(ValueError, match=r"X\[0, 0\] is -inf"):
        PiecewiseLinear().fit([[-np.inf]])
    with pytest.raises(ValueError, match=r"feature 0 goes from -1.7e\+308 to 1.7e\+308"):
        PiecewiseLinear(knots=[-1.7e308, 1.7e308]).fit([[0.0]])


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"n_knots": 0}, "n_knots is 0; it must be a whole number"),
        ({"n_knots": 2.5}, "n_knots is 2.5"),
        ({"smoothness": -1.0}, "smoothness is -1.0; it must be a number"),
        ({"smoothness": np.nan}, "smoothness is nan"),
    ],
)
def test_options_out_of_range_are_refused(options, message):
    with pytest.raises(ValueError, match=message):
        PiecewiseLinear(**options).fit([[0.0], [1.0]])


def test_names_tell_the_feature_and_the_knot():
    hats = PiecewiseLinear(2).fit([[0.0, 5.0], [1.0, 5.0]])
    assert hats.get_feature_names_out().tolist() == ["x0_knot0", "x0_knot1", "x1_knot0"]
    assert hats.get_feature_names_out(["age", "height"]).tolist() == ["age_knot0", "age_knot1", "height_knot0"]


@given(matrices, st.integers(1, 5), st.floats(0, 100), st.data())
def test_scores_of_transformed_rows_are_scores_of_the_curves(X, n_knots, smoothness, data):
    smooth = PiecewiseLinear(n_knots, smoothness=smoothness).fit(X)
    plain = clone(smooth).set_params(smoothness=0.0).fit(X)
    rows = smooth.transform(X)
    u = data.draw(arrays(np.float64, (rows.shape[1], 2), elements=st.floats(-10, 10)))
    curves = smooth.curves(u)
    assert [len(v) for v in curves] == [len(s) for s in smooth.knots_]
    np.testing.assert_allclose(rows @ u, plain.transform(X) @ np.concatenate(curves), atol=1e-9)
    penalty = sum(0.5 * (v**2).sum() + smoothness * (np.diff(v, axis=0) ** 2).sum() for v in curves)
    np.testing.assert_allclose(0.5 * (u**2).sum(), penalty, rtol=1e-9, atol=1e-12)


def test_curves_want_a_weight_for_every_column():
    hats = PiecewiseLinear(2).fit([[0.0], [1.0]])
    with pytest.raises(ValueError, match=r"weights has shape \(3,\); it must have 2 rows"):
        hats.curves(np.zeros(3))


def test_ridge_on_smooth_coordinates_minimises_the_penalised_squares():
    rng = np.random.default_rng(1)
    X = rng.uniform(-3, 3, (60, 2))
    y = np.sin(X[:, 0]) + np.abs(X[:, 1]) + 0.1 * rng.standard_normal(60)
    smoothness = 3.0
    smooth = PiecewiseLinear(6, smoothness=smoothness).fit(X)
    ridge = Ridge(alpha=1.0, fit_intercept=False, solver="svd").fit(smooth.transform(X).toarray(), y)
    c = PiecewiseLinear(6).fit_transform(X).toarray()

    def penalised(v):
        parts = np.split(v, [6])
        rough = sum((np.diff(part) ** 2).sum() for part in parts)
        return 0.5 * ((c @ v - y) ** 2).sum() + 0.5 * v @ v + smoothness * rough

    best = scipy.optimize.minimize(penalised, np.zeros(12), method="BFGS", options={"gtol": 1e-4})
    curves = np.concatenate(smooth.curves(ridge.coef_))
    np.testing.assert_allclose(curves, best.x, atol=1e-5)
    assert penalised(curves) <= best.fun + 1e-9


def test_a_structural_svm_on_smooth_coordinates_minimises_the_penalised_hinge():
    """The explicit objective as a quadratic program in v and the slacks, for a margin between two classes."""
    rng = np.random.default_rng(2)
    X = rng.uniform(-2, 2, (30, 1))
    y = (np.abs(X[:, 0] + 0.3 * rng.standard_normal(30)) > 1).astype(int)
    C, smoothness, n_knots = 20.0, 0.7, 5
    smooth = PiecewiseLinear(n_knots, smoothness=smoothness).fit(X)
    svm = StructuralSVM(Multiclass(), C=C, tol=1e-9).fit(smooth.transform(X), y)
    found = svm.w_.reshape(n_knots, 2)
    c = PiecewiseLinear(n_knots).fit_transform(X).toarray()
    sign = 2 * y - 1

    def objective(z):
        v, slacks = z[: 2 * n_knots].reshape(n_knots, 2), z[2 * n_knots :]
        rough = (np.diff(v, axis=0) ** 2).sum()
        return 0.5 * (v**2).sum() + smoothness * rough + C / len(X) * slacks.sum()

    margins = scipy.optimize.LinearConstraint(
        np.hstack([np.kron(sign[:, None] * c, [[-1.0, 1.0]]), np.eye(len(X))]), lb=1.0
    )
    start = np.concatenate([np.zeros(2 * n_knots), np.ones(len(X))])
    bounds = [(None, None)] * (2 * n_knots) + [(0, None)] * len(X)
    best = scipy.optimize.minimize(
        objective, start, method="SLSQP", bounds=bounds, constraints=margins, options={"maxiter": 500, "ftol": 1e-12}
    )
    v = smooth.curves(found)[0]
    slacks = np.maximum(0, 1 - sign * (c @ v @ [-1.0, 1.0]))
    np.testing.assert_allclose(objective(np.concatenate([v.ravel(), slacks])), best.fun, rtol=1e-6)
    np.testing.assert_allclose(v.ravel(), best.x[: 2 * n_knots], atol=1e-3)


def test_smoothness_flattens_the_curves():
    rng = np.random.default_rng(3)
    X, y = rng.standard_normal((200, 1)), rng.standard_normal(200)
    steps = []
    for smoothness in (0.0, 1.0, 100.0):
        hats = PiecewiseLinear(10, smoothness=smoothness).fit(X)
        coefficients = Ridge(fit_intercept=False).fit(hats.transform(X).toarray(), y).coef_
        steps.append(np.abs(np.diff(hats.curves(coefficients)[0])).max())
    assert steps[0] > 1.2 * steps[1] > 6 * steps[2]


def test_tokens_of_sequences_are_transformed():
    X = [np.array([[-2.0], [0.1]]), np.array([[2.0], [-0.2], [3.0]])]
    Y = [["far", "near"], ["far", "near", "far"]]
    tokens = TokenTransformer(PiecewiseLinear(3)).fit(X)
    rows = tokens.transform(X)
    assert sp.issparse(rows.tokens)
    assert rows.lengths.tolist() == [2, 3]
    svm = StructuralSVM(Chain(), C=100).fit(rows, Y)
    assert svm.predict(tokens.transform(X)) == Y
    far, near = tokens.transformer_.curves(svm.w_[: 3 * 2].reshape(3, 2))[0].T
    assert near.argmax() == 1
    assert far.argmin() == 1
