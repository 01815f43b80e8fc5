"""What does it cost to list the steps of a structure instead of writing a kernel for it?

`Segments` is compiled for segmentations. Here they are once more as a `HypergraphModel`, in twenty lines that list how
a segmentation grows from left to right. Both have the same objective; the special kernel is faster, because
it shares the sums of tokens between segments, puts labels side by side, and has no steps to list in Python.

    python examples/listed_segments.py [picture.png]
"""

import sys
import time
from itertools import pairwise

import matplotlib.pyplot as plt
import numpy as np

from structlearn import StructuralSVM
from structlearn.losses import AdditiveLoss
from structlearn.models import HypergraphModel, Segments

LABELS, LONGEST = "ab", 4


class MissedSegments(AdditiveLoss):
    """Segments that are only in one of truth and prediction; moves between them cost nothing."""

    def parts(self, truth, local):
        return np.array([0.0 if part[0] == "move" else -1.0 if part in truth else 1.0 for part in local.labels])


class ListedSegments(HypergraphModel):
    """Segments (label, begin, end); the item (end, label) is all that ends there with such a segment."""

    loss = MissedSegments()

    def steps(self, x):
        for end in range(1, len(x) + 1):
            for begin in range(max(end - LONGEST, 0), end):
                for label in LABELS:
                    segment = (label, begin, end)
                    for before in LABELS if begin else [None]:
                        move = [("move", begin, before, label)] if begin else []
                        yield (end, label), [(begin, before)] if begin else [], [segment, *move]
        for label in LABELS:
            yield "done", [(len(x), label)], []

    def features(self, x, part):
        if part[0] == "move":
            return {f"{part[2]} to {part[3]}": 1.0}
        label, begin, end = part
        tokens = {f"{label} {column}": value for column, value in enumerate(x[begin:end].sum(axis=0).tolist())}
        return {**tokens, f"{label} has {end - begin}": 1.0}

    def parts(self, x, y):
        return [*y, *(("move", right[1], left[0], right[0]) for left, right in pairwise(y))]

    def output(self, x, parts):
        return sorted((part for part in parts if part[0] != "move"), key=lambda part: part[1])


def example(random, length):
    """Runs of a and b, each of them two to four tokens long, seen through noise."""
    y, end = [], 0
    while end < length:
        begin, end = end, min(end + int(random.integers(2, LONGEST + 1)), length)
        y.append((LABELS[len(y) % 2], begin, end))
    labels = np.repeat([label == "a" for label, _, _ in y], [end - begin for _, begin, end in y])
    return np.column_stack([labels + 0.5 * random.normal(size=length), np.ones(length)]), y


random = np.random.default_rng(0)
X, Y = zip(*(example(random, length) for length in random.integers(5, 30, size=120)), strict=True)
X, Y = list(X), list(Y)
models = {"listed": ListedSegments(), "compiled": Segments(classes=LABELS, max_length=LONGEST)}
found, seconds = {}, {}
for name, model in models.items():
    started = time.process_time()
    found[name] = StructuralSVM(model, C=20).fit(X[:80], Y[:80])
    seconds[name] = time.process_time() - started
    right = [segment in y for y, z in zip(Y[80:], found[name].predict(X[80:]), strict=True) for segment in z]
    print(
        f"{name:9} objective {found[name].objective_:.3f}, {np.mean(right):.0%} of its new segments right, "
        f"{seconds[name]:.2f} s"
    )
training = {name: svm.history_[-1]["seconds"] for name, svm in found.items()}
print(
    f"in all the special kernel is {seconds['listed'] / seconds['compiled']:.0f} times as fast, in training alone "
    f"{training['listed'] / training['compiled']:.1f} times: most of the rest is to list the steps and their features"
)

figure, ax = plt.subplots(figsize=(7, 2.5), layout="constrained")
ax.barh(list(seconds), [1000 * seconds[name] for name in seconds], label="reading the data, listing steps and features")
ax.barh(list(seconds), [1000 * training[name] for name in seconds], label="training")
ax.set(xlabel="milliseconds")
ax.legend()
figure.savefig(sys.argv[1] if len(sys.argv) > 1 else "listed_segments.png", dpi=130)
