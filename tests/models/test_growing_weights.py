"""Weights that come into being when training needs them, of structures other than chains."""

from itertools import pairwise

import numpy as np
import pytest
import scipy.sparse as sp

from structlearn import ConditionalRandomField, StructuralSVM, load
from structlearn.estimators import memory
from structlearn.models import Graph, Multiclass, MultiLabel, Segments, Taxonomy, TypedGraph
from tests.estimators.test_checkpoint import StopAt

N_WORDS = 80


def rows(words):
    matrix = np.zeros((len(words), N_WORDS + 1))
    matrix[np.arange(len(words)), words] = 1.0
    matrix[:, -1] = 1.0
    return sp.csr_array(matrix)


def classes(seed=0):
    """Words with one or two of nine classes, and a feature that all have."""
    random = np.random.default_rng(seed)
    words = random.integers(N_WORDS, size=120)
    return rows(words), ((words * 7 + random.integers(2, size=len(words))) % 9).tolist()


def segmentations(seed=0):
    random = np.random.default_rng(seed)
    X, Y = [], []
    for _ in range(30):
        words = random.integers(N_WORDS, size=random.integers(1, 8))
        labels = ((words * 7 + random.integers(2, size=len(words))) % 6).tolist()
        borders = [0, *[t for t in range(1, len(words)) if random.uniform() < 0.7], len(words)]
        X.append(rows(words))
        Y.append([(labels[b], b, e) for b, e in pairwise(borders)])
    return X, Y


def graphs(seed=0):
    """Rings of words, of which each says much about its label; edges say whether the words are alike."""
    random = np.random.default_rng(seed)
    X, Y = [], []
    for _ in range(30):
        words = random.integers(N_WORDS, size=random.integers(3, 7))
        edges = [(i, (i + 1) % len(words)) for i in range(len(words))]
        alike = np.array([[1.0, float(words[i] % 3 == words[j] % 3)] for i, j in edges])
        X.append((rows(words), edges, alike))
        Y.append(((words * 7 + random.integers(2, size=len(words))) % 4).tolist())
    return X, Y


def typed_graphs(seed=0):
    """The same, and a node for the whole ring, which is joined to all words and has no features of these factors."""
    X, Y = [], []
    for (nodes, edges, alike), y in zip(*graphs(seed), strict=True):
        factors = {("word", "ring"): [(i, 0) for i in range(len(y))], ("word", "word"): edges}
        X.append(({"word": nodes, "ring": np.ones((1, 1))}, factors, {("word", "word"): alike}))
        Y.append({"word": y, "ring": [max(set(y), key=y.count)]})
    return X, Y


def label_sets(seed=0):
    words, labels = classes(seed)
    return words, (np.array(labels)[:, None] % np.arange(2, 6) == 0).astype(int)


CASES = [
    (Graph(pairwise="symmetric"), graphs),
    (TypedGraph({("word", "ring"): "potts", ("word", "word"): "symmetric"}), typed_graphs),
    (MultiLabel(), label_sets),
    (Multiclass(), classes),
    (Multiclass(cost=np.abs(np.subtract.outer(range(9), range(9)))), classes),
    (Segments(), segmentations),
    (Segments(ends=True, loss="hamming"), segmentations),
    (Segments(lengths=False, ends=True), segmentations),
]
NAMES = [repr(model) for model, _ in CASES]


def pair_of(model, data, monkeypatch, **options):
    """The same training with growing weights and with all."""
    fitted = []
    for many in (0, 2**40):
        monkeypatch.setattr(memory, "MANY_WEIGHTS", many)
        fitted.append(StructuralSVM(model, **{"C": 30.0, "tol": 1e-7} | options).fit(*data()))
    return fitted


@pytest.mark.sample(4)
@pytest.mark.parametrize(("model", "data"), CASES, ids=NAMES)
@pytest.mark.parametrize("options", [{}, {"fit_intercept": True}, {"solver": "n_slack"}, {"solver": "one_slack"}])
def test_the_optimum_is_that_of_all_weights(model, data, options, monkeypatch):
    sparse, dense = pair_of(model, data, monkeypatch, **options)
    assert dense.spec_.pairs is None
    assert 0 < len(sparse.spec_.pairs) < len(dense.w_)
    assert sparse.objective_ == pytest.approx(dense.objective_, rel=1e-6)
    for block, other in zip(
        sorted(sparse.model_.named_weights(sparse.spec_, sparse.w_), key=lambda block: block.title),
        sorted(dense.model_.named_weights(dense.spec_, dense.w_), key=lambda block: block.title),
        strict=True,
    ):
        assert block.title == other.title
        np.testing.assert_allclose(block.whole(), other.whole(), atol=2e-3)


@pytest.mark.sample(2)
@pytest.mark.parametrize(("model", "data"), CASES, ids=NAMES)
def test_files_hold_what_is_not_zero(model, data, monkeypatch, tmp_path):
    sparse, dense = pair_of(model, data, monkeypatch)
    sparse.save(tmp_path / "sparse.slm")
    loaded = load(tmp_path / "sparse.slm")
    np.testing.assert_array_equal(loaded.w_, sparse.w_)
    assert (loaded.w_[-len(loaded.spec_.pairs) :] != 0.0).all()
    X, Y = data(seed=1)
    assert loaded.score(X, Y) == sparse.score(X, Y)
    for svm in (loaded, dense):
        assert svm.top_weights(2) is not None
    x = X[[3]] if model.tabular else X[3]
    mine, theirs = loaded.explain(x), dense.explain(x)
    assert type(mine) is type(theirs)
    assert str(mine).split(" against")[0] == str(theirs).split(" against")[0]


@pytest.mark.parametrize(("model", "data"), CASES[::2], ids=NAMES[::2])
def test_a_checkpoint_goes_on_to_the_last_bit(model, data, monkeypatch, tmp_path):
    monkeypatch.setattr(memory, "MANY_WEIGHTS", 0)
    X, Y = data()
    straight = StructuralSVM(model, C=30.0, tol=1e-6).fit(X, Y)
    stopped = StructuralSVM(model, C=30.0, tol=1e-6).set_callbacks(StopAt(3))
    stopped.fit(X, Y, checkpoint=tmp_path / "run")
    assert not stopped.converged_
    resumed = StructuralSVM(model, C=30.0, tol=1e-6).fit(X, Y, checkpoint=tmp_path / "run")
    np.testing.assert_array_equal(resumed.w_, straight.w_)


def test_output_features_and_likelihoods_have_all_weights(monkeypatch):
    monkeypatch.setattr(memory, "MANY_WEIGHTS", 0)
    X, y = classes()
    tree = Taxonomy({label: label // 3 + 100 for label in range(9)} | {100 + k: 200 for k in range(3)})
    assert StructuralSVM(Multiclass(output_features=tree), C=30.0).fit(X, y).spec_.pairs is None
    assert ConditionalRandomField(Multiclass()).fit(X, y).spec_.pairs is None
