from __future__ import annotations

from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.special import logsumexp
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning

import structlearn
from structlearn import ConditionalRandomField, LatentConditionalRandomField
from structlearn.models import Chain, LatentChain, Motif
from structlearn.solvers import ExpectationMaximization
from tests.estimators.test_checkpoint import StopAt
from tests.estimators.test_partial_labels import easy
from tests.models.chain.test_latent_chain import LABELS, STATES, features, fits, partial, two_faced

SOLVERS = ["lbfgs", "em"]


@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize("l1_ratio", [0.0, 0.5])
def test_with_all_labels_the_minimum_is_that_of_the_convex_field(solver: str, l1_ratio: float) -> None:
    X, Y, _ = easy(20)
    convex = ConditionalRandomField(Chain(), C=10, tol=1e-8, l1_ratio=l1_ratio, solver="lbfgs").fit(X, Y)
    latent = LatentConditionalRandomField(Chain(), C=10, tol=1e-7, l1_ratio=l1_ratio, solver=solver).fit(X, Y)
    assert latent.objective_ == pytest.approx(convex.objective_, rel=1e-6)
    np.testing.assert_allclose(latent.w_, convex.w_, atol=5e-3)
    np.testing.assert_allclose(latent.slacks_, -convex.predict_log_proba(X, Y), atol=5e-3)


@pytest.mark.parametrize(("model", "tol"), [(Chain(), 1e-7), (Chain(order=2), 1e-7), (LatentChain(2), 1e-3)])
def test_gradient_and_expectations_end_at_a_stationary_point_without_rising(model: Any, tol: float) -> None:
    X, _, part = easy(20)
    for solver in SOLVERS:
        crf = LatentConditionalRandomField(model, C=20, tol=tol, solver=solver, random_state=0).fit(X, part)
        values = [record["primal"] for record in crf.history_]
        assert np.all(np.diff(values) <= 1e-12 * np.abs(values[:-1]))
        assert all(np.isnan(record["dual"]) for record in crf.history_)
        assert crf.converged_
        assert np.isnan(crf.duality_gap_)
        # For a ridge, what is claimed is ½‖∇‖² as a part of the objective.
        gradient = crf.w_.copy()
        problem = LatentConditionalRandomField._bound(crf.model_, crf.spec_, X, part)
        problem.log_losses(crf.w_, np.ones(20), gradient)
        assert 0.5 * gradient @ gradient == pytest.approx(crf.stationarity_ * crf.objective_, rel=1e-3, abs=1e-12)
        assert crf.stationarity_ <= tol


def test_both_solvers_end_alike_from_the_same_start() -> None:
    X, _, part = easy(30)
    gradient, em = (LatentConditionalRandomField(Chain(), C=20, tol=1e-8, solver=s).fit(X, part) for s in SOLVERS)
    np.testing.assert_allclose(gradient.w_, em.w_, atol=1e-3)


def test_missing_labels_are_summed_over() -> None:
    X, Y, part = easy()
    crf = LatentConditionalRandomField(Chain(), C=60).fit(X, part)
    assert crf.score(X, Y) > 0.95
    probability = np.exp(crf.predict_log_proba(X, part))
    assert np.all(probability >= np.exp(crf.predict_log_proba(X, Y)) - 1e-12)
    nothing = [[None] * 8] * len(X)
    np.testing.assert_allclose(crf.predict_log_proba(X, nothing), 0.0, atol=1e-9)


def test_latent_states_are_summed_over() -> None:
    """P(Y | x) and P(y_t | x) against the list of all state sequences."""
    random = np.random.default_rng(5)
    X = [random.normal(size=(length, 2)) for length in (1, 2, 3, 3)]
    Y = [partial(random, len(x), False) for x in X]
    crf = LatentConditionalRandomField(LatentChain(STATES, classes="abc"), C=5, random_state=0).fit(X, Y)
    for i, (x, y) in enumerate(zip(X, Y, strict=True)):
        states = list(product(range(6), repeat=len(x)))
        scores = np.array([features(x, h) @ crf.w_ for h in states])
        agree = [all(fits(LABELS[s], said) for s, said in zip(h, y, strict=True)) for h in states]
        log_z = logsumexp(scores)
        assert crf.predict_log_proba(X, Y)[i] == pytest.approx(logsumexp(scores[agree]) - log_z, abs=1e-9)
        marginals = np.zeros((len(x), 3))
        for h, score in zip(states, scores, strict=True):
            for t, s in enumerate(h):
                marginals[t, "abc".index(LABELS[s])] += np.exp(score - log_z)
        np.testing.assert_allclose(crf.predict_marginals(X)[i], marginals, atol=1e-9)
        best = ["abc"[label] for label in marginals.argmax(axis=1)]
        assert crf.predict(X, posterior=True)[i] == best
        assert crf.predict(X)[i] == [LABELS[s] for s in states[int(scores.argmax())]]
    assert {tuple(y) for y in crf.sample(X, 50, random_state=0)[0]} <= {("a",), ("b",), ("c",)}
    assert crf.predict_log_proba(X[:1], [["unheard of"]])[0] == -np.inf


@pytest.mark.parametrize("solver", SOLVERS)
def test_latent_states_learn_what_labels_alone_cannot(solver: str) -> None:
    random = np.random.default_rng(0)
    X, Y = two_faced(random, 80)
    held_out = two_faced(random, 80)
    assert ConditionalRandomField(Chain(), C=80).fit(X, Y).score(*held_out) < 0.6
    latent = LatentConditionalRandomField(LatentChain(2), C=80, solver=solver, random_state=0).fit(X, Y)
    assert latent.score(*held_out) > 0.9
    runs = LatentConditionalRandomField(LatentChain(2), C=80, solver=solver, init="random", n_init=3, random_state=0)
    assert runs.fit(X, Y).objective_ == runs.objectives_.min()


@pytest.mark.parametrize("solver", SOLVERS)
def test_saves_goes_on_weighs_and_begins_where_told(tmp_path: Path, solver: str) -> None:
    X, _, part = easy(20)
    crf = LatentConditionalRandomField(Chain(), C=10, solver=solver, tol=1e-6).fit(X, part)
    crf.save(tmp_path / "chain.slm")
    loaded = structlearn.load(tmp_path / "chain.slm")
    assert loaded.predict(X) == crf.predict(X)
    assert loaded.k_best(X[:1], 2) == crf.k_best(X[:1], 2)
    weighted = clone(crf).fit(X, part, sample_weight=[2.0] * 10 + [0.0] * 10)
    np.testing.assert_allclose(weighted.w_, clone(crf).fit(X[:10], part[:10]).w_, atol=1e-9)
    path = clone(crf).set_params(warm_start=True).fit(X, part)
    assert path.set_params(C=10.1).fit(X, part).n_iter_ < crf.n_iter_
    again = clone(crf).set_params(init=crf.w_).fit(X, part)
    assert again.n_iter_ == 1
    whole = clone(crf).set_params(init=crf.complete(X, part)).fit(X, part)
    assert whole.objective_ == pytest.approx(crf.objective_, rel=1e-4)


@pytest.mark.parametrize("solver", SOLVERS)
def test_a_stopped_run_goes_on(tmp_path: Path, solver: str) -> None:
    X, _, part = easy(20)
    crf = LatentConditionalRandomField(LatentChain(2), C=10, solver=solver, tol=1e-6, random_state=0)
    clone(crf).set_callbacks(StopAt(3)).fit(X, part, checkpoint=tmp_path / "run")
    resumed = clone(crf).fit(X, part, checkpoint=tmp_path / "run")
    np.testing.assert_array_equal(resumed.w_, clone(crf).fit(X, part).w_)


def test_the_end_of_patience_says_how_far_it_came() -> None:
    X, _, part = easy(20)
    for solver in SOLVERS:
        with pytest.warns(ConvergenceWarning, match="above the minimum of its upper bound"):
            LatentConditionalRandomField(Chain(), C=10, solver=solver, max_iter=1, tol=1e-9).fit(X, part)


def test_what_has_no_sums_or_no_latent_part_is_refused() -> None:
    X, Y, _ = easy(5)
    with pytest.raises(ValueError, match="needs the oracle 'sums'"):
        LatentConditionalRandomField(Motif(2)).fit(["ACGT", "CCCC"], ["bound", "not"])
    with pytest.raises(ValueError, match="with latent parts: use LatentStructuralSVM or LatentConditional"):
        ConditionalRandomField(LatentChain()).fit(X, Y)
    with pytest.raises(ValueError, match="inner is 3; it must be an LBFGS solver"):
        LatentConditionalRandomField(Chain(), solver=ExpectationMaximization(inner=3)).fit(X, Y)
    with pytest.raises(ValueError, match="solver is 'dual_coordinate'; it may be 'auto', 'lbfgs', 'em'"):
        LatentConditionalRandomField(Chain(), solver="dual_coordinate").fit(X, Y)
