"""A model of one's own, in four methods.

Which point of one picture is which point of another? A matching is no label sequence, and no model for it is in the
library: the class below is all there is to write. SciPy finds the best matching, the structural SVM finds out which
of five measurements can be trusted, with a certificate.

    python examples/match_points.py [picture.png]
"""

import sys

import matplotlib.pyplot as plt
import numpy as np
from scipy.optimize import linear_sum_assignment

from structlearn import StructuralSVM

NAMES = ["across", "up", "size", "colour", "weight"]
NOISE = [0.6, 0.1, 0.9, 0.3, 3.0]


class Matching:
    """x[i, j] are the features of giving point i the partner j; y[i] is the partner of i."""

    def joint_feature(self, x, y):
        return x[np.arange(len(y)), y].sum(axis=0)

    def loss(self, y, y_hat):
        return float(np.sum(np.asarray(y) != np.asarray(y_hat)))

    def inference(self, x, w):
        return linear_sum_assignment(-(x @ w))[1]

    def loss_augmented_inference(self, x, y, w):
        return linear_sum_assignment(-(x @ w + (np.arange(len(y)) != np.asarray(y)[:, None])))[1]


random = np.random.default_rng(1)
left = random.uniform(size=(60, 9, 5))
Y = [random.permutation(9) for _ in left]
seen = left + np.multiply(NOISE, random.normal(size=left.shape)) / 3
right = np.array([points[np.argsort(y)] for points, y in zip(seen, Y, strict=True)])
X = list(-((left[:, :, None] - right[:, None]) ** 2))

svm = StructuralSVM(Matching(), C=100).fit(X[:40], Y[:40])
equal, learnt = [Matching().inference(x, np.ones(5)) for x in X], svm.predict(X)
print("measurement   noise   weight learnt")
for name, noise, weight in zip(NAMES, NOISE, svm.w_, strict=True):
    print(f"{name:11} {noise:7.1f} {weight:15.2f}")
for name, found in {"equal weights": equal, "learnt weights": learnt}.items():
    print(f"{name:14}  {np.mean(np.array(found[40:]) == Y[40:]):.0%} of the partners right on 20 new pairs")
print(f"certificate: the best possible objective is at most {svm.duality_gap_:.2%} lower")

figure, both = plt.subplots(1, 2, figsize=(8, 4), layout="constrained", sharey=True)
for ax, found, title in zip(both, (equal, learnt), ("equal weights", "learnt weights"), strict=True):
    for j, (k, true) in enumerate(zip(found[-1], Y[-1], strict=True)):
        ends = np.array([left[-1, j, :2], right[-1, k, :2] + [1.5, 0]])
        ax.plot(*ends.T, "o-", color="#2463a8" if k == true else "#d1411f", linewidth=1)
    ax.set(title=title, xticks=[], yticks=[], frame_on=False)
figure.savefig(sys.argv[1] if len(sys.argv) > 1 else "match_points.png", dpi=130)
