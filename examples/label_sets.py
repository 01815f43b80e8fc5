"""Labels that go together.

A photo has several labels, and some of them belong together: snow comes in winter, and it is one season at a time.
Scores of pairs of labels find that out, and whole sets are right more often than with a decision for each label.

    python examples/label_sets.py [picture.png]
"""

import sys
from itertools import combinations

import matplotlib.pyplot as plt
import numpy as np

from structlearn import ConditionalRandomField
from structlearn.metrics import exact_match, example_f1
from structlearn.models import MultiLabel

LABELS = ["spring", "summer", "autumn", "winter", "snow", "beach"]
#: How much likelier two labels are together than apart, as logarithms; a season is likely, a second one is not.
TOGETHER = {("snow", "winter"): 4.0, ("snow", "spring"): 1.0, ("beach", "summer"): 3.0, ("snow", "beach"): -3.0}
TOGETHER |= dict.fromkeys(combinations(LABELS[:4], 2), -6.0)
ALONE = np.array([3.0, 3.0, 3.0, 3.0, -2.0, -2.0])


def photos(random, n):
    """Sets of labels, drawn one label after another given the others, and features that hint at each."""
    J = np.zeros((6, 6))
    for (a, b), strength in TOGETHER.items():
        J[LABELS.index(a), LABELS.index(b)] = J[LABELS.index(b), LABELS.index(a)] = strength
    Y = random.integers(2, size=(n, 6))
    for _ in range(30):
        for k in range(6):
            Y[:, k] = random.random(n) < 1 / (1 + np.exp(-ALONE[k] - Y @ J[:, k]))
    return Y + 0.8 * random.normal(size=(n, 6)), Y


random = np.random.default_rng(0)
(X, Y), (X_new, Y_new) = photos(random, 300), photos(random, 1000)

scores = {}
for pairs in ("independent", "tree", "full"):
    crf = ConditionalRandomField(MultiLabel(LABELS, pairs=pairs), fit_intercept=True, C=300).fit(X, Y)
    predicted = crf.predict(X_new)
    scores[pairs] = [exact_match(Y_new, predicted), example_f1(Y_new, predicted)]
    print(f"{pairs:12} {scores[pairs][0]:.1%} of the sets right, F1 of an example's labels {scores[pairs][1]:.3f}")

(learnt,) = (block for block in crf.model_.named_weights(crf.spec_, crf.w_) if block.title == "pairs of labels")
neither, second, first, both = np.asarray(learnt.weights).reshape(-1, 4).T
liking = np.full((6, 6), np.nan)
liking[tuple(np.array(crf.spec_.label_pairs).T[::-1])] = neither + both - first - second

figure, (left, right) = plt.subplots(1, 2, figsize=(10, 4), layout="constrained")
for k, (pairs, values) in enumerate(scores.items()):
    bars = left.bar(
        np.arange(2) + 0.27 * (k - 1), values, 0.25, color=["#bdbdbd", "#8fb8de", "#1f6fb5"][k], label=pairs
    )
    left.bar_label(bars, fmt="{:.2f}", fontsize=8)
left.set(xticks=range(2), xticklabels=["whole sets right", "F1 of an example"], ylim=(0, 1), title="on new photos")
left.legend(title="pairs of labels", frameon=False, ncols=3, loc="upper center")
left.spines[["top", "right"]].set_visible(False)
right.imshow(liking[1:, :-1], cmap="RdBu", vmin=-6, vmax=6)
for i, j in zip(*np.nonzero(~np.isnan(liking)), strict=True):
    right.text(j, i - 1, f"{liking[i, j]:+.1f}", ha="center", va="center")
right.set(xticks=range(5), xticklabels=LABELS[:-1], yticks=range(5), yticklabels=LABELS[1:], title="what pairs add")
right.spines[:].set_visible(False)
figure.savefig(sys.argv[1] if len(sys.argv) > 1 else "label_sets.png", dpi=130)
