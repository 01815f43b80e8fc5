import numpy as np
import pytest

from structlearn import ConditionalRandomField
from structlearn.models import Chain, Graph
from structlearn.solvers import ContrastiveDivergence
from structlearn.waist import LikelihoodObjective
from tests.estimators.test_likelihoods import grids
from tests.models.enumerated import bound
from tests.models.graph.test_graph import noisy_cycles, twins_of


def test_chains_visit_labels_as_often_as_these_are_probable():
    problem = twins_of(np.random.default_rng(0), sizes=(3, 5, 1), n_labels=3, features=True).problem
    random = np.random.default_rng(1)
    w, every, chains = random.normal(size=problem.n_features), np.arange(3), problem.gibbs_start()
    counts, n = np.zeros((len(chains), 3)), 4000
    for _ in range(n):
        outputs = problem.gibbs(w, every, chains, 1, random)
        np.testing.assert_array_equal(outputs.flat, chains)
        counts[np.arange(len(chains)), chains] += 1
    np.testing.assert_allclose(counts / n, np.concatenate(problem.label_probabilities(w)), atol=0.05)


def test_only_the_chains_that_are_asked_for_move():
    problem = twins_of(np.random.default_rng(0), sizes=(6, 6, 6)).problem
    chains = problem.gibbs_start()
    problem.gibbs(np.zeros(problem.n_features), np.array([1]), chains, 5, np.random.default_rng(0))
    moved = (chains != problem.truths.flat).reshape(3, 6).any(axis=1)
    assert moved.tolist() == [False, True, False]


def test_it_comes_near_the_minimum_and_claims_nothing():
    X, Y = noisy_cycles(0, 40)
    exact = ConditionalRandomField(Graph(), C=40.0, tol=1e-6).fit(X, Y)
    sampled = ConditionalRandomField(Graph(), C=40.0, solver="contrastive_divergence", random_state=0).fit(X, Y)
    objective = LikelihoodObjective(np.ones(40), 40.0)
    reached = objective.primal(sampled.w_, bound(Graph(), X, Y).log_losses(sampled.w_))
    assert exact.objective_ <= reached <= 1.01 * exact.objective_
    assert np.isnan(sampled.objective_)
    assert np.isnan(sampled.duality_gap_)
    assert not sampled.converged_
    assert not any(record["certified"] for record in sampled.history_)
    assert sampled.likelihood_ == "exact"


def test_more_passes_come_nearer():
    X, Y = noisy_cycles(0, 40)
    w = ConditionalRandomField(Graph(), C=40.0, tol=1e-6).fit(X, Y).w_
    few, many = (
        ConditionalRandomField(Graph(), C=40.0, solver=ContrastiveDivergence(max_iter=passes)).fit(X, Y).w_
        for passes in (10, 200)
    )
    assert np.linalg.norm(many - w) < 0.5 * np.linalg.norm(few - w)


def test_runs_are_seeded():
    data = noisy_cycles()
    first, again, other = (
        ConditionalRandomField(Graph(), solver="contrastive_divergence", max_iter=3, random_state=seed).fit(*data).w_
        for seed in (0, 0, 1)
    )
    np.testing.assert_array_equal(first, again)
    assert not np.array_equal(first, other)


def test_labels_that_are_not_allowed_are_never_drawn():
    X, Y = noisy_cycles()
    allowed = [[{label, (label + 1) % 3} for label in y] for y in Y]
    model = Graph()
    problem = model.bind(model.specify(X, Y), X, Y, allowed=allowed)
    chains = problem.gibbs_start()
    problem.gibbs(np.zeros(problem.n_features), np.arange(12), chains, 50, np.random.default_rng(0))
    every = [label for each in allowed for label in each]
    assert all(label in may for label, may in zip(chains.tolist(), every, strict=True))
    assert (chains != problem.truths.flat).any()


def test_wide_graphs_are_learnt_without_sums():
    X, Y = grids(0, 4, 24)
    crf = ConditionalRandomField(
        Graph(pairwise="potts"), C=100.0, solver="contrastive_divergence", max_iter=30, random_state=0
    ).fit(X, Y)
    assert crf.score(*grids(1, 2, 24)) > 0.95


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"model": Graph(likelihood="pseudo")}, "follows the likelihood itself; with likelihood='pseudo'"),
        ({"l1_ratio": 0.5}, "no form for l1_ratio=0.5"),
        ({"solver": ContrastiveDivergence(n_sweeps=0)}, "n_sweeps is 0"),
        ({"solver": ContrastiveDivergence(batch_size=0)}, "batch_size is 0"),
        ({"solver": ContrastiveDivergence(step_size=0.0)}, "step_size is 0"),
    ],
)
def test_what_has_no_form_is_refused_by_name(options, message):
    with pytest.raises(ValueError, match=message):
        ConditionalRandomField(**{"model": Graph(), "solver": "contrastive_divergence"} | options).fit(*noisy_cycles())


def test_structures_without_chains_are_refused_by_name():
    with pytest.raises(ValueError, match="needs Gibbs sampling, which ChainProblem does not have"):
        ConditionalRandomField(Chain(), solver="contrastive_divergence").fit([[{"a": 1}]], [["x"]])


def test_chains_from_elsewhere_are_checked():
    problem = twins_of(np.random.default_rng(0)).problem
    chains = problem.gibbs_start()
    chains[3] = 7
    with pytest.raises(ValueError, match="chains have labels from 0 to 7"):
        problem.gibbs(np.zeros(problem.n_features), np.arange(2), chains, 1, np.random.default_rng(0))
