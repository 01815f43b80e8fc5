"""What commands refuse, and what they say."""

import re
from pathlib import Path

import pytest

from structlearn import GibbsMotif
from structlearn.estimators.memory import InsufficientMemoryError, warn_of_growth


def test_an_option_of_another_learner_is_refused(folder, run):
    status, _, err = run("train", "train.txt", "--l1-ratio", "0.5")
    assert (status, err) == (
        1,
        "structlearn: --l1-ratio has no effect here: it is for --learner crf or --learner latent-crf\n",
    )
    assert not folder.joinpath("model.slm").exists()


@pytest.mark.parametrize(
    ("content", "told"),
    [
        ("", "train.txt:1:1: the file holds no example"),
        ("the D\ndog\n\n", "train.txt"),
        ("the D\ncat \udcff N\n", "train.txt"),
    ],
)
def test_a_bad_file_is_named_and_nothing_is_written(folder, run, content, told):
    folder.joinpath("train.txt").write_bytes(content.encode("utf-8", "surrogateescape"))
    status, _, err = run("train", "train.txt")
    assert status == 1
    assert err.startswith("structlearn: ")
    assert told in err
    assert not folder.joinpath("model.slm").exists()


def test_what_cannot_be_written_is_said_before_training(folder, run):
    status, _, err = run("train", "train.txt", "-o", "missing/tagger.slm")
    assert (status, err) == (1, "structlearn: there is no folder missing to write tagger.slm in\n")


def test_a_model_that_is_none_is_refused(folder, run):
    status, _, err = run("predict", "train.txt", "test.txt")
    assert (status, "no structlearn model" in err) == (1, True)


def test_a_wrong_option_is_status_2(run):
    status, _, err = run("train", "--nonsense")
    assert status == 2
    assert "--nonsense" in err


def test_a_missing_file_is_named(folder, run):
    assert run("train", "nowhere.txt")[::2] == (1, "structlearn: nowhere.txt: No such file or directory\n")


def test_a_file_of_another_format_is_refused(folder, run):
    folder.joinpath("train.crfsuite").write_text("D\tw=the\nN\tw=dog:2\n\n")
    assert run("train", "train.crfsuite", "-q")[0] == 0
    status, _, err = run("predict", "model.slm", "test.txt")
    assert (status, err) == (
        1,
        "structlearn: test.txt:1:1: expected a file in the format crfsuite; this one looks like columns\n",
    )
    assert run("predict", "model.slm", "test.txt", "--format", "crfsuite")[0] == 0


def test_a_file_with_a_column_less_has_no_labels(folder, run):
    folder.joinpath("three.txt").write_text("the DT B\ndog NN I\n\n")
    folder.joinpath("two.txt").write_text("the B\ndog I\n\n")
    assert run("train", "three.txt", "-q")[0] == 0
    status, _, err = run("evaluate", "model.slm", "two.txt")
    assert (status, err) == (
        1,
        "structlearn: two.txt, taken for columns, has no labels at line 1: expected the columns word, pos and a "
        "label\n",
    )


def test_the_input_is_not_overwritten(tagger, run):
    status, _, err = run("predict", tagger, "test.txt", "-o", "test.txt")
    assert (status, "is the file that is read" in err) == (1, True)


@pytest.mark.parametrize("command", ["predict", "evaluate", "report", "inspect"])
def test_a_baseline_that_reads_no_files_is_named(folder, run, command):
    GibbsMotif(2).fit(["ACGT", "ACGA", "TTTT"], [1, 1, -1]).save("gibbs.slm")
    status, _, err = run(command, "gibbs.slm", *(["train.txt"] if command != "inspect" else []))
    assert (status, "gibbs.slm holds a GibbsMotif, which is for Python only" in err) == (1, True), err


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--label", "lemma"], "--label is 'lemma'; of CoNLL-U files it may be upos, xpos"),
        (["--columns", "word,_"], "whose last column is left out; --label names that of the labels"),
        (["--columns", "word,chunk", "--format", "tagged"], "do not go together with the format tagged"),
    ],
)
def test_options_of_other_formats_are_refused_in_their_own_words(options, message, folder, run):
    status, _, err = run("check", "train.txt", *options)
    assert (status, message in err) == (1, True)


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["--boundaries", "--model", "segments"], "--boundaries has no effect here: it is for --model chain or"),
        (["--costs", "c.csv", "--model", "latent-chain"], "it is for --model chain or --model segments"),
        (["--smoothing", "1"], "--smoothing has no effect here: it is for --learner hmm\n"),
        (["--learner", "hmm", "--min-count", "2"], "--min-count has no effect here: it is for --model chain or"),
        (["--negative", "O"], "--negative has no effect here: it is for --loss f1\n"),
        (["--negative", "O", "--loss", "hamming"], "--negative has no effect here: it is for --loss f1\n"),
    ],
)
def test_an_option_of_another_model_names_those_that_have_it(folder, run, words, told):
    status, _, err = run("train", "train.txt", *words)
    assert status == 1
    assert told in err


def test_a_line_with_another_number_of_columns_is_named(tmp_path, monkeypatch, run):
    monkeypatch.chdir(tmp_path)
    Path("ragged.txt").write_text("the DT D\ndog NN N\nbarks V\n\na DT D\n\n")
    for command in ("train", "check"):
        assert run(command, "ragged.txt")[2] == (
            "structlearn: ragged.txt:3:1: expected 3 columns, as most lines have, found 2: 'barks V'; if these are no "
            "columns, name the format\n"
        )


def test_training_that_needs_more_memory_than_there_is_is_refused_with_options_that_help(folder, run, monkeypatch):
    status, _, err = run("train", "train.txt", "-q", "--max-memory", "20kB")
    assert status == 1
    assert err.startswith("structlearn: training needs about ")
    assert " in all, but --max-memory leaves 20 kB; what helps: --min-count 2, --n-hashed " in err
    assert "--observed-only" in err
    status, _, err = run("train", "train.txt", "-q", "--learner", "crf", "--solver", "lbfgs", "--max-memory", "1MB")
    assert status == 1
    assert "--solver dual_coordinate" in err
    enough = err.split()[-1]
    assert err.endswith(f" or --max-memory {enough}\n")
    assert run("train", "train.txt", "-q", "--learner", "crf", "--solver", "lbfgs", "--max-memory", enough)[0] == 0
    monkeypatch.setattr("structlearn.estimators.memory.available_memory", lambda: 20_000)
    status, _, err = run("train", "train.txt", "-q")
    assert status == 1
    assert "but 20 kB are available; what helps: --min-count 2" in err


@pytest.mark.parametrize(
    ("given", "helps"),
    [
        ([], r"--min-count 2, --n-hashed \d+, --observed-only,"),
        (["--min-count", "2"], r"--min-count 4, --n-hashed \d+ without --min-count, --observed-only,"),
        (["--n-hashed", "4096"], r"--n-hashed \d+, --observed-only,"),
        (["--observed-only", "--min-count", "3"], r"--min-count 6, --n-hashed \d+ without --min-count, [^o]*labels"),
    ],
)
def test_what_was_given_already_is_not_advised(folder, run, given, helps):
    for command in (["train"], ["tune", "--grid", "C=1", "--folds", "2", "-j", "1"]):
        status, _, err = run(*command, "train.txt", "-q", "--max-memory", "20kB", *given)
        assert status == 1
        assert re.search(f"but --max-memory leaves 20 kB; what helps: {helps}", err), err


@pytest.mark.filterwarnings("default")
def test_a_run_that_outgrows_its_memory_is_told_of_in_options(folder, run, monkeypatch):
    refused = InsufficientMemoryError("much", 1000, True, (("min_count", None), ("max_memory", "1MB")), "Chain")

    def fit(learner, X, Y, weight, **options):
        learner.fit(X, Y)
        warn_of_growth(refused, 3, 0.5)

    monkeypatch.setattr("structlearn.cli.pipelines.fit_learner", fit)
    assert run("train", "train.txt", "-q")[::2] == (
        0,
        "structlearn: warning: stopped after 3 iterations at a relative duality gap of 0.5, with the best weights so "
        "far: training needs much, but --max-memory leaves 1.0 kB; what helps: --min-count 2 or --max-memory 1MB\n",
    )


def test_the_size_of_the_problem_is_said_before_training_unless_quiet(folder, run):
    status, _, err = run("train", "train.txt")
    assert status == 0
    lines = err.splitlines()
    assert lines[0].startswith("format columns, 60 examples")
    assert lines[1].startswith("60 examples, ")
    assert " labels: " in lines[1]
    assert " weights, about " in lines[1]
    assert run("train", "train.txt", "-q")[2] == ""
