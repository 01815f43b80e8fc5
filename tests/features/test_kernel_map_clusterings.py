"""Kernels of pairs of items: clusterings learn with them as with the features written out."""

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.pipeline import make_pipeline

import structlearn
from structlearn import StructuralSVM
from structlearn.data.item_pairs import ItemPairs
from structlearn.features import KernelMap
from structlearn.kernels import Linear, Polynomial
from structlearn.models import CorrelationClustering

RANDOM = np.random.default_rng(0)
POINTS = [RANDOM.normal(size=(n, 2)) for n in (4, 5, 3)]
Y = [[list(np.flatnonzero(side)) for side in (p[:, 0] > 0, p[:, 0] <= 0) if side.any()] for p in POINTS]


def pairs_of(points):
    i, j = np.triu_indices(len(points), 1)
    return np.column_stack([np.abs(points[i, 0] - points[j, 0]), points[i, 1] * points[j, 1], np.ones(len(i))])


X = [(len(p), pairs_of(p)) for p in POINTS]


def squares(rows):
    i, j = np.triu_indices(rows.shape[1])
    return rows[:, i] * rows[:, j] * np.where(i == j, 1.0, np.sqrt(2.0))


@pytest.mark.parametrize("form", [np.asarray, sp.csr_array], ids=["dense", "sparse"])
@pytest.mark.parametrize(
    ("kernel", "written_out"),
    [(Linear(), np.asarray), (Polynomial(2, constant=0.0), squares)],
    ids=["linear", "squares"],
)
def test_a_kernel_of_pairs_is_the_features_written_out(kernel, written_out, form):
    svm = StructuralSVM(CorrelationClustering("lp"), C=5.0, tol=1e-6)
    by_kernel = make_pipeline(KernelMap(kernel, None), clone(svm)).fit([(n, form(rows)) for n, rows in X], Y)
    explicit = svm.fit([(n, written_out(rows)) for n, rows in X], Y)
    # The relaxation bounds the objective from above, so that nothing but the dual is a number of the problem itself.
    assert by_kernel[-1].history_[-1]["dual"] == pytest.approx(explicit.history_[-1]["dual"], rel=1e-5)


def test_pairs_and_kinds_stay_and_files_hold_the_basis(tmp_path):
    kinds = [ItemPairs(3, rows[:2], [(0, 1), (1, 2)], [1, 1]) for _, rows in X]
    mapped = KernelMap("rbf", 3, random_state=0).fit(X).transform(kinds)
    assert [x.features.shape for x in mapped] == [(2, 3)] * 3
    assert [(x.n_items, x.pairs, x.kinds) for x in mapped] == [(3, [(0, 1), (1, 2)], [1, 1])] * 3
    svm = StructuralSVM(CorrelationClustering(), C=5.0)
    clusterer = make_pipeline(KernelMap("rbf", 4, random_state=0), svm).fit(X, Y)
    structlearn.save(clusterer, tmp_path / "clusterer.slm")
    again = structlearn.load(tmp_path / "clusterer.slm").predict(X)
    assert list(map(list, again)) == list(map(list, clusterer.predict(X)))


def test_pairs_of_another_width_are_refused():
    with pytest.raises(ValueError, match=r"the pairs of X\[1\] have 2 features, but X\[0\] had 3"):
        KernelMap("rbf", 3).fit([X[0], (2, [[1.0, 2.0]])])
    with pytest.raises(ValueError, match=r"the pairs of X\[0\] have 2 features, but training had 3"):
        KernelMap("rbf", 3).fit(X).transform([(2, [[1.0, 2.0]])])
