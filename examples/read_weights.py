"""What it looks at: the weights as pictures, and a decision explained.

The models are linear, so what they learnt can be looked at. The weights of a reader of handwritten numbers are
pictures of the strokes that speak for a digit and against it, and `explain` adds up why a digit was read as it was:
so much from the pixels, so much from the digits before and after.

    python examples/read_weights.py [picture.png]
"""

import sys

import matplotlib.pyplot as plt
import numpy as np

from structlearn import StructuralSVM, plots
from structlearn.datasets import load_digit_sequences
from structlearn.models import Chain

train, test = load_digit_sequences("train"), load_digit_sequences("test")
reader = StructuralSVM(Chain(), C=20).fit(train.X, train.Y)
top = reader.top_weights(4)
print(
    "digits that like to follow:", *(f"{before}→{after} {weight:+.2f}" for before, after, weight in top.transitions[:4])
)

# A digit that its neighbours save: the pixels alone speak for another.
for i, x in enumerate(test.X):
    read = reader.predict([x])[0]
    for t in range(1, len(read) - 1):
        why = reader.explain(x, t)
        pixels = sum(each.amount for each in why.contributions if isinstance(each.source, int))
        if pixels < -0.2 and why.label == test.Y[i][t]:
            break
    else:
        continue
    break
print(f"\nnumber {i}: {' '.join(map(str, read))}; why is digit {t} a {why.label} and not a {why.against}?")
print(f"{pixels:+8.2f}  the pixels")
for each in why.contributions:
    if not isinstance(each.source, int):
        print(f"{each.amount:+8.2f}  {each.source}")
print(f"{why.difference:+8.2f}  together")

emissions = reader.model_.unpack(reader.spec_, reader.w_).emissions
figure = plt.figure(figsize=(10, 4.4), layout="constrained")
left, right = figure.subfigures(1, 2, width_ratios=(1.2, 1))
left.suptitle("what speaks for a digit (red) and against it (blue)")
reach = np.abs(emissions).max()
for digit, ax in enumerate(left.subplots(2, 5).flat):
    ax.imshow(emissions[:, digit].reshape(8, 8), cmap="RdBu_r", vmin=-reach, vmax=reach)
    ax.set_title(digit)
    ax.axis("off")
right.suptitle("which digit follows which")
plots.transitions(reader, right.subplots())
figure.savefig(sys.argv[1] if len(sys.argv) > 1 else "read_weights.png", dpi=130)
