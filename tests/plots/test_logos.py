"""Sequence logos."""

from itertools import pairwise

import numpy as np
import pytest
from matplotlib.colors import to_rgba

from structlearn import plots
from structlearn.plots.logos import COLOURS


def boxes(ax):
    return [(patch.get_facecolor(), patch.get_path().get_extents()) for patch in ax.patches]


def test_stacks_are_as_high_as_the_bits_and_letters_as_their_share():
    ax = plots.motif_logo([[4, 0, 0, 0], [2, 2, 0, 0]])
    found = [(colour, box.y0, box.y1) for colour, box in boxes(ax)]
    assert [colour for colour, _, _ in found] == [to_rgba(COLOURS[base]) for base in "AAC"]
    np.testing.assert_allclose([ends for _, *ends in found], [[0, 2], [0, 0.5], [0.5, 1]], atol=1e-9)


def test_the_most_frequent_letter_is_on_top():
    ax = plots.motif_logo([[5, 1, 0, 3]])
    assert boxes(ax)[-1][0] == to_rgba(COLOURS["A"])


def test_letters_stand_side_by_side():
    places = [box for _, box in boxes(plots.motif_logo([[1, 0, 0, 0]] * 3))]
    assert all(left.x1 < right.x0 for left, right in pairwise(places))


@pytest.mark.parametrize("counts", [[[1, 2, 3]], [1, 2, 3, 4], [[0, 0, 0, 0]], [[-1, 1, 1, 1]]])
def test_counts_that_are_none_are_named(counts):
    with pytest.raises(ValueError, match="counts has shape"):
        plots.motif_logo(counts)
