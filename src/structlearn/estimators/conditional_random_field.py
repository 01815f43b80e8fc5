"""The conditional random field."""

from __future__ import annotations

from typing import Any

import numpy as np

from structlearn.contract import check_is_fitted
from structlearn.data.arrays import FloatArray
from structlearn.data.fields import LARGEST
from structlearn.data.options import flag_option, real_option, whole_option
from structlearn.estimators.abilities import lacks, needs
from structlearn.estimators.base import StructuredEstimator
from structlearn.estimators.training import chosen_solver, price
from structlearn.solvers import (
    LBFGS,
    ContrastiveDivergence,
    DualCoordinate,
    ExponentiatedGradient,
    IterativeScaling,
    Solver,
)
from structlearn.waist.objective import LikelihoodObjective
from structlearn.waist.parts import PartProblem
from structlearn.waist.problem import Problem

SOLVERS: dict[str, type[Solver]] = {
    "dual_coordinate": DualCoordinate,
    "lbfgs": LBFGS,
    "exponentiated_gradient": ExponentiatedGradient,
    "iterative_scaling": IterativeScaling,
    "contrastive_divergence": ContrastiveDivergence,
}


class ConditionalRandomField(StructuredEstimator):
    """min_w Ω(w) − (C/S) Σ_i s_i log P(y_i | x_i) with P(y | x) ∝ exp⟨w, Ψ(x, y)⟩ and Ω(w) = ½(1 − ρ)‖w‖² + ρ‖w‖₁.

    The model is the same as in `StructuralSVM`, and so is the meaning of C; S = Σ s_i is the number of examples when
    there are no weights. With `Multiclass()` this is multinomial logistic regression.

    Parameters
    ----------
    model : Model
        A model that can sum over all outputs: `Chain`, `Multiclass`, `Segments`, `Grammar` or `Alignment`, or one of
        your own that lists its ``outputs(x)`` or whose engine has `sums`, see `Composed`. `Graph`, `Grid` and
        `MultiLabel` have an option `likelihood` for graphs that are too wide for sums: what is then maximised in place
        of the likelihood.
    C : float, optional
        Price of the mean loss. None means the number of examples, C/S = 1; `C_` records it. CRFsuite's c2 is S/(2C).
    l1_ratio : float
        ρ, how much of the penalty is L1: 0 for ridge, 1 for lasso, which makes most weights exactly 0.
    solver : str or Solver
        How w is found: "dual_coordinate", "lbfgs", "exponentiated_gradient" or "iterative_scaling"; for graphs also
        "contrastive_divergence", which certifies nothing. "auto" is "dual_coordinate", or "lbfgs" where there is an L1
        penalty or a likelihood that is not the exact one. A `Solver` object brings its own `tol`, `max_iter` and
        `random_state`.
    tol : float, optional
        Stop at this relative duality gap, (primal − dual)/primal; None is 0.001.
    max_iter, fit_intercept, class_weight, n_iter_no_change, track_loss, warm_start, random_state, n_jobs
        As for `StructuralSVM`.
    max_memory, verbose
        As for `StructuralSVM`.

    Attributes
    ----------
    w_, history_, objective_, duality_gap_, C_, n_iter_, converged_, classes_, model_, spec_
        As for `StructuralSVM`.
    slacks_ : (n_examples,)
        −log P(y_i | x_i) at the end; NaN for examples of weight 0.
    likelihood_ : str
        "exact", or what was maximised in its place: `objective_`, `history_`, `slacks_` and `duality_gap_` are then
        about that, and nothing is said about the likelihood.

    Examples
    --------
    >>> from structlearn.models import Chain
    >>> X = [[{"word": "the"}, {"word": "dog"}], [{"word": "a"}, {"word": "cat"}, {"word": "sleeps"}]]
    >>> Y = [["DET", "NOUN"], ["DET", "NOUN", "VERB"]]
    >>> crf = ConditionalRandomField(Chain(), C=10).fit(X, Y)
    >>> crf.predict([[{"word": "the"}, {"word": "cat"}]])
    [['DET', 'NOUN']]
    >>> crf.predict_marginals([[{"word": "the"}, {"word": "cat"}]])[0].round(2)
    array([[0.9 , 0.06, 0.04],
           [0.04, 0.85, 0.11]])
    """

    _named_solvers = SOLVERS

    def __init__(
        self,
        model: Any,
        *,
        C: float | None = None,
        l1_ratio: float = 0.0,
        solver: str | Solver = "auto",
        tol: float | None = None,
        max_iter: int | None = None,
        fit_intercept: bool = False,
        class_weight: Any = None,
        n_iter_no_change: int = 5,
        track_loss: bool = False,
        warm_start: bool = False,
        random_state: int | np.random.RandomState | None = None,
        n_jobs: int | None = None,
        max_memory: str | int | None = None,
        verbose: int = 0,
    ):
        self.model = model
        self.C = C
        self.l1_ratio = l1_ratio
        self.solver = solver
        self.tol = tol
        self.max_iter = max_iter
        self.fit_intercept = fit_intercept
        self.class_weight = class_weight
        self.n_iter_no_change = n_iter_no_change
        self.track_loss = track_loss
        self.warm_start = warm_start
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.max_memory = max_memory
        self.verbose = verbose

    @property
    def likelihood_(self) -> str:
        check_is_fitted(self)
        return str(getattr(self.model_, "likelihood", "exact"))

    def predict(self, X: Any, *, allowed: Any = None, posterior: bool = False) -> Any:
        """The most probable output of every example.

        Parameters
        ----------
        X : what the model takes
        allowed : optional
            Restricts the outputs, as in `fit`.
        posterior : bool
            Whether each label is the most probable at its own place, which makes the fewest wrong labels in
            expectation, instead of all labels together.
        """
        if not flag_option("posterior", posterior):
            return super().predict(X, allowed=allowed)
        check_is_fitted(self)
        reason = lacks(self, "posterior")
        if reason is not None:
            raise ValueError(f"posterior=True is not possible: {reason}")
        problem: Any = self._sums(X, allowed=allowed)
        return problem.present(problem.most_probable_labels(self.w_))

    @needs("sums")
    def predict_marginals(self, X: Any, *, allowed: Any = None) -> Any:
        """P(y_t = l | x): for a chain one array (length, n_labels) a sequence, for classes (n_examples, n_classes).

        For a model of your own, P(y | x) of all outputs of an example, in the order in which ``outputs(x)`` lists them;
        for `Composed`, an array of the shape of an example's local parts; for a `HypergraphModel`, a dict with the
        probability of each part; for a `TypedGraph`, a dict from types to arrays (n_nodes, n_labels); for a
        `DependencyTree`, arrays (n + 1, n + 1, n_labels) by head, token and label, where 0 is the root and labels are
        in the order of `classes_`.
        """
        return self._sums(X, allowed=allowed).label_probabilities(self.w_)

    @needs("pair_marginals")
    def predict_pair_marginals(self, X: Any, *, allowed: Any = None) -> list[Any]:
        """Probabilities under P(y | x) of what neighbouring parts of an output are together.

        For a chain P(y_t = k, y_{t+1} = l | x), an array (length − 1, n_labels, n_labels) a sequence; for segments a
        pair of arrays, of whole segments, (length, longest, n_labels) by first token, number of tokens less one and
        label, and of neighbours, (length − 1, n_labels, n_labels) by the last token of the first and both labels; for
        an alignment (length of s − 1, length of t − 1), that i and j are partners and so are i + 1 and j + 1. For a
        grammar a dict with how often each rule is expected in each place, by the phrase (label, begin, end) above it
        and its children, of trees in binary form; for a `HypergraphModel` a dict with the probability that one step
        brings two parts, by the set of both; for a `TypedGraph` a dict from templates to (n_factors, n_labels, …).
        """
        problem: Any = self._sums(X, allowed=allowed)
        found: list[Any] = problem.pair_probabilities(self.w_)
        return found

    @needs("sums")
    def log_partition(self, X: Any, *, allowed: Any = None) -> FloatArray:
        """log Z(x) = log Σ_y exp⟨w, Ψ(x, y)⟩ of every example.

        With and without `allowed`, the difference of the two is the log-probability of all that is allowed.
        """
        return self._sums(X, allowed=allowed).log_partitions(self.w_)

    @needs("sums")
    def predict_proba(self, X: Any) -> Any:
        """The same as `predict_marginals`, by scikit-learn's name."""
        return self.predict_marginals(X)

    @needs("sums")
    def predict_log_proba(self, X: Any, y: Any = None) -> FloatArray:
        """log P(y | x) of one given output an example, −∞ for labels never seen or forbidden.

        For models with one label an example `y` may be left out: log-probabilities of all classes then.
        """
        check_is_fitted(self)
        if y is None:
            if not self.model_.tabular:
                raise ValueError("y is missing: give the outputs whose probabilities are wanted")
            with np.errstate(divide="ignore"):
                return np.asarray(np.log(self.predict_marginals(X)))
        return self._sums(X, y).log_probabilities(self.w_)

    @needs("k_best")
    def k_best(self, X: Any, k: int, *, allowed: Any = None) -> list[list[tuple[Any, float]]]:
        """The k most probable outputs of every example with log P(y | x), best first.

        Where there is none, as for a sentence that a grammar does not derive, what `predict` answers has −∞.
        """
        found = super().k_best(X, k, allowed=allowed)
        log_z = self._sums(X, allowed=allowed).log_partitions(self.w_)
        log_z = np.where(np.isneginf(log_z), 0.0, log_z)
        return [[(y, score - z) for y, score in best] for best, z in zip(found, log_z.tolist(), strict=True)]

    @needs("samples")
    def sample(self, X: Any, n_samples: int = 1, random_state: Any = None, *, allowed: Any = None) -> list[list[Any]]:
        """Outputs drawn from P(y | x), `n_samples` for every example."""
        n_samples = whole_option("n_samples", n_samples, 1, LARGEST)
        from sklearn.utils import check_random_state

        random = np.random.default_rng(check_random_state(random_state).randint(2**31 - 1))
        problem: Any = self._sums(X, allowed=allowed)
        drawn: list[list[Any]] = problem.samples(self.w_, n_samples, random)
        return drawn

    @needs("sums")
    def entropy(self, X: Any, *, allowed: Any = None) -> FloatArray:
        """H(P(· | x)) of every example, in nats: how undecided the model is."""
        return self._sums(X, allowed=allowed).output_entropies(self.w_)

    def _sums(self, X: Any, Y: Any = None, *, allowed: Any = None) -> PartProblem:
        problem = self._bind(X, Y, allowed=allowed)
        assert isinstance(problem, PartProblem)
        return problem

    def check_options(self) -> None:
        super().check_options()
        LikelihoodObjective(np.ones(1), 1.0, self.l1_ratio)

    def _objective(self, sample_weight: FloatArray, problem: Problem) -> LikelihoodObjective:
        return LikelihoodObjective(sample_weight, price(self.C, 1.0, sample_weight), self.l1_ratio)

    def _solver(self) -> Solver:
        by_lbfgs = bool(real_option("l1_ratio", self.l1_ratio)) or getattr(self.model, "likelihood", "exact") != "exact"
        return chosen_solver(self.solver, SOLVERS, LBFGS if by_lbfgs else DualCoordinate)

    def _solver_of_parts(self) -> Solver:
        return chosen_solver(self.solver, SOLVERS, LBFGS)

    def _configured(self, solver: Solver, **given: Any) -> Solver:
        return super()._configured(solver, tol=self.tol, **given)
