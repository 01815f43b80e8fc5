"""Which files are meant by a path, a pattern or a folder."""

import pytest

from structlearn.io.paths import matching


@pytest.fixture
def files(tmp_path):
    for name in ("b.txt", "a.txt", ".hidden.txt", "x.png", "x_labels.png", "[1].txt"):
        (tmp_path / name).write_text("")
    (tmp_path / "c.txt").mkdir()
    return tmp_path


def test_patterns_are_files_in_order_without_folders_hidden_ones_and_companions(files):
    assert matching(str(files / "*.txt")) == [str(files / name) for name in ("[1].txt", "a.txt", "b.txt")]
    assert matching(files / "x*") == [str(files / "x.png")]


def test_a_folder_stands_for_its_files(files):
    assert matching(files) == [str(files / name) for name in ("[1].txt", "a.txt", "b.txt", "x.png")]


def test_a_file_that_looks_like_a_pattern_is_one(files):
    assert matching(str(files / "[1].txt")) == [str(files / "[1].txt")]


def test_a_file_that_several_patterns_match_is_there_once(files):
    assert matching([files / "a*", str(files / "?.txt")]) == [str(files / "a.txt"), str(files / "b.txt")]


@pytest.mark.parametrize("given", ["*.conll", "missing.txt", ["a.txt", "*.conll"]])
def test_what_matches_nothing_is_refused(files, monkeypatch, given):
    monkeypatch.chdir(files)
    with pytest.raises(FileNotFoundError, match=r"no file matches (\*\.conll|missing\.txt)$"):
        matching(given)
