"""What is minimised: losses, an objective with corners, and the planes below it.

All losses for two classes bound the zero-one loss from above, and differ in what they charge for examples that are
right by little or wrong by much. With the hinge loss the objective of two weights has creases, the sharper the larger
the price C of the losses (the four examples are those of Iglesias, 2013, figure 3.1). Cutting planes touch a convex
function from below; where the highest of them is lowest the next one is cut, and their gap to the function is the
certificate.

    python examples/loss_functions.py [picture.png]
"""

import sys

import matplotlib.pyplot as plt
import numpy as np

from structlearn import StructuralSVM
from structlearn.estimators.regularized_risk import Hinge, Logistic, Squared, SquaredHinge
from structlearn.models import Multiclass

BLUE, INK = "#2463a8", "#20242c"
figure = plt.figure(figsize=(14, 10), layout="constrained")
losses, objectives, cuts = figure.subfigures(3, 1)
ax = losses.subplots()
margins, ones = np.linspace(-2.5, 3, 400), np.ones(400)
ax.step([-2.5, 0, 3], [1, 1, 0], where="pre", color=INK, linewidth=2, label="zero-one")
for name, loss, scale, style in (
    ("hinge", Hinge(), 1, "-"),
    ("squared hinge, × 2", SquaredHinge(), 2, "-"),
    ("logistic, / log 2", Logistic(), 1 / np.log(2), "-"),
    ("squared, × 2", Squared(), 2, "--"),
):
    ax.plot(margins, scale * loss.value(ones, margins), style, label=name)
    print(f"{name:20} at margins −1, 0, 1, 2: {scale * loss.value(ones[:4], np.array([-1.0, 0, 1, 2]))}")
ax.set(xlabel="margin y f(x)", ylabel="loss", ylim=(0, 4.5))
ax.legend(frameon=False)

X, y = np.array([[-10.0], [-4.0], [6.0], [5.0]]), np.array([1, 1, -1, -1])
grid = np.meshgrid(np.linspace(-0.5, 0.5, 81), np.linspace(-0.5, 0.5, 81))
# Ψ(x, −1) = (x, 0) and Ψ(x, +1) = (0, x): the score of the right class less that of the other.
lead = (y[:, None] * X) * (grid[1] - grid[0]).ravel()
size = 0.5 * (grid[0] ** 2 + grid[1] ** 2)
for k, C in enumerate((0.001, 0.005, 0.02, 0.1)):
    objective = size + C * np.maximum(0, 1 - lead).sum(axis=0).reshape(size.shape)
    svm = StructuralSVM(Multiclass(), C=4 * C, tol=1e-8).fit(X, y)
    print(f"C = {C:g}: lowest on the grid {objective.min():.5f}, found {svm.objective_:.5f} at {svm.w_.round(4)}")
    ax = objectives.add_subplot(1, 4, 1 + k, projection="3d")
    ax.plot_surface(*grid, objective, cmap="viridis", rcount=81, ccount=81, linewidth=0, antialiased=False)
    ax.set(title=f"½‖w‖² + C Σ ξ, C = {C:g}", xlabel="w₁", ylabel="w₂")
    ax.view_init(30, -120)


def risk(w):
    """A convex function of one weight, and its slope: mean logistic losses of five examples."""
    x, truths = np.array([2.0, 1.0, 0.5, -1.5, 1.5]), np.array([1.0, 1.0, -1.0, 1.0, -1.0])
    return Logistic().value(truths, w * x).mean(), (Logistic().derivative(truths, w * x) * x).mean()


places = np.linspace(-4, 4, 2001)
curve = np.array([risk(place)[0] for place in places])
planes, w = [], -3.5
for step in range(1, 5):
    value, slope = risk(w)
    planes.append(value + slope * (places - w))
    below = np.max(planes, axis=0)
    ax = cuts.add_subplot(1, 4, step)
    ax.plot(places, curve, color=BLUE)
    for plane in planes:
        ax.plot(places, plane, color=INK, linewidth=0.8)
    ax.plot(w, value, "o", color=INK, fillstyle="none")
    w = places[below.argmin()]
    gap = curve[below.argmin()] - below.min()
    ax.vlines(w, below.min(), curve[below.argmin()], color="#d1411f")
    ax.set(title=f"step {step}: gap {gap:.3f}", ylim=(-0.3, 3), xlabel="w")
    print(f"cutting plane {step}: next at {w:6.3f}, gap {gap:.4f}")
figure.savefig(sys.argv[1] if len(sys.argv) > 1 else "loss_functions.png", dpi=100)
