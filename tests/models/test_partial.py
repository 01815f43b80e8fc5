from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from structlearn.models import Chain
from tests.models.enumerated import EnumeratedChain, EnumeratedSecondOrder
from tests.models.partial_twins import PartialTwins, check_all, twins

SEEDS = st.integers(0, 10_000)
LABELS = (0, 1, 2)
MOVES = [(0, 1), (1, 0), (1, 1), (2, 0), (1, 2), (0, 0), (None, 0), (None, 1), (0, None), (1, None)]


def said_of(random: np.random.Generator, label: int) -> Any:
    """A label, nothing, or a set or list that it is in."""
    others = {int(random.integers(3))}
    return [label, None, {label} | others, [label, *others]][random.integers(4)]


def possible(said: Any) -> set[int]:
    if said is None:
        return set(LABELS)
    return set(said) if isinstance(said, (set, list)) else {said}


def chain_twins(
    seed: int, *, order: int = 1, loss: str = "hamming", weighted: bool = False, **options: Any
) -> PartialTwins:
    random = np.random.default_rng(seed)
    make = EnumeratedSecondOrder if order == 2 else EnumeratedChain
    reference = make(3, **options)
    X = [random.normal(size=(length, 2)) for length in (1, 2, 3, 3)]
    truths = [reference.outputs(x)[random.integers(len(reference.outputs(x)))] for x in X]
    Y = [[said_of(random, label) for label in y] for y in truths]
    Y[1] = None if seed % 2 else Y[1]
    weight = {0: 2.0, 1: 0.5} if weighted else {}

    def wrong(said: Any, y: Any) -> float:
        known = [None] * len(y) if said is None else said
        costs = [
            0.0 if label in possible(entry) else min(weight.get(true, 1.0) for true in possible(entry))
            for entry, label in zip(known, y, strict=True)
        ]
        return float(any(costs)) if loss == "zero_one" else sum(costs)

    model = Chain(classes=LABELS, order=order, loss=loss, label_weight=weight or None, **options)
    problem = model.bind_partial(model.specify_partial(X, Y), X, Y)
    return twins(problem, reference, X, Y, wrong, lambda said, y: wrong(said, y) == 0.0)


@pytest.mark.parametrize("order", [1, 2])
@pytest.mark.parametrize(
    "options", [{}, {"loss": "zero_one"}, {"weighted": True}, {"pair_features": True}, {"allowed_transitions": MOVES}]
)
@given(seed=SEEDS)
@settings(max_examples=8)
def test_partly_known_chains_agree_with_enumeration(order: int, options: dict[str, Any], seed: int) -> None:
    check_all(chain_twins(seed, order=order, **options), np.random.default_rng(seed))
