"""Loaded pipelines predict without scikit-learn, and are its pipelines for every other purpose."""

import copy
import pickle

import pytest
from sklearn.base import clone, is_classifier
from sklearn.model_selection import cross_val_score
from sklearn.pipeline import Pipeline
from sklearn.utils.validation import check_is_fitted

import structlearn
from structlearn import StructuralSVM
from structlearn.features import TextFeatures
from structlearn.models import Chain
from structlearn.persistence.late_pipeline import LatePipeline
from tests.test_package import modules_after

X = [["the", "dog"], ["a", "cat", "sleeps"], ["the", "cat"], ["a", "dog", "sleeps"]]
Y = [["DET", "NOUN"], ["DET", "NOUN", "VERB"], ["DET", "NOUN"], ["DET", "NOUN", "VERB"]]

USES = {
    "isinstance": lambda made: isinstance(made, Pipeline),
    "length": len,
    "first step": lambda made: type(made[0]),
    "slice": lambda made: made[:-1].transform(X).lengths.tolist(),
    "steps by name": lambda made: sorted(made.named_steps),
    "text": repr,
    "directory": dir,
    "options": lambda made: made.get_params()["tagger__model__order"],
    "changed options": lambda made: made.set_params(words__min_count=2).get_params()["words__min_count"],
    "a changed attribute": lambda made: (setattr(made, "verbose", True), made.get_params()["verbose"])[1],
    "score": lambda made: made.score(X, Y),
    "fit": lambda made: made.fit(X, Y).predict(X),
    "options of predict": lambda made: made.predict(X, allowed=None),
    "clone": lambda made: clone(made).fit(X, Y).predict(X),
    "cross-validation": lambda made: cross_val_score(made, X, Y, cv=2).tolist(),
    "fitted": check_is_fitted,
    "tags": is_classifier,
    "pickle": lambda made: pickle.loads(pickle.dumps(made)).predict(X),
    "copy": lambda made: [copy.copy(made).predict(X), copy.deepcopy(made).predict(X)],
    "HTML": lambda made: "TextFeatures" in made._repr_html_(),
}


@pytest.fixture
def steps():
    words = TextFeatures()
    tagger = StructuralSVM(Chain(), C=10).fit(words.fit_transform(X), Y)
    return [("words", words), ("tagger", tagger)]


@pytest.mark.parametrize("use", USES.values(), ids=USES)
def test_it_is_a_pipeline_as_soon_as_more_than_predictions_are_asked(steps, use):
    made = LatePipeline(steps)
    assert made.predict(X) == Y
    assert type(made) is LatePipeline
    assert use(made) == use(Pipeline(steps))
    assert type(made) is Pipeline
    assert vars(made) == vars(Pipeline(steps)) | {"verbose": made.verbose}
    assert made.predict(X) == Y


def test_what_a_pipeline_does_not_have_is_missed(steps):
    with pytest.raises(AttributeError, match="has no attribute 'forecast'"):
        LatePipeline(steps).forecast(X)


def test_loading_a_pipeline_does_not_wait_for_scikit_learn(steps, tmp_path):
    file, again = str(tmp_path / "tagger.slm"), str(tmp_path / "again.slm")
    structlearn.save(Pipeline(steps), file)
    modules_after(
        f"""
import structlearn, sys
loaded = structlearn.load({file!r})
assert loaded.predict({X!r}) == {Y!r}
structlearn.save(loaded, {again!r})
loaded = structlearn.load({again!r})
assert loaded.predict({X!r}) == {Y!r}
assert "sklearn" not in sys.modules
from sklearn.pipeline import Pipeline
assert isinstance(loaded, Pipeline)
"""
    )
    assert type(structlearn.load(file)) is Pipeline
