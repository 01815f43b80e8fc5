"""What all estimators with weights can do, however the weights were found."""

from __future__ import annotations

import os
from typing import Any

import numpy as np

from structlearn.contract import Estimator, available_if, check_is_fitted
from structlearn.data.arrays import FloatArray
from structlearn.data.examples import check_examples
from structlearn.data.fields import LARGEST
from structlearn.data.matrices import checked_table
from structlearn.data.options import jobs_option, whole_option
from structlearn.estimators.abilities import needs
from structlearn.estimators.card import WithCard
from structlearn.estimators.inspectable import Inspectable
from structlearn.estimators.training import checked_weight, restriction
from structlearn.persistence import model_file
from structlearn.waist.problem import Problem


def _is_tabular(estimator: StructuredPredictor) -> bool:
    if not getattr(estimator.model, "tabular", False):
        raise AttributeError("decision_function exists for models with one label an example only")
    return True


#: Methods of those estimators whose scores are log-probabilities.
_OF_PROBABILITIES = (
    *("predict_marginals", "predict_pair_marginals", "predict_proba", "predict_log_proba"),
    *("log_partition", "entropy", "sample"),
)


class StructuredPredictor(Inspectable, WithCard, Estimator):
    """Base class: argmax_y ⟨w, Ψ(x, y)⟩ and what else follows from weights. A subclass sets `w_`, `model_`, `spec_`.

    Parameters every estimator has: ``model``, ``n_jobs``.
    """

    model: Any
    n_jobs: int | None

    def predict(self, X: Any, *, allowed: Any = None) -> Any:
        """The best output of every example; `allowed` restricts them as in `fit`."""
        problem = self._bind(X, allowed=allowed)
        return problem.present(problem.predict(self.w_))

    @needs("k_best")
    def k_best(self, X: Any, k: int, *, allowed: Any = None) -> list[list[tuple[Any, float]]]:
        """The k best outputs of every example with their scores ⟨w, Ψ(x, y)⟩, best first."""
        k = whole_option("k", k, 1, LARGEST)
        problem: Any = self._bind(X, allowed=allowed)
        found: list[list[tuple[Any, float]]] = problem.k_best(self.w_, k)
        return found

    @available_if(_is_tabular)
    def decision_function(self, X: Any) -> FloatArray:
        """⟨w, Ψ(x, y)⟩ of every class, (n_examples, n_classes); the difference of the two if there are two."""
        problem: Any = self._bind(X)
        scores: FloatArray = problem.class_scores(self.w_, np.arange(problem.n_examples))
        return scores[:, 1] - scores[:, 0] if scores.shape[1] == 2 else scores

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """1 − ΣΔ/ΣΔ_max: accuracy for the zero-one and the Hamming loss.

        Predictions are unrestricted, and Δ_max is the largest loss of any output, whatever `allowed` ruled out in
        training: otherwise scores with and without it could not be compared.
        """
        check_is_fitted(self)
        check_examples("y", y)
        problem = self._bind(X, y)
        weight = checked_weight(sample_weight, problem.n_examples)
        loss = weight @ problem.losses(problem.predict(self.w_))
        most = weight @ problem.max_losses()
        return float(1.0 - loss / most) if most > 0 else 1.0

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes the fitted estimator to one file; `structlearn.load` reads it and never runs code from it."""
        model_file.save(self, path)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        if getattr(self.model, "tabular", False):
            from sklearn.utils import ClassifierTags

            tags.estimator_type = "classifier"
            # Through the origin, a linear classifier can neither follow class weights nor shifted data.
            tags.classifier_tags = ClassifierTags(poor_score=not getattr(self, "fit_intercept", False))
            tags.input_tags.sparse = True
        else:
            tags.input_tags.two_d_array = False
        return tags

    def __getattr__(self, name: str) -> Any:
        if name in _OF_PROBABILITIES and not hasattr(type(self), name):
            able = "ConditionalRandomField has them, for models whose outputs can be summed over"
            raise AttributeError(f"{type(self).__name__} has scores and no probabilities, and so no {name}; {able}")
        return super().__getattr__(name)

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "w_")

    def _bind(self, X: Any, Y: Any = None, *, allowed: Any = None) -> Problem:
        check_is_fitted(self)
        check_examples("X", X)
        if Y is not None:
            check_examples("y", Y)
        if self.model_.tabular:
            from sklearn.utils.validation import validate_data

            X = validate_data(self, checked_table(X), reset=False, accept_sparse="csr", dtype=np.float64)
        problem = self._bound_new(X, Y, allow_unknown=True, **restriction(self.model_, allowed))
        problem.n_threads = jobs_option("n_jobs", self.n_jobs)
        if len(self.w_) != problem.n_features:
            raise ValueError(f"w_ has {len(self.w_)} entries, but the model has {problem.n_features} weights")
        return problem

    def _bound_new(self, X: Any, Y: Any, **options: Any) -> Problem:
        """The fitted model on data."""
        return self._bound(self.model_, self.spec_, X, Y, **options)

    @staticmethod
    def _bound(model: Any, spec: Any, X: Any, Y: Any, **options: Any) -> Problem:
        """The model on data, with outputs as this estimator takes them."""
        problem: Problem = model.bind(spec, X, Y, **options)
        return problem
