"""Small random instances with an enumerated twin."""

import numpy as np
from hypothesis import strategies as st

from structlearn.models import Chain, ClassAttributes, Multiclass
from structlearn.waist import Scaling
from tests.models.enumerated import EnumeratedChain, EnumeratedMulticlass, Twins, bound

SCALINGS = [
    Scaling(None, "hard"),
    Scaling(None, "linear"),
    Scaling(None, "squared"),
    Scaling("margin", "linear"),
    Scaling("margin", "squared"),
    Scaling("slack", "linear"),
    Scaling("slack", "squared"),
]


def multiclass_twins(random, *, n=8, n_inputs=3, n_classes=3, cost="random", output_features=False):
    X = random.normal(size=(n, n_inputs))
    Y = random.integers(n_classes, size=n)
    classes = list(range(n_classes))
    if isinstance(cost, str):
        cost = (
            random.integers(0, 4, (n_classes, n_classes)) / 2 if cost == "random" else np.ones((n_classes, n_classes))
        )
    cost = cost * (1.0 - np.eye(n_classes))
    attributes = random.normal(size=(n_classes, 2))
    features = ClassAttributes(dict(zip(classes, attributes, strict=True))) if output_features else None
    model = Multiclass(classes=classes, cost=cost, output_features=features)
    reference = EnumeratedMulticlass(cost, np.hstack([np.eye(n_classes), attributes]) if output_features else None)
    return Twins(bound(model, X, Y), reference, list(X), Y.tolist())


def chain_twins(random, *, lengths=(1, 2, 3), n_inputs=2, n_labels=3, loss="hamming", whole=False, **options):
    X = [random.normal(size=(length, n_inputs)) for length in lengths]
    X = [x.round() for x in X] if whole else X
    Y = [tuple(random.integers(n_labels, size=length).tolist()) for length in lengths]
    problem = bound(Chain(classes=list(range(n_labels)), loss=loss, **options), X, Y)
    return Twins(problem, EnumeratedChain(n_labels, zero_one=loss == "zero_one", **options), X, Y)


def weights(random, twins, *, ties):
    """Random weights; small whole numbers, where equal scores are wanted."""
    size = twins.problem.n_features
    return random.integers(-1, 2, size).astype(float) if ties else random.normal(size=size)


@st.composite
def multiclass_instances(draw):
    random = np.random.default_rng(draw(st.integers(0, 2**32)))
    twins = multiclass_twins(
        random,
        n=draw(st.integers(1, 6)),
        n_inputs=draw(st.integers(1, 3)),
        n_classes=draw(st.integers(1, 4)),
        output_features=draw(st.booleans()),
    )
    return twins, weights(random, twins, ties=draw(st.booleans()))


@st.composite
def chain_instances(draw, losses=("hamming", "weighted", "zero_one")):
    random = np.random.default_rng(draw(st.integers(0, 2**32)))
    n_labels = draw(st.integers(1, 3))
    loss = draw(st.sampled_from(losses))
    options = {"boundaries": draw(st.booleans()), "balance": draw(st.sampled_from([0.0, 0.5, 1.0]))}
    if loss == "weighted":
        grid = draw(st.sampled_from([0.1, 0.25, 1.0]))
        steps = draw(st.lists(st.integers(0, 3), min_size=n_labels, max_size=n_labels))
        options["label_weight"] = {label: grid * step for label, step in enumerate(steps)}
        loss = "hamming"
    lengths = draw(st.lists(st.integers(1, 4), min_size=1, max_size=3))
    ties = draw(st.booleans())
    twins = chain_twins(random, lengths=lengths, n_labels=n_labels, loss=loss, whole=ties, **options)
    return twins, weights(random, twins, ties=ties)
