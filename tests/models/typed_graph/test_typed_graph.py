import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.special import logsumexp, softmax

import structlearn
from structlearn import ConditionalRandomField, StructuralSVM
from structlearn.data import TypedNetwork
from structlearn.evaluation import evaluate
from structlearn.losses import Hamming
from structlearn.models import Factor, Graph, TypedGraph
from structlearn.waist import Scaling
from tests.models.decoders import check_k_best, check_most_violating
from tests.models.enumerated import BEST, Twins, asked, bound
from tests.models.graph.test_graph import noisy_cycles
from tests.models.instances import weights
from tests.models.typed_graph.enumerated_typed_graph import (
    CLASSES,
    TEMPLATES,
    EnumeratedTypedGraph,
    factors_option,
    typed_labels,
    typed_network,
)

MARGIN = Scaling("margin", "linear")
LOSSES = ("hamming", "zero_one", {"a": Hamming(dict.fromkeys("xyz", 2.0))})


def twins_of(random, sizes, *, whole=False, features=("three", "like"), loss="hamming", **options):
    X = [typed_network(random, *size, whole=whole, features=features) for size in sizes]
    Y = [typed_labels(random, x) for x in X]
    weight = {"a": 2.0} if isinstance(loss, dict) else None
    model = TypedGraph(factors_option(), CLASSES, loss, **options)
    reference = EnumeratedTypedGraph(CLASSES, TEMPLATES, weight=weight, zero_one=loss == "zero_one")
    return Twins(bound(model, X, Y), reference, X, Y)


@st.composite
def instances(draw, losses=LOSSES, **options):
    random = np.random.default_rng(draw(st.integers(0, 2**32)))
    ties = draw(st.booleans())
    sizes = draw(st.lists(st.tuples(st.integers(1, 3), st.integers(0, 2)), min_size=1, max_size=2))
    features = draw(st.sampled_from([("three", "like"), (), (("a", "b"),)]))
    twins = twins_of(random, sizes, whole=ties, features=features, loss=draw(st.sampled_from(losses)), **options)
    return twins, weights(random, twins, ties=ties) * draw(st.sampled_from([1.0, 30.0]))


@settings(max_examples=60)
@given(instances())
def test_oracles_agree_with_enumeration(instance):
    check_most_violating(*instance)


@settings(max_examples=30)
@given(instances(), st.integers(1, 9))
def test_k_best_lists_different_labellings_with_the_highest_scores(instance, k):
    check_k_best(*instance, k)


@settings(max_examples=30)
@given(instances())
def test_sums_agree_with_enumeration(instance):
    twins, w = instance
    problem, reference = twins.problem, twins.reference
    log_z, singles, joints = problem.log_partitions(w), problem.label_probabilities(w), problem.pair_probabilities(w)
    for i, x in enumerate(twins.X):
        outputs = reference.outputs(x)
        scores = np.array([reference.joint_feature(x, y) @ w for y in outputs])
        assert log_z[i] == pytest.approx(logsumexp(scores), abs=1e-8)
        for found, has in ((singles[i], reference.singles), (joints[i], reference.joints)):
            for k, array in enumerate(found.values()):
                expected = np.tensordot(softmax(scores), [has(x, y)[k] for y in outputs], 1)
                np.testing.assert_allclose(array, expected, atol=1e-8)


@settings(max_examples=20)
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
@settings(max_examples=15)
@given(instance=instances(losses=["hamming"]))
def test_searched_labels_agree_with_enumeration(engine, instance):
    twins, w = instance
    model = TypedGraph(factors_option(), CLASSES, engine=engine)
    problem = bound(model, twins.X, twins.Y)
    for scaling in (BEST, MARGIN):
        planes = asked(problem, w, np.arange(len(twins.X)), scaling)
        for i, (listed, shown) in enumerate(zip(twins.listed(), problem.present(planes.outputs), strict=True)):
            violations = listed.violations(w, scaling)
            if scaling is MARGIN:
                assert planes.bounds[i] >= violations.max() - 1e-7
            # Larger factors leave gaps that dual ascent does not close.
            if engine != "dual_ascent":
                assert violations[listed.outputs.index(shown)] == pytest.approx(violations.max(), abs=1e-6)


@settings(max_examples=15)
@given(instances(losses=["hamming"]))
def test_labels_drawn_blindly_have_the_same_parts_whether_searched_or_not(instance):
    twins, _ = instance
    allowed = [{"a": [{"x", "y"}, *[None] * (len(x[0]["a"]) - 1)]} for x in twins.X]
    found = []
    for engine in ("junction_tree", "dual_ascent"):
        model = TypedGraph(factors_option(), CLASSES, engine=engine)
        problem = model.bind(model.specify(twins.X, twins.Y), twins.X, allowed=allowed)
        found.append(problem.parts_at_random())
    np.testing.assert_allclose(*found)


@settings(max_examples=30)
@given(instances())
def test_features_lie_within_their_radius_and_losses_below_the_largest(instance):
    twins, _ = instance
    radii, largest = twins.problem.radii(), twins.problem.max_losses()
    for listed, radius, most in zip(twins.listed(), radii, largest, strict=True):
        assert np.linalg.norm(listed.rows, axis=1).max() <= radius + 1e-9
        assert listed.losses.max() == most


def one_type(X, Y):
    """The same networks, whose nodes all have a type."""
    typed = [({"node": x.nodes}, {("node", "node"): x.edges}) for x in X]
    return typed, [{"node": y} for y in Y]


@pytest.mark.parametrize("form", ["free", "symmetric", "potts"])
@pytest.mark.parametrize("learner", [StructuralSVM, ConditionalRandomField])
@pytest.mark.parametrize("engine", ["auto", "branch_and_bound"])
def test_one_type_with_pairs_is_a_graph(form, learner, engine):
    if learner is ConditionalRandomField and engine != "auto":
        return
    X, Y = noisy_cycles()
    plain = learner(Graph(pairwise=form, engine=engine), C=5.0).fit(X, Y)
    typed = learner(TypedGraph({("node", "node"): form}, engine=engine), C=5.0).fit(*one_type(X, Y))
    np.testing.assert_array_equal(typed.w_, plain.w_)
    assert [y["node"] for y in typed.predict(one_type(X, Y)[0])] == plain.predict(X)


def texts(seed=0, n=40):
    """Words of one of two senses, which a text mostly has in common with its topic, seen through noise."""
    random = np.random.default_rng(seed)
    X, Y = [], []
    for _ in range(n):
        topic, size = int(random.integers(2)), int(random.integers(3, 7))
        senses = np.where(random.uniform(size=size) < 0.85, topic, 1 - topic)
        nodes = {
            "word": np.eye(2)[senses] + 0.7 * random.normal(size=(size, 2)),
            "text": np.eye(2)[[topic]] + random.normal(size=(1, 2)),
        }
        X.append(TypedNetwork(nodes, {("word", "text"): [(i, 0) for i in range(size)]}))
        Y.append({"word": ["ab"[s] for s in senses], "text": [("arts", "sports")[topic]]})
    return X, Y


def test_factors_help():
    X, Y = texts(0, 120)
    with_factors, alone = (
        StructuralSVM(TypedGraph(factors)).fit(X[:60], Y[:60]) for factors in (None, {("word", "text"): {}})
    )
    assert with_factors.score(X[60:], Y[60:]) > alone.score(X[60:], Y[60:]) + 0.05


def test_evaluation_has_the_accuracy_of_each_type():
    X, Y = texts()
    svm = StructuralSVM(TypedGraph()).fit(X, Y)
    found = evaluate(svm, X, Y)
    predicted = svm.predict(X)
    right = [a == b for y, p in zip(Y, predicted, strict=True) for a, b in zip(y["text"], p["text"], strict=True)]
    assert found.scores["text_accuracy"].estimate == pytest.approx(np.mean(right))
    assert found.headline[0] == "node_accuracy"
    assert 1.0 - found.scores["node_accuracy"].estimate == pytest.approx(1.0 - svm.score(X, Y))


def test_explanations_add_up():
    X, Y = texts()
    crf = ConditionalRandomField(TypedGraph()).fit(X, Y)
    (best, first), (other, second) = crf.k_best(X[:1], 2)[0]
    why = crf.explain(X[0], label=best, against=other)
    assert why.difference == pytest.approx(first - second)
    sources = {term.source for part in why.parts for term in part.terms}
    assert any(part.name.startswith("word ") for part in why.parts)
    assert any(" – " in str(source) for source in sources)


def test_parts_are_named_by_types_and_templates():
    x = (
        {"word": np.eye(2), "text": np.eye(1)},
        {"all": [(0, 1, 0), (1, 0, 0)], ("word", "text"): [(1, 0)], "link": [(0, 1)]},
        {("word", "text"): np.ones((1, 1))},
    )
    y = {"word": ["a", "b"], "text": ["arts"]}
    factors = {
        "all": Factor(("word", "word", "text"), "free"),
        ("word", "text"): "free",
        "link": Factor(("word", "word"), "potts"),
    }
    problem = bound(TypedGraph(factors), [x], [y])
    assert problem.part_names(0, np.arange(12)) == [
        *("word 0: a", "word 0: b", "word 1: a", "word 1: b", "text 0: arts"),
        *("word 1, text 0: a – arts", "word 1, text 0: b – arts"),
        *("all: a – a – arts", "all: a – b – arts", "all: b – a – arts", "all: b – b – arts", "link: equal"),
    ]


def test_templates_of_other_nodes_than_learnt_are_refused():
    X, Y = texts()
    spec = TypedGraph({"of": Factor(("word", "text"))}).specify([({**x.nodes}, {}) for x in X], Y)
    assert TypedGraph({"of": Factor(("word", "text"))}).n_weights(spec) == 12
    for factors in ({"of": Factor(("text", "word"))}, {("word", "text"): "free"}):
        with pytest.raises(ValueError, match="is not among those of the model"):
            TypedGraph(factors).n_weights(spec)


def test_drawings_name_nodes_by_their_types():
    x = ({"word": np.eye(2), "text": np.eye(1)}, {"all": [(0, 1, 0)]})
    model = TypedGraph({"all": Factor(("word", "word", "text"))})
    y, truth = {"word": ["a", "b"], "text": ["arts"]}, {"word": ["b", None]}
    drawn = str(model.drawing(x, y, truth))
    assert drawn.splitlines()[0] == "1 wrong of 3 nodes, 3 edges"
    assert "word 0: a✗ true is b, beside word 1: b, text 0: arts" in drawn


def test_files_hold_templates_and_names(tmp_path):
    words = [{"red": 1.0}, {"blue": 2.0}]
    X = [({"word": words, "text": [{"long": True}]}, {"all": [(0, 1, 0)]}, {"all": [{"near": True}]})]
    Y = [{"word": ["a", "b"], "text": ["arts"]}]
    table = {("a", "b", "arts"): "right", ("a", "a", "arts"): "same", ("b", "b", "arts"): "same"}
    factors = {"all": Factor(("word", "word", "text"), table), ("word", "text"): "free"}
    model = TypedGraph(factors, {"text": ["arts", "sports"]}, {"text": Hamming({"arts": 2.0})})
    crf = ConditionalRandomField(model, fit_intercept=True).fit(X, Y)
    crf.save(tmp_path / "typed.slm")
    again = structlearn.load(tmp_path / "typed.slm")
    assert again.predict(X) == crf.predict(X)
    assert again.model_.factors == factors
    np.testing.assert_array_equal(again.predict_marginals(X)[0]["text"], crf.predict_marginals(X)[0]["text"])
    blocks = again.model_.named_weights(again.spec_, again.w_)
    assert [block.title for block in blocks] == [
        "features of word",
        "features of text",
        "features of all",
        "word – text",
    ]
    assert [blocks[2].name(k) for k in range(2)] == ["right: near", "same: near"]
    assert blocks[1].axes == (["long", "(intercept)"], ["text: arts", "text: sports"])
    assert len(again.w_) == 3 * 2 + 2 * 2 + 2 + 4


def test_types_and_templates_may_be_missing_where_labels_are_predicted():
    X, Y = texts()
    svm = StructuralSVM(TypedGraph()).fit(X, Y)
    (only_words,) = svm.predict([({"word": X[0].nodes["word"]},)])
    assert list(only_words) == ["word", "text"]
    assert only_words["text"] == []
    assert svm.score([({"word": X[0].nodes["word"]}, {})], [{"word": only_words["word"]}]) == 1.0


def test_labels_never_seen_count_as_wrong():
    X, Y = texts()
    crf = ConditionalRandomField(TypedGraph()).fit(X, Y)
    new = {"word": Y[0]["word"], "text": ["crime"]}
    predicted = crf.predict(X[:1])[0]
    wrong = sum(a != b for kind in new for a, b in zip(new[kind], predicted[kind], strict=True))
    assert crf.score(X[:1], [new]) == pytest.approx(1.0 - wrong / (len(new["word"]) + 1))
    assert crf.predict_log_proba(X[:1], [new])[0] == -np.inf


def grid(n=25, seed=0):
    """An image of two labels whose tree-width is large, with a node for the whole of each row."""
    random = np.random.default_rng(seed)
    numbers = np.arange(n * n).reshape(n, n)
    labels = (np.add.outer(np.arange(n), np.arange(n)) > n).astype(int).ravel()
    rows = (np.arange(n) > n // 2).astype(int)
    beside = [
        np.stack([numbers[:, :-1].ravel(), numbers[:, 1:].ravel()], 1),
        np.stack([numbers[:-1].ravel(), numbers[1:].ravel()], 1),
    ]
    factors = {
        ("pixel", "pixel"): np.concatenate(beside),
        ("pixel", "row"): np.stack([numbers.ravel(), numbers.ravel() // n], 1),
    }
    nodes = {
        "pixel": np.eye(2)[labels] + random.normal(size=(n * n, 2)),
        "row": np.eye(2)[rows] + random.normal(size=(n, 2)),
    }
    return TypedNetwork(nodes, factors), {"pixel": labels.tolist(), "row": rows.tolist()}


def test_a_wide_graph_is_searched_and_has_no_sums():
    x, y = grid()
    svm = StructuralSVM(
        TypedGraph({("pixel", "pixel"): "potts", ("pixel", "row"): "potts"}), C=10.0, nonnegative="factors", tol=0.05
    )
    svm.fit([x], [y])
    assert svm.converged_
    assert svm.score([x], [y]) > 0.9
    with pytest.raises(ValueError, match=r"searched by 'auto'.*contrastive_divergence"):
        ConditionalRandomField(TypedGraph()).fit([x], [y])
    with pytest.raises(ValueError, match="tree-width is too large"):
        StructuralSVM(TypedGraph(engine="junction_tree")).fit([x], [y])


@pytest.mark.slow
def test_searched_training_with_larger_factors_finds_the_same_minimum():
    random = np.random.default_rng(3)
    X = [typed_network(random, 3, 2) for _ in range(6)]
    Y = [typed_labels(random, x) for x in X]
    exact, searched, relaxed, moved = (
        StructuralSVM(TypedGraph(factors_option(), CLASSES, engine=engine), C=5.0, tol=1e-3, max_iter=300).fit(X, Y)
        for engine in ("auto", "branch_and_bound", "linear_program", "icm")
    )
    assert searched.converged_
    assert searched.objective_ == pytest.approx(exact.objective_, rel=3e-3)
    assert relaxed.objective_ >= exact.objective_ * (1.0 - 3e-3)
    assert np.isnan(moved.duality_gap_)
