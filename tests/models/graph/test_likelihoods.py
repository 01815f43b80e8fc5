import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from structlearn.models import Graph, MultiLabel
from tests.models.enumerated import bound
from tests.models.graph import plain_likelihoods
from tests.models.graph.test_graph import instances, network, twins_of

SUBSTITUTES = ["pseudo", "piecewise", "tree_reweighted", "belief_propagation"]
FORMS = ["free", "symmetric", "potts", None]


def with_likelihood(twins, likelihood, **options):
    """The same data with another likelihood."""
    reference = twins.reference
    model = Graph(
        classes=list(range(reference.n_labels)), pairwise=reference.pairwise, likelihood=likelihood, **options
    )
    return bound(model, twins.X, twins.Y)


def forbidding(random, y, n_labels):
    """Flags of labels that may be, the true ones among them."""
    flags = random.uniform(size=(len(y), n_labels)) < 0.5
    flags[np.arange(len(y)), y] = True
    return flags


@pytest.mark.parametrize("likelihood", ["pseudo", "piecewise"])
@settings(max_examples=80)
@given(instance=instances(), engine=st.sampled_from(["auto", "dual_ascent"]))
def test_sums_over_labels_and_over_factors_agree_with_plain_ones(likelihood, instance, engine):
    twins, w = instance
    plain = getattr(plain_likelihoods, likelihood)
    expected = [plain(twins.reference, x, y, w) for x, y in zip(twins.X, twins.Y, strict=True)]
    found = with_likelihood(twins, likelihood, engine=engine).log_losses(w)
    np.testing.assert_allclose(found, expected, atol=1e-8)


@pytest.mark.parametrize("likelihood", ["exact", "pseudo", "piecewise"])
@settings(max_examples=40)
@given(instance=instances(), seed=st.integers(0, 2**32))
def test_labels_that_are_not_allowed_are_left_out(likelihood, instance, seed):
    twins, w = instance
    n_labels, random = twins.reference.n_labels, np.random.default_rng(seed)
    flags = [forbidding(random, y, n_labels) for y in twins.Y]
    model = Graph(classes=list(range(n_labels)), pairwise=twins.reference.pairwise, likelihood=likelihood)
    allowed = [[set(np.flatnonzero(row).tolist()) for row in each] for each in flags]
    problem = model.bind(model.specify(twins.X, twins.Y), twins.X, twins.Y, allowed=allowed)
    plain = getattr(plain_likelihoods, likelihood)
    expected = [plain(twins.reference, x, y, w, each) for x, y, each in zip(twins.X, twins.Y, flags, strict=True)]
    np.testing.assert_allclose(problem.log_losses(w), expected, atol=1e-8)


@pytest.mark.parametrize("likelihood", ["piecewise", "tree_reweighted"])
@settings(max_examples=60)
@given(instance=instances())
def test_bounds_are_never_below_the_exact_likelihood(likelihood, instance):
    twins, w = instance
    exact = [plain_likelihoods.exact(twins.reference, x, y, w) for x, y in zip(twins.X, twins.Y, strict=True)]
    found = with_likelihood(twins, likelihood).log_losses(w)
    assert (found >= np.array(exact) - 1e-8 * np.maximum(1.0, np.abs(exact))).all()


def test_bounds_are_above_where_graphs_have_cycles():
    random = np.random.default_rng(3)
    twins = twins_of(random, sizes=(5, 5, 5), n_labels=2)
    w = 2.0 * random.normal(size=twins.problem.n_features)
    exact = twins.problem.log_losses(w)
    for likelihood in ("piecewise", "tree_reweighted"):
        assert (with_likelihood(twins, likelihood).log_losses(w) > exact + 1e-4).all()


@pytest.mark.sample(4)
@pytest.mark.parametrize("likelihood", SUBSTITUTES)
@pytest.mark.parametrize("features", [False, True])
@pytest.mark.parametrize("pairwise", FORMS)
@pytest.mark.parametrize("allowing", [False, True])
def test_gradients_are_those_of_finite_differences(likelihood, features, pairwise, allowing):
    random = np.random.default_rng(5)
    twins = twins_of(random, sizes=(1, 2, 4, 5), n_labels=3, features=features, pairwise=pairwise)
    model = Graph(classes=[0, 1, 2], pairwise=pairwise, likelihood=likelihood)
    allowed = None
    if allowing:
        flags = [forbidding(random, y, 3) for y in twins.Y]
        allowed = [[set(np.flatnonzero(row).tolist()) for row in each] for each in flags]
    problem = model.bind(model.specify(twins.X, twins.Y), twins.X, twins.Y, allowed=allowed)
    w, weight = random.normal(size=problem.n_features), np.arange(1.0, 5.0)
    gradient = np.zeros(len(w))
    np.testing.assert_allclose(problem.log_losses(w, weight, gradient), problem.log_losses(w))
    for k in range(len(w)):
        step = 1e-4 * np.eye(len(w))[k]
        slope = weight @ (problem.log_losses(w + step) - problem.log_losses(w - step)) / 2e-4
        assert gradient[k] == pytest.approx(slope, abs=2e-5)


def tree(random, n):
    edges = [(i, int(random.integers(i))) for i in range(1, n)]
    return random.normal(size=(n, 2)), edges, random.normal(size=(n - 1, 2))


@pytest.mark.parametrize("likelihood", ["tree_reweighted", "belief_propagation"])
@pytest.mark.parametrize("pairwise", ["free", "potts"])
def test_messages_are_exact_on_trees(likelihood, pairwise):
    random = np.random.default_rng(0)
    X = [tree(random, n) for n in (2, 5, 9)]
    Y = [random.integers(3, size=len(x[0])).tolist() for x in X]
    exact, found = (
        bound(Graph(classes=[0, 1, 2], pairwise=pairwise, likelihood=each), X, Y) for each in ("exact", likelihood)
    )
    w = random.normal(size=exact.n_features)
    slopes = np.zeros((2, len(w)))
    values = [problem.log_losses(w, np.ones(3), slope) for problem, slope in zip((exact, found), slopes, strict=True)]
    np.testing.assert_allclose(values[1], values[0], atol=1e-7)
    np.testing.assert_allclose(slopes[1], slopes[0], atol=1e-6)


@pytest.mark.parametrize("likelihood", ["tree_reweighted", "belief_propagation"])
def test_what_is_found_for_a_graph_does_not_depend_on_the_others(likelihood):
    random = np.random.default_rng(1)
    nodes, edges, _ = network(random, 6, features=True)
    X = [(random.normal(size=nodes.shape), edges, random.normal(size=(len(edges), 2))) for _ in range(4)]
    X.insert(2, network(random, 5, features=True))
    Y = [random.integers(2, size=len(x[0])).tolist() for x in X]
    model = Graph(classes=[0, 1], likelihood=likelihood, engine="dual_ascent")
    together = bound(model, X, Y)
    w = random.normal(size=together.n_features)
    losses, nodes = together.log_losses(w), together.label_probabilities(w)
    for i, (x, y) in enumerate(zip(X, Y, strict=True)):
        alone = bound(model, [x], [y])
        assert alone.log_losses(w)[0] == pytest.approx(losses[i], abs=1e-7)
        np.testing.assert_allclose(alone.label_probabilities(w)[0], nodes[i], atol=1e-6)


def test_a_graph_whose_messages_never_rest_does_not_keep_others_waiting():
    random = np.random.default_rng(0)
    n = 6
    edges = [(i, j) for i in range(n) for j in range(i)]
    calm = (0.1 * random.normal(size=(n, 2)), edges, np.full((len(edges), 1), 0.1))
    # All neighbours want to differ, and there are but two labels.
    wild = (0.1 * random.normal(size=(n, 2)), edges, np.full((len(edges), 1), -30.0))
    model = Graph(classes=[0, 1], pairwise="potts", likelihood="belief_propagation")
    X, Y = [calm, wild, calm], [[0] * n] * 3
    w = np.array([1.0, -1.0, 0.5, 0.2, 1.0])
    both, alone = bound(model, X, Y).log_losses(w), bound(model, X[:1], Y[:1]).log_losses(w)
    assert both[0] == both[2] == pytest.approx(alone[0], abs=1e-7)


@pytest.mark.parametrize("likelihood", SUBSTITUTES)
def test_sets_of_labels_have_the_same_likelihoods(likelihood):
    """A `MultiLabel` is a graph with features of edges that say which edge it is."""
    random = np.random.default_rng(2)
    X, Y = random.normal(size=(6, 3)), random.integers(2, size=(6, 4))
    sets = bound(MultiLabel(pairs="full", likelihood=likelihood), X, Y)
    pairs = [(i, j) for i in range(4) for j in range(i + 1, 4)]
    graphs = [(np.kron(np.eye(4), x), pairs, np.eye(len(pairs))) for x in X]
    same = bound(Graph(classes=[0, 1], likelihood=likelihood), graphs, Y.tolist())
    w = random.normal(size=sets.n_features)
    of_nodes = w[:24].reshape(3, 4, 2).transpose(1, 0, 2).ravel()
    np.testing.assert_allclose(sets.log_losses(w), same.log_losses(np.concatenate([of_nodes, w[24:]])), atol=1e-7)
