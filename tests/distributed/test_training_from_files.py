"""Training on files that workers read, kernels whose basis travels, and connections by TLS."""

import shutil
import subprocess
from contextlib import nullcontext
from pathlib import Path

import numpy as np
import pytest

distributed = pytest.importorskip("distributed")
dask = pytest.importorskip("dask")

from structlearn import ConditionalRandomField, StructuralSVM, load, write_shards  # noqa: E402
from structlearn.distributed import distribute  # noqa: E402
from structlearn.distributed.local import scheduler_at  # noqa: E402
from structlearn.features import KernelMap  # noqa: E402
from structlearn.features.vocabulary_counts import VocabularyCounts  # noqa: E402
from structlearn.kernels import RBF  # noqa: E402
from structlearn.models import Chain  # noqa: E402
from tests.distributed.conftest import HERE  # noqa: E402

#: Dask's own processes and sockets end when they can.
pytestmark = [
    pytest.mark.filterwarnings("ignore::ResourceWarning", "ignore::DeprecationWarning"),
    pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning"),
]
TEXTS = [
    "the DET\ndog NOUN\n\na DET\ncat NOUN\nsleeps VERB\n\n",
    "the DET\ncat NOUN\nbarks VERB\n\n" * 4,
    "a DET\ndog NOUN\n",
]


@pytest.fixture
def files(tmp_path, monkeypatch, client_here):
    """Files in a folder, and workers that are there at once for the command line."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("structlearn.distributed.local.workers_here", lambda n: nullcontext(client_here))
    Path("files").mkdir()
    for k, text in enumerate(TEXTS):
        Path(f"files/{k}.conll").write_text(text)


def same_optimum(one, other):
    least = max((1 - each.duality_gap_) * each.objective_ for each in (one, other))
    return least <= min(one.objective_, other.objective_) * (1 + 1e-9)


@pytest.mark.parametrize(
    "words",
    [
        ["--learner", "crf", "--min-count", "2"],
        ["--learner", "crf", "--n-hashed", "64"],
        pytest.param(["--min-count", "2"], marks=pytest.mark.slow),
    ],
)
def test_files_give_the_model_of_one_process(files, run, words):
    words = [*words, "-c", "10", "--tol", "0.01"]
    assert run("train", "files", "-o", "near.slm", "-q", *words) == (0, "", "")
    status, _, err = run("train", "files/*.conll", "--workers", "2", "-o", "far.slm", *words)
    assert status == 0
    assert ("counting: 7 sequences" in err) == ("--n-hashed" not in words)
    far, near = load("far.slm"), load("near.slm")
    assert same_optimum(far[-1], near[-1])
    assert far[-1].history_[-1]["parts"] == 2
    x = [["the", "dog"], ["a", "cat"]]
    assert far[0].digest() == near[0].digest()
    assert far.predict(x) == near.predict(x) == [["DET", "NOUN"], ["DET", "NOUN"]]


def test_hashed_features_read_nothing_before_the_workers_do(files, run, monkeypatch):
    monkeypatch.setattr(VocabularyCounts, "add", None)
    how = ["--workers", "1", "-o", "far.slm", "-q", "--learner", "crf"]
    assert run("train", "files", *how, "--n-hashed", "64")[0] == 0
    assert run("train", "files", *how)[:2] == (1, "")


def test_sequences_of_attributes_need_no_features(files, run):
    Path("a.svmhmm").write_text("1 qid:1 1:1\n2 qid:1 2:1\n1 qid:2 1:1 3:1\n")
    Path("b.svmhmm").write_text("2 qid:1 2:1\n")
    assert run("train", "?.svmhmm", "--workers", "2", "-o", "far.slm", "-q", "--learner", "crf") == (0, "", "")
    assert load("far.slm").predict([[{"1": 1.0}, {"2": 1.0}]]) == [["1", "2"]]


def test_costs_are_of_the_labels_of_all_files(files, run):
    Path("costs.csv").write_text("true,DET,NOUN\nDET,0,1\nNOUN,1,0\n")
    words = ["train", "files", "--workers", "1", "-o", "far.slm", "-q", "--costs", "costs.csv", "--n-hashed", "64"]
    assert run(*words) == (1, "", "structlearn: costs.csv has no costs of the label 'VERB', which the examples have\n")


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["files/*.txt"], "no file matches files/*.txt"),
        (["-"], "--workers and --cluster read files, not standard input"),
        (["files", "--kernel", "rbf"], "--kernel is for one machine, and not for --workers and --cluster"),
        (["files", "--partial"], "--partial is for one machine, and not for --workers and --cluster"),
        (
            ["files/1.conll", "--learner", "perceptron"],
            "files/1.conll is for --model chain with one of --learner svm, crf; others learn on one machine",
        ),
        (["t.mrg"], "--workers and --cluster train on sequences of words or attributes; t.mrg is taken for brackets"),
        (["files", "--gaps", "affine"], "--gaps has no effect here"),
        (["files", "--cluster", "tcp://127.0.0.1:1"], "--workers and --cluster exclude each other"),
        (["weighted.crfsuite"], "weights of examples in files have no effect on a cluster"),
    ],
)
def test_what_cannot_be_trained_so_is_refused(files, run, words, message):
    Path("t.mrg").write_text("(S (NP (DT the) (NN dog)) (VP (VBZ barks)))\n")
    Path("weighted.crfsuite").write_text("@weight:2\nDET\tw=the\nNOUN\tw=dog\n\n")
    status, out, err = run("train", *words, "--workers", "1", "-q")
    assert (status, out) == (1, "")
    assert message in err
    assert not Path("model.slm").exists()


def test_files_are_shared_out_by_their_sizes(files, client_here):
    Path("files/1.conll").write_text(TEXTS[1] * 20)
    parts = distribute(client_here, "files/*.conll", n_parts=2).parts
    assert [[Path(name).name for name in part.split(", ")] for part in parts] == [["0.conll", "1.conll"], ["2.conll"]]
    with pytest.raises(FileNotFoundError, match=r"no file matches files/\*\.txt"):
        distribute(client_here, "files/*.txt")


@pytest.mark.parametrize("learner", [ConditionalRandomField, pytest.param(StructuralSVM, marks=pytest.mark.slow)])
def test_the_basis_of_a_kernel_travels_and_the_optimum_is_that_of_one_machine(client_here, learner):
    random = np.random.default_rng(0)
    X = [random.normal(size=(n, 2)) for n in random.integers(1, 6, size=60)]
    Y = [["in" if row @ row < 1.0 else "out" for row in x] for x in X]
    basis = KernelMap(RBF(1.0), n_components=20, random_state=0).fit(X[:30])
    how = {"C": 20, "tol": 0.01}
    near = learner(Chain(), **how).fit(basis.transform(X), Y)
    parts = [dask.delayed((X[k::2], Y[k::2])) for k in range(2)]
    data = distribute(client_here, parts, features=basis)
    far = learner(Chain(), **how).fit(data.X, data.Y)
    assert far.converged_
    assert same_optimum(far, near)
    assert len(far.w_) == len(near.w_)
    assert far.score(basis.transform(X), Y) > 0.9
    assert far.objective_ < 0.9 * learner(Chain(), **how).fit(X, Y).objective_


@pytest.fixture
def certificate(tmp_path):
    """A certificate for 127.0.0.1 that signs itself, and its key."""
    if shutil.which("openssl") is None:
        pytest.skip("there is no program openssl")
    file, key = str(tmp_path / "certificate.pem"), str(tmp_path / "key.pem")
    words = "openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 2 -subj /CN=here"
    more = ["-addext", "subjectAltName=IP:127.0.0.1", "-keyout", key, "-out", file]
    made = subprocess.run([*words.split(), *more], capture_output=True, text=True)
    if made.returncode:
        pytest.skip(f"openssl made no certificate: {made.stderr.splitlines()[-1]}")
    return file, key


def test_training_goes_over_tls(certificate, files, run):
    file, key = certificate
    names = {f"tls_{who}_cert": file for who in ("scheduler", "worker", "client")}
    names |= {f"tls_{who}_key": key for who in ("scheduler", "worker", "client")}
    security = distributed.Security(tls_ca_file=file, require_encryption=True, **names)
    corpus = write_shards([([[[1.0, 0.0], [0.0, 1.0]]], [["a", "b"]]), ([[[0.0, 1.0]]], [["b"]])], "corpus")
    with distributed.LocalCluster(protocol="tls://", host="127.0.0.1", security=security, **HERE) as cluster:
        address = cluster.scheduler_address
        with distributed.Client(address, security=security) as client:
            data = distribute(client, corpus)
            crf = ConditionalRandomField(Chain(), C=10).fit(data.X, data.Y)
            assert crf.converged_
            assert crf.history_[-1]["workers"] == 2
            assert crf.history_[-1]["slowest_worker"].startswith("tls://127.0.0.1")
        with pytest.raises(ConnectionError, match="needs certificates: name them in Dask's configuration"):
            scheduler_at(address).__enter__()
        tls = {"tls.ca-file": file, "tls.client.cert": file, "tls.client.key": key, "require-encryption": True}
        with dask.config.set({f"distributed.comm.{name}": value for name, value in tls.items()}):
            words = ["--learner", "crf", "-o", "far.slm", "-q"]
            assert run("train", "files", "--cluster", address, *words) == (0, "", "")
            status, _, err = run("train", "files", "--cluster", address.replace("tls", "tcp"), "-q")
            assert status == 1
            assert "encryption" in err
    assert load("far.slm").predict([["the", "cat"]]) == [["DET", "NOUN"]]
