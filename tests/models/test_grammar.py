import pickle

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.special import softmax

import structlearn
from models import sums
from models.enumerated import Twins
from models.enumerated_grammar import EnumeratedGrammar
from models.instances import SCALINGS
from structlearn import ConditionalRandomField, StructuralSVM, StructuredPerceptron
from structlearn.models import Grammar, as_tree, brackets, leaves
from structlearn.objective import PREDICTION

LABELS, TAGS = ("A", "B", "C"), ("x", "y")


def random_tree(random, tokens, above=()):
    """A tree over some leaves: phrases of one to three children, no label twice in a chain."""
    label = str(random.choice([label for label in LABELS if label not in above]))
    if len(tokens) == 1:
        if len(above) < 2 and random.random() < 0.3:
            return (label, random_tree(random, tokens, (*above, label)))
        return (label, tokens[0])
    if len(above) < 2 and random.random() < 0.2:
        return (label, random_tree(random, tokens, (*above, label)))
    n = int(random.integers(2, min(3, len(tokens)) + 1))
    cuts = [0, *sorted(random.choice(np.arange(1, len(tokens)), n - 1, replace=False).tolist()), len(tokens)]
    children = [tokens[a:b] for a, b in zip(cuts, cuts[1:], strict=False)]
    return (
        label,
        *(c[0] if len(c) == 1 and random.random() < 0.7 else random_tree(random, c) for c in children),
    )


def twins_of(random, *, sizes=(1, 2, 3, 4), root=False, **options):
    Y = []
    for n in sizes:
        tree = random_tree(random, [(str(random.choice(TAGS)), str(random.choice(["u", "v", "w"]))) for _ in range(n)])
        Y.append(("ROOT", tree) if root else tree)
    tags = options.get("inputs", "tags") == "tags"
    X = [[(word, tag) if tags else word for tag, word in leaves(y)] for y in Y]
    model = Grammar(**options)
    spec = model.specify(X, Y)
    return Twins(model.bind(spec, X, Y), EnumeratedGrammar(model, spec), X, Y)


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
    twins = twins_of(random, sizes=sizes, root=draw(st.booleans()), **options)
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


@settings(max_examples=100, deadline=None)
@given(instances())
def test_oracles_agree_with_enumeration(instance):
    twins, w = instance
    every = np.arange(twins.problem.n_examples)
    examples = listed(twins)
    for scaling in (PREDICTION, *SCALINGS):
        planes = twins.problem.oracle(w, every, scaling)
        best = np.array([each.violations(w, scaling).max() for each in examples])
        known = np.isfinite(best)
        assert planes.examples.tolist() == every[known].tolist()
        np.testing.assert_allclose(planes.bounds, best[known], atol=1e-8 * (1 + np.abs(w).max()))


@settings(max_examples=50, deadline=None)
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


@settings(max_examples=50, deadline=None)
@given(instances())
def test_differences_and_losses_are_those_of_the_definition(instance):
    twins, _ = instance
    for i, example in enumerate(listed(twins)):
        other = twins.reference.model.bind(
            twins.reference.spec, [twins.X[i]] * len(example.outputs), example.outputs
        )
        codes = [(i, other._truth(k)) for k in range(len(example.outputs))]
        rows, losses = twins.problem.differences(np.full(len(codes), i), codes)
        assert twins.problem.present(codes) == example.outputs
        for k, expected in enumerate(example.rows[:30]):
            row = np.zeros(twins.problem.n_features)
            rows.take(np.array([k])).add_to(row, np.ones(1))
            np.testing.assert_allclose(row, expected)
        np.testing.assert_allclose(losses, example.losses)


@settings(max_examples=50, deadline=None)
@given(instances())
def test_sums_agree_with_enumeration(instance):
    twins, w = instance
    sums.check_log_partitions(twins, w)
    sums.check_expected_features(twins, w)
    sums.check_truths(twins)


@settings(max_examples=10, deadline=None)
@given(instances(most=3))
def test_gradients_are_those_of_finite_differences(instance):
    twins, w = instance
    sums.check_log_losses(twins, w / np.maximum(np.abs(w).max(), 1.0))


@settings(max_examples=40, deadline=None)
@given(instances())
def test_span_posteriors_and_trees_of_least_risk(instance):
    twins, w = instance
    labels = twins.reference.spec.labels
    risky = twins.problem.present(twins.problem.most_probable_labels(w))
    for i, found in enumerate(twins.problem.label_probabilities(w)):
        trees, rows = features(twins, i)
        probabilities = softmax(rows @ w)
        expected = np.zeros_like(found)
        from structlearn.models.trees import nodes

        for y, p in zip(trees, probabilities, strict=True):
            for label, begin, end in nodes(y):
                expected[begin, end, labels.index(label)] += p
        np.testing.assert_allclose(found, expected, atol=1e-8)

        def risk(y, trees=trees, probabilities=probabilities):
            return sum(p * len(set(brackets(y)) ^ set(brackets(z))) for z, p in zip(trees, probabilities, strict=True))

        assert risk(risky[i]) == pytest.approx(min(map(risk, trees)), abs=1e-6)


@settings(max_examples=40, deadline=None)
@given(instances(losses=("brackets",)))
def test_largest_losses_are_exact_and_radii_are_upper_bounds(instance):
    twins, _ = instance
    examples = listed(twins)
    np.testing.assert_array_equal(twins.problem.max_losses(), [each.losses.max() for each in examples])
    radii = np.array([np.linalg.norm(each.rows, axis=1).max() for each in examples])
    assert np.all(twins.problem.radii() >= radii - 1e-12)


@pytest.mark.parametrize("seed", range(6))
def test_sentences_of_six_tokens(seed):
    random = np.random.default_rng(seed)
    twins = twins_of(random, sizes=(5, 6), loss=("f1", "brackets")[seed % 2])
    w = random.normal(size=twins.problem.n_features)
    examples = listed(twins)
    for scaling in SCALINGS:
        planes = twins.problem.oracle(w, np.arange(2), scaling)
        best = np.array([each.violations(w, scaling).max() for each in examples])
        np.testing.assert_allclose(planes.bounds, best[np.isfinite(best)], atol=1e-8)
    sums.check_log_partitions(twins, w)


def test_samples_follow_the_distribution():
    twins = twins_of(np.random.default_rng(3), sizes=(4, 3, 3))
    w = 0.5 * np.random.default_rng(5).normal(size=twins.problem.n_features)
    sums.check_samples(twins, w, twins.reference.outputs(twins.X[0]))
