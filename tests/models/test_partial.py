from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from scipy.special import logsumexp

from structlearn.models import Chain, Multiclass, Segments
from tests.models.enumerated import EnumeratedChain, EnumeratedMulticlass, EnumeratedSecondOrder, EnumeratedSegments
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


@pytest.mark.parametrize("zero_one", [False, True])
@given(seed=SEEDS)
@settings(max_examples=8)
def test_partly_known_classes_agree_with_enumeration(zero_one: bool, seed: int) -> None:
    random = np.random.default_rng(seed)
    X = random.normal(size=(5, 2))
    Y = [said_of(random, int(label)) for label in random.integers(3, size=5)]
    cost = np.ones((3, 3)) if zero_one else random.integers(1, 4, (3, 3)) / 2
    cost = cost * (1.0 - np.eye(3))
    model = Multiclass(LABELS, cost="zero_one" if zero_one else cost)
    problem = model.bind_partial(model.specify_partial(X, Y), X, Y)

    def loss(said: Any, label: int) -> float:
        return min(cost[true, label] for true in possible(said))

    found = twins(problem, EnumeratedMulticlass(cost), X, Y, loss, lambda said, label: label in possible(said))
    check_all(found, random)


@pytest.mark.parametrize("loss", ["segments", "hamming", "zero_one"])
@given(seed=SEEDS)
@settings(max_examples=8)
def test_partly_known_segments_agree_with_enumeration(loss: str, seed: int) -> None:
    random = np.random.default_rng(seed)
    reference = EnumeratedSegments(3, 2, loss=loss)
    X = [random.normal(size=(length, 2)) for length in (1, 2, 3, 4)]
    truths = [reference.outputs(x)[random.integers(len(reference.outputs(x)))] for x in X]
    Y: list[Any] = [
        [(said_of(random, label), begin, end) for label, begin, end in y if random.random() < 0.5] for y in truths
    ]
    Y[1] = None if seed % 2 else Y[1]
    model = Segments(LABELS, max_length=2, loss=loss)
    problem = model.bind_partial(model.specify_partial(X, Y), X, Y)

    def missed(known: Any, y: Any) -> list[Any]:
        return [
            (label, begin, end)
            for label, begin, end in known or []
            if not any((begin, end) == segment[1:] and segment[0] in possible(label) for segment in y)
        ]

    def wrong(known: Any, y: Any) -> float:
        if loss != "hamming":
            return float(len(missed(known, y)) if loss == "segments" else bool(missed(known, y)))
        labels = [label for label, begin, end in y for _ in range(begin, end)]
        tokens = [(label, t) for label, begin, end in known or [] for t in range(begin, end)]
        return float(sum(labels[t] not in possible(label) for label, t in tokens))

    found = twins(problem, reference, X, Y, wrong, lambda known, y: not missed(known, y))
    check_all(found, random)


# The largest emission of a token belongs to a label that no other can be followed by, all others to e⁻⁷⁰⁰ and less.
@example(seed=495, scale=300.0)
@given(seed=SEEDS, scale=st.sampled_from([30.0, 300.0, 3000.0]))
@settings(max_examples=30)
def test_sums_stay_exact_where_scores_are_far_apart_and_labels_out_of_reach(seed: int, scale: float) -> None:
    found = chain_twins(seed, allowed_transitions=MOVES)
    w = scale * np.random.default_rng(seed).normal(size=found.problem.n_features)
    expected = [
        logsumexp(features @ w) - logsumexp((features @ w)[agree])
        for features, agree in zip(found.features, found.agree, strict=True)
    ]
    np.testing.assert_allclose(found.problem.log_losses(w), expected, rtol=1e-9, atol=1e-9 * scale)
