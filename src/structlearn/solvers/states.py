"""Where runs stand: what states hold, and what a line of the history says of them."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from copy import deepcopy
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np

from structlearn.data.arrays import FloatArray
from structlearn.waist.likelihood import Likelihood
from structlearn.waist.problem import Problem

Record = dict[str, Any]


@dataclass
class State:
    """Where a run stands. `w` is the answer if it stopped now; `record` is the last line of the history; `stuck` says
    that rounding leaves no further step.

    `update` consumes its argument: step from ``state.copy()`` to keep the old one.
    """

    w: FloatArray
    iteration: int = 0
    record: Record = field(default_factory=dict)
    stuck: bool = False
    seconds: float = 0.0
    oracle_seconds: float = 0.0
    dual_seconds: float = 0.0

    #: The fields that are vectors over the weights.
    over_weights: ClassVar[tuple[str, ...]] = ("w",)

    def copy(self) -> State:
        return deepcopy(self)

    def extend(self, problem: Problem) -> None:
        """Takes in the weights that have come into being since the last time, all of them 0."""
        for name in self.over_weights:
            if getattr(self, name) is not None:
                setattr(self, name, problem.extend(getattr(self, name)))

    @contextmanager
    def timed(self, what: str) -> Iterator[None]:
        """Adds the seconds of a ``with`` block to `oracle_seconds` or `dual_seconds`."""
        begin = time.perf_counter()
        try:
            yield
        finally:
            setattr(self, what, getattr(self, what) + time.perf_counter() - begin)


@dataclass
class DualState(State):
    """A state with a certificate: the best w that was priced over all examples, and the best dual value.

    Attributes
    ----------
    primal, dual : float
        The objective at `w`, and the largest lower bound on its minimum so far.
    restricted_gap : float
        How far, relatively, the last quadratic program was from its own optimum.
    slacks : (n_examples,)
        ξ_i at `w`, or −log P(y_i | x_i).
    objective : Objective
        What the state was made for.
    """

    primal: float = np.inf
    dual: float = 0.0
    restricted_gap: float = 0.0
    slacks: FloatArray = field(default_factory=lambda: np.empty(0))
    objective: Any = None

    def certify(self, w: FloatArray, violations: FloatArray, objective: Any) -> None:
        """Takes over w, priced exactly from the violation or the loss of every example, if it is the best so far."""
        primal = objective.primal(w, violations)
        if primal <= self.primal or not len(self.slacks):
            self.primal = primal
            self.w = w.copy()
            self.slacks = np.maximum(violations, 0.0)

    @property
    def relative_gap(self) -> float:
        if self.primal == 0.0:
            return 0.0
        return 1.0 if np.isinf(self.primal) else float(np.maximum(0.0, (self.primal - self.dual) / abs(self.primal)))


#: What a line of the history says about a point without a certificate.
UNCERTIFIED: Record = {
    "primal": np.nan,
    "dual": np.nan,
    "gap": np.nan,
    "violation": np.nan,
    "planes": 0,
    "certified": False,
}


def dual_record(state: DualState, problem: Problem, violation: float = np.nan, planes: int = 0) -> Record:
    """A line of the history, with the certificate unless the oracle only approximates."""
    certified = problem.exactness != "approximate"
    return {
        "primal": state.primal if certified else np.nan,
        "dual": state.dual,
        "gap": state.primal - state.dual if certified else np.nan,
        "violation": violation,
        "planes": planes,
        "certified": certified,
    }


def latent_record(state: DualState) -> Record:
    """A line of the history where the objective is not convex: `dual` is a bound on its upper bound, and no more."""
    return {"primal": state.primal, "certified": True, "stationarity": state.relative_gap}


def substitute_record(state: DualState, likelihood: Likelihood) -> Record:
    """A line of the history where another likelihood is maximised: what is certified is that one's minimum, if any.

    Without a certificate `slope` says how steep the objective is, for a ridge ½‖∇‖² as a part of the objective.
    """
    named: Record = {"likelihood": likelihood.name, "primal": state.primal, "certified": likelihood.certifies}
    if likelihood.certifies:
        return named | {"dual": state.dual, "gap": state.primal - state.dual}
    return named | {"slope": state.relative_gap}
