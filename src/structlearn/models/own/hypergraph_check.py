"""Whether a hypergraph model keeps its promises, for `structlearn.testing.check_model`."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from structlearn.data.arrays import FloatArray
from structlearn.wording import shown

if TYPE_CHECKING:
    from structlearn.models.own.hypergraph_model import HypergraphModel


def hypergraph_findings(
    model: HypergraphModel, X: Any, Y: Any, draw: Callable[[int], FloatArray], n_weights: int, n_outputs: int = 200
) -> list[str]:
    """How the model breaks its rules on these examples, among the best outputs at random weights; each way once."""
    problem = model.bind(model.specify(X, Y), X, Y)
    told: dict[str, str] = {}
    for _ in range(n_weights):
        w = draw(problem.n_features)
        for i, (x, y) in enumerate(zip(X, Y, strict=True)):
            found = problem.ambiguity(w, i, n_outputs)
            if found is not None:
                told.setdefault("ambiguity", found)
            for output in (y, *problem.present(problem.best(w, np.array([i])))):
                parts = set(model.parts(x, output))
                again = model.output(x, [part for part in problem.graphs[i].parts if part in parts])
                if set(model.parts(x, again)) != parts:
                    told.setdefault(
                        "inverse",
                        f"output(X[{i}], parts) of the parts of {shown(output)} gives {shown(again)}, which has others",
                    )
    return list(told.values())
