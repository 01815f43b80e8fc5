"""Rows with two classes on which kernel machines are compared: Adult, IJCNN1, Covertype, and a checkerboard."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path
from typing import Literal

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from structlearn.datasets._checks import RandomState, as_generator, check_at_least, check_choice, check_fraction
from structlearn.datasets._files import find_file, reading
from structlearn.io.compression import unpacked

LIBSVM = "https://www.csie.ntu.edu.tw/~cjlin/libsvmtools/datasets/binary.html"
COVERTYPE = "https://archive.ics.uci.edu/dataset/31/covertype"
N_COVERTYPE = 54


@dataclass(frozen=True, eq=False, slots=True)
class BinaryRows:
    """Rows with two classes.

    Attributes
    ----------
    X : (n, d) float array or CSR array
    Y : (n,) int array
        Classes -1 and +1.
    """

    X: "NDArray[np.float64] | csr_array[np.float64]"
    Y: NDArray[np.int64]


@dataclass(frozen=True, eq=False, slots=True)
class ForestCover:
    """Patches of forest.

    Attributes
    ----------
    X : (n, 54) float array
        Ten measurements, then four flags of areas and forty of soils.
    Y : (n,) int array
        The kind of trees, 1 to 7.
    """

    X: NDArray[np.float64]
    Y: NDArray[np.int64]


def fetch_adult(subset: Literal["train", "test"] = "train") -> BinaryRows:
    """Read Adult in LIBSVM's form a9a: whether a person earns more than 50,000 dollars, from 123 flags.

    The files are ``adult/a9a_train.txt.gz`` and ``adult/a9a_test.txt.gz``.

    Parameters
    ----------
    subset : {"train", "test"}
        32,561 or 16,281 rows.

    Returns
    -------
    BinaryRows
        With a CSR array.

    Raises
    ------
    FileNotFoundError
        If the file is neither in ``$STRUCTLEARN_DATA`` nor in the user's cache.
    ValueError
        If the file is damaged or holds something else.
    """
    check_choice("subset", subset, ("train", "test"))
    return _svmlight(find_file("adult", f"a9a_{subset}.txt.gz", LIBSVM), 123)


def fetch_ijcnn1(subset: Literal["train", "test"] = "train") -> BinaryRows:
    """Read task 1 of the IJCNN 2001 competition: misfires of an engine, 22 features, every tenth row positive.

    The files are ``ijcnn1/ijcnn1.trn.bz2`` and ``ijcnn1/ijcnn1.tst.bz2``.

    Parameters
    ----------
    subset : {"train", "test"}
        49,990 or 91,701 rows.

    Returns
    -------
    BinaryRows
        With a CSR array.

    Raises
    ------
    FileNotFoundError
        If the file is neither in ``$STRUCTLEARN_DATA`` nor in the user's cache.
    ValueError
        If the file is damaged or holds something else.
    """
    check_choice("subset", subset, ("train", "test"))
    return _svmlight(find_file("ijcnn1", f"ijcnn1.{'trn' if subset == 'train' else 'tst'}.bz2", LIBSVM), 22)


def fetch_covertype() -> ForestCover:
    """Read a subset of Covertype: 20,000 patches of forest with 7 kinds of trees, 54 features that are not scaled.

    It is not in the natural mix, in which the kinds 1 and 2 are 85 %: here they are 45 %. Results are not comparable
    with those on the whole set.

    The file is ``covertype/covtype.20k.data.gz``.

    Returns
    -------
    ForestCover

    Raises
    ------
    FileNotFoundError
        If the file is neither in ``$STRUCTLEARN_DATA`` nor in the user's cache.
    ValueError
        If the file is damaged or holds something else.
    """
    path = find_file("covertype", "covtype.20k.data.gz", COVERTYPE)
    with _content(path) as content:
        table = np.loadtxt(BytesIO(content), delimiter=",", ndmin=2)
        if table.shape[1] != N_COVERTYPE + 1:
            raise ValueError(f"it has {table.shape[1]} columns instead of {N_COVERTYPE} features and a class")
        if not np.isin(table[:, -1], np.arange(1, 8)).all() or not np.isfinite(table).all():
            raise ValueError("it holds classes other than 1 to 7, or features that are no numbers")
        return ForestCover(np.ascontiguousarray(table[:, :-1]), table[:, -1].astype(np.int64))


def make_checkerboard(
    n_samples: int = 1000, *, n_squares: int = 4, label_noise: float = 0.02, random_state: RandomState = None
) -> BinaryRows:
    """Draw points of a checkerboard, whose squares have the classes -1 and +1 in turn.

    The set Checkers of Yu, *Improved Learning of Structural SVMs* (2011), section 6.4, on the unit square.

    Parameters
    ----------
    n_samples : int
        Number of points, uniform on the unit square.
    n_squares : int
        Squares along each side.
    label_noise : float
        Fraction of the points, in [0, 1], that have the class of the other squares.
    random_state : int, numpy Generator or None
        Seed.

    Returns
    -------
    BinaryRows

    Examples
    --------
    >>> from structlearn.datasets import make_checkerboard
    >>> data = make_checkerboard(1000, random_state=0)
    >>> data.X.shape, sorted(set(data.Y.tolist()))
    ((1000, 2), [-1, 1])
    """
    check_at_least("n_samples", n_samples, 1)
    check_at_least("n_squares", n_squares, 1)
    check_fraction("label_noise", label_noise)
    rng = as_generator(random_state)
    points = rng.uniform(size=(n_samples, 2))
    labels = 2 * (np.floor(n_squares * points).astype(np.int64).sum(axis=1) % 2) - 1
    labels[rng.permutation(n_samples)[: round(n_samples * label_noise)]] *= -1
    return BinaryRows(points, labels)


@contextmanager
def _content(path: Path) -> Iterator[bytes]:
    """What a packed file holds; whatever is wrong with it names the file."""
    with reading(path):
        content = b"".join(unpacked([path.read_bytes()]))
        if not content.strip():
            raise ValueError("it holds no rows")
        yield content


def _svmlight(path: Path, n_features: int) -> BinaryRows:
    from sklearn.datasets import load_svmlight_file

    with _content(path) as content:
        X, Y = load_svmlight_file(BytesIO(content), n_features=n_features, zero_based=False)
        if not np.isin(Y, (-1, 1)).all():
            raise ValueError(f"it has the class {Y[~np.isin(Y, (-1, 1))][0]:g}; expected -1 and +1")
        return BinaryRows(csr_array(X), Y.astype(np.int64))
