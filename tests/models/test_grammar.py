import pickle
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st
from scipy.special import softmax
from sklearn.base import clone

import structlearn
from models import sums
from models.enumerated import Twins
from models.enumerated_grammar import EnumeratedGrammar
from models.instances import SCALINGS
from structlearn import ConditionalRandomField, RelativeFrequencies, StructuralSVM, StructuredPerceptron
from structlearn.models import Grammar, as_tree, brackets, leaves
from structlearn.models.trees import nodes
from structlearn.objective import PREDICTION

SETTINGS = {"deadline": None, "suppress_health_check": [HealthCheck.filter_too_much, HealthCheck.too_slow]}
LABELS, TAGS = ("A", "B", "C"), ("x", "y")


def random_tree(random, tokens, above=()):
    """A tree over some leaves: phrases of one to three children, no label twice in a chain."""
    label = str(random.choice([label for label in LABELS if label not in above]))
    if len(tokens) == 1:
        if len(above) < 2 and random.random() < 0.3:
            return (label, random_tree(random, tokens, (*above, label)))
        return (label, tokens[0])
    if len(above) < 2 and random.random() < 0.2:
        return (label, random_tree(random, tokens, (*above, label)))
    n = int(random.integers(2, min(3, len(tokens)) + 1))
    cuts = [0, *sorted(random.choice(np.arange(1, len(tokens)), n - 1, replace=False).tolist()), len(tokens)]
    children = [tokens[a:b] for a, b in pairwise(cuts)]
    return (
        label,
        *(c[0] if len(c) == 1 and random.random() < 0.7 else random_tree(random, c) for c in children),
    )


def twins_of(random, *, sizes=(1, 2, 3, 4), root=False, **options):
    Y = []
    for n in sizes:
        tree = random_tree(random, [(str(random.choice(TAGS)), str(random.choice(["u", "v", "w"]))) for _ in range(n)])
        Y.append(("ROOT", tree) if root else tree)
    tags = options.get("inputs", "tags") == "tags"
    X = [[(word, tag) if tags else word for tag, word in leaves(y)] for y in Y]
    model = Grammar(**options)
    spec = model.specify(X, Y)
    return Twins(model.bind(spec, X, Y), EnumeratedGrammar(model, spec), X, Y)


@st.composite
def instances(draw, most=4, losses=("brackets", "f1", "zero_one")):
    random = np.random.default_rng(draw(st.integers(0, 2**32)))
    options = {
        "inputs": draw(st.sampled_from(["tags", "words"])),
        "loss": draw(st.sampled_from(losses)),
        "horizontal": draw(st.sampled_from([None, 0, 1])),
        "vertical": draw(st.sampled_from([1, 2])),
        "spans": draw(st.booleans()),
        "min_count": draw(st.sampled_from([1, 2])),
    }
    sizes = draw(st.lists(st.integers(1, most), min_size=1, max_size=3))
    twins = twins_of(random, sizes=sizes, root=draw(st.booleans()), **options)
    assume(all(len(twins.reference.outputs(x)) <= 200 for x in twins.X))
    size = twins.problem.n_features
    ties = draw(st.booleans())
    w = random.integers(-1, 2, size).astype(float) if ties else random.normal(size=size)
    return twins, w * draw(st.sampled_from([0.3, 1.0, 30.0]))


def listed(twins):
    found = zip(twins.listed(), twins.Y, strict=True)
    return [each._replace(true=np.array([y == other for other in each.outputs])) for each, y in found]


def features(twins, i):
    trees = twins.reference.outputs(twins.X[i])
    return trees, np.array([twins.reference.joint_feature(twins.X[i], y) for y in trees])


@settings(max_examples=100, **SETTINGS)
@given(instances())
def test_oracles_agree_with_enumeration(instance):
    twins, w = instance
    every = np.arange(twins.problem.n_examples)
    examples = listed(twins)
    for scaling in (PREDICTION, *SCALINGS):
        planes = twins.problem.oracle(w, every, scaling)
        best = np.array([each.violations(w, scaling).max() for each in examples])
        known = np.isfinite(best)
        assert planes.examples.tolist() == every[known].tolist()
        np.testing.assert_allclose(planes.bounds, best[known], atol=1e-8 * (1 + np.abs(w).max()))


@settings(max_examples=50, **SETTINGS)
@given(instances())
def test_every_tree_of_the_grammar_is_found_once_in_the_order_of_scores(instance):
    twins, w = instance
    for i, found in enumerate(twins.problem.k_best(w, 500)):
        trees, rows = features(twins, i)
        scores = np.sort(rows @ w)[::-1][:500]
        np.testing.assert_allclose([score for _, score in found], scores, atol=1e-8 * (1 + np.abs(w).max()))
        shown = [as_tree(y, "y") for y, _ in found]
        assert len(set(shown)) == len(shown)
        if len(trees) <= 500:
            assert set(shown) == set(trees)


@settings(max_examples=50, **SETTINGS)
@given(instances())
def test_differences_and_losses_are_those_of_the_definition(instance):
    twins, _ = instance
    for i, example in enumerate(listed(twins)):
        other = twins.reference.model.bind(twins.reference.spec, [twins.X[i]] * len(example.outputs), example.outputs)
        codes = [(i, other._truth(k)) for k in range(len(example.outputs))]
        rows, losses = twins.problem.differences(np.full(len(codes), i), codes)
        assert twins.problem.present(codes) == example.outputs
        for k, expected in enumerate(example.rows[:30]):
            row = np.zeros(twins.problem.n_features)
            rows.take(np.array([k])).add_to(row, np.ones(1))
            np.testing.assert_allclose(row, expected)
        np.testing.assert_allclose(losses, example.losses)


@settings(max_examples=50, **SETTINGS)
@given(instances())
def test_sums_agree_with_enumeration(instance):
    twins, w = instance
    sums.check_log_partitions(twins, w)
    sums.check_expected_features(twins, w)
    sums.check_truths(twins)


@settings(max_examples=10, **SETTINGS)
@given(instances(most=3))
def test_gradients_are_those_of_finite_differences(instance):
    twins, w = instance
    sums.check_log_losses(twins, w / np.maximum(np.abs(w).max(), 1.0))


@settings(max_examples=100, **SETTINGS)
@given(instances())
def test_span_posteriors_and_trees_of_least_risk(instance):
    twins, w = instance
    labels = twins.reference.spec.labels
    risky = twins.problem.present(twins.problem.most_probable_labels(w))
    for i, found in enumerate(twins.problem.label_probabilities(w)):
        trees, rows = features(twins, i)
        probabilities = softmax(rows @ w)
        expected = np.zeros_like(found)
        for y, p in zip(trees, probabilities, strict=True):
            for label, begin, end in nodes(y):
                expected[begin, end, labels.index(label)] += p
        np.testing.assert_allclose(found, expected, atol=1e-8)

        def risk(y, trees=trees, probabilities=probabilities):
            return sum(p * len(set(brackets(y)) ^ set(brackets(z))) for z, p in zip(trees, probabilities, strict=True))

        assert risk(risky[i]) == pytest.approx(min(map(risk, trees)), abs=1e-6)


@settings(max_examples=20, **SETTINGS)
@given(instances(losses=("brackets",)))
def test_largest_losses_are_exact_and_radii_are_upper_bounds(instance):
    twins, _ = instance
    examples = listed(twins)
    np.testing.assert_array_equal(twins.problem.max_losses(), [each.losses.max() for each in examples])
    radii = np.array([np.linalg.norm(each.rows, axis=1).max() for each in examples])
    assert np.all(twins.problem.radii() >= radii - 1e-12)


@pytest.mark.parametrize("seed", range(6))
def test_sentences_of_six_tokens(seed):
    random = np.random.default_rng(seed)
    twins = twins_of(random, sizes=(5, 6), loss=("f1", "brackets")[seed % 2])
    w = random.normal(size=twins.problem.n_features)
    examples = listed(twins)
    for scaling in SCALINGS:
        planes = twins.problem.oracle(w, np.arange(2), scaling)
        best = np.array([each.violations(w, scaling).max() for each in examples])
        np.testing.assert_allclose(planes.bounds, best[np.isfinite(best)], atol=1e-8)
    sums.check_log_partitions(twins, w)


def test_samples_follow_the_distribution():
    twins = twins_of(np.random.default_rng(3), sizes=(4, 3, 3))
    w = 0.5 * np.random.default_rng(5).normal(size=twins.problem.n_features)
    sums.check_samples(twins, w, twins.reference.outputs(twins.X[0]))


def toy():
    X = [["DT", "NN", "VBZ"], ["PRP", "VBZ", "DT", "NN"], ["DT", "JJ", "JJ", "NN", "VBZ"]]
    Y = [
        "(S (NP (DT the) (NN dog)) (VP (VBZ barks)))",
        "(S (NP (PRP it)) (VP (VBZ has) (NP (DT a) (NN bone))))",
        "(S (NP (DT the) (JJ big) (JJ old) (NN dog)) (VP (VBZ sleeps)))",
    ]
    return X, Y


def shown(trees):
    """Trees without their words."""
    return [as_tree(y, "y") if isinstance(y, str) else y for y in trees]


LEARNERS = [
    StructuralSVM(Grammar(), C=30),
    StructuralSVM(Grammar(loss="f1"), C=30, rescaling="slack"),
    StructuralSVM(Grammar(loss="f1"), C=30, slack="squared"),
    StructuralSVM(Grammar(loss="zero_one"), C=30, rescaling=None, slack="squared", solver="n_slack", eps=0.01),
    StructuralSVM(Grammar(), C=30, solver="one_slack"),
    StructuredPerceptron(Grammar()),
    ConditionalRandomField(Grammar(), C=30),
    ConditionalRandomField(Grammar(), C=30, solver="lbfgs"),
    RelativeFrequencies(Grammar()),
]


@pytest.mark.parametrize("learner", LEARNERS, ids=str)
def test_every_learner_learns_the_trees_it_saw(learner):
    X, Y = toy()
    learner = clone(learner)
    predicted = learner.fit(X, Y).predict(X)
    assert [brackets(y) for y in predicted] == [brackets(as_tree(y, "y")) for y in Y]
    assert learner.score(X, Y) == pytest.approx(1.0)


def test_likelihood_solvers_agree():
    X, Y = toy()
    sums.check_same_optimum(Grammar(horizontal=0), X, Y, ["lbfgs", "dual_coordinate", "exponentiated_gradient"])


def test_solvers_that_need_a_loss_of_parts_are_refused_by_name():
    with pytest.raises(ValueError, match="Extragradient"):
        StructuralSVM(Grammar(), solver="extragradient").fit(*toy())


def test_words_are_tagged_and_new_ones_are_known_by_their_form():
    Y = [
        "(S (NP (DT the) (NN dog)) (VP (VBZ barks)))",
        "(S (NP (DT the) (NN cat)) (VP (VBZ meows)))",
        "(S (NP (NNP Ann)) (VP (VBZ barks)))",
    ]
    X = [[word for _, word in leaves(as_tree(y, "y"))] for y in Y]
    svm = StructuralSVM(Grammar(inputs="words"), C=30).fit(X, Y)
    assert svm.predict(X) == shown(Y)
    assert svm.predict([["Bob", "runs"]]) == [("S", ("NP", ("NNP", "Bob")), ("VP", ("VBZ", "runs")))]
    counted = RelativeFrequencies(Grammar(inputs="words")).fit(X, Y)
    assert counted.predict([["the", "12-x", "barks"]])[0][0] == "S"


def test_a_sentence_without_a_tree_gets_a_flat_one_beside_others():
    X, Y = toy()
    svm = StructuralSVM(Grammar(), C=30).fit(X, Y)
    batch = [["VBZ", "VBZ"], X[0], ["NEVER", "NN"]]
    flat, good, unknown = svm.predict(batch)
    assert flat == ("ROOT", ("VBZ", "VBZ"), ("VBZ", "VBZ"))
    assert unknown == ("ROOT", ("NEVER", "NEVER"), ("NN", "NN"))
    assert brackets(good) == brackets(as_tree(Y[0], "y"))
    assert svm.k_best(batch, 3)[0] == [(flat, -np.inf)]
    assert 0.0 <= svm.score(batch[:2], ["(S (VP (VBZ is) (VBZ was)))", Y[0]]) < 1.0
    crf = ConditionalRandomField(Grammar(), C=30, solver="lbfgs").fit(X, Y)
    assert crf.predict(batch, posterior=True)[0] == flat
    assert crf.predict_log_proba(batch[:2], ["(S (VP (VBZ is) (VBZ was)))", Y[0]])[0] == -np.inf


@pytest.mark.parametrize(
    ("x", "y", "message"),
    [
        (["DT", "NN"], "(S (NP (DT the)))", r"Y\[0\] has 1 leaves but X\[0\] has 2 tokens"),
        (["DT", "NN"], "(S (DT the) (VB go))", r"Y\[0\] has the leaf 'VB' where X\[0\]\[1\] is 'NN'"),
        ([("a", "DT")], "(NP (DT the))", r"the leaf \('the', 'DT'\) where X\[0\]\[0\] is \('a', 'DT'\)"),
        (["NN"], "(NP (NP (NN dog)))", r"Y\[0\] has the cyclic unary chain NP → NP"),
        (["NN"], "(NP (NN dog)", r"Y\[0\]: 1 brackets are not closed"),
        (["NN"], ("NP", 3), r"Y\[0\] is 3"),
        (["DT", "NN"], "(NP the (NN dog))", r"the word 'the'"),
        ([3], "(NP (NN dog))", r"X\[0\]\[0\] is 3"),
        ([], "(NP (NN dog))", r"X\[0\] has no tokens"),
        ("NN", "(NP (NN dog))", r"X\[0\] is 'NN'"),
    ],
)
def test_bad_input_is_named(x, y, message):
    with pytest.raises(ValueError, match=message):
        StructuralSVM(Grammar()).fit([x], [y])


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"loss": "hamming"}, "loss is 'hamming'"),
        ({"inputs": "letters"}, "inputs is 'letters'"),
        ({"vertical": 0}, "vertical is 0"),
        ({"horizontal": -1}, "horizontal is -1"),
        ({"max_chain": 0}, "1 unary rules in a row, and max_chain is 0"),
    ],
)
def test_bad_options_are_named(options, message):
    with pytest.raises(ValueError, match=message):
        StructuralSVM(Grammar(**options)).fit(*toy())


def test_a_tree_that_the_rules_do_not_derive_is_named():
    X, Y = toy()
    model = Grammar()
    spec = model.specify(X, Y)
    with pytest.raises(ValueError, match=r"Y\[0\] cannot be derived: the grammar has no rule S → NN VBZ"):
        model.bind(spec, [["NN", "VBZ"]], ["(S (NN dogs) (VBZ is))"])
    assert model.bind(spec, [["NN", "VBZ"]], ["(S (NN dogs) (VBZ is))"], allow_unknown=True).n_examples == 1


def test_nltk_trees_tuples_and_brackets_are_the_same():
    class Node(list):
        """An nltk tree, as far as one is asked of."""

        def __init__(self, label, children):
            super().__init__(children)
            self._label = label

        def label(self):
            return self._label

    tree = Node("S", [Node("NP", [Node("PRP", ["it"])]), Node("VP", [Node("VBZ", ["is"])])])
    assert as_tree(tree, "y") == as_tree("(S (NP (PRP it)) (VP (VBZ is)))", "y")


@pytest.mark.parametrize("learner", [StructuralSVM, RelativeFrequencies])
@pytest.mark.parametrize("options", [{}, {"inputs": "words"}, {"vertical": 2, "horizontal": 1}])
def test_models_are_saved_and_loaded(learner, options, tmp_path):
    X, Y = toy()
    X = [[(word, tag) for tag, word in leaves(as_tree(y, "y"))] for y in Y]
    fitted = learner(Grammar(**options)).fit(X, Y)
    fitted.save(tmp_path / "model.slm")
    loaded = structlearn.load(tmp_path / "model.slm")
    assert loaded.spec_ == fitted.spec_
    assert loaded.predict(X) == fitted.predict(X) == pickle.loads(pickle.dumps(fitted)).predict(X)


def test_results_do_not_depend_on_the_number_of_threads():
    random = np.random.default_rng(0)
    twins = twins_of(random, sizes=(5, 6, 7, 8) * 6, loss="f1", spans=True)
    w = random.normal(size=twins.problem.n_features)
    every = np.arange(twins.problem.n_examples)
    found = []
    for twins.problem.n_threads in (1, 3):
        planes = [twins.problem.oracle(w, every, scaling).rows.sparse() for scaling in (PREDICTION, *SCALINGS)]
        gradient = np.zeros(len(w))
        losses = twins.problem.log_losses(w, np.ones(len(every)), gradient)
        found.append(np.concatenate([losses, gradient, *(rows.values for rows in planes)]))
    np.testing.assert_array_equal(*found)
