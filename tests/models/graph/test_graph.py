import re

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.special import logsumexp

import structlearn
from structlearn import ConditionalRandomField, LatentStructuralSVM, StructuralSVM
from structlearn.data import Network
from structlearn.losses import LabelF1
from structlearn.models import Graph
from structlearn.models.graph import search
from structlearn.waist import Scaling
from tests.models.decoders import check_k_best, check_most_violating
from tests.models.enumerated import BEST, Twins, asked, bound
from tests.models.graph.enumerated_graph import EnumeratedGraph
from tests.models.instances import weights

MARGIN = Scaling("margin", "linear")


def network(random, n, *, whole=False, features=False):
    """Nodes, and some of the edges that there could be, in any direction."""
    every = [(i, j) for i in range(n) for j in range(i)]
    edges = [edge if random.uniform() < 0.5 else edge[::-1] for edge in every if random.uniform() < 0.6]
    parts = [random.normal(size=(n, 2)), edges, random.normal(size=(len(edges), 2))]
    if whole:
        parts[0], parts[2] = parts[0].round(), parts[2].round()
    return tuple(parts) if features else tuple(parts[:2])


def twins_of(random, *, sizes=(1, 2, 3, 4), n_labels=2, whole=False, features=False, pairwise="free", **options):
    X = [network(random, n, whole=whole, features=features) for n in sizes]
    Y = [tuple(random.integers(n_labels, size=n).tolist()) for n in sizes]
    model = Graph(classes=list(range(n_labels)), pairwise=pairwise, **options)
    zero_one = options.get("loss") == "zero_one"
    return Twins(bound(model, X, Y), EnumeratedGraph(n_labels, pairwise, zero_one=zero_one), X, Y)


@st.composite
def instances(draw, **options):
    random = np.random.default_rng(draw(st.integers(0, 2**32)))
    options = {
        "n_labels": draw(st.integers(1, 3)),
        "features": draw(st.booleans()),
        "pairwise": draw(st.sampled_from(["free", "symmetric", "potts", None])),
        "loss": draw(st.sampled_from(["hamming", "zero_one"])),
    } | options
    ties = draw(st.booleans())
    sizes = draw(st.lists(st.integers(1, 5), min_size=1, max_size=3))
    twins = twins_of(random, sizes=sizes, whole=ties, **options)
    return twins, weights(random, twins, ties=ties) * draw(st.sampled_from([1.0, 30.0]))


@settings(max_examples=50)
@given(instances())
def test_oracles_agree_with_enumeration(instance):
    check_most_violating(*instance)


@settings(max_examples=40)
@given(instances(), st.integers(1, 9))
def test_k_best_lists_different_labellings_with_the_highest_scores(instance, k):
    check_k_best(*instance, k)


@settings(max_examples=40)
@given(instances())
def test_log_z_and_marginals_agree_with_enumeration(instance):
    twins, w = instance
    problem, every = twins.problem, np.arange(twins.problem.n_examples)
    log_z, _ = problem.expectations(problem.scores(w, every), every)
    probabilities = problem.label_probabilities(w)
    for i, x in enumerate(twins.X):
        outputs = twins.reference.outputs(x)
        scores = np.array([twins.reference.joint_feature(x, y) @ w for y in outputs])
        assert log_z[i] == pytest.approx(logsumexp(scores), abs=1e-8)
        share = np.exp(scores - logsumexp(scores))
        expected = np.einsum("k,knl->nl", share, np.eye(twins.reference.n_labels)[np.array(outputs)])
        np.testing.assert_allclose(probabilities[i], expected, atol=1e-8)


@settings(max_examples=40)
@given(instances())
def test_gradients_are_those_of_finite_differences(instance):
    twins, w = instance
    w = w / max(1.0, np.abs(w).max())
    problem, gradient = twins.problem, np.zeros(len(w))
    problem.log_losses(w, np.ones(problem.n_examples), gradient)
    for k in range(len(w)):
        step = 1e-6 * np.eye(len(w))[k]
        slope = (problem.log_losses(w + step).sum() - problem.log_losses(w - step).sum()) / 2e-6
        assert gradient[k] == pytest.approx(slope, abs=2e-5)


@pytest.mark.parametrize("engine", ["branch_and_bound", "integer_program", "dual_ascent"])
@settings(max_examples=25)
@given(instance=instances(loss="hamming"))
def test_searched_labels_agree_with_enumeration(engine, instance):
    # Dual ascent with clusters proves graphs as small as these; what it does not prove has a bound all the same.
    twins, w = instance
    model = Graph(classes=list(range(twins.reference.n_labels)), pairwise=twins.reference.pairwise, engine=engine)
    searched = Twins(bound(model, twins.X, twins.Y), twins.reference, twins.X, twins.Y)
    every = np.arange(len(twins.X))
    for scaling in (BEST, MARGIN):
        planes = asked(searched.problem, w, every, scaling)
        for i, listed in enumerate(twins.listed()):
            violations = listed.violations(w, scaling)
            shown = tuple(searched.problem.present(planes.outputs)[i])
            assert planes.bounds[i] >= violations.max() - 1e-7
            if engine != "dual_ascent":
                assert violations[listed.outputs.index(shown)] == pytest.approx(violations.max(), abs=1e-6)


def test_a_linear_program_has_fractional_planes_where_a_cycle_contradicts_itself():
    triangle = (np.eye(3), [(0, 1), (1, 2), (0, 2)])
    model = Graph(pairwise="potts", engine="linear_program")
    problem = bound(model, [triangle], [["a", "a", "b"]])
    w = np.array([0.0] * 6 + [-10.0])
    planes = problem.oracle(w, np.arange(1), MARGIN)
    # Half of each label everywhere: no pair agrees, half of the labels are wrong.
    assert planes.losses == pytest.approx([1.5])
    assert planes.bounds == pytest.approx([1.5 + 10.0])
    assert planes.losses - planes.rows.dot(w) == pytest.approx(planes.bounds)
    exact = bound(Graph(pairwise="potts"), [triangle], [["a", "a", "b"]])
    assert exact.oracle(w, np.arange(1), MARGIN).bounds == pytest.approx([3.0])


def noisy_cycles(seed=0, n=12):
    """Labels of nodes along cycles, which mostly agree with their neighbours, seen through noise."""
    random = np.random.default_rng(seed)
    X, Y = [], []
    for _ in range(n):
        size = int(random.integers(4, 9))
        labels = np.repeat(random.integers(3, size=3), size)[random.integers(3) :][:size]
        nodes = np.eye(3)[labels] + 0.7 * random.normal(size=(size, 3))
        X.append(Network(nodes, [(i, (i + 1) % size) for i in range(size)]))
        Y.append(labels.tolist())
    return X, Y


def test_relaxed_training_bounds_exact_training_from_above():
    data = noisy_cycles()
    exact, relaxed = (
        StructuralSVM(Graph(engine=engine), C=5.0, tol=1e-4).fit(*data) for engine in ("auto", "linear_program")
    )
    assert exact.duality_gap_ <= 1e-4
    assert relaxed.duality_gap_ <= 1e-4
    assert relaxed.objective_ >= exact.objective_ * (1.0 - 2e-4)


@pytest.mark.parametrize("engine", ["branch_and_bound", "dual_ascent"])
def test_searched_training_finds_the_same_minimum(engine):
    data = noisy_cycles()
    exact, searched = (StructuralSVM(Graph(engine=each), C=5.0, tol=1e-3).fit(*data) for each in ("auto", engine))
    assert searched.converged_
    assert searched.objective_ == pytest.approx(exact.objective_, rel=3e-3)


def test_an_engine_that_only_moves_certifies_nothing():
    data = noisy_cycles()
    exact, svm = (StructuralSVM(Graph(engine=engine), C=5.0, max_iter=200).fit(*data) for engine in ("auto", "icm"))
    assert np.isnan(svm.duality_gap_)
    assert not any(record["certified"] for record in svm.history_)
    # Outputs that are not found cannot be dear: the dual is a lower bound on the exact objective.
    assert 0.0 < svm.history_[-1]["dual"] <= exact.objective_ * (1.0 + 1e-9)


@pytest.mark.parametrize("engine", ["max_product", "forest_moves"])
def test_engines_that_need_not_end_are_ended(engine, monkeypatch):
    monkeypatch.setattr(search, "MOST_ROUNDS", 3)
    rounds = []
    ended = search.best_labelling
    monkeypatch.setattr(
        search, "best_labelling", lambda *given, **limits: rounds.append(ended(*given, **limits)) or rounds[-1]
    )
    X, Y = noisy_cycles()
    problem = bound(Graph(engine=engine), X, Y)
    problem.oracle(np.linspace(-1.0, 1.0, problem.n_features), np.arange(len(X)), MARGIN)
    assert len(rounds) == len(X)
    assert max(found.iterations for found in rounds) == 3


def test_neighbours_help():
    X, Y = noisy_cycles(0, 60)
    train, test = slice(None, 40), slice(40, None)
    with_pairs, alone = (
        StructuralSVM(Graph(pairwise=form)).fit(X[train], Y[train]).score(X[test], Y[test]) for form in ("potts", None)
    )
    assert with_pairs > alone + 0.05


def test_potts_weights_that_must_not_be_negative():
    X, Y = noisy_cycles()
    against = [[label if i % 2 else (label + 1) % 3 for i, label in enumerate(y)] for y in Y]
    free = StructuralSVM(Graph(pairwise="potts"), C=5.0).fit(X, against)
    kept = StructuralSVM(Graph(pairwise="potts"), C=5.0, nonnegative="pairs").fit(X, against)
    assert free.w_[-1] < 0.0
    assert kept.w_[-1] == 0.0


def test_what_an_engine_without_bounds_learns_from_part_of_the_labels_is_not_certified():
    X, Y = noisy_cycles()
    known = [[label if i % 2 else None for i, label in enumerate(y)] for y in Y]
    svm = LatentStructuralSVM(Graph(pairwise="potts", engine="alpha_expansion"), C=5.0, random_state=0).fit(X, known)
    assert np.isnan(svm.history_[-1]["stationarity"])
    assert np.isnan(svm.objective_)


def test_one_network_with_some_labels_known():
    random = np.random.default_rng(0)
    truth = np.repeat([0, 1], 20)
    nodes = np.eye(2)[truth] + 0.8 * random.normal(size=(40, 2))
    edges = [(i, i + 1) for i in range(39)]
    known = [int(label) if random.uniform() < 0.4 else None for label in truth]
    svm = LatentStructuralSVM(Graph(pairwise="potts"), C=10.0, random_state=0).fit([(nodes, edges)], [known])
    found = np.array(svm.predict([(nodes, edges)])[0])
    assert (found == truth).mean() > 0.9


@pytest.mark.parametrize("pairwise", ["free", "potts", None])
@pytest.mark.parametrize("edge_features", [True, False])
def test_networks_known_in_part_begin_alike_whether_searched_or_not(pairwise, edge_features):
    random = np.random.default_rng(1)
    X, Y = [], []
    for n in (5, 1, 4):
        edges = [(i, (i + 1) % n) for i in range(n)] if n > 1 else []
        features = random.normal(size=(len(edges), 2)) if edge_features else None
        X.append(Network(random.normal(size=(n, 3)), edges, features))
        Y.append([None, ["a", "c"], "b", "a", None][:n])
    starts = []
    for engine in ("junction_tree", "dual_ascent"):
        model = Graph(["a", "b", "c"], pairwise=pairwise, engine=engine)
        problem = model.bind_partial(model.specify_partial(X, Y), X, Y)
        starts.append(problem.present(problem.start(random).completions))
        searched = problem.possible.parts_at_random()
        if engine == "junction_tree":
            expected = problem.possible.expectations(np.zeros(len(searched)), np.arange(3))[1]
    np.testing.assert_allclose(searched, expected)
    assert starts[0] == starts[1]
    assert LatentStructuralSVM(Graph(pairwise=pairwise, engine="dual_ascent"), C=1.0).fit(X, Y).stationarity_ < 0.01


def test_f1_training_finds_the_rare_label():
    X, Y = noisy_cycles(1, 20)
    Y = [["O" if label else "rare" for label in y] for y in Y]
    svm = StructuralSVM(Graph(loss=LabelF1()), C=5.0, rescaling="slack").fit(X, Y)
    assert 0.0 <= 1.0 - svm.score(X, Y) < 0.5


def test_files_hold_graphs_with_features_of_edges_by_name(tmp_path):
    X = [([{"red": 1.0}, {"blue": 2.0}], [(0, 1)], [{"near": True}]), ([{"blue": 1.0}], [])]
    Y = [["a", "b"], ["b"]]
    crf = ConditionalRandomField(Graph(pairwise="symmetric")).fit(X, Y)
    crf.save(tmp_path / "graph.slm")
    again = structlearn.load(tmp_path / "graph.slm")
    assert again.predict(X) == crf.predict(X)
    np.testing.assert_allclose(again.predict_marginals(X)[0], crf.predict_marginals(X)[0])
    blocks = again.model_.named_weights(again.spec_, again.w_)
    assert [block.title for block in blocks] == ["features", "features of edges"]
    assert blocks[1].name(1) == "a – b: near"


NODES = np.zeros((2, 1))


@pytest.mark.parametrize(
    ("X", "Y", "message"),
    [
        ([], [], "X is empty"),
        (NODES, [[0, 1]], "expected a list of networks"),
        ([NODES], [[0, 1]], "X[0] is"),
        ([(NODES, [(0, 2)])], [[0, 1]], "edge 0 of X[0] names node 2; there are 2 nodes"),
        ([(NODES, [(1, 1)])], [[0, 1]], "edge 0 of X[0] joins node 1 to itself"),
        ([(NODES, [(0, 1), (1, 0)])], [[0, 1]], "give each pair once"),
        ([(NODES, [(0.5, 1)])], [[0, 1]], "expected (n_edges, 2), whole numbers"),
        ([(NODES, [(0, 1)])], [[0]], "Y[0] has 1 labels but X[0] has 2 nodes"),
        ([(NODES, [(0, 1)])], [[0, None]], "Y[0][1]"),
        ([(NODES * np.nan, [(0, 1)])], [[0, 1]], "X[0][0, 0] is nan"),
        ([(NODES, [(0, 1)], np.zeros((2, 1)))], [[0, 1]], "X[0] has 1 edge but features of 2 edges"),
        (
            [(NODES, [(0, 1)], np.zeros((1, 1))), (NODES, [(0, 1)])],
            [[0, 1], [0, 1]],
            "X[0] has features of edges but X[1] has none",
        ),
        ([(np.zeros((0, 1)), [])], [[]], "X[0] is an empty graph"),
        (
            [({"word": NODES}, [(0, 1)])],
            [[0, 1]],
            "X[0].nodes is a dict, as of nodes of several types: these are for TypedGraph",
        ),
    ],
)
def test_bad_networks_are_refused_by_name(X, Y, message):
    with pytest.raises(ValueError, match=re.escape(message)):
        StructuralSVM(Graph()).fit(X, Y)


def test_networks_of_which_nothing_is_known_are_refused_unless_labels_are_declared():
    x, y = (np.eye(2), [(0, 1)]), [None, None]
    with pytest.raises(ValueError, match="Y says nothing about any node; training needs some labels"):
        LatentStructuralSVM(Graph()).fit([x], [y])
    assert not LatentStructuralSVM(Graph(classes=["a", "b"])).fit([x], [y]).w_.any()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"pairwise": "ising"}, "pairwise is 'ising'"),
        ({"engine": "magic"}, "engine is 'magic'"),
        ({"max_seconds": -1.0}, "max_seconds"),
        ({"loss": "euclid"}, "loss is 'euclid'"),
    ],
)
def test_bad_options_are_refused_by_name(options, message):
    with pytest.raises(ValueError, match=message):
        StructuralSVM(Graph(**options)).fit([(NODES, [(0, 1)])], [[0, 1]])


def test_a_wide_graph_is_searched_and_has_no_sums():
    random = np.random.default_rng(0)
    numbers = np.arange(900).reshape(30, 30)
    edges = np.concatenate(
        [
            np.stack([numbers[:, :-1].ravel(), numbers[:, 1:].ravel()], 1),
            np.stack([numbers[:-1].ravel(), numbers[1:].ravel()], 1),
        ]
    )
    labels = (np.add.outer(np.arange(30), np.arange(30)) > 30).astype(int).ravel()
    x = Network(np.eye(2)[labels] + random.normal(size=(900, 2)), edges)
    svm = StructuralSVM(Graph(pairwise="potts"), C=10.0, nonnegative="pairs", tol=0.05).fit([x], [labels.tolist()])
    assert svm.converged_
    assert svm.score([x], [labels.tolist()]) > 0.95
    with pytest.raises(ValueError, match="searched by 'auto'"):
        ConditionalRandomField(Graph(pairwise="potts")).fit([x], [labels.tolist()])
    with pytest.raises(ValueError, match="tree-width is too large"):
        StructuralSVM(Graph(engine="junction_tree")).fit([x], [labels.tolist()])
