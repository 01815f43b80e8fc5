"""Evaluation of many files by workers: exactly the numbers of one process."""

import json
import os
import signal
from contextlib import nullcontext
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("distributed")

from structlearn import StructuralSVM, load
from structlearn.data import from_bio
from structlearn.distributed import evaluate_files
from structlearn.evaluation import evaluate
from structlearn.io import read_examples
from structlearn.models import Segments
from structlearn.persistence import model_file
from structlearn.persistence.steps import Steps
from tests.distributed.test_predictions import Fatal, folder, sentences, tagger, with_step  # noqa: F401

#: Dask's own processes and sockets end when they can.
pytestmark = [
    pytest.mark.filterwarnings("ignore::ResourceWarning", "ignore::DeprecationWarning"),
    pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning"),
    pytest.mark.usefixtures("folder"),
]


def on_one_machine(estimator):
    examples = [example for k in range(5) for example in read_examples(f"files/{k}.conll")[1]]
    return evaluate(estimator, [example.x for example in examples], [example.y for example in examples])


def check_same(found, expected):
    assert found.to_dict() == expected.to_dict()
    assert np.array_equal(found.losses, expected.losses)
    assert np.array_equal(found.margins, expected.margins, equal_nan=True)
    for name, resampled in expected.resampled.items():
        assert np.array_equal(found.resampled[name], resampled, equal_nan=True)


def test_numbers_are_those_of_one_process(client_here, monkeypatch):
    monkeypatch.setattr("structlearn.annotation.examples.BATCH", 7)
    Path("files/4.conll").write_text("the NEW\ndog B-NP\n\n" * 3)
    # It is the last one to be done, and still the first to be counted.
    Path("files/0.conll").write_text(Path("files/0.conll").read_text() * 50)
    told = []
    found = evaluate_files(
        client_here, "tagger.slm", "files/*.conll", progress=lambda done, of: told.append((done, of))
    )
    check_same(found, on_one_machine(load("tagger.slm")))
    assert told == [(k, 5) for k in range(1, 6)]


def test_tags_of_files_are_segments_for_models_of_these(client_here, run):
    words = tagger().steps[0][1]
    X, Y = sentences(0)
    reader = model_file.read("tagger.slm").reader
    svm = StructuralSVM(Segments(), tol=0.2).fit(words.transform(X), list(map(from_bio, Y)))
    model_file.save(Steps([("words", words), ("svm", svm)]), "tagger.slm", reader=reader)
    status, out, _ = run("evaluate", "tagger.slm", "files", "--json")
    assert status == 0
    assert evaluate_files(client_here, "tagger.slm", "files").to_dict() == json.loads(out)


def test_the_command_line_says_the_same_as_without_workers(client_here, run, monkeypatch):
    monkeypatch.setattr("structlearn.distributed.local.workers_here", lambda n: nullcontext(client_here))
    alone = run("evaluate", "tagger.slm", "files")
    assert alone[0] == 0
    status, out, err = run("evaluate", "tagger.slm", "files/*.conll", "--workers", "2")
    assert (status, out) == alone[:2]
    assert err.split("\r")[-1] == "evaluated: 5 of 5 files\n"
    assert run("evaluate", "tagger.slm", "files", "--workers", "2", "--json")[::2] == (0, "")


def test_a_file_without_labels_is_named_as_on_one_machine(client_here, run):
    Path("files/1.conll").write_text("the\ndog\n")
    expected = run("evaluate", "tagger.slm", Path("files").absolute())[2].removeprefix("structlearn: ").strip()
    assert "files/1.conll" in expected
    with pytest.raises(ValueError) as refused:
        evaluate_files(client_here, "tagger.slm", "files")
    assert str(refused.value) == expected


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ("files/*.txt", "no file matches files/*.txt"),
        ("-", "--workers and --cluster evaluate files, not standard input"),
        ("corpus", "--workers and --cluster evaluate files, and corpus holds features that prepare has made"),
    ],
)
def test_the_command_line_refuses(run, given, message):
    assert run("prepare", "files/0.conll", "-o", "corpus", "-q")[0] == 0
    assert run("evaluate", "tagger.slm", given, "--workers", "1") == (1, "", f"structlearn: {message}\n")


@pytest.mark.slow
def test_workers_that_are_killed_change_no_number(client, folder):  # noqa: F811
    os.mkdir("marks")
    expected = on_one_machine(load("tagger.slm"))
    check_same(evaluate_files(client, with_step(Fatal(f"{folder}/marks")), "files"), expected)
    assert len(os.listdir("marks")) == 2

    def kill(done, of):
        if done == 2:
            for pid in client.run(os.getpid).values():
                os.kill(pid, signal.SIGKILL)

    check_same(evaluate_files(client, "tagger.slm", "files", progress=kill), expected)
