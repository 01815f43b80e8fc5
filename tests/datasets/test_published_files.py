"""What the published files hold, counted; skipped where they are not."""

import os
from collections import Counter

import numpy as np
import pytest

from structlearn.data.dependency_trees import is_projective, read_dependency_trees
from structlearn.data.trees import nodes, unary_cycle
from structlearn.datasets import (
    fetch_balibase_structures,
    fetch_conll2000,
    fetch_conll2002,
    fetch_hansards,
    fetch_imclef07a,
    fetch_letters,
    fetch_litbank,
    fetch_mq2007_agg,
    fetch_newsgroups,
    fetch_treebank,
    fetch_ud_english,
    fetch_ud_english_trees,
)

pytestmark = pytest.mark.skipif(
    not os.environ.get("STRUCTLEARN_DATA"), reason="STRUCTLEARN_DATA names no folder of data sets"
)


def depth(node, taxonomy):
    return 0 if node == "root" else 1 + depth(taxonomy[node], taxonomy)


def test_letters_are_complete():
    data = fetch_letters()
    assert len(data.X) == len(data.Y) == len(data.folds) == 6877
    assert sum(map(len, data.Y)) == 52_152
    assert {x.shape == (len(y), 128) for x, y in zip(data.X, data.Y, strict=True)} == {True}
    assert len(set(np.concatenate(data.Y))) == 26
    assert set(np.unique(np.concatenate(data.X))) == {0.0, 1.0}
    sizes = np.bincount(data.folds)
    assert (len(sizes), sizes.min(), sizes.max()) == (10, 626, 739)
    assert "".join(data.Y[0]) == "ommanding"


@pytest.mark.parametrize(("subset", "sentences", "tokens"), [("train", 8936, 211_727), ("test", 2012, 47_377)])
def test_conll2000_is_complete(subset, sentences, tokens):
    data = fetch_conll2000(subset)
    assert len(data.X) == len(data.Y) == sentences
    assert sum(map(len, data.X)) == sum(map(len, data.Y)) == tokens


@pytest.mark.slow
def test_conll2000_has_22_tags():
    assert len({tag for tags in fetch_conll2000("train").Y for tag in tags}) == 22


@pytest.mark.parametrize(
    ("subset", "sentences"), [pytest.param("train", 8323, marks=pytest.mark.slow), ("testa", 1915), ("testb", 1517)]
)
def test_conll2002_is_complete(subset, sentences):
    data = fetch_conll2002(subset)
    assert len(data.X) == len(data.Y) == sentences
    types = ("PER", "ORG", "LOC", "MISC")
    expected = {"O"} | {f"{prefix}-{kind}" for prefix in "BI" for kind in types}
    assert {tag for tags in data.Y for tag in tags} == expected


def test_conll2002_is_decoded():
    assert any(word == "España" for sentence in fetch_conll2002("testa").X for word, _ in sentence)


@pytest.mark.slow
@pytest.mark.parametrize(("subset", "count"), [("train", 11_314), ("test", 7532)])
def test_newsgroups_are_complete(subset, count):
    data = fetch_newsgroups(subset)
    assert len(data.X) == len(data.Y) == count
    assert len(set(data.Y)) == 20
    assert {depth(leaf, data.taxonomy) for leaf in data.Y} == {2}
    tops = Counter(data.taxonomy[leaf] for leaf in set(data.Y))
    assert tops == {"comp": 5, "rec": 4, "sci": 4, "talk": 4, "alt": 1, "misc": 1, "soc": 1}
    assert sum(text.startswith(("From:", "Subject:", "Newsgroups:")) for text in data.X) < 0.01 * count


@pytest.mark.parametrize(("subset", "count"), [pytest.param("train", 10_000, marks=pytest.mark.slow), ("test", 1006)])
def test_imclef07a_is_complete(subset, count):
    data = fetch_imclef07a(subset)
    assert data.X.shape == (count, 80)
    assert len(data.Y) == count
    assert len(set(data.Y)) == 63
    assert {depth(leaf, data.taxonomy) for leaf in data.Y} == {3}
    assert set(data.Y) == set(data.taxonomy) - set(data.taxonomy.values())


@pytest.mark.parametrize(
    ("subset", "sentences"), [pytest.param("train", 12_544, marks=pytest.mark.slow), ("dev", 2001), ("test", 2077)]
)
def test_ud_english_is_complete(subset, sentences):
    data = fetch_ud_english(subset)
    assert len(data.X) == len(data.Y) == sentences
    assert list(map(len, data.X)) == list(map(len, data.Y))
    assert len({tag for tags in data.Y for tag in tags}) == 17


@pytest.mark.parametrize(("subset", "sentences", "crossing"), [("dev", 2001, 31), ("test", 2077, 26)])
def test_ud_english_trees_are_complete(subset, sentences, crossing):
    data = fetch_ud_english_trees(subset, subtypes=False)
    assert len(data.X) == len(data.Y) == sentences
    assert {len(token) for x in data.X for token in x} == {2}
    found = read_dependency_trees(data.Y, data.X, single_root=True)
    assert sum(not is_projective(heads) for heads in found.heads) == crossing
    labels = {label for y in data.Y for _, label in y}
    assert 30 <= len(labels) <= 37  # of universal relations there are 37
    assert not any(":" in label for label in labels)


@pytest.mark.slow
def test_treebank_is_complete_and_clean():
    data = fetch_treebank()
    lengths = np.array([len(x) for x in data.X])
    assert [len(lengths), *((lengths <= most).sum() for most in (10, 15, 40))] == [3914, 393, 922, 3629]
    labels = {label for y in data.Y for label, _, _ in nodes(y)}
    assert len(labels) == 26
    assert {"S", "NP", "VP"} < labels
    tags = {tag for x in data.X for _, tag in x}
    assert len(tags) == 45
    assert "-NONE-" not in tags
    assert all(unary_cycle(y) is None for y in data.Y)
    assert len(fetch_treebank(10).X) == 393


@pytest.mark.slow
def test_balibase_structures_are_complete():
    data = fetch_balibase_structures()
    assert len(data.X) == len(set(data.X)) == len(data.Y) == len(data.names) == 499
    assert list(map(len, data.X)) == list(map(len, data.Y))
    assert sum(map(len, data.X)) == 140_813
    assert np.unique(data.families).tolist() == list(range(63))
    assert "".join(data.Y[data.names.index("1aab_")][9:30]) == "CCCCHHHHHHHHHHHHHCCCC"


def test_hansards_are_complete():
    data = fetch_hansards("test")
    assert (len(data.X), sum(map(len, data.Y)), sum(len(y.possible) for y in data.Y)) == (447, 4038, 17438)
    assert (data.X[2].target, data.Y[2]) == (("oh", ",", "oh", "!"), ((0, 0), (1, 1), (2, 2), (3, 3)))
    assert [len(fetch_hansards(subset).X) for subset in ("trial", "bitext")] == [37, 2383]
    assert fetch_hansards("bitext").Y is None


@pytest.mark.slow
def test_litbank_is_complete():
    data = fetch_litbank()
    assert len(data.X) == len(data.Y) == len(set(data.names)) == 100
    assert sum(len(document.mentions) for document in data.X) == 29_103
    assert sum(len(sentence) for document in data.X for sentence in document.sentences) == 210_532
    assert sum(y.max() + 1 for y in data.Y) == 7_927
    assert data.names[0].startswith("11_alices")
    first = data.X[data.names.index("541_the_age_of_innocence_brat")]
    assert first.words(first.mentions[0]) == ("Christine", "Nilsson")


@pytest.mark.slow
def test_mq2007_agg_is_complete_and_its_parts_rotate():
    parts = [fetch_mq2007_agg(fold, "test") for fold in (2, 3, 4, 5, 1)]
    assert sum(len(part.queries) for part in parts) == len({q for part in parts for q in part.queries}) == 1692
    assert sum(len(y) for part in parts for y in part.Y) == 69_623
    assert {x.shape[1] for part in parts for x in part.X} == {21}
    assert set(np.concatenate([y for part in parts for y in part.Y])) == {0, 1, 2}
    train, validation = fetch_mq2007_agg(1), fetch_mq2007_agg(1, "validation")
    assert train.queries == [q for part in parts[:3] for q in part.queries]
    assert validation.queries == parts[3].queries
