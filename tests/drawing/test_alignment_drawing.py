"""Alignments in terminals and reports."""

import re
from html import unescape

from hypothesis import given
from hypothesis import strategies as st

from structlearn.data import from_gapped, to_gapped
from structlearn.drawing import draw_alignment
from structlearn.io import NamedSequence
from structlearn.models import Alignment


@st.composite
def pairs(draw):
    """Two sequences and two alignments of theirs."""
    s, t = (draw(st.text("AIVW", min_size=1, max_size=40)) for _ in range(2))

    def matches():
        size = draw(st.integers(0, min(len(s), len(t))))
        places = [sorted(draw(st.permutations(range(len(sequence))))[:size]) for sequence in (s, t)]
        return tuple(zip(*places, strict=True))

    return s, t, matches(), matches()


def test_alignments_are_wrapped_and_numbered():
    text = draw_alignment("IWAC" * 4, "WC", ((9, 0), (10, 1)), names=("one", "t"), width=18).text.plain
    assert text == (
        "one  1 IWACIWACIW 10\n                |\nt    1 ---------W 1\n\none 11 ACIWAC 16\n       .\nt    2 C----- 2"
    )


def test_colours_tell_equal_similar_and_other_letters():
    text = draw_alignment("IWAC", "VWC", ((0, 0), (1, 1), (3, 2))).text
    colours = {text.plain[span.start]: span.style for span in text.spans}
    assert (colours["I"], colours["W"], colours["-"]) == ("yellow", "green", "dim")
    assert text.plain.splitlines()[1].strip() == ":| |"


def test_a_right_alignment_is_drawn_once():
    matches = ((0, 0), (2, 1))
    drawn = draw_alignment("ACG", "AG", matches, [list(match) for match in matches])
    assert drawn.text.plain == draw_alignment("ACG", "AG", matches).text.plain


@given(pairs())
def test_rows_are_those_of_the_alignment_whatever_the_width(drawn):
    s, t, matches, _ = drawn
    for width in (1, 20, 200):
        lines = draw_alignment(s, t, matches, width=width).text.plain.split("\n")
        found = [re.sub(r"[\d\s]", "", "".join(lines[k::4])) for k in (0, 2)]
        assert tuple(found) == to_gapped(s, t, matches)


@given(pairs())
def test_marks_stand_below_the_columns_that_the_other_alignment_does_not_have(drawn):
    s, t, matches, truth = drawn
    lines = draw_alignment(s, t, matches, truth, width=200).text.plain.split("\n")
    if matches == truth:
        assert len(lines) == 3
        return
    wrong, missed = set(matches) - set(truth), set(truth) - set(matches)
    assert lines[0] == f"predicted: {len(wrong)} of {len(matches)} matches wrong"
    assert lines[5] == f"true: {len(missed)} of {len(truth)} matches missed"
    for title, sign, differing in ((0, "✗", wrong), (5, "✓", missed)):
        top, _, bottom, marks = lines[title + 1 : title + 5]
        begin = top.index(" ", len(top) - len(top.lstrip())) + 1
        size = len(to_gapped(s, t, truth if title else matches)[0])
        a, b, marks = (line[begin : begin + size].ljust(size) for line in (top, bottom, marks))
        marked = {
            from_gapped(a[: k + 1], b[: k + 1])[-1] for k in range(size) if marks[k] == sign and "-" not in (a[k], b[k])
        }
        assert marked == differing


def test_reports_show_where_two_alignments_differ():
    s = "ACDEFGHIKL" * 40
    right = tuple((i, i) for i in range(len(s)))
    wrong = tuple((i, i) for i in range(len(s)) if i != 205)
    html = draw_alignment(s, s, wrong, right, names=("<one>", "two")).html
    assert "<figcaption>predicted: 0 of 399 matches wrong</figcaption>" in html
    assert re.findall(r"… (\d+) columns alike …", html) == ["160", "161", "160", "160"]
    assert '<span class="given">G-</span>' in html
    assert '<span class="true">G</span>' in html
    assert "&lt;one&gt; 161 " in html
    assert "columns more" not in html
    assert re.findall(r"… (\d+) columns more …", draw_alignment(s, s, right[:1], right).html) == ["259"]


def test_reports_leave_nothing_out_without_a_truth():
    s = "ACDEFGHIKL" * 90
    html = draw_alignment(s, s, [(i, i) for i in range(len(s))]).html
    assert re.sub(r"<[^>]*>|[\d\s|]", "", unescape(html)) == "".join(s[k : k + 90] * 2 for k in range(0, 900, 90))


def test_a_model_draws_what_has_letters():
    x = (NamedSequence("ACG", "one of two"), {"residue": list("AG"), "structure": "HH"})
    assert str(Alignment().drawing(x, ((0, 0), (2, 1)))).splitlines()[0] == "one 1 ACG 3"
    assert Alignment().drawing((["the", "dog"], ["a", "dog"]), ((1, 1),)) is None
