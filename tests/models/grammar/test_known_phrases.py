import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from structlearn import ConditionalRandomField, LatentConditionalRandomField, LatentStructuralSVM, StructuralSVM
from structlearn.data.trees import leaves, nodes, parse_tree
from structlearn.models import Grammar
from tests.models import partial_twins
from tests.models.grammar.enumerated_grammar import EnumeratedGrammar, twins_of
from tests.models.grammar.test_grammar_decoders import SETTINGS
from tests.models.restrictions import check_partial_loss, check_restricted, restricted


def agrees(y, known):
    phrases = list(nodes(y))
    spans = {(begin, end) for _, begin, end in phrases}
    if known is not None and known and isinstance(known[0], str):
        known = list(nodes(known))
    return all(phrase in phrases or (phrase[0] is None and phrase[1:] in spans) for phrase in known or ())


def missed(y, known, kind):
    """Known phrases with labels that y lacks, and its phrases that cross one without; or whether there are any."""
    phrases = list(nodes(y))
    known = set(nodes(known) if known and isinstance(known[0], str) else known or ())
    lacking = sum(phrase[0] is not None and phrase not in phrases for phrase in known)
    crossing = sum(
        label is None and (b < begin < e < end or begin < b < end < e)
        for label, begin, end in known
        for _, b, e in phrases
    )
    return float(lacking + crossing if kind == "brackets" else lacking + crossing > 0)


def partial(random, y):
    """Some of the phrases of y, with their labels or without; or all, as the tree."""
    kind = random.integers(6)
    if kind == 0:
        return None
    if kind == 1 and list(nodes(y)):
        return y
    known = [(label if random.integers(3) else None, b, e) for label, b, e in nodes(y) if random.integers(2)]
    return tuple(known[k] for k in random.permutation(len(known)))


@st.composite
def instances(draw, losses=("brackets", "f1", "zero_one")):
    random = np.random.default_rng(draw(st.integers(0, 2**32)))
    options = {
        "inputs": draw(st.sampled_from(["tags", "words"])),
        "loss": draw(st.sampled_from(losses)),
        "horizontal": draw(st.sampled_from([None, 0, 1])),
        "vertical": draw(st.sampled_from([1, 2])),
        "spans": draw(st.booleans()),
        "min_count": draw(st.sampled_from([1, 2])),
    }
    sizes = draw(st.lists(st.integers(1, 4), min_size=1, max_size=3))
    twins = twins_of(random, sizes=sizes, root=draw(st.booleans()), **options)
    assume(all(len(twins.reference.outputs(x)) <= 100 for x in twins.X))
    size = twins.problem.n_features
    w = random.integers(-1, 2, size).astype(float) if draw(st.booleans()) else random.normal(size=size)
    known = [partial(random, y) for y in twins.Y]
    return twins.reference.model, twins.reference, twins.X, twins.Y, known, w * draw(st.sampled_from([0.3, 1.0, 5.0]))


@settings(max_examples=120, **SETTINGS)
@given(instances())
def test_every_decoder_keeps_to_known_phrases(instance):
    *given, w = instance
    twins = restricted(*given, agrees)
    check_restricted(twins, w)
    labels = twins.reference.spec.labels
    for x, cells in zip(twins.X, twins.problem.label_probabilities(w), strict=True):
        possible = {(b, e, labels.index(label)) for y in twins.reference.outputs(x) for label, b, e in nodes(y)}
        assert set(zip(*map(np.ndarray.tolist, np.nonzero(cells)), strict=True)) <= possible


@pytest.mark.parametrize("loss", ["brackets", "f1", "zero_one"])
def test_a_top_that_needs_a_chain_is_no_bare_phrase(loss):
    """On the same words A stands alone, which lacks B, or above B, which has it."""
    Y = [("A", ("B", ("x", "x"), ("y", "y"))), ("B", ("A", ("x", "x"), ("y", "y")))]
    X, model = [["x", "y"] for _ in Y], Grammar(loss=loss)
    reference = EnumeratedGrammar(model, model.specify(X, Y))
    random = np.random.default_rng(0)
    for known in ("A", "B"):
        twins = restricted(model, reference, X, Y, [[(known, 0, 2)]] * 2, agrees)
        for _ in range(10):
            check_restricted(twins, random.normal(size=twins.problem.n_features))


@settings(max_examples=80, **SETTINGS)
@given(instances(losses=("brackets", "zero_one")))
def test_a_loss_of_known_phrases_counts_what_is_missed_and_what_crosses(instance):
    *given, w = instance

    check_partial_loss(*given, lambda y, known: missed(y, known, given[0].loss), w)


@settings(max_examples=50, **SETTINGS)
@given(instances(losses=("brackets", "zero_one")))
def test_partly_known_trees_agree_with_enumeration(instance):
    model, reference, X, Y, known, _ = instance
    problem = model.bind_partial(model.specify(X, Y), X, known)
    found = partial_twins.twins(
        problem,
        reference,
        X,
        known,
        lambda said, y: missed(y, said, model.loss),
        lambda said, y: agrees(y, said),
    )
    partial_twins.check_all(found, np.random.default_rng(0))


TREES = [
    "(S (NP (DT the) (NN dog)) (VP (VBZ sees) (NP (DT a) (NN cat))))",
    "(S (NP (DT the) (NN dog)) (VP (VBZ sees) (NP (NP (DT a) (NN cat)) (PP (IN in) (NP (DT the) (NN box))))))",
    "(S (NP (PRP it)) (VP (VBZ sees) (NP (DT a) (NN cat)) (PP (IN in) (NP (DT the) (NN box)))))",
]
SENTENCES = [[tag for tag, _ in leaves(parse_tree(tree))] for tree in TREES]


def test_attachment_follows_what_is_known():
    crf = ConditionalRandomField(Grammar(), C=10).fit(SENTENCES, TREES)
    x = [SENTENCES[2]]
    high, low = [("NP", 2, 4), ("PP", 4, 7), ("VP", 1, 7)], [(None, 2, 7)]
    for known in (high, low, TREES[2], {("NP", 2, 7)}):
        y = crf.predict(x, allowed=[known])[0]
        assert crf.k_best(x, 1, allowed=[known])[0][0][0] == y
        assert y in crf.sample(x, 50, random_state=0, allowed=[known])[0]
    assert ("NP", 2, 7) in nodes(crf.predict(x, allowed=[low])[0])
    assert crf.predict(x, allowed=[TREES[2]])[0] == crf.predict(x, allowed=[[("NP", 2, 4), *high]])[0]
    assert crf.predict_marginals(x, allowed=[low])[0][2, 7].sum() == pytest.approx(1.0)
    assert crf.predict_marginals(x)[0][2, 7].sum() < 0.9
    assert crf.entropy(x, allowed=[low])[0] <= crf.entropy(x)[0]


@pytest.mark.parametrize("estimator", [LatentStructuralSVM, LatentConditionalRandomField])
def test_estimators_learn_from_trees_and_phrases(estimator):
    fitted = estimator(Grammar(), C=30).fit(SENTENCES, [[("NP", 0, 2), (None, 3, 5)], TREES[1], TREES[2]])
    assert agrees(fitted.predict(SENTENCES[:1])[0], parse_tree(TREES[0]))
    with pytest.raises(ValueError, match="Y has no whole tree"):
        estimator(Grammar()).fit(SENTENCES[:1], [[("NP", 0, 2)]])


def test_labels_that_the_grammar_does_not_know_are_always_missed():
    model = Grammar()
    spec = model.specify(SENTENCES, TREES)
    with pytest.raises(ValueError, match=r"Y\[0\] has the phrase \('XP', 0, 2\), but 'XP' is no label"):
        model.partial_loss(spec, SENTENCES[:1], [[("XP", 0, 2)]])
    problem = model.bind_partial(spec, SENTENCES[:1], [[("XP", 0, 2), ("NP", 0, 2)]], allow_unknown=True)
    assert problem.losses(problem.predict(np.zeros(problem.n_features))).tolist() == [1.0]


def test_training_aims_at_trees_with_the_known_phrases_only():
    free = StructuralSVM(Grammar(), C=1, tol=1e-6).fit(SENTENCES, TREES)
    held = StructuralSVM(Grammar(), C=1, tol=1e-6).fit(SENTENCES, TREES, allowed=TREES)
    assert held.objective_ < free.objective_


@pytest.mark.parametrize(
    ("known", "message"),
    [
        ([("NP", 0, 2), ("VP", 1, 5)], r"allowed\[0\]: no tree has \('NP', 0, 2\) and \('VP', 1, 5\), which cross"),
        ([("NP", 3, 6)], r"allowed\[0\] has the phrase \('NP', 3, 6\), but X\[0\] has 5 tokens"),
        ([("NP", 1, 1)], r"allowed\[0\] has the phrase \('NP', 1, 1\); it must end after it begins"),
        ([("XP", 0, 2)], r"allowed\[0\] has the phrase \('XP', 0, 2\), but 'XP' is no label of the grammar"),
        ([("NP", 0)], r"a phrase of allowed\[0\] is \('NP', 0\); expected a segment"),
        (("NP", 0, 2), r"allowed\[0\]: |allowed\[0\] is 0"),
        ("(S (NP (DT the)))", r"allowed\[0\] has 1 leaves but X\[0\] has 5 tokens"),
        (3, r"allowed\[0\] is 3; expected None, phrases"),
        ([("PP", 0, 2)], r"allowed\[0\]: the rules derive no tree of X\[0\] with \[\('PP', 0, 2\)\]"),
        ([(None, 0, 3)], r"allowed\[0\]: the rules derive no tree of X\[0\] with \[\(None, 0, 3\)\]"),
    ],
)
def test_impossible_restrictions_name_the_phrase(known, message):
    svm = StructuralSVM(Grammar(), C=1).fit(SENTENCES, TREES)
    with pytest.raises(ValueError, match=message):
        svm.predict(SENTENCES[:1], allowed=[known])


def test_a_truth_that_lacks_a_known_phrase_is_named():
    with pytest.raises(ValueError, match=r"Y\[1\] lacks the phrase \('VP', 0, 2\), which allowed\[1\] has"):
        StructuralSVM(Grammar()).fit(SENTENCES, TREES, allowed=[None, [("VP", 0, 2)], None])
