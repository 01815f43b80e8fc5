import copy

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize

from structlearn import _core
from structlearn.waist import SparseRows


def filled(blocks, rows, a, b, *, u, r):
    """Working sets with row k in block ``blocks[k]``."""
    n = max(blocks) + 1
    sets = _core.SparseSets(n, np.shape(rows)[1])
    sets.set_limits(np.full(n, u), np.full(n, r))
    sparse = SparseRows.from_matrix(sp.csr_array(rows))
    sets.add(np.array(blocks, np.int64), sparse.indptr, sparse.indices, sparse.values, np.arange(len(b)), a, b)
    return sets


def instance(seed, n_blocks=3, n_planes=7, n_weights=4):
    random = np.random.default_rng(seed)
    blocks = np.sort(random.integers(n_blocks, size=n_planes))
    return (
        blocks,
        random.normal(size=(n_planes, n_weights)),
        random.uniform(0.5, 2, n_planes),
        random.uniform(0, 2, n_planes),
    )


def dual_by_another_solver(blocks, rows, a, b, u, r):
    scaled = rows * a[:, None]
    same = blocks[:, None] == blocks[None, :]
    Q = scaled @ scaled.T + r * same
    budgets = [
        {"type": "ineq", "fun": lambda alpha, i=i: u - alpha[blocks == i].sum()}
        for i in set(blocks.tolist())
        if np.isfinite(u)
    ]
    found = minimize(
        lambda alpha: 0.5 * alpha @ Q @ alpha - b @ alpha,
        np.zeros(len(b)),
        jac=lambda alpha: Q @ alpha - b,
        bounds=[(0, None)] * len(b),
        constraints=budgets,
        method="SLSQP",
        options={"maxiter": 1000, "ftol": 1e-14},
    )
    return -found.fun


def dual(sets, w):
    return sets.linear_part() - 0.5 * w @ w


@pytest.mark.parametrize(("u", "r"), [(0.7, 0.0), (np.inf, 0.5)])
@settings(max_examples=25)
@given(seed=st.integers(0, 2**32))
def test_solve_reaches_the_optimum_of_the_dual(u, r, seed):
    blocks, rows, a, b = instance(seed)
    sets = filled(blocks, rows, a, b, u=u, r=r)
    w = np.zeros(rows.shape[1])
    gap, unbounded, _ = sets.solve(w, 1e-12, 100_000, 0)
    assert not unbounded
    assert dual(sets, w) == pytest.approx(dual_by_another_solver(blocks, rows, a, b, u, r), rel=1e-6, abs=1e-9)
    assert gap <= 1e-10


@settings(max_examples=25)
@given(seed=st.integers(0, 2**32))
def test_solve_keeps_weights_and_multipliers_together(seed):
    blocks, rows, a, b = instance(seed)
    sets = filled(blocks, rows, a, b, u=0.7, r=0.0)
    w = np.zeros(rows.shape[1])
    sets.solve(w, 1e-10, 1000, 0)
    alpha = np.concatenate([sets.alpha(i) for i in range(len(sets.sizes()))])
    assert np.all(alpha >= 0)
    assert all(sets.alpha(i).sum() <= 0.7 + 1e-12 for i in range(len(sets.sizes())))
    np.testing.assert_allclose(w, (alpha * a) @ rows, atol=1e-10)
    again = np.zeros_like(w)
    sets.weights(again)
    np.testing.assert_allclose(again, w, atol=1e-10)


@settings(max_examples=25)
@given(seed=st.integers(0, 2**32))
def test_one_block_is_solved_from_its_gram_matrix_alone(seed):
    _, rows, a, b = instance(seed)
    blocks = np.zeros(len(b), int)
    sets = filled(blocks, rows, a, b, u=0.7, r=0.0)
    gap = sets.solve_alone(0, 1e-12, 10_000)
    w = np.zeros(rows.shape[1])
    sets.weights(w)
    assert dual(sets, w) == pytest.approx(dual_by_another_solver(blocks, rows, a, b, 0.7, 0.0), rel=1e-6, abs=1e-9)
    assert gap <= 1e-10


def test_the_same_plane_is_never_stored_twice():
    blocks, rows, a, b = np.array([0, 0, 1]), np.eye(3)[[0, 0, 0]], np.ones(3), np.ones(3)
    sets = filled(blocks, rows, a, b, u=1.0, r=0.0)
    np.testing.assert_array_equal(sets.sizes(), [1, 1])
    one = SparseRows.from_matrix(sp.csr_array(np.eye(3)[[0, 0, 1]]))
    added = sets.add(
        np.zeros(3, np.int64), one.indptr, one.indices, one.values, np.arange(3), np.array([1.0, 2.0, 1.0]), np.ones(3)
    )
    assert added == 2
    np.testing.assert_array_equal(sets.sizes(), [3, 1])


def test_violations_are_those_of_the_worst_plane_or_of_the_truth():
    blocks, rows, a, b = (
        np.array([0, 0, 1]),
        np.array([[1.0, 0.0], [0.0, 1.0], [1.0, 1.0]]),
        np.array([1.0, 2.0, 1.0]),
        np.ones(3),
    )
    sets = filled(blocks, rows, a, b, u=1.0, r=0.0)
    largest, which, _ = sets.violations(np.array([0.5, 0.5]))
    np.testing.assert_allclose(largest, [0.5, 0.0])
    np.testing.assert_array_equal(which, [0, -1])
    assert sets.largest_violation(0, np.array([2.0, -1.0])) == 3.0


def test_a_smaller_budget_shrinks_the_multipliers():
    blocks, rows, a, b = instance(0)
    sets = filled(blocks, rows, a, b, u=1.0, r=0.0)
    sets.solve(np.zeros(rows.shape[1]), 1e-10, 1000, 0)
    before = sets.alpha(0)
    sets.set_limits(np.full(3, 0.1), np.zeros(3))
    np.testing.assert_allclose(sets.alpha(0), before * 0.1 / before.sum())


def test_a_copy_goes_its_own_way():
    blocks, rows, a, b = instance(1)
    sets = filled(blocks, rows, a, b, u=1.0, r=0.0)
    twin = copy.deepcopy(sets)
    w, v = np.zeros(rows.shape[1]), np.zeros(rows.shape[1])
    sets.solve(w, 1e-8, 1000, 5)
    assert twin.linear_part() == 0.0
    twin.solve(v, 1e-8, 1000, 5)
    np.testing.assert_array_equal(w, v)


def test_idle_planes_are_dropped_and_the_others_keep_their_multipliers():
    rows, a, b = np.array([[1.0, 0.0], [0.0, 1.0], [2.0, 0.0]]), np.ones(3), np.array([1.0, -1.0, 1.5])
    sets = filled(np.zeros(3, int), rows, a, b, u=5.0, r=0.0)
    sets.solve_alone(0, 1e-12, 1000)
    gram, alpha = sets.gram(0), sets.alpha(0)
    used = np.flatnonzero(alpha)
    assert sets.drop_idle(0) == 3 - len(used)
    np.testing.assert_array_equal(sets.alpha(0), alpha[used])
    np.testing.assert_array_equal(sets.gram(0), gram.reshape(3, 3)[np.ix_(used, used)].ravel())


def test_planes_that_were_only_looked_up_can_be_dropped_and_solved_later():
    rows, a, b = np.eye(3), np.ones(3), np.ones(3)
    sets = filled(np.zeros(3, int), rows, a, b, u=5.0, r=0.0)
    sets.mark_used(np.array([1]))
    assert sets.drop_idle(0) == 2
    sets.solve_alone(0, 1e-12, 100)
    np.testing.assert_allclose(sets.alpha(0), [1.0])


def test_contradictory_hard_margins_are_unbounded():
    sets = filled(np.array([0, 0]), np.array([[1.0], [0.0]]), np.ones(2), np.ones(2), u=np.inf, r=0.0)
    gap, unbounded, _ = sets.solve(np.zeros(1), 1e-8, 1000, 0)
    assert unbounded
    assert gap == np.inf


def test_radius_is_the_norm_of_the_longest_row():
    blocks, rows, a, b = instance(2)
    assert filled(blocks, rows, a, b, u=1.0, r=0.0).radius() == pytest.approx(np.linalg.norm(rows, axis=1).max())


@pytest.mark.parametrize(("u", "r"), [(1000.0, 0.0), (np.inf, 1e-3)])
def test_cutting_planes_take_over_where_many_blocks_disagree_about_few_weights(u, r):
    random = np.random.default_rng(0)
    rows = random.normal(0.3, 1.0, size=(900, 4))
    planes = np.repeat(np.arange(300), 3), rows, np.ones(900), random.uniform(0.5, 2, 900)
    block_by_block, together = (filled(*planes, u=u, r=r) for _ in range(2))
    w, v = np.zeros(4), np.zeros(4)
    *_, cuts_from = block_by_block.solve(w, 1e-6, 300 * 8, 0, 1000)
    assert cuts_from == 1000
    *_, cuts_from = together.solve(v, 1e-6, 300 * 8, 0, 1)
    assert cuts_from == 1
    assert dual(together, v) > 2 * dual(block_by_block, w)
    most, _, _ = together.violations(v)
    slacks = u * most if np.isfinite(u) else most**2 / (2 * r)
    assert 0.5 * v @ v + slacks.sum() == pytest.approx(dual(together, v), rel=2e-6)
    again = np.zeros(4)
    together.weights(again)
    np.testing.assert_allclose(again, v, rtol=1e-9)
    assert all(together.alpha(i).sum() <= u * (1 + 1e-12) for i in range(300))
