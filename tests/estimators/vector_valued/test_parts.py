"""Vector-valued ridge regression of outputs that have parts: matchings, trees, labelled graphs."""

from itertools import pairwise

import numpy as np
import pytest
import scipy.sparse as sp

import structlearn
from structlearn import VectorValuedRidge
from structlearn.data import parse_tree
from structlearn.datasets import make_matchings
from structlearn.kernels import RBF, Decomposable, Spectrum
from structlearn.outputs import DependencyTreeOutputs, GraphOutputs, LabelSequenceOutputs, MatchingOutputs, TreeOutputs

RANDOM = np.random.default_rng(0)


def arcs(tags):
    """Pairs of the tags of a head and a token."""
    return [[{f"{head} → {tag}": 1.0} for tag in tags] for head in ["ROOT", *tags]]


SENTENCES = [["N", "V"], ["D", "N", "V"], ["N", "V", "D", "N"], ["V"], ["V", "N"]]
TREES = [
    [(2, "s"), (0, "r")],
    [(2, "d"), (3, "s"), (0, "r")],
    [(2, "s"), (0, "r"), (4, "d"), (2, "s")],
    [(0, "r")],
    [(0, "r"), (1, "s")],
]


def spans(tags):
    """The tags of the first and the last token, and those around both."""
    first, last = pairwise(["(", *tags]), [*pairwise([*tags, ")"])]
    return {"tokens": tags, "features": [[{f"{begin} … {end}": 1.0} for end in last] for begin in first]}


PARSED = [
    "(S (NP (N N)) (VP (V V)))",
    "(S (NP (D D) (N N)) (VP (V V)))",
    "(S (NP (N N)) (VP (V V) (NP (D D) (N N))))",
    "(S (VP (V V)))",
    "(S (VP (V V) (NP (N N))))",
]
MATCHED = make_matchings(12, random_state=0)
RING = [(0, 1), (1, 2), (2, 3), (3, 0)]
NODES = [RANDOM.normal(size=(4, 2)) for _ in range(10)]
NETWORKS = [(nodes, RING if i % 2 else RING[:3]) for i, nodes in enumerate(NODES)]
SIDES = [["left" if row[0] < 0 else "right" for row in nodes] for nodes in NODES]

CASES = {
    "matchings": (MatchingOutputs(unmatched=False), MATCHED.X, MATCHED.Y),
    "trees": (DependencyTreeOutputs(), [arcs(tags) for tags in SENTENCES], TREES),
    "plain_trees": (DependencyTreeOutputs(), [arcs(t) for t in SENTENCES], [[h for h, _ in tree] for tree in TREES]),
    "parse_trees": (TreeOutputs(), [spans(tags) for tags in SENTENCES], PARSED),
    "graphs": (GraphOutputs(), NETWORKS, SIDES),
    "sparse_graphs": (GraphOutputs(0.0), [(sp.csr_array(nodes), edges) for nodes, edges in NETWORKS], SIDES),
}
all_cases = pytest.mark.parametrize(("outputs", "X", "Y"), CASES.values(), ids=CASES)


@all_cases
def test_what_is_easy_is_learnt_and_comes_back_from_files(tmp_path, outputs, X, Y):
    ridge = VectorValuedRidge(outputs, Decomposable("rbf", "covariance", identity=0.1)).fit(X, Y)
    assert ridge.score(X, Y) > 0.8
    assert ridge.preimages(X).exact.all()
    ridge.save(tmp_path / "ridge.slm")
    again = structlearn.load(tmp_path / "ridge.slm")
    assert again.predict(X) == ridge.predict(X) == ridge.preimages(X).outputs
    assert again.score(X, Y, sample_weight=np.arange(len(X))) == ridge.score(X, Y, sample_weight=np.arange(len(X)))
    assert ridge.decision_function(X).shape == (ridge.basis_.shape[0], ridge.outputs_.n_coordinates())


@all_cases
def test_examples_are_left_out_whole(outputs, X, Y):
    # Twice, so that no column and no label is lost with an example.
    X, Y, lam = [*X[:6]] * 2, [*Y[:6]] * 2, 0.02
    ridge = VectorValuedRidge(outputs, RBF(0.5), lam=[lam, 2 * lam]).fit(X, Y)
    sizes = np.diff(ridge._read(X, reset=False).offsets)
    n, errors = int(sizes.sum()), []
    for i in range(len(X)):
        rest = [j for j in range(len(X)) if j != i]
        again = VectorValuedRidge(outputs, RBF(0.5), lam=lam * n / (n - sizes[i]))
        again.fit([X[j] for j in rest], [Y[j] for j in rest])
        read = again._read([X[i]], reset=False)
        missed = again.outputs_.targets([Y[i]], read.places) - again.decision_function([X[i]])
        errors.append((missed**2).sum())
    assert ridge.left_out_[0]["error"] == pytest.approx(sum(errors) / n, rel=1e-6)


def test_pairs_at_edges_decide_where_nodes_do_not():
    path = [(0, 1), (1, 2)]
    X = [(np.array([[1.0, 0.0], [0.0, 0.0], [1.0, 0.0]]), path), (np.array([[0.0, 1.0], [0.0, 0.0], [0.0, 1.0]]), path)]
    Y = [["a", "a", "a"], ["b", "b", "b"]]
    ridge = VectorValuedRidge(GraphOutputs(2.0), RBF(1.0), lam=1e-3).fit(X * 3, Y * 3)
    assert ridge.predict(X) == Y
    alone = VectorValuedRidge(GraphOutputs(0.0), RBF(1.0), lam=1e-3).fit(X * 3, Y * 3)
    assert alone.score(X, Y) < 1.0


def test_longer_sequences_and_larger_inputs_than_any_of_training():
    ridge = VectorValuedRidge(DependencyTreeOutputs(), "linear", lam=0.01).fit(*CASES["trees"][1:])
    assert ridge.predict([arcs(["D", "N", "V", "D", "N"])]) == [[(2, "d"), (3, "s"), (0, "r"), (5, "d"), (3, "s")]]
    parser = VectorValuedRidge(TreeOutputs(), "linear", lam=0.01).fit(*CASES["parse_trees"][1:])
    tree = parse_tree("(S (NP (D D) (N N)) (VP (V V) (NP (D D) (N N))))")
    assert parser.predict([spans(["D", "N", "V", "D", "N"])]) == [tree]
    tokens = [np.eye(2), np.eye(2)[::-1]]
    tagger = VectorValuedRidge(LabelSequenceOutputs(), "linear", lam=0.01).fit(tokens, [["a", "b"], ["b", "a"]])
    assert tagger.predict([np.eye(2)[[0, 1, 0, 1, 0, 1, 0]]]) == [list("abababa")]


def test_inputs_without_rows_have_empty_outputs():
    ridge = VectorValuedRidge(*CASES["matchings"][:1], "rbf", lam=0.1).fit(*CASES["matchings"][1:])
    width = ridge.n_features_in_
    assert ridge.predict([np.ones((0, 3, width)), np.ones((2, 0, width))]) == [(), ()]
    parser = VectorValuedRidge(DependencyTreeOutputs(), "linear", lam=0.01).fit(*CASES["trees"][1:])
    assert parser.predict([arcs([]), arcs(["V"])]) == [[], [(0, "r")]]


@pytest.mark.parametrize(
    ("name", "X", "message"),
    [
        ("matchings", [np.ones((2, 2, 9))], "X has 9 features a pair but training had"),
        ("matchings", [[[{"a": 1.0}]]], "X has features by name, but training had columns of numbers"),
        ("trees", [np.ones((3, 2, 4))], "X has no names of features, but training had features by name"),
        (
            "parse_trees",
            [{"tokens": ["V"], "features": np.ones((1, 1, 4))}],
            "X has no names of features, but training",
        ),
        ("graphs", [(np.ones((2, 5)), [])], "X has 5 features a node but training had 2"),
        ("graphs", [([{"a": 1.0}, {"b": 1.0}], [])], "X has features by name, but training had columns of numbers"),
        ("graphs", [(np.array([[np.nan, 1.0]]), [])], r"X\[0\]\[0, 0\] is nan"),
    ],
)
def test_other_inputs_than_those_of_training_are_refused(name, X, message):
    outputs, known, Y = CASES[name]
    ridge = VectorValuedRidge(outputs, "linear", lam=0.1).fit(known, Y)
    with pytest.raises(ValueError, match=message):
        ridge.predict(X)


def test_a_kernel_of_strings_has_no_rows():
    for outputs, X, Y in CASES.values():
        with pytest.raises(ValueError, match="needs a kernel of rows of features"):
            VectorValuedRidge(outputs, Spectrum(2)).fit(X, Y)
