"""Lemmas and theorems on random small problems, apart from any solver."""

from math import ceil, log2, sqrt

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize

from structlearn.kernels import RBF
from structlearn.theory import (
    PreconditionError,
    constraints_added,
    cutting_plane_iterations,
    dual_gain,
    line_search_gain,
    projection_gap,
    sampled_cuts,
    sampling_gap,
    sampling_tail,
    subspace_iterations,
)

seeds = st.integers(0, 2**32)
sizes = st.floats(0.01, 100.0)


def concave(random, size=4, rank=4):
    """D(α) = ⟨h, α⟩ − ½ αᵀHα, with H of the rank."""
    root = random.normal(size=(size, rank))
    return random.normal(size=size), root @ root.T


@given(seed=seeds, rank=st.integers(1, 4), single=st.booleans(), longest=st.none() | st.floats(0.001, 10.0))
def test_the_best_step_along_a_line_gains_no_less(seed, rank, single, longest):
    """Lemma 10, Corollary 11 (single coordinates), 12 and 13 (steps that may not be longer); Lemma 3.1 of Yu."""
    random = np.random.default_rng(seed)
    h, H = concave(random, rank=rank)
    start, line = random.normal(size=4), np.eye(4)[0] if single else random.normal(size=4)
    slope, curvature = float((h - H @ start) @ line), float(line @ H @ line)
    if slope < 0:
        line, slope = -line, -slope

    def gained(step):
        there = start + step * line
        return h @ there - 0.5 * there @ H @ there - (h @ start - 0.5 * start @ H @ start)

    longest = np.inf if longest is None else longest
    least = line_search_gain(slope, curvature, longest)
    free = slope / curvature
    tolerance = 1e-8 * (1.0 + abs(least))
    if free <= longest:
        assert gained(free) == pytest.approx(least, rel=1e-6, abs=tolerance)
        for step in (0.5 * free, 1.5 * free):
            assert gained(step) <= least + tolerance
    else:
        assert gained(longest) >= least - tolerance
        assert gained(longest) == pytest.approx(longest * slope - 0.5 * longest**2 * curvature, abs=1e-6)


def test_a_line_without_curvature_is_climbed_to_its_end():
    assert line_search_gain(3.0, 0.0, 2.0) == 3.0


def theorem_18(C, eps, n, R, D, rescaling, slack):
    """As it is printed."""
    return {
        ("slack", "linear"): max(2 * n * D / eps, 8 * C * D**3 * R**2 / eps**2),
        ("margin", "linear"): max(2 * n * D / eps, 8 * C * D * R**2 / eps**2),
        ("slack", "squared"): (C * D**2 * R**2 + n * D) / eps**2,
        ("margin", "squared"): (C * D * R**2 + n * D) / eps**2,
    }[rescaling, slack]


def propositions(C, eps, n, R, D, rescaling, slack):
    """14 to 17, as they are printed, the last one with the branch that its proof has."""
    return {
        ("slack", "squared"): 0.5 * eps**2 / (D * R**2 + n / C),
        ("margin", "squared"): 0.5 * eps**2 / (R**2 + n / C),
        ("slack", "linear"): min(C * eps / (2 * n), eps**2 / (8 * D**2 * R**2)),
        ("margin", "linear"): min(C * eps / (2 * n), eps**2 / (8 * R**2)),
    }[rescaling, slack]


@given(
    C=sizes,
    eps=sizes,
    n=st.integers(1, 1000),
    R=sizes,
    D=sizes,
    rescaling=st.sampled_from(["margin", "slack"]),
    slack=st.sampled_from(["linear", "squared"]),
)
def test_propositions_14_to_17_and_theorem_18_as_printed(C, eps, n, R, D, rescaling, slack):
    options = {"C": C, "eps": eps, "n_examples": n, "radius": R, "rescaling": rescaling, "slack": slack}
    printed = (C, eps, n, R, D, rescaling, slack)
    assert dual_gain(**options, largest_loss=D) == pytest.approx(propositions(*printed))
    assert constraints_added(**options, largest_loss=D) == pytest.approx(theorem_18(*printed))
    zero_one = options | {"rescaling": None, "largest_loss": D}
    assert constraints_added(**zero_one) == pytest.approx(constraints_added(**options | {"largest_loss": 1.0}))


@settings(max_examples=200)
@given(C=sizes, R=st.floats(0.1, 10.0), D=sizes, part=st.floats(0.01, 1.0))
def test_the_slowest_ascent_that_the_gains_allow_takes_no_longer_than_theorem_3_1(C, R, D, part):
    eps = part * 4 * R**2 * C
    distance, count, begin = C * D, 0, None
    most = cutting_plane_iterations(C=C, eps=eps, radius=R, largest_loss=D)
    while distance > 0:
        if begin is None and distance <= 4 * R**2 * C**2:
            begin = count
            assert begin <= max(0, ceil(log2(D / (4 * R**2 * C))))
        if begin is not None:
            assert distance <= 8 * R**2 * C**2 / (count - begin + 2) * (1 + 1e-9)
        # What is violated is at least the distance to the optimum over C, and more than eps before the end.
        distance -= line_search_gain(max(distance / C, eps), 4 * R**2, C)
        count += 1
    assert count <= most


@pytest.mark.parametrize(
    ("options", "value"),
    [
        ({"C": 10.0, "eps": 0.1, "radius": 2.0, "largest_loss": 1.0}, 6400),
        ({"C": 0.5, "eps": 0.5, "radius": 1.0, "largest_loss": 100.0}, 6 + 16),
        ({"C": 0.5, "eps": 0.5, "radius": 1.0, "largest_loss": 2.0, "rescaling": "slack"}, 64),
    ],
)
def test_theorem_3_1_by_hand(options, value):
    assert cutting_plane_iterations(**options) == value
    if "rescaling" not in options:
        assert subspace_iterations(**options, k_max=7) == 7 + value


def test_theorems_6_1_and_6_2_by_hand():
    options = {"C": 2.0, "radius": 0.5, "n_samples": 50}
    tail = np.exp(-50 * 0.1**2 / (16 * 2.0 * 0.25))
    assert sampled_cuts(**options, eps=0.1) == pytest.approx(32 * 2.0 * 0.25 / 0.1**2 / (1 - tail))
    assert sampling_tail(0.05, **options) == pytest.approx(tail)
    gap = 2.0 * (0.1 + sqrt(4 * 2.0 * 0.25 / 50 * np.log(300 / 0.05)))
    assert sampling_gap(**options, eps=0.1, n_cuts=300, delta=0.05) == pytest.approx(gap)
    # The union over all cuts of what the lemma allows a single one.
    deviation = gap / 2.0 - 0.1
    assert 300 * sampling_tail(deviation, **options) == pytest.approx(0.05)


@pytest.mark.parametrize("seed", [0, 1, 2])
@pytest.mark.parametrize("k", [1, 5, 20])
def test_sampled_cuts_stray_no_more_often_than_lemma_6_2_allows(seed, k):
    """A random cut of Algorithm 6.2 for two classes, at a random w with ½‖w‖² = C."""
    random, C, n = np.random.default_rng(seed), 2.0, 60
    X, y = random.normal(size=(n, 2)), random.choice([-1.0, 1.0], n)
    violated = np.flatnonzero(random.random(n) < 0.6)
    share = len(violated) / n
    K = RBF(gamma=2.0)(X)
    v = random.normal(size=n)
    values = K @ v * sqrt(2 * C / (v @ K @ v))
    terms = share * y[violated] * values[violated]
    drawn = random.choice(terms, size=(20_000, k)).mean(axis=1)
    assert drawn.mean() == pytest.approx(terms.mean(), abs=5 * terms.std() / sqrt(20_000 * k))
    for deviation in (0.1, 0.3, 0.6, 1.0):
        allowed = sampling_tail(deviation, C=C, n_samples=k, radius=1.0, share=share)
        assert np.mean(terms.mean() - drawn >= deviation) <= allowed


def test_lemma_6_2_is_not_far_from_what_happens():
    """Terms at both ends of their range: at three standard deviations the bound is exp(−9/2)."""
    random, k = np.random.default_rng(0), 100
    drawn = 2 * random.binomial(k, 0.5, size=100_000) / k - 1
    deviation = 3 / sqrt(k)
    allowed = sampling_tail(deviation, C=0.5, n_samples=k, radius=1.0)
    assert allowed == pytest.approx(np.exp(-4.5))
    assert allowed == pytest.approx(sampling_tail(0.5 * deviation, C=0.5, n_samples=k, radius=1.0, share=0.5))
    assert allowed / 20 < np.mean(drawn <= -deviation) <= allowed


def best_under(cuts, offsets, C):
    """argmin ½‖w‖² + C max(0, max_t c_t − ⟨w, g_t⟩), by its dual."""
    gram = cuts @ cuts.T
    found = minimize(
        lambda a: 0.5 * a @ gram @ a - offsets @ a,
        np.full(len(cuts), 0.5 * C / len(cuts)),
        jac=lambda a: gram @ a - offsets,
        bounds=[(0, None)] * len(cuts),
        constraints={"type": "ineq", "fun": lambda a: C - a.sum(), "jac": lambda a: -np.ones(len(a))},
        method="SLSQP",
        options={"ftol": 1e-13, "maxiter": 500},
    )
    return found.x @ cuts


@settings(max_examples=40)
@given(seed=seeds, C=st.floats(0.1, 20.0), largest_loss=st.floats(0.5, 5.0), size=st.integers(1, 5))
def test_projected_cuts_cost_no_more_than_theorem_6_4(seed, C, largest_loss, size):
    random = np.random.default_rng(seed)
    cuts, offsets = random.normal(size=(6, 6)), largest_loss * random.random(6)
    basis, _ = np.linalg.qr(random.normal(size=(6, size)))
    projected = cuts @ basis @ basis.T

    def objective(w):
        return 0.5 * w @ w + C * max(0.0, (offsets - cuts @ w).max())

    optimum = objective(best_under(cuts, offsets, C))
    reached = objective(best_under(projected, offsets, C))
    distance = np.linalg.norm(cuts - projected, axis=1).max()
    gap = projection_gap(C=C, eps=0.0, distance=distance, largest_loss=largest_loss)
    assert -1e-6 <= reached - optimum <= gap + 1e-6


def test_exact_cuts_end_within_C_eps():
    assert projection_gap(C=3.0, eps=0.1, distance=0.0) == pytest.approx(0.3)


def test_theorem_6_4_is_not_far_from_what_happens():
    """A cut that is lost altogether, where the optimum would follow it: a third of what is allowed."""
    cuts, C = np.array([[1.0, 0.0]]), 1.0
    lost = C - 0.5 * np.sum(best_under(cuts, np.ones(1), C) ** 2)
    assert lost <= projection_gap(C=C, eps=0.0, distance=1.0) <= 3 * lost


NUMBERS = {"C": 1.0, "eps": 0.1, "radius": 1.0, "largest_loss": 1.0}


@pytest.mark.parametrize(
    ("function", "options", "message"),
    [
        (cutting_plane_iterations, {"eps": 4.1}, "Theorem 3.1 needs eps ≤ 4R²C = 4, but eps is 4.1"),
        (cutting_plane_iterations, {"radius": 0.0}, "Theorem 3.1 needs eps ≤ 4R²C = 0"),
        (subspace_iterations, {"eps": 4.1, "k_max": 3}, "Theorem 3.1 needs eps ≤ 4R²C = 4, but eps is 4.1"),
        (sampled_cuts, {"eps": 8.1, "n_samples": 3}, "Theorem 6.1 needs eps ≤ 8R²C = 8, but eps is 8.1"),
        (constraints_added, {"n_examples": 3, "slack": "hard"}, "Theorem 18 needs slacks, but slack is 'hard'"),
    ],
)
def test_preconditions_are_checked(function, options, message):
    with pytest.raises(PreconditionError, match=message):
        function(**NUMBERS | options)


@pytest.mark.parametrize(
    ("function", "options", "message"),
    [
        (cutting_plane_iterations, {"C": 0.0}, "C is 0.0; it must be a positive number"),
        (cutting_plane_iterations, {"largest_loss": 0.0}, "largest_loss is 0.0; it must be a positive number"),
        (cutting_plane_iterations, {"rescaling": "both"}, "rescaling is 'both'"),
        (constraints_added, {"n_examples": 0}, "n_examples is 0; it must be a positive number"),
        (constraints_added, {"n_examples": 3, "eps": -1.0}, "eps is -1.0; it must be a positive number"),
        (subspace_iterations, {"k_max": 2.5}, "k_max is 2.5; it must be a whole number"),
        (sampled_cuts, {"n_samples": 0}, "n_samples is 0; it must be a whole number"),
        (sampling_gap, {"n_samples": 3, "n_cuts": 3, "delta": 1.0}, "delta is 1.0; it must be between 0 and 1"),
        (sampling_gap, {"n_samples": 3, "n_cuts": 0, "delta": 0.5}, "n_cuts is 0; it must be a whole number"),
    ],
)
def test_numbers_that_mean_nothing_are_refused(function, options, message):
    with pytest.raises(ValueError, match=message):
        function(**NUMBERS | options)
