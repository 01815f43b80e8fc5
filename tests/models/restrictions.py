"""What every decoder must find where outputs are known in part, by enumeration."""

import numpy as np
import pytest

from tests.models import sums
from tests.models.decoders import check_k_best, check_most_violating
from tests.models.enumerated import Twins


class Restricted:
    """A reference with those outputs only that agree with what is known of them."""

    def __init__(self, reference, X, allowed, agrees):
        self.reference, self.X, self.allowed, self.agrees = reference, X, allowed, agrees

    def __getattr__(self, name):
        return getattr(self.reference, name)

    def outputs(self, x):
        i = next(i for i, other in enumerate(self.X) if other is x)
        return [y for y in self.reference.outputs(x) if self.agrees(y, self.allowed[i])]


def restricted(model, reference, X, Y, allowed, agrees):
    """Twins on the same data with the same restrictions."""
    problem = model.bind(model.specify(X, Y), X, Y, allowed=allowed)
    return Twins(problem, Restricted(reference, X, allowed, agrees), X, Y)


def check_restricted(twins, w):
    """Every ability of the problem is about the outputs that agree, and no others."""
    check_most_violating(twins, w)
    check_k_best(twins, w, 4)
    check_k_best(twins, w, 10**4)
    sums.check_log_partitions(twins, w)
    sums.check_expected_features(twins, w)
    sums.check_log_losses(twins, w / np.maximum(np.abs(w).max(), 1.0))
    for x, drawn in zip(twins.X, twins.problem.samples(w, 30, np.random.default_rng(0)), strict=True):
        possible = {_frozen(y) for y in twins.reference.outputs(x)}
        assert {_frozen(y) for y in drawn} <= possible


def check_partial_loss(model, reference, X, Y, known, loss_of, w):
    """A loss of what is known is that of its definition, in all forms in which decoders take it."""
    spec = model.specify(X, Y)
    free, loss = model.bind(spec, X), model.partial_loss(spec, X, known)
    every = np.arange(len(X))
    if loss.parts is not None:
        outputs, losses = free.best_with(loss.parts, w, every)
        scores = free.best_scored(w, every)[1]
    for i, x in enumerate(X):
        listed = list(reference.outputs(x))
        coded = model.bind(spec, [x] * len(listed), listed)
        deltas = np.array([loss_of(y, known[i]) for y in listed])
        values = np.array([reference.joint_feature(x, y) @ w for y in listed])
        codes, example = coded.truths, np.full(len(listed), i)
        assert free._losses(loss, example, codes) == pytest.approx(deltas)
        if loss.max_losses is not None:
            assert loss.max_losses[i] == pytest.approx(deltas.max())
        if loss.local is not None:
            ell = loss.local(i)
            for k in range(len(listed)):
                assert ell @ coded.true_parts(np.array([k]))[: len(ell)] == pytest.approx(deltas[k])
        if loss.parts is not None:
            assert losses[i] == pytest.approx(loss_of(_hashable(free.present(outputs)[i]), known[i]))
            assert scores[i] == pytest.approx(values.max())
            best = reference.joint_feature(x, _hashable(free.present(outputs)[i])) @ w
            assert best + losses[i] == pytest.approx((values + deltas).max(), abs=1e-8)
        if loss.levels is not None:
            found, best, _ = free._core.best_per_level(w, i, loss.levels.steps)
            of_level = loss.levels.values(np.array([i]))[found]
            for delta in set(deltas):
                assert best[np.isclose(of_level, delta)].max() == pytest.approx(values[deltas == delta].max(), abs=1e-8)
            assert set(of_level.round(9)) == set(deltas.round(9))


def _hashable(y):
    return tuple(y) if isinstance(y, list) else y


def _frozen(y):
    return str(_hashable(y))
