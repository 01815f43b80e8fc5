from __future__ import annotations

from itertools import combinations
from typing import Any

import numpy as np
import pytest

from structlearn.data import Document, Mention
from structlearn.features import MentionPairs
from structlearn.features.mention_pairs import FEATURES, QUESTIONS
from structlearn.features.mentions import ARTICLES, GENDERS, PRONOUNS, TYPES, mention_traits

TEXT = (
    ("Mrs.", "Lynde", ",", "a", "neighbour", ",", "saw", "Matthew", "and", "his", "sister", "."),
    ('"', "I", "know", "you", ",", '"', "said", "Mrs.", "Rachel", "Lynde", "to", "him", "."),
    ("The", "neighbour", "was", "a", "woman", "of", "Avonlea", "."),
)
MENTIONS = (
    Mention(0, 0, 2),  # Mrs. Lynde
    Mention(0, 3, 5),  # a neighbour
    Mention(0, 7, 8),  # Matthew
    Mention(0, 9, 11),  # his sister
    Mention(0, 9, 10),  # his
    Mention(1, 1, 2),  # I
    Mention(1, 3, 4),  # you
    Mention(1, 7, 10),  # Mrs. Rachel Lynde
    Mention(1, 11, 12),  # him
    Mention(2, 0, 2),  # The neighbour
    Mention(2, 3, 7),  # a woman of Avonlea
    Mention(2, 6, 7),  # Avonlea
)
DOCUMENT = Document(TEXT, MENTIONS)
NAMES = MentionPairs().get_feature_names_out()


def answers(i: int, j: int) -> dict[str, str]:
    """What the features of a pair say, question by question."""
    (x,) = MentionPairs().transform([DOCUMENT])
    place = list(combinations(range(len(MENTIONS)), 2)).index((i, j))
    row = x.features[[x.kinds[place]]]
    assert row.data.tolist() == [1.0] * len(FEATURES)
    found: dict[str, str] = {}
    begin = 0
    for questions, column in zip(FEATURES, row.indices, strict=True):
        sizes = [len(QUESTIONS[question]) for question in questions]
        for question, code in zip(questions, np.unravel_index(column - begin, sizes), strict=True):
            answer = QUESTIONS[question][code]
            assert found.setdefault(question, answer) == answer
            assert f"{question}={answer}" in NAMES[column]
        begin += int(np.prod(sizes))
    return found


@pytest.mark.parametrize(
    ("i", "j", "expected"),
    [
        (0, 1, {"type1": "name", "type2": "noun", "between": "comma", "sentences": "0", "mentions": "1"}),
        (0, 7, {"words": "same head", "sentences": "1", "mentions": "6-9", "kind1": "woman (noun)"}),
        (1, 9, {"words": "same text", "sentences": "2", "quotes": "neither"}),
        (2, 3, {"between": "and", "kind1": "unknown (noun)", "kind2": "woman (noun)"}),
        (3, 4, {"between": "one within the other", "kind2": "he"}),
        (4, 8, {"type1": "pronoun", "type2": "pronoun", "kind1": "he", "kind2": "he", "words": "nothing in common"}),
        (5, 6, {"quotes": "same", "kind1": "I", "kind2": "you"}),
        (5, 8, {"quotes": "first"}),
        (9, 10, {"between": "is", "kind2": "woman (noun)"}),
        (10, 11, {"words": "head of one in the other", "between": "one within the other"}),
    ],
)
def test_pairs_are_described(i: int, j: int, expected: dict[str, str]) -> None:
    found = answers(i, j)
    assert {question: found[question] for question in expected} == expected


@pytest.mark.parametrize(
    ("words", "type_", "kind", "article", "head"),
    [
        ("She", "pronoun", "she", "none", "she"),
        ("the old house", "noun", "thing", "the", "house"),
        ("Mr. Darcy", "name", "man", "none", "darcy"),
        ("his two sisters", "noun", "several", "my", "sisters"),
        ("a man who sat there", "noun", "man", "a", "man"),
        ("the Nellie", "name", "unknown", "the", "nellie"),
        ("Tom and Huck", "name", "several", "none", "tom"),
        ("...", "noun", "unknown", "none", "..."),
    ],
)
def test_mentions_are_described(words: str, type_: str, kind: str, article: str, head: str) -> None:
    text = tuple(words.split())
    mention = Mention(0, 0, len(text))
    traits = mention_traits(Document((text,), (mention,)), mention)
    found = (TYPES[traits.type], (PRONOUNS + GENDERS)[traits.kind], ARTICLES[traits.article], traits.head)
    assert found == (type_, kind, article, head)


def test_a_window_leaves_out_pairs_that_are_far_apart() -> None:
    (all_pairs,), (near,) = MentionPairs().transform([DOCUMENT]), MentionPairs(window=2).transform([DOCUMENT])
    assert len(all_pairs.pairs) == 12 * 11 // 2
    assert (near.pairs[:, 1] - near.pairs[:, 0]).max() == 2
    assert len(near.pairs) == 11 + 10
    full = {
        tuple(p): all_pairs.features[[k]].indices.tolist()
        for p, k in zip(all_pairs.pairs, all_pairs.kinds, strict=True)
    }
    for pair, kind in zip(near.pairs, near.kinds, strict=True):
        assert near.features[[kind]].indices.tolist() == full[tuple(pair)]


@pytest.mark.parametrize("mentions", [(), MENTIONS[:1]])
def test_documents_of_no_or_one_mention_have_no_pairs(mentions: Any) -> None:
    (x,) = MentionPairs().transform([Document(TEXT, mentions)])
    assert (x.n_items, len(x.kinds), x.features.shape) == (len(mentions), 0, (0, len(NAMES)))


def test_names_are_unique_and_as_many_as_columns() -> None:
    assert len(set(NAMES)) == len(NAMES)
    assert MentionPairs().transform([DOCUMENT])[0].features.shape[1] == len(NAMES)


def test_bad_input_is_named() -> None:
    with pytest.raises(ValueError, match=r"X\[1\] is a str; expected a Document"):
        MentionPairs().transform([DOCUMENT, "text"])
    with pytest.raises(ValueError, match=r"window is 0; it must be a whole number ≥ 1"):
        MentionPairs(window=0).fit([DOCUMENT])
    assert np.array_equal(NAMES, MentionPairs(window=3).get_feature_names_out())
