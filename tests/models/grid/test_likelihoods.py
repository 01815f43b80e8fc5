"""What stands for the likelihood of label images: the same as of graphs, whether or not edges are listed."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from structlearn.models import Graph, Grid
from structlearn.models.grid import summed_problem
from structlearn.models.grid.listed_problem import ListedGridProblem
from structlearn.models.grid.neighbours import contrast_scale
from structlearn.models.grid.problem import GridProblem
from tests.models.enumerated import bound
from tests.models.graph import plain_likelihoods
from tests.models.grid.enumerated_grid import EnumeratedGrid, networks

SUBSTITUTES = ["pseudo", "piecewise", "tree_reweighted", "belief_propagation"]
OPTIONS = [
    {"pairwise": "free"},
    {"pairwise": "symmetric", "neighbours": 8},
    {"pairwise": "potts", "contrast": True},
    {"pairwise": "free", "directions": True, "neighbours": 8, "contrast": True},
    {"pairwise": "symmetric", "directions": True},
    {"pairwise": None},
]


def images(random, n_labels, shapes=((3, 4), (1, 3), (2, 2), (3, 4))):
    X = [random.normal(size=(*shape, 2)) for shape in shapes]
    Y = [random.integers(n_labels, size=shape) for shape in shapes]
    # All labels occur, so that no class is left out.
    Y[0].ravel()[:n_labels] = np.arange(n_labels)
    return X, Y


def restricted(random, Y, n_labels):
    """Sets of labels that pixels may have, the true ones among them."""
    found = []
    for y in Y:
        sets = np.empty(y.shape, object)
        for place, label in np.ndenumerate(y):
            others = np.flatnonzero(random.uniform(size=n_labels) < 0.5).tolist()
            sets[place] = {int(label), *others} if random.uniform() < 0.8 else None
        found.append(sets)
    return found


def pair_of_problems(likelihood, options, engine, *, allowing=False, seed=0):
    """A `Grid`, the `Graph` that it is, and weights."""
    random = np.random.default_rng(seed)
    X, Y = images(random, 3)
    allowed = restricted(random, Y, 3) if allowing else None
    grid = Grid(classes=[0, 1, 2], likelihood=likelihood, engine=engine, **options)
    graph = Graph(classes=[0, 1, 2], likelihood=likelihood, engine=engine, pairwise=options["pairwise"])
    flat = [y.ravel().tolist() for y in Y]
    listed = None if allowed is None else [sets.ravel().tolist() for sets in allowed]
    N = networks(grid, X)
    found = grid.bind(grid.specify(X, Y), X, Y, allowed=allowed)
    twin = graph.bind(graph.specify(N, flat), N, flat, allowed=listed)
    assert found.n_features == twin.n_features
    return found, twin, random.normal(size=found.n_features)


@pytest.mark.parametrize("engine", ["auto", "dual_ascent"])
@pytest.mark.parametrize("allowing", [False, True])
@pytest.mark.parametrize("options", OPTIONS)
@pytest.mark.parametrize("likelihood", SUBSTITUTES)
def test_values_and_gradients_are_those_of_graphs(likelihood, options, allowing, engine):
    grid, graph, w = pair_of_problems(likelihood, options, engine, allowing=allowing)
    listed = engine == "auto" or options["pairwise"] is None
    assert type(grid) is (ListedGridProblem if listed else GridProblem)
    weight, slopes = np.array([1.0, 2.0, 0.5, 1.5]), np.zeros((2, len(w)))
    values = [each.log_losses(w, weight, slope) for each, slope in zip((grid, graph), slopes, strict=True)]
    np.testing.assert_allclose(values[0], values[1], atol=1e-6)
    np.testing.assert_allclose(slopes[0], slopes[1], atol=1e-5)


@pytest.mark.sample(4)
@pytest.mark.parametrize("options", [*OPTIONS[:3], pytest.param(OPTIONS[3], marks=pytest.mark.slow), *OPTIONS[4:]])
@pytest.mark.parametrize("allowing", [False, True])
@pytest.mark.parametrize("likelihood", SUBSTITUTES)
def test_gradients_are_those_of_finite_differences(likelihood, options, allowing):
    grid, _, w = pair_of_problems(likelihood, options, "dual_ascent", allowing=allowing, seed=1)
    weight, gradient = np.arange(1.0, 5.0), np.zeros(len(w))
    np.testing.assert_allclose(grid.log_losses(w, weight, gradient), grid.log_losses(w))
    for k in range(len(w)):
        step = 1e-4 * np.eye(len(w))[k]
        slope = weight @ (grid.log_losses(w + step) - grid.log_losses(w - step)) / 2e-4
        assert gradient[k] == pytest.approx(slope, abs=5e-5)


@pytest.mark.parametrize("likelihood", ["exact", "pseudo", "piecewise"])
@settings(max_examples=25)
@given(seed=st.integers(0, 2**32), options=st.sampled_from(OPTIONS), allowing=st.booleans())
def test_likelihoods_agree_with_plain_ones(likelihood, seed, options, allowing):
    random = np.random.default_rng(seed)
    X, Y = images(random, 2, ((3, 3), (1, 2)))
    allowed = restricted(random, Y, 2) if allowing else None
    # Without a tree the exact one is refused.
    engine = "auto" if likelihood == "exact" else "icm"
    model = Grid(classes=[0, 1], likelihood=likelihood, engine=engine, **options)
    problem = model.bind(model.specify(X, Y), X, Y, allowed=allowed)
    beta = contrast_scale(X, model.neighbours) if model.contrast else None
    w = random.normal(size=problem.n_features)
    plain = getattr(plain_likelihoods, likelihood)
    expected = []
    for i, (x, y) in enumerate(zip(X, Y, strict=True)):
        reference = EnumeratedGrid(2, model.pairwise, model.neighbours, model.directions, beta)
        graph = reference.graph(x)
        flags = None
        if allowed is not None:
            flags = [[s is None or k in s for k in range(2)] for s in allowed[i].ravel()]
        expected.append(plain(OnGraphs(reference), graph, tuple(y.ravel().tolist()), w, flags))
    np.testing.assert_allclose(problem.log_losses(w), expected, atol=1e-8)


class OnGraphs:
    """The reference for graphs that have been listed."""

    def __init__(self, reference):
        self.n_labels, self.pairwise = reference.n_labels, reference.pairwise
        self._plain = super(EnumeratedGrid, reference)

    def joint_feature(self, x, y):
        return self._plain.joint_feature(x, y)

    def outputs(self, x):
        return self._plain.outputs(x)


@pytest.mark.parametrize("likelihood", SUBSTITUTES)
def test_marginals_of_wide_images_are_those_of_graphs(likelihood):
    grid, graph, w = pair_of_problems(likelihood, OPTIONS[3], "icm")
    for found, shares, pairs, listed, image in zip(
        grid.label_probabilities(w),
        graph.label_probabilities(w),
        grid.pair_probabilities(w),
        graph.pair_probabilities(w),
        grid._images,
        strict=True,
    ):
        assert found.shape == (*image.shape[:2], 3)
        np.testing.assert_allclose(found.reshape(-1, 3), shares, atol=1e-6)
        rows, columns = image.shape[:2]
        assert [one.shape[:2] for one in pairs] == [
            (rows, columns - 1),
            (rows - 1, columns),
            (rows - 1, columns - 1),
            (rows - 1, columns - 1),
        ]
        np.testing.assert_allclose(np.concatenate([one.reshape(-1, 3, 3) for one in pairs]), listed, atol=1e-6)
    for found, shares in zip(grid.most_probable_labels(w), grid.label_probabilities(w), strict=True):
        np.testing.assert_array_equal(found, shares.argmax(axis=2))


@pytest.mark.parametrize("likelihood", ["tree_reweighted", "belief_propagation"])
@pytest.mark.parametrize("at_once", [1, 12, 15])
def test_images_listed_some_at_a_time_have_what_all_have_together(likelihood, at_once, monkeypatch):
    grid, _, w = pair_of_problems(likelihood, OPTIONS[0], "icm")
    monkeypatch.setattr(summed_problem, "PIXELS_AT_ONCE", at_once)
    again, _, _ = pair_of_problems(likelihood, OPTIONS[0], "icm")
    assert again._batch.tolist() == {1: [0, 1, 2, 3], 12: [0, 1, 1, 2], 15: [0, 0, 1, 2]}[at_once]
    np.testing.assert_allclose(again.log_losses(w), grid.log_losses(w), atol=1e-6)
    for left, right in zip(again.label_probabilities(w), grid.label_probabilities(w), strict=True):
        np.testing.assert_allclose(left, right, atol=1e-5)
    every = np.arange(4)
    theta = again.scores(w, every)
    assert len(theta) == again.part_offsets[-1]
    pushed, truths = np.zeros(len(w)), again.true_parts(every)
    again.push(truths, every, np.ones(4), pushed)
    np.testing.assert_allclose(pushed, again._true_features.sum(axis=0), atol=1e-9)
    np.testing.assert_allclose(again.part_dots(theta, truths, every), again._true_features @ w, atol=1e-9)


@pytest.mark.parametrize("options", [OPTIONS[0], OPTIONS[3]])
def test_chains_draw_what_those_of_graphs_draw(options, monkeypatch):
    monkeypatch.setattr(summed_problem, "PIXELS_AT_ONCE", 13)
    grid, graph, w = pair_of_problems("exact", options, "icm", allowing=True)
    chains = [grid.gibbs_start(), graph.gibbs_start()]
    np.testing.assert_array_equal(*chains)
    examples, drawn = np.array([0, 2, 3]), []
    for problem, chain in zip((grid, graph), chains, strict=True):
        drawn.append(problem.gibbs(w, examples, chain, 3, np.random.default_rng(5)))
    np.testing.assert_array_equal(*chains)
    assert [y.shape for y in drawn[0]] == [(3, 4), (2, 2), (3, 4)]
    for left, right in zip(*drawn, strict=True):
        np.testing.assert_array_equal(left.ravel(), right)


def test_many_labels_are_taken_some_pairs_at_a_time(monkeypatch):
    grid, _, w = pair_of_problems("piecewise", OPTIONS[3], "icm", allowing=True)
    once = np.zeros(len(w))
    values = grid.log_losses(w, np.ones(4), once)
    monkeypatch.setattr("structlearn.models.grid.likelihoods._AT_ONCE", 25)
    again = np.zeros(len(w))
    np.testing.assert_allclose(grid.log_losses(w, np.ones(4), again), values)
    np.testing.assert_allclose(again, once)


@pytest.mark.parametrize("method", ["log_partitions", "output_entropies", "log_probabilities", "label_probabilities"])
def test_what_needs_log_z_is_refused_for_wide_images(method):
    random = np.random.default_rng(0)
    X, Y = images(random, 2, ((2, 2), (30, 30)))
    problem = bound(Grid(), X, Y)
    with pytest.raises(ValueError, match=r"need junction trees, and X\[1\], 30 × 30 pixels, has none"):
        getattr(problem, method)(np.zeros(problem.n_features))


@pytest.mark.parametrize("size", [(3, 2500), (2500, 3)])
def test_the_pseudo_likelihood_of_a_large_image_is_that_of_its_graph_for_any_number_of_threads(size):
    random = np.random.default_rng(0)
    image, labels = random.normal(size=(*size, 2)), random.integers(3, size=size)
    model = Grid(neighbours=8, directions=True, contrast=True, engine="icm", likelihood="pseudo")
    problem = model.bind(model.specify([image], [labels]), [image], [labels])
    graph = problem._as_graphs(np.arange(1))
    w = random.normal(size=problem.n_features)
    found = []
    for n_threads in (1, 2, 3):
        problem.n_threads = n_threads
        gradient = np.zeros_like(w)
        found.append((problem.log_losses(w, np.ones(1), gradient), gradient))
    expected = np.zeros_like(w)
    np.testing.assert_allclose(found[0][0], graph.log_losses(w, np.ones(1), expected), rtol=1e-12)
    np.testing.assert_allclose(found[0][1], expected, rtol=1e-9, atol=1e-8)
    for loss, gradient in found[1:]:
        np.testing.assert_array_equal(loss, found[0][0])
        np.testing.assert_array_equal(gradient, found[0][1])


def test_labels_that_training_never_saw_have_no_pseudo_likelihood():
    random = np.random.default_rng(0)
    X, Y = images(random, 2, ((2, 2), (3, 2)))
    model = Grid(engine="icm", likelihood="pseudo")
    problem = model.bind(model.specify(X, Y), X, [Y[0], Y[1] + 5], allow_unknown=True)
    with pytest.raises(ValueError, match=r"Y\[1\] has labels that training never saw"):
        problem.log_losses(np.zeros(problem.n_features))
