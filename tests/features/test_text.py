"""Rows of arrays against a construction with a dict of strings for every token."""

import os
import pickle
import subprocess
import sys
from collections import Counter, namedtuple

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline

from structlearn import StructuralSVM
from structlearn.datasets import fetch_conll2000
from structlearn.features import TextFeatures
from structlearn.features.word_attributes import attribute
from structlearn.models import Chain

ATTRIBUTES = {
    "": lambda w: w,
    "lower": lambda w: w.lower(),
    "prefix1": lambda w: w[:1] or None,
    "suffix2": lambda w: w[-2:] if len(w) > 1 else None,
    "has_hyphen": lambda w: "yes" if "-" in w else None,
}
fields = st.tuples(st.sampled_from(["word", "pos"]), st.sampled_from(list(ATTRIBUTES)), st.integers(-3, 3))
templates = st.lists(st.lists(fields, max_size=4), min_size=1, max_size=6)
words = st.one_of(st.sampled_from(["_B-1", "_B+2", "the", "The", "a=b", "-"]), st.text("aA-é", max_size=3))
tokens = st.tuples(words, st.sampled_from(["N", "V", "D"]))
corpora = st.lists(st.lists(tokens, min_size=1, max_size=5), min_size=1, max_size=4)


def written(template):
    return "|".join(f"{c}.{a}[{d}]" if a else f"{c}[{d}]" for c, a, d in template) or "bias"


def value(x, place, column, attribute, boundary):
    if 0 <= place < len(x):
        return ATTRIBUTES[attribute](x[place][("word", "pos").index(column)])
    symbol = f"_B{place}" if place < 0 else f"_B+{place - len(x) + 1}"
    return symbol if boundary else None


def features(x, t, templates, boundary):
    """The names of a token's features, put together as strings."""
    found = set()
    for template in templates:
        values = [value(x, t + d, column, attribute, boundary) for column, attribute, d in template]
        if None not in values:
            found.add(f"{written(template)}={'|'.join(values)}" if template else "bias")
    return found


def all_features(X, templates, boundary):
    return [features(x, t, templates, boundary) for x in X for t in range(len(x))]


def named_rows(rows, names):
    assert rows.tokens.has_canonical_format
    assert (rows.tokens.data == 1).all()
    return [set(names[row]) for row in np.split(rows.tokens.indices, rows.tokens.indptr[1:-1])]


@settings(max_examples=200)
@given(corpora, corpora, templates, st.booleans(), st.integers(1, 3))
def test_rows_are_those_of_names_in_a_dict(X, others, templates, boundary, min_count):
    text = TextFeatures([written(t) for t in templates], ("word", "pos"), boundary=boundary, min_count=min_count)
    rows = text.fit_transform(X)
    names = text.get_feature_names_out()
    expected = all_features(X, templates, boundary)
    counts = Counter(name for found in expected for name in found)
    kept = {name for name, count in counts.items() if count >= min_count}
    assert sorted(names) == sorted(kept)
    assert rows.tokens.shape == (len(expected), len(kept))
    assert rows.lengths.tolist() == [len(x) for x in X]
    assert named_rows(rows, names) == [found & kept for found in expected]
    unseen = text.transform(others)
    assert named_rows(unseen, names) == [found & kept for found in all_features(others, templates, boundary)]


@settings(max_examples=50)
@given(corpora)
def test_fitting_and_transforming_is_fitting_then_transforming(X):
    text = TextFeatures(columns=("word", "pos"))
    once = text.fit_transform(X)
    twice = clone(text).fit(X).transform(X)
    np.testing.assert_array_equal(once.tokens.toarray(), twice.tokens.toarray())
    assert once.tokens.nnz == twice.tokens.nnz


@settings(max_examples=50)
@given(corpora, templates, st.booleans())
def test_hashed_rows_have_the_inner_products_of_named_ones(X, templates, boundary):
    """Which says that equal features share a column and different ones do not, where there is room enough."""
    named = TextFeatures([written(t) for t in templates], ("word", "pos"), boundary=boundary)
    hashed = clone(named).set_params(n_hashed=2**31 - 1)
    a, b = named.fit_transform(X).tokens, hashed.fit_transform(X).tokens
    np.testing.assert_array_equal(hashed.transform(X).tokens.indices, b.indices)
    used, columns = np.unique(b.indices, return_inverse=True)
    b = sp.csr_array((b.data, columns, b.indptr), shape=(b.shape[0], len(used)))
    np.testing.assert_array_equal((b @ b.T).toarray(), (a @ a.T).toarray())


def test_features_that_collide_add_up():
    rows = TextFeatures(["word[0]", "word[-1..0]", "word.suffix2[0]"], n_hashed=1).fit_transform([["a", "bb"]])
    np.testing.assert_array_equal(rows.tokens.toarray(), [[2.0], [3.0]])


def test_hashes_are_the_same_in_every_process_and_on_every_machine():
    program = (
        "from structlearn.features import TextFeatures\n"
        "text = TextFeatures(['bias', 'word[0]', 'word[-1]|word.suffix1[0]'], n_hashed=1000)\n"
        "print(text.fit_transform([['dog', 'Île']]).tokens.indices.tolist())\n"
    )
    for seed in ("1", "2"):
        run = subprocess.run(
            [sys.executable, "-c", program],
            env={**os.environ, "PYTHONHASHSEED": seed},
            capture_output=True,
            text=True,
            check=True,
            timeout=120,
        )
        assert run.stdout.strip() == "[156, 285, 972, 156, 236, 693]"


def test_hashes_spread_evenly():
    X = [[f"word{k}" for k in range(20_000)]]
    counts = np.bincount(TextFeatures(["word[0]", "pairs of word[0..1]"], n_hashed=100).fit_transform(X).tokens.indices)
    assert len(counts) == 100
    assert counts.min() > 300
    assert counts.max() < 500


def test_values_that_look_alike_when_joined_are_different_features():
    text = TextFeatures(["word[0]|word[1]"], boundary=False)
    rows = text.fit_transform([["a|b", "c"], ["a", "b|c"]])
    assert rows.tokens.shape == (4, 2)
    assert text.get_feature_names_out().tolist() == ["word[0]|word[1]=a|b|c"] * 2


def test_training_on_rows_is_training_on_dicts_of_names():
    rng = np.random.default_rng(0)
    lexicon = [("the", "D"), ("The", "D"), ("dog", "N"), ("dogs", "N"), ("ran", "V"), ("old", "J"), ("B-52", "N")]
    X = [[lexicon[k] for k in rng.integers(len(lexicon), size=rng.integers(1, 7))] for _ in range(40)]
    Y = [[rng.choice(["a", "b"]) if rng.random() < 0.2 else pos for _, pos in x] for x in X]
    templates = [
        *([("word", "", d)] for d in (-1, 0, 1)),
        *([("word", attribute, 0)] for attribute in ("lower", "prefix1", "suffix2", "has_hyphen")),
        [("word", "", -1), ("pos", "", 0)],
        [],
    ]

    def dicts(X):
        names = iter(all_features(X, templates, boundary=True))
        return [[dict.fromkeys(next(names), 1.0) for _ in x] for x in X]

    text = TextFeatures([written(t) for t in templates], columns=("word", "pos"))
    options = {"C": 5.0, "tol": 1e-8, "random_state": 0}
    by_rows = StructuralSVM(Chain(), **options).fit(text.fit_transform(X), Y)
    by_names = StructuralSVM(Chain(), **options).fit(dicts(X), Y)
    names, labels = text.get_feature_names_out(), len(by_rows.classes_)
    assert by_names.spec_.vocabulary == tuple(sorted(names))
    n = len(names) * labels
    emissions = by_rows.w_[:n].reshape(-1, labels)[np.argsort(names)]
    np.testing.assert_allclose(emissions, by_names.w_[:n].reshape(-1, labels), atol=1e-3)
    np.testing.assert_allclose(by_rows.w_[n:], by_names.w_[n:], atol=1e-3)
    np.testing.assert_allclose(by_rows.history_[-1]["primal"], by_names.history_[-1]["primal"], rtol=1e-7)
    unseen = [[("old", "J"), ("cats", "N"), ("ran", "V")], [("Dogs", "X")]]
    assert by_rows.predict(text.transform(unseen)) == by_names.predict(dicts(unseen))


def test_it_goes_into_pipelines_and_searches_and_survives_a_pickle():
    X = [["the", "dog", "barks"], ["a", "cat", "sleeps"], ["dogs", "bark"], ["the", "cats", "sleep"]] * 3
    Y = [["D", "N", "V"], ["D", "N", "V"], ["N", "V"], ["D", "N", "V"]] * 3
    tagger = make_pipeline(TextFeatures(), StructuralSVM(Chain(), C=10))
    grid = {"textfeatures__min_count": [1, 2], "textfeatures__templates": [None, ["word[0]"]]}
    search = GridSearchCV(tagger, grid, cv=3, error_score="raise").fit(X, Y)
    assert search.best_score_ == 1.0
    best = search.best_estimator_
    assert (
        pickle.loads(pickle.dumps(best)).predict([["the", "dogs"]]) == best.predict([["the", "dogs"]]) == [["D", "N"]]
    )


@pytest.mark.parametrize("form", [tuple, np.array, lambda x: np.array(x, object)])
def test_sentences_come_as_lists_tuples_or_arrays(form):
    X = [["the", "dog"], ["dogs"]]
    pairs = [[("the", "D"), ("dog", "N")], [("dogs", "N")]]
    for plain, columns in ((X, ("word",)), (pairs, ("word", "pos"))):
        rows = TextFeatures(columns=columns).fit_transform([form(x) for x in plain])
        np.testing.assert_array_equal(
            rows.tokens.toarray(), TextFeatures(columns=columns).fit_transform(plain).tokens.toarray()
        )


@pytest.mark.parametrize(
    ("X", "columns", "message"),
    [
        ([], ("word",), "X is empty"),
        ("the dog", ("word",), "X must be a list of sequences of words, not str"),
        (["the dog"], ("word",), r"X\[0\] is 'the dog'; a sequence is a list of words"),
        ([["a"], ["b", 3]], ("word",), r"X\[1\]\[1\] is 3; expected a string"),
        ([["a"], [None, "b"]], ("word",), r"X\[1\]\[0\] is None; expected a string"),
        ([["a", {}]], ("word",), r"X\[0\]\[1\] is {}; expected a string"),
        ([[("a", "D")]], ("word",), r"X\[0\]\[0\] is \('a', 'D'\), but the columns are named word"),
        ([[("a", "D")], ["b"]], ("word", "pos"), r"X\[1\]\[0\] is 'b', but the columns are named word, pos"),
        ([[("a", "D"), ("b",)]], ("word", "pos"), r"X\[0\]\[1\] is \('b',\), but the columns"),
        ([[("a", "D"), ("b", 2.5)]], ("word", "pos"), r"column 'pos' of X\[0\]\[1\] is 2.5; expected a string"),
    ],
)
def test_what_is_no_sentence_is_refused_by_place_and_value(X, columns, message):
    with pytest.raises(ValueError, match=message):
        TextFeatures(columns=columns).fit(X)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"templates": "word[0]"}, r"templates is 'word\[0\]'; expected a list of strings"),
        ({"templates": []}, r"templates is \[\]"),
        ({"columns": "word"}, "columns is 'word'"),
        ({"templates": ["pos[0]"]}, r"the template 'pos\[0\]' uses 'pos'; the columns are word"),
        ({"templates": ["word.stem[0]"]}, "there is no attribute 'stem'"),
        ({"min_count": 0}, "min_count is 0"),
        ({"n_hashed": 0}, "n_hashed is 0"),
        ({"n_hashed": 2**31}, "n_hashed is 2147483648"),
        ({"n_hashed": 8, "min_count": 2}, "min_count needs a vocabulary"),
    ],
)
def test_options_that_make_no_sense_are_refused(options, message):
    with pytest.raises(ValueError, match=message):
        TextFeatures(**options).fit([["a"]])


def test_hashed_features_have_no_names():
    with pytest.raises(ValueError, match=r"features that are hashed \(n_hashed=8\) have no names"):
        TextFeatures(n_hashed=8).fit([["a"]]).get_feature_names_out()


def test_chunking_features_of_conll2000_are_those_of_dicts():
    try:
        X = fetch_conll2000("test").X[:300]
    except FileNotFoundError as error:
        pytest.skip(str(error))
    text = TextFeatures(
        ["word[-2..2]", "pairs of word[-1..1]", "pos[-2..2]", "pairs of pos[-2..2]", "triples of pos[-2..2]"],
        columns=("word", "pos"),
    )
    rows = text.fit_transform(X)
    singles = [[(column, "", d)] for column in ("word", "pos") for d in range(-2, 3)]
    runs = [
        ("word", -1, 2),
        ("word", 0, 2),
        *(("pos", d, 2) for d in range(-2, 2)),
        *(("pos", d, 3) for d in range(-2, 1)),
    ]
    templates = singles + [[(column, "", d + k) for k in range(length)] for column, d, length in runs]
    assert named_rows(rows, text.get_feature_names_out()) == all_features(X, templates, boundary=True)


def test_tokens_may_be_tuples_with_names():
    token = namedtuple("token", ["word", "pos"])
    pairs = [[("the", "D"), ("dog", "N")], [("barks", "V")]]
    named = [[token(*pair) for pair in x] for x in pairs]
    rows = [TextFeatures(columns=("word", "pos")).fit_transform(x).tokens for x in (pairs, named)]
    assert not (rows[0] != rows[1]).nnz


@pytest.mark.parametrize(("word", "shape", "short"), [("Äß٣٤-é", "Xxdd-x", "Xxd-x"), ("日本", "xx", "x"), ("", "", "")])
def test_shapes_of_all_letters(word, shape, short):
    assert [attribute(name)(word) for name in ("shape", "short_shape")] == [shape, short]
