import numpy as np
import pytest
from scipy.optimize import minimize

import structlearn
from structlearn import StructuralSVM
from structlearn.features import PiecewiseLinear
from structlearn.models import Multiclass
from structlearn.solvers import Subgradient


@pytest.fixture(scope="module")
def data():
    random = np.random.default_rng(0)
    x = random.uniform(-2, 2, (60, 1))
    y = (x[:, 0] + 2 * np.sin(4 * x[:, 0]) + random.normal(size=60) > 0).astype(int)
    hats = PiecewiseLinear(n_knots=6).fit(x)
    return hats, hats.transform(x).toarray(), y


def test_curves_are_monotone_and_the_objective_is_the_constrained_one(data):
    hats, X, y = data
    rising = hats.monotone([-1, 1])
    svm = StructuralSVM(Multiclass(), C=60, solver=Subgradient(projection=rising, max_iter=400)).fit(X, y)
    (curve,) = hats.curves(svm.w_.reshape(6, 2))
    assert (np.diff(curve[:, 0]) <= 1e-12).all()
    assert (np.diff(curve[:, 1]) >= -1e-12).all()
    free = StructuralSVM(Multiclass(), C=60, tol=1e-8).fit(X, y)
    (bent,) = hats.curves(free.w_.reshape(6, 2))
    assert (np.diff(bent[:, 1]) < -1e-3).any()

    def objective(variables):
        return 0.5 * variables[:12] @ variables[:12] + variables[12:].sum()

    def margins(variables):
        scores = X @ variables[:12].reshape(6, 2)
        own, other = scores[np.arange(60), y], scores[np.arange(60), 1 - y]
        return own - other - 1.0 + variables[12:]

    def steps(variables):
        return (np.diff(variables[:12].reshape(6, 2), axis=0) * [-1.0, 1.0]).ravel()

    begin = np.concatenate([np.zeros(12), np.ones(60)])
    bounds = [(None, None)] * 12 + [(0, None)] * 60
    constraints = [{"type": "ineq", "fun": margins}, {"type": "ineq", "fun": steps}]
    best = minimize(objective, begin, bounds=bounds, constraints=constraints, options={"maxiter": 500})
    assert best.success
    assert free.objective_ < best.fun - 1e-3
    assert best.fun - 1e-6 <= svm.objective_ <= 1.01 * best.fun


def test_the_projection_is_the_nearest_point(data):
    hats, _, _ = data
    random = np.random.default_rng(1)
    w = random.normal(size=12)
    projected = w.copy()
    hats.monotone([1, 0])(projected)
    for _ in range(200):
        other = np.sort(random.normal(size=6))
        assert np.linalg.norm(w[::2] - projected[::2]) <= np.linalg.norm(w[::2] - other) + 1e-12
    assert (projected[1::2] == w[1::2]).all()


def test_a_constrained_learner_saves(data, tmp_path):
    hats, X, y = data
    svm = StructuralSVM(Multiclass(), solver=Subgradient(projection=hats.monotone([0, 1]), max_iter=2)).fit(X, y)
    svm.save(tmp_path / "svm.slm")
    assert structlearn.load(tmp_path / "svm.slm").solver == svm.solver


@pytest.mark.parametrize(
    ("options", "directions", "message"),
    [({"smoothness": 1.0}, [1, 1], "need smoothness=0"), ({}, [1, 2], "directions holds 2")],
)
def test_what_cannot_be_is_named(options, directions, message):
    hats = PiecewiseLinear(**options).fit(np.zeros((1, 1)))
    with pytest.raises(ValueError, match=message):
        hats.monotone(directions)
