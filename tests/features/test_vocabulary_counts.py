"""A vocabulary counted chunk by chunk is that of all words at once; what does not fit is the rarest."""

import numpy as np
import pytest

from structlearn.datasets import make_sentences
from structlearn.features import TextFeatures
from structlearn.features.vocabulary_counts import VocabularyCounts

X = make_sentences(60, random_state=0).X
CHUNKS = [X[:10], X[10:11], X[11:45], X[45:]]
TEMPLATES = (
    None,
    ["bias", "word[-1]", "word[1]", "pos[0]|word[-1]|pos[2]", "word.suffix2[0]|pos[0]", "word.is_upper[0]"],
    # More combinations than there are numbers of 64 bits.
    ["|".join(f"word[{k}]" for k in range(-9, 11))],
)


@pytest.mark.parametrize("templates", TEMPLATES)
@pytest.mark.parametrize("min_count", [1, 2, 5])
@pytest.mark.parametrize("boundary", [True, False])
def test_counted_in_chunks_as_at_once(templates, min_count, boundary):
    options = {"columns": ("word", "pos"), "templates": templates, "min_count": min_count, "boundary": boundary}
    once, chunked = TextFeatures(**options).fit(X), TextFeatures(**options).fit_chunks(iter(CHUNKS))
    chunked.check_learnt()
    chunked.numbering_._check()
    assert np.array_equal(once.get_feature_names_out(), chunked.get_feature_names_out())
    assert once.digest() == chunked.digest()
    rows = [features.transform(X).tokens for features in (once, chunked)]
    assert rows[0].shape == rows[1].shape
    assert not (rows[0] != rows[1]).nnz


def test_hashed_features_need_no_look():
    chunked = TextFeatures(columns=("word", "pos"), n_hashed=100).fit_chunks(iter(()))
    once = TextFeatures(columns=("word", "pos"), n_hashed=100).fit(X)
    assert not (chunked.transform(X).tokens != once.transform(X).tokens).nnz


def test_features_that_differ_anywhere_have_another_digest():
    options = {"columns": ("word", "pos"), "templates": ["word[0]", "word[-1]|pos[0]"]}
    others = [
        options | {"boundary": False},
        options | {"min_count": 2},
        options | {"templates": options["templates"][::-1]},
        options | {"n_hashed": 100},
        options | {"n_hashed": 101},
    ]
    made = [TextFeatures(**each).fit(X) for each in (options, *others)]
    made.append(TextFeatures(**options).fit(X[1:]))
    assert len({features.digest() for features in made}) == len(made)


def test_what_is_forgotten_is_the_rarest_and_said():
    exact = TextFeatures(columns=("word", "pos"))
    counts = np.asarray(exact.fit_transform(X).tokens.sum(axis=0))
    names = exact.get_feature_names_out()
    few = TextFeatures(columns=("word", "pos"), min_count=2)
    with pytest.warns(RuntimeWarning, match=r"features of fewer than (\d+) tokens may be missing") as told:
        few.fit_chunks(CHUNKS, max_memory="60kB")
    bound = int(str(told[0].message).split("fewer than ")[1].split()[0])
    found = set(few.get_feature_names_out())
    assert bound > 2
    assert {name for name, count in zip(names, counts, strict=True) if count >= bound} <= found
    assert found <= {name for name, count in zip(names, counts, strict=True) if count >= 2}
    assert len(found) < np.count_nonzero(counts >= 2)


def test_the_bound_holds_after_every_chunk():
    features = TextFeatures(columns=("word", "pos"))
    templates = features._parsed_templates()
    counts = VocabularyCounts(templates, 60_000)
    for chunk in CHUNKS:
        counts.add(features._tokens(chunk, templates))
        assert counts.nbytes() <= 60_000
