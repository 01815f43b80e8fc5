"""The sequence logo of a motif."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from structlearn.data.biosequences.dna import BASES, information
from structlearn.plots.canvas import axes, pyplot

if TYPE_CHECKING:
    from matplotlib.axes import Axes

COLOURS = {"A": "#2e7d32", "C": "#2463a8", "G": "#d98200", "T": "#d1411f"}


def motif_logo(counts: npt.ArrayLike, ax: Axes | None = None, *, background: npt.ArrayLike = (1, 1, 1, 1)) -> Axes:
    """A stack of letters for each place of a motif, as high as the bits that the place tells, each letter by its share.

    (Schneider and Stephens 1990, without their correction for few sequences.)

    Parameters
    ----------
    counts : (width, 4)
        How often A, C, G and T stand at each place, from `structlearn.data.base_counts`; or their frequencies.
    ax : Axes, optional
    background : (4,)
        How frequent the bases are elsewhere.

    Examples
    --------
    >>> from structlearn import plots
    >>> ax = plots.motif_logo([[9, 0, 1, 0], [5, 0, 0, 5], [2, 3, 3, 2]])
    >>> ax.get_ylabel(), len(ax.patches)
    ('bits', 8)
    """
    counts = np.asarray(counts, np.float64)
    if counts.ndim != 2 or counts.shape[1] != len(BASES) or not (counts.sum(axis=1) > 0).all() or (counts < 0).any():
        raise ValueError(
            f"counts has shape {counts.shape}; expected a row of four numbers ≥ 0 for each place, some > 0"
        )
    pyplot()
    from matplotlib.patches import PathPatch
    from matplotlib.textpath import TextPath
    from matplotlib.transforms import Affine2D, Bbox, BboxTransform

    heights = counts / counts.sum(axis=1, keepdims=True) * information(counts, background)[:, None]
    ax = axes(ax, 1.0 + 0.45 * len(counts), 2.2)
    for place, column in enumerate(heights):
        bottom = 0.0
        for code in np.argsort(column, kind="stable"):
            if column[code] <= 0.0:
                continue
            letter = TextPath((0, 0), BASES[code], size=1)
            cell = Bbox.from_bounds(place + 0.53, bottom, 0.94, column[code])
            fitted = letter.transformed(Affine2D(BboxTransform(letter.get_extents(), cell).get_matrix()))
            ax.add_patch(PathPatch(fitted, color=COLOURS[BASES[code]], linewidth=0))
            bottom += column[code]
    ax.set(xlim=(0.4, len(counts) + 0.6), ylim=(0, max(2.0, heights.sum(axis=1).max())), ylabel="bits")
    ax.set_xticks(range(1, len(counts) + 1))
    ax.spines[["top", "right"]].set_visible(False)
    return ax
