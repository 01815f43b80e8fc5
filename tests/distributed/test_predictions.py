"""Predictions for many files by workers: what `predict` writes for each, whatever becomes of the workers."""

import os
import shlex
import shutil
import signal
import subprocess
import sys
import threading
import time
from contextlib import nullcontext
from functools import cache
from pathlib import Path

import numpy as np
import pytest

distributed = pytest.importorskip("distributed")

from structlearn import StructuralSVM, load, write_shards  # noqa: E402
from structlearn.datasets import make_sentences  # noqa: E402
from structlearn.distributed import predict_files  # noqa: E402
from structlearn.features import TextFeatures  # noqa: E402
from structlearn.io import Columns  # noqa: E402
from structlearn.models import Chain  # noqa: E402
from structlearn.persistence import model_file  # noqa: E402
from structlearn.persistence.steps import Steps  # noqa: E402
from tests.distributed.conftest import HERE  # noqa: E402

#: Dask's own processes and sockets end when they can.
pytestmark = [
    pytest.mark.filterwarnings("ignore::ResourceWarning", "ignore::DeprecationWarning"),
    pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning"),
]
N_FILES = 5


@cache
def sentences(seed):
    drawn = make_sentences(20 + 5 * seed, random_state=seed)
    return [[word for word, _ in x] for x in drawn.X], drawn.Y


@cache
def tagger():
    words = TextFeatures(["word[0]", "word[-1]"], columns=("word",))
    X, Y = sentences(0)
    rows = words.fit_transform(X)
    return Steps([("words", words), ("svm", StructuralSVM(Chain(), tol=0.1).fit(rows, Y))])


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A model, and files in a folder, of which some have odd line ends and lines that are no examples."""
    monkeypatch.chdir(tmp_path)
    model_file.save(tagger(), tmp_path / "tagger.slm", reader=Columns())
    (tmp_path / "files").mkdir()
    for k in range(N_FILES):
        text = "".join(map(Columns().write, *sentences(k)))
        text = text.replace("\n", "\r\n") if k == 1 else f"-DOCSTART-\n\n{text}\n\n" if k == 2 else text
        (tmp_path / "files" / f"{k}.conll").write_bytes(text.encode())
    return tmp_path


def alone(run, name, *words):
    status, _, err = run("predict", "tagger.slm", name, "-o", "alone.txt", *words)
    assert (status, err) == (0, "")
    return Path("alone.txt").read_bytes()


def check_all(run, folder):
    """What was written is what one process writes of each file, and nothing else is there."""
    assert sorted(os.listdir(folder)) == sorted(os.listdir("files"))
    for name in os.listdir("files"):
        assert (Path(folder) / name).read_bytes() == alone(run, f"files/{name}")


def test_each_file_is_written_as_by_one_process(folder, client_here, run):
    told = []
    found = predict_files(
        client_here, "tagger.slm", "files/*.conll", "labelled", progress=lambda done, of: told.append((done, of))
    )
    assert found == [folder / "labelled" / f"{k}.conll" for k in range(N_FILES)]
    assert told == [(k, N_FILES) for k in range(1, N_FILES + 1)]
    check_all(run, "labelled")


def test_another_client_that_was_made_later_is_left_alone(folder, client_here, run, monkeypatch):
    seen = set()
    wait = distributed.wait

    def noted(*given, **how):
        seen.add(distributed.default_client())
        return wait(*given, **how)

    monkeypatch.setattr(distributed, "wait", noted)
    with distributed.LocalCluster(**HERE) as cluster, distributed.Client(cluster):
        predict_files(client_here, "tagger.slm", "files", "labelled")
    assert seen == {client_here}
    check_all(run, "labelled")


def test_estimators_folders_encodings_and_packed_files_are_taken(folder, client_here, run):
    import gzip

    shutil.rmtree("files")
    os.mkdir("files")
    Path("files/a.txt.gz").write_bytes(gzip.compress("Ärger\nthe\n".encode("latin-1")))
    found = predict_files(
        client_here, load("tagger.slm"), "files", "labelled", encoding="latin-1", format=Columns(("word",))
    )
    assert [path.name for path in found] == ["a.txt"]
    assert found[0].read_bytes() == alone(run, "files/a.txt.gz", "--encoding", "latin-1")
    assert "Ärger ".encode("latin-1") in found[0].read_bytes()


def test_a_file_that_cannot_be_read_is_named_and_ends_the_run(folder, client_here):
    bad = folder / "files" / "3.conll"
    bad.write_text("the DT\n" * 5000 + "dog\n")
    with pytest.raises(ValueError, match=rf"^{bad}:5001:\d+: expected 2 columns .*, found 1"):
        predict_files(client_here, "tagger.slm", "files/*.conll", "labelled")
    assert {path.name for path in (folder / "labelled").glob("*")} <= {f"{k}.conll" for k in (0, 1, 2, 4)}
    assert not list(folder.glob("labelled/.*"))
    shutil.rmtree("labelled", ignore_errors=True)
    with pytest.raises(ValueError, match=f"^{bad}"):
        predict_files(client_here, "tagger.slm", [bad], "labelled")
    assert not (folder / "labelled").exists()


@pytest.mark.parametrize(
    ("given", "out", "error", "message"),
    [
        ("files/*.txt", "labelled", FileNotFoundError, r"no file matches files/\*\.txt"),
        ("files/*.conll", "files", ValueError, r"files/0\.conll is a file that is read; give another folder"),
        (["files/0.conll", "more/0.conll"], "labelled", ValueError, r"0\.conll and .* both be written to .*0\.conll"),
        ("files/*.conll", "tagger.slm", NotADirectoryError, "tagger.slm is a file; give the name of a folder"),
        ("files/*.conll", "no/where", FileNotFoundError, "there is no folder .*no to make where in"),
        ("corpus", "labelled", ValueError, "corpus was made by prepare, for train"),
    ],
)
def test_what_cannot_be_done_is_refused_before_any_work(folder, client_here, given, out, error, message):
    os.mkdir("more")
    shutil.copy("files/0.conll", "more/0.conll")
    write_shards([([[[1.0]]], [["a"]])], "corpus")
    before = sorted(folder.rglob("*"))
    with pytest.raises(error, match=message):
        predict_files(client_here, "tagger.slm", given, out)
    assert sorted(folder.rglob("*")) == before


class Step:
    """A transformer that does something to the worker before it does nothing."""

    def __init__(self, folder):
        self.folder = folder

    def transform(self, X):
        self.happens(X)
        return X

    def happens(self, X): ...


class Fatal(Step):
    """Of each file that begins so, the first worker is killed in the middle, or all are."""

    def __init__(self, folder, always=False):
        super().__init__(folder)
        self.always = always

    def happens(self, X):
        mark = Path(self.folder) / f"mark-{len(X)}"
        if len(X) % 2 and (self.always or not mark.exists()):
            mark.touch()
            os.kill(os.getpid(), signal.SIGKILL)


class Counted(Step):
    """Notes which processes it came to."""

    def __setstate__(self, state):
        vars(self).update(state)
        with open(f"{self.folder}/{os.getpid()}", "a") as file:
            file.write("x")


def with_step(step):
    return Steps([("first", step), *tagger().steps])


@pytest.mark.slow
def test_files_of_workers_that_are_killed_are_done_again(folder, client, run):
    os.mkdir("marks")
    told = []
    predict_files(
        client,
        with_step(Fatal(f"{folder}/marks")),
        "files",
        "labelled",
        format=Columns(),
        progress=lambda done, of: told.append(done),
    )
    assert len(os.listdir("marks")) == 2
    assert told == list(range(1, N_FILES + 1))
    check_all(run, "labelled")


@pytest.mark.slow
def test_the_model_is_sent_again_where_all_workers_were_killed(folder, client, run):
    def kill(done, of):
        if done == 1:
            for pid in client.run(os.getpid).values():
                os.kill(pid, signal.SIGKILL)

    predict_files(client, "tagger.slm", "files", "labelled", progress=kill)
    check_all(run, "labelled")


@pytest.mark.slow
def test_a_file_that_kills_every_worker_is_named(folder, client):
    os.mkdir("marks")
    os.remove("files/3.conll")
    with pytest.raises(ConnectionError, match=r"1\.conll: one worker after another was lost with it"):
        predict_files(client, with_step(Fatal(f"{folder}/marks", True)), "files", "labelled", format=Columns())
    assert not list(folder.glob("labelled/.*"))


@pytest.mark.slow
def test_the_model_travels_once_to_each_worker(folder, client):
    os.mkdir("marks")
    client.wait_for_workers(2)
    predict_files(client, with_step(Counted(f"{folder}/marks")), "files", "labelled", format=Columns())
    pids = set(map(str, client.run(os.getpid).values()))
    assert {name: (folder / "marks" / name).read_text() for name in os.listdir("marks")} == dict.fromkeys(pids, "x")


def test_a_model_that_cannot_travel_is_refused(folder, client_here):
    step = Step("")
    step.lock = threading.Lock()
    with pytest.raises(TypeError, match=r"the model is a .*, which cannot be sent to workers"):
        predict_files(client_here, with_step(step), "files", "labelled")
    assert not (folder / "labelled").exists()


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["files"], "--workers and --cluster read files and write a folder of such: say which, by -o"),
        (["-", "-o", "out"], "--workers and --cluster read files and write a folder of such: say which, by -o"),
        (["files", "-o", "out", "--cluster", "tcp://127.0.0.1:1"], "--workers and --cluster exclude each other"),
        (["files/*.txt", "-o", "out"], "no file matches files/*.txt"),
    ],
)
def test_the_command_line_refuses(folder, run, words, message):
    assert run("predict", "tagger.slm", *words, "--workers", "1") == (1, "", f"structlearn: {message}\n")


def test_the_command_says_for_whom_it_waits(folder, run, monkeypatch):
    def silent(address, **given):
        time.sleep(0.5)
        raise TimeoutError("no answer")

    monkeypatch.setattr("structlearn.cli.workers.PATIENCE", 0.05)
    monkeypatch.setattr(distributed, "Client", silent)
    status, _, errors = run("predict", "tagger.slm", "files/*.conll", "-o", "out", "--cluster", "tcp://127.0.0.1:9")
    assert status == 1
    told = "the scheduler at tcp://127.0.0.1:9 cannot be reached: no answer"
    assert errors == f"waiting for tcp://127.0.0.1:9 …\nstructlearn: {told}\n"


def test_the_command_line_writes_folders(folder, run, client_here, monkeypatch):
    monkeypatch.setattr("structlearn.distributed.local.workers_here", lambda n: nullcontext(client_here))
    status, out, err = run("predict", "tagger.slm", "files/*.conll", "--workers", "3", "-o", "labelled")
    assert (status, out) == (0, "")
    assert err.split("\r")[-1] == f"predicted: {N_FILES} of {N_FILES} files\n"
    check_all(run, "labelled")
    assert (
        run("predict", "tagger.slm", folder / "files", "--workers", "3", "-o", "best", "--k-best", "2", "-q")[2] == ""
    )
    assert Path("best/1.conll.jsonl").read_bytes() == alone(run, folder / "files" / "1.conll", "--k-best", "2")


def test_images_are_written_as_images(tmp_path, run, client_here, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("structlearn.distributed.local.workers_here", lambda n: nullcontext(client_here))
    random = np.random.default_rng(0)
    Path("photos").mkdir()
    for k in range(3):
        images = random.random((2, 3, 4, 1))
        np.savez(f"photos/{k}.npz", images=images, labels=(images[..., 0] > 0.5).astype(int))
    assert run("train", "photos", "-o", "pixels.slm", "-q")[0] == 0
    assert run("predict", "pixels.slm", "photos", "-o", "near", "-q")[0] == 0
    assert run("predict", "pixels.slm", "photos/*", "-o", "far", "--workers", "2", "-q") == (0, "", "")
    for k in range(3):
        near, far = np.load(f"near/{k}.npz"), np.load(f"far/{k}.npz")
        assert all(np.array_equal(near[name], far[name]) for name in ("images", "labels"))
    assert sorted(os.listdir("far")) == ["0.npz", "1.npz", "2.npz"]
    assert (
        run("evaluate", "pixels.slm", "photos", "--workers", "2", "--json")[1]
        == run("evaluate", "pixels.slm", "photos", "--json")[1]
    )


def test_rankings_are_written_for_each_file_of_queries(tmp_path, run, client_here, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("structlearn.distributed.local.workers_here", lambda n: nullcontext(client_here))
    Path("pairs.fasta").write_text(">a1\nGAT-TACA\n>a2\nGCTATA-A\n>b1\nCATGA-CA\n>b2\nC-TGATCG\n")
    Path("database.fasta").write_text(">d1\nGATA\n>d2\nCATG\n")
    Path("queries").mkdir()
    for k, letters in enumerate(("GATT", "CTTG")):
        Path(f"queries/{k}.fasta").write_text(f">q\n{letters}\n")
    assert run("train", "pairs.fasta", "-o", "ranker.slm", "--model", "homologues", "-q")[0] == 0
    words = ["--candidates", "database.fasta"]
    assert run("predict", "ranker.slm", "queries", "-o", "ranked", "--workers", "2", "-q", *words) == (0, "", "")
    for k in range(2):
        alone = run("predict", "ranker.slm", f"queries/{k}.fasta", *words)[1]
        assert Path(f"ranked/{k}.fasta.tsv").read_text() == alone
    status, _, err = run("evaluate", "ranker.slm", "pairs.fasta", "--workers", "2")
    assert (status, "searches among the sequences of all files" in err) == (1, True)


@pytest.mark.slow
def test_ctrl_c_leaves_neither_processes_nor_half_a_file(folder):
    for k in range(200):
        shutil.copy("files/4.conll", f"files/more-{k}.conll")
    words = shlex.split("-m structlearn predict tagger.slm files --workers 2 -o labelled")
    process = subprocess.Popen([sys.executable, *words], start_new_session=True, stderr=subprocess.PIPE)
    told = b""
    while b"predicted: 2 " not in told:
        told += process.stderr.read(1)
    os.killpg(process.pid, signal.SIGINT)
    assert process.wait(timeout=60) == 130
    assert b"Traceback" not in process.stderr.read()
    process.stderr.close()
    left = subprocess.run(["ps", "-o", "stat=", "-s", str(process.pid)], capture_output=True, text=True).stdout.split()
    assert [state for state in left if not state.startswith("Z")] == []
    assert not list(folder.glob("labelled/.*"))
    assert len(os.listdir("labelled")) < len(os.listdir("files"))
