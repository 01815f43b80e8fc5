"""OCR letters, train fold 0 (626 words), test folds 1-9, C = 62.6: the optimum is known, SVM^hmm gives 21.97 %."""

import os

import numpy as np
import pytest

from structlearn import StructuralSVM
from structlearn.datasets import fetch_letters
from structlearn.models import Chain
from structlearn.solvers import BlockCoordinate, NSlack, OneSlack

pytestmark = pytest.mark.skipif(
    not os.environ.get("STRUCTLEARN_DATA"), reason="STRUCTLEARN_DATA is not set: no OCR letters here"
)


@pytest.fixture(scope="module")
def letters():
    data = fetch_letters()
    train, test = np.flatnonzero(data.folds == 0), np.flatnonzero(data.folds != 0)
    return tuple([part[i] for i in which] for which in (train, test) for part in (data.X, data.Y))


@pytest.mark.parametrize(
    "solver",
    [
        BlockCoordinate(),
        pytest.param(NSlack(), marks=pytest.mark.slow),
        pytest.param(NSlack(update_on="example"), marks=pytest.mark.slow),
        pytest.param(OneSlack(), marks=pytest.mark.slow),
        pytest.param(OneSlack(cache=0), marks=pytest.mark.slow),
        pytest.param(NSlack(update_on="addition"), marks=pytest.mark.slow),
    ],
)
def test_all_dual_solvers_certify_the_known_optimum(letters, solver):
    X, Y, X_test, Y_test = letters
    svm = StructuralSVM(Chain(boundaries=False), C=62.6, solver=solver).fit(X, Y)
    assert svm.duality_gap_ <= 1e-3
    assert svm.history_[-1]["dual"] <= 203.143
    assert svm.objective_ >= 203.089
    assert svm.objective_ <= 203.143 * (1 + 1e-3)
    assert 0.215 <= 1 - svm.score(X_test, Y_test) <= 0.225


def test_boundaries_lower_the_error(letters):
    X, Y, X_test, Y_test = letters
    svm = StructuralSVM(Chain(), C=62.6).fit(X, Y)
    assert 0.208 <= 1 - svm.score(X_test, Y_test) <= 0.216
