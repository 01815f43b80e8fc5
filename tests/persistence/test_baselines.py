"""Baselines that only count are saved like all estimators, and their files are checked like all files."""

import numpy as np
import pytest

import structlearn
from structlearn import GibbsMotif, HiddenMarkov
from structlearn.datasets import make_motifs
from structlearn.estimators.generative import Discrete, Gaussian, PiecewiseLinearCounts
from structlearn.persistence import container

WORDS = [["walk", "shop", "clean"], ["clean", "clean", "shop"], ["walk", "walk"]]
WEATHER = [["sun", "rain", "rain"], ["rain", "rain", "rain"], ["sun", "sun"]]
NUMBERS = [np.arange(2.0 * len(y)).reshape(-1, 2) for y in WEATHER]
MIXED = [[("a", 1) if label == "sun" else None for label in y] for y in WEATHER]

MODELS = {
    "discrete": (HiddenMarkov(Discrete()), WORDS, WEATHER),
    "gaussian": (HiddenMarkov(Gaussian(), classes=["rain", "sun", "snow"]), NUMBERS, WEATHER),
    "curves": (HiddenMarkov(PiecewiseLinearCounts(3), smoothing="floor"), NUMBERS, WEATHER),
    "ends": (HiddenMarkov(Discrete(0.5), ends="rain"), WORDS, WEATHER),
    "labels of any type": (HiddenMarkov(Discrete()), WORDS, MIXED),
}


@pytest.mark.parametrize(("model", "X", "Y"), MODELS.values(), ids=MODELS)
def test_a_hidden_markov_model_comes_back_as_it_was(model, X, Y, tmp_path):
    model.fit(X, Y).save(tmp_path / "hmm.slm")
    loaded = structlearn.load(tmp_path / "hmm.slm")
    assert loaded.predict(X) == model.predict(X)
    np.testing.assert_array_equal(loaded.log_likelihood(X), model.log_likelihood(X))
    assert repr(loaded) == repr(model)
    assert loaded.classes_.dtype == model.classes_.dtype


def test_a_sampler_of_motifs_comes_back_as_it_was(tmp_path):
    data = make_motifs(12, width=4, length=12, random_state=0)
    sampler = GibbsMotif(4, 1, both_strands=True, n_sweeps=2, n_init=1, random_state=0).fit(data.X, data.Y)
    sampler.save(tmp_path / "gibbs.slm")
    loaded = structlearn.load(tmp_path / "gibbs.slm")
    np.testing.assert_array_equal(loaded.decision_function(data.X), sampler.decision_function(data.X))
    assert loaded.predict(data.X).tolist() == sampler.predict(data.X).tolist()
    assert loaded.sites_ == sampler.sites_
    assert loaded.predict_latent(data.X) == sampler.predict_latent(data.X)


def test_what_is_not_fitted_or_of_ones_own_is_not_saved(tmp_path):
    class Mine(Gaussian):
        pass

    with pytest.raises(ValueError, match="not fitted"):
        HiddenMarkov(Gaussian()).save(tmp_path / "hmm.slm")
    with pytest.raises(TypeError, match="Mine cannot be saved"):
        HiddenMarkov(Mine()).fit(NUMBERS, WEATHER).save(tmp_path / "hmm.slm")


def edited(path, model, change):
    model.save(path)
    metadata, tensors = container.read(path, "structlearn", what="model")
    change({name: pair for pair in metadata["whole"]["learnt"]["mapping"] for name in pair[:1]}, metadata["whole"])
    container.write(path, "structlearn", metadata, dict(tensors))
    return path


def inner(pairs, name):
    return next(pair for pair in pairs["emission_"][1]["learnt"]["mapping"] if pair[0] == name)


def option(whole, name):
    return next(pair for pair in whole["options"]["mapping"] if pair[0] == name)


def array(values):
    values = np.asarray(values)
    return {"array": values.tolist(), "dtype": values.dtype.str, "shape": list(values.shape)}


@pytest.mark.parametrize(
    ("name", "change", "message"),
    [
        ("discrete", lambda learnt, _: learnt["start_"].__setitem__(1, array([0.9, 0.9])), "start_ sums to 1.8"),
        ("discrete", lambda learnt, _: learnt["start_"].__setitem__(1, array([1.0])), "start_ has shape"),
        ("discrete", lambda learnt, _: learnt["transition_"].__setitem__(1, array(-np.eye(2))), "has the entry -1.0"),
        ("discrete", lambda learnt, _: learnt["classes_"].__setitem__(1, array(["a", "a"])), "a"),
        ("discrete", lambda learnt, _: learnt["classes_"].__setitem__(1, array(["a", "b", "c"])), "2 labels but there"),
        ("discrete", lambda learnt, _: learnt["emission_"].__setitem__(1, 3), "emission_ is a int"),
        ("discrete", lambda learnt, _: learnt["emission_"][1].pop("learnt"), "not fitted"),
        ("discrete", lambda learnt, _: inner(learnt, "n_labels_").__setitem__(1, 10**6), "probabilities_ has shape"),
        ("discrete", lambda learnt, _: inner(learnt, "symbols_").__setitem__(1, {"tuple": ["a"]}), "has shape"),
        ("gaussian", lambda learnt, _: inner(learnt, "n_features_in_").__setitem__(1, 3), "means_ is no array"),
        (
            "gaussian",
            lambda learnt, _: inner(learnt, "variances_").__setitem__(1, array(-np.ones((3, 2)))),
            "variances",
        ),
        ("gaussian", lambda learnt, _: inner(learnt, "means_").__setitem__(1, array(np.ones((3, 2), int))), "no array"),
        ("curves", lambda learnt, _: inner(learnt, "log_frequencies_").__setitem__(1, array(np.ones((2, 6)))), "log"),
        ("curves", lambda learnt, _: inner(learnt, "hats_").__setitem__(1, None), "hats_ is a NoneType"),
        ("ends", lambda _, whole: option(whole, "ends").__setitem__(1, "snow"), "ends is 'snow'"),
        ("discrete", lambda _, whole: whole.pop("learnt"), "not fitted"),
        ("discrete", lambda _, whole: whole.update(object="Discrete", options={"mapping": []}), "."),
    ],
)
def test_files_that_were_edited_are_refused(name, change, message, tmp_path):
    model, X, Y = MODELS[name]
    path = edited(tmp_path / "edited.slm", model.fit(X, Y), change)
    with pytest.raises(ValueError, match=rf"edited\.slm.*{message}"):
        structlearn.load(path)


@pytest.mark.parametrize(
    ("name", "value", "message"),
    [
        ("pattern_", array(np.full((3, 4), 0.25)), "pattern_ is no array of the shape"),
        ("pattern_", array(np.eye(4)), "pattern_ has a share of 0"),
        ("background_", array(np.full((4, 4), 0.5)), "background_.0. sums to 2"),
        ("threshold_", "high", "threshold_ is 'high'"),
        ("classes_", array([0, 1, 2]), "classes_ holds 3 labels"),
        ("sites_", [{"tuple": [-1, "+", 4]}], "the start of a site is -1"),
    ],
)
def test_samplers_that_were_edited_are_refused(name, value, message, tmp_path):
    sampler = GibbsMotif(4, 1, n_sweeps=1, n_init=1, random_state=0).fit(["ACGTA", "TTACG", "GGGGG"], [1, 1, 0])
    path = edited(tmp_path / "edited.slm", sampler, lambda learnt, _: learnt[name].__setitem__(1, value))
    with pytest.raises(ValueError, match=rf"edited\.slm.*{message}"):
        structlearn.load(path)
