from __future__ import annotations

from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import structlearn
from structlearn import StructuralSVM
from structlearn.data import ItemPairs
from structlearn.models import CorrelationClustering
from structlearn.models.clustering.correlation_clustering import CorrelationClusteringProblem
from structlearn.models.clustering.pairs import PairSpec
from structlearn.waist import Scaling
from tests.models.clustering.enumerated_forests import clusterings, documents, score

MARGIN = Scaling("margin", "linear")
ONE = np.array([0])
weights = st.lists(st.integers(-3, 3).map(float), min_size=2, max_size=2).map(np.array)


def together(x: ItemPairs, labels: Any) -> list[tuple[int, int]]:
    return [(i, j) for i, j in x.pairs if labels[i] == labels[j]]


def loss(x: ItemPairs, y: Any, labels: Any) -> float:
    wrong = sum((y[i] == y[j]) != (labels[i] == labels[j]) for i, j in x.pairs)
    return wrong / max(len(x.pairs), 1)


def bound(x: ItemPairs, y: Any, decoder: Any) -> CorrelationClusteringProblem:
    return CorrelationClustering(decoder).bind(PairSpec(2), [x], [y])


def agglomerated(x: ItemPairs, w: Any) -> float:
    """The score that joining the two closest clusters, again and again, comes to."""
    clusters = [[i] for i in range(x.n_items)]

    def between(a: list[int], b: list[int]) -> float:
        return score(x, [(i, j) for i, j in x.pairs if (i in a and j in b) or (i in b and j in a)], w)

    while len(clusters) > 1:
        a, b = max(combinations(clusters, 2), key=lambda two: between(*two))
        if between(a, b) <= 0.0:
            break
        clusters = [c for c in clusters if c not in (a, b)] + [a + b]
    return sum(score(x, [(i, j) for i, j in x.pairs if i in c and j in c], w) for c in clusters)


@given(documents(), st.lists(st.floats(-3, 3), min_size=2, max_size=2).map(np.array))
def test_the_greedy_decoder_joins_the_closest_clusters(document: tuple[ItemPairs, tuple[int, ...]], w: Any) -> None:
    x, y = document
    # Without ties there is one answer only.
    x = x._replace(features=np.random.default_rng(len(y)).normal(size=(len(x.pairs), 2)), kinds=None)
    (labels,) = bound(x, y, "greedy").best(w, ONE)
    assert score(x, together(x, labels), w) == pytest.approx(agglomerated(x, w))


@given(documents(), weights)
@settings(max_examples=40)
def test_decoders_come_near_to_the_best_of_all_clusterings(document: tuple[ItemPairs, tuple[int, ...]], w: Any) -> None:
    x, y = document
    best = max(score(x, together(x, labels), w) for labels in clusterings(x.n_items))
    found = {}
    for decoder in ("greedy", "lp"):
        (labels,) = bound(x, y, decoder).best(w, ONE)
        found[decoder] = score(x, together(x, labels), w)
    assert 0.0 <= found["greedy"] <= found["lp"] <= best


@given(documents(), weights, st.sampled_from(["greedy", "lp"]))
@settings(max_examples=40)
def test_violations_are_those_of_real_clusterings_and_never_negative(
    document: tuple[ItemPairs, tuple[int, ...]], w: Any, decoder: str
) -> None:
    x, y = document
    planes = bound(x, y, decoder).oracle(w, ONE, MARGIN)
    labels = planes.outputs[0]
    violation = loss(x, y, labels) + score(x, together(x, labels), w) - score(x, together(x, y), w)
    assert planes.losses[0] == pytest.approx(loss(x, y, labels))
    assert planes.bounds[0] == pytest.approx(violation)
    assert planes.bounds[0] >= -1e-9


def test_clusters_of_points_are_learnt(tmp_path: Path) -> None:
    random = np.random.default_rng(0)
    X, Y = [], []
    for _ in range(20):
        labels = random.integers(0, 3, size=8)
        places = 5.0 * labels + random.normal(size=8)
        X.append(ItemPairs(8, [[1.0, abs(a - b)] for a, b in combinations(places, 2)]))
        Y.append(labels)
    for decoder in ("greedy", "lp"):
        svm = StructuralSVM(CorrelationClustering(decoder), C=100).fit(X, Y)
        assert svm.score(X, Y) > 0.95
        assert np.isnan(svm.duality_gap_)
    svm.save(tmp_path / "clusters.slm")
    loaded = structlearn.load(tmp_path / "clusters.slm")
    assert all(map(np.array_equal, svm.predict(X), loaded.predict(X)))


def test_large_examples_are_refused_by_the_linear_program() -> None:
    large = ItemPairs(101, np.ones((1, 1)), [(0, 1)])
    with pytest.raises(ValueError, match=r"X\[0\] has 101 items; decoder='lp' is for at most 100"):
        CorrelationClustering("lp").bind(PairSpec(1), [large])
    with pytest.raises(ValueError, match=r"decoder is 'best'; it may be 'greedy' or 'lp'"):
        CorrelationClustering("best").specify([large], [[0, 1]])  # type: ignore[arg-type]
