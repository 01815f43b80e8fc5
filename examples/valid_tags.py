"""Tags that make sense: a chain that must keep to BIO.

Names are marked by tags: B-PER begins a person, I-PER goes on with one. An I-PER after an O, or after a B-ORG, means
nothing, but where words are ambiguous and examples few, a tagger says such things. ``allowed_transitions="BIO"`` rules
them out, in training as in prediction, so that every prediction can be read as names.

    python examples/valid_tags.py [picture.png]
"""

import sys

import matplotlib.pyplot as plt
import numpy as np

from structlearn import StructuralSVM, plots
from structlearn.data import spans
from structlearn.metrics import span_scores
from structlearn.models import Chain

WORDS = {
    "B-PER": "Ada Emmy Alan Grace Kurt Rosa Dr Miss",
    "I-PER": "Ford Hopper Noether Bell Parks Baker Stone Jordan",
    "B-ORG": "Ford Bell Acme Baker United General Royal Stone",
    "I-ORG": "Motor Labs Company Works Steel and Grace Hopper",
    "O": "met joined left praised near of and the today Miss",
}


def sentence(random):
    tags = []
    for _ in range(random.integers(2, 6)):
        kind, length = str(random.choice(["PER", "ORG", "O", "O"])), random.integers(1, 4)
        tags += ["O"] if kind == "O" else [f"B-{kind}"] + [f"I-{kind}"] * (length - 1)
    # Some words stand where nobody expects them.
    lists = [WORDS[tag if random.random() < 0.85 else str(random.choice(list(WORDS)))] for tag in tags]
    return [str(random.choice(words.split())) for words in lists], tags


random = np.random.default_rng(0)
words, Y = zip(*(sentence(random) for _ in range(300)), strict=True)
X = [[{"word": word} for word in sentence] for sentence in words]
free = StructuralSVM(Chain(), C=20).fit(X[:50], Y[:50])
bound = StructuralSVM(Chain(allowed_transitions="BIO"), C=20).fit(X[:50], Y[:50])

read = {"anything goes": free.predict(X[50:]), "only BIO": bound.predict(X[50:])}
for name, predicted in read.items():
    in_names = sum(end - begin for y in predicted for _, begin, end in spans(y, "BIO"))
    loose = sum(tag != "O" for y in predicted for tag in y) - in_names
    strict = span_scores(Y[50:], predicted, "BIO").f1
    print(f"{name:14} {loose:3} tags without meaning, strict F1 of the names {strict:.3f}")

right = [[list(a) == list(b) for a, b in zip(predicted, Y[50:], strict=True)] for predicted in read.values()]
i = next(i for i, (a, b) in enumerate(zip(*right, strict=True)) if b and not a and len(words[50 + i]) > 5)
figure = plt.figure(figsize=(11, 3.8), layout="constrained")
left, side = figure.subfigures(1, 2, width_ratios=(1.6, 1))
for ax, (name, predicted) in zip(left.subplots(2, 1), read.items(), strict=True):
    plots.sequence(words[50 + i], Y[50 + i], predicted[i], ax, classes=free.classes_).set_title(name)
plots.transitions(bound, side.subplots()).set_title("crossed out: what may not follow")
figure.savefig(sys.argv[1] if len(sys.argv) > 1 else "valid_tags.png", dpi=130)
