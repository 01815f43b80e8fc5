"""Tags of texts, by one linear system.

Every text has a set of tags, which is a vector with a coordinate for each tag. Ridge regression learns a function of
texts to such vectors; a text gets the tags whose coordinates are above ½. What λ shall be is told by the errors of
texts that are left out, which have a closed form: there is no second training. A matrix A says how much one tag learns
from texts of another: nothing, as much as they come together, or what is best for f. The texts are bookmarks with their
tags (bibtex) where `STRUCTLEARN_DATA` has these, and otherwise made up.

    python examples/tag_texts.py [picture.png]
"""

import sys

import matplotlib.pyplot as plt
import numpy as np

from structlearn import VectorValuedRidge
from structlearn.datasets import fetch_multilabel
from structlearn.kernels import Decomposable
from structlearn.metrics import micro_f1
from structlearn.outputs import LabelSetOutputs

TOPICS = {
    "cooking": ["recipe", "oven", "baking", "soup"],
    "travel": ["train", "island", "hiking", "map"],
    "science": ["physics", "genes", "statistics", "survey"],
}
COLOURS = {"identity": "#bdbdbd", "covariance": "#1f6fb5", "learnt": "#d1411f"}


def made_up(random, n):
    """Counts of words: a topic, some of its tags, two words of each tag, and words of any tag."""
    tags = [tag for names in TOPICS.values() for tag in names]
    X, Y = np.zeros((n, 12 * len(tags))), np.zeros((n, len(tags)), int)
    for x, y in zip(X, Y, strict=True):
        topic = random.integers(3)
        y[4 * topic : 4 * topic + 4] = random.random(4) < 0.7
        for tag in np.flatnonzero(y):
            np.add.at(x, 12 * tag + random.integers(12, size=2), 1)
        np.add.at(x, random.integers(len(x), size=6), 1)
    return X, Y, tags


def texts():
    try:
        train, test = (fetch_multilabel("bibtex", subset) for subset in ("train", "test"))
    except FileNotFoundError:
        random = np.random.default_rng(0)
        X, Y, tags = made_up(random, 60)
        return "made-up texts", (X, Y), made_up(random, 500)[:2], tags
    return "bookmarks", (train.X[:500], train.Y[:500]), (test.X, test.Y), list(train.label_names)


name, (X, Y), (X_new, Y_new), tags = texts()
print(f"{len(Y)} {name} with {len(tags)} tags to learn from, {len(Y_new)} others to tag")
figure, (left, right) = plt.subplots(1, 2, figsize=(11, 4.4), layout="constrained")
for operator, colour in COLOURS.items():
    ridge = VectorValuedRidge(LabelSetOutputs(), Decomposable("linear", operator)).fit(X, Y)
    f1 = micro_f1(Y_new, ridge.predict(X_new))
    print(f"A = {operator:10}  λ = {ridge.lam_:.2g}, {ridge.method_:11}  F1 of all tags of new texts {f1:.3f}")
    if operator != "learnt":
        # Where A is learnt, λ is chosen with A = I.
        lams, errors = zip(*((record["lam"], record["error"]) for record in ridge.left_out_), strict=True)
        left.semilogx(np.array(lams), errors, "o-", color=colour, markersize=4, label=f"A = {operator}")
        left.plot(ridge.lam_, min(errors), "o", color=colour, markersize=10, markerfacecolor="none")
left.set(xlabel="λ", ylabel="squared distance of a text that is left out", title="which λ: the least error, ringed")
left.legend(frameon=False)
left.spines[["top", "right"]].set_visible(False)

# The matrix that was learnt last, between the twelve most frequent tags.
shown = np.sort(np.argsort(-np.asarray(Y).sum(axis=0))[:12])
A = ridge.kernel_.terms[0].A[np.ix_(shown, shown)]
image = right.imshow(A / np.sqrt(np.outer(np.diag(A), np.diag(A))), cmap="RdBu", vmin=-1, vmax=1)
names = [tags[k].removeprefix("TAG_") for k in shown]
right.set(xticks=range(12), yticks=range(12), yticklabels=names, title="what tags share: the learnt A, scaled")
right.set_xticklabels(names, rotation=60, ha="right")
right.spines[:].set_visible(False)
figure.colorbar(image, ax=right, shrink=0.8)
figure.savefig(sys.argv[1] if len(sys.argv) > 1 else "tag_texts.png", dpi=130)
