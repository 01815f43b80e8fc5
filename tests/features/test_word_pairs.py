import re

import numpy as np
import pytest
from sklearn.pipeline import make_pipeline

import structlearn
from structlearn import StructuralSVM
from structlearn.data import SentencePair
from structlearn.datasets import AlignedSentences
from structlearn.features import WordPairs
from structlearn.features.association import N_PASSES, associations
from structlearn.models import Matching

TEXT = [
    SentencePair(("The", "house"), ("la", "maison")),
    SentencePair(("the", "cat", "."), ("le", "chat", ".")),
    SentencePair(("a", "house", "."), ("une", "maison", "!")),
    SentencePair((), ("rien",)),
]
LINKS = [[(0, 0), (1, 1)], [(0, 0), (1, 1), (2, 2)], [(0, 0), (1, 1), (2, 2)], []]


def model_1(pairs):
    """P(target | source) of IBM model 1 by plain loops."""
    p = {}
    for _ in range(N_PASSES):
        counts = {}
        for source, target in pairs:
            for t in target:
                shares = {s: p.get((s, t), 1.0) for s in (*source, None)}
                total = sum(p.get((s, t), 1.0) for s in (*source, None))
                for s in (*source, None):
                    counts[s, t] = counts.get((s, t), 0.0) + shares[s] / total
        p = {(s, t): n / sum(v for (a, _), v in counts.items() if a == s) for (s, t), n in counts.items()}
    return p


def test_associations_are_those_of_plain_counts():
    pairs = [SentencePair(*(tuple(map(str.lower, side)) for side in pair)) for pair in TEXT]
    found = associations(TEXT)
    forward, backward = model_1(pairs), model_1([(t, s) for s, t in pairs])
    assert len(found.codes) > 10
    for code, values in zip(found.codes.tolist(), found.values, strict=True):
        s, t = found.words[0][code // len(found.words[1])], found.words[1][code % len(found.words[1])]
        one, other = (sum(word in pair[side] for pair in pairs) for side, word in enumerate((s, t)))
        both = sum(s in pair[0] and t in pair[1] for pair in pairs)
        np.testing.assert_allclose(values, [2 * both / (one + other), forward[s, t], backward[t, s]], atol=1e-12)


def test_tables_say_what_words_have_in_common():
    words = WordPairs().fit(TEXT)
    names = words.get_feature_names_out().tolist()
    table = words.transform(
        [SentencePair(("cat", ".", "1997", "national", "zzz"), ("chat", ".", "1997", "nationale"))]
    )[0]
    assert table.shape == (5, 4, len(names))
    assert table[0, 0, names.index("dice")] == 1.0
    assert table[1, 1, names.index("punctuation")] == table[1, 1, names.index("same word")] == 1.0
    assert table[1, 0, names.index("punctuation and word")] == 1.0
    assert table[2, 2, names.index("same number")] == 1.0
    assert table[3, 3, names.index("same first 4 letters")] == 1.0
    assert table[4, :, : names.index("dice of the words before")].max() == 0.0
    assert words.transform([SentencePair((), ("a",))])[0].shape == (0, 1, len(names))


def test_further_text_is_counted(tmp_path):
    (tmp_path / "text.txt").write_text("green ||| vert\ngreen ||| vert\n")
    for bitext in (tmp_path / "text.txt", str(tmp_path / "text.txt"), [(("green",), ("vert",))] * 2):
        words = WordPairs(bitext).fit(TEXT[:1])
        assert words.transform([SentencePair(("green",), ("vert",))])[0][0, 0, 0] == 1.0


def test_a_pipeline_is_saved(tmp_path):
    aligner = make_pipeline(WordPairs(), StructuralSVM(Matching(), C=10)).fit(TEXT, LINKS)
    structlearn.save(aligner, tmp_path / "words.slm")
    again = structlearn.load(tmp_path / "words.slm")
    assert again.predict(TEXT) == aligner.predict(TEXT) == [tuple(y) for y in LINKS]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"words_": (("a",),)}, "words_ has 1 lists"),
        ({"codes_": np.array([0, 0])}, "do not increase"),
        ({"codes_": np.array([10**9])}, "do not increase"),
        ({"values_": np.zeros((1, 1))}, "no numbers of the shape"),
        ({"values_": None}, "no numbers of the shape"),
    ],
)
def test_what_a_file_cannot_have_learnt_is_refused(change, message):
    words = WordPairs().fit(TEXT)
    for name, value in change.items():
        setattr(words, name, value)
    with pytest.raises(ValueError, match=message):
        words.check_learnt()


@pytest.mark.parametrize("x", ["ab", 3, (("a",),), (("a",), "b"), (("a",), (1,))])
def test_what_is_no_pair_of_sentences_is_named(x):
    with pytest.raises(ValueError, match=re.escape("X[1] is ")):
        WordPairs().fit([TEXT[0], x])
    with pytest.raises(ValueError, match=re.escape("bitext[1] is ")):
        WordPairs(bitext=[TEXT[0], x]).fit(TEXT)


def test_a_data_set_in_the_place_of_its_sentences_is_named():
    with pytest.raises(ValueError, match=r"bitext is a data set, AlignedSentences; its sentences are meant, \.X"):
        WordPairs(bitext=AlignedSentences(TEXT, None)).fit(TEXT)
