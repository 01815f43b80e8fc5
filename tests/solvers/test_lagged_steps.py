"""Visits that threads share, each at weights that lack the last few steps."""

import numpy as np
import pytest

from structlearn.models import Chain
from structlearn.solvers import DualCoordinate
from structlearn.solvers.part_ascent import LAG, mix, n_copies
from structlearn.waist import LikelihoodObjective
from tests.models.enumerated import bound
from tests.models.instances import chain_twins
from tests.waist.test_plain_parts import PlainParts

N = 16 * LAG


def sentences(random, n=N):
    """Of very different lengths, so that threads overtake each other."""
    return chain_twins(random, lengths=random.integers(1, 60, n), n_inputs=4, n_labels=5).problem


def started(problem, objective):
    """Where a run begins: the marginals of the truths, their entropies, and ratios that are not known yet."""
    n = problem.n_examples
    limits = objective.price * objective.sample_weight
    return limits, problem.true_parts(np.arange(n)), np.zeros(n), np.zeros(n), np.zeros(problem.n_features)


@pytest.mark.parametrize("n_threads", [2, 3, 5])
def test_nothing_depends_on_the_number_of_threads(n_threads):
    random = np.random.default_rng(0)
    problem = sentences(random, 4 * N)
    objective = LikelihoodObjective(random.uniform(0.5, 2.0, problem.n_examples), 300.0)
    order = random.permutation(problem.n_examples)
    runs = []
    for problem.n_threads in (1, n_threads):
        limits, *state = started(problem, objective)
        copies = np.zeros(n_copies(problem) * problem.n_features)
        for _ in range(5):
            mix(problem, order, limits, *state, copies)
        runs.append(state)
        assert len(copies) == min(problem.n_threads - 1, LAG - 1) * problem.n_features
        np.testing.assert_array_equal(copies.reshape(-1, problem.n_features) - state[-1], 0.0)
    for one, several in zip(*runs, strict=True):
        np.testing.assert_array_equal(one, several)


def test_steps_written_in_python_are_the_same():
    random = np.random.default_rng(1)
    problem = sentences(random)
    objective = LikelihoodObjective(np.ones(N), 100.0)
    order = random.permutation(N)
    runs = []
    for each in (problem, PlainParts(problem)):
        limits, *state = started(problem, objective)
        for _ in range(3):
            mix(each, order, limits, *state, np.empty(0))
        runs.append(state)
    for compiled, plain in zip(*runs, strict=True):
        np.testing.assert_allclose(compiled, plain, atol=1e-8)


def test_the_dual_never_falls_where_steps_undo_each_other():
    # Copies of one sentence: steps that do not know of each other go four times too far.
    random = np.random.default_rng(2)
    x, y = random.normal(size=(6, 2)), random.integers(3, size=6).tolist()
    problem = bound(Chain(classes=[0, 1, 2]), [x] * N, [y] * N)
    objective = LikelihoodObjective(np.ones(N), 1000.0)
    limits, marginals, entropies, ratios, w = started(problem, objective)
    duals = [0.0]
    for _ in range(30):
        mix(problem, random.permutation(N), limits, marginals, entropies, ratios, w, np.empty(0))
        duals.append(objective.dual(w, float(objective.sample_weight @ entropies)))
        moved = np.zeros(problem.n_features)
        problem.push(problem.true_parts(np.arange(N)) - marginals, np.arange(N), limits, moved)
        np.testing.assert_allclose(w, moved, atol=1e-9)
    assert (np.diff(duals) >= -1e-9 * np.abs(duals[1:])).all()
    state = DualCoordinate(tol=1e-6).run(problem, objective).state
    assert state.relative_gap <= 1e-6
    assert duals[-1] <= state.primal * (1.0 + 1e-9)
