"""Kernel maps in model files, and what hostile files say of them."""

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.pipeline import make_pipeline

import structlearn
from structlearn import StructuralSVM
from structlearn.features import KernelMap
from structlearn.kernels import (
    RBF,
    FunctionKernel,
    Linear,
    Spectrum,
)
from structlearn.models import Chain, Multiclass
from structlearn.persistence import container

RANDOM = np.random.default_rng(0)
X, NEW = RANDOM.standard_normal((40, 3)), RANDOM.standard_normal((11, 3))
BASES = ("uniform", "k_means", "leverage", "cholesky")
ALL = (*BASES, "random_features")


@pytest.mark.parametrize("method", ALL)
@pytest.mark.parametrize("form", [np.asarray, sp.csr_array], ids=["dense", "sparse"])
def test_pipelines_with_kernels_come_back_from_files(tmp_path, method, form):
    labels = np.where(X[:, 0] * X[:, 1] > 0, "same", "other")
    kernel = RBF(0.5) if method == "random_features" else 0.5 * RBF(0.5) + (1.0 + Linear(np.eye(3))) ** 2
    mapped = KernelMap(kernel, 30, method, random_state=0)
    pipeline = make_pipeline(mapped, StructuralSVM(Multiclass())).fit(form(X), labels)
    structlearn.save(pipeline, tmp_path / "svm.slm")
    loaded = structlearn.load(tmp_path / "svm.slm")
    np.testing.assert_array_equal(loaded[0].transform(form(NEW)), pipeline[0].transform(form(NEW)))
    assert loaded.predict(form(NEW)).tolist() == pipeline.predict(form(NEW)).tolist()


def test_chains_and_strings_come_back_from_files(tmp_path):
    for mapped, rows, labels, model in [
        (KernelMap("rbf", 5), [X[:2], X[2:4]], [["a", "b"], ["b", "a"]], Chain()),
        (KernelMap(Spectrum(1).normalised(), 5), ["ab", "ba", "cc"], ["x", "x", "y"], Multiclass()),
    ]:
        pipeline = make_pipeline(mapped, StructuralSVM(model)).fit(rows, labels)
        structlearn.save(pipeline, tmp_path / "svm.slm")
        found, expected = (one.predict(rows) for one in (structlearn.load(tmp_path / "svm.slm"), pipeline))
        assert list(found) == list(expected)


def test_functions_of_users_cannot_be_saved(tmp_path):
    pipeline = make_pipeline(KernelMap(lambda X, Z: X @ Z.T), StructuralSVM(Multiclass())).fit(X, X[:, 0] > 0)
    with pytest.raises(TypeError, match=r"the step 'kernelmap', <function .* cannot be saved"):
        structlearn.save(pipeline, tmp_path / "svm.slm")


def encoded(array):
    array = np.asarray(array)
    return {"array": array.tolist(), "dtype": array.dtype.str, "shape": list(array.shape)}


def sparse(*parts, shape=(2, 3)):
    return {"rows": [encoded(part) for part in parts], "shape": list(shape)}


LINEAR = {"object": "Linear", "options": {"mapping": [["A", None]]}}


@pytest.mark.parametrize(
    ("method", "place", "name", "value", "message"),
    [
        ("uniform", "learnt", "factor_", encoded(np.eye(3)), "basis_ has 2 examples but factor_ has 3 rows"),
        ("uniform", "learnt", "factor_", encoded(np.ones((2, 2))), "factor_ is not lower triangular"),
        ("uniform", "learnt", "factor_", encoded(np.zeros((2, 2))), "factor_ is not lower triangular"),
        ("uniform", "learnt", "factor_", encoded([[1.0, 0.0]]), "factor_ does not hold"),
        ("uniform", "learnt", "factor_", encoded([["a"]]), "factor_ does not hold"),
        ("uniform", "learnt", "factor_", {"mapping": []}, "factor_ does not hold"),
        ("uniform", "learnt", "basis_", encoded([[np.nan]]), r"basis_\[0, 0\] is nan"),
        ("uniform", "learnt", "basis_", encoded(np.ones((2, 2))), r"basis_ has shape \(2, 2\) but n_features_in_ is 3"),
        ("uniform", "learnt", "basis_", ["a", "b"], "basis_"),
        (
            "uniform",
            "learnt",
            "basis_",
            {"rows": [encoded([1.0]), encoded([9]), encoded([0, 1, 1])], "shape": [2, 3]},
            "9",
        ),
        ("uniform", "learnt", "basis_", {"rows": [encoded([1.0]), encoded([0])], "shape": [2, 3]}, "unknown kind"),
        ("uniform", "learnt", "basis_", {"rows": [encoded([1.0])] * 3, "shape": [-2, 3]}, "shape"),
        ("uniform", "learnt", "n_features_in_", -1, "n_features_in_ is -1"),
        ("uniform", "options", "kernel", 3, "kernel of KernelMap is 3"),
        ("uniform", "options", "kernel", "gauss", "kernel is 'gauss'"),
        ("uniform", "options", "method", "magic", "method of KernelMap is 'magic'"),
        ("uniform", "options", "method", "random_features", "offsets_"),
        ("random_features", "learnt", "offsets_", encoded([1.0]), "frequencies_ does not hold"),
        ("random_features", "learnt", "frequencies_", encoded(np.ones((2, 2))), r"frequencies_ has shape \(2, 2\)"),
        ("random_features", "learnt", "kernel_", LINEAR, "random features are there for RBF and Laplacian only"),
        ("uniform", "learnt", "kernel_", "rbf", "kernel_ is 'rbf', which is no kernel"),
        ("uniform", "learnt", "vocabulary_", {"tuple": ["a", "b"]}, "vocabulary_ has 2 names, not 3"),
        ("uniform", "learnt", "vocabulary_", "abc", "vocabulary_"),
    ],
)
def test_what_files_say_was_learnt_must_fit_together(tmp_path, method, place, name, value, message):
    path = tmp_path / "svm.slm"
    pipeline = make_pipeline(KernelMap("rbf", 2, method), StructuralSVM(Multiclass())).fit(X, X[:, 0] > 0)
    structlearn.save(pipeline, path)
    metadata, tensors = container.read(path, "structlearn", what="model")
    step = metadata["steps"][0][1]
    next(pair for pair in step[place]["mapping"] if pair[0] == name)[1] = value
    container.write(path, "structlearn", metadata, dict(tensors))
    with pytest.raises(ValueError, match=rf"svm\.slm.*({message})"):
        structlearn.load(path)[0]


def test_kernels_in_files_are_checked(tmp_path):
    path = tmp_path / "svm.slm"
    structlearn.save(make_pipeline(KernelMap(RBF() + 1.0, 2), StructuralSVM(Multiclass())).fit(X, X[:, 0] > 0), path)
    for value, message in [
        ({"object": "RBF", "options": {"mapping": [["gamma", -1.0]]}}, "gamma is -1.0"),
        ({"object": "OneSlack", "options": {"mapping": []}}, "left of Sum is"),
        ({"object": "FunctionKernel", "options": {"mapping": []}}, "an object 'FunctionKernel', which"),
    ]:
        metadata, tensors = container.read(path, "structlearn", what="model")
        kernel = next(pair for pair in metadata["steps"][0][1]["options"]["mapping"] if pair[0] == "kernel")[1]
        next(pair for pair in kernel["options"]["mapping"] if pair[0] == "left")[1] = value
        container.write(tmp_path / "edited.slm", "structlearn", metadata, dict(tensors))
        with pytest.raises(ValueError, match=rf"edited\.slm.*({message})"):
            structlearn.load(tmp_path / "edited.slm")[0]


def test_a_kernel_of_ones_own_is_not_saved_and_the_way_out_is_named(tmp_path):
    X, Y = np.eye(2), ["a", "b"]
    own = make_pipeline(KernelMap(FunctionKernel(lambda X, Z: X @ Z.T)), StructuralSVM(Multiclass())).fit(X, Y)
    with pytest.raises(TypeError, match="cannot be saved; a file holds no code: pickle the whole"):
        structlearn.save(own, tmp_path / "own.slm")
