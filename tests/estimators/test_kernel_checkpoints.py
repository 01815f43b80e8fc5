"""A fit of functions of a kernel that was stopped goes on from its file."""

import warnings
from copy import deepcopy

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.datasets import make_circles

from structlearn import KernelStructuralSVM
from structlearn.kernels import RBF
from structlearn.models import Chain, Multiclass
from structlearn.solvers import KernelCuts, SampledCuts, SubspacePursuit
from tests.estimators.test_checkpoint import StopAt, sequences
from tests.solvers.test_saved_state import without_clocks

SOLVERS_TO_STOP = [
    KernelCuts(tol=1e-3, max_iter=30),
    SampledCuts(n_samples=30, tol=1e-2, max_iter=30),
    SubspacePursuit(n_basis=12, tol=1e-2, max_iter=30),
    SubspacePursuit(n_basis=12, preimages=False, tol=1e-2, max_iter=30),
]


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("sparse", [False, True])
@pytest.mark.parametrize("solver", SOLVERS_TO_STOP, ids=["exact", "sampled", "preimages", "rows"])
def test_a_stopped_fit_goes_on_exactly_where_it_was(solver, sparse, tmp_path):
    X, Y = sequences()
    X = [sp.csr_array(x) for x in X] if sparse else X
    svm = KernelStructuralSVM(Chain(), RBF(0.4), C=30.0, solver=solver)
    whole = clone(svm).fit(X, Y)
    clone(svm).set_callbacks(StopAt(20)).fit(X, Y, checkpoint=tmp_path / "c")
    continued = clone(svm).fit(X, Y, checkpoint=tmp_path / "c")
    assert continued.n_iter_ == whole.n_iter_ > 20
    for name in ("coefficients_", "w_", "slacks_"):
        np.testing.assert_array_equal(getattr(continued, name), getattr(whole, name))
    assert abs(continued.basis_ - whole.basis_).max() == 0.0
    np.testing.assert_equal(without_clocks(continued.history_), without_clocks(whole.history_))
    assert not list(tmp_path.iterdir())


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_a_checkpoint_is_of_the_same_rows_and_the_same_kernel(tmp_path):
    X, Y = sequences()
    svm = KernelStructuralSVM(Chain(), RBF(0.4), C=30.0, solver=SOLVERS_TO_STOP[2])
    clone(svm).set_callbacks(StopAt(5)).fit(X, Y, checkpoint=tmp_path / "c")
    with pytest.raises(ValueError, match="was written with other data"):
        clone(svm).fit([x + 1e-9 for x in X], Y, checkpoint=tmp_path / "c")
    with pytest.raises(ValueError, match=r"was written with kernel='RBF .*', this run has kernel='RBF"):
        clone(svm).set_params(kernel=RBF(0.5)).fit(X, Y, checkpoint=tmp_path / "c")


def test_saved_cuts_that_cannot_be_are_refused():
    X, y = make_circles(40, noise=0.1, factor=0.5, random_state=0)
    svm = KernelStructuralSVM(
        Multiclass(), RBF(1.0), C=20.0, solver=SubspacePursuit(n_basis=4, max_iter=8), warm_start=True
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        svm.fit(X, y)
    cuts = svm._ended_at[1].cuts
    saved = cuts.save()
    for name, wrong in (
        ("rows", saved["rows"] + len(X)),
        ("ends", saved["ends"][::-1].copy()),
        ("alpha", np.append(saved["alpha"], 0.0)),
        ("offsets", saved["offsets"] * np.nan),
        ("coefficients", saved["coefficients"].astype(np.float32)),
        ("basis", saved["basis"][[0, 0]]),
        ("basis", saved["basis"][:, :1]),
        ("best", [saved["best"][0] + 4, *saved["best"][1:]]),
        ("projected", saved["projected"][:-1]),
    ):
        with pytest.raises(ValueError):
            deepcopy(cuts).restore(saved | {name: wrong})
    cuts.restore(saved)
    np.testing.assert_equal(cuts.save(), saved)
