"""Curves that only rise or only fall."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from sklearn.isotonic import isotonic_regression

from structlearn.data.arrays import FloatArray


@dataclass(frozen=True, slots=True)
class MonotoneCurves:
    """Moves weights to the nearest ones whose curves are monotone: isotonic regression of every curve.

    For `Subgradient(projection=...)`; made by `PiecewiseLinear.monotone`.

    Attributes
    ----------
    n_knots : tuple of int
        The number of knots of every feature.
    directions : tuple of int
        For every label 1 (rising), −1 (falling) or 0 (free).

    Examples
    --------
    >>> rising = MonotoneCurves(n_knots=(3,), directions=(1, 0))
    >>> w = np.array([1.0, 5.0, 0.0, 4.0, 3.0, 6.0])     # three knots, two labels
    >>> rising(w)
    >>> w.reshape(3, 2)
    array([[0.5, 5. ],
           [0.5, 4. ],
           [3. , 6. ]])
    """

    n_knots: tuple[int, ...]
    directions: tuple[int, ...]

    def __call__(self, w: FloatArray) -> None:
        """Changes w, which begins with the weights (n_columns, n_labels) of the curves, in place."""
        curves = w[: sum(self.n_knots) * len(self.directions)].reshape(-1, len(self.directions))
        for block in np.split(curves, np.cumsum(self.n_knots)[:-1]):
            for label, direction in enumerate(self.directions):
                if direction:
                    block[:, label] = isotonic_regression(block[:, label], increasing=direction > 0)
