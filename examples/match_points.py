"""Which point of one picture is which point of another?

Points of two pictures are matched by what was measured of each. A structural SVM finds out which of five measurements
can be trusted, with a certificate, while the best matching is found exactly. Some points are hidden in the second
picture: they stay alone, at a price that is learnt as well.

    python examples/match_points.py [picture.png]
"""

import sys

import matplotlib.pyplot as plt
import numpy as np

from structlearn import StructuralSVM
from structlearn.inference import best_assignment
from structlearn.metrics import matching_measures
from structlearn.models import Matching

NAMES = ["across", "up", "size", "colour", "weight"]
NOISE = [0.6, 0.1, 0.9, 0.3, 3.0]

random = np.random.default_rng(1)
left, right, Y = [], [], []
for _ in range(60):
    points = random.uniform(size=(9, 5))
    order = random.permutation(9)[:7]
    left.append(points)
    right.append(points[order] + np.multiply(NOISE, random.normal(size=(7, 5))) / 3)
    Y.append(tuple(sorted((int(i), j) for j, i in enumerate(order))))
X = [-((a[:, None] - b[None]) ** 2) for a, b in zip(left, right, strict=True)]

svm = StructuralSVM(Matching(), C=100).fit(X[:40], Y[:40])
equal = [[(i, j) for i, j in enumerate(best_assignment(x.sum(axis=2)).partners.tolist()) if j >= 0] for x in X]
learnt = svm.predict(X)
print("measurement   noise   weight learnt")
for name, noise, weight in zip(NAMES, NOISE, svm.w_, strict=False):
    print(f"{name:11} {noise:7.1f} {weight:15.2f}")
for name, found in {"equal weights": equal, "learnt weights": learnt}.items():
    print(f"{name:14}  F1 of the pairs {matching_measures(Y[40:], found[40:]).scores()['f1']:.0%} on 20 new pictures")
print(f"certificate: the best possible objective is at most {svm.duality_gap_:.2%} lower")

figure, both = plt.subplots(1, 2, figsize=(8, 4), layout="constrained", sharey=True)
for ax, found, title in zip(both, (equal, learnt), ("equal weights", "learnt weights"), strict=True):
    ax.plot(*left[40][:, :2].T, "o", color="#777777")
    for i, j in found[40]:
        ends = np.array([left[40][i, :2], right[40][j, :2] + [1.5, 0]])
        ax.plot(*ends.T, "o-", color="#2463a8" if (i, j) in Y[40] else "#d1411f", linewidth=1)
    ax.set(title=title, xticks=[], yticks=[], frame_on=False)
figure.savefig(sys.argv[1] if len(sys.argv) > 1 else "match_points.png", dpi=130)
