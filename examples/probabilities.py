"""How sure is it? Margins and probabilities.

A structural SVM and a conditional random field, the same chain on the same noisy handwritten numbers. Both read about
equally well, but the second also says how probable every digit is at every place. Where it is unsure it is often wrong,
so it can leave these digits to a person.

    python examples/probabilities.py [picture.png]
"""

import sys

import matplotlib.pyplot as plt
import numpy as np

from structlearn import ConditionalRandomField, StructuralSVM
from structlearn.datasets import load_digit_sequences
from structlearn.models import Chain

train, test = load_digit_sequences("train", noise=0.4), load_digit_sequences("test", noise=0.4)
svm = StructuralSVM(Chain(), C=30).fit(train.X, train.Y)
crf = ConditionalRandomField(Chain(), C=100).fit(train.X, train.Y)
for name, estimator in {"structural SVM": svm, "conditional random field": crf}.items():
    print(f"{name:24}  {1 - estimator.score(test.X, test.Y):.1%} of the digits wrong")

marginals = np.concatenate(crf.predict_marginals(test.X))
sure, right = marginals.max(axis=1), marginals.argmax(axis=1) == np.concatenate(test.Y)
print("\nprobability of the digit   digits   of these right")
for low, high in ((0.0, 0.5), (0.5, 0.7), (0.7, 0.9), (0.9, 0.99), (0.99, 1.01)):
    these = (sure >= low) & (sure < high)
    print(f"      {low:.2f} to {min(high, 1.0):.2f}          {these.sum():5}   {right[these].mean():10.1%}")
for limit in (0.0, 0.7, 0.9):
    kept = sure >= limit
    print(f"reading only digits above {limit:.1f}: {kept.mean():.0%} of them, {1 - right[kept].mean():.1%} wrong")

i = int(np.argmax([len(y) >= 8 and list(p) != list(y) for y, p in zip(test.Y, svm.predict(test.X), strict=True)]))
chances, truth = crf.predict_marginals([test.X[i]])[0], test.Y[i]
figure, (above, ax) = plt.subplots(2, 1, figsize=(8, 5), layout="constrained", height_ratios=(1, 4))
above.imshow(np.hstack(test.X[i].reshape(-1, 8, 8)), cmap="Greys", aspect="auto")
above.axis("off")
ax.imshow(chances.T, cmap="Blues", vmin=0, vmax=1, aspect="auto")
for t, digit in enumerate(svm.predict([test.X[i]])[0]):
    ax.plot(t, truth[t], "o", color="white", markeredgecolor="#20242c")
    if digit != truth[t]:
        ax.plot(t, digit, "X", color="#d1411f", markersize=9)
ax.set(
    yticks=range(10),
    xticks=[],
    ylabel="digit",
    title="P(digit | number); circles: the truth, cross: what the SVM reads",
)
figure.savefig(sys.argv[1] if len(sys.argv) > 1 else "probabilities.png", dpi=130)
