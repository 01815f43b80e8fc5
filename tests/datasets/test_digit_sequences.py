import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.datasets import load_digits
from sklearn.linear_model import LogisticRegression
from sklearn.svm import LinearSVC

from structlearn.datasets import load_digit_sequences


def viterbi(scores, transition):
    best, pointers = scores[0], []
    for row in scores[1:]:
        totals = best[:, np.newaxis] + transition
        pointers.append(totals.argmax(axis=0))
        best = totals.max(axis=0) + row
    path = [best.argmax()]
    for pointer in reversed(pointers):
        path.append(pointer[path[-1]])
    return np.array(path[::-1])


@settings(max_examples=25)
@given(
    n_sequences=st.integers(1, 5),
    lengths=st.tuples(st.integers(1, 5), st.integers(0, 5)),
    noise=st.floats(0, 3),
    random_state=st.integers(0, 2**32),
)
def test_shapes_and_ranges(n_sequences, lengths, noise, random_state):
    low, high = lengths[0], sum(lengths)
    data = load_digit_sequences(
        n_sequences=n_sequences, min_length=low, max_length=high, noise=noise, random_state=random_state
    )
    assert len(data.X) == len(data.Y) == len(data.images) == n_sequences
    for x, y, images in zip(data.X, data.Y, data.images, strict=True):
        assert low <= len(y) <= high
        assert x.shape == (len(y), 64)
        assert np.all((x >= 0) & (x <= 1))
        assert images.shape == y.shape


def test_images_show_the_digits_they_are_labelled_with():
    data = load_digit_sequences(n_sequences=20, noise=0)
    pixels, digits = load_digits(return_X_y=True)
    for x, y, images in zip(data.X, data.Y, data.images, strict=True):
        np.testing.assert_array_equal(digits[images], y)
        np.testing.assert_array_equal(pixels[images] / 16, x)


@pytest.mark.parametrize("seeds", [(0, 0), (1, 2)])
def test_train_and_test_share_no_image(seeds):
    train = load_digit_sequences("train", n_sequences=500, random_state=seeds[0])
    test = load_digit_sequences("test", n_sequences=500, random_state=seeds[1])
    assert not set(np.concatenate(train.images)) & set(np.concatenate(test.images))


def test_seed_determines_the_sequences():
    first, again, other = (load_digit_sequences(n_sequences=10, random_state=seed) for seed in (3, 3, 4))
    np.testing.assert_array_equal(np.concatenate(first.X), np.concatenate(again.X))
    np.testing.assert_array_equal(np.concatenate(first.Y), np.concatenate(again.Y))
    assert np.concatenate(first.Y).tolist() != np.concatenate(other.Y).tolist()


def test_subsets_differ_under_the_same_seed():
    train, test = (load_digit_sequences(subset, n_sequences=10) for subset in ("train", "test"))
    assert np.concatenate(train.Y).tolist() != np.concatenate(test.Y).tolist()


def test_digits_follow_the_transition_matrix():
    data = load_digit_sequences(n_sequences=1000)
    np.testing.assert_allclose(data.transition.sum(axis=1), 1)
    np.testing.assert_allclose(data.transition.sum(axis=0), 1)
    counts = np.zeros((10, 10))
    for y in data.Y:
        np.add.at(counts, (y[:-1], y[1:]), 1)
    np.testing.assert_allclose(counts / counts.sum(axis=1, keepdims=True), data.transition, atol=0.07)


@pytest.mark.slow
def test_order_of_digits_removes_most_errors_of_a_linear_reader():
    train, test = (load_digit_sequences(subset) for subset in ("train", "test"))
    pixels, digits = np.concatenate(train.X), np.concatenate(train.Y)
    truth = np.concatenate(test.Y)
    reader_error = 1 - LinearSVC(C=0.1).fit(pixels, digits).score(np.concatenate(test.X), truth)
    probabilistic = LogisticRegression(max_iter=300).fit(pixels, digits)
    decoded = [viterbi(probabilistic.predict_log_proba(x), np.log(test.transition)) for x in test.X]
    chain_error = np.mean(np.concatenate(decoded) != truth)
    assert 0.1 < reader_error < 0.2
    assert chain_error < 0.4 * reader_error


@pytest.mark.parametrize(
    "arguments",
    [
        {"subset": "validation"},
        {"n_sequences": 0},
        {"min_length": 0},
        {"max_length": 3},
        {"noise": -0.5},
        {"noise": float("nan")},
        {"random_state": -1},
    ],
)
def test_bad_argument_is_named_with_its_value(arguments):
    ((name, value),) = arguments.items()
    with pytest.raises(ValueError, match=f"{name} must .*{value}"):
        load_digit_sequences(**arguments)
