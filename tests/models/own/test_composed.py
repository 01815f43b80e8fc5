"""Scorers, engines and losses put together: the chain of the documentation, and subsets of a given size."""

import doctest
from itertools import combinations, product
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from scipy.special import logsumexp
from sklearn.base import clone

import structlearn
from structlearn import ConditionalRandomField, StructuralSVM, StructuredPerceptron
from structlearn.models import Chain, Composed
from structlearn.solvers import (
    LBFGS,
    BlockCoordinate,
    DualCoordinate,
    ExcessiveGap,
    ExponentiatedGradient,
    Extragradient,
    IterativeScaling,
    NSlack,
    OneSlack,
    Subgradient,
)
from structlearn.waist import AdditiveLoss, CountedLoss, MarginObjective, Theta, ZeroOneLoss
from tests.models.enumerated import EnumeratedChain, bound

N_INPUTS, N_LABELS = 2, 3


def from_the_page():
    """The classes that docs/own_model.md shows."""
    page = (Path(__file__).parents[3] / "docs" / "own_model.md").read_text(encoding="utf-8")
    names = {"np": np}
    section = page.split("\n## Scorers and engines\n")[1].split("\n## ")[0]
    for example in doctest.DocTestParser().get_examples(section):
        if example.source.startswith(("from", "import", "class", "@dataclass")):
            exec(example.source, names)
    return SimpleNamespace(**{name: names[name] for name in ("TokenScorer", "ChainEngine", "Hamming")})


PAGE = from_the_page()


class Masked(PAGE.TokenScorer):
    """Tokens whose first feature is negative may not have the last label."""

    def scores(self, x, w):
        theta = super().scores(x, w)
        theta.local[x[:, 0] < 0, -1] = -np.inf
        return theta


def chain(loss=None, scorer=PAGE.TokenScorer):
    return Composed(scorer(N_INPUTS, N_LABELS), PAGE.ChainEngine(), PAGE.Hamming() if loss is None else loss)


@pytest.fixture
def data():
    random = np.random.default_rng(0)
    X = [random.random((length, N_INPUTS)) for length in (1, 2, 3, 4, 2)]
    return X, [random.integers(N_LABELS, size=len(x)).tolist() for x in X]


@pytest.fixture
def masked(data):
    X, Y = data
    X = [x - 0.5 for x in X]
    return X, [
        [label % 2 if x[0] < 0 else label for x, label in zip(*pair, strict=True)] for pair in zip(X, Y, strict=True)
    ]


def enumerated(x, w, masked=False):
    """All outputs of a chain, their features and scores."""
    reference = EnumeratedChain(N_LABELS)
    outputs = reference.outputs(x)
    if masked:
        outputs = [y for y in outputs if all(t[0] >= 0 or label < N_LABELS - 1 for t, label in zip(x, y, strict=True))]
    features = np.array([reference.joint_feature(x, y) for y in outputs])
    return [list(y) for y in outputs], features, features @ w


@pytest.mark.parametrize("scorer", [PAGE.TokenScorer, Masked])
def test_everything_agrees_with_enumeration(scorer, masked):
    X, Y = masked
    model = chain(scorer=scorer)
    problem = bound(model, X, Y)
    random = np.random.default_rng(1)
    w = random.normal(size=problem.n_features)
    every = np.arange(len(X))
    listed = [enumerated(x, w, scorer is Masked) for x in X]
    log_z = [logsumexp(scores) for _, _, scores in listed]
    np.testing.assert_allclose(problem.log_partitions(w), log_z)
    truths = [EnumeratedChain(N_LABELS).joint_feature(x, y) @ w for x, y in zip(X, Y, strict=True)]
    np.testing.assert_allclose(problem.log_probabilities(w), np.array(truths) - log_z)
    _, marginals = problem.expectations(problem.scores(w, every), every)
    expected = np.zeros(problem.n_features)
    problem.push(marginals, every, np.ones(len(X)), expected)
    probabilities = [np.exp(scores - z) for (_, _, scores), z in zip(listed, log_z, strict=True)]
    np.testing.assert_allclose(
        expected, sum(p @ features for p, (_, features, _) in zip(probabilities, listed, strict=True))
    )
    np.testing.assert_allclose(problem.output_entropies(w), [-p @ np.log(p) for p in probabilities])
    for i, (outputs, _, scores) in enumerate(listed):
        assert problem.best(w, every)[i] == outputs[np.argmax(scores)]
        found = problem.k_best(w, 5)[i]
        assert [s for _, s in found] == pytest.approx(sorted(scores, reverse=True)[:5])
        losses = np.array([np.sum(np.array(Y[i]) != y) for y in outputs])
        violating = problem.oracle(w, every[[i]], MarginObjective(np.ones(1)).scaling)
        assert violating.bounds[0] == pytest.approx(np.max(scores + losses) - truths[i])
        assert problem.max_losses()[i] == losses.max()
        nodes = problem.label_probabilities(w)[i]
        share = [sum(p for p, y in zip(probabilities[i], outputs, strict=True) if y[0] == label) for label in range(3)]
        np.testing.assert_allclose(nodes[0], share, atol=1e-12)


def test_samples_come_as_often_as_their_probability_says(masked):
    (x, y) = (each[1] for each in masked)
    problem = bound(chain(scorer=Masked), [x], [y])
    w = np.random.default_rng(1).normal(size=problem.n_features)
    (drawn,) = problem.samples(w, 800, np.random.default_rng(0))
    outputs, _, scores = enumerated(x, w, masked=True)
    often = np.bincount([outputs.index(y) for y in drawn], minlength=len(outputs)) / 800
    np.testing.assert_allclose(often, np.exp(scores - logsumexp(scores)), atol=0.05)


@pytest.mark.parametrize(
    "solver",
    [
        BlockCoordinate(tol=1e-6),
        NSlack(tol=1e-6),
        OneSlack(tol=1e-6),
        ExponentiatedGradient(tol=1e-2),
        Extragradient(tol=1e-2),
        ExcessiveGap(tol=1e-2),
        Subgradient(max_iter=100),
    ],
    ids=lambda solver: type(solver).__name__,
)
def test_every_solver_of_margins_finds_the_objective_of_the_built_in_chain(solver, data):
    expected = StructuralSVM(Chain(), C=5.0, tol=1e-7).fit(*data)
    found = StructuralSVM(chain(), C=5.0, solver=solver).fit(*data)
    tol = getattr(solver, "tol", 0.05)
    assert expected.objective_ * (1 - 1e-6) <= found.objective_ <= expected.objective_ * (1 + 2 * tol)
    if tol < 1e-3:
        assert found.converged_
        assert found.predict(data[0]) == expected.predict(data[0])


@pytest.mark.parametrize(
    "solver",
    [
        LBFGS(tol=1e-7),
        DualCoordinate(tol=1e-7),
        ExponentiatedGradient(tol=1e-6),
        ExponentiatedGradient(tol=1e-4, online=False),
        IterativeScaling(tol=1e-2),
    ],
    ids=lambda solver: type(solver).__name__,
)
def test_every_solver_of_likelihoods_finds_the_objective_of_the_built_in_chain(solver, data):
    expected = ConditionalRandomField(Chain(), C=5.0, tol=1e-9).fit(*data)
    found = ConditionalRandomField(chain(), C=5.0, solver=solver).fit(*data)
    assert found.converged_
    assert found.objective_ == pytest.approx(expected.objective_, rel=2 * solver.tol)
    if solver.tol < 1e-3:
        assert found.predict(data[0]) == expected.predict(data[0])


def test_radii_and_feature_totals_bound_those_of_all_outputs(data):
    X, Y = data
    problem = bound(chain(), X, Y)
    for x, y, radius, total in zip(X, Y, problem.radii(), problem.feature_totals(), strict=True):
        _, features, _ = enumerated(x, np.zeros(problem.n_features))
        truth = EnumeratedChain(N_LABELS).joint_feature(x, y)
        assert np.linalg.norm(features - truth, axis=1).max() <= radius
        assert features.sum(axis=1).max() == pytest.approx(total)


@pytest.mark.parametrize(
    ("rescaling", "slack"), [("margin", "linear"), ("slack", "squared"), (None, "linear"), (None, "squared")]
)
def test_the_zero_one_loss_asks_for_the_second_best_output(rescaling, slack, data):
    options = {"C": 5.0, "rescaling": rescaling, "slack": slack, "tol": 1e-6}
    expected = StructuralSVM(Chain(loss="zero_one"), **options).fit(*data)
    found = StructuralSVM(chain(ZeroOneLoss()), **options).fit(*data)
    assert found.objective_ == pytest.approx(expected.objective_, rel=1e-5)
    assert found.score(*data) == expected.score(*data)


class Subsets:
    """Sets of k of n items; local[i] is the score of item i, and no part is shared."""

    def __init__(self, size):
        self.size = size

    def best(self, theta):
        return frozenset(np.argsort(-theta.local, kind="stable")[: self.size].tolist())

    def parts(self, output, theta):
        return Theta(np.empty(0), np.isin(np.arange(theta.local.size), list(output)).astype(float))


class Items:
    n_features = 2

    def scores(self, x, w):
        return Theta(np.empty(0), x @ w)

    def push(self, x, mu, out):
        out += x.T @ mu.local


class Missed(AdditiveLoss):
    """Items that should not be in the set."""

    def parts(self, truth, local):
        return 1.0 * ~np.isin(np.arange(*local.shape), list(truth))


def test_an_engine_with_two_methods_trains_margins():
    random = np.random.default_rng(0)
    X = [random.normal(size=(5, 2)) for _ in range(8)]
    Y = [frozenset(np.argsort(-x[:, 0])[:2].tolist()) for x in X]
    svm = StructuralSVM(Composed(Items(), Subsets(2), Missed()), C=10.0, tol=1e-5).fit(X, Y)

    class Listed:
        def joint_feature(self, x, y):
            return x[list(y)].sum(axis=0)

        def loss(self, y, y_hat):
            return len(y_hat - y)

        def outputs(self, x):
            return [frozenset(y) for y in combinations(range(len(x)), 2)]

    listed = StructuralSVM(Listed(), C=10.0, tol=1e-5).fit(X, Y)
    assert svm.objective_ == pytest.approx(listed.objective_, rel=2e-5)
    assert svm.predict(X) == listed.predict(X)
    assert svm.score(X, Y) == listed.score(X, Y)
    assert StructuredPerceptron(svm.model).fit(X, Y).score(X, Y) > 0.8


def test_abilities_follow_from_the_methods_of_the_engine(data):
    few = Composed(Items(), Subsets(2), Missed())
    assert few.abilities == {"explain"}
    assert chain().abilities == {"k_best", "sums", "samples", "explain"}
    for name in ("k_best", "sample", "entropy", "predict_marginals"):
        assert not hasattr(ConditionalRandomField(few), name)
        assert hasattr(ConditionalRandomField(chain()), name)
    X, Y = [np.eye(2)], [frozenset({0})]
    with pytest.raises(ValueError, match=r"needs the oracle 'sums', .*; write sums\(theta\) in Subsets"):
        ConditionalRandomField(Composed(Items(), Subsets(1), Missed())).fit(X, Y)
    with pytest.raises(ValueError, match=r"needs the oracle 'second_best', .*; write k_best\(theta, k\) in Subsets"):
        StructuralSVM(Composed(Items(), Subsets(1), Missed()), rescaling=None).fit(X, Y)
    with pytest.raises(ValueError, match=r"needs the oracle 'loss_augmented', .*; write k_best\(theta, k\) in Subsets"):
        StructuralSVM(Composed(Items(), Subsets(1), ZeroOneLoss())).fit(X, Y)
    with pytest.raises(ValueError, match="Hamming is added to scores; use rescaling='margin' with slack='linear'"):
        StructuralSVM(chain(), rescaling="slack").fit(*data)
    with pytest.raises(ValueError, match="need not make up an output of Composed"):
        ConditionalRandomField(chain()).fit(*data).predict(data[0], posterior=True)


class Counted(CountedLoss):
    def counts(self, truth, local): ...

    def value(self, counts, true_counts): ...


class Shifted(PAGE.TokenScorer):
    def scores(self, x, w):
        return super().scores(x, w).plus(1.0)


class Bare(PAGE.TokenScorer):
    def scores(self, x, w):
        return x @ w[: N_INPUTS * N_LABELS].reshape(N_INPUTS, N_LABELS)


class Endless(PAGE.TokenScorer):
    def scores(self, x, w):
        return super().scores(x, w).plus(np.nan)


class Short(AdditiveLoss):
    def parts(self, truth, local):
        return np.ones(len(truth))


class Bonus(AdditiveLoss):
    def parts(self, truth, local):
        return -PAGE.Hamming().parts(truth, local)


@pytest.mark.parametrize(
    ("model", "kind", "message"),
    [
        (chain(Counted()), TypeError, "loss is a Counted; Composed has oracles for an AdditiveLoss and a ZeroOneLoss"),
        (Composed(PAGE.ChainEngine(), PAGE.ChainEngine(), ZeroOneLoss()), TypeError, "scorer is a ChainEngine, which"),
        (Composed(Items(), Items(), ZeroOneLoss()), TypeError, "engine is a Items, which has no method 'best'"),
        (chain(scorer=Shifted), ValueError, r"the scores of X\[0\] at w = 0 are not zero"),
        (chain(scorer=Bare), TypeError, r"the scores of X\[0\] are a ndarray; expected a Theta"),
        (chain(scorer=Endless), ValueError, r"the scores of X\[0\] must be numbers"),
        (chain(Short()), ValueError, r"the loss of Y\[0\] has parts of the shape \(1,\); expected .* \(1, 3\)"),
    ],
)
def test_what_does_not_fit_together_is_refused_by_name(model, kind, message, data):
    with pytest.raises(kind, match=message):
        StructuralSVM(model).fit(*data)


def test_a_loss_below_zero_is_refused(data):
    problem = bound(chain(Bonus()), *data)
    with pytest.raises(ValueError, match=r"the loss of example 1 is -2.0 for the output \[0, 0\]; it must be ≥ 0"):
        problem.differences(np.array([1]), [[0, 0]])


def test_truths_with_forbidden_parts_are_refused_in_training_and_impossible_afterwards(masked):
    X, Y = masked
    crf = ConditionalRandomField(chain(scorer=Masked)).fit(X, Y)
    i = next(i for i, x in enumerate(X) if x[0, 0] < 0)
    wrong = [*Y[:i], [2, *Y[i][1:]], *Y[i + 1 :]]
    with pytest.raises(ValueError, match=rf"Y\[{i}\] is \[2.*, which has a part that the scores of X\[{i}\] forbid"):
        StructuralSVM(chain(scorer=Masked)).fit(X, wrong)
    assert np.isneginf(crf.predict_log_proba(X, wrong)).tolist() == [k == i for k in range(len(X))]


@pytest.mark.parametrize("solver", ["lbfgs", "dual_coordinate", "exponentiated_gradient"])
def test_restrictions_hold_in_training_too(solver, masked):
    X, Y = masked
    crf = ConditionalRandomField(chain(scorer=Masked), C=5.0, solver=solver, tol=1e-6).fit(X, Y)
    allowed = [[[0, 1] if token[0] < 0 else [0, 1, 2] for token in x] for x in X]
    built_in = ConditionalRandomField(Chain(classes=[0, 1, 2]), C=5.0, tol=1e-8)
    built_in.fit(X, Y, allowed=[[set(labels) for labels in tokens] for tokens in allowed])
    assert crf.objective_ == pytest.approx(built_in.objective_, rel=1e-5)
    assert all(
        label in ok
        for y, tokens in zip(crf.predict(X), allowed, strict=True)
        for label, ok in zip(y, tokens, strict=True)
    )


def test_it_is_cloned_saved_and_loaded(data, tmp_path):
    crf = clone(ConditionalRandomField(chain())).fit(*data)
    crf.save(tmp_path / "chain.slm")
    with pytest.raises(ValueError, match="model of your own"):
        structlearn.load(tmp_path / "chain.slm")
    loaded = structlearn.load(tmp_path / "chain.slm", model=chain())
    np.testing.assert_array_equal(loaded.predict_log_proba(*data), crf.predict_log_proba(*data))
    other = Composed(PAGE.TokenScorer(N_INPUTS + 1, N_LABELS), PAGE.ChainEngine(), PAGE.Hamming())
    with pytest.raises(ValueError, match="there are 21 weights, but TokenScorer has 24"):
        structlearn.load(tmp_path / "chain.slm", model=other)


def test_an_engine_that_does_not_find_the_best_is_told(data):
    class First(PAGE.ChainEngine):
        def best(self, theta):
            return [0] * len(theta.local)

    with pytest.warns(RuntimeWarning, match=r"best\(θ of X\[\d\]\) returns \[0.*\] with score"):
        StructuralSVM(Composed(PAGE.TokenScorer(N_INPUTS, N_LABELS), First(), PAGE.Hamming())).fit(*data)


def test_an_engine_that_approximates_certifies_nothing(data):
    class Greedy(PAGE.ChainEngine):
        exactness = "approximate"

        def best(self, theta):
            return theta.local.argmax(axis=1).tolist()

    svm = StructuralSVM(Composed(PAGE.TokenScorer(N_INPUTS, N_LABELS), Greedy(), PAGE.Hamming())).fit(*data)
    assert np.isnan(svm.objective_)
    assert not svm.history_[-1]["certified"]


def test_runs_are_taken_up_on_the_same_data_only(data):
    X, Y = data
    svm = StructuralSVM(chain(), C=1.0, tol=1e-3, warm_start=True).fit(X, Y)
    again = svm.set_params(C=2.0).fit(X, Y)
    assert again.objective_ == pytest.approx(StructuralSVM(chain(), C=2.0, tol=1e-3).fit(X, Y).objective_, rel=2e-3)
    with pytest.raises(ValueError, match="the data are not the same"):
        svm.fit([x + 1.0 for x in X], Y)


def test_thetas_skip_parts_that_are_not_there():
    theta = Theta(np.array([[1.0, 2.0]]), np.array([-np.inf, 3.0]))
    mu = Theta(np.array([[2.0, 0.0]]), np.array([0.0, 1.0]))
    assert theta.dot(mu) == 5.0
    assert theta.dot(Theta(mu.shared, np.array([1.0, 0.0]))) == -np.inf
    assert theta.shaped(theta.flat()).shared.tolist() == [[1.0, 2.0]]
    for flat in product([0.0, 1.0], repeat=4):
        assert theta.shaped(np.array(flat)).flat().tolist() == list(flat)
