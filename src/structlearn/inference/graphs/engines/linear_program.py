"""The linear program of a factor graph and the integer one, by HiGHS."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from scipy.optimize import Bounds, LinearConstraint, linprog, milp

from structlearn.data.arrays import FloatArray, LabelArray
from structlearn.data.factor_graphs import FactorGraph
from structlearn.data.ragged import Ragged
from structlearn.inference.graphs.engines.local_polytope import LocalPolytope

#: Labels whose share of a variable is this near to 0 or 1 count as chosen or not.
INTEGRAL = 1e-6
#: Of SciPy: how a program ended.
SOLVED, LIMIT_MET, INFEASIBLE = 0, 1, 2


@dataclass(frozen=True)
class LinearProgram:
    """The relaxation of argmax F to the local polytope, and labels by rounding: those of the largest μ.

    max_μ Σ_i Σ_a θ_i(a) μ_i(a) + Σ_f Σ_y θ_f(y) μ_f(y) over μ ≥ 0 that add up to 1 for each variable, and for each
    factor to what its variables have (Iglesias 2013, section 3.3.2). Its value is an upper bound; where μ is integral
    the labels are best. So it is for trees, and for two labels where neighbours like to agree.

    The answer's details are `marginals` (a `Ragged` array of μ, for the variables that are left without known and
    forbidden labels), `joint` (the same for the joint labels of their factors, unless some only count ones) and
    `fractional`, the share of variables whose μ is not integral. Where time is over before the program is solved, there
    is only a weak bound.

    Examples
    --------
    >>> from structlearn.data import Potts
    >>> from structlearn.inference.graphs import best_labelling
    >>> triangle = FactorGraph.pairwise([[0.1, 0.0], [0.0, 0.0], [0.0, 0.2]], [(0, 1), (1, 2), (0, 2)], Potts(-1.0))
    >>> found = best_labelling(triangle, LinearProgram())
    >>> round(found.bound, 6), found.details["fractional"], found.details["marginals"][0].tolist()
    (0.15, 1.0, [0.5, 0.5])
    """

    name: ClassVar[str] = "linear_program"

    def search(self, graph: FactorGraph) -> ProgramSearch:
        return ProgramSearch(graph, integral=False)


@dataclass(frozen=True)
class IntegerProgram:
    """The same with whole numbers, by branch and cut: exact, for small graphs.

    HiGHS proves to 10⁻⁹ of the largest score; `BranchAndBound` is usually faster. Where time is over, it answers with
    the best so far and its bound.
    """

    name: ClassVar[str] = "integer_program"

    def search(self, graph: FactorGraph) -> ProgramSearch:
        return ProgramSearch(graph, integral=True)


class ProgramSearch:
    def __init__(self, graph: FactorGraph, *, integral: bool):
        self._graph = graph
        self._polytope = LocalPolytope.of(graph)
        self._options: dict[str, float] = {}
        self._over = False
        self._solve = self._whole if integral else self._relaxed
        self._details: dict[str, Any] = {}
        self.labels: LabelArray = np.zeros(graph.n_variables, np.int32)
        self.score = -np.inf
        self.bound = np.inf

    def limit(self, seconds: float) -> None:
        """Nothing else stops HiGHS."""
        self._options = {} if np.isinf(seconds) else {"time_limit": seconds}

    def step(self) -> bool:
        constant = float(self._graph.constants.sum())
        if not self._graph.n_variables:
            self.score = self.bound = constant
            return False
        mu, bound = self._solve()
        self.bound = constant + bound
        if bound > -np.inf and mu is not None:
            self._round(mu)
        return self._over

    def details(self) -> Mapping[str, Any]:
        return self._details

    def _relaxed(self) -> tuple[FloatArray | None, float]:
        polytope = self._polytope
        upper = np.where(polytope.allowed, np.inf, 0.0)
        found = linprog(
            -polytope.scores,
            A_eq=polytope.matrix,
            b_eq=polytope.right,
            bounds=np.stack([np.zeros(len(upper)), upper], axis=1),
            method="highs",
            options=self._options | {"primal_feasibility_tolerance": 1e-10, "dual_feasibility_tolerance": 1e-10},
        )
        if found.status == INFEASIBLE:
            return None, -np.inf
        self._over = found.status == LIMIT_MET
        if found.status != SOLVED:
            return None, polytope.bound(np.zeros(len(polytope.right)))
        return found.x, polytope.bound(-found.eqlin.marginals)

    def _whole(self) -> tuple[FloatArray | None, float]:
        polytope = self._polytope
        # HiGHS stops at an absolute gap of 1e-6, so the largest score is made a thousand.
        scale = 1e3 / (float(np.abs(polytope.scores).max()) or 1.0)
        found = milp(
            -scale * polytope.scores,
            integrality=np.ones(len(polytope.scores)),
            bounds=Bounds(0.0, polytope.allowed.astype(float)),
            constraints=LinearConstraint(polytope.matrix, polytope.right, polytope.right),
            options=self._options | {"mip_rel_gap": 0.0},
        )
        if found.status == INFEASIBLE:
            return None, -np.inf
        self._over = found.status == LIMIT_MET
        proven = -found.mip_dual_bound / scale if found.mip_dual_bound is not None else np.inf
        return found.x, min(proven, polytope.bound(np.zeros(len(polytope.right))))

    def _round(self, mu: FloatArray) -> None:
        graph, n = self._graph, len(self._graph.unaries)
        shares = Ragged(np.clip(mu[:n], 0.0, 1.0), graph.unary_offsets)
        self.labels = np.array([row.argmax() for row in shares], np.int32)
        self.score = graph.score(self.labels)
        whole = np.array([row.max() > 1.0 - INTEGRAL for row in shares])
        self._details |= {"marginals": shares, "fractional": float(1.0 - whole.mean())}
        if len(mu) == n + graph.factor_offsets[-1]:
            self._details["joint"] = Ragged(np.clip(mu[n:], 0.0, 1.0), graph.factor_offsets)
