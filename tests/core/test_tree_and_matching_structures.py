"""Dependency trees and matchings as structures of the core, with losses and features, against all outputs."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from structlearn import _core
from structlearn.data.ragged import Ragged, offsets_of
from tests.core.enumerated_structures import Bound, dependency, matching

TREES = {
    f"{kind}, {'one root' if single_root else 'roots'}": (kind, single_root)
    for kind in ("projective", "siblings", "crossing")
    for single_root in (True, False)
}
MATCHINGS = {
    "matching": (False,),
    "matching, some forbidden": (False, 1, False, True),
    "matching, alone": (True,),
    "matching, alone, some forbidden": (True, 1, False, True),
    "matching, two partners": (True, 2),
    "matching, a price of two partners": (True, 2, True),
    "matching, three partners, some forbidden": (True, 3, True, True),
}
ALL = {name: lambda given=given: dependency(*given) for name, given in TREES.items()} | {
    name: lambda given=given: matching(*given) for name, given in MATCHINGS.items()
}
EVERY = np.arange(3)


def thetas(bound: Bound) -> list[Any]:
    sizes = [parts.shape[1] for parts in bound.parts]
    theta = np.empty(sum(sizes))
    bound.core.part_scores(bound.w, EVERY, theta, 1)
    return np.split(theta, np.cumsum(sizes)[:-1])


def truths_of(bound: Bound) -> tuple[list[int], Ragged]:
    """Which output is true, somewhere in the middle."""
    which = [len(codes) // 2 for codes in bound.codes]
    return which, Ragged.of(codes[k] for codes, k in zip(bound.codes, which, strict=True))


def index_of(codes: Any, output: Any) -> int:
    (found,) = np.flatnonzero((codes == output).all(axis=1))
    return int(found)


@pytest.fixture(params=ALL)
def bound(request: pytest.FixtureRequest) -> Bound:
    return ALL[request.param]()


@pytest.mark.parametrize("n_threads", [1, 3])
def test_the_best_outputs(bound: Bound, n_threads: int) -> None:
    found, scores = bound.core.best(bound.w, EVERY, n_threads)
    for theta, parts, codes, output, score in zip(
        thetas(bound), bound.parts, bound.codes, Ragged(*found), scores, strict=True
    ):
        values = parts @ theta
        assert score == pytest.approx(values.max())
        assert values[index_of(codes, output)] == pytest.approx(score)


def test_the_most_violating_outputs(bound: Bound) -> None:
    random = np.random.default_rng(1)
    which, truths = truths_of(bound)
    # Below 0, since further partners must not be worth more than the first.
    prices = [-random.uniform(size=parts.shape[1]) for parts in bound.parts]
    of_truth = np.array([(parts @ price)[k] for parts, price, k in zip(bound.parts, prices, which, strict=True)])
    listed = np.concatenate(prices), offsets_of([len(price) for price in prices])
    loss = _core.ListedLosses(*listed, of_truth)
    found, losses, violations = bound.core.loss_augmented(bound.w, EVERY, truths.flat, truths.offsets, loss, 2)
    for i, (theta, output) in enumerate(zip(thetas(bound), Ragged(*found), strict=True)):
        parts, k = bound.parts[i], which[i]
        delta = parts @ prices[i] - of_truth[i]
        values = delta + parts @ theta - (parts @ theta)[k]
        assert violations[i] == pytest.approx(values.max())
        at = index_of(bound.codes[i], output)
        assert values[at] == pytest.approx(values.max())
        assert losses[i] == pytest.approx(delta[at])
    np.testing.assert_allclose(bound.core.losses(EVERY, *found, loss), losses)


def test_the_best_that_is_not_the_truth(bound: Bound) -> None:
    which, truths = truths_of(bound)
    answered, found = bound.core.second_best(bound.w, EVERY, truths.flat, truths.offsets, 1)
    assert answered.tolist() == [i for i, codes in enumerate(bound.codes) if len(codes) > 1]
    for i, output in zip(answered.tolist(), Ragged(*found), strict=True):
        values = bound.parts[i] @ thetas(bound)[i]
        values[which[i]] = -np.inf
        assert values[index_of(bound.codes[i], output)] == pytest.approx(values.max())


def test_differences_of_features(bound: Bound) -> None:
    _, truths = truths_of(bound)
    for k in range(20):
        others = Ragged.of(codes[(7 * k) % len(codes)] for codes in bound.codes)
        given = EVERY, truths.flat, truths.offsets, others.flat, others.offsets
        expected = []
        for theta, parts, codes, truth, other in zip(
            thetas(bound), bound.parts, bound.codes, truths, others, strict=True
        ):
            expected.append((parts[index_of(codes, truth)] - parts[index_of(codes, other)]) @ theta)
        np.testing.assert_allclose(bound.core.difference_dots(*given, bound.w, 2), expected, atol=1e-12)
        indptr, indices, values = bound.core.differences(*given)
        rows = np.repeat(EVERY, np.diff(indptr))
        np.testing.assert_allclose(np.bincount(rows, values * bound.w[indices], 3), expected, atol=1e-12)


@pytest.mark.parametrize("name", TREES)
def test_likelihoods_and_their_gradient(name: str) -> None:
    bound = dependency(*TREES[name])
    which, truths = truths_of(bound)
    losses, gradient = np.empty(3), np.zeros(len(bound.w))
    bound.core.log_losses(bound.w, EVERY, truths.flat, truths.offsets, losses, np.ones(3), gradient, 2)
    pushed = np.zeros(len(bound.w))
    mu = []
    for i, theta in enumerate(thetas(bound)):
        values = bound.parts[i] @ theta
        log_z = np.logaddexp.reduce(values)
        assert losses[i] == pytest.approx(log_z - values[which[i]])
        mu.append(np.exp(values - log_z) @ bound.parts[i] - bound.parts[i][which[i]])
    bound.core.push(np.concatenate(mu), EVERY, np.ones(3), pushed)
    np.testing.assert_allclose(gradient, pushed, atol=1e-10)


@pytest.mark.parametrize("name", [name for name in TREES if "crossing" not in name])
def test_the_best_of_every_loss_level(name: str) -> None:
    bound = dependency(*TREES[name])
    which, _ = truths_of(bound)
    steps = []
    for parts, codes, k in zip(bound.parts, bound.codes, which, strict=True):
        wrong = (parts[k] == 0.0).astype(np.int32)
        if "siblings" in name:  # they have one label, and the loss is about arcs
            wrong[(codes.shape[1] + 1) ** 2 :] = 0
        steps.append(wrong)
    lengths = [len(codes[0]) for codes in bound.codes]
    levels = np.array([(n + 1, n + 1) for n in lengths])
    counted = _core.ListedSteps(np.concatenate(steps), offsets_of([len(one) for one in steps]), levels)
    for i, theta in enumerate(thetas(bound)):
        values, level_of = bound.parts[i] @ theta, (bound.parts[i] @ steps[i]).astype(int)
        found, scores, codes = bound.core.best_per_level(bound.w, i, counted)
        assert found.tolist() == sorted(set(level_of.tolist()))
        for level, score, output in zip(found, scores, Ragged(*codes), strict=True):
            assert score == pytest.approx(values[level_of == level].max())
            at = index_of(bound.codes[i], output)
            assert (level_of[at], values[at]) == (level, pytest.approx(score))


def test_what_structures_cannot_is_not_there() -> None:
    for structure in (_core.NonprojectiveTrees, _core.Matchings, _core.GivenMatchings):
        assert not hasattr(structure, "best_per_level")
    assert not hasattr(_core.NonprojectiveTrees, "most_violating_level")
    assert hasattr(_core.NonprojectiveTrees, "log_losses")
    for sums in ("part_sums", "samples", "log_losses", "local_marginals"):
        assert not hasattr(_core.Matchings, sums)


@pytest.mark.parametrize("name", MATCHINGS)
def test_the_k_best_matchings(name: str) -> None:
    bound = matching(*MATCHINGS[name])
    for k in (1, 2, 7, 1000):
        found, counts, scores = bound.core.k_best(bound.w, EVERY, k, 2)
        outputs, at = Ragged(*found), offsets_of(counts)
        for i, theta in enumerate(thetas(bound)):
            values = bound.parts[i] @ theta
            expected = np.sort(values)[::-1][:k]
            which = [index_of(bound.codes[i], outputs[j]) for j in range(at[i], at[i + 1])]
            np.testing.assert_allclose(values[which], expected)
            np.testing.assert_allclose(scores[at[i] : at[i + 1]], expected)
            assert len(set(which)) == len(which)


def test_prices_that_would_make_further_partners_worth_more_are_refused() -> None:
    bound = matching(True, 2, further=True)
    bound.w[-3:] *= -1
    with pytest.raises(ValueError, match="price of further partners is below 0"):
        bound.core.best(bound.w, EVERY, 2)


def test_where_all_is_forbidden_there_is_no_matching() -> None:
    one = np.array([0, 1])
    for alone in (False, True):
        engine = _core.MatchingEngine(one, one, alone, 1, False, np.ones(1 + 2 * alone, np.uint8))
        given = _core.GivenMatchings(engine, _core.GivenScores(0, np.array([0, 1 + 2 * alone])))
        (_, _), values = given.best(np.zeros(1 + 2 * alone), EVERY[:1], 1)
        assert values[0] == -np.inf
        assert len(given.k_best(np.zeros(1 + 2 * alone), EVERY[:1], 3, 1)[2]) == 0
