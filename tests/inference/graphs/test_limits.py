"""The loop that runs all engines: limits, Ctrl-C, progress, and engines of one's own."""

import numpy as np
import pytest

from structlearn.data import FactorGraph, GridGraph, Potts
from structlearn.inference import best_labelling, labelling_marginals
from structlearn.inference.graphs.engines.enumeration import all_scores

GRAPH = FactorGraph.pairwise([[0.0, 1.0], [0.0, 1.0], [0.0, 1.0]], [(0, 1), (1, 2)], Potts(0.5))


class Climbing:
    """Sets one variable after another to label 1; its bound falls by one a step; `event` happens in the second."""

    name = "climbing"

    def __init__(self, event=lambda: None, steps=3):
        self.event = event
        self.steps = steps

    def search(self, graph):
        return ClimbingSearch(graph, self.event, self.steps)


class ClimbingSearch:
    def __init__(self, graph, event, steps):
        self.graph, self.event, self.steps = graph, event, steps
        self.labels = np.zeros(graph.n_variables, np.int32)
        # Engines see the graph without what all labellings have in common, here 3.
        self.score, self.bound = graph.score(self.labels), 7.0
        self.done = 0

    def step(self):
        if self.done == 1:
            self.event()
        self.labels = self.labels.copy()
        self.labels[self.done] = 1
        self.score = self.graph.score(self.labels)
        self.bound -= 1.0
        self.done += 1
        return self.done < self.steps

    def details(self):
        return {"done": self.done}


def test_an_engine_of_ones_own_runs_to_its_end():
    found = best_labelling(GRAPH, Climbing())
    assert (found.labels.tolist(), found.score, found.bound) == ([1, 1, 1], 4.0, 7.0)
    assert (found.exact, found.engine, found.stopped, found.iterations) == (False, "climbing", "converged", 3)
    assert found.details == {"done": 3}
    assert [record[1:] for record in found.history] == [(1.5, 9.0), (2.5, 8.0), (4.0, 7.0)]


def test_iterations_and_seconds_are_limits():
    found = best_labelling(GRAPH, Climbing(), max_iterations=2)
    assert (found.iterations, found.stopped, found.score) == (2, "max_iterations", 2.5)
    found = best_labelling(GRAPH, Climbing(), max_seconds=0.0)
    assert (found.iterations, found.stopped) == (1, "max_seconds")


def test_a_proof_ends_the_search():
    class Proving(Climbing):
        def search(self, graph):
            search = super().search(graph)
            search.event = lambda: setattr(search, "bound", 0.5)
            return search

    found = best_labelling(GRAPH, Proving())
    assert (found.iterations, found.exact, found.stopped) == (2, True, "optimal")
    assert found.bound == found.score == 2.5


@pytest.mark.parametrize(
    ("field", "value", "message"),
    [
        ("bound", -100.0, "has a bound of -101.0 and labels that score"),
        ("bound", np.nan, "has a bound of nan"),
        ("labels", np.array([0, 9, 0]), r"labels\[1\] is 9"),
        ("labels", np.zeros(1, int), "labels has shape"),
    ],
)
def test_engines_whose_answers_do_not_fit_are_refused(field, value, message):
    class Lying(Climbing):
        def search(self, graph):
            search = super().search(graph)
            step = search.step

            def lie():
                more = step()
                setattr(search, field, value if field == "labels" else value - 1.0)
                return more

            search.step = lie
            return search

    with pytest.raises(ValueError, match=message):
        best_labelling(GRAPH, Lying())


def test_a_score_that_labels_do_not_have_is_refused():
    class Boasting(Climbing):
        def search(self, graph):
            search = super().search(graph)
            search.score = 100.0
            return search

    with pytest.raises(ValueError, match="says that its labels score 100"):
        best_labelling(GRAPH, Boasting())


@pytest.mark.parametrize(
    ("field", "value", "message"),
    [
        ("score", 100.0, "says that its labels score 100.0, not 3.5"),
        ("bound", -100.0, "has a bound of -100.0 and labels that score 3.5"),
        ("labels", np.array([0, 9, 0]), r"labels\[0, 1\] is 9"),
        ("labels", np.zeros(1, int), r"labels has shape \(1,\)"),
    ],
)
def test_engines_of_ones_own_for_grids_are_checked_as_well(field, value, message):
    class Flat(Climbing):
        def search_grid(self, grid):
            search = self.search(grid.factor_graph)
            search.labels, search.score = np.array([0, 1, 1]), 3.5
            for name, other in lie.items():
                setattr(search, name, other)
            return search

    grid = GridGraph([[[1.0, 0.0], [0.0, 1.0], [0.0, 1.0]]], Potts(0.5))
    lie = {}
    assert best_labelling(grid, Flat()).labels.tolist() == [[1, 1, 1]]
    lie = {field: value}
    with pytest.raises(ValueError, match=message):
        best_labelling(grid, Flat())


@pytest.mark.parametrize("engine", ["auto", "dual_ascent", "branch_and_bound", "integer_program", "linear_program"])
def test_what_all_labellings_have_in_common_changes_no_answer(engine):
    random = np.random.default_rng(14)
    for _ in range(10):
        unaries = random.normal(size=(7, 3)).round(3)
        edges = [(i, j) for i in range(7) for j in range(i)]
        tables = random.normal(size=(21, 3, 3)).round(3)
        best = all_scores(FactorGraph.pairwise(unaries, edges, tables)).max()
        unaries[0] += 2.0**30
        tables[3] -= 2.0**28
        found = best_labelling(FactorGraph.pairwise(unaries, edges, tables), engine)
        common = 2.0**30 - 2.0**28
        assert found.bound - common >= best - 1e-5
        assert not found.exact or found.score - common == pytest.approx(best, abs=1e-5)


def interrupt():
    raise KeyboardInterrupt


def test_ctrl_c_returns_the_best_so_far():
    found = best_labelling(GRAPH, Climbing(interrupt))
    assert (found.labels.tolist(), found.score, found.bound) == ([1, 0, 0], 1.5, 9.0)
    assert best_labelling(GRAPH, Climbing(), progress=lambda record: interrupt()).stopped == "interrupted"
    assert (found.iterations, found.stopped) == (1, "interrupted")


def test_progress_is_told():
    told = []
    best_labelling(GRAPH, Climbing(), progress=told.append)
    assert [record.score for record in told] == [1.5, 2.5, 4.0]
    found = best_labelling(GRAPH, Climbing(), progress=lambda record: record.score > 2.0)
    assert (found.stopped, found.iterations) == ("progress", 2)
    sums = []
    labelling_marginals(GRAPH, "mean_field", max_iterations=3, progress=lambda *record: sums.append(record))
    assert len(sums) == 3


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"engine": "magic"}, "engine is 'magic'; it may be 'auto'"),
        ({"engine": 3}, "engine is 3"),
        ({"max_seconds": -1}, "max_seconds is -1"),
        ({"max_seconds": np.nan}, "max_seconds is nan"),
        ({"max_iterations": 0}, "max_iterations is 0"),
    ],
)
def test_bad_options_are_refused_by_name(options, message):
    with pytest.raises(ValueError, match=message):
        best_labelling(GRAPH, **options)
    with pytest.raises(ValueError, match=message):
        labelling_marginals(GRAPH, **options)


def test_graphs_without_variables_have_one_labelling():
    empty = FactorGraph.of([], [([], 1.5)])
    for engine in ("auto", "enumeration", "junction_tree", "icm", "max_product"):
        found = best_labelling(empty, engine)
        assert (found.labels.tolist(), found.score, found.exact) == ([], 1.5, True)
    for engine in ("auto", "junction_tree", "belief_propagation", "tree_reweighted", "mean_field"):
        assert labelling_marginals(empty, engine).log_z == pytest.approx(1.5)


def test_grids_are_labelled_in_rows_and_columns():
    grid = GridGraph(np.random.default_rng(0).normal(size=(2, 3, 2)), Potts(0.3))
    found = best_labelling(grid, "enumeration")
    assert found.labels.shape == (2, 3)
    assert grid.score(found.labels) == pytest.approx(all_scores(grid.factor_graph).max())


def test_what_is_no_graph_is_refused():
    with pytest.raises(ValueError, match="expected a FactorGraph or a GridGraph"):
        best_labelling(np.zeros((2, 2)))
