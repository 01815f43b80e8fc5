"""Ctrl-C during training."""

import itertools
import os
import signal
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest
from sklearn.model_selection import GridSearchCV

from structlearn import LatentStructuralSVM
from tests.estimators.test_checkpoint import sequences, svm
from tests.solvers.latent_toy import OneOfSeveral, several


class Press:
    """Presses Ctrl-C so many times when an iteration begins."""

    def __init__(self, iteration, times=1):
        self.iteration = iteration
        self.times = times

    def setup(self, estimator, context):
        self.begun = -2  # the fit itself is a task, too

    def on_fit_task_begin(self, estimator, context):
        self.begun += 1
        if self.begun == self.iteration:
            for _ in range(self.times):
                signal.raise_signal(signal.SIGINT)

    def on_fit_task_end(self, estimator, context):
        pass

    def teardown(self, estimator, context):
        pass


@pytest.fixture(autouse=True)
def handler_is_restored():
    before = signal.getsignal(signal.SIGINT)
    yield
    assert signal.getsignal(signal.SIGINT) is before


@pytest.mark.parametrize("iteration", [0, 1, 4])
def test_the_first_press_ends_the_run_after_the_iteration(iteration, tmp_path, caplog):
    X, Y = sequences()
    whole = svm().fit(X, Y)
    tagger = svm().set_callbacks(Press(iteration))
    with pytest.raises(
        KeyboardInterrupt, match=r"training stopped after .* the weights so far .relative duality gap"
    ) as end:
        tagger.fit(X, Y, checkpoint=tmp_path / "c")
    assert f"fit it again with checkpoint='{tmp_path / 'c'}' to go on" in str(end.value)
    assert "press Ctrl-C again" in caplog.text
    assert len(tagger.history_) == iteration + 1
    assert not tagger.converged_
    assert 0 < tagger.duality_gap_ <= 1
    assert np.isfinite(tagger.slacks_).all()
    assert len(tagger.predict(X)) == len(X)
    continued = svm().fit(X, Y, checkpoint=tmp_path / "c")
    np.testing.assert_array_equal(continued.w_, whole.w_)


def test_without_a_checkpoint_the_message_promises_none():
    X, Y = sequences()
    with pytest.raises(KeyboardInterrupt, match=r"weights so far \(relative duality gap [^;]*\)$"):
        svm().set_callbacks(Press(2)).fit(X, Y)


def test_a_checkpoint_that_could_not_be_written_is_not_promised(tmp_path, monkeypatch):
    X, Y = sequences()

    def full(path, data):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("structlearn.persistence.atomic.write", full)
    with (
        pytest.warns(RuntimeWarning, match="No space left on device; training goes on"),
        pytest.raises(KeyboardInterrupt, match=r"weights so far \(relative duality gap [^;]*\)$"),
    ):
        svm().set_callbacks(Press(2)).fit(X, Y, checkpoint=tmp_path / "c")


def test_early_stopping_keeps_its_best_weights(tmp_path):
    X, Y = sequences(60)
    held_out = X[30:], Y[30:]
    tagger = svm(C=300.0).set_callbacks(Press(5))
    with pytest.raises(KeyboardInterrupt):
        tagger.fit(X[:30], Y[:30], validation=held_out)
    problem = tagger.model_.bind(tagger.spec_, *held_out)
    loss = problem.losses(problem.predict(tagger.w_)).mean()
    assert loss == min(record["validation_loss"] for record in tagger.history_)


def test_the_second_press_interrupts_at_once(tmp_path):
    X, Y = sequences()
    tagger = svm().set_callbacks(Press(3, times=2))
    with pytest.raises(KeyboardInterrupt, match=r"^$"):
        tagger.fit(X, Y, checkpoint=tmp_path / "c")
    assert not hasattr(tagger, "w_")


def test_a_search_stops():
    X, Y = sequences()
    search = GridSearchCV(svm().set_callbacks(Press(2)), {"C": [1.0, 10.0]}, cv=2)
    with pytest.raises(KeyboardInterrupt, match="training stopped"):
        search.fit(X, Y)


def test_a_handler_of_the_programs_own_stays_in_charge():
    X, Y = sequences()
    pressed = []
    before = signal.signal(signal.SIGINT, lambda number, frame: pressed.append(number))
    try:
        tagger = svm().set_callbacks(Press(2)).fit(X, Y)
    finally:
        signal.signal(signal.SIGINT, before)
    assert pressed == [signal.SIGINT]
    assert tagger.converged_


def test_other_threads_train_as_before():
    X, Y = sequences()
    with ThreadPoolExecutor(1) as pool:
        assert pool.submit(lambda: svm().fit(X, Y).converged_).result()


def test_an_error_in_training_restores_the_handler():
    X, Y = sequences()

    class Fails(Press):
        def on_fit_task_end(self, estimator, context):
            raise RuntimeError("a callback failed")

    with pytest.raises(RuntimeError, match="a callback failed"):
        svm().set_callbacks(Fails(100)).fit(X, Y)


PROGRAM = """
import sys
sys.path.insert(0, sys.argv[1])
from tests.estimators.killed_runs import data
from structlearn import StructuralSVM
from structlearn.models import Chain

class Tell:
    def setup(self, estimator, context): pass
    def on_fit_task_begin(self, estimator, context): pass
    def on_fit_task_end(self, estimator, context): print("iterates", flush=True)
    def teardown(self, estimator, context): pass

X, Y = data()
tagger = StructuralSVM(Chain(), C=1e6, tol=1e-15).set_callbacks(Tell())
try:
    tagger.fit(X, Y, checkpoint=sys.argv[2])
except KeyboardInterrupt as error:
    print(error)
print(0 < tagger.duality_gap_ <= 1, len(tagger.predict(X)))
"""


def test_a_signal_from_outside_does_the_same(tmp_path):
    file = tmp_path / "run.ckpt"
    command = [sys.executable, "-c", PROGRAM, str(Path(__file__).parents[2]), str(file)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        assert process.stdout.readline() == "iterates\n"
        os.kill(process.pid, signal.SIGINT)
        out, _ = process.communicate(timeout=60)
    message, fitted = [line for line in out.splitlines() if line != "iterates"]
    assert message.startswith("training stopped after")
    assert message.endswith(f"fit it again with checkpoint='{file}' to go on")
    assert fitted == "True 80"
    assert file.exists()


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_ctrl_c_stops_all_runs_and_keeps_the_best(n_jobs):
    calls = itertools.count()

    class Pressing(OneOfSeveral):
        def loss_augmented_inference(self, x, y, w):
            if next(calls) == 500:
                os.kill(os.getpid(), signal.SIGINT)
            return super().loss_augmented_inference(x, y, w)

    X, Y = several(np.random.default_rng(0), 20)
    latent = LatentStructuralSVM(Pressing(3, 4), C=100, tol=1e-9, n_init=50, n_jobs=n_jobs, random_state=0)
    with pytest.raises(KeyboardInterrupt, match="of 50; the best so far is kept"):
        latent.fit(X, Y)
    assert len(latent.objectives_) < 50
    assert latent.objective_ == latent.objectives_.min()
