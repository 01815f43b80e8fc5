"""Features of tokens side by side: templates, numbers, embeddings, dicts."""

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, StandardScaler

import structlearn
from structlearn import StructuralSVM
from structlearn.estimators.inspection import feature_names
from structlearn.features import TextFeatures, TokenTransformer, TokenUnion
from structlearn.models import Chain
from structlearn.persistence import container

X = [["the", "dog"], ["a", "cat", "sleeps"], ["dogs"]]
Y = [["DET", "NOUN"], ["DET", "NOUN", "VERB"], ["NOUN"]]


def vectors(sentences):
    return [np.array([[len(word), word.count("a")] for word in x], np.float32).reshape(-1, 2) for x in sentences]


def dicts(sentences):
    return [[{"last": word[-1]} for word in x] for x in sentences]


def union(**parts):
    return TokenUnion([("words", TextFeatures(["word[0]"])), *((k, FunctionTransformer(f)) for k, f in parts.items())])


def test_the_columns_of_all_transformers_stand_side_by_side():
    joined = union(vectors=vectors, ends=dicts).fit_transform(X)
    words = TextFeatures(["word[0]"]).fit_transform(X)
    assert sp.issparse(joined.tokens)
    expected = np.hstack([words.tokens.toarray(), np.concatenate(vectors(X))])
    np.testing.assert_array_equal(joined.tokens.toarray()[:, :-5], expected)
    assert joined.lengths.tolist() == [2, 3, 1]


def test_what_is_new_has_the_columns_of_training():
    fitted = union(vectors=vectors, ends=dicts).fit(X)
    np.testing.assert_array_equal(fitted.transform(X).tokens.toarray(), fitted.fit_transform(X).tokens.toarray())
    new = fitted.transform([["dog", "ox"], [], ["the"]])
    assert new.lengths.tolist() == [2, 0, 1]
    assert new.tokens.shape[1] == len(fitted.get_feature_names_out())
    assert fitted.transform([[], []]).lengths.tolist() == [0, 0]


def test_dense_parts_alone_stay_dense():
    dense = TokenUnion([("a", FunctionTransformer(vectors)), ("b", FunctionTransformer(vectors))]).fit_transform(X)
    assert isinstance(dense.tokens, np.ndarray)


def test_names_begin_with_that_of_the_transformer():
    names = union(vectors=vectors, ends=dicts).fit(X).get_feature_names_out().tolist()
    assert names[0] == "words__word[0]=the"
    assert names[-7:] == ["vectors__0", "vectors__1", *(f"ends__last={letter}" for letter in "aegst")]
    hashed = TokenUnion([("words", TextFeatures(n_hashed=4)), ("v", FunctionTransformer(vectors))]).fit(X)
    assert hashed.get_feature_names_out().tolist() == [*(f"words__{k}" for k in range(4)), "v__0", "v__1"]


def test_a_pipeline_with_it_learns_is_searched_and_has_names():
    tagger = make_pipeline(union(vectors=vectors), StructuralSVM(Chain(), C=10))
    assert tagger.fit(X, Y).predict(X) == Y
    assert feature_names(tagger)[-1] == "vectors__1"
    search = GridSearchCV(tagger, {"tokenunion__words__min_count": [1, 2]}, cv=3).fit(X * 3, Y * 3)
    assert search.best_params_["tokenunion__words__min_count"] in (1, 2)
    assert clone(tagger).get_params()["tokenunion__words__min_count"] == 1


def test_it_is_saved_with_the_pipeline_and_functions_are_given_again(tmp_path):
    scaled = make_pipeline(FunctionTransformer(vectors), TokenTransformer(StandardScaler()))
    parts = [("words", TextFeatures()), ("scaled", scaled), ("vectors", FunctionTransformer(vectors))]
    tagger = make_pipeline(TokenUnion(parts), StructuralSVM(Chain(), C=10)).fit(X, Y)
    structlearn.save(tagger, tmp_path / "t.slm")
    own = {"scaled__functiontransformer": FunctionTransformer(vectors), "vectors": FunctionTransformer(vectors)}
    loaded = structlearn.load(tmp_path / "t.slm", transformers=own)
    assert loaded.predict(X) == Y
    assert loaded[0].get_feature_names_out().tolist() == tagger[0].get_feature_names_out().tolist()
    with pytest.raises(ValueError, match=r"of your own as 'scaled__functiontransformer'.*transformers="):
        structlearn.load(tmp_path / "t.slm")
    with pytest.raises(ValueError, match="a FunctionTransformer as 'vectors', but the given one is a TextFeatures"):
        structlearn.load(tmp_path / "t.slm", transformers=own | {"vectors": TextFeatures()})
    with pytest.raises(ValueError, match="has no place for the transformer 'typo'"):
        structlearn.load(tmp_path / "t.slm", transformers=own | {"typo": TextFeatures()})


def test_a_union_of_this_librarys_transformers_needs_nothing_to_be_loaded(tmp_path):
    parts = [("near", TextFeatures(["word[0]"])), ("far", TextFeatures(["word[-2..2]"], min_count=2))]
    tagger = make_pipeline(TokenUnion(parts), StructuralSVM(Chain(), C=10)).fit(X, Y)
    structlearn.save(tagger, tmp_path / "t.slm")
    loaded = structlearn.load(tmp_path / "t.slm")
    assert loaded.predict(X) == Y
    assert loaded[0].get_params()["far__min_count"] == 2


@pytest.mark.parametrize(
    ("part", "message"),
    [
        (lambda X: vectors(X)[:-1], "words gives 3 sequences but mine 2"),
        (lambda X: [row[:1] for row in vectors(X)], r"of X\[0\], words gives 2 tokens but mine 1"),
        (lambda X: [np.full((len(x), 1), np.nan) for x in X], r"mine: X\[0\]\[0, 0\] is nan"),
        (lambda X: X, r"mine: X\[0\]\[0\] is 'the'; a token is a dict"),
    ],
)
def test_what_does_not_fit_is_named(part, message):
    with pytest.raises(ValueError, match=message):
        union(mine=part).fit(X)


def test_other_widths_than_in_training_are_refused():
    width = 2
    fitted = union(mine=lambda X: [np.ones((len(x), width)) for x in X]).fit(X)
    width = 3
    with pytest.raises(ValueError, match=r"mine: X\[0\] has 3 features a token but training had 2"):
        fitted.transform(X)


@pytest.mark.parametrize(
    ("transformers", "message"),
    [
        ([], "expected a list of pairs"),
        ([TextFeatures()], "expected a list of pairs"),
        ([("a", TextFeatures()), ("a", TextFeatures())], "names must be texts that differ"),
        ([("a__b", TextFeatures())], "names must be texts that differ"),
        ([("a", vectors)], "a is <function vectors.*which is no transformer"),
    ],
)
def test_bad_lists_of_transformers_are_refused(transformers, message):
    with pytest.raises(ValueError, match=message):
        TokenUnion(transformers).fit(X)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda union: union["columns"]["tuple"].pop(), "columns_ is about 0 transformers, but there are 1"),
        (lambda union: union["columns"]["tuple"].__setitem__(0, -1), "columns_ of words is -1"),
        (lambda union: union["columns"]["tuple"].__setitem__(0, {"tuple": ["a", "a"]}), "which columns_ of words has"),
        (
            lambda union: union["columns"]["tuple"].__setitem__(0, 2),
            "6 features a token but training had 2",
        ),
        (lambda union: union["union"].append(union["union"][0]), "asks for the array|names must be texts that differ"),
        (lambda union: union["union"][0].__setitem__(0, "a__b"), "names must be texts that differ"),
        (lambda union: union["union"][0].__setitem__(1, 3), "which is no transformer"),
    ],
)
def test_files_that_were_edited_are_refused(tmp_path, change, message):
    tagger = make_pipeline(TokenUnion([("words", TextFeatures(["word[0]"]))]), StructuralSVM(Chain())).fit(X, Y)
    structlearn.save(tagger, tmp_path / "t.slm")
    metadata, tensors = container.read(tmp_path / "t.slm", "structlearn", what="model")
    change(metadata["steps"][0][1])
    container.write(tmp_path / "t.slm", "structlearn", metadata, dict(tensors))
    with pytest.raises(ValueError, match=message):
        structlearn.load(tmp_path / "t.slm").predict(X)
