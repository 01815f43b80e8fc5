"""Files of f(x) = ⟨w, x⟩ + b and of kernel expansions: f comes back, and nothing that training could not have left."""

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import structlearn
from structlearn import BinaryPerceptron, BinarySVM, RegularizedRisk
from structlearn.estimators.regularized_risk import (
    L1,
    L2,
    ElasticNet,
    Entropy,
    Hinge,
    Huber,
    Logistic,
    Lp,
    RiskLoss,
    Squared,
    SquaredHinge,
)
from structlearn.kernels import RBF, Linear, Spectrum
from structlearn.persistence import container

X = np.random.default_rng(0).normal(size=(30, 2))
Y = np.where(X[:, 0] > X[:, 1] ** 2, "in", "out")
WORDS, ENDS = ["banana", "bandana", "sugar", "burger"], [0, 0, 1, 1]
CASES = {
    "a sum of kernels": (BinarySVM(0.5 * RBF(2.0) + Linear(), C=50), X, Y),
    "sparse rows": (BinarySVM("rbf", slack="squared", class_weight="balanced"), sp.csr_array(X), Y == "in"),
    "a metric": (BinarySVM(Linear([[2.0, 0.0], [0.0, 1.0]]), fit_intercept=False), X, Y),
    "strings": (BinarySVM(Spectrum(2)), WORDS, ENDS),
    "a pipeline": (make_pipeline(StandardScaler(), BinarySVM("rbf")), X, Y),
    "a line": (BinaryPerceptron(max_iter=3), X, Y),
    "a kernel perceptron": (BinaryPerceptron(RBF(0.5), fit_intercept=False), sp.csr_array(X), Y),
    "a perceptron of strings": (BinaryPerceptron(Spectrum(2)), WORDS, ENDS),
    "ridge regression": (RegularizedRisk(Squared(), L2()), X, X[:, 0]),
    "kernel ridge regression": (RegularizedRisk(Squared(), L2(RBF(0.5))), X, X[:, 0]),
    "robust regression": (RegularizedRisk(Huber(0.5), Lp(1.2)), X, X[:, 0]),
    "sparse logistic regression": (RegularizedRisk(Logistic(), L1(), C=5), sp.csr_array(X), Y),
    "named columns": (RegularizedRisk(SquaredHinge(), ElasticNet(0.3)), pd.DataFrame(X, columns=["a", "b"]), Y),
    "a machine of strings": (RegularizedRisk(Hinge(), L2(Spectrum(2))), WORDS, ENDS),
    "weights of experts": (make_pipeline(StandardScaler(), RegularizedRisk(Squared(), Entropy())), X, X[:, 0]),
}


@pytest.mark.filterwarnings("ignore:the perceptron still made")
@pytest.mark.parametrize("name", CASES)
def test_it_comes_back_as_it_was(name, tmp_path):
    estimator, X, Y = CASES[name]
    structlearn.save(estimator.fit(X, Y), tmp_path / "f.slm")
    loaded = structlearn.load(tmp_path / "f.slm")
    assert repr(loaded) == repr(estimator)
    assert loaded.predict(X).tolist() == estimator.predict(X).tolist()
    assert loaded.score(X, Y) == estimator.score(X, Y)
    assert hasattr(loaded, "decision_function") == hasattr(estimator, "decision_function")
    if hasattr(estimator, "decision_function"):
        np.testing.assert_array_equal(loaded.decision_function(X), estimator.decision_function(X))
    if hasattr(estimator, "predict_proba"):
        np.testing.assert_array_equal(loaded.predict_proba(X), estimator.predict_proba(X))


def test_nothing_is_left_in_a_file_of_a_fit_with_other_options(tmp_path):
    risk = RegularizedRisk(Hinge(), L2(Linear())).fit(X, Y)
    assert {"classes_", "coef_", "support_"} <= set(vars(risk))
    risk.set_params(loss=Squared(), regularizer=L2(RBF(0.5))).fit(X, X[:, 0])
    assert not {"classes_", "coef_"} & set(vars(risk))
    risk.set_params(regularizer=L1()).fit(X, X[:, 0]).save(tmp_path / "f.slm")
    assert not {"classes_", "support_", "dual_coef_"} & set(vars(structlearn.load(tmp_path / "f.slm")))


@pytest.mark.filterwarnings("ignore:stopped at max_iter=0")
def test_functions_without_support_vectors_come_back(tmp_path):
    never_begun = BinarySVM("rbf", max_iter=0).fit(X, Y)
    right_at_once = BinaryPerceptron().fit(X, X[:, 0] > 0, coef_init=[1.0, 0.0])
    for estimator in (never_begun, right_at_once):
        assert estimator.support_vectors_.shape == (0, 2)
        estimator.save(tmp_path / "f.slm")
        scores = structlearn.load(tmp_path / "f.slm").decision_function(X)
        np.testing.assert_array_equal(scores, estimator.decision_function(X))


class Steep(RiskLoss):
    value = derivative = curvature = conjugate = Squared.value


def test_what_is_ones_own_is_not_saved(tmp_path):
    path = tmp_path / "f.slm"
    with pytest.raises(TypeError, match="cannot be saved"):
        BinarySVM(lambda X, Z: X @ Z.T).fit(X, Y).save(path)
    with pytest.raises(TypeError, match="cannot be saved"):
        RegularizedRisk(Squared(), L2()).fit(X, X[:, 0]).set_params(loss=Steep()).save(path)
    for unfitted in (BinarySVM(), BinaryPerceptron(), RegularizedRisk(Squared(), L2())):
        with pytest.raises(ValueError, match="not fitted"):
            unfitted.save(path)


def refused(path, name, value, place="learnt"):
    """What a file says after an edit."""
    metadata, tensors = container.read(path, "structlearn", what="model")
    values = metadata["whole"][place]["mapping"]
    values[:] = [pair for pair in values if pair[0] != name] + [[name, value]]
    container.write(path, "structlearn", metadata, dict(tensors))
    with pytest.raises(ValueError, match=path.name) as error:
        structlearn.load(path)
    return str(error.value)


@pytest.mark.parametrize(
    ("name", "value", "message"),
    [
        ("classes_", ["in"], "classes_ has 1 class;"),
        ("dual_coef_", [[1.0]], "dual_coef_ does not hold"),
        ("dual_coef_", None, "dual_coef_ does not hold"),
        ("intercept_", float("nan"), "intercept_ does not hold"),
        ("intercept_", "low", "intercept_ does not hold"),
        ("support_", [3, 2, 1], "support_ does not number"),
        ("n_features_in_", 3, "n_features_in_ is 3"),
        ("feature_names_in_", ["a", 3], "feature_names_in_ does not hold 2 names"),
        ("n_iter_", -1, "n_iter_ is -1"),
        ("converged_", 2, "converged_ is 2"),
        ("objective_", "low", "objective_ is 'low'"),
        ("history_", "none", "history_ is no list"),
        ("training_", 3, "training_ is 3"),
        ("support_vectors_", [[0.0, "x"]], "support_vectors_"),
        ("predict", 1, "nothing that fitting learns"),
    ],
)
def test_an_edited_file_is_refused(name, value, message, tmp_path):
    BinarySVM("rbf").fit(X, Y).save(tmp_path / "f.slm")
    assert message in refused(tmp_path / "f.slm", name, value)


@pytest.mark.parametrize(
    ("place", "name", "value", "message"),
    [
        ("learnt", "coef_", [1.0, 2.0], "coef_ does not hold 2 finite numbers"),
        ("learnt", "C_", None, "C_ is None"),
        ("options", "loss", {"object": "L2", "options": {"mapping": []}}, "loss of RegularizedRisk is L2()"),
        ("options", "loss", {"object": "ProximalHinge", "options": {"mapping": []}}, "does not know"),
        ("options", "regularizer", {"object": "Lp", "options": {"mapping": [["p", 3]]}}, "p is 3"),
        ("options", "tol", -1.0, "tol is -1.0"),
    ],
)
def test_an_edited_file_of_a_risk_is_refused(place, name, value, message, tmp_path):
    RegularizedRisk(Hinge(), L1()).fit(X, Y).save(tmp_path / "f.slm")
    assert message in refused(tmp_path / "f.slm", name, value, place)


def test_an_edited_file_of_a_perceptron_is_refused(tmp_path):
    BinaryPerceptron(RBF(0.5)).fit(X, Y).save(tmp_path / "f.slm")
    assert "n_mistakes_ is 'few'" in refused(tmp_path / "f.slm", "n_mistakes_", "few")
