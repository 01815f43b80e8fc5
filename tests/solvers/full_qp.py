"""The primal quadratic program with every constraint written out, for an independent solver."""

import clarabel
import numpy as np
import scipy.sparse as sp


def full_optimum(twins, objective):
    """The least value of ½‖w‖² + (C/S) Σ s_i ℓ(ξ_i) under w_j ≥ 0 for the chosen j, and the w that has it.

    None if no w meets the constraints.
    """
    d, n = twins.problem.n_features, twins.problem.n_examples
    constraints, limits = [], []
    for i, listed in enumerate(twins.listed()):
        a, b = objective.scaling(listed.losses)
        kept = ~(listed.true & (objective.rescaling is None))
        slack = np.zeros((kept.sum(), n))
        slack[:, i] = objective.slack != "hard"
        constraints.append(-np.hstack([(a[:, None] * listed.rows)[kept], slack]))
        limits.append(-b[kept])
    constraints.append(-np.hstack([np.zeros((n, d)), np.eye(n)]))
    constraints.append(-np.eye(d + n)[objective.nonnegative])
    limits.append(np.zeros(n + len(objective.nonnegative)))
    price = objective.price * objective.sample_weight
    curvature = np.concatenate([np.ones(d), price if objective.slack == "squared" else np.zeros(n)])
    slope = np.concatenate([np.zeros(d), price if objective.slack == "linear" else np.zeros(n)])
    settings = clarabel.DefaultSettings()
    settings.verbose = False
    settings.tol_gap_abs = settings.tol_gap_rel = settings.tol_feas = 1e-11
    settings.max_iter = 500
    A, limits = sp.csc_matrix(np.vstack(constraints)), np.concatenate(limits)
    cones = [clarabel.NonnegativeConeT(len(limits))]
    found = clarabel.DefaultSolver(sp.csc_matrix(sp.diags(curvature)), slope, A, limits, cones, settings).solve()
    if found.status == clarabel.SolverStatus.PrimalInfeasible:
        return None
    assert found.status in (clarabel.SolverStatus.Solved, clarabel.SolverStatus.AlmostSolved), found.status
    return found.obj_val, np.array(found.x[:d])
