"""Pictures of one sequence and its labels."""

import matplotlib.pyplot as plt
import numpy as np
import pytest
import scipy.sparse as sp
from matplotlib.colors import to_rgba

from structlearn import plots
from structlearn.plots.canvas import RED

WORDS = ["the", "dog", "barks"]
TRUE, WRONG = ["DET", "NOUN", "VERB"], ["DET", "NOUN", "NOUN"]


def texts(ax):
    return [text.get_text() for text in ax.texts]


def framed(ax):
    """The colours' frames: whether each cell, from left to right and from top to bottom, is marked."""
    return [patch.get_edgecolor() == to_rgba(RED) for patch in ax.patches]


def test_words_stand_above_both_labellings():
    ax = plots.sequence(WORDS, TRUE, WRONG)
    assert texts(ax) == [*WORDS, "true", *TRUE, "predicted", *WRONG]


def test_only_disagreements_are_framed():
    assert framed(plots.sequence(WORDS, TRUE, WRONG)) == [False] * 5 + [True]
    assert not any(framed(plots.sequence(WORDS, TRUE, TRUE)))


def test_equal_labels_have_equal_colours():
    cells = plots.sequence(WORDS, TRUE, WRONG).patches
    colours = [cell.get_facecolor() for cell in cells]
    assert colours[0] == colours[3]
    assert colours[1] == colours[4] == colours[5]
    assert len({colours[0], colours[1], colours[2]}) == 3


def test_pictures_with_the_same_classes_have_the_same_colours():
    classes = np.array(["ADJ", "DET", "NOUN", "VERB"])
    first, second = (plots.sequence(["dog"], [label], classes=classes).patches[0] for label in ("NOUN", "VERB"))
    assert first.get_facecolor() != second.get_facecolor()
    both = plots.sequence(["dog", "barks"], ["NOUN", "VERB"], classes=classes).patches
    assert [cell.get_facecolor() for cell in both] == [first.get_facecolor(), second.get_facecolor()]


def test_one_labelling_is_enough():
    assert texts(plots.sequence(WORDS, TRUE)) == [*WORDS, "labels", *TRUE]


def test_tuples_show_their_first_entry():
    assert texts(plots.sequence([("the", "DT"), ("dog", "NN")], ["B", "I"]))[:2] == ["the", "dog"]


def test_long_sentences_take_several_lines():
    ax = plots.sequence(["word"] * 60, list(range(60)))
    assert texts(ax).count("labels") > 3
    heights = {text.get_position()[1] for text in ax.texts if text.get_text() == "word"}
    assert len(heights) == texts(ax).count("labels")


def test_segments_are_drawn_whole_and_differ_as_a_whole():
    y = [("NP", 0, 2), ("O", 2, 3)]
    ax = plots.sequence(WORDS, y, [("NP", 0, 1), ("NP", 1, 2), ("O", 2, 3)])
    assert texts(ax)[3:] == ["true", "NP", "O", "predicted", "NP", "NP", "O"]
    assert framed(ax) == [False, False, True, True, False]


@pytest.mark.parametrize("tokens", [np.zeros((3, 2)), sp.csr_array((3, 2)), [{"w": 1.0}] * 3], ids=type)
def test_tokens_without_words_are_stripes(tokens):
    ax = plots.sequence(tokens, np.array([1, 1, -1]), [1, -1, -1])
    assert [label.get_text() for label in ax.get_yticklabels()] == ["true", "predicted"]
    assert [text.get_text() for text in ax.get_legend().get_texts()] == ["-1", "1"]
    marks = ax.collections[-1].get_paths()
    assert [path.get_extents().intervalx.tolist() for path in marks] == [[1.0, 2.0]]


def test_given_axes_are_drawn_into():
    _, ax = plt.subplots()
    assert plots.sequence(WORDS, TRUE, ax=ax) is ax
    assert len(plt.get_fignums()) == 1


def test_lengths_that_do_not_fit_are_refused():
    with pytest.raises(ValueError, match="y has 2 labels but there are 3 tokens"):
        plots.sequence(WORDS, ["DET", "NOUN"])
    with pytest.raises(ValueError, match="predicted ends at 2 but there are 3 tokens"):
        plots.sequence(WORDS, TRUE, [("NP", 0, 2)])
    with pytest.raises(ValueError, match="no tokens"):
        plots.sequence([], [])
