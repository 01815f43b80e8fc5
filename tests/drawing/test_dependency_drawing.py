from itertools import pairwise
from xml.etree import ElementTree

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len

from structlearn.data.dependency_trees import is_projective
from structlearn.drawing import draw_dependencies
from structlearn.drawing.dependencies import AFTER, ARROW, BEFORE, FAR, NEAR, _cells
from tests.data.test_dependency_trees import trees

WORDS = st.sampled_from(["a", "dog", "犬", "<&>", "[red]", "\t", "anti-disestablishmentarianism-of-1869"])
LABELS = st.sampled_from(["root", "nsubj", "nsubj:pass", "<b>", "名"])


@st.composite
def sentences(draw, n_trees=1):
    n = draw(st.integers(1, 8))
    x = draw(st.lists(WORDS, min_size=n, max_size=n))
    labels = st.lists(LABELS, min_size=n, max_size=n)
    return x, *(list(zip(draw(trees(n)), draw(labels), strict=True)) for _ in range(n_trees))


def followed(cells, t):
    """The token that the line of the arrow to token t comes from, 0 for none."""
    row = cells[t - 1]
    k = row.index(ARROW) + 1
    while k < len(row) and row[k] & FAR and row[k] & NEAR:
        k += 1
    if k == len(row) or not row[k]:
        return 0
    own = {s for s in range(len(cells)) if cells[s].index(ARROW) - 1 == k}
    reach = [t - 1]
    for step, bit in ((-1, BEFORE), (1, AFTER)):
        s = t - 1
        while cells[s][k] & bit:
            s += step
            reach.append(s)
    (head,) = own & set(reach)
    return head + 1


@given(st.integers(1, 9).flatmap(trees).filter(is_projective))
def test_lines_lead_from_every_arrow_to_the_head(heads):
    cells = _cells(heads)
    assert [followed(cells, t) for t in range(1, len(heads) + 1)] == heads


@given(st.integers(1, 9).flatmap(trees))
def test_every_token_has_one_arrow_and_lines_go_on_where_they_enter(heads):
    cells = _cells(heads)
    for t, row in enumerate(cells):
        assert row.count(ARROW) == 1
        for k, bits in enumerate(row):
            if bits == ARROW:
                continue
            if bits & AFTER:
                assert cells[t + 1][k] & BEFORE
            if bits & BEFORE:
                assert cells[t - 1][k] & AFTER
            if bits & FAR and row[k + 1] != ARROW:
                assert row[k + 1] & NEAR


@given(sentences(2))
def test_arcs_that_the_other_tree_does_not_have_are_marked(sentence):
    x, found, true = sentence
    for width in (1000, 80, 20):
        text = str(draw_dependencies(x, found, true, width=width))
        wrong = sum(a != b for a, b in zip(found, true, strict=True))
        assert text.count("✗") == text.count("✓") == wrong
        assert text.startswith("predicted\n") == bool(wrong)


@given(sentences(), st.integers(1, 120))
def test_a_line_is_no_wider_than_the_terminal_unless_no_form_is(sentence, width):
    x, y = sentence
    lines = str(draw_dependencies(x, y, width=width)).split("\n")
    above, beside, listed = (str(draw_dependencies(x, y, width=wide)).split("\n") for wide in (10**6, 77, 0))
    assert len(listed) == len(x)
    assert lines in (above, beside, listed) or len(lines) == len(x)
    if max(map(cell_len, above)) <= width:
        assert lines == above
    elif lines != listed:
        assert max(map(cell_len, lines)) <= width


def test_twenty_tokens_fit_into_eighty_columns():
    words = "Jim Lobe has more on the political implications of the Fallujah assault , both in Iraq and in Washington ."
    heads = [3, 1, 0, 3, 8, 8, 8, 4, 12, 12, 12, 8, 16, 16, 16, 8, 19, 19, 16, 3]
    lines = str(draw_dependencies(words.split(), [(head, "cc:preconj") for head in heads], width=80)).splitlines()
    assert len(lines) == 20
    assert lines[:4] == [
        "Jim           cc:preconj ──┐◀──────┐",
        "Lobe          cc:preconj  ◀┘       │",
        "has           cc:preconj ──────────┤◀",
        "more          cc:preconj ────────┐◀┤",
    ]


def test_arcs_that_cross_cross():
    assert str(draw_dependencies(["a", "b", "c", "d"], [0, 4, 1, 1], width=10)).splitlines() == [
        "a  ────┐◀",
        "b   ◀┐ │",
        "c   ◀┼─┤",
        "d  ──┘◀┘",
    ]


def test_heads_are_named_where_there_is_no_room_for_lines():
    assert str(draw_dependencies([("Go", "VERB"), ("!", "PUNCT")], [(0, "root"), (1, "x")], [0, 1], width=3)) == (
        "1 Go root ◀ 0\n2 ! x ◀ 1 Go"
    )


@given(sentences(2))
def test_a_picture_is_sound_and_its_words_and_labels_do_not_meet(sentence):
    x, found, true = sentence
    for svg in ElementTree.fromstring(draw_dependencies(x, found, true).html).iter("svg"):
        assert svg.get("role") == "img"
        assert svg.findtext("title").startswith("The ")
        width, height = float(svg.get("width")), float(svg.get("height"))
        rows = {}
        for text in svg.iter("text"):
            size = 6.6 if "label" in text.get("class", "") else 7.5
            half = cell_len(text.text) * size / 2
            x, y = float(text.get("x")), float(text.get("y"))
            assert -1 <= x - half <= x + half <= width + 1
            assert 0 < y < height
            rows.setdefault(y, []).append((x - half, x + half))
        for row in rows.values():
            assert all(left[1] < right[0] for left, right in pairwise(sorted(row)))


def test_a_picture_names_what_it_marks():
    html = draw_dependencies(["I", "go"], [(2, "obj"), (0, "root")], [(2, "nsubj"), (0, "root")]).html
    predicted, true = ElementTree.fromstring(html).iter("figure")
    for figure, kind, label in ((predicted, "given", "✗ obj"), (true, "true", "✓ nsubj")):
        assert [text.text for text in figure.iter("text") if kind in text.get("class", "")] == [label]
        assert [path.get("class") for path in figure.iter("path") if path.get("class")] == [
            kind,
            f"arrow {kind}",
            "arrow",
        ]
    assert predicted.findtext("svg/title") == "The predicted dependency tree, 1 of its arcs marked with ✗"
    assert true.findtext("svg/desc") == "I is ✓ nsubj of go; go is root of root"


@pytest.mark.parametrize(
    ("trees", "message"),
    [
        (([0],), "y has 1 entries, the other one 1, but x has 2 tokens"),
        (([0, 1], [0]), "y has 2 entries, the other one 1, but x has 2 tokens"),
        (([2, 1],), "y is no tree: no token has the head 0"),
        ((["x", 0],), r"y\[0\] is 'x'; a head is a whole number"),
    ],
)
def test_what_is_no_tree_of_the_sentence_is_refused(trees, message):
    with pytest.raises(ValueError, match=message):
        draw_dependencies(["a", "b"], *trees)
