"""Checkpoints of other runs, of other data, and damaged or made-up ones are refused."""

import json

import numpy as np
import pytest

from structlearn import ConditionalRandomField, LatentStructuralSVM
from structlearn.models import Chain, LatentChain
from structlearn.persistence import container
from structlearn.persistence.checkpoint import KIND
from structlearn.solvers import BlockCoordinate
from tests.estimators.test_checkpoint import StopAt, sequences, svm


@pytest.fixture
def left(tmp_path):
    """A checkpoint that a stopped fit left."""
    X, Y = sequences()
    file = tmp_path / "tagger.ckpt"
    svm().set_callbacks(StopAt(2)).fit(X, Y, checkpoint=file)
    return file


REFUSED = {
    "another C": ({"C": 1.0}, "with C=30.0, this run has C=1.0"),
    "another solver": ({"solver": "n_slack"}, "with solver='BlockCoordinate', this run has solver='NSlack'"),
    "a solver's option": (
        {"tol": None, "solver": BlockCoordinate(tol=1e-6, idle_passes=9)},
        "with tol=1e-06, this run has tol=None",
    ),
    "another seed": ({"random_state": 7}, r"with solver__random_state=0, this run has solver__random_state=\d+"),
    "another model": (
        {"model": Chain(boundaries=False)},
        "with model__boundaries=True, this run has model__bound.*False",
    ),
    "another formulation": ({"slack": "squared"}, "with slack='linear', this run has slack='squared'"),
    "another patience": ({"n_iter_no_change": 9}, "with n_iter_no_change=5, this run has n_iter_no_change=9"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_a_checkpoint_of_other_parameters_is_refused(case, left):
    options, difference = REFUSED[case]
    X, Y = sequences()
    with pytest.raises(ValueError, match=f"tagger.ckpt was written {difference}; delete it or give another path"):
        svm(**options).fit(X, Y, checkpoint=left)
    assert left.exists()


def test_parameters_that_change_nothing_may_differ(left):
    X, Y = sequences()
    continued = svm(C=30, n_jobs=2, warm_start=True).fit(X, Y, checkpoint=left)
    np.testing.assert_array_equal(continued.w_, svm().fit(X, Y).w_)


def test_a_checkpoint_of_another_estimator_is_refused(left):
    X, Y = sequences()
    with pytest.raises(ValueError, match="with estimator='StructuralSVM', this run has estimator='Condit"):
        ConditionalRandomField(Chain()).fit(X, Y, checkpoint=left)


def test_a_checkpoint_of_other_data_is_refused(left):
    X, Y = sequences()
    with pytest.raises(ValueError, match="was written with 30 examples, this run has 29; delete it"):
        svm().fit(X[1:], Y[1:], checkpoint=left)
    wider = [np.hstack([x, x]) for x in X]
    with pytest.raises(ValueError, match=r"was written with \d+ features, this run has \d+; delete it"):
        svm().fit(wider, Y, checkpoint=left)
    moved = [x + (0.0 if i else 1e-9) for i, x in enumerate(X)]
    with pytest.raises(ValueError, match="was written with other data; delete it or give another path"):
        svm().fit(moved, Y, checkpoint=left)
    with pytest.raises(ValueError, match="was written with other sample weights"):
        svm().fit(X, Y, np.linspace(0.5, 1.5, 30), checkpoint=left)
    with pytest.raises(ValueError, match="was written with other validation data"):
        svm().fit(X, Y, validation=(X, Y), checkpoint=left)
    renamed = [[f"label {label}" for label in y] for y in Y]
    with pytest.raises(ValueError, match="was written with other labels or features"):
        svm().fit(X, renamed, checkpoint=left)


def rewritten(file, change):
    """The file with something else in it, and a digest that says so."""
    metadata, tensors = container.read(file, KIND, what="checkpoint")
    tensors = dict(tensors)
    metadata = change(metadata, tensors) or metadata
    container.write(file, KIND, metadata, tensors)


def test_a_checkpoint_of_another_version_is_refused(left):
    X, Y = sequences()
    rewritten(left, lambda metadata, tensors: metadata | {"library": "9.9.9"})
    with pytest.raises(ValueError, match=r"was written by structlearn 9.9.9, this is .*; delete it or give"):
        svm().fit(X, Y, checkpoint=left)


def test_a_damaged_checkpoint_is_refused(left):
    X, Y = sequences()
    whole = left.read_bytes()
    random = np.random.default_rng(0)
    for place in [0, 7, 8, 20, *random.integers(len(whole), size=30), len(whole) - 1]:
        data = bytearray(whole)
        data[place] ^= 1 << int(random.integers(8))
        left.write_bytes(data)
        with pytest.raises(ValueError, match=r"damaged|cut short|not a structlearn checkpoint"):
            svm().fit(X, Y, checkpoint=left)
    for length in (0, 5, 100, len(whole) // 2, len(whole) - 1):
        left.write_bytes(whole[:length])
        with pytest.raises(ValueError, match=r"damaged|cut short"):
            svm().fit(X, Y, checkpoint=left)


def test_a_model_file_is_no_checkpoint(tmp_path):
    X, Y = sequences()
    svm().fit(X, Y).save(tmp_path / "model.slm")
    with pytest.raises(ValueError, match="not a structlearn checkpoint"):
        svm().fit(X, Y, checkpoint=tmp_path / "model.slm")


def shortened(metadata, tensors):
    for name in tensors:
        tensors[name] = tensors[name][:-1]


def emptied(metadata, tensors):
    tensors.clear()


def other_numbers(metadata, tensors):
    for name in tensors:
        tensors[name] = tensors[name].astype(np.float32)


def without(*keys):
    def change(metadata, tensors):
        text = json.dumps(metadata["contents"])
        for key in keys:
            text = text.replace(f'"{key}"', '"nothing"')
        return metadata | {"contents": json.loads(text)}

    return change


@pytest.mark.parametrize(
    "change",
    [
        shortened,
        emptied,
        other_numbers,
        without("history"),
        without("w"),
        without("iterate"),
        without("PCG64"),
        without("state"),
        without("primal"),
        lambda metadata, tensors: metadata | {"contents": None},
        lambda metadata, tensors: metadata | {"contents": {"object": "Chain", "options": {"mapping": []}}},
        lambda metadata, tensors: metadata | {"identity": {"mapping": []}},
    ],
    ids=[
        "shortened",
        "emptied",
        "floats",
        "history",
        "w",
        "iterate",
        "random",
        "state",
        "primal",
        "none",
        "object",
        "id",
    ],
)
def test_a_checkpoint_that_somebody_made_up_is_refused(change, left):
    X, Y = sequences()
    rewritten(left, change)
    with pytest.raises(ValueError, match=r"tagger.ckpt is damaged"):
        svm().fit(X, Y, checkpoint=left)


def floats_of(tensors):
    return [name for name, tensor in tensors.items() if tensor.dtype.kind == "f" and tensor.size]


def test_numbers_that_are_not_finite_are_refused(left):
    X, Y = sequences()
    whole = left.read_bytes()
    for name in floats_of(container.read(left, KIND, what="checkpoint")[1]):
        left.write_bytes(whole)
        rewritten(left, lambda _, tensors, name=name: tensors.update({name: np.full_like(tensors[name], np.nan)}))
        with pytest.raises(ValueError, match=r"tagger.ckpt is damaged .*nan"):
            svm().fit(X, Y, checkpoint=left)


def in_contents(name, value):
    """The file with another value wherever its contents have this name."""

    def replaced(encoded):
        if isinstance(encoded, list):
            return [name, value] if encoded[:1] == [name] else [replaced(item) for item in encoded]
        return {key: replaced(item) for key, item in encoded.items()} if isinstance(encoded, dict) else encoded

    return lambda metadata, tensors: metadata | {"contents": replaced(metadata["contents"])}


@pytest.mark.parametrize(("name", "message"), [("least", "losses nan"), ("loss", "losses"), ("judged", "not finite")])
def test_early_stopping_takes_up_finite_numbers_only(tmp_path, name, message):
    X, Y = sequences()
    file = tmp_path / "tagger.ckpt"
    svm().set_callbacks(StopAt(2)).fit(X, Y, validation=(X, Y), checkpoint=file)
    weights = svm().set_callbacks(StopAt(0)).fit(X, Y).w_
    bad = {"array": [float("nan")] * len(weights), "dtype": "<f8", "shape": [len(weights)]}
    rewritten(file, in_contents(name, bad if name == "judged" else {"float": "nan"}))
    with pytest.raises(ValueError, match=f"tagger.ckpt is damaged .*{message}"):
        svm().fit(X, Y, validation=(X, Y), checkpoint=file)


@pytest.mark.parametrize("state", [-1, 6, 10**6])
def test_latent_parts_that_the_data_cannot_have_are_refused(tmp_path, state):
    X, Y = sequences(5)
    file = tmp_path / "tagger.ckpt"
    learner = LatentStructuralSVM(LatentChain(2), C=10, random_state=0)
    learner.set_callbacks(StopAt(1)).fit(X, Y, checkpoint=file)
    wrong = [{"array": [state] * len(y), "dtype": "<i4", "shape": [len(y)]} for y in Y]
    rewritten(file, in_contents("completions", wrong))
    with pytest.raises(ValueError, match=r"tagger.ckpt is damaged"):
        LatentStructuralSVM(LatentChain(2), C=10, random_state=0).fit(X, Y, checkpoint=file)
