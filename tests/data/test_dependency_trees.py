from itertools import combinations, product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from structlearn.data import crossing_arcs, is_projective
from structlearn.data.dependency_trees import check_tree, read_dependency_trees, split_tree, tree_fault


def leads_to_the_root(heads):
    for t in range(1, len(heads) + 1):
        for _ in heads:
            t = heads[t - 1] if t else 0
        if t:
            return False
    return True


@pytest.mark.parametrize("n", [1, 2, 3, 4])
def test_exactly_the_heads_that_lead_to_the_root_are_trees(n):
    found = [heads for heads in product(range(n + 1), repeat=n) if tree_fault(heads) is None]
    assert found == [heads for heads in product(range(n + 1), repeat=n) if leads_to_the_root(heads)]
    assert len(found) == (n + 1) ** (n - 1)
    single = [heads for heads in found if tree_fault(heads, single_root=True) is None]
    assert single == [heads for heads in found if heads.count(0) == 1]


@pytest.mark.parametrize("n", [1, 2, 3, 4])
def test_heads_known_in_part_are_refused_exactly_if_no_tree_has_them(n):
    trees = [heads for heads in product(range(n + 1), repeat=n) if leads_to_the_root(heads)]
    for known in product([None, *range(n + 1)], repeat=n):
        fits = any(all(a is None or a == b for a, b in zip(known, tree, strict=True)) for tree in trees)
        assert (tree_fault(known) is None) == fits


def trees(n):
    """Heads of which each is a token with a smaller number in some order."""
    order = st.permutations(range(1, n + 1))
    picks = st.tuples(*(st.integers(0, k) for k in range(n)))

    def made(order, picks):
        heads = [0] * n
        for k, token in enumerate(order):
            heads[token - 1] = (0, *order)[picks[k]]
        return heads

    return st.builds(made, order, picks)


@given(st.integers(0, 9).flatmap(trees))
def test_arcs_cross_if_one_begins_within_the_other_and_ends_without(heads):
    arcs = [(min(t, head), max(t, head), t) for t, head in enumerate(heads, 1)]
    expected = {frozenset((s, t)) for (a, b, s), (c, d, t) in combinations(arcs, 2) if a < c < b < d or c < a < d < b}
    found = crossing_arcs(heads)
    assert {frozenset(pair) for pair in found} == expected
    assert len(found) == len(expected)
    assert is_projective(heads) == (not expected)
    labelled = [(head, "label") for head in heads]
    assert (crossing_arcs(labelled), is_projective(labelled)) == (found, not expected)


@pytest.mark.parametrize(
    ("Y", "message"),
    [
        ([[0], [2, "x"]], r"^Y\[1\]\[1\] is 'x'; a head is a whole number, 0 for the root$"),
        ([[True]], r"^Y\[0\]\[0\] is True; a head is a whole number"),
        ([[(0.0, "root")]], r"^Y\[0\]\[0\] is \(0.0, 'root'\); a head is a whole number"),
        (
            [[None]],
            r"^Y\[0\]\[0\] is None; a head is .*; in trees known in part, which some learners take, None stands",
        ),
        ([[0, 3]], r"^Y\[0\] is no tree: token 2 has the head 3, but heads are 0 to 2$"),
        ([[0, -1]], r"token 2 has the head -1"),
        ([[0, 10**5000]], "token 2 has the head <int of 16610 bits>"),
        ([[0, 2]], "Y.0. is no tree: token 2 is its own head"),
        ([[2, 1]], "no token has the head 0, which is the root"),
        ([[0, 4, 2, 3]], "token 2 is in the cycle 2 → 4 → 3 → 2"),
        ([[0, *range(3, 30), 2]], "cycle 2 → 3 → 4 → 5 → 6 → 7 → 8 → 9 → … → 2$"),
        ([[0], [(0, "root")]], r"^Y\[1\] has labels, but Y\[0\] has none$"),
        ([[(0, "root")], [0]], r"^Y\[1\] has no labels, but Y\[0\] has some$"),
        ([[(2, "det"), 0]], r"^Y\[0\]\[1\] is 0, without a label, but \(2, 'det'\) has one$"),
        ([[(0, None)]], r"^Y\[0\]\[0\] is \(0, None\), without a label$"),
        ([[(0, "root", 1)]], r"expected \(head, label\)"),
        ([[(0, ["root"])]], r"^Y\[0\]\[0\] has the label \['root'\], which is not hashable"),
        ([3], r"^Y\[0\] is 3; expected a list"),
        (["ab"], r"^Y\[0\] is 'ab'; expected a list"),
        (7, "Y is 7; a list or an array is needed"),
    ],
)
def test_what_is_no_tree_is_named_with_sentence_and_token(Y, message):
    with pytest.raises(ValueError, match=message):
        read_dependency_trees(Y)


def test_two_roots_are_refused_where_one_is_asked_for():
    assert read_dependency_trees([[0, 0]]).heads == [[0, 0]]
    with pytest.raises(ValueError, match=r"^Y\[0\] is no tree: token 3 has the head 0, as token 1 has"):
        read_dependency_trees([[0, 1, 0]], single_root=True)


def test_trees_have_as_many_entries_as_sentences_have_tokens():
    with pytest.raises(ValueError, match=r"^Y\[1\] has 2 entries but X\[1\] has 3 tokens$"):
        read_dependency_trees([[0], [0, 1]], [["a"], ["a", "b", "c"]])
    with pytest.raises(ValueError, match="X has 1 sentences but Y has 2"):
        read_dependency_trees([[0], [0]], [["a"]])


def test_trees_known_in_part():
    found = read_dependency_trees([[None, (4, None), (None, "det"), 0], [None]], partial=True)
    assert found.heads == [[None, 4, None, 0], [None]]
    assert found.labels == [[None, None, "det", None], [None]]
    assert read_dependency_trees([[None, 0]], partial=True).labels is None
    with pytest.raises(ValueError, match="token 1 is in the cycle 1 → 2 → 1"):
        read_dependency_trees([[2, 1, None]], partial=True)


def test_arrays_are_taken():
    assert split_tree(np.array([2, 0], np.int32), "y") == ([2, 0], None)
    assert split_tree(list(np.array([2, 0], np.int32)), "y") == ([2, 0], None)
    assert split_tree(np.array([[2, 1], [0, 0]]), "y") == ([2, 0], [1, 0])


def test_long_sentences_are_checked_in_linear_time():
    n = 200_000
    for heads in ([*range(n)], [0, *[1] * (n - 1)], [*range(2, n + 1), 0]):
        check_tree(heads, "Y[0]")
        assert is_projective(heads)
