"""Weights from counting: the generative baseline of models whose features are choices."""

from __future__ import annotations

from importlib.metadata import version
from typing import Any, Self

import numpy as np

from structlearn.data.examples import check_examples
from structlearn.data.options import jobs_option
from structlearn.estimators.predictor import StructuredPredictor
from structlearn.estimators.training import checked_weight
from structlearn.models.base import Model
from structlearn.wording import shown


class RelativeFrequencies(StructuredPredictor):
    """w_k = log(n_k / Σ_j n_j), with n the counts of choices in the training data, summed over choices of one kind.

    Prediction is then the most probable output of a generative model fitted by maximum likelihood. For a chain see
    `HiddenMarkov`.

    Parameters
    ----------
    model : Model
        What is predicted; its bound form has `relative_frequencies`.
    n_jobs : int, optional
        Threads for prediction.

    Attributes
    ----------
    w_, model_, spec_
        As for `StructuralSVM`.
    """

    def __init__(self, model: Any, *, n_jobs: int | None = None):
        self.model = model
        self.n_jobs = n_jobs

    def check_options(self) -> None:
        """Refuses options that mean nothing, by name; `fit` asks for it before it looks at the data."""
        jobs_option("n_jobs", self.n_jobs)

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Counts.

        Parameters
        ----------
        X, y : what the model takes
        sample_weight : (n_examples,), optional
            How often each example counts.
        """
        if not isinstance(self.model, Model):
            raise TypeError(f"model is {shown(self.model)}; expected a Model, such as Grammar()")
        self.check_options()
        check_examples("X", X)
        check_examples("y", y)
        X, y = self.model.read(X, y)
        spec = self.model.specify(X, y)
        problem = self.model.bind(spec, X, y)
        if not hasattr(problem, "relative_frequencies"):
            raise ValueError(f"{type(self.model).__name__} has no relative frequencies: its features are no choices")
        problem.n_threads = jobs_option("n_jobs", self.n_jobs)
        weight = checked_weight(sample_weight, problem.n_examples)
        self.w_ = problem.relative_frequencies(weight)
        self.model_, self.spec_ = self.model, spec
        self.history_: list[Any] = []
        self.n_iter_, self.converged_ = 1, True
        self.objective_ = self.duality_gap_ = np.nan
        self.slacks_ = None
        self.training_ = problem.sizes() | {"library": version("structlearn")}
        return self
