"""Corpora in files are evaluated part by part, with what is found of them in memory."""

from itertools import pairwise

import numpy as np
import pytest
import scipy.sparse as sp

from structlearn import ConditionalRandomField, LatentStructuralSVM, StructuralSVM, write_shards
from structlearn.data.labels import read_label_sequences
from structlearn.data.tokens.sequences import Sequences
from structlearn.evaluation import compare, evaluate, pieces_of
from structlearn.features import TextFeatures
from structlearn.models import Chain, LatentChain
from tests.evaluation.test_evaluation import sentences

WORDS, Y = sentences(30, seed=1)
LENGTHS = [len(y) for y in Y]
FEATURES = TextFeatures(["word[-1..0]", "bias"]).fit(WORDS)
X = list(FEATURES.transform(WORDS))


@pytest.fixture
def corpus(tmp_path, monkeypatch):
    monkeypatch.setattr("structlearn.evaluation.scoring.PART", 16)
    return write_shards([(X[:7], Y[:7]), (X[7:8], Y[7:8]), (X[8:], Y[8:])], tmp_path / "corpus")


@pytest.mark.parametrize(
    "learner",
    [
        StructuralSVM(Chain(), C=0.5),
        StructuralSVM(Chain(pair_features=True), C=0.5),
        ConditionalRandomField(Chain(order=2), C=5),
        LatentStructuralSVM(LatentChain(2), C=5, tol=0.5, random_state=0),
    ],
)
def test_every_number_is_that_of_memory(corpus, learner):
    fitted = learner.fit(X[:20], Y[:20])
    found, whole = evaluate(fitted, corpus.X, corpus.Y), evaluate(fitted, X, Y)
    assert found.to_dict() == whole.to_dict()
    assert str(found) == str(whole)
    for name in ("losses", "margins", "right"):
        np.testing.assert_array_equal(getattr(found, name), getattr(whole, name))
    assert found.f1.low < found.f1.high
    assert len(found.predicted) == 0


def test_parts_have_few_tokens_but_at_least_a_sequence(corpus, monkeypatch):
    svm = StructuralSVM(Chain()).fit(X, Y)
    sizes = [int(piece.lengths.sum()) for piece in pieces_of(svm, corpus.X, corpus.Y)]
    assert sum(sizes) == sum(LENGTHS)
    assert max(sizes) <= 16
    assert min(a + b for a, b in pairwise(sizes)) > 16 - max(LENGTHS)
    monkeypatch.setattr("structlearn.evaluation.scoring.PART", 1)
    assert [piece.lengths.tolist() for piece in pieces_of(svm, corpus.X, corpus.Y)] == [[n] for n in LENGTHS]


def test_two_estimators_are_compared(corpus):
    good, poor = StructuralSVM(Chain()).fit(X, Y), StructuralSVM(Chain(), C=0.01).fit(X[:3], Y[:3])
    assert compare(good, poor, corpus.X, corpus.Y).to_dict() == compare(good, poor, X, Y).to_dict()


def test_what_does_not_fit_is_refused_by_name(corpus, tmp_path):
    svm = StructuralSVM(Chain()).fit(X, Y)
    with pytest.raises(ValueError, match="X has 29 sequences but Y has 30"):
        evaluate(svm, corpus.X[:29], corpus.Y)
    with pytest.raises(ValueError, match=r"Y\[7\] has . labels but X\[7\] has . rows"):
        evaluate(svm, corpus.X.take([*range(7), 8, 7, *range(9, 30)]), corpus.Y)
    other = StructuralSVM(Chain()).fit([x[:, :4] for x in X], Y)
    with pytest.raises(ValueError, match=r"of sequences 0 to \d+, X has \d+ features a token but training had 4"):
        evaluate(other, corpus.X, corpus.Y)
    odd = write_shards([(X, Y), (X[:1], [["S-NP", *Y[0][1:]]])], tmp_path / "odd")
    with pytest.raises(ValueError, match=r"of sequences (\d+) to 30, Y\[\d+\]\[0\] is 'S-NP', which is no tag of BIO"):
        evaluate(svm, odd.X, odd.Y, scheme="BIO")


def test_arrays_in_memory_are_cut_as_well():
    svm = StructuralSVM(Chain()).fit(X, Y)
    for tokens in (sp.csr_array(sp.vstack(X)), sp.vstack(X).toarray()):
        found = evaluate(svm, Sequences(tokens, LENGTHS), read_label_sequences(Y))
        assert found.to_dict() == evaluate(svm, X, Y).to_dict()
