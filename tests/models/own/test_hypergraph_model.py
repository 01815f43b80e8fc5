"""Structures that list their derivations, against enumeration of all outputs."""

from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import structlearn
from structlearn import ConditionalRandomField, StructuralSVM
from structlearn.data import Hypergraph
from structlearn.inference import derivation_marginals, k_best_derivations
from structlearn.losses import AdditiveLoss, MissedParts, PartF1, ZeroOneLoss
from structlearn.models import Chain, HypergraphModel
from structlearn.testing import ModelError, check_model
from tests.models import sums
from tests.models.decoders import check_k_best, check_most_violating
from tests.models.enumerated import Twins, bound


class Bracketings(HypergraphModel):
    """Binary trees over numbers, one kind or another at each node; some words have no node of kind 1."""

    def __init__(self, loss=None):
        self.loss = loss

    def steps(self, x):
        for end in range(1, len(x) + 1):
            yield (end - 1, end), [], []
            for begin in range(end - 2, -1, -1):
                for split, kind in product(range(begin + 1, end), (0, 1)):
                    if kind == 0 or x[begin] > 0:
                        parts = [("node", begin, split, end), (kind, begin, end)]
                        yield (begin, end), [(begin, split), (split, end)], parts
        yield "done", [(0, len(x))], []

    def features(self, x, part):
        if part[0] == "node":
            _, begin, split, end = part
            return [x[begin:split].sum(), x[split:end].sum(), 0.0, 0.0]
        return [0.0, 0.0, *(x[part[1]] * (np.arange(2) == part[0]))]

    def parts(self, x, y):
        return y

    def output(self, x, parts):
        return tuple(sorted(parts, key=repr))


class EnumeratedBracketings:
    def __init__(self, loss):
        self.model, self.kind = Bracketings(), loss

    def outputs(self, x):
        return [tuple(sorted(tree, key=repr)) for tree in self._trees(x, 0, len(x))]

    def _trees(self, x, begin, end):
        if end == begin + 1:
            return [()]
        return [
            (*left, *right, ("node", begin, split, end), (kind, begin, end))
            for split in range(begin + 1, end)
            for kind in ((0, 1) if x[begin] > 0 else (0,))
            for left in self._trees(x, begin, split)
            for right in self._trees(x, split, end)
        ]

    def joint_feature(self, x, y):
        return np.sum([self.model.features(x, part) for part in y] or [np.zeros(4)], axis=0)

    def loss(self, y, y_hat):
        y, y_hat = set(y), set(y_hat)
        if self.kind == "zero_one":
            return float(y != y_hat)
        total = len(y) + len(y_hat)
        missed = len(y ^ y_hat)
        return float(missed) if self.kind == "missed" else (missed / total if total else 0.0)


LOSSES = {"missed": MissedParts(), "f1": PartF1(), "zero_one": ZeroOneLoss()}


@st.composite
def instances(draw):
    random = np.random.default_rng(draw(st.integers(0, 2**32)))
    name = draw(st.sampled_from(list(LOSSES)))
    reference = EnumeratedBracketings(name)
    X = [random.normal(size=size) for size in draw(st.lists(st.integers(2, 4), min_size=1, max_size=3))]
    Y = [reference.outputs(x)[random.integers(len(reference.outputs(x)))] for x in X]
    w = random.normal(size=4) * draw(st.sampled_from([0.0, 1.0, 30.0]))
    return Twins(bound(Bracketings(LOSSES[name]), X, Y), reference, X, Y), w


@settings(max_examples=60)
@given(instances())
def test_oracles_agree_with_enumeration(instance):
    check_most_violating(*instance)


@settings(max_examples=40)
@given(instances(), st.integers(1, 30))
def test_k_best_lists_different_outputs_with_the_highest_scores(instance, k):
    check_k_best(*instance, k)


@settings(max_examples=40)
@given(instances())
def test_sums_agree_with_enumeration(instance):
    twins, w = instance
    sums.check_log_partitions(twins, w)
    sums.check_expected_features(twins, w)
    sums.check_truths(twins)
    sums.check_log_losses(twins, w / max(np.abs(w).max(), 1.0))
    assert np.all(twins.problem.radii() >= [np.linalg.norm(each.rows, axis=1).max() - 1e-9 for each in twins.listed()])
    most = [each.losses.max() for each in twins.listed()]
    if twins.reference.kind != "zero_one":
        np.testing.assert_allclose(twins.problem.max_losses(), most)


def test_samples_are_as_probable_as_they_should_be():
    random = np.random.default_rng(3)
    reference = EnumeratedBracketings("missed")
    X = [np.array([0.5, -0.3, 1.0])]
    twins = Twins(bound(Bracketings(), X, [reference.outputs(X[0])[0]]), reference, X, [reference.outputs(X[0])[0]])
    sums.check_samples(twins, random.normal(size=4), reference.outputs(X[0]))


class WrongLabels(AdditiveLoss):
    def parts(self, truth, local):
        return np.array([float(part not in truth and part[0] != "move") for part in local.labels])


class ListedChain(HypergraphModel):
    """A chain of labels, as `Chain` has it without boundaries."""

    loss = WrongLabels()

    def steps(self, x):
        for t, label in product(range(len(x)), "ab"):
            for before in "ab" if t else [None]:
                move = [("move", t, before, label)] if t else []
                yield (t, label), [(t - 1, before)] if t else [], [(t, label), *move]
        for label in "ab":
            yield "end", [(len(x) - 1, label)], []

    def features(self, x, part):
        if part[0] == "move":
            return {part[2] + part[3]: 1.0}
        return {f"{k}{part[1]}": value for k, value in enumerate(x[part[0]])}

    def parts(self, x, y):
        moves = [("move", t, *y[t - 1 : t + 1]) for t in range(1, len(y))]
        return [*enumerate(y), *moves]

    def output(self, x, parts):
        return [part[1] for part in parts if part[0] != "move"]


@pytest.mark.parametrize("options", [{}, {"rescaling": "slack"}, {"slack": "squared"}, {"rescaling": None}])
def test_a_listed_chain_learns_what_the_compiled_one_does(options):
    random = np.random.default_rng(0)
    X = [random.normal(size=(length, 3)) for length in random.integers(1, 8, 30)]
    Y = [["ab"[int(row.sum() > 0)] for row in x] for x in X]
    listed = StructuralSVM(ListedChain(), C=30, tol=1e-5, **options).fit(X, Y)
    compiled = StructuralSVM(Chain(boundaries=False), C=30, tol=1e-5, **options).fit(X, Y)
    assert listed.objective_ == pytest.approx(compiled.objective_, rel=2e-5)
    assert listed.converged_
    assert listed.predict(X[:10]) == compiled.predict(X[:10])


def test_likelihoods_of_a_listed_chain_are_those_of_the_compiled_one():
    random = np.random.default_rng(0)
    X = [random.normal(size=(length, 3)) for length in random.integers(1, 8, 30)]
    Y = [["ab"[int(row.sum() + random.normal() > 0)] for row in x] for x in X]
    listed = ConditionalRandomField(ListedChain(), C=30, tol=1e-6).fit(X, Y)
    compiled = ConditionalRandomField(Chain(boundaries=False), C=30, tol=1e-6).fit(X, Y)
    assert listed.objective_ == pytest.approx(compiled.objective_, rel=1e-5)
    np.testing.assert_allclose(listed.entropy(X), compiled.entropy(X), atol=1e-2)
    assert [y for y, _ in listed.k_best(X[:3], 4)[0]] == [y for y, _ in compiled.k_best(X[:3], 4)[0]]


def test_a_model_is_saved_with_its_weights_and_loaded_with_its_class(tmp_path):
    X, Y = [np.eye(3)[:2]], [["a", "b"]]
    svm = StructuralSVM(ListedChain()).fit(X, Y)
    svm.save(tmp_path / "model.slm")
    assert structlearn.load(tmp_path / "model.slm", model=ListedChain()).predict(X) == svm.predict(X)
    assert svm.score(X, Y) == 1.0


class Given(Bracketings):
    """Steps and parts as they are given."""

    def __init__(self, listed=(), loss=None):
        self.listed = listed
        self.loss = loss

    def steps(self, x):
        return self.listed

    def features(self, x, part):
        return {str(part): 1.0}


@pytest.mark.parametrize(
    ("steps", "truth", "message"),
    [
        ([], [], r"the hypergraph of X\[0\] has no steps"),
        ([("a", [])], [], r"step 0 of the hypergraph of X\[0\] is \('a', \[\]\); expected \(head, tails, parts\)"),
        ([("a", "bc", [])], [], r"step 0 of .* has tails 'bc'; expected a list"),
        ([("a", ["b"], []), ("b", ["a"], [])], [], r"the hypergraph of X\[0\] derives '[ab]' from itself"),
        ([("a", ["b"], ["p"])], [], r"the hypergraph of X\[0\] has no way to derive its goal, 'a'"),
        (None, [], r"the steps of the hypergraph of X\[0\] are None; expected \(head, tails, parts\)"),
        ([("a", [], [["p"]])], [], r"step 0 of .* X\[0\] has \['p'\], which is not hashable; use tuples, not lists"),
        ([("a", [], ["p"])], ["q"], r"Y\[0\] has the part 'q', which no step of the hypergraph of X\[0\] has"),
        ([("a", [], ["p"]), ("a", [], ["q"])], ["p", "q"], r"Y\[0\] cannot be derived: no output of .* X\[0\] has its"),
    ],
)
def test_what_cannot_be_is_refused_by_name(steps, truth, message):
    with pytest.raises(ValueError, match=message):
        StructuralSVM(Given(steps if steps is None else tuple(steps))).fit([0], [truth])


def test_steps_with_many_tails_and_items_that_nothing_derives():
    steps = (
        *((k, [], [f"{k}{kind}"]) for k, kind in product(range(5), "ab")),
        ("all", [0, 1, 2, 3, 4], ["together"]),
        ("all", [0, "nothing"], ["never"]),
    )
    problem = bound(Given(steps), [0], [["0a", "1b", "2a", "3a", "4b", "together"]])
    assert problem.log_partitions(np.zeros(problem.n_features)) == pytest.approx(np.log(32))
    assert len(problem.k_best(np.zeros(problem.n_features), 50)[0]) == 32


@pytest.mark.parametrize(("loss", "expected"), [(None, [0, 2, 4, 1]), (PartF1(), [0, 0.5, 1, 1 / 5])])
def test_truths_that_cannot_be_derived_cost_what_they_should(loss, expected):
    steps = tuple((t, [t - 1] if t else [], [(t, kind)]) for t in range(2) for kind in "ab")
    svm = StructuralSVM(Given(steps, loss), C=100).fit([0], [[(0, "a"), (1, "a")]])
    truths = [
        [(0, "a"), (1, "a")],
        [(0, "a"), (1, "c")],
        [(0, "c"), (1, "c")],
        [(0, "a"), (1, "a"), (9, "z")],
    ]
    problem = svm.model_.bind(svm.spec_, [0] * 4, truths, allow_unknown=True)
    np.testing.assert_allclose(problem.losses(problem.best(svm.w_, np.arange(4))), expected)
    crf = ConditionalRandomField(Given(steps)).fit([0], [truths[0]])
    assert crf.predict_log_proba([0], [truths[1]]) == -np.inf
    assert crf.predict_marginals([0])[0][0, "a"] > 0.5


def test_outputs_that_are_derived_twice_are_refused():
    pieces = [("l", [], ["a"]), ("r", [], ["b"]), ("m", [], ["b"]), ("n", [], ["a"])]
    twice = (*pieces, ("g", ["l", "r"], []), ("g", ["m", "n"], []))
    with pytest.raises(ValueError, match=r"two derivations of X\[0\] have the same parts, \['a', 'b'\]"):
        StructuralSVM(Given(twice)).fit([0], [["a", "b"]])
    again = (("x", [], ["a"]), ("g", ["x", "x"], []), ("g", [], ["b"]))
    with pytest.raises(ValueError, match=r"a derivation of X\[0\] has the part 'a' twice"):
        StructuralSVM(Given(again)).fit([0], [["b"]])


def test_a_loss_that_is_none_is_refused():
    with pytest.raises(TypeError, match="loss is 'zero_one'; it must be a Loss"):
        StructuralSVM(Bracketings("zero_one")).fit([np.ones(2)], [((0, 0, 2), ("node", 0, 1, 2))])


def test_features_that_are_no_numbers_are_named_by_their_part():
    class Broken(Bracketings):
        def features(self, x, part):
            return {"value": np.nan if part == (1, 0, 2) else 1.0}

    with pytest.raises(ValueError, match=r"features\(X\[0\], \(1, 0, 2\)\): .*nan"):
        StructuralSVM(Broken()).fit([np.ones(2)], [((0, 0, 2), ("node", 0, 1, 2))])


def test_check_model_looks_at_derivations_and_outputs():
    X = [np.array([1.0, -1.0, 2.0]), np.ones(3)]
    Y = [EnumeratedBracketings("missed").outputs(x)[0] for x in X]
    check_model(Bracketings(), X, Y)

    class Loses(Bracketings):
        def output(self, x, parts):
            return tuple(parts[1:])

    with pytest.raises(ModelError, match=r"output\(X\[0\], parts\) of the parts of"):
        check_model(Loses(), X, Y)


def test_deep_derivations_do_not_exhaust_the_stack():
    n = 20_000
    graph = Hypergraph.of((t, [t - 1] if t else [], [(t, kind)]) for t in range(n) for kind in (0, 1))
    assert derivation_marginals(graph, np.zeros(2 * n)).log_z == pytest.approx(n * np.log(2))
    assert [score for _, score in k_best_derivations(graph, np.tile([1.0, 0.0], n), 3)] == [n, n - 1, n - 1]


def test_outputs_without_parts_and_inputs_of_one_piece():
    X, Y = [np.ones(1), np.ones(2)], [(), ((0, 0, 2), ("node", 0, 1, 2))]
    svm = StructuralSVM(Bracketings()).fit(X, Y)
    assert svm.predict([np.ones(1)]) == [()]


def raises(error):
    def method(self, *arguments):
        raise error

    return method


@pytest.mark.parametrize(
    ("method", "note"),
    [
        ("steps", "in Broken.steps(X[0])"),
        ("features", "in Broken.features(X[0], ('node', 0, 1, 2))"),
        ("parts", "in Broken.parts(X[0], Y[0])"),
        ("output", "in Broken.output(X[0], parts)"),
    ],
)
@pytest.mark.parametrize("error", [IndexError, KeyError, TypeError])
def test_an_error_of_a_method_says_which_was_asked_about_what(method, note, error):
    kind = type("Broken", (Bracketings,), {method: raises(error("of the user's own"))})
    with pytest.raises(error) as raised:
        StructuralSVM(kind()).fit([np.ones(2)], [SMALLEST]).predict([np.ones(2)])
    assert raised.value.__notes__ == [note]


SMALLEST = (("node", 0, 1, 2), (0, 0, 2))


@pytest.mark.parametrize(
    ("method", "answer", "message"),
    [
        ("features", None, r"Broken.features\(X\[0\], \('node', 0, 1, 2\)\) gave None; expected a dict or a list"),
        ("parts", None, r"Broken.parts\(X\[0\], Y\[0\]\) gave None; expected a list of parts"),
        ("parts", [{0}], "gave no list of hashable parts: .*; outputs known in part are for LatentStructuralSVM"),
    ],
)
def test_an_answer_that_is_none_is_refused_by_its_method(method, answer, message):
    kind = type("Broken", (Bracketings,), {method: lambda self, x, _: answer})
    with pytest.raises(TypeError, match=message):
        StructuralSVM(kind()).fit([np.ones(2)], [SMALLEST])


def test_no_examples_are_no_examples():
    svm = StructuralSVM(Bracketings()).fit([np.ones(2)], [SMALLEST])
    with pytest.raises(ValueError, match="X is empty; at least one example is needed"):
        svm.predict([])
