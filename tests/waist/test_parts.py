"""Sums over outputs against their enumeration."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from structlearn.models import Chain
from tests.models.enumerated import EnumeratedChain, Twins, bound
from tests.models.instances import chain_twins, multiclass_twins

SEEDS = st.integers(0, 10**6)


def constrained_twins(random):
    """A chain with forbidden transitions and features of label pairs, with a truth that is allowed."""
    everything = [(a, b) for a in (None, 0, 1, 2) for b in (0, 1, 2, None) if a is not None or b is not None]
    allowed = [pair for pair in everything if pair not in ((0, 2), (2, 2), (None, 1))]
    truths = [(0,), (2, 1), (0, 1, 2), (0, 0, 0)]
    X = [random.normal(size=(len(y), 2)) for y in truths]
    options = {"pair_features": True, "allowed_transitions": allowed}
    problem = bound(Chain(classes=[0, 1, 2], **options), X, truths)
    return Twins(problem, EnumeratedChain(3, **options), X, truths)


TWINS = {
    "chain": chain_twins,
    "balanced chain": lambda random: chain_twins(random, balance=0.5),
    "chain without boundaries": lambda random: chain_twins(random, boundaries=False),
    "one label": lambda random: chain_twins(random, n_labels=1),
    "pair features": lambda random: chain_twins(random, pair_features=True),
    "constraints": constrained_twins,
    "classes": lambda random: multiclass_twins(random, cost="ones"),
    "class attributes": lambda random: multiclass_twins(random, output_features=True),
}


def distributions(twins, w):
    """For each example Ψ of all outputs, their probabilities, and −log P of the truth."""
    found = []
    for x, y in zip(twins.X, twins.Y, strict=True):
        outputs = twins.reference.outputs(x)
        features = np.array([twins.reference.joint_feature(x, other) for other in outputs])
        scores = features @ w
        log_z = np.logaddexp.reduce(scores)
        truth = twins.reference.joint_feature(x, y) @ w
        found.append((features, np.exp(scores - log_z), log_z - truth))
    return found


@pytest.mark.parametrize("kind", TWINS)
@given(seed=SEEDS)
@settings(max_examples=15)
def test_losses_and_gradients_agree_with_enumeration(kind, seed):
    random = np.random.default_rng(seed)
    twins = TWINS[kind](random)
    problem = twins.problem
    w = random.normal(size=problem.n_features)
    weight = random.uniform(0.5, 2.0, problem.n_examples)
    gradient = np.zeros(problem.n_features)
    losses = problem.log_losses(w, weight, gradient)
    expected = np.zeros(problem.n_features)
    for k, (features, p, loss) in enumerate(distributions(twins, w)):
        assert losses[k] == pytest.approx(loss, abs=1e-9)
        expected += weight[k] * (p @ features - twins.reference.joint_feature(twins.X[k], twins.Y[k]))
    np.testing.assert_allclose(gradient, expected, atol=1e-9)
    direction = random.normal(size=problem.n_features)
    step = 1e-6
    ahead, behind = (weight @ problem.log_losses(w + sign * step * direction) for sign in (1, -1))
    assert (ahead - behind) / (2 * step) == pytest.approx(gradient @ direction, rel=1e-6, abs=1e-6)


@pytest.mark.parametrize("kind", TWINS)
@given(seed=SEEDS)
@settings(max_examples=15)
def test_parts_carry_scores_expectations_entropies_and_losses(kind, seed):
    random = np.random.default_rng(seed)
    twins = TWINS[kind](random)
    problem = twins.problem
    w = random.normal(size=problem.n_features)
    examples = np.arange(problem.n_examples)[::-1].copy()
    theta = problem.scores(w, examples)
    log_z, marginals = problem.expectations(theta, examples)
    entropies = problem.entropies(theta, log_z, marginals, examples)
    part_losses = problem.part_losses(examples)
    mean_losses = problem.part_dots(part_losses, marginals, examples)
    pushed = np.zeros(problem.n_features)
    problem.push(marginals, examples, np.ones(len(examples)), pushed)
    true_scores = problem.part_dots(theta, problem.true_parts(examples), examples)
    everything = distributions(twins, w)
    for k, i in enumerate(examples):
        _, p, loss = everything[i]
        assert log_z[k] - true_scores[k] == pytest.approx(loss, abs=1e-9)
        assert entropies[k] == pytest.approx(-np.sum(p[p > 0] * np.log(p[p > 0])), abs=1e-9)
        outputs = twins.reference.outputs(twins.X[i])
        risk = sum(q * twins.reference.loss(twins.Y[i], y) for q, y in zip(p, outputs, strict=True))
        assert mean_losses[k] == pytest.approx(risk, abs=1e-9)
    np.testing.assert_allclose(pushed, sum(p @ features for features, p, _ in everything), atol=1e-9)


@pytest.mark.parametrize("n_threads", [1, 3])
def test_gradients_do_not_depend_on_the_number_of_threads(n_threads):
    random = np.random.default_rng(0)
    twins = chain_twins(random, lengths=[3] * 200)
    w, weight = random.normal(size=twins.problem.n_features), np.ones(200)
    single = np.zeros_like(w)
    twins.problem.log_losses(w, weight, single)
    twins.problem.n_threads = n_threads
    several = np.zeros_like(w)
    twins.problem.log_losses(w, weight, several)
    np.testing.assert_array_equal(single, several)


def test_a_zero_one_loss_is_no_sum_of_parts():
    twins = chain_twins(np.random.default_rng(0), loss="zero_one")
    assert twins.problem.part_losses(np.arange(1)) is None


def test_only_observed_features_have_weights():
    X = [np.eye(3)[[0, 1]], np.eye(3)[[2, 0]]]
    Y = [["a", "b"], ["b", "a"]]
    problem = bound(Chain(observed_only=True, boundaries=False), X, Y)
    gradient = np.zeros(problem.n_features)
    problem.log_losses(np.zeros(problem.n_features), np.ones(2), gradient)
    assert len(gradient) == 4 + 3
    pairs = problem.stored_weights(gradient)[0]
    assert list(zip(pairs.rows.tolist(), pairs.parts.tolist(), strict=True)) == [(0, 0), (1, 1), (2, 1)]
    assert (gradient[:4] != 0).tolist() == [False, True, True, False]
