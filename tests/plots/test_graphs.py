"""Pictures of graphs."""

import numpy as np
import pytest

from structlearn import plots


def colours(ax):
    image = ax.images[0]
    return image.to_rgba(image.get_array())


def legend(ax):
    found = ax.get_legend()
    return None if found is None else [text.get_text() for text in found.get_texts()]


def test_labels_of_a_grid_may_be_texts_which_a_legend_names():
    ax = plots.grid([["sky", "sky"], ["sea", "sky"]])
    assert legend(ax) == ["sea", "sky"]
    np.testing.assert_array_equal(ax.images[0].get_array(), [[1, 1], [0, 1]])
    assert legend(plots.grid([["sky"]], legend=False)) is None


def test_numbers_have_a_legend_where_it_is_asked_for():
    assert legend(plots.grid([[0, 2]])) is None
    assert legend(plots.grid([[0, 2]], legend=True)) == ["0", "1", "2"]
    assert legend(plots.grid([[-1, 2]], legend=True)) == ["-1", "2"]


def test_pictures_of_the_same_classes_have_the_same_colours():
    one, other = (plots.grid(labels, classes=["a", "b", "c"]) for labels in ([["a", "c"]], [["c", "c"]]))
    np.testing.assert_array_equal(colours(one)[0, 1], colours(other)[0, 0])


def test_what_is_no_grid_is_refused():
    for labels, message in (
        ([0, 1], "expected rows and columns"),
        ([[0.5]], "numbers or texts"),
        (np.zeros((0, 3), int), "expected rows"),
    ):
        with pytest.raises(ValueError, match=message):
            plots.grid(labels)
    with pytest.raises(ValueError, match="labels has 'd', which is not among classes"):
        plots.grid([["d"]], classes=["a"])
