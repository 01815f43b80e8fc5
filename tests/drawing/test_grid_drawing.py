import re
from xml.etree import ElementTree

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from structlearn.drawing import draw_grid
from structlearn.drawing.grids import FEW, LARGE, MOST_CELLS, MOST_LINES, SMALL
from structlearn.drawing.label_signs import PALETTE, LabelSigns

images = st.tuples(st.integers(1, 5), st.integers(1, 5)).flatmap(
    lambda shape: st.tuples(*[hnp.arrays(np.int64, shape, elements=st.integers(0, 3))] * 2)
)


def pictures(drawing):
    """The pictures of a report, without those of the legend."""
    found = re.findall(r"<svg.*?</svg>", drawing.html, re.DOTALL)
    return [ElementTree.fromstring(svg) for svg in found if 'role="img"' in svg]


def painted(picture, shape, size):
    """The colour of every pixel of a picture."""
    colours = np.full(shape, "", object)
    for rect in picture.iter("rect"):
        x, y, width, height = (int(rect.get(name)) // size for name in ("x", "y", "width", "height"))
        assert (colours[y : y + height, x : x + width] == "").all()
        colours[y : y + height, x : x + width] = rect.get("fill")
    return colours


@given(images)
def test_cells_have_the_colours_of_their_labels(pair):
    found, true = pair
    drawing = draw_grid(found, true, classes=range(4))
    shown = pictures(drawing)
    assert len(shown) == (1 if np.array_equal(found, true) else 2)
    for picture, labels in zip(shown, pair, strict=False):
        np.testing.assert_array_equal(painted(picture, labels.shape, LARGE), np.array(PALETTE)[labels])


@given(images)
def test_wrong_pixels_are_marked_in_the_terminal(pair):
    found, true = pair
    lines = str(draw_grid(found, true, classes=range(4))).split("\n")
    wrong = found != true
    assert lines[0].startswith(f"{wrong.sum()} wrong of {wrong.size} pixel")
    rows = lines[2:-1] if wrong.any() else lines[1:-1]
    for row, labels, marks in zip(rows, found, wrong, strict=True):
        cells = [row[2 * j : 2 * j + 2] for j in range(len(labels))]
        assert cells == [f"{label}{'✗' if mark else ' '}" for label, mark in zip(labels, marks, strict=True)]


@given(images)
def test_outlines_run_between_wrong_and_right_pixels(pair):
    found, true = pair
    (path, *_), wrong = [*pictures(draw_grid(found, true))[0].iter("path"), None], found != true
    padded = np.pad(wrong, 1)
    borders = np.sum(padded[1:] != padded[:-1]) + np.sum(padded[:, 1:] != padded[:, :-1])
    assert (0 if path is None else path.get("d").count("M")) == borders


def test_the_outline_of_a_pixel_is_around_it():
    wrong = np.zeros((3, 4), int)
    wrong[1, 2] = 1
    (path,) = pictures(draw_grid(wrong, np.zeros((3, 4), int)))[0].iter("path")
    x, y = 2 * LARGE, LARGE
    expected = {
        f"{x} {y}h{LARGE}", f"{x} {y + LARGE}h{LARGE}", f"{x} {y}v{LARGE}", f"{x + LARGE} {y}v{LARGE}",
    }  # fmt: skip
    assert set(path.get("d").split("M")[1:]) == expected


def test_pixels_whose_true_label_is_ignored_are_not_wrong():
    drawing = draw_grid([["a", "b"]], [["?", "b"]], ignore=["?"])
    assert str(drawing).startswith("0 wrong of 2 pixels")
    assert "✗" not in str(drawing)


def test_without_a_truth_nothing_is_marked():
    assert str(draw_grid([["sky", "sea"]])).split("\n") == ["b a ", "a sea  b sky"]
    assert len(pictures(draw_grid([["sky", "sea"]]))) == 1


def test_images_stand_below_each_other_where_there_is_no_room_beside():
    found, true = np.zeros((2, 10), int), np.ones((2, 10), int)
    assert str(draw_grid(found, true, width=44)).split("\n")[1].split() == ["predicted", "true"]
    lines = str(draw_grid(found, true, width=43)).split("\n")
    assert [lines[1], lines[4]] == ["predicted", "true"]
    assert len(lines) == 8


def test_of_a_large_image_the_part_with_most_mistakes_is_shown_and_the_rest_is_named():
    true = np.zeros((200, 300), int)
    found = true.copy()
    found[150:160, 250:260] = 1
    found[3, 3] = 1
    text = str(draw_grid(found, true, width=60))
    assert text.count("✗") == 100
    told = re.search(r"rows (\d+) to (\d+) and columns (\d+) to (\d+) of 200 by 300, with 100 of the 101 wrong", text)
    top, bottom, left, right = map(int, told.groups())
    assert (bottom - top + 1, right - left + 1) == (MOST_LINES, 30)
    assert top <= 151
    assert bottom >= 160
    assert left <= 251
    assert right >= 260
    drawing = draw_grid(found, true)
    assert "of 200 by 300, with 100 of the 101 wrong pixels</p>" in drawing.html
    colours = painted(pictures(drawing)[0], (MOST_CELLS, MOST_CELLS), SMALL)
    assert (colours == PALETTE[1]).sum() == 100
    assert len(drawing.html) < 100_000


def test_cells_of_large_images_have_no_letters():
    for n, letters in ((FEW, True), (FEW + 1, False)):
        (picture,) = pictures(draw_grid(np.zeros((1, n), int)))
        assert bool(list(picture.iter("text"))) == letters


def test_names_of_labels_are_escaped_and_cut():
    html = draw_grid([["<b>", "x" * 1000]]).html
    assert "<b>" not in html
    assert "&lt;b&gt;" in html
    assert "x" * 31 not in html


@pytest.mark.parametrize(
    ("labels", "letters"),
    [
        (["a", "Z"], "aZ"),
        (["sea", "sky"], "ab"),
        ([0, 10, 35], "0az"),
        ([-1, 1], "ab"),
        ([True, False], "ab"),
        (range(40), "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMN"),
    ],
)
def test_labels_have_letters_that_tell_them_apart(labels, letters):
    signs = LabelSigns(labels)
    assert "".join(signs[label].letter for label in labels) == letters


def test_classes_have_their_colours_wherever_they_occur():
    for classes in (["sea", "sky"], np.array(["sea", "sky"])):
        (picture,) = pictures(draw_grid([["sky", "land"]], classes=classes))
        assert [rect.get("fill") for rect in picture.iter("rect")] == [PALETTE[1], PALETTE[2]]


def test_a_legend_of_many_labels_ends():
    assert str(LabelSigns(range(100)).legend(range(100))).endswith("and 70 more")


@pytest.mark.parametrize(
    ("labels", "truth", "message"),
    [
        ([[1, 2]], [[1], [2]], r"labels has shape \(1, 2\) but truth has \(2, 1\)"),
        ([[1, 2], [1]], None, "labels must have rows of labels, all of one length"),
        (np.zeros((0, 2)), None, "labels must have rows"),
        (np.zeros(3), None, "labels must have rows"),
    ],
)
def test_what_is_no_image_is_refused(labels, truth, message):
    with pytest.raises(ValueError, match=message):
        draw_grid(labels, truth)
