"""How do lines, margins, slacks and kernels separate two classes?

The perceptron ends at any line that separates; the support vector machine at the one with the largest margin, and where
no line separates, examples pay a slack ξ for what they lack of it. Only support vectors, circled, hold the line in its
place. A Gaussian kernel bends it, and gives a class several regions; with three classes, the margin is that between the
score of the right class and the best of the others.

    python examples/kernel_regions.py [picture.png]
"""

import sys

import matplotlib.pyplot as plt
import numpy as np

from structlearn import BinaryPerceptron, RegularizedRisk, StructuralSVM, plots
from structlearn.estimators.regularized_risk import L2, Hinge
from structlearn.kernels import RBF, Linear
from structlearn.models import Multiclass

INK = "#20242c"
random = np.random.default_rng(4)
# Two clouds, and two that overlap.
far = np.concatenate([random.normal((-2, -1), 0.7, (20, 2)), random.normal((2, 1), 0.7, (20, 2))])
near = np.concatenate([random.normal((-1, -0.5), 0.9, (20, 2)), random.normal((1, 0.5), 0.9, (20, 2))])
y = np.repeat(["circles", "squares"], 20)
figure, panels = plt.subplots(2, 3, figsize=(13, 8), layout="constrained")

ax = panels[0, 0]
across = np.array([-4.0, 4.0])
for start in random.normal(size=(6, 3)) * 5:
    line = BinaryPerceptron().fit(far, y, coef_init=start[:2], intercept_init=start[2])
    print(f"perceptron from ({start[0]:5.1f}, {start[1]:5.1f}), {start[2]:5.1f}: {line.n_mistakes_} mistakes")
    ax.plot(across, -(line.intercept_ + across * line.coef_[0]) / line.coef_[1], color=INK, linewidth=0.8)
for label, marker, colour in (("circles", "o", "#2463a8"), ("squares", "s", "#d1411f")):
    ax.plot(*far[y == label].T, marker, color=colour, markersize=5, markeredgecolor="white")
ax.set(title="six perceptrons, each from another start", xlim=across, ylim=(-4, 4))

hard = RegularizedRisk(Hinge(), L2(Linear()), C=1e5).fit(far, y)
plots.decision_regions(hard, far, y, panels[0, 1]).set_title("the largest margin")
print(f"hard margin: {len(hard.support_)} support vectors, margin {2 / np.sqrt(2 * hard.objective_):.2f} wide")


def slacks(svm, ax):
    """A line from each example that lacks some of its margin to where it would have it."""
    w = svm.coef_
    missing = np.maximum(0, 1 - np.where(y == "squares", 1, -1) * svm.decision_function(near))
    for x, xi, sign in zip(near, missing, np.where(y == "squares", 1, -1), strict=True):
        if xi > 1e-3:
            ax.plot(*np.array([x, x + sign * xi * w / (w @ w)]).T, color=INK, linewidth=0.7, linestyle=":")
    return missing


soft = RegularizedRisk(Hinge(), L2(Linear()), C=40).fit(near, y)
plots.decision_regions(soft, near, y, panels[0, 2]).set_title("slacks ξ, and support vectors")
missing = slacks(soft, panels[0, 2])
print(f"soft margin: {len(soft.support_)} support vectors, {np.sum(missing > 1)} examples on the wrong side")

middles = np.array([(-2, 2), (2, -2), (0, 0), (2, 2), (-2, -2)])
islands = np.concatenate([random.normal(middle, 0.5, (16, 2)) for middle in middles])
kinds = np.repeat(["circles", "circles", "circles", "squares", "squares"], 16)
for ax, gamma in ((panels[1, 0], 0.5), (panels[1, 1], 10.0)):
    svm = RegularizedRisk(Hinge(), L2(RBF(gamma=gamma)), C=800).fit(islands, kinds)
    plots.decision_regions(svm, islands, kinds, ax).set_title(f"a Gaussian kernel, γ = {gamma:g}")
    print(f"Gaussian kernel, γ = {gamma:g}: {len(svm.support_)} of {len(kinds)} examples are support vectors")

ax = panels[1, 2]
three = np.concatenate([random.normal(middle, 0.6, (15, 2)) for middle in ((-2, -1), (2, -1), (0, 2))])
names = np.repeat(["a", "b", "c"], 15)
svm = StructuralSVM(Multiclass(), C=4, fit_intercept=True, tol=1e-4).fit(three, names)
plots.decision_regions(svm, three, names, ax).set_title("three classes: what “a” pays")
origin, *ends = svm.decision_function([[0, 0], [1, 0], [0, 1]])
weights = np.array([end - origin for end in ends]).T
for place in ((-2.2, -1.6), (-0.7, -1.6), (1.0, -0.2)):
    scores = svm.decision_function([place])[0]
    rival = 1 + scores[1:].argmax()
    xi = max(0.0, 1 + scores[rival] - scores[0])
    between = weights[0] - weights[rival]
    if xi > 0:
        ax.annotate("", np.add(place, xi * between / (between @ between)), place, arrowprops={"arrowstyle": "<->"})
    ax.plot(*place, "o", color="#f0c040", markeredgecolor=INK, markersize=8)
    box = {"boxstyle": "round", "facecolor": "white", "edgecolor": "none", "alpha": 0.8}
    ax.annotate(f"ξ = {xi:.1f}", place, xytext=(4, -18), textcoords="offset points", bbox=box)
    print(f"three classes: at {place} the class a pays {xi:.2f}")
figure.savefig(sys.argv[1] if len(sys.argv) > 1 else "kernel_regions.png", dpi=110)
