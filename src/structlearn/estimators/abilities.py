"""Methods of estimators that are there for some models only: `hasattr` is False for the others."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from structlearn.contract import available_if
from structlearn.models.base import Ability, Model
from structlearn.models.own.pystruct_latent import adapter
from structlearn.solvers import Solver
from structlearn.waist.objective import Objective

_REASONS: dict[Ability, str] = {
    "k_best": "{name} cannot find the k best outputs; in a model of your own write k_best(x, w, k) or outputs(x)",
    "sums": "{name} cannot sum over all outputs; in a model of your own write outputs(x), in an engine sums(theta)",
    "pair_marginals": "{name} cannot say how probable neighbouring parts are together; a HypergraphModel can",
    "samples": "{name} cannot draw outputs; in a model of your own write outputs(x), in an engine sample",
    "posterior": "the most probable labels of single places need not make up an output of {name}",
    "explain": "{name} does not list the parts of its outputs; the parts of a score are w_ * Ψ(x, y)",
    "partial": "{name} cannot learn from outputs that are known in part",
}


def lacks(estimator: Any, ability: Ability) -> str | None:
    """Why the estimator's model does not have this ability; None if it has."""
    model = getattr(estimator, "model_", estimator.model)
    bound = model if isinstance(model, Model) else adapter(model)(model)
    if ability in bound.abilities:
        return None
    told = _REASONS[ability].format(name=bound.class_name)
    reason = bound.refusal(ability)
    return told if reason is None else f"{told.partition(';')[0]}: {reason}"


def for_parts(solver: Solver) -> Solver:
    """The solver, if it is one for examples on other machines: others would send every step, and take for ever."""
    if not solver.takes_sharded:
        raise ValueError(
            f"{type(solver).__name__} is not made for data in parts on several machines; StructuralSVM has "
            "solver='sharded_ascent' and 'one_slack' for them, ConditionalRandomField 'lbfgs'"
        )
    return solver


def check_decoder(model: Model, solver: Solver, objective: Objective) -> None:
    """Refuses, for the reason that the model declares, a solver that needs a decoder which the model does not have."""
    if not isinstance(objective, solver.objectives):
        # Which `Solver.check` refuses in its own words.
        return
    needed = solver.oracle(objective)
    reason = model.refusal(needed)
    if reason is not None:
        able = needed != "loss_augmented" and "loss_augmented" in model.costs
        way = "StructuralSVM, which needs none" if needed == "sums" else "rescaling='margin' with slack='linear'"
        way_out = f"; use {way}" if able else ""
        raise ValueError(
            f"{type(solver).__name__} with {objective} needs the oracle {needed!r}, which {type(model).__name__} does "
            f"not have: {reason}{way_out}"
        )


def needs(ability: Ability) -> Callable[[Any], Any]:
    """A decorator for a method that needs this ability of the estimator's model."""

    def able(estimator: Any) -> bool:
        reason = lacks(estimator, ability)
        if reason is not None:
            raise AttributeError(reason)
        return True

    return available_if(able)
