"""All trees of sentences of five and six tokens, by random grammars, against every decoder."""

from itertools import product
from typing import NamedTuple

import numpy as np
import pytest
from scipy.special import logsumexp, softmax
from sklearn.base import clone

from structlearn.data import brackets
from structlearn.data.trees import nodes
from tests.models.enumerated import BEST, Listed, asked
from tests.models.grammar.enumerated_grammar import EnumeratedGrammar, twins_of
from tests.models.instances import SCALINGS

OPTIONS = {
    "plain": {},
    "a root": {"root": True},
    "no memory": {"horizontal": 0},
    "parents": {"horizontal": 1, "vertical": 2},
    "words": {"inputs": "words"},
    "words and parents": {"inputs": "words", "vertical": 2, "horizontal": 0, "min_count": 1},
    "spans": {"spans": True, "horizontal": 1},
    "all at once": {"inputs": "words", "spans": True, "vertical": 2, "horizontal": 1, "root": True},
}
#: Trees of a sentence: more than a handful, and few enough to list.
FEWEST, MOST = 10, 1200
#: With whole weights many trees score the same, with none all do.
WEIGHTS = {
    "small": lambda random, n: 0.3 * random.normal(size=n),
    "large": lambda random, n: 3.0 * random.normal(size=n),
    "whole": lambda random, n: random.integers(-1, 2, n).astype(float),
    "none": lambda random, n: np.zeros(n),
}


class Instance(NamedTuple):
    """A grammar on sentences of five and six tokens, all their trees with Ψ, and weights."""

    twins: object
    trees: list
    features: list
    w: np.ndarray


@pytest.fixture(scope="module", params=list(product(OPTIONS, WEIGHTS)), ids=", ".join)
def instance(request):
    options, weights = request.param
    random = np.random.default_rng([list(OPTIONS).index(options), list(WEIGHTS).index(weights)])
    while True:
        twins = twins_of(random, sizes=(5, 6), **OPTIONS[options])
        sizes = np.exp(twins.problem.log_partitions(np.zeros(twins.problem.n_features)))
        if sizes.min() >= FEWEST and sizes.max() <= MOST:
            break
    trees = [twins.reference.outputs(x) for x in twins.X]
    features = [
        np.array([twins.reference.joint_feature(x, y) for y in some]) for x, some in zip(twins.X, trees, strict=True)
    ]
    return Instance(twins, trees, features, WEIGHTS[weights](random, twins.problem.n_features))


@pytest.mark.sample(3)
def test_every_tree_of_five_and_six_tokens_is_listed(instance):
    for trees, truth in zip(instance.trees, instance.twins.Y, strict=True):
        assert len(set(trees)) == len(trees) >= FEWEST
        assert truth in trees


@pytest.mark.sample(3)
@pytest.mark.parametrize("k", [1, 3, MOST + 1])
def test_the_k_best_trees(instance, k):
    twins, w = instance.twins, instance.w
    for found, trees, rows in zip(twins.problem.k_best(w, k), instance.trees, instance.features, strict=True):
        scores = dict(zip(trees, rows @ w, strict=True))
        assert len({y for y, _ in found}) == len(found) == min(k, len(trees))
        np.testing.assert_allclose([score for _, score in found], sorted(scores.values(), reverse=True)[:k], atol=1e-9)
        np.testing.assert_allclose([score for _, score in found], [scores[y] for y, _ in found], atol=1e-9)


@pytest.mark.sample(3)
@pytest.mark.parametrize("loss", ["brackets", "f1", "zero_one"])
def test_the_most_violating_trees(instance, loss):
    twins, w = instance.twins, instance.w
    model = clone(twins.reference.model).set_params(loss=loss)
    reference = EnumeratedGrammar(model, twins.reference.spec)
    problem = model.bind(reference.spec, twins.X, twins.Y)
    every = np.arange(2)
    examples = []
    for y, trees, rows in zip(twins.Y, instance.trees, instance.features, strict=True):
        losses = np.array([reference.loss(y, other) for other in trees])
        true = np.array([other == y for other in trees])
        examples.append(Listed(trees, rows[true] - rows, losses, true))
    for scaling in (BEST, *SCALINGS):
        planes = asked(problem, w, every, scaling)
        assert planes.examples.tolist() == every.tolist()
        np.testing.assert_allclose(planes.bounds, [each.violations(w, scaling).max() for each in examples], atol=1e-8)
        for shown, plane_loss, each in zip(problem.present(planes.outputs), planes.losses, examples, strict=True):
            assert plane_loss == pytest.approx(each.losses[each.outputs.index(shown)])


def test_sums_over_all_trees(instance):
    twins, w = instance.twins, instance.w
    log_z = [logsumexp(rows @ w) for rows in instance.features]
    np.testing.assert_allclose(twins.problem.log_partitions(w), log_z, atol=1e-9)
    gradient = np.zeros(len(w))
    losses = twins.problem.log_losses(w, np.ones(2), gradient)
    truths = [rows[trees.index(y)] for rows, trees, y in zip(instance.features, instance.trees, twins.Y, strict=True)]
    np.testing.assert_allclose(losses, [z - truth @ w for z, truth in zip(log_z, truths, strict=True)], atol=1e-9)
    expected = [softmax(rows @ w) @ rows for rows in instance.features]
    np.testing.assert_allclose(gradient, np.sum(expected, axis=0) - np.sum(truths, axis=0), atol=1e-8)


def test_span_posteriors(instance):
    twins, w = instance.twins, instance.w
    labels = twins.reference.spec.labels
    for found, trees, rows in zip(twins.problem.label_probabilities(w), instance.trees, instance.features, strict=True):
        expected = np.zeros_like(found)
        for y, p in zip(trees, softmax(rows @ w), strict=True):
            for label, begin, end in nodes(y):
                expected[begin, end, labels.index(label)] += p
        np.testing.assert_allclose(found, expected, atol=1e-9)


def test_trees_of_least_risk(instance):
    twins, w = instance.twins, instance.w
    risky = twins.problem.present(twins.problem.most_probable_labels(w))
    for y, trees, rows in zip(risky, instance.trees, instance.features, strict=True):
        names = {bracket: k for k, bracket in enumerate({b for tree in trees for b in brackets(tree)})}
        has = np.zeros((len(trees), len(names)))
        for k, tree in enumerate(trees):
            has[k, [names[b] for b in brackets(tree)]] = 1
        differing = has @ (1 - has).T + (1 - has) @ has.T
        risks = differing @ softmax(rows @ w)
        assert risks[trees.index(y)] == pytest.approx(risks.min(), abs=1e-9)
