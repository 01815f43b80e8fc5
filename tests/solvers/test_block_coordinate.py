import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.exceptions import ConvergenceWarning

from structlearn import StructuralSVM
from structlearn.datasets import make_block_sequences
from structlearn.models import Chain, Multiclass
from structlearn.solvers import BlockCoordinate, NSlack, OneSlack
from structlearn.solvers.block_coordinate import BlockCoordinateState
from structlearn.solvers.passes import chunks_in_random_order
from structlearn.solvers.saved_state import restore, save
from structlearn.waist import MarginObjective
from tests.models.instances import chain_twins, multiclass_twins


def sequences(n=120, seed=0):
    data = make_block_sequences(n, length=15, block_length=(2, 5), n_blocks=(1, 3), random_state=seed)
    chain = Chain()
    problem = chain.bind(chain.specify(data.X, data.Y), data.X, data.Y)
    return problem, MarginObjective(np.ones(n), 0.1 * n)


def priced(problem, objective, w):
    return objective.primal(w, problem.oracle(w, np.arange(problem.n_examples), objective.scaling).bounds)


@pytest.mark.parametrize("options", [{}, {"averaging": True}, {"chunk_size": 1}, {"chunk_size": 10_000}], ids=str)
def test_the_certificate_is_exact_whatever_was_left_out_on_the_way(options):
    problem, objective = sequences()
    solution = BlockCoordinate(tol=1e-4, **options).run(problem, objective)
    last = solution.history[-1]
    assert solution.converged
    assert last["primal"] == pytest.approx(priced(problem, objective, solution.w), rel=1e-10)
    best = NSlack(tol=1e-8).run(problem, objective).history[-1]["primal"]
    assert last["dual"] <= best * (1 + 1e-8)
    assert best <= last["primal"] * (1 + 1e-8)


def test_examples_without_a_gap_are_not_asked_for_again():
    problem, objective = sequences()
    asked = []
    oracle = problem.oracle
    problem.oracle = lambda w, examples, scaling: asked.append(len(examples)) or oracle(w, examples, scaling)
    solution = BlockCoordinate(tol=1e-4).run(problem, objective)
    full_passes = solution.state.iteration + sum(record["certified"] for record in solution.history)
    assert sum(asked) < 0.9 * full_passes * problem.n_examples


def test_the_average_weighs_later_points_more():
    problem, objective = sequences(40)
    solver = BlockCoordinate(averaging=True, max_iter=5, tol=1e-9)
    points = []
    solution = solver.run(problem, objective, observe=lambda state: points.append(state.iterate.copy()))
    mean = np.average(points[1:], axis=0, weights=np.arange(1, len(points)))
    np.testing.assert_allclose(solution.w, mean, atol=1e-12)


def test_the_average_answers_better_when_stopped_early():
    problem, objective = sequences(400)
    last, average = (
        BlockCoordinate(averaging=averaging, max_iter=3, tol=1e-9).run(problem, objective).history[-1]["primal"]
        for averaging in (False, True)
    )
    assert average < last


def test_few_features_noisy_labels_and_a_large_price_change_over_to_cutting_planes():
    data = make_block_sequences(120, random_state=0)
    chain = Chain()
    problem = chain.bind(chain.specify(data.X, data.Y), data.X, data.Y)
    objective = MarginObjective(np.ones(120), 600.0)
    solver = BlockCoordinate(tol=0.01, max_iter=30)
    kept = []
    solution = solver.run(problem, objective, observe=lambda state: bool(kept.append(state.copy())))
    assert solution.converged
    assert min(state.cuts_from for state in kept) == 1
    assert solution.history[-1]["dual"] <= OneSlack(tol=0.01).run(problem, objective).history[-1]["primal"]
    # A run that goes on from its checkpoint has changed over as well.
    middle = next(state for state in kept if state.cuts_from == 1)
    again = restore(save(middle), solver, problem, objective)
    resumed = solver.run(problem, objective, state=again, history=solution.history[: middle.iteration + 1])
    np.testing.assert_array_equal(resumed.w, solution.w)


@pytest.mark.parametrize("twins", [chain_twins, multiclass_twins])
@pytest.mark.parametrize("slack", ["linear", "squared"])
def test_memory_is_bounded(twins, slack):
    problem = twins(np.random.default_rng(1)).problem
    objective = MarginObjective(np.ones(problem.n_examples), 100.0, slack=slack)
    free = BlockCoordinate(tol=1e-6).run(problem, objective)
    room = free.state.sets.nbytes()
    sizes = []

    def observe(state):
        sizes.append(state.sets.nbytes())
        w = np.zeros_like(state.iterate)
        state.sets.weights(w)
        np.testing.assert_allclose(state.iterate, w, atol=1e-9)

    vectors = BlockCoordinate().nbytes(problem)
    problem.max_memory = vectors + room // 4
    with pytest.warns(ConvergenceWarning, match=r"planes with weight take more than the .* of memory"):
        BlockCoordinate(tol=1e-12, max_iter=20).run(problem, objective, observe=observe)
    # A certificate adds a plane an example after the bound was kept.
    assert max(sizes) < room
    problem.max_memory = vectors + 4 * room
    same = BlockCoordinate(tol=1e-6).run(problem, objective)
    np.testing.assert_array_equal(same.w, free.w)


def test_planes_without_weight_go_first():
    problem, objective = sequences()
    solver = BlockCoordinate(tol=1e-4, idle_passes=1000)
    free = solver.run(problem, objective).state.sets
    planes, weighted = int(free.sizes().sum()), sum(int((free.alpha(i) > 0).sum()) for i in range(problem.n_examples))
    assert weighted < planes / 2
    w = np.zeros(problem.n_features)
    free.weights(w)
    before = w.copy()
    assert not free.limit_memory(int(free.nbytes() * 0.7), w, False)
    assert int(free.sizes().sum()) < planes
    np.testing.assert_array_equal(w, before)
    assert free.limit_memory(100, w, True)
    assert int(free.sizes().sum()) == weighted
    np.testing.assert_array_equal(w, before)
    assert free.limit_memory(100, w, False)
    assert int(free.sizes().sum()) < weighted


@pytest.mark.parametrize(("n", "size"), [(0, 16), (1, 16), (100, 1), (100, 7), (1000, 64), (1001, 512)])
def test_chunks_hold_every_example_once(n, size):
    examples = 3 * np.arange(n)
    chunks = list(chunks_in_random_order(examples, size, np.random.default_rng(0)))
    assert sorted(np.concatenate([*chunks, np.empty(0)]).tolist()) == examples.tolist()
    assert max(map(len, chunks), default=0) <= size


@pytest.mark.parametrize(("C", "max_iter"), [pytest.param(1e6, 12, marks=pytest.mark.slow), (4e3, 2)])
def test_the_answer_is_the_best_point_that_was_priced(C, max_iter):
    random = np.random.default_rng(0)
    X, y = random.normal(size=(400, 20)), random.integers(0, 20, 400)
    with pytest.warns(ConvergenceWarning):
        svm = StructuralSVM(Multiclass(), C=C, tol=1e-12, max_iter=max_iter).fit(X, y)
    priced = [record["primal"] for record in svm.history_ if record["certified"]]
    assert svm.objective_ == min(priced)
    assert svm.objective_ <= C
    slacks = np.maximum(0.0, svm.slacks_)
    assert svm.objective_ == pytest.approx(0.5 * svm.w_ @ svm.w_ + C * slacks.mean())


def many_weights(n_threads):
    """Sentences of rare features, so many that w is not copied as a whole."""
    random = np.random.default_rng(0)
    lengths = random.integers(2, 9, 150)
    columns = [[random.integers(0, 12_000, 4) for _ in range(length)] for length in lengths]
    X = [
        sp.csr_array((np.ones(4 * len(x)), np.concatenate(x), 4 * np.arange(len(x) + 1)), (len(x), 12_000))
        for x in columns
    ]
    Y = [["abc"[(token[0] + (i % 5 == 0) * t) % 3] for t, token in enumerate(x)] for i, x in enumerate(columns)]
    chain = Chain()
    problem = chain.bind(chain.specify(X, Y), X, Y)
    problem.n_threads = n_threads
    assert problem.n_features > 2**15
    return problem


def few_weights(n_threads):
    problem = sequences(150)[0]
    problem.n_threads = n_threads
    return problem


@pytest.fixture
def steps_beside(monkeypatch):
    """The steps always have a thread where there are several."""
    always = property(lambda state: (1.0, 1.0), lambda state, pace: None)
    monkeypatch.setattr(BlockCoordinateState, "pace", always)


@pytest.mark.parametrize("make", [few_weights, many_weights], ids=["few weights", "many weights"])
def test_steps_beside_the_oracle_find_the_same_to_the_last_bit(make, steps_beside):
    def run(n_threads):
        problem, asked = make(n_threads), set()
        oracle = problem.oracle
        problem.oracle = lambda *call: asked.add(problem.n_threads) or oracle(*call)
        solution = BlockCoordinate(tol=1e-4).run(problem, MarginObjective(np.ones(150), 20.0))
        assert solution.converged
        # Certificates have all threads, chunks have one less.
        assert asked == {n_threads, max(n_threads - 1, 1)}
        return solution.w.tobytes()

    assert run(1) == run(2) == run(3)


@pytest.mark.filterwarnings("ignore:planes with weight", "ignore:stopped after")
def test_steps_beside_the_oracle_know_of_planes_that_are_given_up_on_the_way(steps_beside, monkeypatch):
    given_up, has_room = [], BlockCoordinateState.has_room

    def watched(state, most):
        before = int(state.sets.sizes().sum())
        room = has_room(state, most)
        given_up[-1] += before - int(state.sets.sizes().sum())
        return room

    monkeypatch.setattr(BlockCoordinateState, "has_room", watched)

    def run(n_threads):
        given_up.append(0)
        problem = many_weights(n_threads)
        problem.max_memory = BlockCoordinate().nbytes(problem) + 150_000
        solver = BlockCoordinate(max_iter=15, tol=1e-6, chunk_size=20, idle_passes=100)
        return solver.run(problem, MarginObjective(np.ones(150), 1000.0)).w.tobytes()

    assert run(1) == run(2) == run(3)
    assert given_up[0] > 0


def test_an_oracle_that_fails_leaves_nothing_under_way(steps_beside):
    problem, objective = many_weights(2), MarginObjective(np.ones(150), 20.0)
    oracle, calls = problem.oracle, iter(range(1000))

    def fails_at_last(*call):
        if next(calls) == 10:
            raise KeyboardInterrupt
        return oracle(*call)

    problem.oracle = fails_at_last
    state = BlockCoordinate().init_state(problem, objective)
    with pytest.raises(KeyboardInterrupt):
        BlockCoordinate().update(state, problem, objective)
    assert problem.n_threads == 2
    rest = np.zeros_like(state.iterate)
    state.sets.weights(rest)
    np.testing.assert_allclose(state.iterate, rest, atol=1e-12)


def test_the_oracle_has_all_threads_where_it_takes_most_of_the_time():
    problem, objective = sequences()
    problem.n_threads = 2
    solver = BlockCoordinate()
    state = solver.init_state(problem, objective)
    for pace, left in [((10.0, 0.1), 2), ((0.1, 10.0), 1), ((1.0, 1.0), 1)]:
        state.pace = pace
        with state.stepping(problem, objective):
            assert problem.n_threads == left
        assert problem.n_threads == 2
