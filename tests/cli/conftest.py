import json
from functools import cache

import pytest

from structlearn import cli
from structlearn.datasets import make_sentences
from structlearn.io.columns import Columns


@cache
def column_file(size, seed):
    drawn = make_sentences(size, random_state=seed)
    words = [[word for word, _ in x] for x in drawn.X]
    return "".join(map(Columns().write, words, drawn.Y))


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A folder with sentences in column files, in which the commands run."""
    monkeypatch.chdir(tmp_path)
    for seed, (name, size) in enumerate({"train.txt": 60, "test.txt": 40}.items()):
        tmp_path.joinpath(name).write_text(column_file(size, seed))
    return tmp_path


@pytest.fixture
def run(monkeypatch, capsys):
    """Runs the command line in this process; gives exit status, output and errors."""

    def command(*words):
        monkeypatch.setattr("sys.argv", ["structlearn", *map(str, words)])
        monkeypatch.setenv("TERM", "dumb")
        monkeypatch.setenv("COLUMNS", "120")
        try:
            cli.run()
            status = 0
        except SystemExit as exit:
            status = exit.code or 0
        captured = capsys.readouterr()
        return status, captured.out, captured.err

    return command


@pytest.fixture
def run_json(run):
    def command(*words):
        status, out, err = run(*words, "--json")
        assert (status, err) == (0, "")
        return json.loads(out)

    return command


@pytest.fixture
def trained(run):
    """Trains by the command line, once in this process for every list of words, and gives the model file."""

    def model(path, *words):
        if words not in trained_before:
            assert run("train", *words, "-o", path, "--quiet")[0] == 0
            trained_before[words] = path.read_bytes()
        path.write_bytes(trained_before[words])
        return path

    return model


trained_before = {}


@pytest.fixture
def tagger(folder, trained):
    return trained(folder / "tagger.slm", "train.txt")
