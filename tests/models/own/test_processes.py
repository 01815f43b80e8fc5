"""Users' models that are asked by several processes."""

import os
import signal
import subprocess
import sys
import threading
from contextlib import suppress
from pathlib import Path

import numpy as np
import pytest
from joblib.externals.loky import get_reusable_executor
from threadpoolctl import threadpool_info, threadpool_limits

from structlearn import ConditionalRandomField, LatentStructuralSVM, StructuralSVM, StructuredPerceptron
from structlearn.evaluation import evaluate
from structlearn.models.own import processes
from structlearn.models.own.python_model import PythonModel, PythonSpec


class Signs:
    """x is (n, d); y is a tuple of n signs."""

    def joint_feature(self, x, y):
        return np.asarray(y) @ x

    def loss(self, y, y_hat):
        return float(np.sum(np.asarray(y) != np.asarray(y_hat)))

    def max_loss(self, y):
        return len(y)

    def inference(self, x, w):
        return tuple(np.where(x @ w > 0, 1, -1).tolist())

    def loss_augmented_inference(self, x, y, w):
        return tuple(np.where(2 * (x @ w) > np.asarray(y), 1, -1).tolist())


class SparseSigns(Signs):
    def joint_feature(self, x, y):
        import scipy.sparse as sp

        return sp.csr_array(super().joint_feature(x, y)[None])


class ListedSigns(Signs):
    def outputs(self, x):
        import itertools

        return list(itertools.product([-1, 1], repeat=len(x)))


class HalfSeenSigns:
    """x is (n, d), y the first sign, h the second."""

    n_features = 3

    def joint_feature(self, x, y, h):
        return np.array([y, h]) @ x

    def loss(self, y, y_hat, h_hat):
        return float(y != y_hat)

    def max_loss(self, y):
        return 1.0

    def outputs(self, x):
        return [(y, h) for y in (-1, 1) for h in (-1, 1)]

    def complete(self, x, y, w):
        return 1 if x[1] @ w > 0 else -1

    def completions(self, x, y):
        return [-1, 1]


class AtHome(Signs):
    def __init__(self):
        self.home = os.getpid()


class Deadly(AtHome):
    """Kills any other process that asks it."""

    def inference(self, x, w):
        if os.getpid() != self.home:
            os.kill(os.getpid(), signal.SIGKILL)
        return super().inference(x, w)


class Failing(AtHome):
    """Fails for some inputs, in other processes only."""

    def inference(self, x, w):
        if os.getpid() != self.home and x[0, 0] > 0:
            raise LookupError(f"no inference at {x[0, 0]:.6f}")
        return super().inference(x, w)


class Locked(Signs):
    def __init__(self):
        self.lock = threading.Lock()


@pytest.fixture(autouse=True)
def impatient(monkeypatch):
    monkeypatch.setattr(processes, "PATIENCE", 0.0)
    monkeypatch.setattr(processes, "WORTH", 0.0)


@pytest.fixture
def asked(monkeypatch):
    """The methods that processes were asked."""
    methods = []
    ask = processes.Processes.ask

    def noted(self, problem, method, parts):
        methods.extend([method] * len(parts))
        return ask(self, problem, method, parts)

    monkeypatch.setattr(processes.Processes, "ask", noted)
    return methods


def data(n=14, seed=0):
    random = np.random.default_rng(seed)
    X = [random.normal(size=(2, 3)) for _ in range(n)]
    return X, [Signs().inference(x + 0.3 * random.normal(size=x.shape), np.array([1.0, -2.0, 0.5])) for x in X]


@pytest.fixture(autouse=True, scope="module")
def no_processes_of_others():
    """Those that joblib keeps from earlier tests end before these begin."""
    get_reusable_executor().shutdown(wait=True)


def children():
    """Processes of this one that are no bookkeeper of semaphores."""
    found = []
    for status in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = status.read_text().rpartition(")")[2].split()
            command = (status.parent / "cmdline").read_text()
        except OSError:
            continue
        if int(fields[1]) == os.getpid() and fields[0] != "Z" and "resource_tracker" not in command:
            found.append(command)
    return found


def all_of(estimator, X):
    found = [estimator.predict(X)]
    if hasattr(estimator, "k_best"):
        found.append(estimator.k_best(X, 2))
    return found


@pytest.mark.parametrize(
    "make",
    [
        lambda n: StructuralSVM(Signs(), C=10, max_iter=3, tol=1e-9, n_jobs=n),
        pytest.param(
            lambda n: StructuralSVM(SparseSigns(), solver="one_slack", max_iter=3, tol=1e-9, n_jobs=n),
            marks=pytest.mark.slow,
        ),
        pytest.param(lambda n: StructuralSVM(ListedSigns(), slack="squared", n_jobs=n), marks=pytest.mark.slow),
        pytest.param(lambda n: ConditionalRandomField(ListedSigns(), n_jobs=n), marks=pytest.mark.slow),
        pytest.param(lambda n: StructuredPerceptron(Signs(), max_iter=3, n_jobs=n), marks=pytest.mark.slow),
    ],
    ids=["dual ascent", "cutting planes", "listed", "likelihood", "perceptron"],
)
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_processes_find_what_one_finds(make, asked):
    X, Y = data()
    one, two = (make(n).fit(X, Y) for n in (None, 2))
    np.testing.assert_array_equal(one.w_, two.w_)
    assert asked
    assert children() == []
    assert all_of(one, X) == all_of(two, X)
    assert children() == []


@pytest.mark.slow
def test_evaluations_ask_processes(asked):
    X, Y = data()
    svm = StructuralSVM(Signs()).fit(X, Y)
    one = svm.score(X, Y), evaluate(svm, X, Y).to_dict()
    assert asked == []
    svm.set_params(n_jobs=2)
    assert (svm.score(X, Y), evaluate(svm, X, Y).to_dict()) == one
    assert {"_inference", "_losses"} <= set(asked)


class Blas(Signs):
    """Says how many threads BLAS has in the place of outputs."""

    def inference(self, x, w):
        return [pool["num_threads"] for pool in threadpool_info() if pool["user_api"] == "blas"]

    def joint_feature(self, x, y):
        return x[0]


@pytest.mark.slow
def test_blas_has_one_thread_in_each_process():
    X, _ = data()
    problem = PythonModel(Blas()).bind(PythonSpec(3), X)
    problem.n_threads = 2
    with threadpool_limits(2, user_api="blas"):
        here, *there = problem.best(np.zeros(3), np.arange(len(X)))
    problem.release()
    assert set(here) == {2}
    assert {n for found in there for n in found} == {1}


@pytest.mark.slow
def test_latent_parts_are_found_by_processes(asked):
    X, Y = data()
    Y = [y for y, _ in Y]
    one, two = (LatentStructuralSVM(HalfSeenSigns(), n_jobs=n, random_state=0).fit(X, Y) for n in (None, 2))
    np.testing.assert_array_equal(one.w_, two.w_)
    assert one.predict_latent(X) == two.predict_latent(X)
    assert {"_inference", "_loss_levels", "_completed", "_between", "_losses"} <= set(asked)


def test_little_work_stays_in_one_process(asked, monkeypatch):
    monkeypatch.undo()
    X, Y = data()
    assert StructuralSVM(Signs(), n_jobs=2).fit(X, Y).converged_
    assert asked == []
    assert children() == []


def test_a_model_that_cannot_be_pickled_is_refused_before_training():
    X, Y = data()
    with pytest.raises(ValueError, match=r"Locked or its data cannot be pickled \(TypeError: .*lock.*n_jobs=2"):
        StructuralSVM(Locked(), n_jobs=2).fit(X, Y)
    assert StructuralSVM(Locked()).fit(X, Y).n_iter_ > 0


@pytest.mark.slow
def test_a_process_that_dies_is_named_and_nothing_hangs():
    X, Y = data()
    svm = StructuralSVM(Deadly()).fit(X, Y).set_params(n_jobs=2)
    with pytest.raises(RuntimeError, match=r"a process with a Deadly died.*n_jobs=None"):
        svm.predict(X)
    assert children() == []


@pytest.mark.slow
def test_errors_of_a_model_in_processes_are_its_own_and_the_first():
    X, Y = data()
    svm = StructuralSVM(Failing()).fit(X, Y).set_params(n_jobs=2)
    first = next(x[0, 0] for x in X[1:] if x[0, 0] > 0)
    with pytest.raises(LookupError, match=f"no inference at {first:.6f}"):
        svm.predict(X)
    assert children() == []


INTERRUPTED = """
import os
import sys
import time
from structlearn import StructuralSVM
from structlearn.models.own import processes
from tests.models.own.test_processes import AtHome, data

processes.PATIENCE = processes.WORTH = 0.0

class Slow(AtHome):
    asked = False

    def loss_augmented_inference(self, x, y, w):
        if os.getpid() != self.home and not self.asked:
            self.asked = True
            os.write(1, b"asked\\n")
        time.sleep(self.delay if os.getpid() != self.home else 0.0)
        return super().loss_augmented_inference(x, y, w)

X, Y = data(20)
model = Slow()
model.delay = float(sys.argv[1])
svm = StructuralSVM(model, n_jobs=2, tol=1e-12)
try:
    svm.fit(X, Y)
except KeyboardInterrupt:
    print(f"stopped, {hasattr(svm, 'w_')}", flush=True)
"""


@pytest.mark.slow
@pytest.mark.parametrize(("times", "delay"), [(1, 0.01), (2, 10.0)])
def test_ctrl_c_leaves_no_processes(times, delay):
    run = subprocess.Popen(
        [sys.executable, "-c", INTERRUPTED, str(delay)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
        cwd=Path(__file__).parents[3],
    )
    try:
        assert run.stdout.readline() == "asked\n"
        os.killpg(run.pid, signal.SIGINT)
        assert "training stops after this iteration" in run.stderr.readline()
        if times == 2:
            os.killpg(run.pid, signal.SIGINT)
        # The pipes end when the last process that has them does.
        out, errors = run.communicate(timeout=100)
    finally:
        with suppress(ProcessLookupError):
            os.killpg(run.pid, signal.SIGKILL)
    assert out.replace("asked\n", "") == f"stopped, {times == 1}\n", errors
