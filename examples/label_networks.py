"""Label pages that link to each other.

The words of a page say little about its topic; the pages that it links to say more. A structural SVM learns how much to
trust each, and the labels of a whole network are found together. Red rings are mistakes.

    python examples/label_networks.py [picture.png]
"""

import sys

import matplotlib.pyplot as plt
import numpy as np

from structlearn import StructuralSVM
from structlearn.data import Network
from structlearn.models import Graph

TOPICS = ["arts", "news", "sport"]
COLOURS = dict(zip(TOPICS, ["#8fb8de", "#f2b880", "#9ccf9c"], strict=True))


def site(random, n=60):
    """Pages around the middles of their topics, with links to near ones, and how often they use the words of each."""
    labels = random.integers(3, size=n)
    middles = np.array([[0.0, 0.0], [2.0, 0.0], [1.0, 1.7]])
    places = middles[labels] + random.normal(scale=0.45, size=(n, 2))
    distances = np.linalg.norm(places[:, None] - places, axis=2)
    nearest = np.argsort(distances, axis=1)[:, 1:3]
    links = sorted({(min(i, j), max(i, j)) for i in range(n) for j in nearest[i].tolist()})
    words = np.eye(3)[labels] + 1.0 * random.normal(size=(n, 3))
    return Network(words, links), [TOPICS[k] for k in labels], places


random = np.random.default_rng(1)
X, Y, places = map(list, zip(*(site(random) for _ in range(20)), strict=True))
train, test = slice(None, 10), slice(10, None)

found = {"truth": Y[test]}
for name, model in {"each page alone": Graph(pairwise=None), "all together": Graph(pairwise="potts")}.items():
    svm = StructuralSVM(model, nonnegative="pairs" if model.pairwise else None).fit(X[train], Y[train])
    found[name] = svm.predict(X[test])
    print(f"{name:16}  {svm.score(X[test], Y[test]):.1%} of the pages of ten new sites right")

figure, panels = plt.subplots(1, 3, figsize=(11, 3.8), layout="constrained")
for ax, (name, labels) in zip(panels, found.items(), strict=True):
    for a, b in X[10].edges:
        ax.plot(*places[10][[a, b]].T, color="0.8", linewidth=0.8, zorder=1)
    wrong = np.array(labels[0]) != np.array(Y[10])
    ax.scatter(
        *places[10].T, s=45, c=[COLOURS[label] for label in labels[0]], edgecolors="0.3", linewidths=0.5, zorder=2
    )
    ax.scatter(*places[10][wrong].T, s=110, facecolors="none", edgecolors="#c0261a", linewidths=1.8, zorder=3)
    ax.set(title=f"{name}: {wrong.sum()} wrong" if wrong.any() else name, xticks=[], yticks=[], aspect="equal")
    ax.spines[:].set_visible(False)
for topic, colour in COLOURS.items():
    panels[0].scatter([], [], color=colour, label=topic)
figure.legend(loc="outside lower center", ncols=3, frameon=False)
figure.savefig(sys.argv[1] if len(sys.argv) > 1 else "label_networks.png", dpi=130)
