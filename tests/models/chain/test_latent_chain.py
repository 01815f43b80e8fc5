from __future__ import annotations

from itertools import pairwise, product
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st

import structlearn
from structlearn import LatentStructuralSVM, StructuralSVM
from structlearn.evaluation import evaluate
from structlearn.models import Chain, LatentChain

SEEDS = st.integers(0, 10_000)
STATES = {"a": 2, "b": 1, "c": 3}
MOVES = [("a", "b"), ("b", "a"), ("b", "b"), ("c", "a"), ("b", "c"), ("a", "a")]


def partial(random: np.random.Generator, length: int, moves: bool) -> list[Any]:
    """Labels of which some are left out and some uncertain, and which the moves allow."""
    while True:
        y = [str(label) for label in random.choice(list("abc"), length)]
        if not moves or all(pair in MOVES for pair in pairwise(y)):
            break
    said = [y, [None] * length, [{label, str(random.choice(list("abc")))} for label in y]]
    return [said[random.integers(3)][t] for t in range(length)]


def bound(seed: int, *, moves: bool, n: int = 4) -> tuple[Any, list[Any], list[Any]]:
    random = np.random.default_rng(seed)
    lengths = random.integers(1, 4, n)
    X = [random.normal(size=(length, 2)) for length in lengths]
    Y = [partial(random, length, moves) for length in lengths]
    model = LatentChain(STATES, classes="abc", allowed_transitions=MOVES if moves else None)
    problem = model.bind(model.specify(X, Y), X, Y)
    return problem, X, Y


def features(x: Any, states: Any) -> Any:
    """Ψ with the emissions first, then transitions and ends, over six states."""
    emissions, moves, ends = np.zeros((2, 6)), np.zeros((6, 6)), np.zeros((2, 6))
    for row, s in zip(x, states, strict=True):
        emissions[:, s] += row
    for s, t in pairwise(states):
        moves[s, t] += 1
    ends[0, states[0]] += 1
    ends[1, states[-1]] += 1
    return np.concatenate([emissions.ravel(), moves.ravel(), ends.ravel()])


LABELS = "aabccc"


def fits(label: str, said: Any) -> bool:
    return said is None or label in (said if isinstance(said, set) else {said})


def outputs(length: int, moves: bool) -> list[tuple[int, ...]]:
    found = product(range(6), repeat=length)
    if not moves:
        return list(found)
    return [h for h in found if all((LABELS[s], LABELS[t]) in MOVES for s, t in pairwise(h))]


@pytest.mark.parametrize("moves", [False, True])
@given(seed=SEEDS)
@settings(max_examples=15)
def test_every_decoder_agrees_with_enumeration(moves: bool, seed: int) -> None:
    problem, X, Y = bound(seed, moves=moves)
    w = np.random.default_rng(seed + 1).normal(size=problem.n_features)
    everything = np.arange(len(X))
    best = problem.predict(w)
    worst = problem.loss_augmented(w, everything)
    completed = problem.complete(w, everything)
    losses = {name: problem.output_losses(everything, found) for name, found in (("best", best), ("worst", worst))}
    for i, (x, y) in enumerate(zip(X, Y, strict=True)):
        score = {h: float(features(x, h) @ w) for h in outputs(len(x), moves)}
        loss = {h: sum(not fits(LABELS[s], said) for s, said in zip(h, y, strict=True)) for h in score}
        assert score[tuple(best[i])] == pytest.approx(max(score.values()))
        assert loss[tuple(best[i])] == losses["best"][i]
        augmented = {h: score[h] + loss[h] for h in score}
        assert augmented[tuple(worst[i])] == pytest.approx(max(augmented.values()))
        assert loss[tuple(worst[i])] == losses["worst"][i]
        assert loss[tuple(completed[i])] == 0
        assert score[tuple(completed[i])] == pytest.approx(max(score[h] for h in score if loss[h] == 0))
        assert problem.max_losses()[i] >= max(loss.values())


@given(seed=SEEDS)
@settings(max_examples=15)
def test_differences_are_those_of_the_features(seed: int) -> None:
    problem, X, _ = bound(seed, moves=False)
    random = np.random.default_rng(seed)
    examples = np.array([2, 0, 3])
    left, right = ([random.integers(0, 6, len(X[i])).astype(np.int32) for i in examples] for _ in range(2))
    rows = problem.between(examples, left, right)
    dense = sp.csr_array((rows.values, rows.indices, rows.indptr), shape=(3, problem.n_features)).toarray()
    expected = [features(X[i], a) - features(X[i], b) for i, a, b in zip(examples, left, right, strict=True)]
    np.testing.assert_allclose(dense, expected, atol=1e-12)


def two_faced(random: np.random.Generator, n: int) -> tuple[list[Any], list[list[str]]]:
    """Each label has two opposite looks, in an order of their own: no chain over the labels can tell them apart."""
    centres = np.array([[2.0, 0.0], [0.0, 2.0], [-2.0, 0.0], [0.0, -2.0]])
    X, Y = [], []
    for _ in range(n):
        states = [int(random.integers(4))]
        for _ in range(int(random.integers(4, 10))):
            states.append((states[-1] + 1) % 4 if random.random() < 0.8 else int(random.integers(4)))
        X.append(centres[states] + random.normal(size=(len(states), 2)))
        Y.append(["xyxy"[s] for s in states])
    return X, Y


def test_hidden_states_learn_what_labels_alone_cannot() -> None:
    random = np.random.default_rng(0)
    X, Y = two_faced(random, 80)
    held_out = two_faced(random, 80)
    plain = StructuralSVM(Chain(), C=80).fit(X, Y)
    latent = LatentStructuralSVM(LatentChain(2), C=80, random_state=0).fit(X, Y)
    assert plain.score(*held_out) < 0.6
    assert latent.score(*held_out) > 0.9
    values = [record["primal"] for record in latent.history_]
    assert np.all(np.diff(values) <= 1e-9 * np.abs(values[:-1]))


def test_one_state_and_all_labels_is_a_plain_chain() -> None:
    random = np.random.default_rng(1)
    X, Y = two_faced(random, 40)
    chain = StructuralSVM(Chain(), C=10, tol=1e-5).fit(X, Y)
    latent = LatentStructuralSVM(LatentChain(1), C=10, tol=1e-5).fit(X, Y)
    assert latent.objective_ == pytest.approx(chain.objective_, rel=1e-4)
    assert latent.predict(X) == chain.predict(X)


def test_missing_labels_are_filled_in() -> None:
    """Half of the labels of an easy problem are left out; the others suffice."""
    random = np.random.default_rng(2)
    X = [random.normal(size=(8, 3)) for _ in range(60)]
    Y = [["low" if row[0] + 0.5 * row[1] < 0 else "high" for row in x] for x in X]
    part = [[label if random.random() < 0.5 else None for label in y] for y in Y]
    svm = LatentStructuralSVM(LatentChain(1), C=60, random_state=0).fit(X, part)
    assert svm.score(X, Y) > 0.95
    completed = svm.complete(X, part)
    said = [
        (h[0], label) for hs, y in zip(completed, part, strict=True) for h, label in zip(hs, y, strict=True) if label
    ]
    assert all(label == given for label, given in said)


def test_saves_evaluates_and_names_states(tmp_path: Path) -> None:
    X, Y = two_faced(np.random.default_rng(3), 30)
    svm = LatentStructuralSVM(LatentChain({"x": 2}), C=10, random_state=0).fit(X, Y)
    svm.save(tmp_path / "chain.slm")
    loaded = structlearn.load(tmp_path / "chain.slm")
    assert loaded.predict_latent(X) == svm.predict_latent(X)
    assert {state for h in svm.predict_latent(X) for state in h} <= {("x", 0), ("x", 1), ("y", 0)}
    found = evaluate(loaded, X, [[*y[:-1], "new"] for y in Y])
    assert found.kind == "sequences"
    assert np.isnan(found.margins).all()
    again = LatentStructuralSVM(LatentChain({"x": 2}), C=10, init=svm.complete(X, Y)).fit(X, Y)
    assert again.objective_ <= svm.objective_ * 1.01


@pytest.mark.parametrize(
    ("options", "Y", "message"),
    [
        ({}, [], "Y is empty"),
        ({}, ["ab"], r"Y\[0\] is 'ab'; expected a sequence of labels"),
        ({}, [[None, None]], "Y says nothing about any token"),
        ({}, [["a"]], r"Y\[0\] has 1 entries but X\[0\] has 2 rows"),
        ({"classes": "a"}, [["a", "b"]], r"Y\[0\]\[1\] is 'b', but 'b' is not one of the labels"),
        ({"states": 0}, [["a", "b"]], "states is 0; it must be a whole number ≥ 1"),
        ({"states": {"z": 2}}, [["a", "b"]], "states names 'z', which is not one of the labels"),
        ({"allowed_transitions": [("a", "a")]}, [["a", "b"]], r"Y\[0\] admits no labelling"),
        ({}, [["a", set()]], r"Y\[0\]\[1\] is set\(\): no label is left"),
    ],
)
def test_bad_input_is_named(options: dict[str, Any], Y: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        LatentStructuralSVM(LatentChain(**options)).fit([np.zeros((2, 1))], Y)


def test_latent_variables_that_do_not_fit_are_named() -> None:
    X, Y = [np.zeros((2, 1))], [["a", "b"]]
    with pytest.raises(ValueError, match="example 0 has 1 states"):
        LatentStructuralSVM(LatentChain(), init=[[("a", 0)]]).fit(X, Y)
    with pytest.raises(ValueError, match=r"token 1 of example 0 cannot have the state \('a', 0\)"):
        LatentStructuralSVM(LatentChain(), init=[[("a", 0), ("a", 0)]]).fit(X, Y)


def test_prediction_of_labels_is_the_best_of_all_states() -> None:
    problem, X, _ = bound(7, moves=False)
    w = np.random.default_rng(0).normal(size=problem.n_features)
    found = problem.best(w, np.arange(len(X)))
    assert problem.present(found) == [[LABELS[s] for s in y] for y in found]
