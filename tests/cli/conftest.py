import json
from functools import cache

import pytest
import typer.main
import typer.testing

from structlearn import cli
from structlearn.datasets import make_sentences
from structlearn.io.columns import Columns


@pytest.fixture(autouse=True, scope="session")
def _commands_are_built_once():
    """Typer makes all commands and their hundreds of options anew for every line, which takes longer than most of them."""
    with pytest.MonkeyPatch.context() as patch:
        built = cache(typer.main.get_command)
        patch.setattr(typer.main, "get_command", built)
        patch.setattr(typer.testing, "_get_command", built)
        yield


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A folder with sentences in column files, in which the commands run."""
    monkeypatch.chdir(tmp_path)
    for seed, (name, size) in enumerate({"train.txt": 60, "test.txt": 40}.items()):
        drawn = make_sentences(size, random_state=seed)
        words = [[word for word, _ in x] for x in drawn.X]
        tmp_path.joinpath(name).write_text("".join(map(Columns().write, words, drawn.Y)))
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
def tagger(folder, run):
    status, _, _ = run("train", "train.txt", "-o", "tagger.slm", "--quiet")
    assert status == 0
    return folder / "tagger.slm"
