"""Engines from cheap to exact: what planes they give, and that certificates are the last one's."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from structlearn import StructuralSVM
from structlearn.models import Graph, Grid
from structlearn.models.graph.search import Search
from structlearn.models.graph.searched_problem import SearchedGraphProblem
from structlearn.solvers import BlockCoordinate, NSlack, OneSlack
from structlearn.waist import MarginObjective, Problem, Scaling
from tests.models.enumerated import Twins, bound
from tests.models.graph.enumerated_graph import EnumeratedGraph
from tests.models.instances import weights

MARGIN = Scaling("margin", "linear")
SCHEDULES = (("icm", "branch_and_bound"), ("icm", "alpha_expansion", "dual_ascent"), ("dual_ascent", "enumeration"))
SOLVERS = (
    BlockCoordinate(tol=1e-3),
    OneSlack(tol=1e-3),
    NSlack(tol=1e-3),
    NSlack(tol=1e-3, update_on="example"),
    NSlack(tol=1e-3, update_on="addition"),
)


def frustrated(engine, seed=0, n=8, size=6):
    """Graphs of many cycles, whose labels no model explains."""
    random = np.random.default_rng(seed)
    X, Y = [], []
    for _ in range(n):
        edges = [(i, j) for i in range(size) for j in range(i) if random.uniform() < 0.7]
        X.append((random.normal(size=(size, 2)), edges))
        Y.append(tuple(random.integers(3, size=size).tolist()))
    return Twins(bound(Graph(classes=[0, 1, 2], engine=engine), X, Y), EnumeratedGraph(3), X, Y)


def exact_objective(listed, w, price):
    largest = [max(0.0, each.violations(w, MARGIN).max()) for each in listed]
    return 0.5 * float(w @ w) + price * sum(largest)


@pytest.mark.sample(5)
@pytest.mark.parametrize("engine", SCHEDULES, ids=str)
@pytest.mark.parametrize("solver", SOLVERS, ids=lambda solver: type(solver).__name__ + getattr(solver, "update_on", ""))
def test_certificates_enclose_the_exact_objective(solver, engine):
    twins, alone = frustrated(engine), frustrated("enumeration")
    listed, price = twins.listed(), 0.3
    objective = MarginObjective(np.ones(len(listed)), price * len(listed))
    least = solver.run(alone.problem, objective).state.primal
    duals = []

    def observe(state):
        if state.record["certified"]:
            assert state.primal >= exact_objective(listed, state.w, price) * (1.0 - 1e-6)
        duals.append(state.dual)

    found = solver.run(twins.problem, objective, observe=observe)
    assert found.converged
    assert max(duals) <= least * (1.0 + 1e-9)
    assert found.state.primal == pytest.approx(least, rel=2.1e-3)


@dataclass(frozen=True)
class Useless:
    """The first label everywhere, and no bound."""

    name: ClassVar[str] = "useless"

    def search(self, graph):
        return UselessSearch(graph)


class UselessSearch:
    def __init__(self, graph):
        self.labels = np.zeros(graph.n_variables, np.int32)
        self.score, self.bound = graph.score(self.labels), np.inf

    def step(self):
        return False

    def details(self):
        return {}


def test_a_cheap_engine_certifies_nothing():
    twins = frustrated((Useless(), "enumeration"))
    listed = twins.listed()
    w = weights(np.random.default_rng(1), twins, ties=False)
    largest = [each.violations(w, MARGIN).max() for each in listed]
    assert twins.problem.exactness == "exact"
    assert twins.problem.oracle(w, np.arange(len(listed)), MARGIN).bounds == pytest.approx(largest)
    svm = StructuralSVM(Graph([0, 1, 2], engine=(Useless(), "enumeration")), C=2.4, tol=1e-3).fit(twins.X, twins.Y)
    assert svm.duality_gap_ <= 1e-3
    assert svm.objective_ >= exact_objective(listed, svm.w_, 0.3) * (1.0 - 1e-9)


def test_a_last_engine_without_bounds_leaves_nothing_certified():
    twins = frustrated(("enumeration", "icm"))
    assert twins.problem.exactness == "approximate"
    svm = StructuralSVM(Graph([0, 1, 2], engine=("enumeration", "icm")), max_iter=20).fit(twins.X, twins.Y)
    assert np.isnan(svm.duality_gap_)


@settings(max_examples=30)
@given(seed=st.integers(0, 1000), engine=st.sampled_from(SCHEDULES), share=st.floats(-0.5, 1.5))
def test_planes_are_violated_enough_or_none_is(seed, engine, share):
    twins = frustrated(engine, seed, n=3, size=5)
    w = weights(np.random.default_rng(seed), twins, ties=False)
    listed, every = twins.listed(), np.arange(3)
    enough = share * np.array([each.violations(w, MARGIN).max() for each in listed])
    planes = twins.problem.planes_above(w, every, MARGIN, enough)
    assert planes.losses - planes.rows.dot(w) == pytest.approx(planes.bounds, abs=1e-7)
    for i, each in enumerate(listed):
        shown = tuple(twins.problem.present(planes.outputs)[i])
        violations = each.violations(w, MARGIN)
        assert violations[each.outputs.index(shown)] == pytest.approx(planes.bounds[i], abs=1e-7)
        # Dual ascent without a proof need not find what there is.
        if engine[-1] != "dual_ascent" and violations.max() > enough[i] + 1e-7:
            assert planes.bounds[i] > enough[i]


def test_the_next_engine_is_asked_where_the_first_finds_too_little(monkeypatch):
    asked = []
    ask = Search._by
    monkeypatch.setattr(Search, "_by", lambda self, engine, *more: asked.append(engine) or ask(self, engine, *more))
    twins = frustrated(("icm", "enumeration"), n=1)
    w, one = weights(np.random.default_rng(0), twins, ties=False), np.arange(1)
    most = twins.problem.oracle(w, one, MARGIN).bounds
    for enough, engines in ((most - 100.0, ["icm"]), (most + 1e-3, ["icm", "enumeration"])):
        asked.clear()
        twins.problem.planes_above(w, one, MARGIN, enough)
        assert asked == engines
    asked.clear()
    twins.problem.predict(w)
    assert asked == ["enumeration"]


@dataclass(frozen=True)
class Slow:
    """The same in five steps."""

    name: ClassVar[str] = "slow"
    exactness: str

    def search(self, graph):
        return SlowSearch(graph)


class SlowSearch(UselessSearch):
    steps: ClassVar[list[int]] = []

    def step(self):
        self.steps.append(1)
        return len(self.steps) < 5


@pytest.mark.parametrize(("exactness", "n_steps"), [("exact", 1), ("approximate", 5)])
def test_exact_engines_stop_at_the_first_plane_that_will_do(exactness, n_steps):
    problem = frustrated((Slow(exactness), "enumeration"), n=1).problem
    w, one = np.zeros(problem.n_features), np.arange(1)
    SlowSearch.steps.clear()
    problem.planes_above(w, one, MARGIN, np.array([-1e9]))
    assert len(SlowSearch.steps) == n_steps


@pytest.mark.parametrize("solver", SOLVERS[:3], ids=lambda solver: type(solver).__name__)
def test_problems_with_one_way_are_asked_for_the_best_alone(solver, monkeypatch):
    monkeypatch.setattr(Problem, "planes_above", lambda *_: pytest.fail("asked for cheaper planes"))
    twins = frustrated("auto")
    assert not twins.problem.has_cheaper_planes
    solver.run(twins.problem, MarginObjective(np.ones(8), 2.4))


def test_moves_alone_are_as_before():
    assert not frustrated("alpha_expansion").problem.has_cheaper_planes


def test_images_are_trained_alike_by_a_schedule():
    random = np.random.default_rng(0)
    X, Y = random.normal(size=(6, 3, 3, 2)), random.integers(3, size=(6, 3, 3))
    one, several = (
        StructuralSVM(Grid([0, 1, 2], engine=engine), C=2.0, tol=1e-3).fit(list(X), list(Y))
        for engine in ("enumeration", ("icm", "auto"))
    )
    assert several.duality_gap_ <= 1e-3
    assert several.objective_ == pytest.approx(one.objective_, rel=2.1e-3)


def test_runs_with_answers_to_go_on_from_can_be_repeated():
    twins = frustrated("dual_ascent")
    first, second = (
        StructuralSVM(Graph([0, 1, 2], engine="dual_ascent"), C=2.4, n_jobs=n).fit(twins.X, twins.Y) for n in (1, 2)
    )
    assert np.array_equal(first.w_, second.w_)


def test_predictions_leave_no_answers_behind():
    twins = frustrated("dual_ascent")
    assert isinstance(twins.problem, SearchedGraphProblem)
    w = weights(np.random.default_rng(0), twins, ties=False)
    twins.problem.predict(w)
    assert not twins.problem._answers
    twins.problem.oracle(w, np.arange(2), MARGIN)
    assert sorted(twins.problem._answers) == [0, 1]


def test_answers_that_nothing_can_go_on_from_take_no_place():
    twins = frustrated(("icm", "dual_ascent"))
    w, every = weights(np.random.default_rng(0), twins, ties=False), np.arange(8)
    twins.problem.oracle(w, every, MARGIN)
    before = dict(twins.problem._answers)
    assert set(before) == set(range(8))
    twins.problem.planes_above(w, every, MARGIN, np.full(8, -1e9))
    assert all(twins.problem._answers[i] is before[i] for i in range(8))


@pytest.mark.parametrize(
    ("engine", "message"),
    [
        ((), r"engine is \(\); several engines are a tuple, from cheap to exact"),
        (["icm", "auto"], r"engine is \['icm', 'auto'\]; several engines are a tuple"),
        (("icm", "nonsense"), "engine is 'nonsense'; it may be 'auto'"),
    ],
)
def test_bad_schedules_are_refused(engine, message):
    with pytest.raises(ValueError, match=message):
        StructuralSVM(Graph(engine=engine)).fit([(np.eye(2), [(0, 1)])], [[0, 1]])
