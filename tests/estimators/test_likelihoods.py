"""Conditional random fields of graphs that maximise something else than the likelihood, and say so."""

import numpy as np
import pytest
from scipy.optimize import minimize
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning

import structlearn
from structlearn import ConditionalRandomField, LatentConditionalRandomField, StructuralSVM
from structlearn.data import Network
from structlearn.estimators.card import card
from structlearn.models import Graph, MultiLabel
from structlearn.report import write_report
from structlearn.solvers import LBFGS, DualState
from structlearn.waist.objective import LikelihoodObjective
from tests.models.enumerated import bound
from tests.models.graph.test_graph import noisy_cycles

SUBSTITUTES = ["pseudo", "piecewise", "tree_reweighted", "belief_propagation"]
CERTIFIED = ["pseudo", "piecewise"]


def grid(random, size, noise=0.8):
    """A square of pixels in two regions, seen through noise."""
    numbers = np.arange(size**2).reshape(size, size)
    right = np.stack([numbers[:, :-1].ravel(), numbers[:, 1:].ravel()], 1)
    down = np.stack([numbers[:-1].ravel(), numbers[1:].ravel()], 1)
    labels = (np.add.outer(np.arange(size), np.arange(size)) > random.integers(size // 2, 3 * size // 2)).astype(int)
    nodes = np.eye(2)[labels.ravel()] + noise * random.normal(size=(size**2, 2))
    return Network(nodes, np.concatenate([right, down])), labels.ravel().tolist()


def grids(seed, n, size):
    random = np.random.default_rng(seed)
    return map(list, zip(*(grid(random, size) for _ in range(n)), strict=True))


@pytest.mark.sample(4)
@pytest.mark.parametrize("likelihood", SUBSTITUTES)
def test_wide_graphs_are_learnt(likelihood):
    X, Y = grids(0, 3, 24)
    crf = ConditionalRandomField(Graph(pairwise="potts", likelihood=likelihood), C=100.0).fit(X, Y)
    assert crf.converged_
    assert crf.likelihood_ == likelihood
    X, Y = grids(1, 2, 24)
    alone = ConditionalRandomField(Graph(pairwise=None), C=100.0).fit(*grids(0, 3, 24))
    assert crf.score(X, Y) > alone.score(X, Y) + 0.03
    for nodes, pairs, x in zip(crf.predict_marginals(X), crf.predict_pair_marginals(X), X, strict=True):
        np.testing.assert_allclose(nodes.sum(axis=1), 1.0, atol=1e-8)
        np.testing.assert_allclose(pairs.sum(axis=2), nodes[np.asarray(x.edges)[:, 0]], atol=1e-5)
    most_probable = np.concatenate(crf.predict(X, posterior=True))
    assert (most_probable == np.concatenate(Y)).mean() > alone.score(X, Y)


@pytest.mark.parametrize("method", ["log_partition", "entropy", "sample", "k_best", "predict_log_proba"])
def test_what_needs_log_z_is_refused_on_wide_graphs(method):
    X, Y = noisy_cycles()
    crf = ConditionalRandomField(Graph(likelihood="pseudo", engine="dual_ascent"), C=5.0).fit(X, Y)
    more = {"k_best": (2,), "predict_log_proba": (Y,)}.get(method, ())
    with pytest.raises(ValueError, match=r"need junction trees, and X\[0\] has none"):
        getattr(crf, method)(X, *more)


def test_marginals_are_exact_where_there_are_junction_trees():
    X, Y = noisy_cycles()
    crf = ConditionalRandomField(Graph(likelihood="pseudo"), C=5.0).fit(X, Y)
    problem = bound(Graph(), X, Y)
    for found, exact in zip(crf.predict_marginals(X), problem.label_probabilities(crf.w_), strict=True):
        np.testing.assert_allclose(found, exact)
    np.testing.assert_allclose(crf.predict_log_proba(X, Y), -problem.log_losses(crf.w_))


def test_marginals_without_junction_trees_are_those_of_the_messages_that_are_named():
    X, Y = noisy_cycles()
    w = ConditionalRandomField(Graph(), C=5.0).fit(X, Y).w_
    exact = np.concatenate(bound(Graph(), X, Y).label_probabilities(w))
    found = {
        name: np.concatenate(bound(Graph(likelihood=name, engine="icm"), X, Y).label_probabilities(w))
        for name in SUBSTITUTES
    }
    np.testing.assert_array_equal(found["pseudo"], found["belief_propagation"])
    np.testing.assert_array_equal(found["piecewise"], found["belief_propagation"])
    assert 1e-6 < np.abs(found["belief_propagation"] - exact).max() < 0.1
    assert np.abs(found["tree_reweighted"] - found["belief_propagation"]).max() > 1e-4
    with pytest.raises(ValueError, match="for marginals give the model likelihood='pseudo'"):
        bound(Graph(engine="icm"), X, Y).label_probabilities(w)


@pytest.mark.sample(4)
@pytest.mark.parametrize("likelihood", SUBSTITUTES)
def test_the_minimum_is_that_of_the_likelihood_that_is_named(likelihood):
    X, Y = noisy_cycles()
    crf = ConditionalRandomField(Graph(pairwise="potts", likelihood=likelihood), C=5.0, tol=1e-6).fit(X, Y)
    problem, objective = (
        bound(Graph(pairwise="potts", likelihood=likelihood), X, Y),
        LikelihoodObjective(np.ones(12), 5.0),
    )

    def value(w):
        return objective.primal(w, problem.log_losses(w))

    least = minimize(value, np.zeros(problem.n_features), tol=1e-9).fun
    assert crf.objective_ == pytest.approx(value(crf.w_))
    assert crf.objective_ == pytest.approx(least, rel=2e-6)
    if likelihood in CERTIFIED:
        assert crf.objective_ * (1.0 - crf.duality_gap_) <= least * (1.0 + 1e-9)
        assert 0.0 <= crf.duality_gap_ <= 1e-6


@pytest.mark.parametrize("likelihood", ["exact", *SUBSTITUTES])
def test_the_history_names_the_likelihood_and_certifies_no_other(likelihood):
    crf = ConditionalRandomField(Graph(likelihood=likelihood), C=5.0).fit(*noisy_cycles())
    assert crf.likelihood_ == likelihood
    named = [record.get("likelihood", "exact") for record in crf.history_]
    assert set(named) == {likelihood}
    proved = likelihood in ("exact", *CERTIFIED)
    assert all(record["certified"] == proved for record in crf.history_)
    assert np.isfinite(crf.duality_gap_) == proved
    assert np.isfinite(crf.objective_)
    assert crf.converged_


def test_an_engine_that_only_moves_leaves_the_certificate_as_it_is():
    # The engine predicts; the pseudo-likelihood does not ask it.
    data = noisy_cycles()
    moved, exact = (
        ConditionalRandomField(Graph(likelihood="pseudo", engine=engine), C=5.0).fit(*data)
        for engine in ("icm", "auto")
    )
    assert moved.objective_ == exact.objective_
    assert moved.duality_gap_ == exact.duality_gap_ <= 1e-3


@pytest.mark.parametrize("likelihood", SUBSTITUTES)
@pytest.mark.parametrize("solver", ["dual_coordinate", "exponentiated_gradient", "iterative_scaling"])
def test_solvers_that_need_sums_are_refused_by_name(likelihood, solver):
    crf = ConditionalRandomField(Graph(likelihood=likelihood), solver=solver)
    with pytest.raises(ValueError, match=f"needs exact sums over outputs, and likelihood='{likelihood}' has none"):
        crf.fit(*noisy_cycles())


def test_exact_likelihoods_of_wide_graphs_are_refused_with_the_ways_out():
    X, Y = grids(0, 1, 24)
    for solver in ("auto", "lbfgs"):
        with pytest.raises(ValueError, match="give the model likelihood='pseudo', 'piecewise'"):
            ConditionalRandomField(Graph(), solver=solver).fit(X, Y)
    crf = ConditionalRandomField(Graph()).fit(*noisy_cycles(n=3))
    with pytest.raises(ValueError, match="exact marginals need junction trees"):
        crf.predict_marginals([Network(np.zeros((576, 3)), X[0].edges)])


def test_labels_known_in_part_need_the_exact_likelihood():
    X, Y = noisy_cycles()
    Y = [[None, *y[1:]] for y in Y]
    for solver in ("lbfgs", "em"):
        crf = LatentConditionalRandomField(Graph(likelihood="pseudo"), solver=solver)
        with pytest.raises(ValueError, match="likelihood='pseudo' needs whole truths"):
            crf.fit(X, Y)


def test_margins_do_not_ask_for_a_likelihood():
    data = noisy_cycles()
    plain, named = (StructuralSVM(Graph(likelihood=each), C=5.0).fit(*data) for each in ("exact", "pseudo"))
    np.testing.assert_array_equal(plain.w_, named.w_)
    assert "maximised" not in card(named)
    gradient = {"solver": "exponentiated_gradient", "C": 5.0, "max_iter": 5}
    with pytest.warns(ConvergenceWarning):
        StructuralSVM(Graph(likelihood="pseudo"), **gradient).fit(*data)
    with pytest.raises(ValueError, match="needs the oracle 'sums'"):
        StructuralSVM(Graph(likelihood="pseudo", engine="dual_ascent"), **gradient).fit(*data)


def test_a_name_that_is_none_is_refused():
    for model, X in ((Graph(likelihood="magic"), [(np.eye(2), [(0, 1)])]), (MultiLabel(likelihood="magic"), np.eye(2))):
        with pytest.raises(ValueError, match="likelihood is 'magic'"):
            ConditionalRandomField(model).fit(X, [[0, 1]] * len(X))


def test_card_and_report_say_what_was_maximised(tmp_path):
    X, Y = noisy_cycles()
    told = {}
    for likelihood in ("exact", *SUBSTITUTES):
        crf = ConditionalRandomField(Graph(likelihood=likelihood), C=5.0).fit(X, Y)
        write_report(tmp_path / "report.html", crf, X, Y)
        told[likelihood] = card(crf), (tmp_path / "report.html").read_text(encoding="utf-8")
    assert "in place of" not in "".join(told["exact"])
    for likelihood in SUBSTITUTES:
        shown, report = told[likelihood]
        assert "in place of the likelihood" in shown
        assert "in place of the likelihood" in report
        assert "as probable as possible" not in report
        if likelihood in CERTIFIED:
            assert f"best possible with likelihood=&#x27;{likelihood}&#x27;" in shown
            assert "Nothing is proved about the likelihood itself" in report
        else:
            assert "no certificate" in shown
            assert "nothing is proved of its weights" in report
    assert "many valleys" in told["belief_propagation"][1]
    assert "many valleys" not in told["tree_reweighted"][1]


def test_files_clones_and_warm_starts_keep_the_likelihood(tmp_path):
    X, Y = noisy_cycles()
    crf = ConditionalRandomField(Graph(likelihood="piecewise"), C=5.0, warm_start=True).fit(X, Y)
    crf.save(tmp_path / "graph.slm")
    again = structlearn.load(tmp_path / "graph.slm")
    assert again.likelihood_ == clone(crf).fit(X, Y).likelihood_ == "piecewise"
    np.testing.assert_array_equal(again.w_, crf.w_)
    crf.set_params(model__likelihood="pseudo")
    with pytest.raises(ValueError, match="the data are not the same"):
        crf.fit(X, Y)


def test_sets_of_many_labels_with_all_pairs():
    random = np.random.default_rng(0)
    X = random.normal(size=(60, 4))
    scores = X @ random.normal(size=(4, 30))
    Y = (scores + np.roll(scores, 1, axis=1) > 0).astype(int)
    with pytest.raises(ValueError, match="give the model likelihood='pseudo'"):
        ConditionalRandomField(MultiLabel(pairs="full")).fit(X, Y)
    crf = ConditionalRandomField(MultiLabel(pairs="full", likelihood="pseudo", engine="icm"), C=60.0).fit(X, Y)
    assert crf.converged_
    assert crf.score(X, Y) > 0.85
    probabilities = crf.predict_marginals(X[:10])
    assert probabilities.shape == (10, 30)
    assert ((probabilities > 0.5) == Y[:10]).mean() > 0.8


def test_steps_that_lead_nowhere_say_how_steep_it_is():
    crf = ConditionalRandomField(Graph(likelihood="belief_propagation"), C=5.0, solver=LBFGS(max_iter=1))
    with pytest.warns(ConvergenceWarning, match="half the squared slope is"):
        crf.fit(*noisy_cycles())


def test_an_objective_below_zero_is_not_taken_for_an_end():
    # Bethe's log Z may be less than the score of the truth.
    state = DualState(w=np.zeros(1), primal=-2.0, dual=-3.0)
    assert state.relative_gap == 0.5
