"""Decoders restricted to what is known, against enumeration of all outputs that agree with it."""

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from structlearn import inference
from tests.inference import test_alignments, test_parse_trees, test_segmentations


def check(total, best, k_best, log_z, drawn):
    """All that decoders say, against the scores of all outputs that are left."""
    possible = {y: value for y, value in total.items() if value > -np.inf}
    values = np.array(sorted(possible.values(), reverse=True))
    if not possible:
        assert log_z() == -np.inf
        with pytest.raises(ValueError, match="forbidden"):
            best()
        return
    assert best()[0] in possible
    assert np.isclose(best()[1], values[0])
    assert np.allclose([value for _, value in k_best(len(values) + 1)], values)
    assert {y for y, _ in k_best(len(values) + 1)} == possible.keys()
    assert np.isclose(log_z(), values[0] + np.log(np.exp(values - values[0]).sum()))
    assert set(drawn(20)) <= possible.keys()


@given(st.integers(0, 10**6), st.booleans())
@settings(max_examples=60)
def test_chains(seed, second_order):
    random = np.random.default_rng(seed)
    length, n_labels = random.integers(1, 5), random.integers(1, 4)
    emission, transition = random.normal(size=(length, n_labels)), random.normal(size=(n_labels, n_labels))
    triplets = random.normal(size=(n_labels,) * 3) if second_order else None
    entries = [None, int(random.integers(n_labels)), set(range(1, n_labels)) or None, [0]]
    allowed = [entries[k] for k in random.integers(4, size=length)]

    def agrees(labels):
        known = [{entry} if isinstance(entry, int) else entry for entry in allowed]
        return all(entry is None or label in entry for label, entry in zip(labels, known, strict=True))

    def score(y):
        pairs = sum(transition[pair] for pair in itertools.pairwise(y))
        if second_order:
            pairs += sum(triplets[y[t], y[t - 1], y[t + 1]] for t in range(1, length - 1))
        return emission[range(length), y].sum() + pairs

    total = {y: score(y) for y in itertools.product(range(n_labels), repeat=length) if agrees(y)}
    scores, more = (emission, transition), {"triplets": triplets, "allowed": allowed}
    labels, value = inference.viterbi(*scores, **more)
    found = inference.marginals(*scores, **more)
    check(
        total,
        lambda: (tuple(labels), value),
        lambda k: [(tuple(y), value) for y, value in inference.k_best(*scores, k, **more)],
        lambda: found.log_z,
        lambda n: map(tuple, inference.sample(*scores, n, random_state=seed, **more)),
    )
    weights = np.exp(np.array(list(total.values())) - found.log_z)
    nodes = sum(weight * np.eye(n_labels)[list(y)] for y, weight in zip(total, weights, strict=True))
    assert np.allclose(found.nodes, nodes)
    truth = max(total, key=total.get)
    by_loss = {}
    for y, value in total.items():
        wrong = sum(a != b for a, b in zip(y, truth, strict=True))
        by_loss[wrong] = max(value, by_loss.get(wrong, -np.inf))
    levels = inference.best_per_loss_level(*scores, truth, **more)
    assert {wrong: pytest.approx(value) for wrong, _, value in levels} == by_loss


@given(test_segmentations.scores(), st.randoms(use_true_random=False))
@settings(max_examples=60)
def test_segmentations_(arrays, random):
    length, n_labels = arrays[0].shape
    whole = random.choice(list(test_segmentations.segmentations(length, n_labels, len(arrays[2]))))
    allowed = [
        (random.choice([label, None, {label}, {label, 0}]), begin, end)
        for label, begin, end in whole
        if random.random() < 0.5
    ]

    def agrees(y):
        spans = {(begin, end): label for label, begin, end in y}
        return all(
            (begin, end) in spans
            and (label is None or spans[begin, end] in ({label} if isinstance(label, int) else label))
            for label, begin, end in allowed
        )

    total = {y: value for y, value in test_segmentations.enumerated(*arrays).items() if agrees(y)}
    emission, transition, *more = arrays

    def best():
        segments, value = inference.best_segmentation(*arrays, allowed=allowed)
        return tuple(segments), value

    def k_best(k):
        found = inference.k_best_segmentations(emission, transition, k, *more, allowed=allowed)
        return [(tuple(segments), value) for segments, value in found]

    def drawn(n):
        found = inference.sample_segmentations(emission, transition, n, *more, random_state=0, allowed=allowed)
        return map(tuple, found)

    found = inference.segmentation_marginals(*arrays, allowed=allowed)
    check(total, best, k_best, lambda: found.log_z, drawn)
    if found.log_z > -np.inf:
        for label, begin, end in allowed:
            assert found.firsts[begin].sum() == pytest.approx(1)
            assert found.lasts[end - 1].sum() == pytest.approx(1)
            assert label is None or found.tokens[begin, [label] if isinstance(label, int) else list(label)].sum() > 0.99


@given(test_parse_trees.sentences(), st.randoms(use_true_random=False))
@settings(max_examples=30)
def test_trees(arrays, random):
    trees, values = test_parse_trees.enumerated(*arrays)
    if not trees:
        return
    allowed = [
        (random.choice([symbol, None]), begin, end)
        for symbol, begin, end in random.choice(trees).nodes
        if random.random() < 0.4
    ]

    def agrees(nodes):
        spans = {(begin, end) for _, begin, end in nodes}
        return all(node in nodes or (node[0] is None and node[1:] in spans) for node in allowed)

    total = {tuple(tree.nodes): value for tree, value in zip(trees, values, strict=True) if agrees(tree.nodes)}
    emission, rules, *more = arrays

    def best():
        nodes, value = inference.best_tree(*arrays, allowed=allowed)
        return tuple(nodes), value

    def k_best(k):
        found = inference.k_best_trees(emission, rules, k, *more, allowed=allowed)
        return [(tuple(nodes), value) for nodes, value in found]

    def drawn(n):
        return map(tuple, inference.sample_trees(emission, rules, n, *more, random_state=0, allowed=allowed))

    found = inference.tree_marginals(*arrays, allowed=allowed)
    check(total, best, k_best, lambda: found.log_z, drawn)
    for symbol, begin, end in allowed:
        if symbol is not None:
            assert found.spans[begin, end, symbol] == pytest.approx(1)


@given(test_alignments.scores(), st.randoms(use_true_random=False))
@settings(max_examples=60)
def test_alignments_(scores, random):
    m, n = scores["match"].shape
    allowed = {match for match in random.choice(list(test_alignments.alignments(m, n))) if random.random() < 0.6}
    total = {y: value for y, value in test_alignments.enumerated(**scores).items() if allowed <= set(y)}
    match = scores["match"]
    more = {name: value for name, value in scores.items() if name != "match"} | {"allowed": allowed}
    if any(np.isneginf(match[pair]) for pair in allowed):
        for decode in (inference.best_alignment, inference.alignment_marginals):
            with pytest.raises(ValueError, match="which is forbidden: its score is -inf"):
                decode(match, **more)
        return
    found = inference.alignment_marginals(match, **more)
    check(
        total,
        lambda: inference.best_alignment(match, **more),
        lambda k: inference.k_best_alignments(match, k, **more),
        lambda: found.log_z,
        lambda n: inference.sample_alignments(match, n, **more, random_state=0),
    )
    assert all(found.matches[pair] == pytest.approx(1) for pair in allowed)


def test_letters_that_must_be_partners():
    matrix = {(a, b): float(a == b) for a in "ab" for b in "ab"}
    X = [("ab", "ba"), ("ab", "ba")]
    (free, _), (bound, value) = inference.align(X, matrix, gap=-0.25, allowed=[None, [(0, 1)]])
    assert len(free) == 1
    assert (bound, value) == (((0, 1),), 0.5)
    with pytest.raises(ValueError, match=r"allowed\[1\] has the match \(0, 0\), which is forbidden"):
        inference.align(X, matrix | {("a", "b"): -np.inf}, gap=-0.25, allowed=[None, [(0, 0)]])


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (
            lambda: inference.viterbi(np.zeros((2, 2)), np.zeros((2, 2)), allowed=[2, None]),
            r"allowed\[0\] is 2, but 2 is",
        ),
        (
            lambda: inference.viterbi(np.zeros((2, 2)), np.zeros((2, 2)), allowed=[0]),
            "allowed has 1 entries but emission has 2 rows",
        ),
        (
            lambda: inference.best_segmentation(np.zeros((2, 2)), np.zeros((2, 2)), allowed=[(0, 2, 1)]),
            r"allowed\[0\] is \(0, 2, 1\); it must end after it begins",
        ),
        (
            lambda: inference.best_tree(np.zeros((2, 1)), [(0, 0, 0)], allowed=[(3, 0, 1)]),
            r"allowed has the phrase \(3, 0, 1\), but 3 is no label of the grammar",
        ),
        (
            lambda: inference.best_alignment(np.zeros((2, 2)), allowed=[(0, 2)]),
            r"allowed\[0\] is \(0, 2\), but match has sequences of 2 and 2 letters",
        ),
    ],
)
def test_what_cannot_be_known_is_refused(call, message):
    with pytest.raises(ValueError, match=message):
        call()
