"""Which word translates which, where phrases may swap places?

A translation keeps most phrases together, but some of them change places: an adjective and its noun, say. An inversion
transduction grammar (Wu 1997) allows just that: two neighbouring pieces are translated in the same order or in the
opposite one, and so on up to the sentence. No model of the library knows it. The class below lists the steps from
single words to whole sentences, and the compiled decoders do the rest: the most violating alignments, the k best,
probabilities. Nothing but pairs of words scores, but what cannot be made by swapping pieces is out.

    python examples/inversion_transduction.py [picture.png]
"""

import sys
import time

import matplotlib.pyplot as plt
import numpy as np

from structlearn import ConditionalRandomField, StructuralSVM
from structlearn.data import Hypergraph
from structlearn.models import HypergraphModel

NOUNS = {"house": "maison", "book": "livre", "table": "table", "flower": "fleur", "cat": "chat", "garden": "jardin"}
ADJECTIVES = {"red": "rouge", "black": "noir", "open": "ouvert", "wooden": "boisé", "empty": "vide", "quiet": "calme"}
VERBS = {"sees": "voit", "wants": "veut", "paints": "peint", "finds": "trouve"}


class Alignment(HypergraphModel):
    """x is a pair of sentences of n words each; y[i] is the word that translates word i.

    The item (i, k, n, kind) is a piece of n words from i on, translated by n words from k on. Of three pieces in a row,
    all in order, the first two are put together first: each alignment is then derived in one way only, as it must be.
    """

    def steps(self, x):
        for n in range(1, len(x[0]) + 1):
            for i in range(len(x[0]) - n + 1):
                for k in range(len(x[0]) - n + 1):
                    if n == 1:
                        yield (i, k, 1, "word"), [], [(i, k)]
                    for m in range(1, n):
                        for first in ("word", "kept", "swapped"):
                            for second in ("word", "swapped"):
                                pieces = [(i, k, m, first), (i + m, k + m, n - m, second)]
                                yield (i, k, n, "kept"), pieces, []
                            for second in ("word", "kept"):
                                pieces = [(i, k + n - m, m, first), (i + m, k, n - m, second)]
                                yield (i, k, n, "swapped"), pieces, []
        for kind in ("word", "kept", "swapped"):
            yield "sentence", [(0, 0, len(x[0]), kind)], []

    def features(self, x, part):
        i, k = part
        return {f"{x[0][i]} {x[1][k]}": 1.0, f"moved by {k - i:+}": 1.0}

    def parts(self, x, y):
        return enumerate(y)

    def output(self, x, parts):
        return [k for _, k in sorted(parts)]


def phrase(random):
    """Some words, their translations, and which is which: adjectives come after nouns there."""
    noun, adjective = random.choice(list(NOUNS)), random.choice(list(ADJECTIVES))
    if random.random() < 0.3:
        return ["the", noun], ["le", NOUNS[noun]], [0, 1]
    return ["the", adjective, noun], ["le", NOUNS[noun], ADJECTIVES[adjective]], [0, 2, 1]


def sentence(random):
    verb = str(random.choice(list(VERBS)))
    before, after = phrase(random), phrase(random)
    n = len(before[0])
    order = [*before[2], n, *(n + 1 + k for k in after[2])]
    return (before[0] + [verb] + after[0], before[1] + [VERBS[verb]] + after[1]), order


random = np.random.default_rng(0)
X, Y = zip(*(sentence(random) for _ in range(60)), strict=True)
started = time.process_time()
svm = StructuralSVM(Alignment(), C=10).fit(X[:20], Y[:20])
seconds = time.process_time() - started
graphs = [Hypergraph.of(Alignment().steps(x)) for x in X[:20]]
n_steps = sum(graph.n_edges for graph in graphs)
bound = svm.model_.bind(svm.spec_, X[:20])
started = time.process_time()
for _ in range(20):
    bound.best(svm.w_, np.arange(20))
rate = 20 * n_steps / (time.process_time() - started)
crf = ConditionalRandomField(Alignment(), C=10).fit(X[:20], Y[:20])

found = [a == b for y, order in zip(Y[20:], svm.predict(X[20:]), strict=True) for a, b in zip(y, order, strict=True)]
print(f"{np.mean(found):.1%} of the words of 40 new sentences aligned as they should be; gap {svm.duality_gap_:.2%}")
words, n_items = sum(len(x[0]) for x in X[:20]), sum(graph.n_items for graph in graphs)
print(f"20 sentences, {words} words: {n_items:,} items, {n_steps:,} steps, listed and trained on in {seconds:.1f} s")
print(f"the best alignments are found at {rate / 1e6:.0f} million steps a second")
longest = max(X[20:], key=lambda x: len(x[0]))
print(" ".join(longest[0]))
for order, log_p in crf.k_best([longest], 3)[0]:
    print(f"P = {np.exp(log_p):.2f}  " + " ".join(longest[1][k] for k in order))

probabilities = np.zeros((len(longest[0]),) * 2)
for pair, p in crf.predict_marginals([longest])[0].items():
    probabilities[pair] = p
figure, ax = plt.subplots(figsize=(6, 5), layout="constrained")
ax.imshow(probabilities, cmap="Blues", vmin=0, vmax=1)
ax.set_xticks(range(len(longest[1])), longest[1], rotation=45)
ax.set_yticks(range(len(longest[0])), longest[0])
ax.set_title("How probable it is that one word translates the other")
figure.savefig(sys.argv[1] if len(sys.argv) > 1 else "inversion_transduction.png", dpi=130)
