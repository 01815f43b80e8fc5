"""Corpora in files: what is written is read, training on it is training on the same data in memory."""

import errno
import os
import pickle
import signal
import subprocess
import sys

import numpy as np
import pytest
import scipy.sparse as sp

from structlearn import ConditionalRandomField, StructuralSVM, StructuredPerceptron, open_shards, write_shards
from structlearn.data.labels import read_label_sequences
from structlearn.evaluation import evaluate
from structlearn.features import TextFeatures
from structlearn.models import Chain
from structlearn.shards import writing

random = np.random.default_rng(0)
LENGTHS = random.integers(1, 6, size=30)
X = [sp.csr_array((random.random((n, 5)) < 0.5).astype(float)) for n in LENGTHS]
Y = [random.choice(["b", "c", "a"], size=n).tolist() for n in LENGTHS]
CHUNKS = [(X[:7], Y[:7]), (X[7:8], Y[7:8]), (X[8:], Y[8:])]


@pytest.fixture
def corpus(tmp_path):
    return write_shards(CHUNKS, tmp_path / "corpus")


def test_what_was_written_is_read(corpus):
    assert (len(corpus), corpus.n_examples, corpus.n_tokens, corpus.n_features) == (3, 30, LENGTHS.sum(), 5)
    assert corpus.classes == ("a", "b", "c")
    assert [x.toarray().tolist() for x in corpus.X] == [x.toarray().tolist() for x in X]
    assert np.array_equal(corpus.Y.flat, read_label_sequences(Y).flat)


def test_a_shard_is_a_chunk(corpus):
    for (X_read, Y_read), (X_chunk, Y_chunk) in zip(corpus, CHUNKS, strict=True):
        assert [x.toarray().tolist() for x in X_read] == [x.toarray().tolist() for x in X_chunk]
        assert [[Y_read.classes[code] for code in y] for y in Y_read] == Y_chunk


@pytest.mark.parametrize("which", [[4, 0, 29], slice(3, 9)])
def test_sequences_are_chosen_as_from_memory(corpus, which):
    chosen = corpus.X[which]
    expected = [X[i] for i in np.arange(30)[which]]
    assert [x.toarray().tolist() for x in chosen] == [x.toarray().tolist() for x in expected]


@pytest.mark.parametrize("pair_features", [False, True, [0, 3]])
@pytest.mark.parametrize(
    "estimator",
    [
        StructuralSVM(None, C=10),
        StructuralSVM(None, C=10, solver="n_slack", max_memory="1MB"),
        StructuralSVM(None, C=10, solver="one_slack"),
        ConditionalRandomField(None, C=10),
        StructuredPerceptron(None, max_iter=5),
    ],
)
def test_training_on_files_is_training_in_memory(corpus, estimator, pair_features):
    estimator.model = Chain(pair_features=pair_features)
    weights = [estimator.fit(*data).w_ for data in ((X, Y), (corpus.X, corpus.Y))]
    assert np.array_equal(*weights)


def test_some_of_a_corpus_are_labelled_as_all_are(corpus):
    assert corpus.Y[4:9].listed() == Y[4:9]
    svm = StructuralSVM(Chain(), C=10.0).fit(corpus.X[4:], corpus.Y[4:])
    assert np.array_equal(svm.w_, StructuralSVM(Chain(), C=10.0).fit(X[4:], Y[4:]).w_)


def test_weights_that_come_into_being_are_those_of_memory(corpus, monkeypatch):
    monkeypatch.setattr("structlearn.estimators.memory.MANY_WEIGHTS", 1)
    fitted = [StructuralSVM(Chain(), C=10).fit(*data) for data in ((X, Y), (corpus.X, corpus.Y))]
    assert np.array_equal(fitted[0].w_, fitted[1].w_)
    assert fitted[0].spec_.pairs is not None


@pytest.mark.parametrize(
    ("X", "Y"),
    [
        ([[[1.0, 0.0]]], [["a"]]),
        ([np.zeros((2, 2)), [[1.0, 0.0]]], [["a", "b"], ["a"]]),
        ([np.zeros((2, 0))], [["a", "b"]]),
    ],
    ids=["one token", "tokens without features", "no features at all"],
)
def test_corpora_with_next_to_nothing_in_them(tmp_path, X, Y):
    corpus = write_shards([(X, Y)], tmp_path / "corpus")
    fitted = [StructuralSVM(Chain(), C=10).fit(*data) for data in ((X, Y), (corpus.X, corpus.Y))]
    assert np.array_equal(fitted[0].w_, fitted[1].w_)
    assert fitted[1].predict(corpus.X) == fitted[0].predict(X)


def test_numbers_in_double_precision(tmp_path):
    chunk = ([[[0.1, 2.0]]], [["a"]])
    with pytest.raises(ValueError, match=r"chunk 0: X has the feature 0\.1, .* give dtype='float64'"):
        write_shards([chunk], tmp_path / "short")
    assert write_shards([chunk], tmp_path / "long", dtype="float64").X[0].toarray().tolist() == [[0.1, 2.0]]


def test_features_are_kept_beside_the_corpus(tmp_path):
    words = [["the", "dog"], ["a", "dog", "barks"]]
    labels = [["D", "N"], ["D", "N", "V"]]
    features = TextFeatures(["word[-1..0]"]).fit(words)
    write_shards([(words[:1], labels[:1]), (words[1:], labels[1:])], tmp_path / "corpus", features=features)
    corpus = open_shards(tmp_path / "corpus")
    assert np.array_equal(corpus.features.get_feature_names_out(), features.get_feature_names_out())
    expected = features.transform(words)
    assert [x.toarray().tolist() for x in corpus.X] == [x.toarray().tolist() for x in expected]


def test_an_intercept_would_be_a_copy(corpus):
    with pytest.raises(ValueError, match="fit_intercept=True would copy all tokens"):
        StructuralSVM(Chain(), fit_intercept=True).fit(corpus.X, corpus.Y)


def test_labels_of_any_type_that_files_hold(tmp_path):
    corpus = write_shards([([[[1.0], [1.0]]], [[("a", 1), 7]])], tmp_path / "corpus")
    assert corpus.classes == (("a", 1), 7)


@pytest.mark.parametrize(
    ("chunks", "told"),
    [
        ([], "there are no chunks"),
        ([["a"]], r"chunk 0 is .*; expected a pair \(X, Y\)"),
        ([CHUNKS[0], ([[[1.0]]], [["a"]])], "chunk 1: X has 1 features a token, but chunks before had 5"),
        ([(X[:2], Y[:1])], "chunk 0: X has 2 sequences but Y has 1"),
        ([(X[:1], [[*Y[0], "a"]])], r"chunk 0: Y\[0\] has"),
        ([([[[1.0]]], [[None]])], r"chunk 0: Y\[0\] is None: labels that are known in part"),
        ([([[{"a": 1.0}]], [["a"]])], "chunk 0: X has features by name"),
        ([([[[np.nan]]], [["a"]])], r"chunk 0: X\[0\]\[0, 0\] is nan"),
        ([([np.empty((0, 2))], [[]])], r"chunk 0: X\[0\] is an empty sequence"),
    ],
)
def test_bad_chunks_are_named(tmp_path, chunks, told):
    with pytest.raises(ValueError, match=told):
        write_shards(chunks, tmp_path / "corpus")
    with pytest.raises(ValueError, match="unfinished"):
        open_shards(tmp_path / "corpus")


def contents(folder):
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def failing(*_):
    raise OSError(errno.ENOSPC, "No space left on device")


@pytest.mark.parametrize("at", range(10))
def test_a_full_disk_leaves_whole_shards_and_the_same_call_goes_on(tmp_path, monkeypatch, at):
    folder = tmp_path / "corpus"
    left = iter([True] * at)
    sync = os.fsync
    # Manifests, which are written atomically, are synchronised as well: one at the start, one after each shard.
    monkeypatch.setattr(os, "fsync", lambda file: sync(file) if next(left, False) else failing())
    with pytest.raises(OSError, match="No space left") as raised:
        write_shards(CHUNKS, folder)
    assert raised.value.errno == errno.ENOSPC
    monkeypatch.undo()
    assert not list(folder.glob(".*"))
    begun = writing.read_manifest(folder) if at else None
    for path in folder.glob("*.bin"):
        assert path.stat().st_size == (begun.nbytes(path.stem) if begun.shards else 0)
    again = write_shards(CHUNKS, folder)
    whole = write_shards(CHUNKS, tmp_path / "whole")
    assert contents(again.path) == contents(whole.path)


def test_finished_shards_are_not_made_again(tmp_path):
    folder, made = tmp_path / "corpus", []

    class Features:
        def transform(self, X):
            made.append(len(X))
            return X

    def broken_off():
        yield from CHUNKS[:2]
        raise RuntimeError

    with pytest.raises(RuntimeError):
        write_shards(broken_off(), folder, features=Features())
    write_shards(CHUNKS, folder, features=Features())
    assert made == [7, 1, 22]


def test_only_the_same_call_goes_on(tmp_path):
    folder = tmp_path / "corpus"
    with pytest.raises(ValueError, match="chunk 1"):
        write_shards([CHUNKS[0], (None, None)], folder, source="one")
    with pytest.raises(ValueError, match=r"from the source 'one', not .* from 'two'"):
        write_shards(CHUNKS, folder, source="two")
    with pytest.raises(ValueError, match="chunk 0: it has other labels than shard 0"):
        write_shards(CHUNKS[1:], folder, source="one")
    words = [([["a"]], [["b"]]), (None, None)]
    for n, told in ((10, "chunk 1"), (20, "was begun with other features")):
        with pytest.raises(ValueError, match=told):
            write_shards(words, tmp_path / "words", features=TextFeatures(n_hashed=n).fit([["a"]]))
    write_shards(CHUNKS, folder, source="one")
    with pytest.raises(FileExistsError, match="holds a finished corpus"):
        write_shards(CHUNKS, folder, source="one")


def test_a_folder_with_something_else_stays(tmp_path):
    (tmp_path / "thesis.txt").write_text("all my work")
    with pytest.raises(FileExistsError, match="holds something else"):
        write_shards(CHUNKS, tmp_path)
    assert contents(tmp_path) == {"thesis.txt": b"all my work"}


@pytest.mark.skipif(sys.platform == "win32", reason="no such signal")
def test_a_killed_process_leaves_whole_shards(tmp_path):
    code = """
import pickle, signal, sys
from structlearn.shards import writing
chunks = pickle.load(sys.stdin.buffer)
append, done = writing._Writer._append, []
def last(writer, name, array):
    append(writer, name, array)
    done.append(name)
    if len(done) == 8:
        print("half of a shard", flush=True)
        signal.pause()
writing._Writer._append = last
writing.write_shards(chunks, sys.argv[1])
"""
    folder = tmp_path / "corpus"
    command = [sys.executable, "-c", code, str(folder)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as writer:
        pickle.dump(CHUNKS, writer.stdin)
        writer.stdin.close()
        assert writer.stdout.readline() == b"half of a shard\n"
        with pytest.raises(BlockingIOError, match="corpus is being written by another process"):
            write_shards(CHUNKS, folder)
        writer.kill()
    assert writer.returncode == -signal.SIGKILL
    assert len(writing.read_manifest(folder).shards) == 1
    again = write_shards(CHUNKS, folder)
    assert contents(again.path) == contents(write_shards(CHUNKS, tmp_path / "whole").path)


def test_what_is_in_shards_is_evaluated_by_the_names_of_labels(tmp_path):
    words = TextFeatures(n_hashed=2**10).fit([["any"]])
    chunk = [["the", "dog", "barks"], ["a", "cat"]], [["D", "N", "V"], ["D", "N"]]
    corpus = write_shards([chunk] * 3, tmp_path / "corpus", features=words)
    found = evaluate(StructuralSVM(Chain(), C=10).fit(corpus.X, corpus.Y), corpus.X, corpus.Y)
    assert (found.accuracy.estimate, found.loss.estimate) == (1.0, 0.0)
