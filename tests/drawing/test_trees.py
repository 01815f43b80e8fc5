from collections import Counter
from itertools import pairwise
from xml.etree import ElementTree

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len

from structlearn.data.trees import brackets, leaves, nodes
from structlearn.drawing import draw_tree

LABELS = st.sampled_from(["S", "NP", "VP", "ROOT", "a long label", "名詞句"])
WORDS = st.sampled_from(["a", "dog", "犬", "<&>", "[red]", "anti-disestablishmentarianism-of-1869"])


@st.composite
def trees(draw, n):
    """A tree over n tokens with any tags."""
    if n == 1:
        tree = (draw(st.sampled_from(["NN", "VB"])), draw(WORDS))
        return draw(st.sampled_from([tree, ("NP", tree), ("S", ("NP", tree))]))
    cuts = draw(st.sets(st.integers(1, n - 1), min_size=1))
    return (draw(LABELS), *(draw(trees(end - begin)) for begin, end in pairwise([0, *sorted(cuts), n])))


PAIRS = st.integers(1, 6).flatmap(lambda n: st.tuples(trees(n), trees(n)))


@given(PAIRS)
def test_what_the_other_tree_does_not_have_is_marked(pair):
    found, true = pair
    text = str(draw_tree(found, true, width=1000))
    tags = sum(a != b for (a, _), (b, _) in zip(leaves(found), leaves(true), strict=True))
    made_up, missed = (Counter(brackets(a)) - Counter(brackets(b)) for a, b in (pair, pair[::-1]))
    assert text.count("✗") == made_up.total() + tags
    assert text.count("✓") == missed.total() + tags
    assert text.startswith("predicted\n") == bool(made_up or missed or tags)


@given(trees(5), st.integers(1, 120))
def test_a_line_is_no_wider_than_the_terminal_unless_no_form_is(tree, width):
    lines = str(draw_tree(tree, width=width)).splitlines()
    sideways = str(draw_tree(tree, width=10**6)).splitlines()
    assert len(sideways) == 5
    if max(map(cell_len, sideways)) <= width:
        assert lines == sideways
    else:
        assert len(lines) == 5 + sum(1 for _ in nodes(tree))
        assert max(map(cell_len, lines)) <= max(map(cell_len, sideways))


def test_words_stand_after_the_labels_above_them():
    assert str(draw_tree("(S (NP (NP (DT the) (NN dog)) (PP (IN of) (NP (PRP it)))) (. .))")).splitlines() == [
        "S ┬ NP ┬ NP ┬ DT the",
        "  │    │    └ NN dog",
        "  │    └ PP ┬ IN of",
        "  │         └ NP ─ PRP it",
        "  └ .",
    ]


def test_a_narrow_terminal_gets_a_line_for_every_node():
    tree = "(S (NP (DT the) (NN dog)) (VP (VBZ sleeps)))"
    expected = ["S", " NP", "  DT the", "  NN dog", " VP", "  VBZ sleeps"]
    assert str(draw_tree(tree, width=15)).splitlines() == expected


def test_twenty_words_of_the_treebank_fit_into_a_hundred_columns():
    tree = ("S", *[("NP", ("NN", "word")) for _ in range(12)])
    for label in ("SBAR", "VP", "PP", "NP", "SBAR", "VP", "PP", "NP"):
        tree = (label, ("IN", "that"), tree)
    lines = str(draw_tree(tree)).splitlines()
    assert len(lines) == 20
    assert max(map(cell_len, lines)) <= 100


def test_text_is_never_read_as_markup():
    tree = ("[bold]S", ("[red]", "[/red]"), ("<b>", "</svg>"))
    drawing = draw_tree(tree)
    assert "[bold]S ┬ [red] [/red]" in str(drawing)
    assert "<b>" not in drawing.html
    assert "&lt;/svg&gt;" in drawing.html


@given(PAIRS)
def test_a_picture_is_sound_and_its_labels_do_not_meet(pair):
    html = draw_tree(*pair).html
    for svg in ElementTree.fromstring(html).iter("svg"):
        assert svg.get("role") == "img"
        assert svg.findtext("title").startswith("The ")
        assert svg.findtext("desc").startswith("(")
        width, height = float(svg.get("width")), float(svg.get("height"))
        rows = {}
        for text in svg.iter("text"):
            half = cell_len(text.text) * 7.5 / 2
            x, y = float(text.get("x")), float(text.get("y"))
            assert -1 <= x - half <= x + half <= width + 1
            assert 0 < y < height
            rows.setdefault(y, []).append((x - half, x + half))
        for row in rows.values():
            assert all(left[1] < right[0] for left, right in pairwise(sorted(row)))


def test_a_picture_names_what_it_marks():
    html = draw_tree("(S (NP (DT a) (NN b)) (VB c))", "(S (DT a) (VP (NN b) (VB c)))").html
    predicted, true = ElementTree.fromstring(html).iter("figure")
    assert [text.text for text in predicted.iter("text") if text.get("class") == "given"] == ["✗ NP"]
    assert [text.text for text in true.iter("text") if text.get("class") == "true"] == ["✓ VP"]
    assert predicted.findtext("svg/title") == "The predicted tree, 1 of its labels marked with ✗"
    assert true.findtext("svg/desc") == "(S (DT a) (✓ VP (NN b) (VB c)))"


def test_trees_of_different_sentences_are_refused():
    with pytest.raises(ValueError, match="the tree has 1 leaves but the truth has 2"):
        draw_tree("(S (A a))", "(S (A a) (B b))")
