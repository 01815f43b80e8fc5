"""The conditional random field where the annotation stops short of the structure."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from structlearn.data.arrays import FloatArray
from structlearn.estimators.conditional_random_field import ConditionalRandomField
from structlearn.estimators.latent import LatentEstimator
from structlearn.estimators.training import Training, chosen_solver
from structlearn.solvers import LBFGS, ExpectationMaximization, Solver
from structlearn.waist.latent_parts import LatentPartProblem
from structlearn.waist.objective import LikelihoodObjective

SOLVERS: dict[str, type[Solver]] = {"lbfgs": LBFGS, "em": ExpectationMaximization}


class LatentConditionalRandomField(LatentEstimator, ConditionalRandomField):
    """min_w Ω(w) − (C/S) Σ_i s_i log P(Y_i | x_i) with P(Y | x) = Σ_{y ∈ Y} P(y | x) and Ω(w) = ½(1 − ρ)‖w‖² + ρ‖w‖₁.

    P(y | x) ∝ exp⟨w, Ψ(x, y)⟩ as in a `ConditionalRandomField`, but of the truth the data only say that it is one of
    Y_i: label sequences with labels missing or uncertain, trees with some of their phrases. With `LatentChain` the
    outputs are labels with latent states, P(y | x) = Σ_h P(y, h | x). The objective is not convex unless all is known.

    Parameters
    ----------
    model : Model
        What is predicted: a structure that takes outputs known in part, such as `Chain()`, or `LatentChain()`.
    C, l1_ratio
        As for `ConditionalRandomField`.
    solver : {"auto", "lbfgs", "em"} or Solver
        How w is found: by gradient, "lbfgs" ("auto"), or by expectation maximization, "em".
    tol : float, optional
        Stop when the objective exceeds the minimum of its convex upper bound by at most this part of itself; None is
        0.001. For a ridge that is ½‖∇‖² as a part of the objective.
    max_iter : int, optional
        Most iterations; None leaves it to the solver.
    init : {"model", "random"}, array, list or callable
        Where to begin. "model": as the model does by itself, from w = 0 where labels are known in part and from latent
        states that k-means finds for `LatentChain`; "random": from latent parts at random; an array: from these
        weights; a list: from these latent parts, one an example; or a function of X, Y and a random generator that
        returns either. From latent parts it begins at the weights of the conditional random field that has them as
        truths.
    n_init : int
        How many runs to make from different random starts, `n_jobs` of them at a time; the one with the least
        objective is kept.
    n_iter_no_change, track_loss, warm_start, random_state, n_jobs, max_memory, verbose
        As for `StructuralSVM`.

    Attributes
    ----------
    w_, history_, objective_, C_, n_iter_, converged_, classes_, model_, spec_
        As for `StructuralSVM`. The records of the history have `stationarity`; there is no dual, since nobody knows the
        minimum of such an objective.
    stationarity_ : float
        By which part of itself, at most, the objective at `w_` exceeds the minimum of its convex upper bound.
    slacks_ : (n_examples,)
        −log P(Y_i | x_i) at the end; NaN for examples of weight 0.
    objectives_ : (n_init,)
        Where each run ended; fewer, if Ctrl-C stopped them, and one after a warm start.

    Notes
    -----
    `predict` gives the most probable output; of `LatentChain` the labels of the most probable states, since the most
    probable labels, states summed out, are hard to find. ``predict(X, posterior=True)`` gives the label that is most
    probable at each place, for which states are summed out, as they are in `predict_marginals` and
    `predict_log_proba`. `entropy` is that of labels and states together.

    Examples
    --------
    >>> from structlearn.models import Chain
    >>> X = [[{"word": "the"}, {"word": "dog"}], [{"word": "the"}, {"word": "cat"}, {"word": "sleeps"}]]
    >>> Y = [["DET", {"NOUN", "VERB"}], [None, "NOUN", "VERB"]]
    >>> crf = LatentConditionalRandomField(Chain(), C=10).fit(X, Y)
    >>> crf.predict([[{"word": "the"}, {"word": "cat"}]])
    [['DET', 'NOUN']]
    >>> crf.predict_log_proba(X, Y).round(2)
    array([-0.17, -0.24])
    """

    _named_solvers = SOLVERS
    fit_intercept = False
    class_weight = None

    def __init__(
        self,
        model: Any,
        *,
        C: float | None = None,
        l1_ratio: float = 0.0,
        solver: str | Solver = "auto",
        tol: float | None = None,
        max_iter: int | None = None,
        init: str | FloatArray | Sequence[Any] | Callable[..., Any] = "model",
        n_init: int = 1,
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
        self.init = init
        self.n_init = n_init
        self.n_iter_no_change = n_iter_no_change
        self.track_loss = track_loss
        self.warm_start = warm_start
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.max_memory = max_memory
        self.verbose = verbose

    def _solver(self) -> Solver:
        return chosen_solver(self.solver, SOLVERS, LBFGS)

    def _earlier_state(self, training: Training) -> Any:
        state = super()._earlier_state(training)
        problem, objective, solver = training.problem, training.objective, training.solver
        if state is not None or not isinstance(solver, (LBFGS, ExpectationMaximization)):
            return state
        assert isinstance(problem, LatentPartProblem)
        assert isinstance(objective, LikelihoodObjective)
        start = problem.start(self._random(training)) if training.start is None else training.start
        w = start.w
        if w is None:
            assert start.completions is not None
            # Roughly: where the latent parts given lead is not where the run will end.
            w = LBFGS(tol=0.1, max_iter=100).run(problem.completed(start.completions), objective).w
        return solver.begin(w, problem, objective)
