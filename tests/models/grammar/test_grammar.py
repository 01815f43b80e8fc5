import pickle
from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.base import clone

import structlearn
from structlearn import ConditionalRandomField, RelativeFrequencies, StructuralSVM, StructuredPerceptron
from structlearn.data import as_tree, brackets, leaves, remove_unary_cycles
from structlearn.data.trees import nodes, unary_cycle
from structlearn.evaluation import evaluate
from structlearn.models import Grammar
from tests.models import sums
from tests.models.enumerated import BEST, asked
from tests.models.grammar.enumerated_grammar import twins_of
from tests.models.instances import SCALINGS


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
        (["NN"], "(NP (NP (NN dog)))", r"Y\[0\] has the unary cycle NP → NP; unary_cycles='remove'"),
        (["NN"], "(S (NP (VP (NP (NN dog)))))", r"Y\[0\] has the unary cycle NP → VP → NP"),
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
        ({"unary_cycles": "keep"}, "unary_cycles is 'keep'"),
        ({"max_chain": 0}, "1 unary rules in a row, and max_chain is 0"),
    ],
)
def test_bad_options_are_named(options, message):
    with pytest.raises(ValueError, match=message):
        StructuralSVM(Grammar(**options)).fit(*toy())


def test_unary_cycles_are_removed_in_training_and_kept_in_the_truth():
    X, Y = toy()
    cyclic = ["(S (NP (DT the) (NN dog)) (VP (S (VP (VBZ barks)))))"]
    plain = ["(S (NP (DT the) (NN dog)) (VP (VBZ barks)))"]
    words = [["DT", "NN", "VBZ"]]
    model = Grammar(unary_cycles="remove")
    fitted = StructuralSVM(model, C=10).fit(X + words, Y + cyclic)
    same = StructuralSVM(Grammar(), C=10).fit(X + words, Y + plain)
    assert fitted.spec_ == same.spec_
    np.testing.assert_array_equal(fitted.w_, same.w_)
    assert RelativeFrequencies(model).fit(X + words, Y + cyclic).spec_ == same.spec_
    (predicted,) = fitted.predict(words)
    assert brackets(predicted) == brackets(as_tree(plain[0], "y"))
    found = evaluate(fitted, words, cyclic)
    # S, NP and VP of five true brackets.
    assert found.scores["recall"].estimate == 3 / 5
    assert (found.right.tolist(), found.losses.tolist()) == ([False], [2])
    assert np.isnan(found.margins).all()


def labelled_trees():
    """Trees over few labels with many chains."""
    labels = st.sampled_from("ABC")

    def above(children):
        return st.builds(lambda label, some: (label, *some), labels, st.lists(children, min_size=1, max_size=2))

    return st.recursive(st.just(("T", "w")), above)


@given(labelled_trees())
def test_removing_unary_cycles_leaves_each_label_once_over_its_words(tree):
    cut = remove_unary_cycles(tree)
    assert leaves(cut) == leaves(tree)
    assert unary_cycle(cut) is None
    assert (cut == tree) == (unary_cycle(tree) is None)
    before, after = Counter(nodes(tree)), Counter(nodes(cut))
    assert after <= before
    assert {(begin, end) for _, begin, end in before} == {(begin, end) for _, begin, end in after}


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
        planes = [asked(twins.problem, w, every, scaling).rows.sparse() for scaling in (BEST, *SCALINGS)]
        gradient = np.zeros(len(w))
        losses = twins.problem.log_losses(w, np.ones(len(every)), gradient)
        found.append(np.concatenate([losses, gradient, *(rows.values for rows in planes)]))
    np.testing.assert_array_equal(*found)
