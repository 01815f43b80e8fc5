"""What there is to tell people about a fitted learner of vectors."""

from __future__ import annotations

from typing import Any

from structlearn.estimators.vector_valued.base import VectorPredictor
from structlearn.kernels.base import length
from structlearn.kernels.operators import Decomposable


def described(estimator: VectorPredictor) -> dict[str, Any]:
    """Plain values by name; what this learner has not is left out.

    >>> from structlearn import VectorValuedRidge
    >>> from structlearn.outputs import LabelOutputs
    >>> ridge = VectorValuedRidge(LabelOutputs(), "linear", lam=0.1).fit([[1.0, 0.0], [0.0, 1.0]], ["east", "north"])
    >>> {name: described(ridge)[name] for name in ("outputs", "coordinates", "kernel", "operator", "lam", "method")}
    {'outputs': 'LabelOutputs', 'coordinates': 2, 'kernel': 'Linear()', 'operator': 'identity', 'lam': 0.1, \
'method': 'cholesky'}
    """
    terms = estimator.kernel_.terms
    left_out = getattr(estimator, "left_out_", [])
    told = {
        "outputs": type(estimator.outputs_).__name__,
        "edges": getattr(estimator.outputs_, "edges", None),
        "coordinates": estimator.outputs_.n_coordinates(),
        "kernel": " + ".join(repr(term.kernel) for term in terms),
        "operator": " + ".join(_operator(term, estimator) for term in terms),
        "basis": length(estimator.basis_) if estimator.map_ is None else len(estimator.map_.get_feature_names_out()),
        "method": getattr(estimator, "method_", None),
        "lam": getattr(estimator, "lam_", None),
        "left_out_error": min((record["error"] for record in left_out), default=None),
        "left_out": left_out or None,
        "C": getattr(estimator, "C_", None),
        "objective": getattr(estimator, "objective_", None),
        "gap": getattr(estimator, "duality_gap_", None),
        "iterations": getattr(estimator, "n_iter_", None),
        "converged": getattr(estimator, "converged_", None),
    }
    return {name: value for name, value in told.items() if value is not None}


def _operator(term: Decomposable, estimator: VectorPredictor) -> str:
    """A in a word: what was asked for, and how large it is."""
    if isinstance(term.A, str):
        return term.A
    asked = {each.A for kernel in estimator._candidates() for each in kernel.terms if isinstance(each.A, str)}
    named = asked - {"identity"}
    return f"{named.pop() if len(named) == 1 else 'given'}, {len(term.A)} × {len(term.A)}"  # type: ignore[arg-type]
