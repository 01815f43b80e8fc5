"""Parse trees: their kernel, and the nearest of all trees by enumeration."""

from itertools import product

import numpy as np
import pytest

from structlearn.data import format_tree
from structlearn.outputs import TreeOutputs

RANDOM = np.random.default_rng(0)
#: With chains of two labels in either order, a root that is no bracket, and a label that only whole sentences have.
KNOWN = ["(ROOT (S (A (t t)) (B (A (t t)) (t t))))", "(S (B (A (t t) (t t))) (A (B (t t))) (t t))", "(A (B (t t)))"]


def labelled(chain, children):
    for label in reversed(chain):
        children = ((label, *children),)
    return children[0]


def children(begin, end, chains, proper=True):
    """All sequences of trees over these tokens; where they are proper, without a phrase over all of the tokens."""
    if begin == end:
        yield ()
    for after in range(begin + 1, end + 1):
        first = [("t", "t")] if after == begin + 1 else []
        if after < end or not proper:
            first += [labelled(*phrase) for phrase in product(chains, children(begin, after, chains))]
        yield from ((one, *rest) for one, rest in product(first, children(after, end, chains, proper=False)))


def test_chains_of_whole_sentences_are_told_from_those_within():
    outputs = TreeOutputs().fit(KNOWN)
    assert outputs.chains_ == (("A",), ("A", "B"), ("B",), ("B", "A"))
    assert outputs.tops_ == (("A", "B"), ("ROOT", "S"), ("S",))
    assert outputs.classes_.tolist() == ["A", "B", "S"]


# Of the chains of KNOWN without the last of each, whose brackets another has that comes before it.
@pytest.mark.parametrize(
    ("known", "n_tops", "n_chains", "lengths"),
    [(KNOWN, 2, 3, [1, 2, 3]), (["(S (A (t t) (t t)) (t t))"], 1, 1, [4, 5])],
    ids=["chains", "long"],
)
def test_the_nearest_tree_is_that_of_enumeration(known, n_tops, n_chains, lengths):
    outputs = TreeOutputs().fit(known)
    tops, chains = outputs.tops_[:n_tops], outputs.chains_[:n_chains]
    for n in lengths:
        listed = [labelled(*whole) for whole in product(tops, children(0, n, chains))]
        shape = (n * (n + 1) // 2, outputs.n_coordinates())
        targets = outputs.targets(listed, [["t"] * n] * len(listed)).reshape(-1, *shape)
        for mean in np.linspace(0.2, 0.8, 10):
            F = RANDOM.normal(mean, 0.5, size=shape)
            (found,) = outputs.nearest(F, [["t"] * n])
            assert found == listed[int(np.argmin(((targets - F) ** 2).sum(axis=(1, 2))))]


def test_the_more_frequent_order_of_labels_on_a_span_is_predicted():
    for order in ("B A", "A B"):
        first, second = order.split()
        often, seldom = (f"(S ({a} ({b} (t t))) (t t))" for a, b in ((first, second), (second, first)))
        outputs = TreeOutputs().fit([often, often, seldom])
        vectors = outputs.targets([seldom], [["t", "t"]])
        assert [format_tree(y) for y in outputs.nearest(vectors, [["t", "t"]])] == [often]


def test_trees_have_the_kernel_of_their_brackets():
    outputs, sentence = TreeOutputs().fit(KNOWN), [["t"] * 3]
    one, other = "(ROOT (S (A (t t)) (B (A (t t)) (t t))))", "(S (A (t t)) (B (B (t t)) (t t)))"
    both = [outputs.targets([y], sentence) for y in (one, other)]
    assert [np.vdot(y, y) for y in both] == [4, 4]
    assert np.vdot(*both) == 3
    assert outputs.score([one], [other], sentence, np.ones(1)) == pytest.approx(3 / 4)
    # A label of which training knew nothing is wrong, but measured.
    unknown = "(S (A (t t)) (new (t t) (t t)))"
    assert outputs.score([unknown, one], [other, other], sentence * 2, np.array([1.0, 0.0])) == pytest.approx(4 / 7)
    flat = "(ROOT (t t) (t t) (t t))"
    assert outputs.score([flat], [flat], sentence, np.ones(1)) == 1.0


def test_sentences_of_pairs_keep_their_words():
    outputs = TreeOutputs().fit(KNOWN)
    (y,) = outputs.nearest(np.zeros((3, 3)), [[("a", "DT"), ["dog", "NN"]]])
    assert format_tree(y) == "(ROOT (S (DT a) (NN dog)))"


def sentence(*tags, shape=None):
    n = len(tags)
    return {"tokens": tags, "features": np.ones((n, n, 1) if shape is None else shape)}


TWO = sentence("A", "B")
GOOD = "(S (A A) (B B))"


@pytest.mark.parametrize(
    ("X", "Y", "message"),
    [
        ([TWO, 3], [GOOD] * 2, r"X\[1\] is 3; expected a dict of 'tokens' and 'features'"),
        ([TWO, {"tokens": ["A"]}], [GOOD] * 2, r"X\[1\] is .*; expected a dict of 'tokens' and 'features'"),
        ([TWO, sentence()], [GOOD] * 2, r"X\[1\]\['tokens'\] has no tokens"),
        ([{**TWO, "tokens": ["A", 3]}], [GOOD], r"X\[0\]\['tokens'\]\[1\] is 3; expected a string or a pair"),
        ([sentence("A", "B", shape=(2, 3, 1))], [GOOD], r"X\[0\] has 2 tokens but 2 rows and 3 columns of features"),
        ([sentence("A", "B", shape=(3, 3, 1))], [GOOD], r"X\[0\] has 2 tokens but 3 rows and 3 columns of features"),
        ([sentence("A", "B", shape=(2, 1))], [GOOD], r"X\[0\] has 2 dimensions"),
        ([{**TWO, "features": np.full((2, 2, 1), np.nan)}], [GOOD], r"X\[0\]\[0, 0, 0\] is nan"),
        ([TWO], None, "requires y to be passed"),
        ([TWO], [GOOD] * 2, "X has 1 sentences but Y has 2 trees"),
        ([TWO, TWO], [GOOD, "(S (A A))"], r"Y\[1\] has 1 leaves but X\[1\] has 2 tokens"),
        ([TWO, TWO], [GOOD, "(S (A A) (C C))"], r"Y\[1\] has the leaf 'C' where X\[1\]\[1\] is 'B'"),
        ([TWO, TWO], [GOOD, "(S (A A)"], r"Y\[1\]: 1 brackets are not closed"),
        ([TWO, sentence("A")], [GOOD, "(A A)"], r"Y\[1\] is the leaf \('A', 'A'\)"),
        ([TWO, TWO], [GOOD, "(S (T (S (A A) (B B))))"], r"Y\[1\] has the unary cycle S → T → S"),
        ([TWO], ["(ROOT (A A) (B B))"], "no tree of y has a bracket"),
    ],
)
def test_what_cannot_be_is_refused_by_the_name_of_the_example(X, Y, message):
    def targets(outputs):
        places = outputs.read(X, None).places
        return outputs.fit(Y).targets(Y, places)

    with pytest.raises(ValueError, match=message):
        targets(TreeOutputs())


def test_labels_that_training_had_not_are_named():
    with pytest.raises(ValueError, match=r"a label of Y\[1\] is 'T', which is not among the 1 classes"):
        TreeOutputs().fit([GOOD]).targets([GOOD, "(T (A A) (B B))"], [["A", "B"]] * 2)


@pytest.mark.parametrize(
    ("learnt", "message"),
    [
        ({"chains_": [("A",)]}, "chains_ is a list, not a tuple"),
        ({"chains_": (("A",), ("A",))}, r"chains_\[1\] is \('A',\), which chains_ has before"),
        ({"chains_": ((),)}, r"chains_ \(\(\),\); trees have labels"),
        ({"tops_": (("A", 3),)}, r"tops_\[0\]\[1\] is 3, not of type str"),
        ({"tops_": (("A", "A"),)}, r"tops_\[0\]\[1\] is 'A', which tops_\[0\] has before"),
        ({"tops_": ()}, r"tops_ is \(\)"),
        ({"tops_": (("ROOT",),), "chains_": ()}, "trees have labels"),
    ],
)
def test_what_fit_could_not_have_learnt_is_refused(learnt, message):
    outputs = TreeOutputs().fit([GOOD])
    outputs.check_learnt()
    vars(outputs).update(learnt)
    with pytest.raises(ValueError, match=message):
        outputs.check_learnt()
