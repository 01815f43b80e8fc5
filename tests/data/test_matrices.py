"""What SciPy and NumPy take without a word is refused by place and value, wherever matrices enter."""

import datetime

import numpy as np
import pytest
import scipy.sparse as sp

from structlearn import StructuralSVM
from structlearn.data import Sequences
from structlearn.data.matrices import checked_matrix, checked_sparse
from structlearn.data.tokens.sequences import read_sequences
from structlearn.models import Chain, CorrelationClustering, Multiclass, Ranking

PAIRS = [(0, 1), (1, 2)]
GOOD = np.array([[1.0, 0.0, 2.0], [0.0, 3.0, 0.0]])


def broken(form, **arrays):
    """A matrix of a format, with some of its arrays put in the place of what they were."""
    matrix = getattr(sp, f"{form}_array")(GOOD)
    for name, values in arrays.items():
        setattr(matrix, name, np.asarray(values))
    return matrix


def broken_lists(column):
    matrix = sp.lil_array(GOOD)
    matrix.rows[1] = [column]
    return matrix


BROKEN = {
    "a column too far": (broken("csr", indices=[0, 2, 3]), "an entry in column 3, but columns are numbered 0 to 2"),
    "a column far away": (broken("csr", indices=[0, 2, 2**30]), "an entry in column 1073741824"),
    "a column below zero": (broken("csr", indices=[0, -2, 1]), "an entry in column -2"),
    "a row too far": (broken("csc", indices=[0, 1, 2]), "an entry in row 2, but rows are numbered 0 to 1"),
    "a block too far": (broken("bsr", indices=[0, 2, 3]), "an entry in column 3"),
    "a coordinate too far": (broken("coo", coords=(np.array([0, 5, 1]), np.array([0, 2, 1]))), "an entry in row 5"),
    "a coordinate too few": (broken("coo", coords=(np.array([0, 1]), np.array([0, 2]))), "3 values but 2 rows"),
    "a list that leads out": (broken_lists(7), "an entry in column 7"),
    "starts that fall": (broken("csr", indptr=[0, 5, 3]), "indptr falls from 5 to 3 at row 1"),
    "starts from one": (broken("csr", indptr=[1, 2, 3]), "indptr goes from 1 to 3"),
    "starts beyond the end": (broken("csr", indptr=[0, 2, 9]), "indptr goes from 0 to 9, but it has 3 entries"),
    "too few starts": (broken("csr", indptr=[0, 3]), "indptr must be 3 whole numbers"),
    "starts of halves": (broken("csr", indptr=[0.0, 1.5, 3.0]), "indptr must be 3 whole numbers, not float64"),
    "columns of halves": (broken("csr", indices=[0.0, 2.0, 1.0]), "its columns are float64"),
    "too few values": (broken("csr", data=[1.0, 2.0]), "it has 3 indices but 2 values"),
    "too few columns": (broken("csr", indices=[0, 2]), "it has 2 indices but 3 values"),
}


@pytest.mark.parametrize("case", BROKEN)
def test_a_broken_sparse_matrix_is_refused_wherever_it_enters(case):
    matrix, message = BROKEN[case]
    entrances = {
        r"X\[1\]": lambda: StructuralSVM(Chain()).fit([GOOD, matrix], [["a", "b"]] * 2),
        "tokens": lambda: Sequences(matrix, [2]),
        r"X\[0\]": lambda: StructuralSVM(Ranking()).fit([matrix], [[0, 1]]),
        r"X\[0\].features": lambda: StructuralSVM(CorrelationClustering()).fit([(3, matrix, PAIRS)], [[0, 0, 1]]),
        "X": lambda: StructuralSVM(Multiclass()).fit(matrix, ["a", "b"]),
    }
    for where, enter in entrances.items():
        with pytest.raises(ValueError, match=f"^{where} is a broken sparse matrix: .*{message}"):
            enter()


@pytest.mark.parametrize("case", BROKEN)
def test_a_broken_matrix_is_named_among_good_ones(case):
    matrix, message = BROKEN[case]
    with pytest.raises(ValueError, match=rf"^X\[1\] is a broken sparse matrix: .*{message}"):
        read_sequences([sp.csr_array(GOOD), matrix, sp.csr_array(GOOD)])


def test_lists_of_sparse_matrices_are_read_as_dense_ones_are():
    random = np.random.default_rng(0)
    X = [random.integers(0, 2, (length, 4)).astype(float) for length in (3, 0, 1, 5)]
    for kind in (sp.csr_array, sp.csr_matrix):
        found = read_sequences([kind(x) for x in X], empty=True)
        assert found.lengths.tolist() == [3, 0, 1, 5]
        assert np.array_equal(found.tokens.toarray(), np.concatenate(X))
    with pytest.raises(ValueError, match=r"X\[2\] has 3 features a token but X\[0\] has 4"):
        read_sequences([sp.csr_array(X[0]), sp.csr_array(X[3]), sp.csr_array(X[0][:, 1:])])
    X[3][2, 1] = np.nan
    with pytest.raises(ValueError, match=r"X\[1\]\[2, 1\] is nan"):
        read_sequences([sp.csr_array(X[0]), sp.csr_array(X[3])])


def test_prediction_refuses_a_broken_sparse_matrix_too():
    chain = StructuralSVM(Chain()).fit([GOOD], [["a", "b"]])
    classes = StructuralSVM(Multiclass()).fit(GOOD, ["a", "b"])
    matrix, _ = BROKEN["a column far away"]
    for predict in (lambda: chain.predict([matrix]), lambda: classes.predict(matrix), lambda: classes.explain(matrix)):
        with pytest.raises(ValueError, match="an entry in column 1073741824"):
            predict()


@pytest.mark.parametrize("form", ["csr", "csc", "bsr", "coo", "lil", "dok", "dia"])
@pytest.mark.parametrize("kind", ["array", "matrix"])
def test_every_format_of_a_sparse_matrix_is_taken(form, kind):
    found = checked_sparse(getattr(sp, f"{form}_{kind}")(GOOD), "X")
    assert isinstance(found, sp.csr_array)
    assert np.array_equal(found.toarray(), GOOD)


def test_room_beyond_the_last_row_is_no_part_of_a_matrix():
    given = broken("csr", indices=[0, 2, 1, 0], data=[1.0, 2.0, 3.0, np.nan])
    found = checked_sparse(given, "X")
    assert np.array_equal(found.toarray(), GOOD)
    assert len(found.data) == 3
    assert len(given.data) == 4


DAY = np.array([["2024-01-01", "2024-01-02"]], "datetime64[D]")


@pytest.mark.parametrize(
    ("x", "message"),
    [
        (np.array([[1.0 + 2.0j]]), "holds complex128 values"),
        (sp.csr_array(np.array([[1.0 + 2.0j]])), "holds complex128 values"),
        (DAY, "holds datetime64"),
        (DAY - DAY, "holds timedelta64"),
        (np.array([["1.5"]]), "holds <U3 values"),
        (np.array([["1.5"]], object), "holds object values"),
        (np.array([[1j]], object), "is not a matrix of numbers"),
        (np.array([[datetime.date(2024, 1, 1)]], object), "is not a matrix of numbers"),
        (np.ma.masked_array([[1.0, 2.0]], [[True, False]]), "is a masked array"),
        ([[10**400]], "is not a matrix of numbers"),
        ([[1.0, 2.0], [3.0]], "is not a matrix of numbers"),
        (sp.coo_array(np.array([1.0, 2.0])), "has 1 dimensions"),
    ],
)
def test_what_is_no_real_number_is_refused_by_name(x, message):
    with pytest.raises(ValueError, match=rf"X\[3\] {message}"):
        checked_matrix(x, "X[3]")
    good = np.ones((1, np.shape(x)[-1] if hasattr(x, "shape") else 2))
    with pytest.raises(ValueError, match=rf"X\[1\] {message}"):
        StructuralSVM(Chain()).fit([good, x], [["a"], ["b"]])


@pytest.mark.parametrize("x", [DAY, DAY - DAY, DAY.astype(str), np.ma.masked_array([[1.0, 2.0]], [[True, False]])])
def test_a_table_of_no_real_numbers_is_refused_by_name(x):
    with pytest.raises(ValueError, match=r"X (holds|is a masked array)"):
        StructuralSVM(Multiclass()).fit(
            np.ma.concatenate([x, x]) if np.ma.isMA(x) else np.concatenate([x, x]), ["a", "b"]
        )


def test_numbers_of_other_kinds_are_taken():
    for x in ([[True]], np.array([[1]], np.uint8), np.array([[1, 2.5]], object), np.array([[1.0]], np.float16)):
        assert checked_matrix(x, "X").dtype.kind in "biuf"
    assert checked_matrix(np.array([[1.0]], np.longdouble), "X").dtype == np.float64


@pytest.mark.parametrize("lengths", [[1.5, 0.5], [3, -1], [[2]], ["2"]])
def test_lengths_must_be_whole_numbers(lengths):
    with pytest.raises(ValueError, match="lengths must be a list of non-negative integers"):
        Sequences(GOOD, lengths)
