"""Classes in a tree: a cat is rather a dog than a cow.

Sixteen kinds of animals with few examples of each. A taxonomy lets kinds of one family share what is learnt about the
family, and makes mistakes within it cheaper. With few examples this pays twice: fewer mistakes, and milder ones.

    python examples/taxonomy.py [picture.png]
"""

import sys

import matplotlib.pyplot as plt
import numpy as np

from structlearn import StructuralSVM
from structlearn.models import Multiclass, Taxonomy

FAMILIES = {
    "mammal": {"cat": "lion lynx tabby", "dog": "wolf fox terrier", "cattle": "cow bison yak"},
    "bird": {"owl": "barn-owl eagle-owl", "duck": "mallard eider", "gull": "herring-gull tern kittiwake"},
}
parents = {family: kingdom for kingdom, families in FAMILIES.items() for family in families}
parents |= {
    kind: family for families in FAMILIES.values() for family, kinds in families.items() for kind in kinds.split()
}
parents |= {"mammal": "animal", "bird": "animal"}
kinds = [name for name in parents if name not in parents.values()]
tree = Taxonomy(parents)

random = np.random.default_rng(0)
place = {"animal": np.zeros(40)}
for name in ["mammal", "bird", *(n for n in parents if n not in ("mammal", "bird"))]:
    place[name] = place[parents[name]] + random.normal(size=40) * 0.6


def photographs(n):
    y = random.choice(kinds, size=n)
    return np.array([place[kind] for kind in y]) + random.normal(size=(n, 40)) * 2.0, y


X_test, y_test = photographs(2000)
cost = tree.tree_loss(kinds)
models = {"sixteen classes": Multiclass(), "the tree": Multiclass(output_features=tree, cost=tree)}
sizes, wrong, far = [32, 64, 128, 256, 512, 1024], {name: [] for name in models}, {name: [] for name in models}
print("examples  " + "  ".join(f"{name:>30}" for name in models))
for n in sizes:
    X, y = photographs(n)
    for name, model in models.items():
        found = StructuralSVM(model, C=1.0).fit(X, y).predict(X_test)
        wrong[name].append(np.mean(found != y_test))
        far[name].append(np.mean([cost[kinds.index(a), kinds.index(b)] for a, b in zip(y_test, found, strict=True)]))
    print(f"{n:8}  " + "  ".join(f"{wrong[name][-1]:6.1%} wrong, tree loss {far[name][-1]:.3f}" for name in models))

figure, both = plt.subplots(1, 2, figsize=(8, 3.4), layout="constrained")
for ax, curves, title in zip(both, (wrong, far), ("wrong kinds", "distance in the tree"), strict=True):
    for name, values in curves.items():
        ax.plot(sizes, values, marker=".", label=name)
    ax.set(xscale="log", xlabel="examples", title=title, ylim=(0, None), xticks=sizes, xticklabels=sizes)
    ax.minorticks_off()
both[0].legend(frameon=False)
figure.savefig(sys.argv[1] if len(sys.argv) > 1 else "taxonomy.png", dpi=130)
