"""Losses of trees as objects, and losses of one's own."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from structlearn import StructuralSVM
from structlearn.data.trees import nodes
from structlearn.losses import AdditiveLoss, BracketF1, CountedLoss, MissedBrackets
from structlearn.models import Grammar
from structlearn.waist.loss import LocalParts
from structlearn.waist.objective import Scaling
from tests.models.decoders import check_most_violating
from tests.models.enumerated import Twins, asked
from tests.models.grammar.enumerated_grammar import twins_of
from tests.models.instances import SCALINGS

MARGIN = Scaling("margin", "linear")


class OwnBrackets(AdditiveLoss):
    """What `MissedBrackets` says, by a number for every phrase."""

    def parts(self, truth, local):
        return MissedBrackets().parts(truth, local)


class OwnF1(CountedLoss):
    def counts(self, truth, local):
        return BracketF1().counts(truth, local)

    def value(self, counts, true_counts):
        return BracketF1().value(counts, true_counts)


class LongPhrases(AdditiveLoss):
    """Half a unit for every token of a phrase that is not in the truth."""

    def parts(self, truth, local):
        n = local.shape[0]
        losses = np.zeros(local.shape)
        losses += 0.5 * np.maximum(np.arange(n) - np.arange(n)[:, None], 0)[:, :, None]
        for label, begin, end in nodes(truth):
            losses[begin, end, local.labels.index(label)] = 0.0
        return losses


def instance(seed, sizes=(2, 3), **options):
    random = np.random.default_rng(seed)
    twins = twins_of(random, sizes=sizes, **options)
    return twins, random.normal(size=twins.problem.n_features)


def bound(twins, loss):
    model = Grammar(**{**twins.reference.model.get_params(), "loss": loss})
    return model.bind(twins.reference.spec, twins.X, twins.Y)


@settings(max_examples=20)
@given(st.integers(0, 2**32), st.booleans(), st.booleans())
def test_a_loss_of_ones_own_is_that_of_the_library_if_it_says_the_same(seed, spans, root):
    twins, w = instance(seed, spans=spans, root=root)
    every = np.arange(2)
    own = asked(bound(twins, OwnBrackets()), w, every, MARGIN)
    library = asked(twins.problem, w, every, MARGIN)
    np.testing.assert_allclose(own.bounds, library.bounds, atol=1e-9)
    np.testing.assert_allclose(own.losses, library.losses)
    np.testing.assert_array_equal(bound(twins, OwnBrackets()).max_losses(), twins.problem.max_losses())


@settings(max_examples=20)
@given(st.integers(0, 2**32), st.booleans())
def test_the_most_violating_tree_of_ones_own_loss_is_that_of_enumeration(seed, spans):
    twins, w = instance(seed, spans=spans)
    planes = asked(bound(twins, LongPhrases()), w, np.arange(2), MARGIN)
    for i, (x, y) in enumerate(zip(twins.X, twins.Y, strict=True)):
        true = twins.reference.joint_feature(x, y) @ w
        violations = []
        for other in twins.reference.outputs(x):
            loss = sum(0.5 * (end - begin) for label, begin, end in set(nodes(other)) - set(nodes(y)))
            violations.append(loss - true + twins.reference.joint_feature(x, other) @ w)
        assert planes.bounds[i] == pytest.approx(max(violations))


@settings(max_examples=30)
@given(st.integers(0, 2**32), st.booleans(), st.booleans())
def test_the_special_kernel_finds_what_the_best_tree_of_every_level_does(seed, spans, root):
    twins, w = instance(seed, sizes=(1, 2, 3), loss="f1", spans=spans, root=root)
    own = Twins(bound(twins, OwnF1()), twins.reference, twins.X, twins.Y)
    check_most_violating(own, w)
    for scaling in SCALINGS:
        special, levels = (asked(problem, w, np.arange(3), scaling) for problem in (twins.problem, own.problem))
        np.testing.assert_allclose(special.bounds, levels.bounds, atol=1e-9)
    most = [listed.losses.max() for listed in twins.listed()]
    np.testing.assert_allclose(own.problem.max_losses(), most)


@settings(max_examples=20)
@given(st.integers(0, 2**32), st.booleans())
def test_counts_of_brackets_give_the_f1_of_the_kernel(seed, root):
    twins, _ = instance(seed, loss="f1", root=root)
    labels = twins.reference.spec.labels
    for i, y in enumerate(twins.Y):
        local = LocalParts((len(twins.X[i]) + 1,) * 2 + (len(labels),), labels)
        counts = BracketF1().counts(y, local)

        def counted(tree, counts=counts):
            return sum(counts[:, begin, end, labels.index(label)] for label, begin, end in nodes(tree))

        for other in twins.reference.outputs(twins.X[i]):
            loss = BracketF1().value(counted(other)[None, :], counted(y))
            assert loss == pytest.approx(twins.reference.loss(y, other))


@pytest.mark.parametrize(("name", "loss"), [("brackets", MissedBrackets()), ("f1", BracketF1())])
@pytest.mark.parametrize("scaling", [MARGIN, Scaling("slack", "squared")])
def test_objects_mean_what_their_names_do(name, loss, scaling):
    twins, w = instance(5, sizes=(5, 6))
    named, given = (asked(bound(twins, each), w, np.arange(2), scaling) for each in (name, loss))
    assert named.losses.min() > 0
    np.testing.assert_array_equal(given.losses, named.losses)
    np.testing.assert_array_equal(given.bounds, named.bounds)


def test_a_brackets_label_that_is_a_root_costs_nothing():
    local = LocalParts((2, 2, 2), ("A", "ROOT"))
    assert MissedBrackets().parts(("ROOT", ("A", ("x", "u"))), local)[0, 1].tolist() == [-1, 0]


def test_what_no_decoder_can_do_is_refused_by_name():
    class Uneven(LongPhrases):
        def parts(self, truth, local):
            return super().parts(truth, local) * np.sqrt(1 + np.arange(local.shape[1]))[:, None]

    X, Y = [["x", "y", "x"]], ["(A (x u) (B (y v) (x u)))"]
    with pytest.raises(ValueError, match=r"loss_levels.*no multiples of one unit"):
        StructuralSVM(Grammar(loss=Uneven()), rescaling="slack").fit(X, Y)


def test_sentences_with_too_many_parts_are_refused_by_solvers_that_keep_them():
    twins, _ = instance(5)
    twins.problem.part_offsets = twins.problem.part_offsets * 2**24
    with pytest.raises(ValueError, match=r"the rules and phrases of 2 sentences are [\d,]+, too many .*'lbfgs'"):
        twins.problem.true_parts(np.arange(2))
