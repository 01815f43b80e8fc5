"""Dependency trees against all of them, and against other ways to count, to sum and to find them."""

from __future__ import annotations

from itertools import product
from math import comb, log
from typing import Any

import networkx as nx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from structlearn.data.dependency_trees import is_projective, tree_fault
from structlearn.inference import (
    best_dependency_tree,
    dependency_marginals,
    k_best_dependency_trees,
    projectivised,
    sample_dependency_trees,
)
from tests.inference.enumerated_dependency import labelled, siblings, trees


class Sentence:
    """Scores, options, and all trees that are not forbidden with what they score."""

    def __init__(self, scores: Any, beside: Any = None, projective: bool = True, single_root: bool = True):
        self.given = (scores,) if beside is None else (scores, beside)
        self.options = {"projective": projective, "single_root": single_root}
        self.scores, self.beside, self.n = scores, beside, len(scores) - 1
        self.heads, tokens = trees(self.n, projective, single_root), np.arange(1, self.n + 1)
        self.siblings = siblings(self.n, single_root) if beside is not None else None
        arcs: tuple[Any, ...] = self.heads, tokens
        outputs = self.heads
        if scores.ndim == 3:
            if beside is not None:
                self.siblings, _ = labelled(self.siblings, scores.shape[2])
            self.heads, labels = labelled(self.heads, scores.shape[2])
            arcs, outputs = (self.heads, tokens, labels), np.stack([self.heads, labels], axis=-1)
        self.parts = [arcs] if beside is None else [arcs, (self.heads, self.siblings, tokens)]
        values = sum(array[part].sum(axis=1) for array, part in zip(self.given, self.parts, strict=True))
        possible = values > -np.inf
        self.values, self.outputs = values[possible], outputs[possible]
        self.parts = [tuple(np.broadcast_arrays(*part)) for part in self.parts]
        self.parts = [tuple(index[possible] for index in part) for part in self.parts]
        self.value_of = dict(zip(map(bytes_of, self.outputs), self.values.tolist(), strict=True))

    def log_z(self) -> float:
        return float(np.logaddexp.reduce(self.values))

    def marginals(self) -> list[Any]:
        found = [np.zeros(array.shape) for array in self.given]
        for array, part in zip(found, self.parts, strict=True):
            np.add.at(array, part, np.exp(self.values - self.log_z())[:, None])
        return found


def bytes_of(output: Any) -> bytes:
    return np.ascontiguousarray(output, np.int32).tobytes()


@st.composite
def sentences(draw: st.DrawFn, scales: Any = (1.0, 300.0)) -> Sentence:
    """Up to six tokens, with ties, forbidden arcs, labels, siblings, and scores that exponentials cannot hold."""
    n_labels = draw(st.sampled_from([0, 0, 1, 2]))
    n = draw(st.integers(1, 6 if n_labels < 2 else 3))
    projective, single_root = draw(st.booleans()), draw(st.booleans())
    random = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    whole, scale = draw(st.booleans()), draw(st.sampled_from(scales))

    def scores(*shape: int, forbidden: float) -> Any:
        drawn = random.integers(-2, 3, shape).astype(float) if whole else scale * random.normal(size=shape)
        drawn[random.uniform(size=shape) < forbidden] = -np.inf
        return drawn

    labels = (n_labels,) if n_labels else ()
    arcs = scores(n + 1, n + 1, *labels, forbidden=draw(st.sampled_from([0.0, 0.2, 0.6])))
    beside = None
    if projective and draw(st.booleans()):
        beside = scores(n + 1, n + 1, n + 1, forbidden=draw(st.sampled_from([0.0, 0.1])))
    return Sentence(arcs, beside, projective, single_root)


@given(sentences(), st.integers(1, 60))
@settings(max_examples=150, deadline=None)
def test_the_best_trees_agree_with_enumeration(sentence: Sentence, k: int) -> None:
    scores, *beside = sentence.given
    found = k_best_dependency_trees(scores, k, *beside, **sentence.options)
    best = np.sort(sentence.values)[::-1].tolist()
    assert [value for _, value in found] == pytest.approx(best[:k], rel=1e-11, abs=1e-9)
    assert len({bytes_of(tree) for tree, _ in found}) == len(found)
    for tree, value in found:
        assert sentence.value_of[bytes_of(tree)] == pytest.approx(value, rel=1e-11, abs=1e-9)
    if not best:
        with pytest.raises(ValueError, match=f"no tree of these {sentence.n} tokens"):
            best_dependency_tree(*sentence.given, **sentence.options)
        return
    tree, value = best_dependency_tree(*sentence.given, **sentence.options)
    assert value == pytest.approx(best[0], rel=1e-11, abs=1e-9)
    assert sentence.value_of[bytes_of(tree)] == pytest.approx(value, rel=1e-11, abs=1e-9)


@given(sentences())
@settings(max_examples=150, deadline=None)
def test_sums_agree_with_enumeration(sentence: Sentence) -> None:
    found = dependency_marginals(*sentence.given, **sentence.options)
    if not len(sentence.values):
        assert found.log_z == -np.inf
        assert not found.arcs.any()
        assert found.entropy == 0.0
        return
    log_z = sentence.log_z()
    assert found.log_z == pytest.approx(log_z, rel=1e-12, abs=1e-9)
    for name, expected in zip(("arcs", "siblings"), sentence.marginals(), strict=False):
        np.testing.assert_allclose(getattr(found, name), expected, atol=1e-9)
    p = np.exp(sentence.values - log_z)
    assert found.entropy == pytest.approx(-np.sum(p[p > 0] * np.log(p[p > 0])), abs=1e-8 * max(1.0, abs(log_z)))


@given(sentences(scales=(100.0, 1000.0)))
@settings(max_examples=60, deadline=None)
def test_small_probabilities_of_all_trees_are_precise(sentence: Sentence) -> None:
    if len(sentence.values) and not sentence.options["projective"]:
        found, (expected,) = dependency_marginals(*sentence.given, **sentence.options), sentence.marginals()
        seen = expected > 1e-250
        np.testing.assert_allclose(found.arcs[seen], expected[seen], rtol=1e-8)


@given(sentences(scales=(1.0,)), st.data())
@settings(max_examples=80, deadline=None)
def test_what_is_known_of_a_tree_leaves_those_that_have_it(sentence: Sentence, data: st.DataObject) -> None:
    n, with_labels = sentence.n, sentence.scores.ndim == 3
    known: list[Any] = []
    for m in range(1, n + 1):
        head = data.draw(st.sampled_from([None, *(h for h in range(n + 1) if h != m)]))
        label = data.draw(st.sampled_from([None, *range(sentence.scores.shape[2])])) if with_labels else None
        known.append(data.draw(st.sampled_from([head, (head, label), None])))
    heads, labels = (sentence.outputs[..., 0], sentence.outputs[..., 1]) if with_labels else (sentence.outputs, None)
    kept = np.ones(len(heads), bool)
    for m, one in enumerate(known):
        head, label = one if isinstance(one, tuple) else (one, None)
        kept &= (head is None) | (heads[:, m] == head)
        kept &= (label is None) | (labels is not None and labels[:, m] == label)
    found = dependency_marginals(*sentence.given, **sentence.options, allowed=known)
    if not kept.any():
        assert found.log_z == -np.inf
        return
    assert found.log_z == pytest.approx(np.logaddexp.reduce(sentence.values[kept]), rel=1e-11, abs=1e-9)
    tree, value = best_dependency_tree(*sentence.given, **sentence.options, allowed=known)
    assert value == pytest.approx(sentence.values[kept].max(), rel=1e-11, abs=1e-9)
    assert bytes_of(tree) in set(map(bytes_of, sentence.outputs[kept]))
    scores, *beside = sentence.given
    values = [value for _, value in k_best_dependency_trees(scores, 5, *beside, **sentence.options, allowed=known)]
    assert values == pytest.approx(np.sort(sentence.values[kept])[::-1][:5].tolist(), rel=1e-11, abs=1e-9)


@pytest.mark.parametrize("single_root", [True, False])
@pytest.mark.parametrize("kind", ["projective", "siblings", "crossing", "labels", "far from the root"])
def test_samples_follow_the_distribution(kind: str, single_root: bool) -> None:
    random = np.random.default_rng(0)
    n_labels = 2 if kind == "labels" else 0
    scores = random.normal(size=(4, 4, 2) if n_labels else (4, 4))
    beside = random.normal(size=(4, 4, 4)) if kind == "siblings" else None
    if kind == "far from the root":
        # Walks along heads go round a million times before they come to the root, or to the third token.
        scores[1, 2] += 15.0
        scores[2, 1] += 15.0
    sentence = Sentence(scores, beside, kind in ("projective", "siblings"), single_root)
    scores, *more = sentence.given
    drawn = sample_dependency_trees(scores, 6000, *more, **sentence.options, random_state=0)
    counts = dict.fromkeys(sentence.value_of, 0)
    for tree in drawn:
        counts[bytes_of(tree)] += 1
    share = np.exp(sentence.values - sentence.log_z())
    assert [count / 6000 for count in counts.values()] == pytest.approx(share.tolist(), abs=0.03)
    again = sample_dependency_trees(scores, 6000, *more, **sentence.options, random_state=0)
    np.testing.assert_array_equal(drawn, again)


def test_a_single_root_costs_no_precision() -> None:
    random = np.random.default_rng(0)
    for _ in range(50):
        # Sums of four are whole numbers just below those that doubles cannot tell apart.
        scores = (random.integers(0, 2, (5, 5)) + 2**50 * random.integers(0, 2, (5, 5))).astype(float)
        sentence = Sentence(scores, None, False, True)
        assert best_dependency_tree(scores, projective=False)[1] == sentence.values.max()


@pytest.mark.parametrize("n", [10, 40])
def test_the_best_of_all_trees_agrees_with_networkx(n: int) -> None:
    random = np.random.default_rng(n)
    scores = random.normal(size=(n + 1, n + 1))
    scores[random.uniform(size=scores.shape) < 0.5] = -np.inf
    scores[0] = -20.0
    graph = nx.DiGraph()
    graph.add_weighted_edges_from(
        (h, m, scores[h, m]) for h in range(n + 1) for m in range(1, n + 1) if h != m and scores[h, m] > -np.inf
    )
    expected = nx.maximum_spanning_arborescence(graph).size(weight="weight")
    assert best_dependency_tree(scores, projective=False, single_root=False)[1] == pytest.approx(expected)


@pytest.mark.parametrize("n", [1, 2, 17, 60])
def test_all_trees_are_as_many_as_is_known(n: int) -> None:
    zeros = np.zeros((n + 1, n + 1))
    number = {
        (False, True): (n - 1) * log(n),  # Cayley
        (False, False): (n - 1) * log(n + 1),
        (True, True): log(comb(3 * n - 2, n - 1)) - log(n),  # noncrossing trees
        (True, False): log(comb(3 * n, n)) - log(2 * n + 1),
    }
    for (projective, single_root), expected in number.items():
        options = {"projective": projective, "single_root": single_root}
        found = dependency_marginals(zeros, **options)
        assert found.log_z == pytest.approx(expected, rel=1e-12, abs=1e-12)
        assert found.entropy == pytest.approx(expected, rel=1e-10, abs=1e-10)
        np.testing.assert_allclose(found.arcs[:, 1:].sum(axis=0), 1.0)
        if projective:
            beside = dependency_marginals(zeros, np.zeros((n + 1,) * 3), **options)
            assert beside.log_z == pytest.approx(expected, rel=1e-12, abs=1e-12)
            np.testing.assert_allclose(beside.arcs, found.arcs, atol=1e-12)


@pytest.mark.parametrize("single_root", [True, False])
@pytest.mark.parametrize("scale", [1.0, 10.0, 1000.0])
def test_sums_over_all_trees_are_determinants(scale: float, single_root: bool) -> None:
    n = 50
    scores = scale * np.random.default_rng(0).normal(size=(n + 1, n + 1))
    found = dependency_marginals(scores, projective=False, single_root=single_root)
    np.testing.assert_allclose(found.arcs[:, 1:].sum(axis=0), 1.0)
    assert found.arcs[0].sum() == pytest.approx(1.0) or not single_root
    if scale == 1000.0:
        best = k_best_dependency_trees(scores, 30, projective=False, single_root=single_root)
        assert found.log_z == pytest.approx(np.logaddexp.reduce([value for _, value in best]), rel=1e-9)
        return
    weights = np.exp(scores - scores.max(axis=0))
    np.fill_diagonal(weights, 0.0)
    laplacian = np.diag(weights[1:, 1:].sum(axis=0)) - weights[1:, 1:]
    if single_root:  # Koo et al. 2007
        laplacian[0] = weights[0, 1:]
    else:
        laplacian += np.diag(weights[0, 1:])
    expected = np.linalg.slogdet(laplacian)[1] + scores.max(axis=0)[1:].sum()
    assert found.log_z == pytest.approx(expected, rel=1e-9)


@pytest.mark.parametrize("scale", [1.0, 300.0])
@pytest.mark.parametrize("core", [1, 2, 3])
def test_tokens_that_cannot_be_above_the_others_are_summed_apart(core: int, scale: float) -> None:
    random = np.random.default_rng(core)
    scores = scale * random.normal(size=(7, 7))
    first = random.permutation(np.arange(1, 7))[:core]
    scores[np.setdiff1d(np.arange(1, 7), first)[:, None], first] = -np.inf
    sentence = Sentence(scores, None, projective=False, single_root=True)
    found = dependency_marginals(scores, projective=False)
    assert found.log_z == pytest.approx(sentence.log_z(), rel=1e-12)
    np.testing.assert_allclose(found.arcs, sentence.marginals()[0], atol=1e-11)
    assert found.arcs[0, first].sum() == pytest.approx(1.0)


def test_plain_numbers_and_logarithms_find_the_same() -> None:
    random = np.random.default_rng(0)
    scores = random.normal(size=(13, 13))
    # An arc that no tree is likely to have makes the range too large for plain numbers.
    far = scores.copy()
    far[3, 4] = -2000.0
    never = scores.copy()
    never[3, 4] = -np.inf
    for single_root in (True, False):
        plain, logs = (dependency_marginals(one, projective=False, single_root=single_root) for one in (never, far))
        assert plain.log_z == pytest.approx(logs.log_z, rel=1e-13)
        np.testing.assert_allclose(plain.arcs, logs.arcs, rtol=1e-11, atol=1e-300)


def test_an_empty_sentence_has_one_tree() -> None:
    for projective in (True, False):
        tree, score = best_dependency_tree([[0.0]], projective=projective)
        assert (tree.shape, score) == ((0,), 0.0)
        assert dependency_marginals([[0.0]], projective=projective).log_z == 0.0


def test_scores_to_the_root_and_of_a_token_with_itself_play_no_part() -> None:
    scores = np.zeros((3, 3))
    scores[:, 0] = np.nan
    np.fill_diagonal(scores, np.inf)
    assert best_dependency_tree(scores, projective=False)[1] == 0.0
    assert dependency_marginals(scores).arcs[1, 1] == 0.0


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"scores": np.zeros((3, 2))}, r"scores has shape \(3, 2\); expected \(n \+ 1, n \+ 1\)"),
        ({"scores": np.zeros((3, 3, 0))}, r"scores has shape \(3, 3, 0\); expected"),
        ({"scores": [[0.0, 0.0, np.nan], [0.0] * 3, [0.0] * 3]}, r"scores\[0, 2\] is nan, of token 2 and head 0"),
        ({"scores": np.full((3, 3, 2), np.inf)}, r"scores\[0, 1, 0\] is inf, of token 1 and head 0"),
        ({"siblings": np.zeros((3, 3))}, r"siblings has shape \(3, 3\); expected \(3, 3, 3\)"),
        ({"siblings": np.zeros((3, 3, 3)), "projective": False}, "siblings need projective=True"),
        ({"allowed": [None]}, "allowed has 1 entries but there are 2 tokens"),
        ({"allowed": [1, None]}, r"allowed\[0\] has the head 1, of token 1"),
        ({"allowed": [None, 3]}, r"allowed\[1\] has the head 3, of token 2; heads are others of 0 to 2"),
        ({"allowed": [None, "root"]}, r"allowed\[1\] is 'root'; expected a head"),
        ({"allowed": [None, (0, 1)]}, r"allowed\[1\] has the label 1 but scores have no labels"),
        (
            {"scores": np.zeros((3, 3, 2)), "allowed": [(0, 2), None]},
            r"allowed\[0\] has the label 2 but labels are 0 to 1",
        ),
        ({"allowed": [0, 0]}, "no tree of these 2 tokens with one root is possible"),
        ({"scores": [[0.0, 0.0, -np.inf]] * 3}, "token 2 has no head"),
    ],
)
def test_what_does_not_fit_is_named(given: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        best_dependency_tree(**{"scores": np.zeros((3, 3)), **given})


def test_k_is_at_least_one() -> None:
    with pytest.raises(ValueError, match="k is 0"):
        k_best_dependency_trees(np.zeros((2, 2)), 0)


@pytest.mark.parametrize("n", [3, 4, 5])
def test_the_projectivised_tree_keeps_as_many_arcs_as_any_projective_tree_can(n):
    all_trees = [heads for heads in product(range(n + 1), repeat=n) if tree_fault(heads) is None]
    projective = np.array([heads for heads in all_trees if is_projective(heads)])
    single = (projective == 0).sum(axis=1) == 1
    for heads in all_trees[:: 1 if n < 5 else 7]:
        found = projectivised(heads)
        assert tree_fault(found) is None
        assert is_projective(found)
        able = projective[single] if heads.count(0) == 1 else projective
        assert np.sum(np.equal(found, heads)) == (able == heads).sum(axis=1).max()
        assert found.count(0) == 1 or heads.count(0) > 1


def test_arcs_that_cross_are_lifted_to_an_ancestor():
    # 2 → 5 crosses 3 → 1; the grandparent of 5 takes it.
    assert projectivised([3, 3, 0, 3, 2]) == [3, 3, 0, 3, 3]
