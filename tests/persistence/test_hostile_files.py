"""A model file is untrusted input: its digest has no key, so that anybody can edit it and make the digest again."""

from operator import attrgetter
from pathlib import Path

import numpy as np
import pytest

import structlearn
from structlearn.persistence import container, model_file
from tests.persistence.version_2_cases import CASES

FOLDER = Path(__file__).parent / "version_2"
NESTED = 1
for _ in range(400):
    NESTED = {"tuple": [NESTED]}


@pytest.fixture
def refusal(tmp_path):
    """Why a file is refused after a change to its header, or to its arrays."""

    def load(name, change):
        metadata, tensors = container.read(FOLDER / f"{name}.slm", "structlearn", what="model")
        tensors = dict(tensors)
        change(metadata, tensors)
        container.write(tmp_path / "edited.slm", "structlearn", metadata, tensors)
        with pytest.raises(ValueError, match=r"edited\.slm") as refused:
            attrgetter("estimator", "reader")(model_file.read(tmp_path / "edited.slm"))
        return str(refused.value)

    return load


def item(encoded, name):
    """The pair [name, value] of an encoded mapping."""
    return next(pair for pair in encoded["mapping"] if pair[0] == name)


def pairs(value, name):
    """All pairs of this name, wherever they stand."""
    if isinstance(value, list) and value[:1] == [name]:
        return [value]
    inside = value if isinstance(value, list) else value.values() if isinstance(value, dict) else []
    return [pair for item in inside for pair in pairs(item, name)]


@pytest.mark.parametrize("name", ["unary", "binary", "starts", "word_tags", "parts", "phrases"])
@pytest.mark.parametrize("number", [-1, 10**6, 2**40, 0.5])
def test_symbols_that_a_grammar_does_not_have_are_refused(refusal, name, number):
    def change(metadata, tensors):
        field = item(metadata["spec"], name)[1]["tuple"]
        if isinstance(field[0], int):
            field[-1] = number
        else:
            field[-1]["tuple"][0] = number

    assert name in refusal("grammar_crf", change)


def test_rules_in_another_order_are_refused(refusal):
    def change(metadata, tensors):
        numbers = item(metadata["spec"], "binary")[1]["tuple"]
        numbers[:] = numbers[3:] + numbers[:3]

    assert "binary is not in the order" in refusal("grammar", change)


@pytest.mark.parametrize("column", [-2, 10**6, 0])
def test_columns_that_a_vocabulary_does_not_have_are_refused(refusal, column):
    def change(metadata, tensors):
        numbering = item(metadata["steps"][0][1]["learnt"], "numbering_")[1]
        columns = item(numbering["options"], "columns")[1][-1]
        columns["array"][0] = column

    assert "do not go on from" in refusal("text_features", change)


@pytest.mark.parametrize("n_columns", [-1, 0, 2**31, 1.5])
def test_numbers_of_hashed_columns_are_checked(refusal, n_columns):
    def change(metadata, tensors):
        numbering = item(metadata["steps"][0][1]["learnt"], "numbering_")[1]
        item(numbering["options"], "n_columns")[1] = n_columns

    assert f"n_columns is {n_columns}" in refusal("text_features_hashed", change)


def test_a_small_file_does_not_become_large(refusal):
    def change(metadata, tensors):
        tensors |= {"few": np.array([3], np.uint32), "ones": np.ones(1)}
        metadata["w"] = {"places": "few", "values": "ones", "shape": [400_000_000]}

    assert "400000000 entries, all but 1 of them zeros" in refusal("multiclass", change)


def test_an_array_is_asked_for_once(refusal):
    def change(metadata, tensors):
        tensors["lines"] = np.full(1000, 10, np.uint8)
        metadata["reader"] = [{"texts": "lines"}] * 1000

    assert "asks for the array 'lines' twice" in refusal("multiclass", change)


def test_texts_in_an_array_take_no_more_than_they_need(refusal):
    wide = {"array": ["x"], "dtype": "<U400000000", "shape": [1]}
    assert "<U400000000" in refusal("multiclass", lambda metadata, tensors: metadata.update(slacks=wide))


@pytest.mark.parametrize("weights", [[0.0] * 5, [np.nan] * 6, [1] * 6, [[0.0] * 6]])
def test_weights_must_be_finite_and_as_many_as_the_model_has(refusal, weights):
    array = np.array(weights)
    encoded = {"array": array.tolist(), "dtype": array.dtype.str, "shape": list(array.shape)}
    assert "w" in refusal("multiclass", lambda metadata, tensors: metadata.update(w=encoded))


@pytest.mark.parametrize("version", [0, -1, True, 1.0])
def test_versions_that_never_were_are_refused(refusal, version):
    said = refusal("multiclass", lambda metadata, tensors: metadata.update(version=version))
    assert "does not state a version" in said


def test_values_within_values_without_end_are_refused(refusal):
    assert "RecursionError" in refusal("multiclass", lambda metadata, tensors: metadata.update(reader=NESTED))


def test_a_step_that_transforms_nothing_is_refused(refusal):
    solver = {"object": "OneSlack", "options": {"mapping": []}}
    assert "'textfeatures' is a OneSlack, which transforms nothing" in refusal(
        "text_features", lambda metadata, tensors: metadata["steps"][0].__setitem__(1, solver)
    )


LEARNT = [
    ("token_transformers", "scale_", {"array": [1.0], "dtype": "<f8", "shape": [1]}),
    ("token_transformers", "knots_", []),
    ("dict_vectorizer", "vocabulary_", {"mapping": [["size", 7]]}),
    ("dict_vectorizer", "feature_names_", [1, 2, 3, 4]),
]


@pytest.mark.parametrize(("file", "name", "value"), LEARNT)
def test_what_transformers_learnt_must_fit_together(refusal, file, name, value):
    def change(metadata, tensors):
        for pair in pairs(metadata["steps"], name):
            pair[1] = value

    assert name in refusal(file, change)


@pytest.mark.parametrize("name", [name for name, case in CASES.items() if case.model is None])
def test_a_model_knows_how_many_weights_it_has_without_data(name):
    estimator = model_file.steps_of(structlearn.load(FOLDER / f"{name}.slm"))[1]
    assert estimator.model_.n_weights(estimator.spec_) == len(estimator.w_)
