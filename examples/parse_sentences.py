"""Who hangs on whom: dependency trees of sentences.

In "eats soup with a spoon" the spoon goes with eating, in "eats soup with beans" the beans with the soup. A parser that
sees twelve trees learns which words do which; a conditional random field says how sure it is, and takes hints.

    python examples/parse_sentences.py [picture.png]
"""

import sys

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.patches import Arc

from structlearn import ConditionalRandomField
from structlearn.drawing import draw_dependencies
from structlearn.models import DependencyTree

#: Each word with its tag, its head and the label of the arc from there.
TREEBANK = """
Ann/NOUN/2/nsubj eats/VERB/0/root soup/NOUN/2/obj with/ADP/6/case a/DET/6/det spoon/NOUN/2/obl
Ann/NOUN/2/nsubj eats/VERB/0/root soup/NOUN/2/obj with/ADP/5/case beans/NOUN/3/nmod
Ben/NOUN/2/nsubj eats/VERB/0/root rice/NOUN/2/obj with/ADP/6/case a/DET/6/det fork/NOUN/2/obl
Ben/NOUN/2/nsubj eats/VERB/0/root rice/NOUN/2/obj with/ADP/5/case peas/NOUN/3/nmod
the/DET/2/det girl/NOUN/3/nsubj likes/VERB/0/root rice/NOUN/3/obj with/ADP/6/case beans/NOUN/4/nmod
the/DET/2/det boy/NOUN/3/nsubj cuts/VERB/0/root bread/NOUN/3/obj with/ADP/7/case a/DET/7/det knife/NOUN/3/obl
a/DET/2/det boy/NOUN/3/nsubj likes/VERB/0/root bread/NOUN/3/obj with/ADP/6/case butter/NOUN/4/nmod
Ann/NOUN/2/nsubj cuts/VERB/0/root the/DET/4/det bread/NOUN/2/obj
the/DET/2/det girl/NOUN/3/nsubj sleeps/VERB/0/root
Ben/NOUN/2/nsubj sleeps/VERB/0/root well/ADV/2/advmod
the/DET/2/det boy/NOUN/3/nsubj eats/VERB/0/root well/ADV/3/advmod
a/DET/2/det girl/NOUN/3/nsubj eats/VERB/0/root peas/NOUN/3/obj with/ADP/7/case a/DET/7/det spoon/NOUN/3/obl
"""


def read(line):
    rows = [word.split("/") for word in line.split()]
    return [(word, tag) for word, tag, _, _ in rows], [(int(head), label) for _, _, head, label in rows]


X, Y = zip(*map(read, TREEBANK.split("\n")[1:-1]), strict=True)
parser = ConditionalRandomField(DependencyTree()).fit(X, Y)

the_girl_eats_bread_with = [("the", "DET"), ("girl", "NOUN"), ("eats", "VERB"), ("bread", "NOUN"), ("with", "ADP")]
new = [[*the_girl_eats_bread_with, ("a", "DET"), ("spoon", "NOUN")], [*the_girl_eats_bread_with, ("beans", "NOUN")]]
trees = parser.predict(new)
arcs = [P.sum(axis=2) for P in parser.predict_marginals(new)]
for x, y, P in zip(new, trees, arcs, strict=True):
    words = [word for word, _ in x]
    print(draw_dependencies(words, y).text)
    print(f"{words[-1]} goes with {words[2]}: {P[3, len(x)]:.0%}, with {words[3]}: {P[4, len(x)]:.0%}\n")

hint = [None] * 6 + [(4, None)]
(told,) = parser.predict(new[:1], allowed=[hint])
print("told that the spoon is in the bread:", told)

figure, axes = plt.subplots(len(new), 1, figsize=(8, 6), layout="constrained")
for ax, x, y, P in zip(axes, new, trees, arcs, strict=True):
    for token, (head, label) in enumerate(y, 1):
        ax.text(token, -0.25, "\n".join(x[token - 1]), ha="center", va="top")
        if head == 0:
            ax.annotate(label, (token, 0), (token, 3.2), ha="center", arrowprops={"arrowstyle": "->"})
            continue
        middle, width, height = (head + token) / 2, abs(head - token), 1.3 * np.sqrt(abs(head - token))
        ax.add_patch(Arc((middle, 0), width, 2 * height, theta2=180, color="#1f5fa8", alpha=float(P[head, token])))
        ax.plot(token, 0, "v", color="#1f5fa8", markersize=5)
        told = f"{label} {P[head, token]:.0%}"
        ax.text(
            middle, height, told, ha="center", va="center", fontsize=8, bbox={"fc": "white", "ec": "none", "pad": 1}
        )
    ax.set(xlim=(0.4, 7.6), ylim=(-1.2, 3.6))
    ax.axis("off")
figure.savefig(sys.argv[1] if len(sys.argv) > 1 else "parse_sentences.png", dpi=130)
