"""Label sequences that are known in part, from fitting to files."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.base import clone

import structlearn
from structlearn import ConditionalRandomField, LatentStructuralSVM, StructuralSVM
from structlearn.models import Chain
from tests.estimators.test_checkpoint import StopAt


def easy(n: int = 60, kept: float = 0.4, seed: int = 2) -> tuple[list[Any], list[Any], list[Any]]:
    """Sequences with all labels, and with some of them."""
    random = np.random.default_rng(seed)
    X = [random.normal(size=(8, 3)) for _ in range(n)]
    Y = [["low" if row[0] + 0.5 * row[1] < 0 else "high" for row in x] for x in X]
    part = [[label if random.random() < kept else None for label in y] for y in Y]
    return X, Y, part


@pytest.mark.parametrize("order", [1, 2])
@pytest.mark.parametrize(
    "options", [{}, {"rescaling": "slack"}, {"rescaling": "margin", "slack": "squared"}, {"rescaling": None}]
)
def test_some_labels_teach_the_others(order: int, options: dict[str, Any]) -> None:
    X, Y, part = easy()
    svm = LatentStructuralSVM(Chain(order=order), C=60, **options).fit(X, part)
    assert svm.score(X, Y) > 0.95
    assert svm.stationarity_ <= 1e-3
    values = [record["primal"] for record in svm.history_]
    assert np.all(np.diff(values) <= 1e-9 * np.abs(values[:-1]))


def test_with_all_labels_the_minimum_is_that_of_the_convex_machine() -> None:
    X, Y, _ = easy(30)
    svm = StructuralSVM(Chain(), C=10, tol=1e-6).fit(X, Y)
    latent = LatentStructuralSVM(Chain(), C=10, tol=1e-6).fit(X, Y)
    assert latent.objective_ == pytest.approx(svm.objective_, rel=1e-5)
    np.testing.assert_allclose(latent.w_, svm.w_, atol=1e-2)


def test_only_what_is_known_counts_in_the_score() -> None:
    X, Y, _ = easy(10)
    svm = LatentStructuralSVM(Chain(), C=10).fit(X, Y)
    predicted = svm.predict(X)
    wrong = [[{"low": "high", "high": "low"}[label] for label in y] for y in predicted]
    half = [[label if t % 2 else None for t, label in enumerate(y)] for y in wrong]
    assert svm.score(X, half) == 0.0
    assert svm.score(X, [[{"low", "high"}] * 8] * 10) == 1.0
    assert svm.score(X, [[{"low", "unheard of"}] * 8] * 10) < 1.0


def test_completions_agree_with_what_is_known() -> None:
    X, Y, part = easy()
    svm = LatentStructuralSVM(Chain(), C=60).fit(X, part)
    for whole, said in zip(svm.complete(X, part), part, strict=True):
        assert all(label == known for label, known in zip(whole, said, strict=True) if known is not None)
    again = LatentStructuralSVM(Chain(), C=60, init=svm.complete(X, part)).fit(X, part)
    assert again.objective_ <= svm.objective_ * 1.01
    assert not hasattr(svm, "predict_latent")
    with pytest.raises(ValueError, match=r"Y\[0\]\[0\] is '\w+', which is not allowed there"):
        LatentStructuralSVM(Chain(), init=Y).fit(X, [["low" if label == "high" else "high" for label in y] for y in Y])


def test_saves_clones_goes_on_and_weighs(tmp_path: Path) -> None:
    X, _, part = easy(20)
    svm = LatentStructuralSVM(Chain(), C=10, random_state=0).fit(X, part)
    svm.save(tmp_path / "chain.slm")
    loaded = structlearn.load(tmp_path / "chain.slm")
    assert loaded.predict(X) == svm.predict(X)
    assert loaded.k_best(X[:1], 2) == svm.k_best(X[:1], 2)
    assert loaded.score(X, part) == svm.score(X, part)
    weighted = clone(svm).fit(X, part, sample_weight=[2.0] * 10 + [0.0] * 10)
    np.testing.assert_allclose(weighted.w_, clone(svm).fit(X[:10], part[:10]).w_, atol=1e-6)
    path = clone(svm).set_params(warm_start=True).fit(X, part)
    assert path.set_params(C=12).fit(X, part).stationarity_ <= 1e-3


def test_a_stopped_run_goes_on(tmp_path: Path) -> None:
    X, _, part = easy(20)

    svm = LatentStructuralSVM(Chain(), C=10, random_state=0)
    clone(svm).set_callbacks(StopAt(3)).fit(X, part, checkpoint=tmp_path / "run", checkpoint_every=0.0)
    assert (tmp_path / "run").exists()
    resumed = clone(svm).fit(X, part, checkpoint=tmp_path / "run")
    np.testing.assert_array_equal(resumed.w_, clone(svm).fit(X, part).w_)


@pytest.mark.parametrize("learner", [StructuralSVM, ConditionalRandomField])
@pytest.mark.parametrize("said", [None, {"a", "b"}, frozenset("ab"), ["a", "b"]])
def test_learners_of_whole_truths_name_those_of_partial_ones(learner: Any, said: Any) -> None:
    with pytest.raises(ValueError, match=r"Y\[0\]\[1\] is .* known in part are for LatentStructuralSVM and Latent"):
        learner(Chain()).fit([np.eye(2)], [["a", said]])


@pytest.mark.parametrize(
    ("options", "Y", "message"),
    [
        ({}, [], "Y is empty"),
        ({}, ["ab"], r"Y\[0\] is 'ab'; expected"),
        ({}, [[None, None]], "Y says nothing about any token"),
        ({}, [["a"]], r"Y\[0\] has 1 entries but X\[0\] has 2 rows"),
        ({"classes": "a"}, [["a", "b"]], r"Y\[0\]\[1\] is 'b', but 'b' is not one of the labels"),
        ({}, [["a", set()]], r"Y\[0\]\[1\] is set\(\): no label is left"),
        ({"allowed_transitions": [("a", "a")], "classes": "ab"}, [["a", "b"]], "no labelling that satisfies"),
        ({"observed_only": True}, [["a", None]], "observed_only=True needs to know every label"),
    ],
)
def test_bad_input_is_named(options: dict[str, Any], Y: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        LatentStructuralSVM(Chain(**options)).fit([np.zeros((2, 1))], Y)
