"""Label the pixels of noisy images.

A pixel alone says little about its label; its neighbours say much. A structural SVM learns how much to trust each, and
the labels of a whole image are found together.

    python examples/label_images.py [picture.png]
"""

import sys

import matplotlib.pyplot as plt
import numpy as np

from structlearn import StructuralSVM, plots
from structlearn.models import Grid


def blobs(random, size=40):
    """Three regions around centres, and what a noisy camera sees of them."""
    centres = random.uniform(0, size, (6, 2))
    pixels = np.stack(np.meshgrid(np.arange(size), np.arange(size), indexing="ij"), axis=2)
    nearest = ((pixels[:, :, None] - centres) ** 2).sum(axis=3).argmin(axis=2)
    labels = nearest % 3
    return np.eye(3)[labels] + 0.9 * random.normal(size=(size, size, 3)), labels


random = np.random.default_rng(0)
X, Y = map(list, zip(*(blobs(random) for _ in range(12)), strict=True))
train, test = slice(None, 6), slice(6, None)

found = {}
for name, model in {"each pixel alone": Grid(pairwise=None), "all together": Grid(pairwise="potts")}.items():
    svm = StructuralSVM(model, fit_intercept=True).fit(X[train], Y[train])
    found[name] = svm.predict(X[test])
    print(
        f"{name:16}  {svm.score(X[test], Y[test]):.1%} of the pixels of six new images right, "
        f"certified gap {svm.duality_gap_:.1%}"
    )

figure, panels = plt.subplots(1, 4, figsize=(11, 3), layout="constrained")
panels[0].imshow(np.clip(X[6] / 2.0 + 0.25, 0.0, 1.0))
panels[0].set(xticks=[], yticks=[])
for ax, labels in zip(panels[1:], [Y[6], *(each[0] for each in found.values())], strict=True):
    plots.grid(labels, ax)
for ax, title in zip(panels, ["seen", "truth", *found], strict=True):
    ax.set_title(title)
figure.savefig(sys.argv[1] if len(sys.argv) > 1 else "label_images.png", dpi=130)
