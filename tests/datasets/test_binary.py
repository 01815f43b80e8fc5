import gzip
import os
from pathlib import Path

import numpy as np
import pytest

from structlearn.datasets import fetch_adult, fetch_covertype, fetch_ijcnn1, make_checkerboard

REAL = Path(os.environ.get("STRUCTLEARN_DATA", ""))


def needs(folder):
    return pytest.mark.skipif(not (REAL / folder).is_dir(), reason=f"STRUCTLEARN_DATA names no folder with {folder}")


@needs("adult")
def test_adult_is_complete():
    train, test = fetch_adult(), fetch_adult("test")
    assert (train.X.shape, test.X.shape) == ((32561, 123), (16281, 123))
    assert set(train.X.data) == {1.0}
    assert ((train.Y == 1).sum(), (test.Y == 1).sum()) == (7841, 3846)


@needs("ijcnn1")
@pytest.mark.slow
@pytest.mark.parametrize(("subset", "n", "n_positive"), [("train", 49990, 4853), ("test", 91701, 8712)])
def test_ijcnn1_is_complete(subset, n, n_positive):
    data = fetch_ijcnn1(subset)
    assert data.X.shape == (n, 22)
    assert (data.Y == 1).sum() == n_positive


@needs("covertype")
def test_covertype_has_seven_classes():
    data = fetch_covertype()
    assert data.X.shape == (20000, 54)
    assert np.bincount(data.Y)[1:].tolist() == [2942, 6022, 2160, 2160, 2396, 2160, 2160]
    assert (data.X[:, 10:14].sum(axis=1) == 1).all()
    assert (data.X[:, 14:].sum(axis=1) == 1).all()


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.setenv("STRUCTLEARN_DATA", str(tmp_path))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    for name in ("adult", "ijcnn1", "covertype"):
        (tmp_path / name).mkdir()
    return tmp_path


ADULT, IJCNN1, COVERTYPE = "adult/a9a_train.txt.gz", "ijcnn1/ijcnn1.trn.bz2", "covertype/covtype.20k.data.gz"


@pytest.mark.parametrize(
    ("fetch", "file", "content", "complaint"),
    [
        (fetch_adult, ADULT, b"", "it holds no rows"),
        (fetch_adult, ADULT, b"something else\n", "could not convert"),
        (fetch_adult, ADULT, gzip.compress(b"+1 1:1\n")[:-9], "cut short"),
        (fetch_adult, ADULT, gzip.compress(b"+1 124:1\n"), "n_features"),
        (fetch_adult, ADULT, gzip.compress(b"3 1:1\n"), "it has the class 3; expected -1 and [+]1"),
        (fetch_ijcnn1, IJCNN1, b"BZh91AY&SY broken", "is damaged"),
        (fetch_covertype, COVERTYPE, gzip.compress(b"1,2,3\n"), "it has 3 columns instead of 54 features"),
        (fetch_covertype, COVERTYPE, gzip.compress(b"0," * 54 + b"8\n"), "classes other than 1 to 7"),
        (fetch_covertype, COVERTYPE, gzip.compress(b"nan," * 54 + b"1\n"), "features that are no numbers"),
        (fetch_covertype, COVERTYPE, b"something else\n", "could not convert"),
    ],
)
def test_wrong_files_are_named_and_explained(folder, fetch, file, content, complaint):
    (folder / file).write_bytes(content)
    with pytest.raises(ValueError, match=complaint) as caught:
        fetch()
    assert str(folder / file) in str(caught.value)


@pytest.mark.parametrize("fetch", [fetch_adult, fetch_ijcnn1, fetch_covertype])
def test_missing_files_have_a_home(folder, fetch):
    with pytest.raises(FileNotFoundError, match="home is https://"):
        fetch()


@pytest.mark.parametrize("fetch", [fetch_adult, fetch_ijcnn1])
def test_unknown_subsets_are_refused(fetch):
    with pytest.raises(ValueError, match="subset must be one of 'train', 'test', got 'dev'"):
        fetch("dev")


def test_small_files_are_read(folder):
    (folder / ADULT).write_bytes(gzip.compress(b"+1 1:1 3:1\n-1 123:1\n"))
    data = fetch_adult()
    assert data.X.toarray()[:, [0, 2, 122]].tolist() == [[1.0, 1.0, 0.0], [0.0, 0.0, 1.0]]
    assert data.Y.tolist() == [1, -1]


def test_neighbouring_squares_differ():
    data = make_checkerboard(2000, label_noise=0.0, random_state=0)
    columns, rows = (data.X * 4).astype(int).T
    for column in range(4):
        for row in range(4):
            (label,) = set(data.Y[(columns == column) & (rows == row)].tolist())
            assert label == (1 if (column + row) % 2 else -1)


def test_as_many_labels_are_wrong_as_said():
    clean, noisy = (make_checkerboard(1000, label_noise=noise, random_state=0) for noise in (0.0, 0.02))
    np.testing.assert_array_equal(clean.X, noisy.X)
    assert (clean.Y != noisy.Y).sum() == 20
    with pytest.raises(ValueError, match=r"label_noise must lie in \[0, 1\], got 2"):
        make_checkerboard(label_noise=2)
    with pytest.raises(ValueError, match="n_samples must be at least 1, got 0"):
        make_checkerboard(0)
