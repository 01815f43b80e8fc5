"""Numbers as coordinates of piecewise linear functions."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Self

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp
from scipy.linalg import cholesky_banded, solve_triangular
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils.validation import _check_feature_names_in, check_is_fitted, validate_data

from structlearn.data.arrays import FloatArray, IntArray
from structlearn.data.examples import is_listed
from structlearn.data.fields import LARGEST, check_whole
from structlearn.data.matrices import checked_numbers
from structlearn.data.options import real_option, whole_option
from structlearn.data.ragged import offsets_of
from structlearn.features.monotone import MonotoneCurves
from structlearn.wording import shown


class PiecewiseLinear(TransformerMixin, BaseEstimator, auto_wrap_output_keys=None):  # type: ignore[misc, call-arg]
    """φ(x) = (c_1(x_j), …, c_P(x_j))_j, so that ⟨v, φ(x)⟩ = Σ_j f_j(x_j) with f_j linear between knots.

    c_p is the hat function of knot s_p: 1 at s_p, 0 at the other knots, linear in between, and constant outside the
    first and the last knot. Hence Σ_p c_p(x) = 1, and a linear learner learns the values f_j(s_p) = v_p themselves: any
    curve of a feature, one for every label, where the feature itself could only be weighted.

    Parameters
    ----------
    n_knots : int
        P, the number of knots of a feature: the middles of P bins that hold equally many of the numbers seen in `fit`.
        Knots that coincide are one, so that a feature with few values has fewer, and a constant one has one.
    knots : array or list of arrays, optional
        Knots to use instead: one increasing array for all features, or a list with an array for each.
    smoothness : float
        λ_s ≥ 0. What is to a learner the penalty ½‖w‖² on its weights, is ½‖v‖² + λ_s Σ_p (v_{p+1} − v_p)² on the
        values v of every curve; see the notes.

    Attributes
    ----------
    knots_ : list of arrays
        The knots of every feature.

    Notes
    -----
    With the (P − 1) × P matrix D of differences, ½‖v‖² + λ_s‖Dv‖² = ½ vᵀ(I + 2λ_s DᵀD)v = ½‖Rv‖², where R is the
    Cholesky factor, RᵀR = I + 2λ_s DᵀD. The learner's weights are u = Rv, and f(x) = ⟨v, c(x)⟩ = ⟨u, R⁻ᵀc(x)⟩: so
    `transform` returns R⁻ᵀc(x), and `curves` solves Rv = u. Without smoothness a row has at most two entries a
    feature, with it about P/2.

    The functions are those of Iglesias 2013, section 4.1, with the ramps at both ends that (4.2) lacks; the place of
    the knots and the penalty on steps follow Shogun's hidden Markov SVM.

    Examples
    --------
    >>> import numpy as np
    >>> hats = PiecewiseLinear(knots=[0.0, 1.0, 3.0]).fit(np.zeros((1, 1)))
    >>> hats.transform([[-5.0], [0.25], [2.0], [9.0]]).toarray()
    array([[1.  , 0.  , 0.  ],
           [0.75, 0.25, 0.  ],
           [0.  , 0.5 , 0.5 ],
           [0.  , 0.  , 1.  ]])
    """

    def __init__(
        self,
        n_knots: int = 20,
        knots: npt.ArrayLike | Sequence[npt.ArrayLike] | None = None,
        smoothness: float = 0.0,
    ):
        self.n_knots = n_knots
        self.knots = knots
        self.smoothness = smoothness

    def fit(self, X: Any, y: Any = None) -> Self:
        whole_option("n_knots", self.n_knots, 1, LARGEST)
        self._check_smoothness()
        X = self._checked(X, reset=True)
        if self.knots is None:
            # The middle of bin p of P has rank 1 + (N − 1)(p − ½)/P among N numbers.
            middles = (np.arange(self.n_knots) + 0.5) / self.n_knots
            chosen = list(np.quantile(X, middles, axis=0, method="nearest").T)
        else:
            chosen = _given_knots(self.knots, X.shape[1])
        self.knots_ = [np.unique(knots) for knots in chosen]
        for j, knots in enumerate(self.knots_):
            with np.errstate(over="ignore"):
                if not np.isfinite(knots[-1] - knots[0]):
                    raise ValueError(
                        f"feature {j} goes from {knots[0]} to {knots[-1]}; its range must be a finite number"
                    )
        return self

    def check_learnt(self) -> None:
        """Refuses knots that `fit` could not have chosen; who loads a transformer asks for it."""
        self._check_smoothness()
        check_whole("n_features_in_", self.n_features_in_)
        if not isinstance(self.knots_, list) or len(self.knots_) != self.n_features_in_:
            raise ValueError(f"knots_ is no list of {self.n_features_in_} arrays")
        for j, knots in enumerate(self.knots_):
            if not isinstance(knots, np.ndarray) or knots.dtype != np.float64 or knots.ndim != 1 or not len(knots):
                raise ValueError(f"knots_[{j}] is no array of numbers")
            if not np.isfinite(knots).all() or (knots[1:] <= knots[:-1]).any():
                raise ValueError(f"knots_[{j}] does not hold increasing finite numbers")

    def transform(self, X: Any) -> sp.csr_array:
        check_is_fitted(self)
        X = self._checked(X, reset=False)
        offsets = self._offsets()
        columns = np.empty((*X.shape, 2), sp.get_index_dtype(maxval=2 * X.size))
        shares = np.empty((*X.shape, 2))
        for j, knots in enumerate(self.knots_):
            left, right, share = _neighbours(X[:, j], knots)
            columns[:, j, 0], columns[:, j, 1] = offsets[j] + left, offsets[j] + right
            shares[:, j, 0], shares[:, j, 1] = 1.0 - share, share
        kept = shares > 0
        indptr = offsets_of(kept.sum(axis=(1, 2))).astype(columns.dtype)
        hats = sp.csr_array((shares[kept], columns[kept], indptr), shape=(len(X), int(offsets[-1])))
        if self.smoothness:
            hats = sp.csr_array(hats @ sp.block_diag([np.linalg.inv(R) for R in self._factors()], format="csr"))
            hats.sort_indices()
        return hats

    def curves(self, weights: npt.ArrayLike) -> list[FloatArray]:
        """The values v of every feature's function at its `knots_`, from the weights that a learner found.

        Parameters
        ----------
        weights : (n_features_out,) or (n_features_out, n_labels) array
            Weights of the columns of `transform`; those of a `Chain` are
            ``w_[:n_features_out * n_labels].reshape(n_features_out, n_labels)``.

        Returns
        -------
        list of (n_knots,) or (n_knots, n_labels) arrays, one for each feature
        """
        check_is_fitted(self)
        offsets = self._offsets()
        weights = np.asarray(weights, np.float64)
        if weights.ndim not in (1, 2) or len(weights) != offsets[-1]:
            raise ValueError(f"weights has shape {weights.shape}; it must have {offsets[-1]} rows, one a column")
        parts = np.split(weights, offsets[1:-1])
        return [solve_triangular(R, part) for R, part in zip(self._factors(), parts, strict=True)]

    def monotone(self, directions: Sequence[int]) -> MonotoneCurves:
        """The constraint that curves rise (1) or fall (−1), or none (0), for each label in the order of the classes.

        For ``StructuralSVM(Chain(), solver=Subgradient(projection=hats.monotone([-1, 1])))``.
        """
        check_is_fitted(self)
        if self.smoothness:
            raise ValueError(f"monotone curves need smoothness=0, not {self.smoothness}: weights are not curves then")
        for direction in directions:
            if direction not in (-1, 0, 1):
                raise ValueError(f"directions holds {direction!r}; each may be 1, -1 or 0")
        return MonotoneCurves(tuple(len(knots) for knots in self.knots_), tuple(directions))

    def get_feature_names_out(self, input_features: Any = None) -> npt.NDArray[Any]:
        check_is_fitted(self)
        names = _check_feature_names_in(self, input_features)
        return np.array(
            [f"{name}_knot{p}" for name, s in zip(names, self.knots_, strict=True) for p in range(len(s))], object
        )

    def _checked(self, X: Any, *, reset: bool) -> FloatArray:
        X = validate_data(self, X, reset=reset, dtype=np.float64, ensure_all_finite=False)
        bad = np.argwhere(~np.isfinite(X))
        if len(bad):
            i, j = bad[0]
            raise ValueError(f"X[{i}, {j}] is {'NaN' if np.isnan(X[i, j]) else X[i, j]}")
        return np.asarray(X)

    def _check_smoothness(self) -> None:
        real_option("smoothness", self.smoothness)

    def _offsets(self) -> IntArray:
        """Where the columns of every feature begin, and their number."""
        return offsets_of([len(knots) for knots in self.knots_])

    def _factors(self) -> list[FloatArray]:
        """R of every feature; it depends on the number of knots alone."""
        of_length = {n: _smoothness_factor(n, self.smoothness) for n in set(map(len, self.knots_))}
        return [of_length[len(knots)] for knots in self.knots_]


def _given_knots(knots: Any, n_features: int) -> list[FloatArray]:
    """One array of finite knots for every feature."""
    if not is_listed(knots):
        raise ValueError(f"knots is {shown(knots)}; expected a list of numbers, or one for each feature")
    shared = not is_listed(knots[0]) if len(knots) else True
    each = [np.asarray(checked_numbers(s, "knots"), np.float64) for s in ([knots] * n_features if shared else knots)]
    if len(each) != n_features:
        raise ValueError(f"knots are given for {len(each)} features but X has {n_features}")
    for j, s in enumerate(each):
        if s.ndim != 1 or len(s) == 0 or not np.isfinite(s).all() or (s[1:] < s[:-1]).any():
            raise ValueError(f"the knots of feature {j} are {s.tolist()}; they must be increasing finite numbers")
    return each


def _neighbours(x: FloatArray, knots: FloatArray) -> tuple[IntArray, IntArray, FloatArray]:
    """The knots left and right of every number, and the share of the right one; the outermost ones beyond the ends."""
    if len(knots) == 1:
        nothing = np.zeros(len(x), np.int64)
        return nothing, nothing, np.zeros(len(x))
    left = np.clip(np.searchsorted(knots, x, side="right") - 1, 0, len(knots) - 2)
    with np.errstate(over="ignore"):
        share = (x - knots[left]) / (knots[left + 1] - knots[left])
    return left, left + 1, np.clip(share, 0.0, 1.0)


def _smoothness_factor(n_knots: int, smoothness: float) -> FloatArray:
    """Upper triangular R with RᵀR = I + 2λ_s DᵀD, which is tridiagonal."""
    diagonal = np.full(n_knots, 1.0 + 4.0 * smoothness)
    diagonal[[0, -1]] -= 2.0 * smoothness
    if n_knots == 1:
        return np.eye(1)
    above = np.full(n_knots, -2.0 * smoothness)
    factor = cholesky_banded(np.stack([above, diagonal]))
    return np.asarray(np.diag(factor[1]) + np.diag(factor[0, 1:], 1))
