import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import array_shapes, arrays

from structlearn.data.tokens.matrix import TokenMatrix

values = st.sampled_from([0.0, 0.0, -0.0, 1.0, -2.5, 1e-300])
matrices = arrays(float, array_shapes(min_dims=2, max_dims=2, min_side=0, max_side=6), elements=values)


@settings(max_examples=100)
@given(
    matrices,
    st.booleans(),
    st.sampled_from([np.ascontiguousarray, np.asfortranarray, lambda x: np.repeat(x, 2, 0)[::2]]),
)
def test_dense_and_sparse_matrices_give_the_same_tokens(matrix, intercept, layout):
    dense = TokenMatrix.from_matrix(layout(matrix), intercept=intercept)
    full = np.hstack([matrix, np.ones((len(matrix), int(intercept)))])
    expected = sp.csr_array(full)
    np.testing.assert_array_equal(dense.indptr, expected.indptr)
    np.testing.assert_array_equal(dense.columns, expected.indices)
    np.testing.assert_array_equal(dense.values, expected.data)
    assert dense.n_columns == full.shape[1]
    sparse = TokenMatrix.from_matrix(sp.csr_array(matrix), intercept=intercept)
    for name in ("indptr", "columns", "values"):
        np.testing.assert_array_equal(getattr(sparse, name), getattr(dense, name))
        assert getattr(sparse, name).dtype == getattr(dense, name).dtype


@pytest.mark.parametrize("dtype", [bool, np.uint8, np.int64, np.float32])
def test_numbers_of_every_type_are_read(dtype):
    tokens = TokenMatrix.from_matrix(np.array([[0, 1], [1, 0]], dtype), intercept=False)
    np.testing.assert_array_equal(tokens.columns, [1, 0])
    np.testing.assert_array_equal(tokens.values, [1.0, 1.0])
