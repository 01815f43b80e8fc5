"""Structures by hypergraph where outputs are known in part, and under a bound on memory."""

import re

import numpy as np
import pytest

from structlearn import ConditionalRandomField, LatentConditionalRandomField, LatentStructuralSVM, StructuralSVM
from structlearn.data import Hypergraph
from structlearn.models import Chain
from tests.abilities.with_sums import hypergraph
from tests.models.own.test_hypergraph_model import Bracketings, ListedChain
from tests.models.partial_twins import check_all, twins


class PartlyLabelled(ListedChain):
    """Of the labels some are None; moves must fit the labels at both ends."""

    def possible(self, x, y):
        for _, _, parts in self.steps(x):
            for part in parts:
                places = {part[1] - 1: part[2], part[1]: part[3]} if part[0] == "move" else {part[0]: part[1]}
                if all(y[t] in (None, label) for t, label in places.items()):
                    yield part


def instance():
    random = np.random.default_rng(0)
    X = [random.normal(size=(length, 3)) for length in random.integers(2, 8, 20)]
    Y = [["ab"[int(row.sum() + random.normal() > 0)] for row in x] for x in X]
    said = [[label if random.random() < 0.4 else None for label in y] for y in Y]
    return X, Y, said


def test_a_listed_chain_is_restricted_as_the_compiled_one_is():
    X, Y, said = instance()
    listed = ConditionalRandomField(PartlyLabelled(), C=30, tol=1e-8).fit(X, Y)
    compiled = ConditionalRandomField(Chain(boundaries=False), C=30, tol=1e-8).fit(X, Y)
    assert listed.predict(X, allowed=said) == compiled.predict(X, allowed=said)
    for name in ("log_partition", "entropy"):
        mine, theirs = (getattr(crf, name)(X, allowed=said) for crf in (listed, compiled))
        np.testing.assert_allclose(mine, theirs, atol=1e-3)
    best = [[y for y, _ in found] for found in listed.k_best(X[:5], 3, allowed=said[:5])]
    assert best == [[y for y, _ in found] for found in compiled.k_best(X[:5], 3, allowed=said[:5])]
    pairs, matrices = (crf.predict_pair_marginals(X[:1], allowed=said[:1])[0] for crf in (listed, compiled))
    for t in range(1, len(X[0])):
        # A label and the move to it are on one step.
        moved = pairs[frozenset([(t, "b"), ("move", t, "a", "b")])]
        assert moved == pytest.approx(matrices[t - 1, 0, 1], abs=1e-3)


def test_training_may_be_restricted():
    X, Y, said = instance()
    svm = StructuralSVM(PartlyLabelled(), C=30, tol=1e-5).fit(X, Y, allowed=said)
    twin = StructuralSVM(Chain(boundaries=False), C=30, tol=1e-5).fit(X, Y, allowed=said)
    assert svm.objective_ == pytest.approx(twin.objective_, rel=1e-4)
    free = StructuralSVM(PartlyLabelled(), C=30, tol=1e-5).fit(X, Y)
    assert svm.objective_ < free.objective_


@pytest.mark.parametrize(
    ("allowed", "message"),
    [
        ([["b", "c"]], r"allowed\[0\] leaves no output of the hypergraph of X\[0\]"),
        ([], r"allowed must say something about each of the 1 examples"),
        (3, r"allowed must say something about each of the 1 examples"),
    ],
)
def test_restrictions_that_cannot_be_are_refused(allowed, message):
    X, Y = [np.eye(2)], [["a", "b"]]
    svm = StructuralSVM(PartlyLabelled()).fit(X, Y)
    with pytest.raises(ValueError, match=message):
        svm.predict(X, allowed=allowed)
    with pytest.raises(TypeError, match=r"in PartlyLabelled.possible\(X\[0\], allowed\[0\]\)"):
        svm.predict(X, allowed=[3])


def test_only_models_that_say_what_is_possible_can_be_restricted():
    X, Y = [np.eye(2)], [["a", "b"]]
    assert not ListedChain.takes_allowed
    assert PartlyLabelled.takes_allowed
    with pytest.raises(ValueError, match="ListedChain cannot restrict its outputs"):
        StructuralSVM(ListedChain()).fit(X, Y).predict(X, allowed=[None])


@pytest.mark.parametrize("seed", range(6))
def test_partial_outputs_agree_with_enumeration(seed):
    row = hypergraph(np.random.default_rng(seed))
    model, X, Y = row.model, row.X, list(row.partial)
    problem = model.bind_partial(model.specify_partial(X, Y), X, Y)

    def wrong(told, y):
        x, said = told
        return 0.0 if said is None else float(len(set(y) - set(model.possible(x, said))))

    told = list(zip(X, Y, strict=True))
    check_all(
        twins(problem, row.reference, X, told, wrong, lambda each, y: row.agrees(each[1], y)),
        random=np.random.default_rng(seed),
    )


class PartsMissed(PartlyLabelled):
    loss = None


def test_what_is_not_known_is_latent():
    X, Y, said = instance()
    svm = LatentStructuralSVM(PartsMissed(), C=30).fit(X, said)
    assert svm.stationarity_ <= 1e-3
    right = [a == b for y, z in zip(Y, svm.predict(X), strict=True) for a, b in zip(y, z, strict=True)]
    assert np.mean(right) > 0.7
    completed = svm.complete(X, said)
    assert all(s in (None, label) for y, z in zip(said, completed, strict=True) for s, label in zip(y, z, strict=True))


def test_likelihoods_of_what_is_known_are_those_of_the_compiled_chain():
    X, _, said = instance()
    listed = LatentConditionalRandomField(PartsMissed(), C=30, tol=1e-6).fit(X, said)
    compiled = LatentConditionalRandomField(Chain(boundaries=False), C=30, tol=1e-6).fit(X, said)
    assert listed.objective_ == pytest.approx(compiled.objective_, rel=1e-4)
    assert listed.predict(X) == compiled.predict(X)


def test_partial_outputs_are_refused_where_they_cannot_be():
    X, _, said = instance()
    with pytest.raises(ValueError, match="ListedChain cannot learn from partial outputs: write a method possible"):
        LatentStructuralSVM(ListedChain()).fit(X, said)
    with pytest.raises(ValueError, match=r"loss=WrongLabels\(\) is for whole outputs; .* use MissedParts"):
        LatentStructuralSVM(PartlyLabelled()).fit(X, said)
    with pytest.raises(ValueError, match=r"Y\[0\] leaves no output of the hypergraph of X\[0\]"):
        LatentStructuralSVM(PartsMissed()).fit(X[:1], [["c"] * len(X[0])])


def test_hypergraphs_are_refused_while_they_are_listed():
    listed = []

    def endless():
        step = 0
        while True:
            listed.append(step)
            yield step, [step - 1] if step else [], [("part", step)]
            step += 1

    with pytest.raises(ValueError, match=r"takes more than max_memory=2000 bytes: its first 101 steps need 2020 bytes"):
        Hypergraph.of(endless(), max_memory=2000)
    assert len(listed) == 101
    leaf = [((0, 0, 2), ("node", 0, 1, 2))]
    small = StructuralSVM(Bracketings(), max_memory=3000)
    small.fit([np.ones(2)], leaf)
    with pytest.raises(ValueError, match=r"the hypergraph of X\[0\] takes more than max_memory=3000 bytes"):
        small.fit([np.ones(9)], leaf)
    many = r"the hypergraphs of X\[0\] to X\[\d+\] take \d+ bytes, (\d+) of them for the 5 steps of the last, more than"
    with pytest.raises(ValueError, match=many) as told:
        small.fit([np.ones(2)] * 30, leaf * 30)
    graph = Hypergraph.of(Bracketings().steps(np.ones(2)))
    assert int(re.search(many, str(told.value))[1]) == graph.nbytes


def test_a_refusal_says_whether_the_user_or_the_machine_sets_the_bound(monkeypatch):
    leaf = [((0, 0, 2), ("node", 0, 1, 2))]
    monkeypatch.setattr("structlearn.models.own.hypergraph_model.available_memory", lambda: 3000)
    for bound, told in ({"max_memory": 2900}, "max_memory=2900 bytes"), ({}, "the 3000 bytes of memory that are"):
        svm = StructuralSVM(Bracketings(), **bound)
        with pytest.raises(ValueError, match=rf"the hypergraph of X\[0\] takes more than {told}"):
            svm.fit([np.ones(9)], leaf)
        with pytest.raises(ValueError, match=rf"the hypergraphs of X\[0\] to X\[\d+\] take .* more than {told}"):
            svm.fit([np.ones(2)] * 30, leaf * 30)
