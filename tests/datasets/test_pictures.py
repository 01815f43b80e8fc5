"""Images with a label for each pixel: snakes and stripes."""

import os
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from structlearn.datasets import fetch_snakes, make_stripes

needs_files = pytest.mark.skipif(
    not (Path(os.environ.get("STRUCTLEARN_DATA", "")) / "snakes").is_dir(),
    reason="STRUCTLEARN_DATA names no folder with snakes",
)


@needs_files
@pytest.mark.parametrize(("subset", "count", "background"), [("train", 200, 5566), ("test", 100, 2750)])
def test_snakes_are_complete(subset, count, background):
    data = fetch_snakes(subset)
    assert len(data.X) == len(data.Y) == count
    assert len({x.shape for x in data.X}) > 10
    assert sum(np.count_nonzero(y == 0) for y in data.Y) == background
    for x, y in zip(data.X, data.Y, strict=True):
        assert x.shape == (*y.shape, 3)
        assert np.bincount(y.ravel())[1:].tolist() == [1] * 10
        # Each pixel of the snake touches the one before it.
        places = np.array([np.argwhere(y == k)[0] for k in range(1, 11)])
        assert np.abs(np.diff(places, axis=0)).sum(axis=1).tolist() == [1] * 9
        # The background has a colour of its own.
        np.testing.assert_array_equal((x == [0, 0, 1]).all(axis=2), y == 0)


def snakes(**changes):
    arrays = {
        "pixels_test": np.arange(18, dtype=np.uint8),
        "shapes_test": np.array([[1, 2, 3], [2, 2, 3]]),
        "labels_test": np.array([0, 1, 2, 3, 4, 5], np.uint8),
        "label_shapes_test": np.array([[1, 2], [2, 2]]),
    }
    return arrays | changes


@pytest.fixture
def path(tmp_path, monkeypatch):
    monkeypatch.setenv("STRUCTLEARN_DATA", str(tmp_path))
    (tmp_path / "snakes").mkdir()
    return tmp_path / "snakes/snakes.npz"


def test_images_are_taken_from_flat_arrays(path):
    np.savez(path, **snakes())
    data = fetch_snakes("test")
    assert [y.tolist() for y in data.Y] == [[[0, 1]], [[2, 3], [4, 5]]]
    np.testing.assert_allclose(data.X[1] * 255, np.arange(6, 18).reshape(2, 2, 3))


@pytest.mark.parametrize(
    ("changes", "complaint"),
    [
        ({"pixels_test": np.zeros(18)}, "pixels and labels must be uint8, got float64 and uint8"),
        ({"shapes_test": np.array([[1, 2, 4], [2, 2, 3]])}, "shapes must be heights, widths and 3"),
        ({"shapes_test": np.zeros((0, 3), int)}, "shapes must be heights, widths and 3"),
        ({"label_shapes_test": np.array([[2, 1], [2, 2]])}, "different shapes"),
        ({"labels_test": np.zeros(5, np.uint8)}, "there are 18 values and 5 labels for 6 pixels"),
        ({"pixels_test": np.array([{}], object)}, "allow_pickle"),
    ],
)
def test_damaged_snakes_are_explained(path, changes, complaint):
    np.savez(path, allow_pickle=True, **snakes(**changes))
    with pytest.raises(ValueError, match=r"snakes.npz is damaged or is not the expected file") as caught:
        fetch_snakes("test")
    assert complaint in str(caught.value)


def test_stripes_have_the_sizes_of_the_source():
    data = make_stripes(20, 0.5, random_state=0)
    assert data.X.shape == (20, 12, 12, 3)
    assert data.Y.shape == (20, 12, 12)
    assert {tuple(y[0, ::4]) for y in data.Y} <= {(0, 1, 2), (0, 2, 1), (1, 0, 2), (1, 2, 0), (2, 0, 1), (2, 1, 0)}
    np.testing.assert_array_equal(data.Y, np.repeat(np.repeat(data.Y[:, :1, ::4], 4, axis=2), 12, axis=1))


@given(st.integers(0, 99), st.integers(1, 5), st.integers(3, 11))
def test_without_noise_pixels_show_their_labels(seed, n_rows, n_columns):
    data = make_stripes(4, 0.0, n_rows=n_rows, n_columns=n_columns, random_state=seed)
    np.testing.assert_array_equal(data.X.argmax(axis=3), data.Y)
    assert set(np.unique(data.X)) == {0.0, 1.0}
    for y in data.Y:
        widths = np.bincount(y[0])
        assert len(widths) == 3
        assert widths.max() - widths.min() <= 1
        assert np.count_nonzero(np.diff(y[0])) == 2


def test_all_orders_are_equally_frequent_and_noise_is_normal():
    data = make_stripes(6000, 2.0, n_rows=1, n_columns=3, random_state=0)
    _, counts = np.unique(data.Y[:, 0], axis=0, return_counts=True)
    assert len(counts) == 6
    assert counts.min() > 850
    noise = data.X - np.eye(3)[data.Y]
    assert noise.mean() == pytest.approx(0, abs=0.05)
    assert noise.std() == pytest.approx(2, abs=0.05)


def test_stripes_that_cannot_be_are_refused():
    with pytest.raises(ValueError, match="n_columns must be at least 3, got 2"):
        make_stripes(n_columns=2)
    with pytest.raises(ValueError, match="noise must be at least 0, got -1"):
        make_stripes(noise=-1)
