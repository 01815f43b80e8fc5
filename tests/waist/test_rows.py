import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from structlearn.waist import SparseRows

matrices = arrays(float, st.tuples(st.integers(1, 5), st.just(6)), elements=st.integers(-2, 2).map(float))


def rows_of(matrix):
    return SparseRows.from_matrix(sp.csr_array(matrix))


def dense(rows, n_columns):
    out = np.zeros((len(rows), n_columns))
    for k in range(len(rows)):
        rows.add_to(out[k], np.eye(len(rows))[k])
    return out


@settings(max_examples=60)
@given(matrices, st.integers(0, 2**32))
def test_rows_multiply_and_add_like_a_dense_matrix(matrix, seed):
    random = np.random.default_rng(seed)
    rows, w, coefficients = rows_of(matrix), random.normal(size=6), random.normal(size=len(matrix))
    np.testing.assert_allclose(rows.dot(w), matrix @ w, atol=1e-12)
    total = w.copy()
    rows.add_to(total, coefficients)
    np.testing.assert_allclose(total, w + coefficients @ matrix, atol=1e-12)


@settings(max_examples=60)
@given(matrices, matrices)
def test_gram_holds_all_inner_products(left, right):
    np.testing.assert_allclose(rows_of(left).gram(rows_of(right)), left @ right.T)


@settings(max_examples=60)
@given(matrices, st.lists(st.integers(0, 4), max_size=8))
def test_take_gives_rows_in_the_order_asked_for(matrix, which):
    which = np.array([k % len(matrix) for k in which], np.int64)
    taken = rows_of(matrix).take(which)
    assert len(taken) == len(which)
    np.testing.assert_array_equal(dense(taken, 6), matrix[which])


def test_rows_keep_their_indices_in_increasing_order():
    unsorted = sp.csr_array((np.array([1.0, 2.0, 3.0]), np.array([4, 0, 4]), np.array([0, 3])), shape=(1, 5))
    rows = SparseRows.from_matrix(unsorted)
    np.testing.assert_array_equal(rows.indices, [0, 4])
    np.testing.assert_array_equal(rows.values, [2.0, 4.0])


def test_inner_products_of_rows_beyond_32_bits_need_little_memory():
    far = 2**40
    left = SparseRows(np.array([0, 2]), np.array([3, far]), np.array([1.0, 2.0]))
    right = SparseRows(np.array([0, 1, 2]), np.array([far, far + 1]), np.array([5.0, 7.0]))
    np.testing.assert_array_equal(left.gram(right), [[10.0, 0.0]])


def test_weights_that_rows_do_not_reach_are_refused():
    rows = rows_of(np.array([[0.0, 1.0, 0.0], [2.0, 0.0, 3.0], [0.0, 0.0, 0.0]]))
    for ask in (rows.dot, lambda w: rows.add_to(w, np.ones(3))):
        with pytest.raises(ValueError, match=r"w is an array of the shape \(2,\); there are 3 weights"):
            ask(np.zeros(2))
    assert rows.take(np.array([2])).dot(np.zeros(0)).tolist() == [0.0]
