"""Count or optimise? A hidden Markov model against a chain.

A hidden Markov model is trained by counting, in no time, and is hard to beat where its assumptions hold. Here they do
not: every measurement comes several times with almost the same noise, and the model takes the copies for independent
witnesses. The chain makes no assumption about the measurements and does not care.

    python examples/hidden_markov.py [picture.png]
"""

import sys

import matplotlib.pyplot as plt
import numpy as np

from structlearn import ConditionalRandomField, HiddenMarkov, StructuralSVM
from structlearn.datasets import make_hmm_sequences
from structlearn.estimators.generative import Gaussian
from structlearn.models import Chain

data = make_hmm_sequences(120, length=50, n_features=3, random_state=3)
random = np.random.default_rng(0)
noisy = [x + 1.5 * random.normal(size=x.shape) for x in data.X]
copies = {
    n: [np.hstack([x] + [x[:, :1] + 0.05 * random.normal(size=(len(x), 1)) for _ in range(n)]) for x in noisy]
    for n in (0, 1, 2, 4, 8)
}
learners = {
    "hidden Markov model": lambda: HiddenMarkov(Gaussian()),
    "structural SVM": lambda: StructuralSVM(Chain(), fit_intercept=True),
    "conditional random field": lambda: ConditionalRandomField(Chain(), fit_intercept=True),
}

print("copies of one measurement ", *(f"{n:6}" for n in copies))
figure, ax = plt.subplots(figsize=(6, 3.8), layout="constrained")
for name, learner in learners.items():
    right = [learner().fit(X[:60], data.Y[:60]).score(X[60:], data.Y[60:]) for X in copies.values()]
    print(f"{name:26}", *(f"{score:6.1%}" for score in right))
    ax.plot(range(len(copies)), right, marker=".", label=name)
ax.set(
    xlabel="copies of one measurement", ylabel="labels that are right", xticks=range(len(copies)), xticklabels=copies
)
ax.legend(frameon=False)
figure.savefig(sys.argv[1] if len(sys.argv) > 1 else "hidden_markov.png", dpi=130)
