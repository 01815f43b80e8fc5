import errno
from contextlib import suppress
from pathlib import Path

import numpy as np
import pytest
from safetensors.numpy import save_file
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, MinMaxScaler, StandardScaler

import structlearn
from structlearn import ConditionalRandomField, LatentStructuralSVM, StructuralSVM, StructuredPerceptron
from structlearn.features import PiecewiseLinear, TextFeatures, TokenTransformer
from structlearn.models import Chain, ClassKernel, Motif, Multiclass, Taxonomy
from structlearn.persistence import atomic, container, model_file
from structlearn.solvers import OneSlack

#: At which places a file is damaged: everywhere, or in a quick run at one in seven.
EVERY = pytest.mark.parametrize("every", [pytest.param(1, marks=pytest.mark.slow), 7])


@pytest.mark.parametrize(
    "labels", [["a", "b"], [1, 2], [True, False], [("x", 1), None], [1.5, "text"], [b"bytes", frozenset({1})]]
)
def test_labels_keep_their_types(path, labels):
    svm = StructuralSVM(Chain(classes=labels), C=10).fit([np.eye(2)], [labels])
    svm.save(path)
    loaded = structlearn.load(path)
    assert loaded.predict([np.eye(2)]) == svm.predict([np.eye(2)]) == [labels]
    assert [type(label) for label in loaded.predict([np.eye(2)])[0]] == [type(label) for label in labels]


def test_everything_that_was_fitted_comes_back(path):
    svm = StructuralSVM(Multiclass(cost=[[0, 2], [1, 0]]), C=3, solver=OneSlack(cache=3), fit_intercept=True)
    svm.fit([[0.0], [1.0]], ["a", "b"]).save(path)
    loaded = structlearn.load(path)
    np.testing.assert_array_equal(loaded.w_, svm.w_)
    np.testing.assert_array_equal(loaded.slacks_, svm.slacks_)
    assert loaded.history_ == svm.history_
    assert loaded.spec_ == svm.spec_
    assert loaded.solver == OneSlack(cache=3)
    assert loaded.duality_gap_ == svm.duality_gap_
    assert loaded.n_features_in_ == 1
    assert loaded.score([[0.0], [1.0]], ["a", "b"]) == 1.0
    loaded.fit([[0.0], [1.0]], ["a", "b"])


def test_a_vocabulary_of_feature_names_comes_back(path):
    X = [[{"word": "the"}, {"word": "dog", "length": 3}]]
    StructuredPerceptron(Chain()).fit(X, [["DET", "NOUN"]]).save(path)
    assert structlearn.load(path).predict(X) == [["DET", "NOUN"]]


@pytest.mark.parametrize(
    "features",
    [
        Taxonomy({"cat": "pet", "dog": "pet", "cow": ["farm", "pet"], "pet": "all", "farm": "all"}, {"pet": 0.5}),
        ClassKernel(np.eye(3) + 1.0, ["cat", "cow", "dog"]),
    ],
)
def test_output_features_come_back(path, features):
    labels = ["cat", "dog", "cow"]
    svm = StructuralSVM(Multiclass(output_features=features), C=10).fit(np.eye(3), labels)
    svm.save(path)
    np.testing.assert_array_equal(structlearn.load(path).decision_function(np.eye(3)), svm.decision_function(np.eye(3)))


@EVERY
def test_a_file_cut_short_anywhere_is_reported(path, every):
    StructuralSVM(Multiclass()).fit(np.eye(2), ["a", "b"]).save(path)
    whole = path.read_bytes()
    for length in range(0, len(whole), every):
        path.write_bytes(whole[:length])
        with pytest.raises(ValueError, match=r"damaged|cut short"):
            structlearn.load(path)


@EVERY
def test_any_flipped_bit_is_reported(path, every):
    StructuralSVM(Multiclass()).fit(np.eye(2), ["a", "b"]).save(path)
    whole = path.read_bytes()
    for place in range(0, len(whole), every):
        damaged = bytearray(whole)
        damaged[place] ^= 1 << place % 8
        path.write_bytes(damaged)
        with pytest.raises(ValueError, match=r"damaged|no structlearn model|not a structlearn model"):
            structlearn.load(path)


@pytest.mark.parametrize("place", ["spec", "params", "fitted", "steps", "model_params", "estimator", "reader", "model"])
@pytest.mark.parametrize("value", [None, 17, "x", [], [[]], {}, {"tensor": "w"}, {"object": "os", "options": {}}])
def test_whatever_a_forger_writes_is_refused_or_harmless(path, place, value):
    StructuralSVM(Multiclass()).fit(np.eye(2), ["a", "b"]).save(path)
    edit_header(path, lambda metadata: metadata.update({place: value}))
    with suppress(ValueError):
        loaded = structlearn.load(path)
        with suppress(ValueError, TypeError, AttributeError):
            loaded.predict(np.eye(2))


def test_weights_that_do_not_fit_are_refused(path):
    svm = StructuralSVM(Multiclass()).fit(np.eye(2), ["a", "b"])
    svm.w_ = svm.w_[:1]
    svm.save(path)
    with pytest.raises(ValueError, match="w_ has 1 entries"):
        structlearn.load(path).predict(np.eye(2))


@pytest.mark.parametrize("options", [{}, {"n_hashed": 100}, {"templates": ["word[-1]|word[0]", "bias"]}])
def test_pipelines_come_back(path, options):
    X, Y = [["the", "dog\u2028s"], ["a", "cat", "sleeps"]], [["D", "N"], ["D", "N", "V"]]
    pipeline = make_pipeline(TextFeatures(**options), ConditionalRandomField(Chain(), C=10)).fit(X, Y)
    structlearn.save(pipeline, path)
    loaded = structlearn.load(path)
    assert loaded.predict(X) == pipeline.predict(X)
    np.testing.assert_array_equal(loaded[-1].w_, pipeline[-1].w_)
    assert (loaded[0].transform(X).tokens != pipeline[0].transform(X).tokens).nnz == 0
    if "n_hashed" not in options:
        assert loaded[0].get_feature_names_out().tolist() == pipeline[0].get_feature_names_out().tolist()


def test_pipelines_of_numbers_come_back(path):
    X, Y = [np.arange(6.0).reshape(3, 2), np.ones((1, 2))], [["a", "b", "a"], ["b"]]
    curves = TokenTransformer(PiecewiseLinear(n_knots=3))
    pipeline = make_pipeline(TokenTransformer(StandardScaler()), curves, StructuralSVM(Chain(), C=10)).fit(X, Y)
    structlearn.save(pipeline, path)
    assert structlearn.load(path).predict(X) == pipeline.predict(X)


def test_a_step_without_anything_learnt_is_given_again(path):
    pipeline = make_pipeline(FunctionTransformer(np.sin), StructuralSVM(Multiclass())).fit(np.eye(2), ["a", "b"])
    structlearn.save(pipeline, path)
    loaded = structlearn.load(path, transformers={"functiontransformer": pipeline[0]})
    assert loaded.predict(np.eye(2)).tolist() == ["a", "b"]
    with pytest.raises(ValueError, match="a FunctionTransformer of your own as 'functiontransformer'"):
        structlearn.load(path)


def test_a_step_that_no_file_can_hold_is_named(path):
    pipeline = make_pipeline(MinMaxScaler(), StructuralSVM(Multiclass())).fit(np.eye(2), ["a", "b"])
    with pytest.raises(TypeError, match="the step 'minmaxscaler'"):
        structlearn.save(pipeline, path)
    with pytest.raises(TypeError, match="StandardScaler is no estimator"):
        structlearn.save(make_pipeline(StandardScaler()), path)


@pytest.mark.parametrize("name", ["chain", "taxonomy"])
def test_files_of_version_1_load(name):
    loaded = structlearn.load(Path(__file__).parent / "version_1" / f"{name}.slm")
    if name == "chain":
        assert loaded.predict([[{"word": "a"}, {"word": "dog", "length": 3}]]) == [["DET", "NOUN"]]
        assert loaded.predict_marginals([[{"word": "a"}]])[0].shape == (1, 3)
    else:
        assert loaded.predict([[0.0, 1.0], [1.0, 0.0]]).tolist() == ["cat", "dog"]
        assert loaded.solver == OneSlack(cache=3)


def test_a_full_disk_leaves_the_old_file(path, monkeypatch):
    svm = StructuralSVM(Multiclass()).fit(np.eye(2), ["a", "b"])
    svm.save(path)
    before = path.read_bytes()

    def full(descriptor):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(atomic.os, "fsync", full)
    with pytest.raises(OSError, match=r"model\.slm was not written: No space left on device"):
        svm.save(path)
    assert path.read_bytes() == before
    assert [file.name for file in path.parent.iterdir()] == ["model.slm"]


def test_a_file_says_what_it_was_trained_on(path):
    StructuralSVM(Chain()).fit([np.eye(2), np.eye(2)], [["a", "b"], ["b", "b"]]).save(path)
    training = model_file.read(path).estimator.training_
    assert (training["examples"], training["tokens"], training["library"]) == (2, 4, structlearn.__version__)
    assert training["seconds"] > 0


def test_foreign_files_are_reported(path):
    path.write_text("not a model")
    with pytest.raises(ValueError, match="no structlearn model"):
        structlearn.load(path)
    save_file({"w": np.zeros(2)}, path)
    with pytest.raises(ValueError, match="not a structlearn model"):
        structlearn.load(path)
    with pytest.raises(FileNotFoundError, match=r"nowhere\.slm"):
        structlearn.load(path.with_name("nowhere.slm"))


def edit_header(path, change):
    """What a careful forger would do: the digest is made again."""
    metadata, tensors = container.read(path, "structlearn", what="model")
    change(metadata)
    container.write(path, "structlearn", metadata, tensors)


def test_a_newer_format_and_unknown_names_are_refused(path):
    svm = StructuralSVM(Multiclass()).fit(np.eye(2), ["a", "b"])
    svm.save(path)
    edit_header(path, lambda metadata: metadata.update(version=99))
    with pytest.raises(ValueError, match="format version 99"):
        structlearn.load(path)
    svm.save(path)
    edit_header(path, lambda metadata: metadata.update(model="os"))
    with pytest.raises(ValueError, match="'os'"):
        structlearn.load(path)
    svm.save(path)
    edit_header(path, lambda metadata: metadata.update(estimator="load"))
    with pytest.raises(ValueError, match="'load'"):
        structlearn.load(path)


def test_an_object_that_cannot_be_saved_leaves_the_old_file(path):
    svm = StructuralSVM(Multiclass()).fit(np.eye(2), ["a", "b"])
    svm.save(path)
    before = path.read_bytes()
    strange = StructuralSVM(Multiclass()).fit(np.eye(2), [3j, "b"])
    with pytest.raises(TypeError, match="3j"):
        strange.save(path)
    assert path.read_bytes() == before
    assert [file.name for file in path.parent.iterdir()] == ["model.slm"]


def test_folders_are_told_from_files(path):
    svm = StructuralSVM(Multiclass()).fit(np.eye(2), ["a", "b"])
    with pytest.raises(FileNotFoundError, match="no folder"):
        svm.save(path.parent / "missing" / "model.slm")
    with pytest.raises(IsADirectoryError, match="is a folder"):
        svm.save(path.parent)
    with pytest.raises(FileNotFoundError, match="no file"):
        structlearn.load(path.parent)


def test_saving_before_fitting_is_refused(path):
    with pytest.raises(ValueError, match="not fitted"):
        StructuralSVM(Chain()).save(path)


def test_a_class_kernel_keeps_the_factor_that_its_weights_are_for(path, monkeypatch):
    kernel = ClassKernel(np.eye(3) + 1.0, ["cat", "cow", "dog"])
    X, y = np.eye(3), ["cat", "cow", "dog"]
    svm = StructuralSVM(Multiclass(output_features=kernel), C=10).fit(X, y)
    svm.save(path)
    values, vectors = np.linalg.eigh(kernel.similarity)
    monkeypatch.setattr(np.linalg, "eigh", lambda matrix: (values, vectors * [1.0, -1.0, -1.0]))
    np.testing.assert_array_equal(structlearn.load(path).decision_function(X), svm.decision_function(X))
    metadata, tensors = container.read(path, "structlearn", what="model")
    options = dict(metadata["model_params"]["mapping"])
    learnt = dict(options["output_features"]["learnt"]["mapping"])["factor_"]
    learnt["array"][0][0] += 1.0
    container.write(path, "structlearn", metadata, dict(tensors))
    with pytest.raises(ValueError, match="factor_ of ClassKernel is no factor of its similarity"):
        structlearn.load(path)


def test_a_motif_has_the_same_attributes_fitted_and_loaded(path):
    svm = LatentStructuralSVM(Motif(2), C=1).fit(["ACGT", "TTTT"], [1, 0])
    svm.save(path)
    np.testing.assert_array_equal(svm.classes_, structlearn.load(path).classes_)
