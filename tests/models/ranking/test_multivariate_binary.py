"""Losses of the labels of whole sets against all labelings, and the error rate against scikit-learn's SVM."""

from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.metrics import f1_score
from sklearn.svm import LinearSVC

import structlearn
from structlearn import StructuralSVM
from structlearn.models import LinearSpec, MultivariateBinary
from structlearn.waist import Scaling

MARGIN = Scaling("margin", "linear")
SPEC = LinearSpec(classes=(0, 1), n_inputs=3)


def sets(seed, n_sets=3, most=7):
    random = np.random.default_rng(seed)
    sizes = random.integers(1, most + 1, n_sets)
    X = [random.integers(-2, 3, (n, 3)).astype(float) for n in sizes]
    Y = [random.integers(0, 2, n) for n in sizes]
    return X, Y, random.integers(-3, 4, 3) * random.choice([0.1, 0.5])


def losses_of(loss, y, y_hat):
    if loss == "error_rate":
        return np.mean(y != y_hat)
    wrong, right = np.sum(y != y_hat), np.sum(y * y_hat)
    return wrong / (2 * right + wrong) if right + wrong else 0.0


@pytest.mark.parametrize("loss", ["f1", "error_rate"])
@settings(max_examples=80)
@given(seed=st.integers(0, 2**32 - 1))
def test_the_most_violating_labels_agree_with_enumeration(loss, seed):
    X, Y, w = sets(seed)
    problem = MultivariateBinary(loss).bind(SPEC, X, Y)
    planes = problem.oracle(w, np.arange(3), MARGIN)
    for i, (x, y) in enumerate(zip(X, Y, strict=True)):
        labelings = [np.array(labels) for labels in product([0, 1], repeat=len(y))]
        losses = np.array([losses_of(loss, y, labels) for labels in labelings])
        rows = np.array([((2.0 * y - 1) - (2 * labels - 1)) @ x / (2 * len(y)) for labels in labelings])
        assert planes.bounds[i] == pytest.approx((losses - rows @ w).max(), abs=1e-9)
        assert planes.losses[i] == pytest.approx(losses_of(loss, y, planes.outputs[i]))
        assert problem.max_losses()[i] == losses.max()
        assert problem.radii()[i] >= np.linalg.norm(rows, axis=1).max() - 1e-9


@pytest.mark.parametrize("loss", ["f1", "error_rate"])
def test_large_sets_agree_with_all_contingency_tables(loss):
    random = np.random.default_rng(0)
    for seed in range(20):
        x, y = random.normal(size=(60, 3)), (random.random(60) < 0.3).astype(int)
        w = random.normal(size=3) * 10.0 ** random.integers(-2, 2)
        bound = MultivariateBinary(loss).bind(SPEC, [x], [y]).oracle(w, np.array([0]), MARGIN).bounds[0]
        scores = x @ w
        good, bad = (np.concatenate([[0], np.cumsum(np.sort(scores[y == c])[::-1])]) for c in (1, 0))
        found = [
            (((y.sum() - a + b) / (y.sum() + a + b)) if loss == "f1" else (y.sum() - a + b) / 60)
            - (good[-1] - good[a] - bad[b]) / 60
            for a in range(len(good))
            for b in range(len(bad))
        ]
        assert bound == pytest.approx(max(found), abs=1e-9), seed


def test_with_the_error_rate_it_is_the_ordinary_svm():
    random = np.random.default_rng(1)
    x = random.normal(size=(80, 4))
    y = np.where(x @ [1.0, -1.0, 0.5, 0.0] + random.normal(size=80) > 0, 1, -1)
    svm = StructuralSVM(MultivariateBinary("error_rate"), C=40.0, tol=1e-6, max_iter=10**5).fit([x], [y])
    plain = LinearSVC(loss="hinge", C=0.5, fit_intercept=False, tol=1e-9, max_iter=10**6).fit(x, y)
    w = plain.coef_[0]
    objective = 0.5 * w @ w + 0.5 * np.maximum(0, 1 - y * (x @ w)).sum()
    assert svm.objective_ == pytest.approx(objective, rel=1e-5)
    assert np.array_equal(svm.predict([x])[0], plain.predict(x))


def test_f1_is_learnt_where_positives_are_few():
    random = np.random.default_rng(2)
    x = random.normal(size=(400, 3))
    y = (x[:, 0] + 0.8 * random.normal(size=400) > 1.8).astype(int)
    f1 = {
        loss: f1_score(
            y, StructuralSVM(MultivariateBinary(loss), C=C, fit_intercept=True).fit([x], [y]).predict([x])[0]
        )
        for loss, C in (("f1", 100.0), ("error_rate", 100.0))
    }
    assert f1["f1"] > f1["error_rate"] + 0.05


def test_several_sets_with_labels_of_any_kind_are_saved_and_loaded(tmp_path):
    X, _, _ = sets(3, n_sets=6)
    Y = [np.where(x[:, 0] > 0, "keep", "drop") for x in X]
    svm = StructuralSVM(MultivariateBinary(classes=["drop", "keep"]), C=100, fit_intercept=True).fit(X, Y)
    assert svm.score(X, Y) > 0.9
    svm.save(tmp_path / "sets.slm")
    loaded = structlearn.load(tmp_path / "sets.slm")
    assert all(np.array_equal(a, b) for a, b in zip(loaded.predict(X), svm.predict(X), strict=True))


@pytest.mark.parametrize(
    ("model", "Y", "message"),
    [
        (MultivariateBinary(), [[0, 1, 2]], "Y has 3 different labels; MultivariateBinary needs two"),
        (MultivariateBinary(classes=[1]), [[0, 1, 1]], "classes has 1 different labels"),
        (MultivariateBinary(classes=["no", "yes"]), [["no", "yes", "si"]], r"Y\[0\]"),
        (MultivariateBinary(), [[0, 1]], r"Y\[0\] has 2 labels but X\[0\] has 3 rows"),
        (MultivariateBinary(), [[0, 1, 0], [1]], "X has 1 sequences but Y has 2"),
        (MultivariateBinary("auc"), [[0, 1, 0]], "loss is 'auc'; it may be 'f1' or 'error_rate'"),
    ],
)
def test_bad_input_is_named(model, Y, message):
    with pytest.raises(ValueError, match=message):
        StructuralSVM(model).fit([np.eye(3)], Y)
