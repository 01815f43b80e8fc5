"""Kernels of strings against lists of all substrings, neighbours and subsequences; of graphs against lists of walks."""

from collections import Counter
from itertools import combinations, product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from structlearn.data import Network
from structlearn.kernels import GapWeighted, Mismatch, RandomWalk, Spectrum, check_psd

strings = st.lists(st.text("abc", max_size=6), min_size=1, max_size=4)


def inner(x, z):
    return sum(value * z[key] for key, value in x.items())


def grams(x, n):
    return Counter(x[t : t + n] for t in range(len(x) - n + 1))


def neighbours(x, n, m, alphabet):
    return Counter(
        "".join(u)
        for gram in grams(x, n).elements()
        for u in product(alphabet, repeat=n)
        if sum(a != b for a, b in zip(gram, u, strict=True)) <= m
    )


def subsequences(x, n, decay):
    found = Counter()
    for places in combinations(range(len(x)), n):
        found["".join(x[t] for t in places)] += decay ** (places[-1] - places[0] + 1)
    return found


@given(strings, strings, st.integers(1, 3))
def test_the_spectrum_kernel_counts_common_substrings(X, Z, n):
    expected = [[inner(grams(x, n), grams(z, n)) for z in Z] for x in X]
    np.testing.assert_array_equal(Spectrum(n)(X, Z), expected)
    np.testing.assert_array_equal(Spectrum(n).diagonal(X), Spectrum(n)(X).diagonal())


@given(strings, strings, st.integers(1, 4), st.integers(0, 3))
def test_the_mismatch_kernel_counts_common_neighbours(X, Z, n, m):
    m = min(m, n - 1)
    features = [[neighbours(x, n, m, "abc") for x in some] for some in (X, Z)]
    expected = [[inner(x, z) for z in features[1]] for x in features[0]]
    np.testing.assert_array_equal(Mismatch(n, m, "abc")(X, Z), expected)


def test_without_mismatches_it_is_the_spectrum_kernel():
    words = ["abcab", "cab", "bb"]
    np.testing.assert_array_equal(Mismatch(2, 0, "abc")(words), Spectrum(2)(words))
    assert Mismatch(2, 1, "a")(["aaa"]).tolist() == [[4.0]]


@given(strings, strings, st.integers(1, 4), st.sampled_from([0.25, 0.7, 1.0]))
def test_the_gap_weighted_kernel_counts_common_subsequences(X, Z, n, decay):
    features = [[subsequences(x, n, decay) for x in some] for some in (X, Z)]
    expected = [[inner(x, z) for z in features[1]] for x in features[0]]
    kernel = GapWeighted(n, decay)
    np.testing.assert_allclose(kernel(X, Z), expected, atol=1e-12)
    np.testing.assert_allclose(kernel.diagonal(X), kernel(X).diagonal(), atol=1e-12)


@pytest.mark.parametrize("kernel", [Spectrum(2), Mismatch(2, 1, "abc"), GapWeighted(2), 0.5 * Spectrum(1)], ids=repr)
@given(X=strings)
def test_kernels_of_strings_are_symmetric_and_positive_semidefinite(kernel, X):
    K = kernel(X)
    np.testing.assert_array_equal(K, K.T)
    np.testing.assert_allclose(K, kernel(X, list(X)), atol=1e-14)
    check_psd(K)
    parts = [part for _, part in kernel.blocks(X, max_memory=8 * len(X))]
    np.testing.assert_allclose(np.concatenate(parts), K, atol=1e-14)


def test_strings_may_be_lists_of_words():
    sentences = [["the", "dog"], ("a", "dog")]
    assert Spectrum(1)(sentences).tolist() == [[2.0, 1.0], [1.0, 2.0]]
    assert Spectrum(2)(["ab"], [["a", "b"]]).tolist() == [[1.0]]
    assert GapWeighted(1, 1.0)(sentences).tolist() == [[2.0, 1.0], [1.0, 2.0]]


@pytest.mark.parametrize(
    ("kernel", "X", "message"),
    [
        (Spectrum(0), ["a"], "n is 0"),
        (Spectrum(2), "ab", "X is 'ab'; a list or an array is needed"),
        (Spectrum(2), [], "X is empty; at least one string"),
        (Spectrum(2), ["ab", 3], r"X\[1\] is 3; expected a string or a list of words"),
        (Mismatch(2, 2), ["AC"], "m is 2; fewer than all of the n = 2 letters may differ"),
        (Mismatch(2, -1), ["AC"], "m is -1"),
        (Mismatch(2, 1), ["AC", "AN"], r"X\[1\]\[1\] is 'N', which the alphabet .ACGT. does not have"),
        (Mismatch(2, 1, ""), ["AC"], "alphabet is ''"),
        (Mismatch(2, 1, "AA"), ["AC"], "alphabet is 'AA'; expected letters that differ"),
        (GapWeighted(2, 0.0), ["a"], "decay is 0.0; it must be a positive number"),
        (GapWeighted(2, 1.5), ["a"], "decay is 1.5; it must be at most 1"),
        (RandomWalk(0.0), [(np.eye(1), [])], "decay is 0.0"),
        (RandomWalk(0.9), [(np.ones((3, 1)), [(0, 1), (1, 2), (0, 2)])], "walks do not die out; choose it smaller"),
        (RandomWalk(), [], "X is empty; at least one network"),
        (RandomWalk(), [(np.eye(2), [(0, 5)])], r"edge 0 of X\[0\]"),
    ],
)
def test_what_is_no_string_or_graph_is_refused_by_name(kernel, X, message):
    with pytest.raises(ValueError, match=message):
        kernel(X)


def series(G, H, decay, n_terms=60):
    """The definition with the matrix of all pairs of nodes, as a sum over walks of 0, 1, 2, … steps."""
    alike = np.diag((G.nodes @ H.nodes.T).ravel())
    step = np.zeros((len(alike), len(alike)))
    for e, (a, b) in enumerate(G.edges):
        for f, (c, d) in enumerate(H.edges):
            weight = 1.0 if G.edge_features is None else G.edge_features[e] @ H.edge_features[f]
            for begin, end in (((a, c), (b, d)), ((a, d), (b, c))):
                i, j = (u * len(H.nodes) + v for u, v in (begin, end))
                step[i, j] += weight
                step[j, i] += weight
    walks, total = alike.copy(), alike.copy()
    for _ in range(n_terms):
        walks = decay * walks @ step @ alike
        total += walks
    return total.sum()


def graphs(n, edge_features):
    random = np.random.default_rng(n)
    found = []
    for _ in range(n):
        size = random.integers(1, 5)
        edges = [pair for pair in combinations(range(size), 2) if random.random() < 0.6]
        features = random.random((len(edges), 2)) if edge_features else None
        found.append(Network(np.eye(3)[random.integers(0, 3, size)], np.array(edges, int).reshape(-1, 2), features))
    return found


@pytest.mark.parametrize("edge_features", [False, True])
def test_the_random_walk_kernel_is_its_power_series(edge_features):
    X, Z = graphs(6, edge_features), graphs(4, edge_features)
    kernel = RandomWalk(decay=0.1)
    np.testing.assert_allclose(kernel(X, Z), [[series(x, z, 0.1) for z in Z] for x in X], rtol=1e-12)
    K = kernel(X)
    np.testing.assert_allclose(K, kernel(X, list(X)), rtol=1e-12)
    np.testing.assert_allclose(kernel.diagonal(X), K.diagonal(), rtol=1e-12)
    check_psd(K)


def test_labels_by_name_have_the_same_columns_in_all_graphs():
    left, right = Network([{"atom": "C"}], []), Network([{"atom": "O"}, {"atom": "C"}], [])
    assert RandomWalk()([left], [right]).tolist() == [[1.0]]
    assert RandomWalk()([left, right]).tolist() == [[1.0, 1.0], [1.0, 2.0]]
