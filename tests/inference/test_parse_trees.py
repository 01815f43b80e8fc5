import itertools
from collections import Counter
from typing import NamedTuple

import numpy as np
import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from structlearn.inference import best_tree, k_best_trees, sample_trees, tree_marginals


class Derivation(NamedTuple):
    nodes: list
    rules: list  # numbers of the rules
    words: list  # symbols above the tokens


def derivations(symbol, begin, end, length, rules):
    """All trees of a symbol over some tokens, from the definition."""
    node = (symbol, begin, end)
    found = [Derivation([node], [], [symbol])] if end == begin + 1 else []
    for r, (parent, *children) in enumerate(rules):
        if parent != symbol:
            continue
        if len(children) == 1:
            pieces = [(below,) for below in derivations(children[0], begin, end, length, rules)]
        else:
            pieces = []
            for split in range(begin + 1, end):
                left = derivations(children[0], begin, split, length, rules)
                pieces += itertools.product(left, derivations(children[1], split, end, length, rules))
        for below in pieces:
            nodes, used, words = ([x for part in below for x in part[k]] for k in range(3))
            found.append(Derivation([node, *nodes], [r, *used], words))
    return found


def score(tree, emission, rules, scores, start, spans):
    return (
        start[tree.nodes[0][0]]
        + scores[tree.rules].sum()
        + emission[np.arange(len(emission)), tree.words].sum()
        + sum(spans[begin, end, symbol] for symbol, begin, end in tree.nodes)
    )


def enumerated(emission, rules, scores, start, spans):
    """All trees, with their scores; those that are forbidden are left out."""
    length, n_symbols = emission.shape
    trees = [tree for s in range(n_symbols) for tree in derivations(s, 0, length, length, rules)]
    values = np.array([score(tree, emission, rules, scores, start, spans) for tree in trees])
    return [tree for tree, value in zip(trees, values, strict=True) if value > -np.inf], values[values > -np.inf]


@st.composite
def sentences(draw):
    """Rules without unary cycles, with forbidden scores everywhere, ties, and scores that exponentials cannot hold."""
    length, n_symbols = draw(st.integers(1, 4)), draw(st.integers(1, 3))
    random = np.random.default_rng(draw(st.integers(0, 10**6)))
    symbols = range(n_symbols)
    binary = [rule for rule in itertools.product(symbols, repeat=3) if random.random() < 2.5 / n_symbols**2]
    order = random.permutation(n_symbols)
    unary = [(order[a], order[b]) for a, b in itertools.combinations(symbols, 2) if random.random() < 0.4]
    rules = [tuple(map(int, rule)) for rule in binary + unary]
    random.shuffle(rules)
    shapes = ((length, n_symbols), (len(rules),), (n_symbols,), (length + 1, length + 1, n_symbols))
    if draw(st.booleans()):
        arrays = [random.integers(-2, 3, shape).astype(float) for shape in shapes]
    else:
        scale = draw(st.sampled_from([1.0, 300.0]))
        arrays = [scale * random.uniform(-1, 1, shape) for shape in shapes]
    for array in arrays:
        array[random.uniform(size=array.shape) < draw(st.sampled_from([0.0, 0.0, 0.2, 0.5]))] = -np.inf
    emission, scores, start, spans = arrays
    assume(len(enumerated(emission, rules, scores, start, spans)[0]) <= 200)
    return emission, rules, scores, start, spans


SETTINGS = settings(max_examples=25, suppress_health_check=[HealthCheck.filter_too_much, HealthCheck.too_slow])


@SETTINGS
@given(sentences(), st.integers(1, 50))
def test_the_best_trees_agree_with_enumeration(sentence, k):
    emission, rules, scores, start, spans = sentence
    trees, values = enumerated(*sentence)
    found = k_best_trees(emission, rules, k, scores, start, spans)
    assert [value for _, value in found] == pytest.approx(np.sort(values)[::-1][:k].tolist(), rel=1e-12, abs=1e-9)
    value_of = {tuple(tree.nodes): value for tree, value in zip(trees, values, strict=True)}
    assert len({tuple(nodes) for nodes, _ in found}) == len(found)
    assert all(value_of[tuple(nodes)] == pytest.approx(value, rel=1e-12, abs=1e-9) for nodes, value in found)
    if not trees:
        with pytest.raises(ValueError, match=f"derive no tree of these {len(emission)} tokens"):
            best_tree(*sentence)
        with pytest.raises(ValueError, match="derive no tree"):
            sample_trees(emission, rules, 1, scores, start, spans)
        return
    nodes, value = best_tree(*sentence)
    assert value == pytest.approx(values.max(), rel=1e-12, abs=1e-9)
    assert value_of[tuple(nodes)] == pytest.approx(value, rel=1e-12, abs=1e-9)


@SETTINGS
@given(sentences())
def test_sums_agree_with_enumeration(sentence):
    trees, values = enumerated(*sentence)
    found = tree_marginals(*sentence)
    words, rules, starts, spans = (np.zeros_like(sentence[k]) for k in (0, 2, 3, 4))
    if trees:
        top = values.max()
        p = np.exp(values - top) / np.exp(values - top).sum()
        assert found.log_z == pytest.approx(top + np.log(np.exp(values - top).sum()), rel=1e-12, abs=1e-9)
        assert found.entropy == pytest.approx(-np.sum(p[p > 0] * np.log(p[p > 0])), abs=1e-8 * max(1.0, abs(top)))
        for tree, probability in zip(trees, p, strict=True):
            starts[tree.nodes[0][0]] += probability
            words[np.arange(len(words)), tree.words] += probability
            for r, count in Counter(tree.rules).items():
                rules[r] += count * probability
            for symbol, begin, end in tree.nodes:
                spans[begin, end, symbol] += probability
    else:
        assert found.log_z == -np.inf
        assert found.entropy == 0.0
    for name, expected in (("words", words), ("rules", rules), ("starts", starts), ("spans", spans)):
        np.testing.assert_allclose(getattr(found, name), expected, atol=1e-9, err_msg=name)


def test_samples_follow_the_distribution():
    random = np.random.default_rng(0)
    emission, rules, scores = random.normal(size=(3, 2)), [(0, 0, 1), (0, 1, 1), (1, 0)], random.normal(size=3)
    start, spans = random.normal(size=2), random.normal(size=(4, 4, 2))
    spans[0, 2, 0] = -np.inf
    trees, values = enumerated(emission, rules, scores, start, spans)
    drawn = sample_trees(emission, rules, 5000, scores, start, spans, random_state=0)
    share = np.exp(values) / np.exp(values).sum()
    assert len(trees) > 5
    assert [drawn.count(tree.nodes) / 5000 for tree in trees] == pytest.approx(share.tolist(), abs=0.03)
    assert drawn == sample_trees(emission, rules, 5000, scores, start, spans, random_state=0)


def test_the_binary_trees_of_long_sentences_are_as_many_as_catalan_numbers():
    length = 40
    found = tree_marginals(np.zeros((length, 1)), [(0, 0, 0)])
    catalan = np.log(np.arange(length + 1, 2 * length - 1)).sum() - np.log(np.arange(1, length)).sum()
    assert found.log_z == pytest.approx(catalan, rel=1e-12)
    assert found.entropy == pytest.approx(catalan, rel=1e-12)
    assert found.rules == pytest.approx([length - 1])


def test_a_deep_tree_is_listed():
    length = 1050
    emission = np.full((length, 2), -np.inf)
    emission[:, 1] = emission[-1, 0] = 0.0
    nodes, _ = best_tree(emission, [(0, 1, 0)], start=0)
    assert nodes[-1] == (0, length - 1, length)
    assert nodes[:-1] == [node for t in range(length - 1) for node in ((0, t, length), (1, t, t + 1))]


def test_what_is_not_given_is_zero():
    emission, rules = np.random.default_rng(1).normal(size=(4, 2)), [(0, 0, 1), (1, 1, 1), (0, 1)]
    zeros = np.zeros(3), np.zeros(2), np.zeros((5, 5, 2))
    assert best_tree(emission, rules) == best_tree(emission, rules, *zeros)


def test_an_array_of_rules_is_the_list_of_them():
    emission, rules = np.random.default_rng(1).normal(size=(4, 2)), [(0, 0, 1), (0, 1), (1, 1, 1)]
    scores = [0.5, -0.5, 0.2]
    array = np.array([(0, 0, 1), (0, 1, -1), (1, 1, 1)])
    assert best_tree(emission, array, scores, start=0) == best_tree(emission, rules, scores, start=[0.0, -np.inf])


def test_a_cycle_of_which_one_rule_is_forbidden_is_none():
    assert best_tree([[0.0, -np.inf]], [(0, 1), (1, 0)], [-np.inf, 2.0])[0] == [(1, 0, 1), (0, 0, 1)]


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"emission": np.zeros(3)}, r"emission has shape \(3,\); expected \(length, n_symbols\)"),
        ({"emission": np.zeros((0, 2))}, r"emission has shape \(0, 2\).*neither of them 0"),
        ({"emission": [[0.0, 1.0], [np.nan, 0.0]]}, r"emission\[1, 0\] is nan; a score must not be NaN or \+inf"),
        ({"rules": [(0, 1, 1), (0,)]}, r"rules\[1\] is \(0,\); expected \(parent, left, right\) or \(parent, child\)"),
        ({"rules": [(0, 1, 1), 3]}, r"rules\[1\] is 3; expected"),
        ({"rules": [(0, 1, 1), (0, 2)]}, r"rules\[1\] is \(0, 2\) but symbols are 0 to 1"),
        ({"rules": [(0, 1, -1), (0, 1, 7)]}, r"rules\[1\] is \(0, 1, 7\) but symbols are 0 to 1"),
        ({"rules": [(-1, 1, 1)]}, r"rules\[0\] is \(-1, 1, 1\) but symbols"),
        ({"rules": [(0, 1, 1), (1, 1, 1), (0, 1, 1)]}, r"rules\[2\] is \(0, 1, 1\), as rules\[0\] is"),
        ({"rules": [(0, 1), (1, 0)]}, "lead from a symbol to itself: (0 → 1 → 0|1 → 0 → 1)"),
        ({"rules": [(1, 1)]}, "lead from a symbol to itself: 1 → 1"),
        ({"rules": np.zeros((2, 2), int)}, r"rules has shape \(2, 2\) and type int64; expected \(n_rules, 3\)"),
        ({"rules": [(0.5, 1, 1)]}, "type float64; expected"),
        ({"scores": [1.0, 2.0]}, r"scores has shape \(2,\); expected \(1,\)"),
        ({"scores": [np.inf]}, r"scores\[0\] is inf"),
        ({"start": 2}, "start is 2 but symbols are 0 to 1"),
        ({"start": [0.0]}, r"start has shape \(1,\); expected \(2,\)"),
        ({"spans": np.zeros((2, 2, 2))}, r"spans has shape \(2, 2, 2\); expected \(3, 3, 2\)"),
        ({"spans": np.full((3, 3, 2), np.nan)}, r"spans\[0, 0, 0\] is nan"),
    ],
)
def test_what_does_not_fit_is_named(given, message):
    with pytest.raises(ValueError, match=message):
        best_tree(**{"emission": np.zeros((2, 2)), "rules": [(0, 1, 1)], **given})


def test_k_is_at_least_one():
    with pytest.raises(ValueError, match="k is 0"):
        k_best_trees(np.zeros((2, 1)), [(0, 0, 0)], 0)
