from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.base import clone

import structlearn
from structlearn import LatentStructuralSVM, StructuralSVM
from structlearn.estimators.checkpoint import Checkpoint
from structlearn.evaluation import evaluate
from structlearn.models import LatentChain
from structlearn.solvers import ConcaveConvex, NSlack, Subgradient
from tests.estimators.test_checkpoint import StopAt
from tests.solvers.latent_toy import OneOfSeveral, several


@pytest.fixture(scope="module")
def data() -> tuple[list[Any], list[int]]:
    return several(np.random.default_rng(2), 40)


@pytest.mark.parametrize(
    "solver",
    [
        "auto",
        pytest.param("one_slack", marks=pytest.mark.slow),
        "n_slack",
        pytest.param("subgradient", marks=pytest.mark.slow),
        pytest.param(NSlack(), marks=pytest.mark.slow),
        ConcaveConvex(tol=0.01),
    ],
)
def test_learns_with_every_solver(data: Any, solver: Any) -> None:
    # Which local minimum a single run finds may depend on the last digit of a sum; solver objects have one start.
    n_init = 3 if isinstance(solver, str) else 1
    svm = LatentStructuralSVM(OneOfSeveral(3, 4), C=20, solver=solver, n_init=n_init).fit(*data)
    assert svm.score(*data) > 0.9
    assert len(svm.predict_latent(data[0])) == len(data[0])


def test_predictions_and_completions_are_pairs_of_the_best_scores(data: Any) -> None:
    X, Y = data
    model = OneOfSeveral(3, 4)
    svm = LatentStructuralSVM(model, C=20, random_state=0).fit(X, Y)
    for x, y, h in zip(X, svm.predict(X), svm.predict_latent(X), strict=True):
        best = max(model.joint_feature(x, *pair) @ svm.w_ for pair in model.outputs(x))
        assert model.joint_feature(x, y, h) @ svm.w_ == pytest.approx(best)
    for x, y, h in zip(X, Y, svm.complete(X, Y), strict=True):
        assert model.joint_feature(x, y, h) @ svm.w_ == max(
            model.joint_feature(x, y, k) @ svm.w_ for k in range(len(x))
        )


def test_the_best_of_several_runs_is_kept(data: Any) -> None:
    svm = LatentStructuralSVM(OneOfSeveral(3, 4), C=20, n_init=2, n_jobs=2, random_state=1).fit(*data)
    assert len(svm.objectives_) == 2
    assert svm.objective_ == svm.objectives_.min()
    again = LatentStructuralSVM(OneOfSeveral(3, 4), C=20, n_init=2, n_jobs=1, random_state=1).fit(*data)
    np.testing.assert_array_equal(again.w_, svm.w_)


def test_every_way_to_begin(data: Any) -> None:
    X, Y = data
    model = OneOfSeveral(3, 4)
    free = LatentStructuralSVM(model, C=20, random_state=0).fit(X, Y)
    by_weights = LatentStructuralSVM(model, C=20, init=free.w_).fit(X, Y)
    assert by_weights.objective_ <= free.objective_ * (1 + 1e-9)
    by_parts = LatentStructuralSVM(model, C=20, init=free.complete(X, Y)).fit(X, Y)
    assert by_parts.objective_ == pytest.approx(free.objective_, rel=5e-3)
    called = LatentStructuralSVM(model, C=20, init=lambda X, Y, random: [0] * len(X)).fit(X, Y)
    listed = LatentStructuralSVM(model, C=20, init=[0] * len(X)).fit(X, Y)
    np.testing.assert_array_equal(called.w_, listed.w_)


def test_weight_k_equals_k_copies_and_zero_is_removal(data: Any) -> None:
    X, Y = data[0][:20], data[1][:20]
    weights = np.random.default_rng(0).integers(0, 3, size=20)
    options: dict[str, Any] = {"C": 5, "tol": 1e-6}
    weighted = LatentStructuralSVM(OneOfSeveral(3, 4), init=[0] * 20, **options).fit(X, Y, weights)
    copies = np.repeat(np.arange(20), weights)
    copied = LatentStructuralSVM(OneOfSeveral(3, 4), init=[0] * len(copies), **options)
    copied.fit([X[i] for i in copies], [Y[i] for i in copies])
    assert weighted.objective_ == pytest.approx(copied.objective_, rel=1e-4)


def test_goes_on_from_a_checkpoint(data: Any, tmp_path: Path) -> None:
    options: dict[str, Any] = {"C": 20, "tol": 1e-5, "random_state": 3}
    whole = LatentStructuralSVM(OneOfSeveral(3, 4), **options).fit(*data)
    file = tmp_path / "run.checkpoint"
    stopping = LatentStructuralSVM(OneOfSeveral(3, 4), **options)
    stopping.set_callbacks(StopAt(5))
    stopping.fit(*data, checkpoint=file)
    assert file.exists()
    resumed = LatentStructuralSVM(OneOfSeveral(3, 4), **options).fit(*data, checkpoint=file)
    np.testing.assert_array_equal(resumed.w_, whole.w_)


def test_warm_start_goes_on_under_another_price(data: Any) -> None:
    svm = LatentStructuralSVM(OneOfSeveral(3, 4), C=1, warm_start=True, random_state=0).fit(*data)
    svm.set_params(C=20).fit(*data)
    cold = LatentStructuralSVM(OneOfSeveral(3, 4), C=20, random_state=0).fit(*data)
    assert svm.history_[0]["primal"] < 0.9 * cold.history_[0]["primal"]
    assert svm.objective_ == pytest.approx(cold.objective_, rel=0.1)


def test_evaluates_and_clones(data: Any) -> None:
    svm = LatentStructuralSVM(OneOfSeveral(3, 4), C=20, random_state=0).fit(*data)
    found = evaluate(svm, *data)
    assert found.accuracy.estimate == pytest.approx(np.mean(np.array(svm.predict(data[0])) == data[1]))
    assert np.all(found.margins >= 0)
    assert clone(svm).get_params()["C"] == 20


def test_a_saved_estimator_predicts_the_same(data: Any, tmp_path: Path) -> None:
    svm = LatentStructuralSVM(OneOfSeveral(3, 4), C=20, random_state=0).fit(*data)
    svm.save(tmp_path / "svm.slm")
    loaded = structlearn.load(tmp_path / "svm.slm", model=OneOfSeveral(3, 4))
    assert loaded.predict(data[0]) == svm.predict(data[0])
    assert loaded.predict_latent(data[0]) == svm.predict_latent(data[0])


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"init": "nowhere"}, "init is 'nowhere'; as a word it may be 'model' or 'random'"),
        ({"init": [0, 1]}, "init has 2 latent parts, but there are 40 examples"),
        ({"init": np.zeros(3)}, "init has shape \\(3,\\), but the model has 12 weights"),
        ({"init": np.full(12, np.nan)}, "init holds weights that are not finite"),
        ({"init": np.zeros(12), "n_init": 3}, "with a given init all 3 runs would be the same"),
        ({"n_init": 0}, "n_init is 0; it must be a whole number ≥ 1"),
        ({"init": "random", "solver": "subgradient"}, "Subgradient begins at w = 0; leave init out"),
        ({"solver": Subgradient(), "tol": 0.1}, "Subgradient has no option 'tol'"),
    ],
)
def test_bad_options_are_named(data: Any, options: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        LatentStructuralSVM(OneOfSeveral(3, 4), **options).fit(*data)


@pytest.fixture(scope="module")
def chains() -> tuple[Any, list[list[int]]]:
    random = np.random.default_rng(0)
    return random.normal(size=(16, 4, 3)), random.integers(2, size=(16, 4)).tolist()


@pytest.mark.parametrize("early", [False, True])
def test_several_runs_go_on_after_a_kill_at_any_of_them(
    chains: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, early: bool
) -> None:
    X, Y = chains
    options: dict[str, Any] = {"validation": (X[12:], Y[12:])} if early else {}
    svm = LatentStructuralSVM(LatentChain({0: 2, 1: 2}), C=20, tol=0.3, n_init=2, random_state=3)
    undisturbed = clone(svm).fit(X[:12], Y[:12], **options)
    writes: list[int] = []
    write = Checkpoint.write

    def die_at(last: int) -> None:
        def write_and_die(self: Checkpoint, state: Any, watch: Any) -> None:
            write(self, state, watch)
            writes.append(state.iteration)
            if len(writes) == last:
                raise MemoryError

        writes.clear()
        monkeypatch.setattr(Checkpoint, "write", write_and_die)

    options |= {"checkpoint": tmp_path / "runs", "checkpoint_every": 0.0}
    die_at(-1)
    clone(svm).fit(X[:12], Y[:12], **options)
    total = len(writes)
    for last in (total // 2, total):
        die_at(last)
        with pytest.raises(MemoryError):
            clone(svm).fit(X[:12], Y[:12], **options)
        continued = clone(svm).fit(X[:12], Y[:12], **options)
        np.testing.assert_array_equal(continued.w_, undisturbed.w_)
        np.testing.assert_array_equal(continued.objectives_, undisturbed.objectives_)
        assert len(writes) <= total
        assert not (tmp_path / "runs").exists()


def test_a_warm_start_goes_on_from_the_best_of_several_runs(chains: Any) -> None:
    svm = LatentStructuralSVM(LatentChain({0: 2, 1: 2}), tol=0.3, n_init=3, random_state=1, warm_start=True)
    best = svm.fit(*chains).objective_
    svm.set_params(tol=0.1).fit(*chains)
    assert svm.objective_ <= best * (1 + 1e-9)
    assert svm.history_[0]["primal"] == pytest.approx(best)
    assert len(svm.objectives_) == 1


def test_checkpoints_of_several_runs_need_a_seed_and_a_folder(data: Any, tmp_path: Path) -> None:
    svm = LatentStructuralSVM(OneOfSeveral(3, 4), n_init=2)
    with pytest.raises(ValueError, match="a checkpoint of n_init=2 runs needs a random_state"):
        svm.fit(*data, checkpoint=tmp_path / "runs")
    (tmp_path / "file").touch()
    with pytest.raises(ValueError, match="file is a file, but n_init=2 runs keep their checkpoints in a folder"):
        svm.set_params(random_state=0).fit(*data, checkpoint=tmp_path / "file")


def test_models_with_latent_variables_are_refused_elsewhere(data: Any) -> None:
    with pytest.raises(ValueError, match="use LatentStructuralSVM"):
        StructuralSVM(OneOfSeveral(3, 4)).fit(*data)


def test_plain_models_are_refused_here() -> None:
    from structlearn.models import MultivariateBinary

    with pytest.raises(TypeError, match="has no latent parts to complete: use StructuralSVM"):
        LatentStructuralSVM(MultivariateBinary()).fit([[[0.0], [1.0]]], [[0, 1]])


@pytest.mark.parametrize(
    ("methods", "message"),
    [
        ({"loss": lambda self, y, y_hat: 0.0}, r"Wrong has no loss\(y, y_hat, h_hat\) with these arguments"),
        ({"joint_feature": lambda self, x, y: x}, r"Wrong has no joint_feature\(x, y, h\) with these arguments"),
        ({"joint_feature": None}, "Wrong is no model: it has no method 'joint_feature'"),
    ],
)
def test_methods_with_other_arguments_are_named(data: Any, methods: dict[str, Any], message: str) -> None:
    wrong = type("Wrong", (OneOfSeveral,), methods)
    with pytest.raises(TypeError, match=message):
        LatentStructuralSVM(wrong(3, 4)).fit(*data)


def test_a_hidden_part_without_complete_is_named(data: Any) -> None:
    class Forgetful:
        def joint_feature(self, x: Any, y: int, h: int) -> Any:
            return x[h]

        def loss(self, y: int, y_hat: int, h_hat: int) -> float:
            return 0.0

    with pytest.raises(TypeError, match="a model with latent parts h has a method complete"):
        LatentStructuralSVM(Forgetful()).fit(*data)


def pair_completion(self: OneOfSeveral, x: Any, y: int, w: Any) -> Any:
    return y, OneOfSeveral.complete(self, x, y, w)


@pytest.mark.parametrize("methods", [{}, {"inference": property()}], ids=["inference", "outputs"])
def test_completions_that_are_pairs_are_named(data: Any, methods: dict[str, Any]) -> None:
    wrong = type("Wrong", (OneOfSeveral,), {"complete": pair_completion, **methods})(3, 4)
    with pytest.raises(TypeError, match=r"complete of example 0 returned \(\d, \d\), the pair \(y, h\); expected"):
        LatentStructuralSVM(wrong).fit(*data)


def test_latent_variables_may_be_pairs_that_begin_with_the_output(data: Any) -> None:
    class Paired(OneOfSeveral):
        def joint_feature(self, x: Any, y: int, h: Any) -> Any:
            return super().joint_feature(x, y, h[1])

        def loss(self, y: int, y_hat: int, h_hat: Any) -> float:
            return super().loss(y, y_hat, h_hat[1])

        def completions(self, x: Any, y: int) -> Any:
            return [(y, h) for h in super().completions(x, y)]

        def outputs(self, x: Any) -> Any:
            return [(y, (y, h)) for y, h in super().outputs(x)]

        def inference(self, x: Any, w: Any) -> Any:
            y, h = super().inference(x, w)
            return y, (y, h)

        def loss_augmented_inference(self, x: Any, y: int, w: Any) -> Any:
            found, h = super().loss_augmented_inference(x, y, w)
            return found, (found, h)

        def complete(self, x: Any, y: int, w: Any) -> Any:
            return y, super().complete(x, y, w)

    plain = LatentStructuralSVM(OneOfSeveral(3, 4), C=20, random_state=0).fit(*data)
    paired = LatentStructuralSVM(Paired(3, 4), C=20, random_state=0).fit(*data)
    np.testing.assert_allclose(paired.w_, plain.w_)


def test_an_inference_without_hidden_part_is_noticed_at_fit(data: Any) -> None:
    wrong = type("Wrong", (OneOfSeveral,), {"inference": lambda self, x, w: 0})
    with pytest.raises(TypeError, match=r"inference of example 0 returned 0; expected pairs \(y, h\)"):
        LatentStructuralSVM(wrong(3, 4)).fit(*data)


def test_no_examples_are_named() -> None:
    with pytest.raises(ValueError, match="X is empty"):
        LatentStructuralSVM(OneOfSeveral(3, 4)).fit([], [])
