import pytest
from hypothesis import given
from hypothesis import strategies as st

from structlearn.data import clean_tree, leaves
from structlearn.io import Brackets, FormatError, Lines, recognise

NAMES = st.text(st.characters(codec="utf-8", exclude_characters="()", exclude_categories=["Z", "C"]), min_size=1)
TREES = st.recursive(
    st.tuples(NAMES, NAMES),
    lambda child: st.builds(lambda label, below: (label, *below), NAMES, st.lists(child, min_size=1)),
)


def read(text):
    return list(Brackets().read(Lines([text.encode()], "trees.mrg")))


@given(st.lists(TREES, min_size=1, max_size=3))
def test_what_is_written_is_read_again(trees):
    text = "".join(Brackets().write(None, tree) for tree in trees)
    examples = read(text)
    assert [example.y for example in examples] == trees
    assert [example.x for example in examples] == [[(word, tag) for tag, word in leaves(tree)] for tree in trees]


def test_trees_may_extend_over_lines_and_follow_one_another_on_one():
    text = "( (S (NP (PRP it))\n   (VP (VBZ is))) )  ((NN a))\n(X (Y b)) (Z c)\n"
    first, second, third, fourth = read(text)
    assert first.y == ("S", ("NP", ("PRP", "it")), ("VP", ("VBZ", "is")))
    assert (second.y, third.y, fourth.y) == (("NN", "a"), ("X", ("Y", "b")), ("Z", "c"))
    assert [example.line for example in (first, second, third)] == [1, 2, 3]


def test_an_outer_bracket_around_several_trees_is_a_root():
    assert read("((A a) (B b))")[0].y == ("ROOT", ("A", "a"), ("B", "b"))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("(S (NP (PRP it))", "trees.mrg:1:1: the tree that begins here is not closed: a bracket is open"),
        ("(A a)\n word", r"trees.mrg:2:2: expected '\(', found 'word'"),
        ("(S (NP))", "trees.mrg:1:7: a bracket that holds neither trees nor a word"),
        ("()", "trees.mrg:1:2: a bracket that holds neither"),
        ("(S it (VP (V is)))", "the word 'it' in the bracket that ends here has no tag of its own"),
        ("(A " * 300, "more than 200 brackets are open"),
        ("\n", "the file holds no example"),
    ],
)
def test_what_is_no_tree_is_named_with_its_place(text, message):
    with pytest.raises(FormatError, match=message):
        read(text)


def test_the_format_is_recognised_and_columns_with_brackets_are_not_taken_for_it():
    assert recognise(["", "( (S ", "    (NP-SBJ (NNP Pierre) (NNP Vinken) )"]).name == "brackets"
    assert recognise(["(NP (DT the) (NN dog))"]).name == "brackets"
    assert recognise(["( ( O", "EC NNP B-NP", ") ) O"]).name == "columns"


@pytest.mark.parametrize("tree", [("S", ("A", "a b")), ("S x", ("A", "a")), ("S", ("A", "")), ("S", ("A", "("))])
def test_what_the_format_cannot_hold_is_refused(tree):
    with pytest.raises(ValueError, match="cannot be written"):
        Brackets().write(None, tree)


def test_clean_trees_have_no_traces_function_tags_nor_phrases_twice():
    tree = ("S-TPC-1", ("NP-SBJ=2", ("-NONE-", "*")), ("VP", ("VBZ", "is"), ("NP-PRD", ("NP", ("-LRB-", "-LRB-")))))
    assert clean_tree(tree) == ("S", ("VP", ("VBZ", "is"), ("NP", ("-LRB-", "-LRB-"))))
    assert clean_tree(("NP", ("-NONE-", "*T*"))) is None


@pytest.mark.parametrize("text", ["(" + " " * 60_000 + "x", "(" * 60_000, "(" + "a" * 60_000 + "()", "(a " * 20_000])
def test_recognising_takes_no_longer_than_the_text(text):
    assert Brackets.recognise([text], "") is None
