"""Factors that never become tables, and the flat form in which the core takes all kinds."""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum

import numpy as np
import numpy.typing as npt

from structlearn.data.arrays import FloatArray, checked_scores
from structlearn.wording import shown


class Kind(IntEnum):
    """What the values of a factor mean; the numbers are the core's."""

    TABLE = 0
    POTTS = 1
    TRUNCATED_LINEAR = 2
    CARDINALITY = 3


@dataclass(frozen=True, eq=False)
class Potts:
    """Two variables of the same labels: `score` if their labels are equal, 0 otherwise.

    Parameters
    ----------
    score : float or (n_edges,)
        Positive where neighbours like to agree.
    """

    score: npt.ArrayLike

    def values(self, n: int | None, name: str) -> FloatArray:
        """(n, 1), or (1, 1) for a score that all edges share."""
        return _columns(n, name, [("score", self.score)])


@dataclass(frozen=True, eq=False)
class TruncatedLinear:
    """Two variables of the same labels: −min(slope · distance, most), with the distance of the numbers of their labels.

    Parameters
    ----------
    slope, most : float or (n_edges,)
        At least 0. `most` may be infinite: then nothing is truncated.
    """

    slope: npt.ArrayLike
    most: npt.ArrayLike

    def values(self, n: int | None, name: str) -> FloatArray:
        """(n, 2), or (1, 2) for numbers that all edges share."""
        found = _columns(n, name, [("slope", self.slope), ("most", self.most)], largest=np.inf)
        bad = np.argwhere((found < 0.0) | ((found == np.inf) & (np.arange(2) == 0)))
        if len(bad):
            row, column = bad[0].tolist()
            raise ValueError(f"{name}.{('slope', 'most')[column]} is {found[row, column]}; it must be a number ≥ 0")
        # The kernels multiply and compare; a number that is never reached spares them the infinite.
        return np.minimum(found, np.finfo(np.float64).max)


@dataclass(frozen=True, eq=False)
class Cardinality:
    """Variables of two labels: a score for each number of ones among them.

    Parameters
    ----------
    scores : (n + 1,)
        For 0 to n ones, where n is the number of variables; −∞ forbids a number.
    """

    scores: npt.ArrayLike

    def values(self, n: int, name: str) -> FloatArray:
        found = np.asarray(self.scores, np.float64)
        if found.shape != (n + 1,):
            raise ValueError(f"{name}.scores has shape {found.shape}; expected ({n + 1},), for 0 to {n} ones")
        return checked_scores(found, f"{name}.scores")


@dataclass(frozen=True)
class AtMostOne:
    """Variables of two labels, of which at most one may have label 1."""

    def values(self, n: int, name: str) -> FloatArray:
        found = np.full(n + 1, -np.inf)
        found[:2] = 0.0
        return found


def _columns(
    n: int | None, name: str, given: list[tuple[str, npt.ArrayLike]], largest: float = np.nextafter(np.inf, 0.0)
) -> FloatArray:
    """Numbers, each one for all edges or one an edge, as the columns of a matrix of one row, or one an edge."""
    columns = []
    for field, values in given:
        column = np.asarray(values, np.float64)
        if column.shape not in ((), (n,)):
            expected = "a number" if n is None else f"a number, or one for each of {n} edges"
            raise ValueError(f"{name}.{field} has shape {column.shape}; expected {expected}")
        bad = ~(column <= largest)
        if bad.any():
            raise ValueError(f"{name}.{field} is {shown(float(column[bad].flat[0]))}; it must not be NaN or +inf")
        columns.append(np.atleast_1d(column))
    return np.stack(np.broadcast_arrays(*columns), axis=1)
