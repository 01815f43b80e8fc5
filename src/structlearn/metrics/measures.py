"""Scores of a structure's own, each a formula of counts that are summed over examples."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from structlearn.data.arrays import FloatArray


@dataclass(frozen=True, eq=False)
class Measures:
    """What `Model.measures` counts in each example, and the scores that follow from sums of it.

    From one resampling of the examples come the intervals of all scores, since a score of a resample needs no more than
    its sums. The mean of a value is the quotient of its sum and the sum of a column of ones.

    Attributes
    ----------
    counts : (n_examples, k)
        Any numbers that may be added.
    formulas : mapping from name to function
        Each takes sums (…, k) and gives scores (…), vectorised and finite whatever the sums; `ratio` divides so. In
        names _ stands for a blank. The first score is the one to look at first.
    right : (n_examples,) of bool, optional
        Which outputs are right, where == cannot tell.

    Examples
    --------
    >>> from structlearn.metrics.scores import ratio
    >>> found = Measures([[1, 2], [3, 4]], {"recall": lambda sums: ratio(sums[..., 0], sums[..., 1])})
    >>> found.scores()
    {'recall': 0.6666666666666666}
    """

    counts: npt.ArrayLike
    formulas: Mapping[str, Callable[[FloatArray], FloatArray]]
    right: npt.NDArray[np.bool_] | None = None

    def __post_init__(self) -> None:
        counts = np.asarray(self.counts, np.float64)
        if counts.ndim != 2:
            raise ValueError(f"counts has shape {counts.shape}; expected a row for each example")
        if not np.isfinite(counts).all():
            i, k = np.argwhere(~np.isfinite(counts))[0].tolist()
            raise ValueError(f"counts[{i}, {k}] is {counts[i, k]}; it must be finite")
        if self.right is not None and np.shape(self.right) != counts.shape[:1]:
            raise ValueError(f"right has shape {np.shape(self.right)}, but counts has {len(counts)} rows")
        object.__setattr__(self, "counts", counts)

    def scores(self) -> dict[str, float]:
        """The scores of all examples together."""
        sums = np.sum(self.counts, axis=0)
        return {name: float(formula(sums)) for name, formula in self.formulas.items()}
