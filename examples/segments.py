"""Stretches with a typical length: segments against a chain.

A machine is idle, warms up, or runs; warming up always takes 8 to 12 minutes. A noisy sensor hardly tells the states
apart. A chain scores minutes and pairs of them; a semi-Markov model scores whole segments, so it can learn how long
one lasts.

    python examples/segments.py [picture.png]
"""

import sys
from itertools import pairwise

import matplotlib.pyplot as plt
import numpy as np

from structlearn import StructuralSVM, plots
from structlearn.models import Chain, Segments

MINUTES = {"idle": (5, 30), "warm-up": (8, 13), "run": (15, 40)}
LEVEL = {"idle": 0.0, "warm-up": 1.0, "run": 2.0}


def day(random):
    """A day as segments (state, begin, end), and what the sensor shows."""
    segments = []
    while not segments or segments[-1][2] < 150:
        begin = segments[-1][2] if segments else 0
        state = list(MINUTES)[len(segments) % 3]
        segments.append((state, begin, begin + int(random.integers(*MINUTES[state]))))
    level = np.concatenate([np.full(end - begin, LEVEL[state]) for state, begin, end in segments])
    signal = level + 1.2 * random.normal(size=len(level))
    return np.column_stack([signal, np.ones(len(signal))]), segments


def by_minute(segments):
    return [state for state, begin, end in segments for _ in range(begin, end)]


random = np.random.default_rng(0)
X, Y = zip(*(day(random) for _ in range(80)), strict=True)
states = [by_minute(y) for y in Y]
chain = StructuralSVM(Chain(), C=100).fit(X[:50], states[:50])
whole = StructuralSVM(Segments(max_length=45, loss="hamming"), C=100).fit(X[:50], Y[:50])
found = {"chain": chain.predict(X[50:]), "segments": [by_minute(y) for y in whole.predict(X[50:])]}

truth = [state for y in states[50:] for state in y]
for name, predicted in found.items():
    flat = [state for y in predicted for state in y]
    changes = sum(a != b for y in predicted for a, b in pairwise(y))
    print(f"{name:9} {np.mean(np.array(flat) == truth):.1%} of the minutes right, {changes} changes of state")
print(f"the truth {sum(len(y) - 1 for y in Y[50:])} changes of state")

figure, rows = plt.subplots(3, 1, figsize=(8, 5), layout="constrained", sharex=True)
rows[0].plot(X[50][:, 0], color="#8a919c", linewidth=1)
rows[0].set_title("the sensor")
for ax, (name, predicted) in zip(rows[1:], found.items(), strict=True):
    plots.sequence(X[50], states[50], predicted[0], ax).set_title(name)
rows[2].get_legend().remove()
figure.savefig(sys.argv[1] if len(sys.argv) > 1 else "segments.png", dpi=130)
