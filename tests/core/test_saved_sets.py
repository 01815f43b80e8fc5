"""Working sets as flat arrays: what comes back is what was there, and nothing that cannot have been there."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from structlearn import _core
from structlearn.models import DependencyTree
from structlearn.solvers import BlockCoordinate, OneSlack
from structlearn.waist import MarginObjective
from tests.abilities.with_sums import dependency_tree
from tests.core.test_working_sets import filled, instance
from tests.models.instances import chain_twins, multiclass_twins


def trained(problem):
    """Working sets in the middle of a run, with planes that came, went and were weighed."""
    objective = MarginObjective(np.ones(problem.n_examples), 10.0 * problem.n_examples)
    return BlockCoordinate(max_iter=4, tol=1e-12).run(problem, objective).state


def parsed(**options):
    row = dependency_tree(np.random.default_rng(0))
    model = DependencyTree(**options)
    X, Y = list(row.X) * 3, [*row.Y, *row.Y[:2], *row.Y[:1:-1], *row.Y]
    return model.bind(model.specify(X, Y), X, Y)


KINDS = {
    "chains": lambda: chain_twins(np.random.default_rng(0), lengths=(1, 2, 5, 4, 6) * 3).problem,
    "classes": lambda: multiclass_twins(np.random.default_rng(0), n=20).problem,
    "chains with pairs": lambda: chain_twins(np.random.default_rng(0), lengths=(2, 5, 6), pair_features=True).problem,
    "dependency trees": lambda: parsed(order=2),
    "dependency trees of any shape": lambda: parsed(projective=False, n_hashed=60),
    "written out": lambda: chain_twins(np.random.default_rng(0), lengths=(2, 3, 4, 3)).python_problem(),
}


@pytest.mark.parametrize("kind", KINDS)
def test_what_was_saved_comes_back(kind):
    problem = KINDS[kind]()
    state = trained(problem)
    saved = state.sets.save()
    assert saved["alpha"].any()
    assert saved["idle"].any()
    again = problem.working_sets()
    again.restore(saved)
    for name, array in again.save().items():
        np.testing.assert_array_equal(array, saved[name])
        assert array.dtype == saved[name].dtype
    assert again.nbytes() == state.sets.nbytes()
    w = np.zeros(problem.n_features)
    again.weights(w)
    np.testing.assert_allclose(w, state.iterate, atol=1e-10)


@pytest.mark.parametrize("kind", KINDS)
def test_both_go_on_alike(kind):
    problem = KINDS[kind]()
    state = trained(problem)
    again = problem.working_sets()
    again.restore(state.sets.save())
    left, right = state.iterate.copy(), state.iterate.copy()
    assert state.sets.solve(left, 1e-12, 1000, 5) == again.solve(right, 1e-12, 1000, 5)
    np.testing.assert_array_equal(left, right)


def test_a_cut_over_all_weights_comes_back():
    problem = KINDS["chains"]()
    objective = MarginObjective(np.ones(problem.n_examples), 10.0)
    cuts = OneSlack(max_iter=5, tol=1e-12).run(problem, objective).state.cuts
    again = _core.SparseSets(1, problem.n_features)
    again.restore(cuts.save())
    np.testing.assert_array_equal(again.gram(0), cuts.gram(0))
    np.testing.assert_array_equal(again.alpha(0), cuts.alpha(0))


def test_sets_that_hold_nothing_come_back():
    sets = _core.SparseSets(3, 2)
    again = _core.SparseSets(3, 2)
    again.restore(sets.save())
    assert again.sizes().tolist() == [0, 0, 0]


def changed(array, place, value):
    result = array.copy()
    result[place] = value
    return result


WRONG = {
    "fewer blocks": lambda saved: {"sizes": saved["sizes"][:-1]},
    "a negative size": lambda saved: {"sizes": changed(saved["sizes"], 0, -1)},
    "a huge size": lambda saved: {"sizes": changed(saved["sizes"], 0, 2**62)},
    "a size too many": lambda saved: {"sizes": saved["sizes"] + 1},
    "huge known products": lambda saved: {"known": changed(saved["known"], 0, 2**62)},
    "negative known products": lambda saved: {"known": changed(saved["known"], 0, -1)},
    "products cut short": lambda saved: {"products": saved["products"][:-1]},
    "fewer multipliers": lambda saved: {"alpha": saved["alpha"][:-1]},
    "more multipliers": lambda saved: {"alpha": np.append(saved["alpha"], 1.0)},
    "a negative multiplier": lambda saved: {"alpha": saved["alpha"] - 1e3},
    "no number": lambda saved: {"alpha": np.full_like(saved["alpha"], np.nan)},
    "no count": lambda saved: {"idle": np.full_like(saved["idle"], np.nan)},
    "an infinite plane": lambda saved: {"b": np.full_like(saved["b"], np.inf)},
    "a negative limit": lambda saved: {"u": saved["u"] - 1e3},
    "other numbers": lambda saved: {"alpha": saved["alpha"].astype(np.float32)},
    "a matrix": lambda saved: {"alpha": saved["alpha"][:, None]},
    "a text": lambda saved: {"alpha": "alpha"},
}
WRONG_LABELS = {
    "labels cut short": lambda saved: {"labels": saved["labels"][:-1]},
    "no label": lambda saved: {"labels": changed(saved["labels"], -1, -1)},
    "a label beyond the classes": lambda saved: {"labels": changed(saved["labels"], 0, 3)},
}
WRONG_MOVES = {
    "moves cut short": lambda saved: {"moves": saved["moves"][:-1]},
    "counts cut short": lambda saved: {"counts": saved["counts"][:-1]},
    "a negative count": lambda saved: {"counts": changed(saved["counts"], 0, -1)},
    "a huge count": lambda saved: {"counts": changed(saved["counts"], 0, 2**62)},
    "a part beyond all": lambda saved: {"moves": changed(saved["moves"], 0, 2**30)},
    "a part before all": lambda saved: {"moves": changed(saved["moves"], 1, -2)},
    "moves of nothing": lambda saved: {"moves": np.full_like(saved["moves"], -1)},
}


def across(saved):
    """A label of the second token or of a later one moves to the first token."""
    plus, minus = saved["moves"].reshape(-1, 2).T
    return {"moves": changed(saved["moves"], 2 * int(np.flatnonzero((plus >= 3) & (minus >= 3))[0]) + 1, 0)}


BETWEEN = {"a move between places": across}
WRONG_ROWS = {
    "rows cut short": lambda saved: {"indptr": saved["indptr"][:-1]},
    "values cut short": lambda saved: {"values": saved["values"][:-1]},
    "a weight beyond all": lambda saved: {"indices": saved["indices"] + 10_000},
    "a negative weight": lambda saved: {"indices": saved["indices"] - 10_000},
    "weights twice": lambda saved: {"indices": np.zeros_like(saved["indices"])},
    "rows backwards": lambda saved: {"indptr": saved["indptr"][::-1].copy()},
    "a huge row": lambda saved: {"indptr": changed(saved["indptr"], -1, 2**62)},
    "an infinite row": lambda saved: {"values": np.full_like(saved["values"], np.inf)},
}


@pytest.mark.parametrize(
    ("kind", "wrong"),
    [(kind, wrong) for kind in KINDS for wrong in WRONG]
    + [(kind, wrong) for kind in ("chains", "chains with pairs") for wrong in WRONG_MOVES]
    + [("classes", wrong) for wrong in WRONG_LABELS]
    + [("chains", "a move between places")]
    + [("written out", wrong) for wrong in WRONG_ROWS],
)
def test_what_cannot_have_been_saved_is_refused(kind, wrong):
    problem = KINDS[kind]()
    sets = trained(problem).sets
    saved = sets.save()
    with pytest.raises(ValueError, match="the saved working sets are not valid"):
        sets.restore(saved | (WRONG | WRONG_MOVES | WRONG_LABELS | WRONG_ROWS | BETWEEN)[wrong](saved))
    for name, array in sets.save().items():
        np.testing.assert_array_equal(array, saved[name])


@pytest.mark.parametrize("kind", KINDS)
def test_a_missing_array_is_named(kind):
    sets = KINDS[kind]().working_sets()
    saved = sets.save()
    for name in list(saved):
        with pytest.raises(ValueError, match=f"they lack {name}"):
            sets.restore({other: array for other, array in saved.items() if other != name})


@settings(max_examples=50)
@given(seed=st.integers(0, 2**32))
def test_random_bytes_never_break_the_core(seed):
    random = np.random.default_rng(seed)
    blocks, rows, a, b = instance(seed)
    sets = filled(blocks, rows, a, b, u=0.7, r=0.0)
    w = np.zeros(rows.shape[1])
    sets.solve(w, 1e-3, 1000, 0)
    saved = {name: array.copy() for name, array in sets.save().items()}
    name = random.choice(list(saved))
    flat = saved[name].view(np.uint8)
    if len(flat):
        flat[random.integers(len(flat))] ^= 1 << random.integers(8)
    try:
        sets.restore(saved)
    except ValueError:
        return
    sets.solve(w, 1e-3, 1000, 0)
    sets.violations(w)
    sets.limit_memory(100, w, False)
