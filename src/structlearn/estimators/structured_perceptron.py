"""The structured perceptron."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from structlearn.data.arrays import FloatArray
from structlearn.estimators.base import StructuredEstimator
from structlearn.solvers import Perceptron, Solver
from structlearn.waist.objective import Objective
from structlearn.waist.problem import Problem


class StructuredPerceptron(StructuredEstimator):
    """Collins' perceptron: predict, and where the prediction is wrong add the difference of the features.

    Quick and without a parameter to choose, but also without an objective: nothing certifies the result.

    Parameters
    ----------
    model : Model or object
        What is predicted, as for `StructuralSVM`.
    average : bool
        Whether the weights are averaged over all steps.
    max_iter : int
        Passes over the data; fewer if one makes no mistake.
    fit_intercept, class_weight, n_iter_no_change, track_loss, random_state, n_jobs, max_memory, verbose
        As for `StructuralSVM`.

    Attributes
    ----------
    w_, history_, n_iter_, converged_, classes_, model_, spec_
        As for `StructuralSVM`; the history has `mistakes` and no certificate.

    Examples
    --------
    >>> from structlearn.models import Chain
    >>> X, Y = [[[0.0, 1.0], [1.0, 0.0]], [[1.0, 0.0], [0.0, 1.0]]], [["a", "b"], ["b", "a"]]
    >>> StructuredPerceptron(Chain()).fit(X, Y).predict(X)
    [['a', 'b'], ['b', 'a']]
    """

    warm_start: ClassVar[bool] = False  # type: ignore[misc]

    def __init__(
        self,
        model: Any,
        *,
        average: bool = True,
        max_iter: int = 20,
        fit_intercept: bool = False,
        class_weight: Any = None,
        n_iter_no_change: int = 5,
        track_loss: bool = False,
        random_state: int | np.random.RandomState | None = None,
        n_jobs: int | None = None,
        max_memory: str | int | None = None,
        verbose: int = 0,
    ):
        self.model = model
        self.average = average
        self.max_iter = max_iter
        self.fit_intercept = fit_intercept
        self.class_weight = class_weight
        self.n_iter_no_change = n_iter_no_change
        self.track_loss = track_loss
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.max_memory = max_memory
        self.verbose = verbose

    def _objective(self, sample_weight: FloatArray, problem: Problem) -> Objective:
        return Objective(sample_weight)

    def _solver(self) -> Solver:
        return Perceptron(average=self.average)
