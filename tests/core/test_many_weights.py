"""Weights are numbered with 64 bits."""

import numpy as np
import pytest
import scipy.sparse as sp

from structlearn.models import Chain, Multiclass
from structlearn.waist import Scaling
from tests.models.enumerated import bound

LABELS = ["a", "b", "c", "d"]


def tokens(n_inputs):
    """Two tokens with a feature in the first and in the last column."""
    return sp.csr_array(([1.0, 2.0, 3.0], ([0, 0, 1], [0, n_inputs - 1, n_inputs - 1])), shape=(2, n_inputs))


def test_rows_of_a_classifier_reach_beyond_32_bits():
    n_inputs = 2**30
    problem = bound(Multiclass(classes=LABELS), tokens(n_inputs), ["b", "c"])
    assert problem.n_features == 2**32
    rows, _ = problem.differences(np.arange(2), np.array([3, 0]))
    last = (n_inputs - 1) * 4
    np.testing.assert_array_equal(rows.sparse().indices, [1, 3, last + 1, last + 3, last + 0, last + 2])
    np.testing.assert_array_equal(rows.sparse().values, [1.0, -1.0, 2.0, -2.0, -3.0, 3.0])


def test_rows_of_a_chain_reach_beyond_32_bits():
    n_inputs = 2**30
    problem = bound(Chain(classes=LABELS), [tokens(n_inputs)], [["b", "c"]])
    rows, _ = problem.differences(np.arange(1), [[1, 0]])
    last, transitions = (n_inputs - 1) * 4, n_inputs * 4
    stop = transitions + 16 + 4
    np.testing.assert_array_equal(
        rows.sparse().indices, [last + 0, last + 2, transitions + 4, transitions + 6, stop + 0, stop + 2]
    )
    np.testing.assert_array_equal(rows.sparse().values, [-3.0, 3.0, -1.0, 1.0, -1.0, 1.0])


def test_decoders_read_weights_beyond_32_bits():
    n_inputs = 2**29 + 1
    problem = bound(Multiclass(classes=LABELS), tokens(n_inputs), ["b", "c"])
    chain = bound(Chain(classes=LABELS, boundaries=False), [tokens(n_inputs)], [["b", "c"]])
    try:
        w = np.zeros(chain.n_features)
    except MemoryError:
        pytest.skip("no address space for 2³¹ weights")
    w[(n_inputs - 1) * 4 + 3] = 1.0
    w[n_inputs * 4 + 3 * 4] = 5.0
    own = w[: problem.n_features]
    planes = problem.oracle(own, np.arange(2), Scaling("margin", "linear"))
    np.testing.assert_array_equal(planes.outputs, [3, 3])
    np.testing.assert_array_equal(planes.bounds, [3.0, 4.0])
    np.testing.assert_array_equal(chain.best(w, np.arange(1))[0], [3, 0])
