"""Handwritten numbers as vectors: regression that reads.

A number becomes a vector: for each of its digits a coordinate that says which one it is, and others that say which one
comes next. Ridge regression with a Gaussian kernel learns a function to such vectors, by linear systems and without
decoding; to predict, dynamic programming finds the number whose vector is nearest. The structural SVM on pixels decodes
in every pass, and learns scores that are right together.

    python examples/vector_digits.py [picture.png]
"""

import sys
from time import perf_counter

import matplotlib.pyplot as plt
import numpy as np

from structlearn import StructuralSVM, VectorValuedRidge
from structlearn.datasets import load_digit_sequences
from structlearn.models import Chain
from structlearn.outputs import LabelSequenceOutputs

RIGHT, WRONG, GREY = "#2463a8", "#d1411f", "#9aa0a8"
train, test = load_digit_sequences("train"), load_digit_sequences("test")
X, Y = train.X[:100], train.Y[:100]
learners = {
    "structural SVM, pixels": StructuralSVM(Chain(), C=30),
    "vectors, digits alone": VectorValuedRidge(LabelSequenceOutputs(edges=0)),
    "vectors, pairs as well": VectorValuedRidge(LabelSequenceOutputs()),
}
wrong, read = {}, {}
for name, learner in learners.items():
    begin = perf_counter()
    learner.fit(X, Y)
    seconds = perf_counter() - begin
    read[name] = learner.predict(test.X)
    wrong[name] = 1 - learner.score(test.X, test.Y)
    print(f"{name:24} {wrong[name]:6.1%} of the digits wrong, {seconds:5.1f} s")

figure = plt.figure(figsize=(12, 5.2), layout="constrained")
left, right = figure.subfigures(1, 2, width_ratios=(1, 1.5))
upper, lower = left.subplots(2, 1)
bars = upper.barh(list(wrong), [100 * share for share in wrong.values()], color=[GREY, RIGHT, RIGHT])
upper.bar_label(bars, fmt=" {:.1f} %", fontsize=8)
upper.invert_yaxis()
upper.set(title="wrong digits of new numbers", xticks=[])
upper.spines[:].set_visible(False)
ridge = learners["vectors, pairs as well"]
lams, errors = zip(*((record["lam"], record["error"]) for record in ridge.left_out_), strict=True)
lower.semilogx(np.array(lams), errors, "o-", color=RIGHT, markersize=4)
lower.plot(ridge.lam_, min(errors), "o", color=RIGHT, markersize=11, markerfacecolor="none")
lower.set(xlabel="λ", title="error of numbers that are left out")
lower.spines[["top", "right"]].set_visible(False)

first, second = "structural SVM, pixels", "vectors, pairs as well"
differ = [i for i, (a, b) in enumerate(zip(read[first], read[second], strict=True)) if list(a) != list(b)]
shown = [i for i in differ if 6 <= len(test.Y[i]) <= 10][:5]
right.suptitle(f"read by {first} (upper) and by {second} (lower)", fontsize=10)
for row, i in zip(right.subplots(len(shown), 10), shown, strict=True):
    for t, ax in enumerate(row):
        ax.axis("off")
        if t < len(test.Y[i]):
            ax.imshow(test.X[i][t].reshape(8, 8), cmap="Greys", vmin=0, vmax=1.2)
            for height, name in ((-0.15, first), (-0.5, second)):
                digit = read[name][i][t]
                colour, weight = (RIGHT, "normal") if digit == test.Y[i][t] else (WRONG, "bold")
                style = {"ha": "center", "va": "center", "color": colour, "weight": weight}
                ax.text(0.5, height, digit, transform=ax.transAxes, **style)
figure.savefig(sys.argv[1] if len(sys.argv) > 1 else "vector_digits.png", dpi=130)
