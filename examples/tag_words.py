"""Tagging words it has never seen.

A tagger of parts of speech from plain words: `TextFeatures` makes features of the words around, their endings and
shapes, a chain learns which tag follows which. The sentences come from a toy grammar, and the test sentences have
words that were not in training: their endings and their neighbours must do.

    python examples/tag_words.py [picture.png]
"""

import sys

import matplotlib.pyplot as plt
import numpy as np
from sklearn.pipeline import make_pipeline

from structlearn import StructuralSVM, plots
from structlearn.features import TextFeatures
from structlearn.models import Chain

WORDS = {
    "DET": "the a every some this",
    "ADJ": "famous nervous joyful careful basic cosmic dangerous cheerful classic grateful wicked lovely",
    "NOUN": "sailor teacher harbour station painter nation farmer motion doctor singer actor seed",
    "VERB": "waited painted sailed watched opened visited cleaned followed answered called helped sang",
    "ADV": "slowly quietly boldly rarely gladly neatly calmly soon",
    "ADP": "near behind under beside",
}
PHRASES = ["DET NOUN VERB", "DET ADJ NOUN VERB ADV", "DET NOUN VERB DET ADJ NOUN", "DET NOUN ADP DET NOUN VERB ADV"]


def sentences(n, words, random):
    Y = [str(random.choice(PHRASES)).split() for _ in range(n)]
    return [[str(random.choice(words[tag])) for tag in y] for y in Y], Y


random = np.random.default_rng(0)
lists = {tag: words.split() for tag, words in WORDS.items()}
known = {tag: words if len(words) < 8 else words[: len(words) // 2] for tag, words in lists.items()}
X, Y = sentences(40, known, random)
X_test, Y_test = sentences(200, lists, random)
nonsense = ["this brillig tove gyred wabely", "some mimsous borogor near a rathion outgrabed"]
meant = ["DET ADJ NOUN VERB ADV", "DET ADJ NOUN ADP DET NOUN VERB"]

tagger = make_pipeline(TextFeatures(), StructuralSVM(Chain(), C=10)).fit(X, Y)
tagged = tagger.predict(X_test)
seen = {word for x in X for word in x}
print(f"{len(X)} sentences to learn from, {len(X_test)} others to tag\n")
triples = [each for sentence in zip(X_test, Y_test, tagged, strict=True) for each in zip(*sentence, strict=True)]
for name, group in {
    "words seen before": [each for each in triples if each[0] in seen],
    "new words": [each for each in triples if each[0] not in seen],
}.items():
    print(f"{name:18} {len(group):4}, of these right {np.mean([y == p for _, y, p in group]):.1%}")
print("mistakes:", ", ".join(sorted({f"{word} {p} instead of {y}" for word, y, p in triples if y != p})))

figure, both = plt.subplots(2, 1, figsize=(7, 2.4), layout="constrained")
figure.suptitle("Words that nobody has seen before")
for ax, sentence, y in zip(both, nonsense, meant, strict=True):
    plots.sequence(sentence.split(), y.split(), tagger.predict([sentence.split()])[0], ax, classes=list(WORDS))
figure.savefig(sys.argv[1] if len(sys.argv) > 1 else "tag_words.png", dpi=130)
