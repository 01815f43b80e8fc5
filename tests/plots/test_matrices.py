"""Pictures of labels against labels."""

import numpy as np
import pytest
from sklearn.pipeline import make_pipeline

from structlearn import ConditionalRandomField, HiddenMarkov, StructuralSVM, plots
from structlearn.estimators.generative import Discrete
from structlearn.features import TextFeatures
from structlearn.models import Chain, Multiclass, Segments

WORDS = [["the", "dog", "barks"], ["she", "sees", "the", "big", "dog"]]
TAGS = [["B-NP", "I-NP", "O"], ["B-NP", "O", "B-NP", "I-NP", "I-NP"]]


def numbers(ax):
    return [text.get_text() for text in ax.texts]


def rows(ax):
    return [label.get_text() for label in ax.get_yticklabels()]


def columns(ax):
    return [label.get_text() for label in ax.get_xticklabels()]


def image(ax):
    return ax.images[0].get_array().filled(np.nan)


def test_confusion_writes_counts_by_row_and_column():
    ax = plots.confusion([["a", "a", "b"]], [["a", "b", "b"]])
    assert rows(ax) == columns(ax) == ["a", "b"]
    assert numbers(ax) == ["1", "1", "1"]
    assert image(ax)[0, 0] > 0 > image(ax)[0, 1]
    assert image(ax)[1, 0] == 0


@pytest.mark.parametrize(("normalize", "expected"), [("true", ["50", "50", "100"]), ("predicted", ["100", "50", "50"])])
def test_confusion_as_parts_of_a_row_or_a_column(normalize, expected):
    ax = plots.confusion([["a", "a", "b"]], [["a", "b", "b"]], normalize=normalize)
    assert numbers(ax) == expected


def test_confusion_without_a_mistake_and_with_a_label_that_was_never_true():
    assert numbers(plots.confusion([["a"]], [["a"]])) == ["1"]
    assert numbers(plots.confusion([["a"]], [["b"]], normalize="true")) == ["100"]


def test_many_labels_have_no_numbers():
    labels = [list(range(40))]
    assert numbers(plots.confusion(labels, labels)) == []


def test_confusion_refuses_an_unknown_normalisation():
    with pytest.raises(ValueError, match="normalize is 'all'"):
        plots.confusion([["a"]], [["a"]], normalize="all")


def test_transitions_are_the_scores_with_those_of_the_ends_apart():
    tagger = make_pipeline(TextFeatures(["word[0]"]), StructuralSVM(Chain(balance=2.0), C=10)).fit(WORDS, TAGS)
    ax = plots.transitions(tagger)
    weights = tagger[-1].model_.unpack(tagger[-1].spec_, tagger[-1].w_)
    assert rows(ax) == ["B-NP", "I-NP", "O", "start"]
    assert columns(ax) == ["B-NP", "I-NP", "O", "stop"]
    np.testing.assert_allclose(image(ax)[:3, :3], 2 * weights.transitions)
    np.testing.assert_allclose(image(ax)[3, :3], 2 * weights.start)
    np.testing.assert_allclose(image(ax)[:3, 3], 2 * weights.stop)
    assert len(ax.collections[0].get_offsets()) == 0


def test_forbidden_transitions_are_crossed_out():
    X = [[{"word": word} for word in sentence] for sentence in WORDS]
    crf = ConditionalRandomField(Chain(allowed_transitions="BIO"), C=10).fit(X, TAGS)
    ax = plots.transitions(crf)
    # (across, down): from O to I-NP, and I-NP as the first label.
    assert ax.collections[0].get_offsets().tolist() == [[1, 2], [1, 3]]
    assert np.isnan(image(ax)[2, 1])


def test_without_boundaries_there_are_no_ends():
    X = [[{"word": word} for word in sentence] for sentence in WORDS]
    ax = plots.transitions(StructuralSVM(Chain(boundaries=False), C=10).fit(X, TAGS))
    assert rows(ax) == columns(ax) == ["B-NP", "I-NP", "O"]


def test_transitions_of_segments_are_what_probabilities_say():
    X = [[[1.0, 0.0], [0.0, 1.0], [1.0, 0.0]], [[0.0, 1.0], [1.0, 0.0]]]
    Y = [[("a", 0, 1), ("b", 1, 2), ("a", 2, 3)], [("b", 0, 1), ("a", 1, 2)]]
    crf = ConditionalRandomField(Segments(lengths=False), C=10).fit(X, Y)
    drawn = image(plots.transitions(crf))
    nothing = np.zeros((2, 2))
    steps = [[(before, 0, 1), (after, 1, 2)] for before in "ab" for after in "ab"]
    log_p = crf.predict_log_proba([nothing] * 4, steps).reshape(2, 2)
    np.testing.assert_allclose(drawn - drawn[0, 0], log_p - log_p[0, 0], atol=1e-12)


def test_a_hidden_markov_model_shows_probabilities():
    hmm = HiddenMarkov(Discrete()).fit(WORDS, TAGS)
    ax = plots.transitions(hmm)
    np.testing.assert_allclose(image(ax), np.vstack([hmm.transition_, hmm.start_]))
    assert rows(ax)[-1] == "start"


def test_models_without_transitions_are_refused():
    svm = StructuralSVM(Multiclass()).fit([[0.0], [1.0]], ["a", "b"])
    with pytest.raises(TypeError, match="Multiclass has no transitions"):
        plots.transitions(svm)
