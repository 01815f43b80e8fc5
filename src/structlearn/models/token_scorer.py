"""The compiled scorer of parts at tokens."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from structlearn import _core
from structlearn.data.arrays import FloatArray, IntArray
from structlearn.data.tokens.matrix import TokenMatrix


def token_scorer(
    offsets: IntArray | Sequence[IntArray],
    blocks: list[tuple[TokenMatrix, int, int, bool]],
    tied: list[tuple[int, int, float]],
    n_weights: int,
    *,
    kept: npt.NDArray[np.uint8] | None = None,
    output_features: FloatArray | None = None,
    layout: _core.PairLayout | None = None,
) -> _core.TokenScorer:
    """A scorer of parts at tokens; see ``core/parts/scorers.hpp``.

    Parameters
    ----------
    offsets : (n_examples + 1,), or a list with one for each block
        Where the tokens of the examples begin.
    blocks : list of (tokens, first weight, width, pairs)
        Local parts, `width` of them at every token, or at every pair of neighbours.
    tied : list of (first weight, size, factor)
        Shared parts, which are weights times a factor.
    kept : (n_shared,), optional
        Which of these have a weight.
    layout : compiled layout, optional
        Which weights the local parts have, the features of one block after another; they have all without it.
    """
    return _core.TokenScorer(
        [offsets] * len(blocks) if isinstance(offsets, np.ndarray) else list(offsets),
        [tokens.core() for tokens, *_ in blocks],
        np.array([(at, width, pairs) for _, at, width, pairs in blocks], np.int64).reshape(-1, 3),
        np.array([at for at, _, _ in tied], np.int64),
        np.array([size for _, size, _ in tied], np.int64),
        np.array([factor for _, _, factor in tied], np.float64),
        kept,
        output_features,
        n_weights,
        layout,
    )
