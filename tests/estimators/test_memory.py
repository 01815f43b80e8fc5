"""`max_memory`: one budget for weights, planes and listed structures, and the refusal of what does not fit."""

import pickle
import re

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning

from structlearn import (
    ConditionalRandomField,
    LatentConditionalRandomField,
    LatentStructuralSVM,
    StructuralSVM,
    StructuredPerceptron,
    _core,
)
from structlearn.estimators import memory
from structlearn.estimators.memory import InsufficientMemoryError
from structlearn.models import Chain, HypergraphModel, Multiclass, Segments
from structlearn.solvers import BlockCoordinate, Extragradient, NSlack, OneSlack
from structlearn.solvers.base import EXAMPLE_BYTES
from structlearn.solvers.working_sets import WorkingSetState, has_room
from structlearn.waist.problem import Problem
from tests.estimators.test_checkpoint import StopAt
from tests.models.chain.test_pair_weights import sentences, whole

ESTIMATORS = [
    StructuralSVM,
    ConditionalRandomField,
    LatentStructuralSVM,
    LatentConditionalRandomField,
    StructuredPerceptron,
]


def dense_bytes(X, Y, solver=None):
    """What a chain with all weights needs for the vectors of a solver."""
    model = Chain()
    spec = model.specify(X, Y)
    return (solver or BlockCoordinate()).nbytes(model.bind(spec, X, Y))


@pytest.mark.parametrize("kind", ESTIMATORS)
def test_it_is_an_option_of_all_estimators_that_minimise(kind):
    estimator = clone(kind(Chain(), max_memory="2GB"))
    assert estimator.get_params()["max_memory"] == "2GB"
    assert "max_memory='2GB'" in repr(estimator)
    assert kind(Chain()).max_memory is None
    estimator.set_params(max_memory=-5)
    with pytest.raises(ValueError, match="max_memory is -5; it must be a whole number ≥ 1"):
        estimator.fit(*sentences(3))


def test_a_chain_whose_weights_do_not_fit_gets_those_that_it_needs():
    X, Y = sentences(n_words=30_000)
    all_weights = StructuralSVM(Chain(), C=30.0, tol=1e-6).fit(X, Y)
    need = dense_bytes(X, Y)
    assert StructuralSVM(Chain(), C=30.0, max_memory=need + 10**6).fit(X, Y).spec_.pairs is None
    some = StructuralSVM(Chain(), C=30.0, tol=1e-6, max_memory=need - 1).fit(X, Y)
    assert some.spec_.pairs is not None
    assert some.duality_gap_ <= 1e-6
    np.testing.assert_allclose(whole(some), whole(all_weights), atol=2e-3)


def test_what_does_not_fit_is_refused_with_the_ways_out():
    X, Y = sentences(n_words=2000)
    with pytest.raises(InsufficientMemoryError) as refused:
        ConditionalRandomField(Chain(), solver="lbfgs", max_memory="1MB").fit(X, Y)
    assert str(refused.value) == (
        "training needs about 2.5 MB for 12,054 weights, but max_memory leaves 1.0 MB; what helps: "
        "a larger min_count of TextFeatures, TextFeatures(n_hashed=512), Chain(observed_only=True), "
        "solver='dual_coordinate', solver='exponentiated_gradient', solver='iterative_scaling', fewer labels or "
        "max_memory='2.6MB'"
    )
    assert str(pickle.loads(pickle.dumps(refused.value))) == str(refused.value)
    ways = dict(refused.value.ways)
    fewer = [sp.csr_array(x[:, : ways["n_hashed"]]) for x in X]
    for crf, inputs in (
        (ConditionalRandomField(Chain(observed_only=True), solver="lbfgs", max_memory="1MB"), X),
        (ConditionalRandomField(Chain(), solver="dual_coordinate", max_memory="1MB"), X),
        (ConditionalRandomField(Chain(), solver="lbfgs", max_memory="1MB"), fewer),
        (ConditionalRandomField(Chain(), solver="lbfgs", max_memory=ways["max_memory"]), X),
    ):
        crf.fit(inputs, Y)
        assert crf.converged_


def test_what_is_over_the_parts_counts_and_fewer_features_do_not_help_there():
    random = np.random.default_rng(0)
    X = [random.normal(size=(50, 2)) for _ in range(100)]
    Y = [random.integers(4, size=50).tolist() for _ in X]
    told = "for 32 weights and 22,400 numbers over the parts of all examples, .*; what helps: solver='lbfgs', fewer"
    with pytest.raises(InsufficientMemoryError, match=told):
        ConditionalRandomField(Chain(), max_memory=100_000).fit(X, Y)
    ConditionalRandomField(Chain(), solver="lbfgs", max_memory=100_000).fit(X, Y)


def test_other_structures_are_refused_too():
    X = sp.random_array((30, 5000), density=0.01, format="csr", rng=np.random.default_rng(0))
    Y = np.arange(30) % 3
    with pytest.raises(InsufficientMemoryError, match="15,000 weights"):
        StructuralSVM(Multiclass(), solver="extragradient", max_memory=400_000).fit(X, Y)
    assert StructuralSVM(Multiclass(), max_memory=400_000).fit(X, Y).spec_.pairs is not None
    with pytest.raises(InsufficientMemoryError, match="weights"):
        StructuralSVM(Segments(), max_memory=100).fit([np.ones((2, 2))], [[("a", 0, 2)]])


def test_without_a_number_the_machine_is_the_bound(monkeypatch):
    X, Y = sentences(n_words=2000)
    monkeypatch.setattr(memory, "available_memory", lambda: 300_000)
    with pytest.raises(InsufficientMemoryError, match=r"but 300 kB are available; .* or max_memory='2.6MB'"):
        ConditionalRandomField(Chain(), solver="lbfgs").fit(X, Y)
    # What the user grants is not doubted.
    ConditionalRandomField(Chain(), solver="lbfgs", max_memory="3MB").fit(X, Y)
    assert StructuralSVM(Chain())._prepare(X, Y, None, None).problem.grows
    monkeypatch.setattr(memory, "available_memory", lambda: None)
    assert not StructuralSVM(Chain())._prepare(X, Y, None, None).problem.grows


def test_what_a_run_does_depends_on_the_machine_only_where_it_is_short(monkeypatch):
    X, Y = sentences()
    svm = StructuralSVM(Chain(), C=30.0)
    monkeypatch.setattr(memory, "available_memory", lambda: 2**34)
    assert svm._prepare(X, Y, None, None).problem.max_memory is None
    monkeypatch.setattr(memory, "available_memory", lambda: 2**29)
    assert svm._prepare(X, Y, None, None).problem.max_memory == 2**29


@pytest.mark.parametrize(
    "solver",
    [
        BlockCoordinate(tol=1e-6, idle_passes=1000),
        NSlack(tol=1e-6),
        pytest.param(OneSlack(tol=1e-6), marks=pytest.mark.slow),
    ],
    ids=repr,
)
def test_planes_are_given_up_where_the_budget_is_small_and_the_optimum_is_certified(solver):
    sizes = []

    class Watched(type(solver)):
        def update(self, state, problem, objective):
            state = super().update(state, problem, objective)
            sets = [getattr(state, name) for name in ("sets", "cuts", "cached") if hasattr(state, name)]
            sizes.append(sum(each.nbytes() for each in sets))
            return state

    X, Y = sentences(n=60)
    svm = StructuralSVM(Chain(), C=60.0, solver=Watched(**solver.get_params())).fit(X, Y)
    most, optimum = max(sizes), svm.objective_
    sizes.clear()
    svm.set_params(max_memory=dense_bytes(X, Y, solver) + int(0.8 * most)).fit(X, Y)
    assert max(sizes) < most
    assert svm.duality_gap_ <= 1e-6
    assert svm.objective_ == pytest.approx(optimum, rel=2e-6)


@pytest.mark.parametrize(
    ("solver", "C", "part"),
    [
        (BlockCoordinate(tol=1e-4, chunk_size=4), 6.0, 0.8),
        # Every pass is followed by one that certifies.
        (BlockCoordinate(eps=0.01, chunk_size=4), 6.0, 0.8),
        (NSlack(tol=1e-4), 60.0, 0.6),
    ],
    ids=repr,
)
def test_planes_keep_within_the_budget_while_a_pass_goes_on(solver, C, part, monkeypatch):
    sizes, brought = [], []
    keep = WorkingSetState.keep

    def watched(state, *args):
        before = state.sets.nbytes()
        new = keep(state, *args)
        sizes.append(state.sets.nbytes())
        brought.append(sizes[-1] - before)
        return new

    monkeypatch.setattr(WorkingSetState, "keep", watched)
    monkeypatch.setattr(Problem, "_chunk", 4)
    X, Y = sentences(n=60)
    svm = StructuralSVM(Chain(), C=C, solver=solver).fit(X, Y)
    most, room = max(sizes), int(part * max(sizes))
    sizes.clear()
    brought.clear()
    bounded = clone(svm).set_params(max_memory=dense_bytes(X, Y, solver) + room).fit(X, Y)
    assert max(sizes) <= room + max(brought) < most
    assert bounded.duality_gap_ <= 1e-4
    assert bounded.objective_ == pytest.approx(svm.objective_, rel=2e-4)


def test_what_is_kept_of_an_example_counts():
    kinds = (_core.SparseSets, _core.PartSets, _core.MulticlassSets, _core.DependencySets)
    assert max(kind.block_nbytes for kind in kinds) == EXAMPLE_BYTES - 5 * 16
    X, Y = sentences(n=60)
    once, twice = (dense_bytes(X * k, Y * k) for k in (1, 2))
    assert twice - once == 60 * EXAMPLE_BYTES
    assert (dense_bytes(X * 2, Y * 2, Extragradient()) - dense_bytes(X, Y, Extragradient())) % EXAMPLE_BYTES


def a_plane_each(n=100):
    sets = _core.SparseSets(n, n)
    sets.add(np.arange(n), np.arange(n + 1), np.arange(n), np.ones(n), np.arange(n), np.ones(n), np.ones(n))
    return sets


def test_planes_that_have_just_joined_make_no_room_for_others_but_idle_ones_do():
    sets = a_plane_each()
    assert has_room(sets, sets.nbytes())
    assert not has_room(sets, sets.nbytes() - 1)
    assert sets.sizes().sum() == 100
    sets.set_alpha(3, np.ones(1))
    sets.count_idle()
    assert has_room(sets, sets.nbytes() - 1)
    assert np.flatnonzero(sets.sizes()).tolist() == [3]


def test_of_planes_that_are_alike_so_many_are_given_up_as_have_to():
    sets = a_plane_each()
    most = sets.nbytes() // 2
    assert not sets.exceeds(sets.nbytes())
    assert sets.exceeds(most)
    sets.limit_memory(most, np.zeros(100), True)
    assert 0.9 * most < sets.nbytes() < 1.1 * most
    assert not sets.exceeds(sets.nbytes())
    sets.limit_memory(0, np.zeros(100), True)
    assert sets.sizes().sum() <= 1


@pytest.mark.filterwarnings("ignore:stopped after max_iter")
def test_planes_with_weight_are_given_up_with_a_warning():
    X, Y = sentences(n=60)
    with pytest.warns(ConvergenceWarning, match="planes with weight take more than the 1.0 kB of memory"):
        StructuralSVM(Chain(), C=60.0, max_iter=5, max_memory=dense_bytes(X, Y) + 1000).fit(X, Y)


def ambiguous(n=30, n_labels=200, n_words=20, seed=0):
    """Words with a label that half of their tokens have, so that training looks at many labels of each."""
    random = np.random.default_rng(seed)
    usual = random.integers(n_labels, size=n_words)
    X, Y = [], []
    for words in random.integers(n_words, size=(n, 8)):
        X.append(sp.csr_array((np.ones(8), (np.arange(8), words)), shape=(8, 30_000)))
        Y.append(np.where(random.random(8) < 0.5, usual[words], random.integers(n_labels, size=8)).tolist())
    return X, Y


def sizes_of(estimator, X, Y):
    """What the vectors take before a run, and after each of its iterations."""
    training = estimator._prepare(X, Y, None, None)
    problem, solver = training.problem, training.solver
    assert problem.grows
    sizes = [solver.nbytes(problem)]
    solver.iterate(problem, training.objective, observe=lambda state: sizes.append(solver.nbytes(problem)))
    return sizes


@pytest.mark.parametrize(
    "solver", [BlockCoordinate(), NSlack(), pytest.param(OneSlack(), marks=pytest.mark.slow)], ids=repr
)
def test_weights_that_outgrow_the_budget_end_the_run_with_the_best_point(solver):
    X, Y = ambiguous()
    svm = StructuralSVM(Chain(), C=300.0, solver=solver, max_memory=dense_bytes(X, Y, solver) - 1)
    to_the_end = clone(svm).fit(X, Y)
    svm.set_params(max_memory=max(sizes_of(svm, X, Y)) - 1)
    with pytest.warns(ConvergenceWarning) as warned:
        svm.fit(X, Y)
    told = rf"stopped after {svm.n_iter_} iterations at a relative duality gap of .*, with the best weights so far: "
    told += "training needs about .* but max_memory leaves .*; what helps: .* or max_memory='"
    assert [bool(re.match(told, str(each.message))) for each in warned] == [True]
    assert (svm.n_iter_ < to_the_end.n_iter_, svm.converged_) == (True, False)
    assert to_the_end.objective_ < svm.objective_ < 0.9 * svm.history_[0]["primal"]
    assert svm.objective_ == min(record["primal"] for record in svm.history_ if record["certified"])
    assert svm.score(X, Y) > 0.5


def test_room_that_weights_have_taken_from_planes_ends_the_run():
    X, Y = ambiguous()
    svm = StructuralSVM(Chain(), C=300.0, max_memory=dense_bytes(X, Y) - 1)
    weights = max(sizes_of(svm, X, Y))
    with pytest.warns(ConvergenceWarning, match="stopped after .* with the best weights so far: ") as warned:
        svm.set_params(max_memory=weights + 1000).fit(X, Y)
    assert len(warned) == 1
    assert "solver='block_coordinate'" not in str(warned[0].message)
    assert svm.objective_ < 0.9 * svm.history_[0]["primal"]


def test_weights_of_the_first_look_at_the_data_that_do_not_fit_are_refused():
    X, Y = ambiguous(n=200, n_labels=30, n_words=100)
    svm = StructuralSVM(Chain(), C=30.0, max_memory=dense_bytes(X, Y) - 1)
    before, first, *_ = sizes_of(svm, X, Y)
    assert before < first
    with pytest.raises(InsufficientMemoryError, match=r"come to be needed, and .* but max_memory leaves"):
        svm.set_params(max_memory=first - 1).fit(X, Y)


@pytest.mark.parametrize(
    ("estimator", "data"),
    [
        (StructuralSVM(Chain(), C=300.0), {}),
        (StructuredPerceptron(Chain()), {"n": 100, "n_labels": 60, "n_words": 60}),
    ],
)
def test_weights_that_outgrow_the_machine_end_the_run(estimator, data, monkeypatch):
    X, Y = ambiguous(**data)
    monkeypatch.setattr(memory, "available_memory", lambda: 10**6)
    sizes = sizes_of(estimator, X, Y)
    assert max(sizes) > sizes[1]
    monkeypatch.setattr(memory, "available_memory", lambda: max(sizes) - 1)
    with pytest.warns(ConvergenceWarning, match=r"stopped after .* are available; what helps: .* or max_memory='"):
        estimator.fit(X, Y)
    assert estimator.n_iter_ <= len(sizes)
    assert estimator.w_.any()


def test_a_warm_start_goes_on_within_another_budget():
    X, Y = sentences()
    svm = StructuralSVM(Chain(), C=10.0, tol=1e-5, warm_start=True, max_memory="5MB").fit(X, Y)
    svm.set_params(C=30.0, max_memory="6MB").fit(X, Y)
    alone = StructuralSVM(Chain(), C=30.0, tol=1e-5).fit(X, Y)
    assert svm.objective_ == pytest.approx(alone.objective_, rel=2e-5)


def test_a_checkpoint_goes_on_with_the_same_budget(tmp_path):
    X, Y = sentences(n_words=30_000)
    svm = StructuralSVM(Chain(), C=30.0, tol=1e-6, max_memory=dense_bytes(X, Y) - 1)
    whole_run = clone(svm).fit(X, Y)
    file = tmp_path / "run"
    clone(svm).set_callbacks(StopAt(3)).fit(X, Y, checkpoint=file)
    assert file.exists()
    np.testing.assert_array_equal(clone(svm).fit(X, Y, checkpoint=file).w_, whole_run.w_)


def test_runs_side_by_side_share_the_budget():
    X, Y = sentences()
    partial = [[None if t % 2 else label for t, label in enumerate(y)] for y in Y]
    svm = LatentStructuralSVM(Chain(), n_init=2, n_jobs=2, random_state=0, init="random", max_memory=50_000)
    with pytest.raises(InsufficientMemoryError, match="max_memory leaves 25 kB"):
        svm.fit(X, partial)
    assert svm._prepare(X, partial, None, None).problem.max_memory == 50_000


class Splits(HypergraphModel):
    """Words in pieces."""

    def steps(self, x):
        for end in range(1, len(x) + 1):
            for begin in range(end):
                yield end, [begin] if begin else [], [(begin, end)]

    def features(self, x, part):
        return {x[slice(*part)]: 1.0}

    def parts(self, x, y):
        ends = np.cumsum([len(piece) for piece in y]).tolist()
        return zip([0, *ends], ends, strict=False)

    def output(self, x, parts):
        return [x[slice(*part)] for part in parts]


def test_listed_structures_take_of_the_budget():
    X, Y = ["undo", "redo", "unlock"], [["un", "do"], ["re", "do"], ["un", "lock"]]
    svm = StructuralSVM(Splits(), C=10, max_memory="1MB")
    training = svm._prepare(X, Y, None, None)
    assert training.problem.max_memory == 10**6 - training.problem.structure_bytes
    listed = training.problem.structure_bytes
    with pytest.raises(InsufficientMemoryError, match="max_memory leaves 100 bytes"):
        svm.set_params(max_memory=listed + 100).fit(X, Y)
    with pytest.raises(ValueError, match=r"the hypergraphs? of X\[\d\] .* more than max_memory=1500"):
        svm.set_params(max_memory=1500).fit(X, Y)
    fitted = svm.set_params(max_memory="1MB").fit(X, Y)
    assert pickle.loads(pickle.dumps(fitted)).predict(["relock"]) == [["re", "lock"]]


def test_the_size_of_the_problem_is_announced(capsys):
    X, Y = sentences()
    StructuralSVM(Chain(), C=30.0, verbose=1).fit(X, Y)
    first = capsys.readouterr().err.splitlines()[0]
    tokens = sum(map(len, Y))
    assert first == f"30 examples, {tokens} tokens, 81 features, 6 labels: 534 weights, about 118 kB"
    StructuralSVM(Chain(), C=30.0, verbose=1, max_memory=dense_bytes(X, Y) - 1, max_iter=1)
    StructuralSVM(Chain(), C=30.0).fit(X, Y)
    assert capsys.readouterr().err == ""
