from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse import csr_array

from structlearn import datasets
from structlearn.datasets import make_block_sequences, make_hmm_sequences, make_matchings, make_multiclass

seeds = st.integers(0, 2**32)


def test_hmm_has_the_sizes_of_the_source_by_default():
    data = make_hmm_sequences(random_state=0)
    assert len(data.X) == len(data.Y) == 200
    assert {x.shape for x in data.X} == {(250, 10)}
    assert {y.shape for y in data.Y} == {(250,)}
    assert set(np.concatenate(data.Y)) == {-1, 1}


@given(random_state=seeds, low=st.floats(0, 1), width=st.floats(0, 1))
def test_hmm_parameters_are_a_hidden_markov_model(random_state, low, width):
    stay = (low, min(1.0, low + width))
    data = make_hmm_sequences(2, length=3, n_features=4, stay=stay, random_state=random_state)
    np.testing.assert_allclose(data.transition.sum(axis=1), 1)
    assert data.start.sum() == 1
    staying = np.diag(data.transition)
    assert np.all((staying >= stay[0]) & (staying <= stay[1]))
    assert np.all((data.variances >= 0) & (data.variances <= 1))
    np.testing.assert_array_equal(data.means, [[-1] * 4, [1] * 4])


def test_hmm_sequences_follow_their_parameters():
    data = make_hmm_sequences(400, length=100, n_features=3, random_state=0)
    counts = np.zeros((2, 2))
    states = [(y + 1) // 2 for y in data.Y]
    for s in states:
        np.add.at(counts, (s[:-1], s[1:]), 1)
    np.testing.assert_allclose(counts / counts.sum(axis=1, keepdims=True), data.transition, atol=0.01)
    assert np.mean([s[0] for s in states]) == pytest.approx(data.start[1], abs=0.1)
    observations, states = np.concatenate(data.X), np.concatenate(states)
    for s in (0, 1):
        np.testing.assert_allclose(observations[states == s].mean(axis=0), data.means[s], atol=0.03)
        np.testing.assert_allclose(observations[states == s].var(axis=0), data.variances[s], atol=0.03)


def test_blocks_have_the_sizes_and_positive_rate_of_the_calibration_by_default():
    data = make_block_sequences(1000, random_state=0)
    assert {x.shape for x in data.X} == {(250, 10)}
    assert {y.shape for y in data.Y} == {(250,)}
    assert np.mean(np.concatenate(data.Y) == 1) == pytest.approx(0.407, abs=0.02)


@given(random_state=seeds, n_blocks=st.integers(0, 4), reach=st.integers(0, 19))
def test_positive_labels_form_the_requested_blocks(random_state, n_blocks, reach):
    data = make_block_sequences(
        3,
        length=20,
        n_blocks=(n_blocks, n_blocks + 1),
        block_length=(reach, reach + 1),
        random_state=random_state,
    )
    for y in data.Y:
        positive = np.concatenate([[0], y == 1, [0]])
        starts, ends = np.flatnonzero(np.diff(positive) == 1), np.flatnonzero(np.diff(positive) == -1)
        assert len(starts) <= n_blocks
        assert bool(n_blocks) == bool(len(starts))
        assert np.all(ends - starts >= reach + 1)


@given(random_state=seeds, prop_distort=st.floats(0, 1), n_noise_features=st.integers(0, 4))
def test_features_flip_the_requested_share_of_labels(random_state, prop_distort, n_noise_features):
    data = make_block_sequences(
        2,
        length=60,
        n_features=4,
        prop_distort=prop_distort,
        noise=0,
        n_noise_features=n_noise_features,
        random_state=random_state,
    )
    X, labels = np.concatenate(data.X), np.concatenate(data.Y)
    assert len(set(data.noise_features)) == n_noise_features
    assert not X[:, data.noise_features].any()
    informative = np.delete(X, data.noise_features, axis=1)
    flipped = (informative == -labels[:, np.newaxis]).sum(axis=0)
    np.testing.assert_array_equal(flipped, round(120 * prop_distort))


def test_noise_features_are_independent_of_the_labels():
    data = make_block_sequences(random_state=0)
    X, labels = np.concatenate(data.X), np.concatenate(data.Y)
    np.testing.assert_allclose(X[:, data.noise_features].std(axis=0), 4, rtol=0.02)
    correlation = np.array([np.corrcoef(column, labels)[0, 1] for column in X.T])
    assert np.all(np.abs(correlation[data.noise_features]) < 0.02)
    assert np.all(np.delete(correlation, data.noise_features) > 0.1)


@given(
    random_state=seeds,
    n_samples=st.integers(1, 40),
    n_classes=st.integers(2, 6),
    label_noise=st.floats(0, 1),
)
def test_label_noise_changes_the_requested_share_of_labels(random_state, n_samples, n_classes, label_noise):
    shape = {"n_features": 3, "n_classes": n_classes, "random_state": random_state}
    clean = make_multiclass(n_samples, **shape)
    noisy = make_multiclass(n_samples, label_noise=label_noise, **shape)
    np.testing.assert_array_equal(clean.X, noisy.X)
    assert np.sum(clean.Y != noisy.Y) == round(n_samples * label_noise)
    assert set(noisy.Y) <= set(range(n_classes))
    assert np.ptp(np.bincount(clean.Y, minlength=n_classes)) <= 1


def test_multiclass_points_lie_about_their_means():
    data = make_multiclass(20_000, n_features=4, n_classes=3, separation=5, random_state=0)
    np.testing.assert_allclose(np.linalg.norm(data.means, axis=1), 5)
    labels = data.Y
    for k, mean in enumerate(data.means):
        points = data.X[labels == k]
        np.testing.assert_allclose(points.mean(axis=0), mean, atol=0.05)
        np.testing.assert_allclose(np.cov(points.T), np.eye(4), atol=0.06)


def test_sparse_multiclass_keeps_the_requested_share_of_entries():
    data = make_multiclass(5000, n_features=20, n_classes=2, density=0.1, separation=9, random_state=0)
    assert isinstance(data.X, csr_array)
    assert data.X.shape == (5000, 20)
    np.testing.assert_array_equal(np.diff(data.X.indptr), 2)
    entries = data.X.tocoo()
    residuals = entries.data - data.means[data.Y[entries.row], entries.col]
    assert residuals.mean() == pytest.approx(0, abs=0.05)
    assert residuals.std() == pytest.approx(1, abs=0.05)


def test_wide_sparse_multiclass_is_never_dense():
    data = make_multiclass(1000, n_features=1_000_000, n_classes=2, density=1e-5, random_state=0)
    assert data.X.nnz == 10_000


@pytest.mark.parametrize("make", [make_hmm_sequences, make_block_sequences, make_multiclass])
def test_seed_determines_the_data(make):
    first, again, other = (make(5, random_state=seed) for seed in (7, 7, 8))
    np.testing.assert_array_equal(first.X, again.X)
    np.testing.assert_array_equal(first.Y, again.Y)
    assert not np.array_equal(first.X, other.X)


@pytest.mark.parametrize("make", [make_hmm_sequences, make_block_sequences, make_multiclass])
def test_a_generator_is_a_random_state(make):
    by_generator, by_seed = make(5, random_state=np.random.default_rng(7)), make(5, random_state=7)
    np.testing.assert_array_equal(by_generator.X, by_seed.X)


@pytest.mark.parametrize(
    ("make", "arguments"),
    [
        (make_hmm_sequences, {"n_sequences": 0}),
        (make_hmm_sequences, {"length": 0}),
        (make_hmm_sequences, {"stay": (0.9, 0.8)}),
        (make_hmm_sequences, {"random_state": -1}),
        (make_block_sequences, {"n_features": 0}),
        (make_block_sequences, {"n_blocks": (3, 3)}),
        (make_block_sequences, {"block_length": (10, 251)}),
        (make_block_sequences, {"prop_distort": 1.5}),
        (make_block_sequences, {"noise": -1}),
        (make_block_sequences, {"n_noise_features": 11}),
        (make_multiclass, {"n_samples": 0}),
        (make_multiclass, {"n_classes": 1}),
        (make_multiclass, {"separation": -1}),
        (make_multiclass, {"label_noise": float("nan")}),
        (make_multiclass, {"density": 2}),
    ],
)
def test_bad_argument_is_named_with_its_value(make, arguments):
    ((name, value),) = arguments.items()
    with pytest.raises(ValueError) as caught:
        make(**arguments)
    assert str(caught.value).startswith(f"{name} must ")
    assert str(caught.value).endswith(repr(value))


def test_the_page_of_data_sets_has_all_of_them():
    page = (Path(__file__).parents[2] / "docs/datasets.md").read_text("utf-8")
    functions = [name for name in datasets.__all__ if name[0].islower()]
    assert [name for name in functions if f"`{name}`" not in page] == []


@given(random_state=seeds, n_points=st.integers(1, 6))
def test_points_without_noise_lie_on_their_copies(random_state, n_points):
    data = make_matchings(2, n_points=n_points, noise=0.0, random_state=random_state)
    for x, y in zip(data.X, data.Y, strict=True):
        assert sorted(column for _, column in y) == list(range(n_points))
        assert [tuple(pair) for pair in np.argwhere(x.max(axis=-1) < 1e-12).tolist()] == list(y)
