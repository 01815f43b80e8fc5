"""Files of binary SVMs: the support vectors come back, and nothing that training could not have left."""

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import structlearn
from structlearn import BinarySVM
from structlearn.kernels import RBF, Linear, Spectrum
from structlearn.persistence import container

X = np.random.default_rng(0).normal(size=(30, 2))
Y = np.where(X[:, 0] > X[:, 1] ** 2, "in", "out")


@pytest.mark.parametrize(
    ("svm", "X", "Y"),
    [
        (BinarySVM(0.5 * RBF(2.0) + Linear(), C=50), X, Y),
        (BinarySVM("rbf", slack="squared", class_weight="balanced"), sp.csr_array(X), Y == "in"),
        (BinarySVM(Linear([[2.0, 0.0], [0.0, 1.0]]), fit_intercept=False), X, Y),
        (BinarySVM(Spectrum(2)), ["banana", "bandana", "sugar", "burger"], [0, 0, 1, 1]),
        (make_pipeline(StandardScaler(), BinarySVM("rbf")), X, Y),
    ],
    ids=str,
)
def test_it_comes_back_as_it_was(svm, X, Y, tmp_path):
    structlearn.save(svm.fit(X, Y), tmp_path / "svm.slm")
    loaded = structlearn.load(tmp_path / "svm.slm")
    np.testing.assert_array_equal(loaded.decision_function(X), svm.decision_function(X))
    assert loaded.predict(X).tolist() == svm.predict(X).tolist()


def test_a_function_is_not_saved(tmp_path):
    with pytest.raises(TypeError, match="cannot be saved"):
        BinarySVM(lambda X, Z: X @ Z.T).fit(X, Y).save(tmp_path / "svm.slm")
    with pytest.raises(ValueError, match="not fitted"):
        BinarySVM().save(tmp_path / "svm.slm")


@pytest.mark.parametrize(
    ("name", "value", "message"),
    [
        ("classes_", ["in"], "classes_ has 1 classes"),
        ("dual_coef_", [[1.0]], "dual_coef_ does not hold"),
        ("dual_coef_", None, "dual_coef_ does not hold"),
        ("intercept_", float("nan"), "intercept_ does not hold"),
        ("support_", [3, 2, 1], "support_ does not number"),
        ("n_features_in_", 3, "n_features_in_ is 3"),
        ("n_iter_", -1, "n_iter_ is -1"),
        ("converged_", 2, "converged_ is 2"),
        ("objective_", "low", "objective_ is 'low'"),
        ("history_", "none", "history_ is no list"),
        ("support_vectors_", [[0.0, "x"]], "support_vectors_"),
        ("predict", 1, "nothing that fitting learns"),
    ],
)
def test_an_edited_file_is_refused(name, value, message, tmp_path):
    path = tmp_path / "svm.slm"
    BinarySVM("rbf").fit(X, Y).save(path)
    metadata, tensors = container.read(path, "structlearn", what="model")
    learnt = metadata["whole"]["learnt"]["mapping"]
    learnt[:] = [pair for pair in learnt if pair[0] != name] + [[name, value]]
    container.write(path, "structlearn", metadata, dict(tensors))
    with pytest.raises(ValueError, match=message):
        structlearn.load(path)
