"""Sequences without tokens, which streams of sentences have: predicted as nothing, refused in training."""

import numpy as np
import pytest
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from structlearn import ConditionalRandomField, HiddenMarkov, LatentStructuralSVM, StructuralSVM
from structlearn.data.tokens.sequences import Sequences
from structlearn.estimators.generative import Discrete, Gaussian
from structlearn.evaluation import evaluate
from structlearn.features import TextFeatures, TokenTransformer
from structlearn.models import Chain, DependencyTree, LatentChain, Segments
from tests.losses.test_own_losses import LabelF1, Uneven, mark_labels

WORDS = [["the", "dog"], ["a", "cat", "sleeps"]]
TAGS = [["DET", "NOUN"], ["DET", "NOUN", "VERB"]]
X = [np.eye(5)[:2], np.eye(5)[2:]]
BETWEEN = [X[0], np.empty((0, 5)), X[1], []]
TAGS_BETWEEN = [TAGS[0], [], TAGS[1], []]


@pytest.mark.parametrize("model", [Chain(), Chain(order=2), Chain(ends="DET"), Chain(allowed_transitions="BIO")])
def test_a_sentence_without_words_has_no_labels(model):
    tags = [["O", "B-N"], ["O", "B-N", "I-N"]] if model.allowed_transitions else TAGS
    tagger = StructuralSVM(model, C=10).fit(X, tags)
    first, second = tagger.predict(X)
    assert tagger.predict(BETWEEN) == [first, [], second, []]
    assert tagger.predict([[], []]) == [[], []]
    assert tagger.predict(BETWEEN, allowed=[None, [], None, None])[1] == []


def test_all_that_a_random_field_tells_is_there_for_empty_sentences_too():
    crf = ConditionalRandomField(Chain()).fit(X, TAGS)
    assert [len(nodes) for nodes in crf.predict_marginals(BETWEEN)] == [2, 0, 3, 0]
    assert crf.predict_proba(BETWEEN)[1].shape == (0, 3)
    assert crf.k_best(BETWEEN, 2)[1] == [([], 0.0)]
    assert crf.k_best(BETWEEN, 2)[2] == crf.k_best(X, 2)[1]
    expected = crf.predict_log_proba(X, TAGS)
    np.testing.assert_array_equal(crf.predict_log_proba(BETWEEN, TAGS_BETWEEN), [expected[0], 0.0, expected[1], 0.0])
    assert crf.entropy(BETWEEN)[[1, 3]].tolist() == [0.0, 0.0]
    assert crf.sample(BETWEEN, 2, random_state=0)[3] == [[], []]
    assert crf.predict(BETWEEN, posterior=True)[1::2] == [[], []]


def test_segments_and_latent_states_of_nothing_are_none():
    segments = StructuralSVM(Segments()).fit(X, [[("A", 0, 2)], [("B", 0, 1), ("A", 1, 3)]])
    assert segments.predict(BETWEEN)[1::2] == [[], []]
    latent = LatentStructuralSVM(LatentChain(2)).fit(X, TAGS)
    assert latent.predict(BETWEEN)[1::2] == latent.predict_latent(BETWEEN)[1::2] == [[], []]
    assert latent.complete(BETWEEN, TAGS_BETWEEN)[1] == []


@pytest.mark.parametrize("options", [{}, {"order": 2}, {"projective": False, "n_hashed": 50}])
def test_the_tree_of_nothing_is_nothing(options):
    trees = [[(2, "det"), (0, "root")], [(2, "det"), (3, "nsubj"), (0, "root")]]
    model = DependencyTree(columns=["word"], **options)
    crf = ConditionalRandomField(model).fit(WORDS, trees)
    between, with_trees = [WORDS[0], [], WORDS[1], []], [trees[0], [], trees[1], []]
    assert crf.predict(between)[1::2] == crf.predict(between, posterior=True)[1::2] == [[], []]
    assert crf.predict_marginals(between)[1].shape == (1, 1, 3)
    assert crf.k_best(between, 2)[1] == [([], 0.0)]
    assert crf.predict_log_proba(between, with_trees)[[1, 3]].tolist() == [0.0, 0.0]
    assert crf.entropy(between)[1] == 0.0
    assert crf.sample(between, 2, random_state=0)[1] == [[], []]
    assert crf.score(between, with_trees) == crf.score(WORDS, trees)
    assert evaluate(crf, between, with_trees).n_examples == 4
    with pytest.raises(ValueError, match=r"X\[1\] is a sentence without tokens"):
        StructuralSVM(model).fit(between, with_trees)


@pytest.mark.parametrize("ends", [None, "DET"])
def test_a_hidden_markov_model_says_the_same(ends):
    tagger = HiddenMarkov(Discrete(), ends=ends).fit(WORDS * 2, TAGS * 2)
    between = [WORDS[0], [], WORDS[1]]
    assert tagger.predict(between)[1] == []
    assert tagger.k_best(between, 2)[1] == [([], 0.0)]
    assert [len(nodes) for nodes in tagger.predict_marginals(between)] == [2, 0, 3]
    assert tagger.log_likelihood(between)[1] == 0.0
    assert tagger.log_proba(between, [TAGS[0], [], TAGS[1]])[1] == 0.0
    assert tagger.score(between, [TAGS[0], [], TAGS[1]]) == tagger.score(WORDS, TAGS)
    numbers = HiddenMarkov(Gaussian()).fit(X, TAGS)
    assert numbers.predict([[], X[0]]) == [[], numbers.predict(X)[0]]


@pytest.mark.parametrize(
    ("features", "sentences"), [(TextFeatures(), WORDS), (TokenTransformer(StandardScaler()), X)], ids=["words", "rows"]
)
def test_they_go_through_pipelines(features, sentences):
    tagger = make_pipeline(features, StructuralSVM(Chain(), C=10)).fit(sentences, TAGS)
    assert tagger.predict([sentences[0], [], sentences[1]]) == [TAGS[0], [], TAGS[1]]
    assert tagger.predict([[]]) == [[]]


def test_they_neither_help_nor_hurt_a_score():
    tagger = StructuralSVM(Chain(), C=1e-6).fit(X, TAGS)
    assert tagger.score(BETWEEN, TAGS_BETWEEN) == tagger.score(X, TAGS)
    assert tagger.score([[]], [[]]) == 1.0
    found, alone = evaluate(tagger, BETWEEN, TAGS_BETWEEN), evaluate(tagger, X, TAGS)
    assert found.predicted[1] == []
    assert found.accuracy.estimate == alone.accuracy.estimate
    assert found.n_examples == 4
    with pytest.raises(ValueError, match=r"Y\[1\] has 1 labels but X\[1\] has 0 rows"):
        tagger.score(BETWEEN, [TAGS[0], ["DET"], TAGS[1], []])


@pytest.mark.parametrize("loss", ["zero_one", LabelF1(), Uneven(mark_labels)], ids=["zero_one", "counted", "additive"])
def test_no_loss_charges_for_them(loss):
    tagger = StructuralSVM(Chain(loss=loss), rescaling="margin" if isinstance(loss, Uneven) else "slack")
    tagger.fit(X, [[0, 1], [0, 1, 2]])
    other, other_between = [[0, 0], [0, 1, 2]], [[0, 0], [], [0, 1, 2], []]
    assert tagger.score(X, other) < 1.0
    assert tagger.score(BETWEEN, other_between) == tagger.score(X, other)
    assert tagger.score([[]], [[]]) == 1.0
    assert evaluate(tagger, BETWEEN, other_between).n_examples == 4


@pytest.mark.parametrize("learner", [StructuralSVM(Chain()), StructuralSVM(Segments()), HiddenMarkov(Gaussian())])
@pytest.mark.parametrize("inputs", [BETWEEN, Sequences(np.eye(5), [2, 0, 3])], ids=["list", "Sequences"])
def test_training_refuses_them_by_number(learner, inputs):
    with pytest.raises(ValueError, match=r"X\[1\] is an empty sequence"):
        learner.fit(inputs, TAGS_BETWEEN)
