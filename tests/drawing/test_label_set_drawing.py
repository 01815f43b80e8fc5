import re

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from structlearn.drawing import draw_label_set
from structlearn.drawing.label_sets import MOST_LABELS

sets = st.sets(st.sampled_from("abcdefgh"))


@given(sets, sets)
def test_what_is_missing_and_what_is_too_much_is_marked(found, true):
    drawing = draw_label_set(found, true)
    heading, shown = str(drawing).split("\n")
    numbers = len(found & true), len(true - found), len(found - true)
    assert heading == "{} right, {} missing ✓, {} extra ✗".format(*numbers)
    marks = {label: "" if label in found & true else "✗" if label in found else "✓" for label in found | true}
    assert shown == (", ".join(label + marks[label] for label in sorted(marks)) or "no label")
    assert set(re.findall(r'class="given">(.)✗', drawing.html)) == found - true
    assert set(re.findall(r'class="true">(.)✓', drawing.html)) == true - found


def test_rows_of_zeros_and_ones_have_names():
    names = ["urban", "beach", "sunset"]
    expected = str(draw_label_set({"urban", "sunset"}, {"beach", "urban"}, names=names))
    assert str(draw_label_set(np.array([1, 0, 1]), [True, True, False], names=names)) == expected
    # In the order of the columns.
    assert expected.split("\n")[1] == "urban, beach✓, sunset✗"


def test_without_a_truth_labels_are_listed():
    assert str(draw_label_set(["b", "a"])) == "a, b"
    assert str(draw_label_set(set())) == "no label"


def test_lines_are_broken_at_the_width():
    lines = str(draw_label_set([f"label{k:02}" for k in range(30)], width=40)).split("\n")
    assert max(map(len, lines)) <= 40
    assert ", ".join(line.rstrip(",") for line in lines).count("label") == 30


def test_of_very_many_labels_those_that_are_right_are_left_out_first():
    true = set(range(300))
    text = str(draw_label_set((true - {299}) | {-1}, true))
    assert "299✓" in text
    assert "-1✗" in text
    assert text.endswith(f"and {301 - MOST_LABELS} more that are right")


def test_names_are_escaped():
    assert "<b>" not in draw_label_set({"<b>"}).html


@pytest.mark.parametrize(
    ("labels", "names", "message"),
    [
        ("beach", None, "labels is 'beach'; expected a set of labels"),
        ([1, 0], ["a"], r"labels is \[1, 0\]; expected 1 zeros and ones"),
        ([2], ["a"], r"labels is \[2\]; expected 1 zeros and ones"),
    ],
)
def test_what_is_no_set_is_refused(labels, names, message):
    with pytest.raises(ValueError, match=message):
        draw_label_set(labels, names=names)
