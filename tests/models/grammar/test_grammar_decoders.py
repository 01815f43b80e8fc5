"""What the decoders of grammars answer, against the list of all trees of small random grammars."""

import numpy as np
import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st
from scipy.special import softmax

from structlearn.data import as_tree, brackets
from structlearn.data.trees import nodes
from tests.models import sums
from tests.models.enumerated import BEST, asked
from tests.models.grammar.enumerated_grammar import twins_of
from tests.models.instances import SCALINGS

SETTINGS = {"suppress_health_check": [HealthCheck.filter_too_much, HealthCheck.too_slow]}


@st.composite
def instances(draw, most=4, losses=("brackets", "f1", "zero_one")):
    random = np.random.default_rng(draw(st.integers(0, 2**32)))
    options = {
        "inputs": draw(st.sampled_from(["tags", "words"])),
        "loss": draw(st.sampled_from(losses)),
        "horizontal": draw(st.sampled_from([None, 0, 1])),
        "vertical": draw(st.sampled_from([1, 2])),
        "spans": draw(st.booleans()),
        "min_count": draw(st.sampled_from([1, 2])),
    }
    sizes = draw(st.lists(st.integers(1, most), min_size=1, max_size=3))
    columns = draw(st.sampled_from([0, 2])) if options["spans"] else 0
    twins = twins_of(random, sizes=sizes, root=draw(st.booleans()), n_token_features=columns, **options)
    assume(all(len(twins.reference.outputs(x)) <= 200 for x in twins.X))
    size = twins.problem.n_features
    ties = draw(st.booleans())
    w = random.integers(-1, 2, size).astype(float) if ties else random.normal(size=size)
    return twins, w * draw(st.sampled_from([0.3, 1.0, 30.0]))


def listed(twins):
    found = zip(twins.listed(), twins.Y, strict=True)
    return [each._replace(true=np.array([y == other for other in each.outputs])) for each, y in found]


def features(twins, i):
    trees = twins.reference.outputs(twins.X[i])
    return trees, np.array([twins.reference.joint_feature(twins.X[i], y) for y in trees])


@settings(max_examples=100, **SETTINGS)
@given(instances())
def test_oracles_agree_with_enumeration(instance):
    twins, w = instance
    every = np.arange(twins.problem.n_examples)
    examples = listed(twins)
    for scaling in (BEST, *SCALINGS):
        planes = asked(twins.problem, w, every, scaling)
        best = np.array([each.violations(w, scaling).max() for each in examples])
        known = np.isfinite(best)
        assert planes.examples.tolist() == every[known].tolist()
        np.testing.assert_allclose(planes.bounds, best[known], atol=1e-8 * (1 + np.abs(w).max()))


@settings(max_examples=50, **SETTINGS)
@given(instances())
def test_every_tree_of_the_grammar_is_found_once_in_the_order_of_scores(instance):
    twins, w = instance
    for i, found in enumerate(twins.problem.k_best(w, 500)):
        trees, rows = features(twins, i)
        scores = np.sort(rows @ w)[::-1][:500]
        np.testing.assert_allclose([score for _, score in found], scores, atol=1e-8 * (1 + np.abs(w).max()))
        shown = [as_tree(y, "y") for y, _ in found]
        assert len(set(shown)) == len(shown)
        if len(trees) <= 500:
            assert set(shown) == set(trees)


@settings(max_examples=50, **SETTINGS)
@given(instances())
def test_differences_and_losses_are_those_of_the_definition(instance):
    twins, _ = instance
    for i, example in enumerate(listed(twins)):
        other = twins.reference.model.bind(twins.reference.spec, [twins.X[i]] * len(example.outputs), example.outputs)
        codes = [(i, other.truths[k]) for k in range(len(example.outputs))]
        rows, losses = twins.problem.differences(np.full(len(codes), i), codes)
        assert twins.problem.present(codes) == example.outputs
        for k, expected in enumerate(example.rows[:30]):
            row = np.zeros(twins.problem.n_features)
            rows.take(np.array([k])).add_to(row, np.ones(1))
            np.testing.assert_allclose(row, expected, atol=1e-12)
        np.testing.assert_allclose(losses, example.losses)


@settings(max_examples=50, **SETTINGS)
@given(instances())
def test_sums_agree_with_enumeration(instance):
    twins, w = instance
    sums.check_log_partitions(twins, w)
    sums.check_expected_features(twins, w)
    sums.check_truths(twins)


@settings(max_examples=10, **SETTINGS)
@given(instances(most=3))
def test_gradients_are_those_of_finite_differences(instance):
    twins, w = instance
    sums.check_log_losses(twins, w / np.maximum(np.abs(w).max(), 1.0))


@settings(max_examples=100, **SETTINGS)
@given(instances())
def test_span_posteriors_and_trees_of_least_risk(instance):
    twins, w = instance
    labels = twins.reference.spec.labels
    risky = twins.problem.present(twins.problem.most_probable_labels(w))
    for i, found in enumerate(twins.problem.label_probabilities(w)):
        trees, rows = features(twins, i)
        probabilities = softmax(rows @ w)
        expected = np.zeros_like(found)
        for y, p in zip(trees, probabilities, strict=True):
            for label, begin, end in nodes(y):
                expected[begin, end, labels.index(label)] += p
        np.testing.assert_allclose(found, expected, atol=1e-8)

        def risk(y, trees=trees, probabilities=probabilities):
            return sum(p * len(set(brackets(y)) ^ set(brackets(z))) for z, p in zip(trees, probabilities, strict=True))

        assert risk(risky[i]) == pytest.approx(min(map(risk, trees)), abs=1e-6)


@settings(max_examples=20, **SETTINGS)
@given(instances(losses=("brackets",)))
def test_largest_losses_are_exact_and_radii_are_upper_bounds(instance):
    twins, _ = instance
    examples = listed(twins)
    np.testing.assert_array_equal(twins.problem.max_losses(), [each.losses.max() for each in examples])
    radii = np.array([np.linalg.norm(each.rows, axis=1).max() for each in examples])
    assert np.all(twins.problem.radii() >= radii - 1e-12)


def test_samples_follow_the_distribution():
    twins = twins_of(np.random.default_rng(3), sizes=(4, 3, 3))
    w = 0.5 * np.random.default_rng(5).normal(size=twins.problem.n_features)
    sums.check_samples(twins, w, twins.reference.outputs(twins.X[0]))
