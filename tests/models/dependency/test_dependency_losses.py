"""Losses of dependency trees against enumeration: by arcs, of one's own, of whole trees and of trees known in part."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from structlearn import ConditionalRandomField, StructuralSVM
from structlearn.evaluation import evaluate
from structlearn.losses import AdditiveLoss, CountedLoss, WrongArcs
from structlearn.models import DependencyTree
from structlearn.waist import Scaling
from tests.abilities.with_sums import dependency_tree
from tests.inference.enumerated_dependency import trees
from tests.models.dependency.enumerated_trees import EnumeratedTrees
from tests.models.partial_twins import check_all, twins

SEEDS = st.integers(0, 1000)
KINDS = [{}, {"order": 2}, {"projective": False, "single_root": False}]
CROSSING = [(0, "r"), (4, "x"), (1, "y"), (1, "z")]


def wrong_arcs(price):
    def loss(said, y):
        cost = 0.0
        for known, (head, label) in zip(said or [None] * len(y), y, strict=True):
            true_head, true_label = known or (None, None)
            if true_head not in (None, head):
                cost += 1.0
            elif true_label not in (None, label):
                cost += price
        return cost

    return loss


def said_of(random, entry):
    """All, a part or nothing of (head, label)."""
    head, label = entry
    return [entry, (head, None), (None, label), None][random.integers(4)]


@pytest.mark.parametrize("options", KINDS)
@pytest.mark.parametrize("price", [1.0, 0.0, 0.5, None])
@given(seed=SEEDS)
@settings(max_examples=2)
def test_trees_known_in_part_agree_with_enumeration(options, price, seed):
    zero_one = price is None
    if zero_one and not options.get("projective", True):
        return
    random = np.random.default_rng(seed)
    row = dependency_tree(random)
    X = [row.X[1], row.X[2]]
    model = DependencyTree(
        templates=["head.upos|modifier.upos|distance"],
        label_templates=["modifier.upos"],
        sibling_templates=["sibling.upos|direction"] if options.get("order") == 2 else None,
        labels=["a", "b"],
        loss="zero_one" if zero_one else WrongArcs(label=price),
        **options,
    )
    Y = [[said_of(random, entry) for entry in y] for y in row.Y[1:3]]
    Y[0] = None if seed % 2 else Y[0]
    spec = model.specify_partial(X, Y)
    loss = wrong_arcs(1.0 if zero_one else price)
    found = twins(
        model.bind_partial(spec, X, Y),
        EnumeratedTrees(model, spec),
        X,
        Y,
        (lambda said, y: float(loss(said, y) > 0.0)) if zero_one else loss,
        lambda said, y: wrong_arcs(1.0)(said, y) == 0.0,
    )
    check_all(found, random)


@pytest.mark.parametrize("options", KINDS)
@pytest.mark.parametrize("price", [1.0, 0.0, 0.25, 2.0])
def test_the_largest_loss_and_the_loss_of_every_tree_agree_with_enumeration(options, price):
    random = np.random.default_rng(3)
    X = [[("w", "T")] * n for n in (1, 2, 3, 4)]
    model = DependencyTree(loss=WrongArcs(label=price), templates=["distance"], label_templates=["distance"], **options)
    labels, single_root = ("a", "b"), options.get("single_root", True)
    outputs = [
        [
            [(head, labels[random.integers(2)]) for head in heads]
            for heads in trees(len(x), options.get("projective", True), single_root).tolist()
        ]
        for x in X
    ]
    truths = [ys[random.integers(len(ys))] for ys in outputs]
    model.set_params(labels=labels)
    spec = model.specify(X, truths)
    problem = model.bind(spec, X, truths)
    cost = wrong_arcs(price)
    every = [list(EnumeratedTrees(model, spec).outputs(x)) for x in X]
    most = [max(cost(y, other) for other in ys) for y, ys in zip(truths, every, strict=True)]
    assert problem.max_losses().tolist() == pytest.approx(most)
    for ys in zip(*(ys * (1 + 24 // len(ys)) for ys in outputs), strict=False):
        judged = model.bind(spec, X, list(ys))
        sums = [arc_sum(problem.part_losses(np.array([i])), y, labels) for i, y in enumerate(ys)]
        assert sums == pytest.approx(problem.losses(judged.truths).tolist())
        found = problem.losses(judged.truths)
        assert found.tolist() == pytest.approx([cost(y, other) for y, other in zip(truths, ys, strict=True)])


def arc_sum(local, y, labels):
    """⟨ℓ, μ(y)⟩, given numbers of all parts of a sentence, of which arcs come first."""
    n = len(y) + 1
    arcs = local[: n * n * len(labels)].reshape(n, n, len(labels))
    return sum(arcs[head, token, labels.index(label)] for token, (head, label) in enumerate(y, 1))


class OwnArcs(AdditiveLoss):
    """`WrongArcs`, in the form of one's own."""

    def parts(self, truth, local):
        found = np.ones(local.shape)
        found[:, 0] = 0.0
        for token, (head, label) in enumerate(truth, 1):
            found[head, token] = 0.5
            found[head, token, local.labels.index(label)] = 0.0
        return found


@pytest.mark.parametrize("options", KINDS)
def test_a_loss_of_ones_own_is_the_same_as_the_librarys(options):
    row = dependency_tree(np.random.default_rng(1))
    problems = []
    for loss in (OwnArcs(), WrongArcs(label=0.5)):
        model = DependencyTree(loss=loss, **options)
        problems.append(model.bind(model.specify(row.X, row.Y), row.X, row.Y))
    own, library = problems
    every, w = np.arange(len(row.X)), np.random.default_rng(0).normal(size=own.n_features)
    planes = [problem.oracle(w, every, Scaling("margin", "linear")) for problem in problems]
    np.testing.assert_allclose(planes[0].bounds, planes[1].bounds)
    np.testing.assert_allclose(planes[0].losses, planes[1].losses)
    np.testing.assert_allclose(own.max_losses(), library.max_losses())
    model = DependencyTree(loss=OwnArcs(), **options)
    with pytest.raises(ValueError, match="is for whole trees; those known in part have"):
        model.partial_loss(model.specify(row.X, row.Y), row.X, row.Y)


class ArcsFromFirst(CountedLoss):
    """1 − 1 / (1 + c) with c arcs from the first token to others than the truth has."""

    def counts(self, truth, local):
        found = np.zeros((1, *local.shape), int)
        found[0, 1, 1:] = 1
        for token, (head, _) in enumerate(truth, 1):
            found[0, head, token] = 0
        return found

    def value(self, counts, true_counts):
        return 1.0 - 1.0 / (1.0 + counts[:, 0])


def test_counts_of_arcs_may_be_as_many_as_there_are_tokens():
    n = 5
    X, Y = [[(word, "T") for word in "abcde"]], [[(k, "x") for k in range(n)]]
    model = DependencyTree(loss=ArcsFromFirst())
    problem = model.bind(model.specify(X, Y), X, Y)
    # All but the first two, whose arcs are true or cannot be.
    assert problem.max_losses().tolist() == [1.0 - 1.0 / (n - 1)]
    assert StructuralSVM(model, rescaling="slack", C=10).fit(X, Y).predict(X) == Y
    with pytest.raises(ValueError, match=r"loss=ArcsFromFirst\(\) counts arcs, and needs projective=True"):
        StructuralSVM(DependencyTree(loss=ArcsFromFirst(), projective=False)).fit(X, Y)


def test_a_loss_of_ones_own_sees_labels_that_were_never_seen_as_none():
    X, Y = [[("a", "A"), ("b", "B")]], [[(2, "x"), (0, "y")]]
    for loss in (OwnArcs(), WrongArcs(label=0.5)):
        parser = StructuralSVM(DependencyTree(loss=loss), C=10).fit(X, Y)
        assert parser.score(X, [[(2, "new"), (0, "y")]]) == pytest.approx(0.75)
        assert parser.score(X, [[(2, "y"), (0, "new")]]) == pytest.approx(0.5)


def test_a_projective_model_aims_at_the_nearest_tree_and_is_compared_with_the_true_one():
    X = [[(word, "T") for word in "abcd"]]
    parser = StructuralSVM(DependencyTree(), C=100).fit(X, [CROSSING])
    heads = [head for head, _ in CROSSING]
    nearest = max(trees(4, True, True).tolist(), key=lambda other: sum(np.equal(heads, other)))
    same = sum(np.equal(heads, nearest))
    (found,) = parser.predict(X)
    assert sum(np.equal(heads, [head for head, _ in found])) == same == 3
    assert [label for _, label in found] == [label for _, label in CROSSING]
    assert parser.score(X, [found]) == 1.0
    assert parser.score(X, [CROSSING]) == evaluate(parser, X, [CROSSING]).scores["las"].estimate == 0.75
    crf = ConditionalRandomField(DependencyTree()).fit(X, [CROSSING])
    assert crf.predict(X) == [found]
    assert crf.predict_log_proba(X, [CROSSING]).tolist() == [-np.inf]
    assert np.isfinite(crf.predict_log_proba(X, [found])).all()
    free = StructuralSVM(DependencyTree(projective=False), C=100).fit(X, [CROSSING])
    assert free.predict(X) == [CROSSING]
