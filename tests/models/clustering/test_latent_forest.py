from __future__ import annotations

import re
from itertools import combinations, pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st

import structlearn
from structlearn import LatentStructuralSVM
from structlearn.data import ItemPairs, to_clusters, to_labels
from structlearn.models import LatentForest
from structlearn.models.clustering.latent_forest import LatentForestProblem
from structlearn.models.clustering.pairs import PairSpec
from structlearn.solvers import BlockCoordinate, ConcaveConvex, OneSlack
from structlearn.waist import Scaling
from tests.estimators.test_checkpoint import StopAt
from tests.models.clustering.enumerated_forests import Links, components, documents, forests, score

MARGIN = Scaling("margin", "linear")
ONE = np.array([0])
weights = st.lists(st.integers(-3, 3).map(float), min_size=2, max_size=2).map(np.array)


def bound(x: ItemPairs, y: Any = None, r: float = 1.0) -> LatentForestProblem:
    return LatentForest(r=r).bind(PairSpec(2), [x], None if y is None else [y])


def inside(links: Links, labels: tuple[int, ...]) -> int:
    return sum(labels[i] == labels[j] for i, j in links)


def loss(x: ItemPairs, labels: tuple[int, ...], links: Links, r: float) -> float:
    """n − k − Σ l, with the clusters that the pairs of the example connect."""
    within = [(i, j) for i, j in x.pairs if labels[i] == labels[j]]
    k = len(set(components(x.n_items, within)))
    right = inside(links, labels)
    return x.n_items - k - right + r * (len(links) - right)


@given(documents(), weights)
def test_predictions_are_heaviest_forests(document: tuple[ItemPairs, tuple[int, ...]], w: Any) -> None:
    x, _ = document
    problem = bound(x)
    outputs = problem.best(w, ONE)
    (links,) = problem.present_latent(outputs)
    assert score(x, links, w) == max(score(x, h, w) for h in forests(x.n_items, x.pairs))
    assert tuple(problem.present(outputs)[0]) == components(x.n_items, links)


@given(documents(), weights, st.sampled_from([0.01, 0.5, 1.0, 2.0]))
def test_the_most_violating_forest_agrees_with_enumeration(
    document: tuple[ItemPairs, tuple[int, ...]], w: Any, r: float
) -> None:
    x, y = document
    problem = bound(x, y, r)
    planes = problem.oracle(w, ONE, MARGIN)
    (links,) = problem.present_latent(planes.outputs)
    assert planes.losses[0] == pytest.approx(loss(x, y, links, r))
    completed = [h for h in forests(x.n_items, x.pairs) if loss(x, y, h, r) == 0.0]
    best = max(score(x, h, w) + loss(x, y, h, r) for h in forests(x.n_items, x.pairs))
    assert planes.bounds[0] == pytest.approx(best - max(score(x, h, w) for h in completed))
    assert planes.bounds[0] >= -1e-9


@given(documents(), weights)
def test_completions_are_the_heaviest_forests_of_loss_zero(document: tuple[ItemPairs, tuple[int, ...]], w: Any) -> None:
    x, y = document
    problem = bound(x, y, 0.5)
    completion = problem.complete(w, ONE)
    (links,) = problem.present_latent(completion)
    possible = [h for h in forests(x.n_items, x.pairs) if loss(x, y, h, 0.5) == 0.0]
    assert links in possible
    assert score(x, links, w) == max(score(x, h, w) for h in possible)
    assert problem.output_losses(ONE, completion)[0] == 0.0


@given(documents(), st.sampled_from([0.01, 1.0]))
def test_the_loss_is_nowhere_negative_and_zero_for_one_clustering_only(
    document: tuple[ItemPairs, tuple[int, ...]], r: float
) -> None:
    x, y = document
    problem = bound(x, y, r)
    achievable = components(x.n_items, [(i, j) for i, j in x.pairs if y[i] == y[j]])
    for w in np.random.default_rng(0).normal(size=(8, 2)):
        outputs = problem.best(w, ONE)
        (found,) = problem.output_losses(ONE, outputs)
        (links,) = problem.present_latent(outputs)
        assert found == pytest.approx(loss(x, y, links, r))
        assert found >= 0.0
        assert (found == 0.0) == (components(x.n_items, links) == achievable)


@given(documents(), st.sampled_from([0.01, 1.0, 3.0]))
def test_the_greatest_loss_agrees_with_enumeration(document: tuple[ItemPairs, tuple[int, ...]], r: float) -> None:
    x, y = document
    most = max(loss(x, y, h, r) for h in forests(x.n_items, x.pairs))
    assert bound(x, y, r).max_losses()[0] == pytest.approx(most)


@given(documents(), weights, st.integers(0, 5))
def test_rows_are_differences_of_sums_of_features(
    document: tuple[ItemPairs, tuple[int, ...]], w: Any, seed: int
) -> None:
    x, y = document
    problem = bound(x, y)
    drawn = problem.random_completions(np.random.default_rng(seed))
    decoded = problem.loss_augmented(w, ONE)
    rows = problem.between(ONE, drawn, decoded)
    (left,), (right,) = problem.present_latent(drawn), problem.present_latent(decoded)
    units = np.eye(2)
    expected = [score(x, left, unit) - score(x, right, unit) for unit in units]
    assert rows.dot(units[0]).tolist() + rows.dot(units[1]).tolist() == expected
    assert float(np.linalg.norm(expected)) <= problem.radii()[0] + 1e-9
    assert loss(x, y, left, 1.0) == 0.0


def points(*places: float) -> ItemPairs:
    gaps = [abs(a - b) for a, b in combinations(places, 2)]
    return ItemPairs(len(places), [[1.0, gap, gap**2] for gap in gaps])


def drawn_points(seed: int, n: int = 20) -> tuple[list[ItemPairs], list[list[int]]]:
    random = np.random.default_rng(seed)
    X, Y = [], []
    for _ in range(n):
        labels = random.integers(0, 3, size=int(random.integers(3, 9)))
        X.append(points(*(4.0 * labels + random.normal(size=len(labels)))))
        Y.append(labels.tolist())
    return X, Y


@pytest.mark.parametrize("carry_over", [True, False])
@pytest.mark.parametrize("inner", [BlockCoordinate(), OneSlack()])
def test_the_objective_never_rises_between_completions(inner: Any, carry_over: bool) -> None:
    X, Y = drawn_points(3)
    svm = LatentStructuralSVM(LatentForest(), C=50, solver=ConcaveConvex(inner=inner, carry_over=carry_over)).fit(X, Y)
    values = [record["primal"] for record in svm.history_]
    assert all(after <= before * (1 + 1e-9) for before, after in pairwise(values))
    assert svm.history_[-1]["completion"] >= 2
    assert svm.converged_
    assert svm.stationarity_ <= 1e-3


def test_learning_starts_from_chains_in_the_order_of_the_items() -> None:
    problem = LatentForest().bind(PairSpec(3), [points(0, 1, 2, 3, 4)], [["a", "b", "a", "b", "a"]])
    start = problem.start(np.random.default_rng(0))
    assert start.completions is not None
    assert problem.present_latent(start.completions) == [((0, 2), (1, 3), (2, 4))]


def test_a_smaller_price_of_wrong_links_makes_more_of_them() -> None:
    X, Y = drawn_points(5, 30)
    links = []
    for r in (1.0, 0.01):
        svm = LatentStructuralSVM(LatentForest(r=r), C=100).fit(X, Y)
        links.append(sum(map(len, svm.predict_latent(X))))
    assert links[1] > links[0]


def test_items_on_their_own_and_empty_examples_are_left_as_they_are() -> None:
    X, Y = drawn_points(1, 5)
    alone, none = ItemPairs(1, np.empty((0, 3))), ItemPairs(0, np.empty((0, 3)))
    with_both = LatentStructuralSVM(LatentForest(), C=10).fit([*X, alone, none], [*Y, [7], []], sample_weight=[1] * 7)
    without = LatentStructuralSVM(LatentForest(), C=10 * 5 / 7).fit(X, Y)
    np.testing.assert_allclose(with_both.w_, without.w_, rtol=0.05, atol=1e-3)
    predicted = with_both.predict([alone, none])
    assert [labels.tolist() for labels in predicted] == [[0], []]
    assert with_both.score([alone, none], [[0], []]) == 1.0


def test_both_forms_of_clusterings_and_of_features_train_the_same_weights() -> None:
    X, Y = drawn_points(2, 6)
    fits = [
        LatentStructuralSVM(LatentForest(), C=10).fit(X, Y),
        LatentStructuralSVM(LatentForest(), C=10).fit(X, [to_clusters(y) for y in Y]),
        LatentStructuralSVM(LatentForest(), C=10).fit(
            [
                ItemPairs(x.n_items, sp.csr_array(np.array(x.features)), list(combinations(range(x.n_items), 2)))
                for x in X
            ],
            Y,
        ),
    ]
    np.testing.assert_array_equal(fits[0].w_, fits[1].w_)
    np.testing.assert_array_equal(fits[0].w_, fits[2].w_)


@given(st.integers(1, 4))
@settings(max_examples=4)
def test_answers_do_not_depend_on_the_number_of_threads(n_threads: int) -> None:
    X, Y = drawn_points(9)
    problem = LatentForest().bind(PairSpec(3), X, Y)
    w, everything = np.array([3.0, -1.0, 0.1]), np.arange(len(X))
    alone = problem.loss_augmented(w, everything)
    problem.n_threads = n_threads
    for left, right in zip(alone, problem.loss_augmented(w, everything), strict=True):
        np.testing.assert_array_equal(left, right)


def test_a_saved_model_predicts_the_same(tmp_path: Path) -> None:
    X, Y = drawn_points(4)
    svm = LatentStructuralSVM(LatentForest(r=0.5), C=10).fit(X, Y)
    svm.save(tmp_path / "clusters.slm")
    loaded = structlearn.load(tmp_path / "clusters.slm")
    assert loaded.model.r == 0.5
    assert all(map(np.array_equal, svm.predict(X), loaded.predict(X)))


@pytest.mark.parametrize("stop_at", [3, 8])
def test_a_stopped_fit_goes_on_exactly_where_it_was(stop_at: int, tmp_path: Path) -> None:
    X, Y = drawn_points(3)

    def svm() -> LatentStructuralSVM:
        return LatentStructuralSVM(LatentForest(), C=50, random_state=0)

    whole = svm().fit(X, Y)
    assert whole.n_iter_ > stop_at
    svm().set_callbacks(StopAt(stop_at)).fit(X, Y, checkpoint=tmp_path / "c")
    continued = svm().fit(X, Y, checkpoint=tmp_path / "c")
    np.testing.assert_array_equal(continued.w_, whole.w_)


def test_weights_are_shown_by_name() -> None:
    X, Y = drawn_points(4)
    svm = LatentStructuralSVM(LatentForest(), C=10).fit(X, Y)
    top = svm.top_weights(1, feature_names=["constant", "distance", "its square"])
    assert "together" in str(top)
    assert "+" in str(top)


def test_predictions_are_measured() -> None:
    measures = LatentForest().measures(None, [[0, 0, 1], [0, 1]], [[0, 0, 1], [[0, 1]]])
    assert measures.right is not None
    assert measures.right.tolist() == [True, False]
    assert measures.scores()["muc_recall"] == 1.0


def test_given_forests_are_where_learning_begins() -> None:
    X, Y = [points(0, 1, 2, 9)], [[0, 0, 0, 1]]
    problem = LatentForest().bind(PairSpec(3), X, Y)
    for h in [((0, 1), (0, 2)), ((2, 1), (1, 0))]:
        expected = tuple(sorted(tuple(sorted(link)) for link in h))
        assert problem.present_latent(problem.completions_of([h])) == [expected]
    svm = LatentStructuralSVM(LatentForest(), init=[((0, 1), (0, 2))], C=10).fit(X, Y)
    assert [labels.tolist() for labels in svm.predict(X)] == [[0, 0, 0, 1]]


@pytest.mark.parametrize(
    ("h", "message"),
    [
        ([(0, 1)], "latent part 0 has 1 links; its clusters need 2"),
        ([(0, 1), (1, 2), (0, 2)], "latent part 0 has a cycle of links"),
        ([(0, 1), (1, 3)], "latent part 0 has the link (1, 3), whose items are in different clusters"),
        ([(0, 1), (1, 9)], "latent part 0 has the link (1, 9), which is no pair of the example"),
    ],
)
def test_forests_that_do_not_fit_are_refused(h: Any, message: str) -> None:
    problem = LatentForest().bind(PairSpec(3), [points(0, 1, 2, 3)], [[0, 0, 0, 1]])
    with pytest.raises(ValueError, match=re.escape(message)):
        problem.completions_of([h])


@pytest.mark.parametrize(
    ("x", "message"),
    [
        (ItemPairs(3, [[1.0]]), "X[1] has 3 pairs, but its features have 1 rows"),
        (ItemPairs(2, [[1.0, 2.0]]), "the pairs of X[1] have 2 features, but training had 1"),
        (ItemPairs(2, [1.0]), "the features of X[1] have 1 dimensions"),
        (ItemPairs(2, [[np.nan]]), "X[1].features[0, 0] is nan"),
        (ItemPairs(-1, [[1.0]]), "X[1] has -1 items"),
        (ItemPairs(2, [[1.0]], [(0, 2)]), "pair 0 of X[1] is (0, 2); there are 2 items"),
        (ItemPairs(2, [[1.0]], [(1, 1)]), "pair 0 of X[1] is (1, 1)"),
        (ItemPairs(2, [[1.0], [2.0]], [(0, 1), (1, 0)]), "X[1] has the pair (0, 1) twice"),
        (ItemPairs(2, [[1.0]], [(0, 1)], [1]), "the kinds of X[1] must be whole numbers from 0 to 0"),
        (ItemPairs(2, [[1.0]], [(0, 1)], [0, 0]), "X[1] has 1 pairs, but kinds of shape (2,)"),
        (ItemPairs(2, [[1.0]], [(0.5, 1.5)]), "the pairs of X[1] must be two whole numbers each"),
        ("ab", "X[1] is a str; expected ItemPairs"),
    ],
)
def test_bad_inputs_are_named(x: Any, message: str) -> None:
    with pytest.raises(ValueError, match=re.escape(message)):
        LatentForest().bind(PairSpec(1), [ItemPairs(2, [[1.0]]), x])


@pytest.mark.parametrize(
    ("y", "message"),
    [
        ([0], "Y[0] has 1 labels, but there are 3 items"),
        ([[0, 1], [1, 2]], "Y[0] has the item 1 twice, in clusters 0 and 1"),
        ([[0, 3]], "Y[0][0] has the item 3, but items are numbered 0 to 2"),
        ([0, 0, float("nan")], "Y[0][2] is nan; expected a label"),
        ("aab", "Y[0] is 'aab'; expected a label for every item"),
    ],
)
def test_bad_clusterings_are_named(y: Any, message: str) -> None:
    with pytest.raises(ValueError, match=re.escape(message)):
        LatentForest().bind(PairSpec(3), [points(0, 1, 2)], [y])


def test_other_formulations_and_prices_are_refused() -> None:
    X, Y = drawn_points(1, 3)
    with pytest.raises(ValueError, match=r"use rescaling='margin' with slack='linear'"):
        LatentStructuralSVM(LatentForest(), rescaling="slack").fit(X, Y)
    with pytest.raises(ValueError, match=r"r is 0; it must be a positive number"):
        LatentStructuralSVM(LatentForest(r=0)).fit(X, Y)
    with pytest.raises(ValueError, match=r"X has 3 examples but Y has 2"):
        LatentStructuralSVM(LatentForest()).fit(X, Y[:2])


@given(st.lists(st.integers(0, 4), max_size=8))
def test_labels_and_clusters_are_inverse_to_one_another(labels: list[int]) -> None:
    canonical = to_labels(np.array(labels, np.int64), len(labels))
    np.testing.assert_array_equal(to_labels(to_clusters(canonical), len(labels)), canonical)
    assert canonical.tolist() == [list(dict.fromkeys(labels)).index(label) for label in labels]
