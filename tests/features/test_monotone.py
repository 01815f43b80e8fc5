import clarabel
import numpy as np
import pytest
import scipy.sparse as sp

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
    svm = StructuralSVM(Multiclass(), C=60, solver=Subgradient(projection=rising, max_iter=60)).fit(X, y)
    (curve,) = hats.curves(svm.w_.reshape(6, 2))
    assert (np.diff(curve[:, 0]) <= 1e-12).all()
    assert (np.diff(curve[:, 1]) >= -1e-12).all()
    free = StructuralSVM(Multiclass(), C=60, tol=1e-8).fit(X, y)
    (bent,) = hats.curves(free.w_.reshape(6, 2))
    assert (np.diff(bent[:, 1]) < -1e-3).any()

    best = _constrained_optimum(X, y)
    assert free.objective_ < best - 1e-3
    assert best - 1e-6 <= svm.objective_ <= 1.01 * best


def _constrained_optimum(X, y):
    """min ½‖w‖² + Σ ξ with margins, ξ ≥ 0, and weights that fall for the first class and rise for the second."""
    n, signs = len(y), np.where(y == 1, -1.0, 1.0)
    margins = np.hstack([np.einsum("i,ij,k->ijk", signs, X, [1.0, -1.0]).reshape(n, -1), np.eye(n)])
    rises = np.einsum("ij,k->ikj", np.diff(np.eye(6), axis=0), np.ones(2))
    steps = np.zeros((10, 12 + n))
    for k, sign in enumerate((-1.0, 1.0)):
        steps[5 * k : 5 * k + 5, k:12:2] = sign * rises[:, k]
    slacks = np.hstack([np.zeros((n, 12)), np.eye(n)])
    rows = -np.vstack([margins, steps, slacks])
    limits = -np.concatenate([np.ones(n), np.zeros(10 + n)])
    settings = clarabel.DefaultSettings()
    settings.verbose = False
    square = sp.diags_array(np.concatenate([np.ones(12), np.zeros(n)]), format="csc")
    price = np.concatenate([np.zeros(12), np.ones(n)])
    cones = [clarabel.NonnegativeConeT(len(limits))]
    return clarabel.DefaultSolver(square, price, sp.csc_array(rows), limits, cones, settings).solve().obj_val


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
