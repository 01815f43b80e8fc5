"""`check_model` of scorers and engines: silent for right ones, and every way of being wrong is told."""

import numpy as np
import pytest

from structlearn.models import Composed
from structlearn.testing import ModelError, check_model
from structlearn.waist import Theta
from tests.models.own.test_composed import N_INPUTS, N_LABELS, PAGE, Items, Masked, Missed, Subsets

Scorer, Engine = PAGE.TokenScorer, PAGE.ChainEngine


@pytest.fixture
def data():
    random = np.random.default_rng(0)
    X = [random.normal(size=(length, N_INPUTS)) for length in (1, 3, 2)]
    return X, [[0] * len(x) for x in X]


def test_what_is_right_passes(data):
    check_model(Composed(Scorer(N_INPUTS, N_LABELS), Engine(), PAGE.Hamming()), *data, n_weights=5)
    check_model(Composed(Masked(N_INPUTS, N_LABELS), Engine(), PAGE.Hamming()), *data, n_weights=5)
    check_model(Composed(Items(), Subsets(1), Missed()), data[0][1:], [frozenset({0})] * 2)


class Squared(Scorer):
    def scores(self, x, w):
        return super().scores(x, w * np.abs(w))


class Halved(Scorer):
    def push(self, x, mu, out):
        super().push(x, Theta(0.5 * mu.shared, mu.local), out)


class Overwrites(Scorer):
    def push(self, x, mu, out):
        out[:] = 0.0
        super().push(x, mu, out)


class Greedy(Engine):
    def best(self, theta):
        return theta.local.argmax(axis=1).tolist()


class Worst(Engine):
    def k_best(self, theta, k):
        return super().k_best(theta, k)[::-1]


class Unscored(Engine):
    def k_best(self, theta, k):
        return [(y, 0.0) for y, _ in super().k_best(theta, k)]


class One(Engine):
    def k_best(self, theta, k):
        return super().k_best(theta, 1)


class Doubled(Engine):
    def k_best(self, theta, k):
        return super().k_best(theta, 1) * 2


class Low(Engine):
    def sums(self, theta):
        log_z, mu = super().sums(theta)
        return log_z - 3.0, mu


class Rough(Engine):
    def sums(self, theta):
        log_z, mu = super().sums(theta)
        return log_z, Theta(mu.shared, mu.local**2)


class Consumes(Engine):
    def best(self, theta):
        found = super().best(theta)
        theta.local[:] = 0.0
        return found


class Reckless(Engine):
    def sample(self, theta, random):
        return [N_LABELS - 1] * len(theta.local)


class Fails(Engine):
    def best(self, theta):
        raise KeyError("nothing")


@pytest.mark.parametrize(
    ("scorer", "engine", "message"),
    [
        (Squared, Engine, r"the scores of X\[0\] at 2 w are not twice those at w"),
        (Halved, Engine, r"for X\[0\], ⟨scores\(w\), μ⟩ is .*, but ⟨w, push\(μ\)⟩ is"),
        (Overwrites, Engine, r"push of X\[0\] does not add to what `out` holds"),
        (Scorer, Greedy, r"best\(θ of X\[\d\]\) returns .* with score .*, but .* has"),
        (Scorer, Worst, r"k_best\(θ of X\[0\], 3\) is not in order of score"),
        (Scorer, Unscored, r"k_best\(θ of X\[0\], 3\) says that .* has score 0, but it has"),
        (Scorer, One, r"k_best\(θ of X\[0\], 3\) misses .* with score"),
        (Scorer, Doubled, r"k_best\(θ of X\[0\], 3\) returns .* twice"),
        (Scorer, Low, r"sums\(θ of X\[0\]\) says that log Z is .*, but \d outputs have"),
        (Scorer, Rough, r"sums\(θ of X\[0\]\): log Z grows by .* where its marginals say"),
        (Scorer, Consumes, "best or parts changes the θ that it is given"),
        (Masked, Reckless, r"sample\(θ of X\[\d\]\) returns \[2.*, which is forbidden"),
        (Scorer, Fails, r"X\[0\]: KeyError: 'nothing'"),
    ],
)
def test_what_is_wrong_is_told(scorer, engine, message, data):
    with pytest.raises(ModelError, match=message):
        check_model(Composed(scorer(N_INPUTS, N_LABELS), engine(), PAGE.Hamming()), *data, n_weights=5)
