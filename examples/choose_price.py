"""Choosing C, and an option of the model, by cross-validation.

Estimators are scikit-learn's, and so `GridSearchCV` finds the price C of mistakes and whether the chain should score
the ends of a number. Too small a C and nothing is learnt, too large a C and the noise is learnt, too.

    python examples/choose_price.py [picture.png]
"""

import sys

import matplotlib.pyplot as plt
import numpy as np
from sklearn.model_selection import GridSearchCV

from structlearn import StructuralSVM
from structlearn.datasets import load_digit_sequences
from structlearn.models import Chain

numbers, others = load_digit_sequences(n_sequences=60, noise=0.5), load_digit_sequences("test", noise=0.5)
prices = np.logspace(-1, 2, 6)
search = GridSearchCV(
    StructuralSVM(Chain(), tol=0.01), {"C": prices, "model__boundaries": [True, False]}, cv=4, return_train_score=True
)
search.fit(numbers.X, numbers.Y)
best = search.best_params_
print(f"best of {len(search.cv_results_['params'])}: C = {best['C']:.3g}, boundaries = {best['model__boundaries']}")
print(f"cross-validated accuracy {search.best_score_:.1%}, on other numbers {search.score(others.X, others.Y):.1%}")

results, these = search.cv_results_, search.cv_results_["param_model__boundaries"] == best["model__boundaries"]
print("\nC        ", *(f"{price:6.3g}" for price in prices))
figure, ax = plt.subplots(figsize=(6, 4), layout="constrained")
for part, name, colour in (("train", "training", "#8a919c"), ("test", "held out", "#2463a8")):
    mean, spread = results[f"mean_{part}_score"][these], results[f"std_{part}_score"][these]
    print(f"{name:9}", *(f"{value:6.1%}" for value in mean))
    ax.plot(prices, mean, marker=".", color=colour, label=name)
    ax.fill_between(prices, mean - spread, mean + spread, color=colour, alpha=0.2, linewidth=0)
ax.axvline(best["C"], color="#d1411f", linestyle="--", linewidth=1, label=f"C = {best['C']:.3g}")
ax.set(xscale="log", xlabel="C", ylabel="digits that are right")
ax.legend(frameon=False)
figure.savefig(sys.argv[1] if len(sys.argv) > 1 else "choose_price.png", dpi=130)
