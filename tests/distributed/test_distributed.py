"""Training on workers of Dask: as in one process, certified, whatever becomes of the workers."""

import asyncio
import importlib
import json
import os
import pickle
import signal
import subprocess
import sys
import threading

import numpy as np
import pytest
import scipy.sparse as sp

dask = pytest.importorskip("dask")
pytest.importorskip("distributed")

from structlearn import (  # noqa: E402
    ConditionalRandomField,
    StructuralSVM,
    StructuredPerceptron,
    load,
    write_shards,
)
from structlearn.callbacks import Callback  # noqa: E402
from structlearn.distributed import crew, distribute, engine, workers_here  # noqa: E402
from structlearn.distributed.data import merged_spec  # noqa: E402
from structlearn.distributed.local import scheduler_at  # noqa: E402
from structlearn.evaluation import evaluate  # noqa: E402
from structlearn.features import TextFeatures  # noqa: E402
from structlearn.models import Chain, Multiclass  # noqa: E402
from structlearn.models.base import LinearSpec  # noqa: E402

random = np.random.default_rng(0)
N = 60
TRUE = random.normal(size=(12, 3))
X = [sp.csr_array((random.random((n, 12)) < 0.3).astype(float)) for n in random.integers(1, 6, size=N)]
Y = [["abc"[k] for k in np.argmax(x @ TRUE + random.normal(size=(x.shape[0], 3)), 1)] for x in X]

#: Dask's own processes and sockets end when they can.
pytestmark = [
    pytest.mark.slow,
    pytest.mark.filterwarnings("ignore::ResourceWarning", "ignore::DeprecationWarning"),
    pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning"),
]


@pytest.fixture
def corpus(tmp_path):
    return write_shards([(X[k : k + 10], Y[k : k + 10]) for k in range(0, N, 10)], tmp_path / "corpus")


def fit(data, **options):
    return StructuralSVM(Chain(), C=20, tol=0.005, **options).fit(data.X, data.Y)


def same_optimum(one, other):
    least = max((1 - each.duality_gap_) * each.objective_ for each in (one, other))
    return least <= min(one.objective_, other.objective_) * (1 + 1e-9)


def test_shards_give_the_optimum_of_one_process(client, corpus):
    data = distribute(client, corpus.path)
    assert len(data.parts) == 2
    assert data.parts[0].startswith("shards 0 to ")
    assert data.parts[1].endswith(f"to 5 of {corpus.path}")
    svm, here = fit(data), StructuralSVM(Chain(), C=20, tol=0.005).fit(X, Y)
    assert svm.converged_
    assert same_optimum(svm, here)
    assert svm.history_[-1]["parts"] == svm.history_[-1]["workers"] == 2
    assert svm.history_[-1]["bytes_received"] > 0
    assert svm.history_[-1]["slowest_worker"].startswith("tcp://127.0.0.1")
    assert pickle.loads(pickle.dumps(svm)).predict(X) == svm.predict(X)


def test_exact_sums_do_not_depend_on_who_was_first(client, corpus):
    data = distribute(client, corpus, n_parts=3)
    fits = [ConditionalRandomField(Chain(), C=20).fit(data.X, data.Y) for _ in range(2)]
    assert np.array_equal(fits[0].w_, fits[1].w_)
    here = ConditionalRandomField(Chain(), C=20, solver="lbfgs").fit(X, Y)
    assert fits[0].objective_ == pytest.approx(here.objective_, rel=1e-3)
    assert fit(data, solver="one_slack").objective_ == pytest.approx(fit(data).objective_, rel=1e-2)


def test_delayed_pairs_and_bags_are_data(client):
    here = StructuralSVM(Chain(), C=20, tol=0.005).fit(X, Y)
    parts = [dask.delayed((X[k : k + 30], Y[k : k + 30])) for k in (0, 30)]
    assert same_optimum(fit(distribute(client, parts)), here)
    bag = importlib.import_module("dask.bag").from_sequence(list(zip(X, Y, strict=True)), npartitions=3)
    assert same_optimum(fit(distribute(client, bag)), here)


def test_files_with_features_are_data(client, tmp_path):
    for k in range(3):
        (tmp_path / f"{k}.txt").write_text("the DET\ndog NOUN\n\na DET\ncat NOUN\nsleeps VERB\n" * (k + 1))
    words = TextFeatures(["word[0]"], columns=("word",), n_hashed=64)
    words.fit([[("the",)]])
    data = distribute(client, str(tmp_path / "*.txt"), features=words)
    svm = fit(data)
    assert svm.training_["tokens"] == 30
    assert svm.predict(words.transform([[("the",), ("cat",)]])) == [["DET", "NOUN"]]


def test_other_models_are_trained(client):
    rows = np.concatenate([x.toarray() for x in X])
    labels = [label for y in Y for label in y]
    parts = [dask.delayed((rows[k::2], labels[k::2])) for k in range(2)]
    data = distribute(client, parts)
    far = StructuralSVM(Multiclass(), C=20, tol=0.005, fit_intercept=True).fit(data.X, data.Y)
    assert same_optimum(far, StructuralSVM(Multiclass(), C=20, tol=0.005, fit_intercept=True).fit(rows, labels))


class Nearest:
    """A model of one's own: labels of single rows."""

    def joint_feature(self, x, y):
        return np.kron(np.eye(2)[y], x)

    def loss(self, y, y_hat):
        return float(y != y_hat)

    def inference(self, x, w):
        return max((0, 1), key=lambda y: w @ self.joint_feature(x, y))

    def loss_augmented_inference(self, x, y, w):
        return max((0, 1), key=lambda y_hat: w @ self.joint_feature(x, y_hat) + self.loss(y, y_hat))


class Unsendable(Nearest):
    def __init__(self):
        self.lock = threading.Lock()


class WithInitialize(Nearest):
    def initialize(self, X, Y): ...


def own_data(client):
    rows = random.normal(size=(20, 3))
    pair = [list(rows), [int(row[0] > 0) for row in rows]]
    return distribute(client, [dask.delayed((pair[0][k::2], pair[1][k::2])) for k in range(2)])


def test_models_of_ones_own_travel(client):
    data = own_data(client)
    svm = StructuralSVM(Nearest(), tol=0.01).fit(data.X, data.Y)
    assert svm.converged_
    assert svm.predict([np.array([1.0, 0, 0]), np.array([-1.0, 0, 0])]) == [1, 0]


@pytest.mark.parametrize(
    ("model", "message"),
    [(Unsendable(), "Unsendable, which cannot be sent to workers"), (WithInitialize(), "initialize looks at all data")],
)
def test_models_that_cannot_travel_are_refused(client, model, message):
    data = own_data(client)
    with pytest.raises(TypeError, match=message):
        StructuralSVM(model).fit(data.X, data.Y)


def test_a_worker_that_is_killed_costs_nothing_but_time(corpus):
    class Kill(Callback):
        def on_fit_task_end(self, estimator, context, *, fitted_estimator=None):
            if fitted_estimator is not None and len(fitted_estimator.history_) in (3, 6):
                os.kill(max(client.run(os.getpid).values()), signal.SIGKILL)

    with workers_here(2) as client:
        data = distribute(client, corpus)
        svm = StructuralSVM(Chain(), C=20, tol=0.005)
        svm.set_callbacks(Kill())
        svm.fit(data.X, data.Y)
    assert svm.converged_
    assert sum(record["lost_parts"] for record in svm.history_) >= 1
    assert same_optimum(svm, StructuralSVM(Chain(), C=20, tol=0.005).fit(X, Y))
    problem = svm.model_.bind(svm.spec_, X, Y)
    objective = svm._objective(np.ones(N), problem)
    assert svm.slacks_ == pytest.approx(np.maximum(problem.violations(svm.w_, objective), 0.0))


@pytest.fixture
def cluster(tmp_path):
    """A scheduler and a worker as people start them, each a process."""
    file = tmp_path / "scheduler.json"
    local = ["--host", "127.0.0.1", "--no-dashboard", "--scheduler-file", str(file)]
    dask_command = [sys.executable, "-m", "dask"]
    quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    scheduler = subprocess.Popen([*dask_command, "scheduler", "--port", "0", *local], **quiet)
    while not file.exists() or not file.read_text().endswith("}"):
        assert scheduler.poll() is None
        threading.Event().wait(0.05)
    worker = subprocess.Popen(
        [*dask_command, "worker", "--nthreads", "1", "--no-nanny", "--local-directory", str(tmp_path), *local], **quiet
    )
    yield json.loads(file.read_text())["address"], scheduler
    for process in (worker, scheduler):
        process.kill()
        process.wait()


def test_a_scheduler_that_dies_is_survived_by_the_checkpoint(client, cluster, corpus, tmp_path):
    address, scheduler = cluster
    file = tmp_path / "run.ckpt"
    how = {"checkpoint": file, "checkpoint_every": 0.0}

    class Kill(Callback):
        def on_fit_task_end(self, estimator, context, *, fitted_estimator=None):
            if fitted_estimator is not None and len(fitted_estimator.history_) == 4:
                scheduler.kill()

    with scheduler_at(address) as far:
        data = distribute(far, corpus, n_parts=2, patience=10.0)
        svm = StructuralSVM(Chain(), C=20, tol=0.005)
        svm.set_callbacks(Kill())
        with pytest.raises(ConnectionError, match=r"is gone; a fit with the same checkpoint goes on"):
            svm.fit(data.X, data.Y, **how)
    assert file.exists()
    data = distribute(client, corpus, n_parts=2)
    svm = StructuralSVM(Chain(), C=20, tol=0.005).fit(data.X, data.Y, **how)
    assert [record["iteration"] for record in svm.history_] == list(range(len(svm.history_)))
    assert svm.converged_
    assert not file.exists()


def test_a_damaged_shard_is_named(client, corpus):
    values = bytearray((corpus.path / "labels.bin").read_bytes())
    values[-1] ^= 1
    (corpus.path / "labels.bin").write_bytes(values)
    data = distribute(client, corpus.path)
    with pytest.raises(ValueError, match=r"shard 5 of .* is damaged or edited"):
        fit(data)


def test_a_missing_shard_is_named(client, corpus):
    data = distribute(client, corpus.path)
    (corpus.path / "labels.bin").unlink()
    with pytest.raises(FileNotFoundError, match=r"labels\.bin is missing"):
        fit(data)


def test_a_foreign_corpus_is_refused(client, corpus, tmp_path):
    data = distribute(client, corpus.path)
    (tmp_path / "corpus").rename(tmp_path / "old")
    write_shards([(X[:7], Y[:7])] * 6, tmp_path / "corpus")
    with pytest.raises(ValueError, match="holds another corpus here"):
        fit(data)


def test_workers_with_another_version_are_refused(client, monkeypatch):
    monkeypatch.setattr(engine, "library_version", lambda: "9.9")
    with pytest.raises(ConnectionError, match=r"the worker tcp://.* has structlearn .*, but this is 9\.9"):
        distribute(client, [dask.delayed((X, Y))])


def test_a_run_may_be_stopped_by_examples_held_out_here(client, corpus):
    data = distribute(client, corpus)
    svm = StructuralSVM(Chain(), C=20, tol=0.005).fit(data.X, data.Y, validation=(X[:9], Y[:9]))
    wrong = evaluate(svm, X[:9], Y[:9]).loss.estimate
    assert min(record["validation_loss"] for record in svm.history_) == pytest.approx(wrong)


@pytest.mark.parametrize(
    "learner",
    [StructuredPerceptron(Chain()), *(StructuralSVM(Chain(), solver=name) for name in ("n_slack", "subgradient"))],
    ids=str,
)
def test_what_asks_for_single_examples_is_refused(client, corpus, learner):
    data = distribute(client, corpus)
    with pytest.raises(ValueError, match="is not made for data in parts on several machines"):
        learner.fit(data.X, data.Y)


def test_sending_that_never_ends_is_given_up_and_done_again(client, corpus, monkeypatch):
    data = distribute(client, corpus)
    monkeypatch.setattr(crew, "LARGE", 1)
    monkeypatch.setattr(crew, "MOST_SILENCE", 0.2)
    scatter, asked = client.scatter, []

    async def never():
        await asyncio.sleep(60)

    def as_if_a_worker_had_died(*call, **options):
        asked.append(options)
        return never() if len(asked) == 2 else scatter(*call, **options)

    monkeypatch.setattr(client, "scatter", as_if_a_worker_had_died)
    assert same_optimum(fit(data), StructuralSVM(Chain(), C=20, tol=0.005).fit(X, Y))
    assert len(asked) > 2


def test_outputs_of_other_data_are_refused(client, corpus):
    data = distribute(client, corpus)
    with pytest.raises(ValueError, match=r"fit\(data\.X, data\.Y\)"):
        StructuralSVM(Chain()).fit(data.X, Y)


def test_weights_that_depend_on_all_data_are_refused(client, corpus):
    data = distribute(client, corpus)
    with pytest.raises(ValueError, match="observed_only=True needs to see"):
        StructuralSVM(Chain(observed_only=True)).fit(data.X, data.Y)


def test_what_is_no_data_is_refused(client):
    with pytest.raises(TypeError, match="expected a folder of shards"):
        distribute(client, 3)
    with pytest.raises(TypeError, match=r"a distributed\.Client"):
        distribute("tcp://127.0.0.1:1", 3)
    data = distribute(client, [dask.delayed(3)])
    with pytest.raises(ValueError, match=r"part 0 of the data is a int; expected a pair"):
        fit(data)


def test_specs_that_do_not_go_together_are_refused():
    specs = [LinearSpec(("a",), 3), LinearSpec(("a",), 4)]
    with pytest.raises(ValueError, match="second has n_inputs=4, but first has 3"):
        merged_spec(specs, ["first", "second"])


def structlearn(folder, *arguments):
    return subprocess.run([sys.executable, "-m", "structlearn", *arguments], cwd=folder, capture_output=True, text=True)


def test_the_command_line_trains_on_workers(tmp_path):
    (tmp_path / "train.txt").write_text("the DET\ndog NOUN\n\na DET\ncat NOUN\nsleeps VERB\n\n" * 5)
    assert structlearn(tmp_path, "prepare", "train.txt", "-o", "corpus", "--min-count", "1").returncode == 0
    trained = structlearn(tmp_path, "train", "corpus", "-o", "tagger.slm", "--workers", "1")
    assert trained.returncode == 0, trained.stderr
    assert "1 part on 1 worker" in trained.stderr
    assert load(tmp_path / "tagger.slm").predict([[("the",), ("cat",)]]) == [["DET", "NOUN"]]
