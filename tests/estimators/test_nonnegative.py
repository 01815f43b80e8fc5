"""StructuralSVM(nonnegative=...): which weights, what survives a fit, and what is refused."""

import numpy as np
import pytest
import scipy.optimize

import structlearn
from structlearn import LatentStructuralSVM, StructuralSVM
from structlearn.models import Chain, Multiclass
from tests.estimators.test_checkpoint import StopAt, sequences
from tests.solvers.latent_toy import OneOfSeveral, several
from tests.solvers.test_saved_state import without_clocks


@pytest.fixture(scope="module")
def data():
    random = np.random.default_rng(0)
    X = random.normal(size=(60, 4))
    return X, np.argmax(X @ random.normal(size=(4, 3)) + random.normal(size=(60, 3)), axis=1)


def test_weights_are_chosen_by_true_by_index_or_by_a_mask(data):
    free, every = (StructuralSVM(Multiclass(), tol=1e-3, nonnegative=which).fit(*data) for which in (None, True))
    assert (free.w_ < -0.01).any()
    assert (every.w_ >= 0.0).all()
    assert every.duality_gap_ <= 1e-3
    assert free.objective_ < every.objective_
    mask = np.arange(12) % 3 == 1
    forms = (mask, [1, 4, 7, 10, 1], mask.tolist())
    chosen = [StructuralSVM(Multiclass(), nonnegative=which).fit(*data).w_ for which in forms]
    assert (chosen[0][mask] >= 0.0).all()
    assert (chosen[0][~mask] < 0.0).any()
    for w in chosen[1:]:
        np.testing.assert_array_equal(w, chosen[0])
    for none in (None, False, [], np.zeros(12, bool)):
        np.testing.assert_array_equal(StructuralSVM(Multiclass(), tol=1e-3, nonnegative=none).fit(*data).w_, free.w_)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (3, "nonnegative is 3; expected True, indices of weights or a mask of them"),
        ("all", "nonnegative is 'all'; expected True"),
        ([0, 12], r"nonnegative\[1\] is 12, but the weights are 0 to 11"),
        ([-1], r"nonnegative\[0\] is -1, but the weights are 0 to 11"),
        ([True, False], "nonnegative is a mask of 2 weights, but the model has 12"),
        ([0.5], r"nonnegative is float64 of the shape \(1,\); expected True"),
        ([[0, 1]], r"nonnegative is int64 of the shape \(1, 2\); expected True"),
    ],
)
def test_what_names_no_weights_is_refused(given, message, data):
    with pytest.raises(ValueError, match=message):
        StructuralSVM(Multiclass(), nonnegative=given).fit(*data)


@pytest.mark.parametrize("solver", ["subgradient", "extragradient", "excessive_gap", "exponentiated_gradient"])
def test_solvers_that_cannot_are_refused_before_training(solver):
    with pytest.raises(ValueError, match="cannot keep weights nonnegative: use BlockCoordinate, NSlack or OneSlack"):
        StructuralSVM(Chain(), nonnegative=True, solver=solver).fit(*sequences(4))


@pytest.mark.parametrize("solver", ["block_coordinate", "one_slack"])
def test_a_stopped_fit_goes_on_exactly_where_it_was(solver, tmp_path):
    X, Y = sequences()

    def svm(nonnegative=True):
        return StructuralSVM(Chain(), C=30.0, nonnegative=nonnegative, solver=solver, tol=1e-4)

    whole = svm().fit(X, Y)
    svm().set_callbacks(StopAt(3)).fit(X, Y, checkpoint=tmp_path / "c")
    with pytest.raises(ValueError, match="nonnegative"):
        svm(np.arange(3)).fit(X, Y, checkpoint=tmp_path / "c")
    continued = svm().fit(X, Y, checkpoint=tmp_path / "c")
    np.testing.assert_array_equal(continued.w_, whole.w_)
    np.testing.assert_equal(without_clocks(continued.history_), without_clocks(whole.history_))


def test_a_path_of_prices(data):
    warm = StructuralSVM(Multiclass(), nonnegative=True, tol=1e-5, warm_start=True)
    for C in (1.0, 10.0, 100.0, 3.0):
        cold = StructuralSVM(Multiclass(), C=C, nonnegative=True, tol=1e-5).fit(*data)
        assert warm.set_params(C=C).fit(*data).objective_ == pytest.approx(cold.objective_, rel=1e-5)
        assert (warm.w_ >= 0.0).all()


@pytest.mark.parametrize("nonnegative", [True, np.array([0, 5]), np.arange(12) > 4, [1, 2]])
def test_a_model_file_keeps_the_constraint(nonnegative, data, tmp_path):
    svm = StructuralSVM(Multiclass(), nonnegative=nonnegative).fit(*data)
    svm.save(tmp_path / "svm.slm")
    loaded = structlearn.load(tmp_path / "svm.slm")
    np.testing.assert_array_equal(loaded.nonnegative, nonnegative)
    np.testing.assert_array_equal(loaded.w_, svm.w_)


def test_latent_parts():
    X, Y = several(np.random.default_rng(0), n=12)
    free = LatentStructuralSVM(OneOfSeveral(3, 4), C=12).fit(X, Y)
    assert (free.w_ < 0.0).any()
    svm = LatentStructuralSVM(OneOfSeveral(3, 4), C=12, nonnegative=True, init=free.w_).fit(X, Y)
    assert (svm.w_ >= 0.0).all()
    assert svm.stationarity_ <= 1e-3


class Grid:
    """Pixels in a row, labelled 0 or 1 by a minimum cut: exact only where unlike neighbours are not rewarded."""

    n_features = 2

    def joint_feature(self, x, y):
        return np.array([x @ (2 * y - 1), np.sum(y[1:] == y[:-1])])

    def loss(self, y, y_hat):
        return float(np.sum(y != y_hat))

    def inference(self, x, w):
        return self._cut(w[0] * x, w[1])

    def loss_augmented_inference(self, x, y, w):
        return self._cut(w[0] * x + 0.5 * (1 - 2 * y), w[1])

    def _cut(self, unary, pair):
        """max Σ_t (2y_t − 1) unary_t + pair [y_t = y_{t+1}], as a linear program, which is integral for pair ≥ 0."""
        pair = max(pair, 0.0)  # there is no cut for less
        n = len(unary)
        steps = np.diff(np.eye(n), axis=0)
        price = np.concatenate([-2 * unary, np.full(n - 1, pair)])
        borders = np.block([[steps, -np.eye(n - 1)], [-steps, -np.eye(n - 1)]])
        found = scipy.optimize.linprog(price, borders, np.zeros(2 * n - 2), bounds=(0, 1)).x[:n]
        return (found > 0.5).astype(int)


def test_cuts_are_exact_where_likeness_may_not_be_punished():
    random = np.random.default_rng(0)
    # Neighbours are mostly unlike, so that a free weight of their likeness would be below zero.
    Y = [np.arange(5) % 2 ^ random.integers(2) for _ in range(4)]
    X = [2 * y - 1 + random.normal(size=5) for y in Y]
    with pytest.warns(RuntimeWarning, match="nothing is certified with such an oracle"):
        assert not StructuralSVM(Grid(), C=4).fit(X, Y).converged_
    svm = StructuralSVM(Grid(), C=4, nonnegative=[1]).fit(X, Y)
    assert svm.w_[1] == 0.0 < svm.w_[0]
    assert svm.converged_
