"""Ridge regression onto outputs as vectors, and the outputs nearest to them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from copy import copy
from time import perf_counter
from typing import Any, Self

import numpy as np

from structlearn.contract import library_version
from structlearn.data.arrays import FloatArray
from structlearn.data.options import jobs_option, real_option, whole_option
from structlearn.estimators.vector_valued.base import VectorPredictor, check_kinds, check_vectors, operator_of
from structlearn.estimators.vector_valued.systems import DecomposableSystem, Regression, SumSystem
from structlearn.features import KernelMap
from structlearn.kernels import Kernel, kernel_option
from structlearn.kernels.base import length
from structlearn.kernels.gram import check_kernel
from structlearn.kernels.operators import Decomposable, OperatorSum
from structlearn.outputs import Outputs
from structlearn.outputs.base import Preimages
from structlearn.wording import shown

#: Of more rows a basis is drawn, if nobody says: a matrix of all kernels would take 3 GB and an hour.
MOST_ROWS, BASIS = 20_000, 2_000


class VectorValuedRidge(VectorPredictor):
    """f: X → H_Y with the least (1/n) Σ_i ‖f(x_i) − ỹ_i‖² + λ‖f‖², and for every x the output nearest to f(x).

    Outputs become vectors ỹ of a space with inner products (`structlearn.outputs`); an operator-valued kernel says how
    their coordinates are learnt together; the solution is exact (Micchelli and Pontil 2005; Brouard, Szafranski and
    d'Alché-Buc 2016).

    Parameters
    ----------
    outputs : Outputs, optional
        What outputs are as vectors. None means `VectorOutputs`: y holds numbers, and f(x) is what is predicted.
    kernel : Kernel, str, callable, Decomposable or OperatorSum, or a list of these
        K. A kernel k of inputs alone is kI. "rbf" and "laplacian" have the γ that `median_gamma` proposes. Of a list,
        the one with the least error of examples that are left out is taken.
    lam : float or list of float, optional
        λ. Of a list, or of numbers that suit the kernel if it is None, the one is taken with the least error of
        examples that are left out, one at a time, with all of its rows: a closed form.
    n_components : int, optional
        The size of the basis that stands for all training rows (Nyström). None takes all up to 20,000 rows, and 2,000
        of more.
    tol, max_iter : float, int
        When conjugate gradients, for sums of kernels, and the search for A, where it is learnt, stop: at this relative
        residual, or change of the objective, and after so many steps.
    random_state : int, optional
        Seed of the draw of a basis.
    n_jobs : int, optional
        Threads that compute kernels; −1 takes all cores.

    Attributes
    ----------
    kernel_ : OperatorSum
        What was used, with the A that was learnt or computed.
    lam_ : float
    method_ : {"cholesky", "eigen", "alternation", "conjugate_gradients", "nystroem"}
        How the system was solved: the cheapest way for its kernel.
    basis_ : (n_basis, d) array or sparse matrix, or list
        The rows of the training data; with a basis, `map_` has it.
    weights_ : list of (n_basis, n_coordinates) arrays
        Of each term of the kernel, so that f(x) = Σ_m Σ_i k_m(x, x_i) w_mi.
    objective_ : float
    n_iter_ : int
        Rounds of a search for A or steps of conjugate gradients; 1 where none are needed.
    left_out_ : list of dict
        `kernel`, `lam` and the mean squared `error` of examples that are left out, for all that were compared.
    outputs_ : Outputs

    Notes
    -----
    Where A is learnt, λ is chosen with A = I; where it is a covariance, that of all examples is used for each that is
    left out.

    Examples
    --------
    >>> from structlearn.outputs import LabelSetOutputs
    >>> X, Y = [[0.0], [1.0], [2.0], [3.0]], [{"low"}, {"low", "odd"}, {"high"}, {"high", "odd"}]
    >>> ridge = VectorValuedRidge(LabelSetOutputs(), "rbf", lam=1e-3).fit(X, Y)
    >>> [sorted(y) for y in ridge.predict([[0.9], [2.1]])], ridge.method_
    ([['low', 'odd'], ['high']], 'cholesky')
    """

    def __init__(
        self,
        outputs: Outputs | None = None,
        kernel: Kernel | str | Callable[[Any, Any], Any] | Decomposable | OperatorSum | Sequence[Any] = "rbf",
        *,
        lam: float | Sequence[float] | None = None,
        n_components: int | None = None,
        tol: float = 1e-8,
        max_iter: int = 1000,
        random_state: int | None = None,
        n_jobs: int | None = None,
    ):
        self.outputs = outputs
        self.kernel = kernel
        self.lam = lam
        self.n_components = n_components
        self.tol = tol
        self.max_iter = max_iter
        self.random_state = random_state
        self.n_jobs = n_jobs

    def check_options(self) -> None:
        """Refuses options that mean nothing, by name; `fit` asks for it before it looks at the data."""
        if self.outputs is not None and not isinstance(self.outputs, Outputs):
            raise ValueError(f"outputs is {shown(self.outputs)}; give an object of structlearn.outputs")
        self._outputs().check_options()
        for each in self._candidates():
            each.check_options()
        for lam in self._lams() or ():
            real_option("lam", lam, positive=True)
        if self.n_components is not None:
            whole_option("n_components", self.n_components, 1)
        real_option("tol", self.tol, positive=True)
        whole_option("max_iter", self.max_iter, 1)
        if self.random_state is not None:
            whole_option("random_state", self.random_state, 0, 2**32 - 1)
        jobs_option("n_jobs", self.n_jobs)

    def fit(self, X: Any, y: Any) -> Self:
        """Trains.

        Parameters
        ----------
        X : (n, d) array or sparse matrix, or list
            What the kernel takes; where outputs have parts, inputs with a row a part, such as sequences with a row a
            token.
        y : list or array
            What `outputs` takes.
        """
        self.check_options()
        begun = perf_counter()
        read = self._read(X, reset=True)
        rows, offsets = read.matrix, read.offsets
        fitted = copy(self._outputs()).fit(y)
        check_vectors(length(rows), fitted.n_coordinates())
        targets = fitted.targets(y, read.places)
        check_kinds(fitted, targets)
        data = Regression(rows, targets, fitted.metric_, offsets if (np.diff(offsets) != 1).any() else None)
        system, self.lam_ = self._chosen([self._system(each, data) for each in self._candidates()])
        solved = system.solve(self.lam_, self.tol, self.max_iter)
        self.outputs_, self.method_, self.objective_ = fitted, solved.method, solved.objective
        self.n_iter_ = solved.n_iter
        weights = [solved.coefficients if A is None else solved.coefficients @ A for A in solved.operators]
        terms = zip(system.terms(), solved.operators, strict=True)
        self.kernel_ = OperatorSum([Decomposable(t.kernel, "identity" if A is None else A) for t, A in terms])
        self.map_ = system.features
        self.basis_, self.weights_ = rows, weights
        if self.map_ is not None:
            self.basis_, self.weights_ = None, [self.map_.transform(rows).T @ weights[0]]
        seconds = perf_counter() - begun
        self.training_ = {"examples": len(offsets) - 1, "seconds": seconds, "library": library_version()}
        return self

    def check_learnt(self) -> None:
        super().check_learnt()
        real_option("lam_", self.lam_, positive=True)

    def preimages(self, X: Any) -> Preimages:
        """What `predict` finds, and for which examples it is proven that no output is nearer to f(x).

        Proofs are there but for `KernelOutputs`, which finds the best of candidates, and for graphs of which the engine
        had to give up.
        """
        vectors, read = self._values(X)
        return self.outputs_.preimages(vectors, read.places)

    def _found(self, vectors: FloatArray, places: Any) -> Any:
        return self.outputs_.nearest(vectors, places)

    def _scores(self, vectors: FloatArray, targets: FloatArray) -> FloatArray:
        return np.asarray(-((vectors - targets) ** 2).sum(axis=1))

    def _candidates(self) -> list[OperatorSum]:
        given = list(self.kernel) if isinstance(self.kernel, (list, tuple)) else [self.kernel]
        if not given:
            raise ValueError("kernel is an empty list; give at least one")
        return [operator_of(each) for each in given]

    def _lams(self) -> list[Any] | None:
        """What λ may be, if somebody says."""
        if self.lam is None:
            return None
        lams = list(self.lam) if isinstance(self.lam, Iterable) else [self.lam]
        if not lams:
            raise ValueError("lam is an empty list; give at least one number, or None")
        return lams

    def _system(self, kernel: OperatorSum, data: Regression) -> DecomposableSystem | SumSystem:
        systems = []
        for each in kernel.terms:
            term = each.on(data.rows)
            check_kernel(kernel_option(term.kernel), data.rows)
            features = self._features(term.kernel, data.rows) if len(kernel.terms) == 1 else None
            systems.append(DecomposableSystem(term, data, features, self.n_jobs))
        return systems[0] if len(systems) == 1 else SumSystem(systems)

    def _features(self, kernel: Any, rows: Any) -> KernelMap | None:
        n = length(rows)
        size = self.n_components if self.n_components is not None else (BASIS if n > MOST_ROWS else n)
        if size >= n:
            return None
        return KernelMap(kernel, size, random_state=self.random_state or 0, n_jobs=self.n_jobs).fit(rows)

    def _chosen(self, systems: list[Any]) -> tuple[Any, float]:
        """The system and the λ with the least error of what is left out, unless there is but one."""
        self.left_out_: list[dict[str, Any]] = []
        lams = self._lams()
        if len(systems) == 1 and lams is not None and len(lams) == 1:
            return systems[0], float(lams[0])
        tried = []
        for system in systems:
            if isinstance(system, SumSystem):
                raise ValueError("a sum of kernels is solved for one kernel and one lam; errors have no closed form")
            for lam in system.lams() if lams is None else lams:
                tried.append((system, float(lam)))
                error = system.left_out(float(lam))
                self.left_out_.append({"kernel": repr(system.term), "lam": float(lam), "error": error})
        return tried[int(np.argmin([record["error"] for record in self.left_out_]))]
