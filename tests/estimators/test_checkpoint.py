"""A fit that was stopped goes on from its file."""

from dataclasses import dataclass, field

import numpy as np
import pytest
from sklearn.base import BaseEstimator
from sklearn.callback import ProgressBar

from structlearn import ConditionalRandomField, StructuralSVM, StructuredPerceptron
from structlearn.models import Chain, Multiclass, Segments
from structlearn.persistence import atomic
from structlearn.solvers import Solver, State, Subgradient
from structlearn.waist import MarginObjective
from tests.models.enumerated import EnumeratedMulticlass
from tests.solvers.test_saved_state import without_clocks


class StopAt:
    """Ends a run after so many iterations of it."""

    def __init__(self, iterations):
        self.iterations = iterations

    def setup(self, estimator, context):
        self.seen = -1

    def on_fit_task_begin(self, estimator, context):
        pass

    def on_fit_task_end(self, estimator, context):
        self.seen += 1
        return self.seen == self.iterations

    def teardown(self, estimator, context):
        pass


def sequences(n=30):
    """Tokens that say little about their labels, so that learners go on for a while."""
    random = np.random.default_rng(0)
    Y = [random.integers(3, size=random.integers(3, 8)).tolist() for _ in range(n)]
    return [0.7 * np.eye(3)[y] + random.normal(size=(len(y), 3)) for y in Y], Y


def segmented(Y):
    return [[(label, t, t + 1) for t, label in enumerate(y)] for y in Y]


def svm(**options):
    return StructuralSVM(**{"model": Chain(), "C": 30.0, "tol": 1e-6} | options)


ESTIMATORS = {
    "svm": svm,
    "one slack": lambda: svm(solver="one_slack", tol=1e-4),
    "tracked": lambda: svm(track_loss=True, random_state=3),
    "crf": lambda: ConditionalRandomField(Chain(), tol=1e-8),
    "perceptron": lambda: StructuredPerceptron(Chain(), max_iter=12, random_state=1),
}


@pytest.mark.parametrize("stop_at", [0, 3])
@pytest.mark.parametrize("kind", ESTIMATORS)
def test_a_stopped_fit_goes_on_exactly_where_it_was(kind, stop_at, tmp_path):
    X, Y = sequences()
    file = tmp_path / "tagger.ckpt"
    whole = ESTIMATORS[kind]().fit(X, Y)
    stopped = ESTIMATORS[kind]().set_callbacks(StopAt(stop_at)).fit(X, Y, checkpoint=file)
    assert file.exists()
    assert len(stopped.history_) == stop_at + 1 < len(whole.history_)
    continued = ESTIMATORS[kind]().fit(X, Y, checkpoint=str(file))
    np.testing.assert_array_equal(continued.w_, whole.w_)
    np.testing.assert_equal(without_clocks(continued.history_), without_clocks(whole.history_))
    assert continued.n_iter_ == whole.n_iter_
    assert continued.converged_ == whole.converged_
    seconds = [record["seconds"] for record in continued.history_]
    assert seconds == sorted(seconds)
    assert not list(tmp_path.iterdir())


def test_a_fit_may_be_stopped_at_every_iteration(tmp_path):
    X, Y = sequences()
    whole = svm().fit(X, Y)
    tagger = svm().set_callbacks(StopAt(0))
    iterations = []
    while not getattr(tagger, "converged_", False):
        tagger.fit(X, Y, checkpoint=tmp_path / "tagger.ckpt")
        iterations.append(tagger.n_iter_)
    np.testing.assert_array_equal(tagger.w_, whole.w_)
    assert iterations == [1, *range(1, whole.n_iter_ + 1)]


def test_early_stopping_remembers_what_it_saw(tmp_path):
    X, Y = sequences(60)
    split = X[:30], Y[:30]
    options = {"C": 300.0, "n_iter_no_change": 3}
    whole = svm(**options).fit(*split, validation=(X[30:], Y[30:]))
    assert not whole.converged_
    for stop_at in range(1, whole.n_iter_):
        file = tmp_path / f"{stop_at}.ckpt"
        stopped = svm(**options).set_callbacks(StopAt(stop_at))
        stopped.fit(*split, validation=(X[30:], Y[30:]), checkpoint=file)
        continued = svm(**options).fit(*split, validation=(X[30:], Y[30:]), checkpoint=file)
        np.testing.assert_array_equal(continued.w_, whole.w_)
        assert len(continued.history_) == len(whole.history_)
        # Impatience is an end like any other.
        assert not file.exists()


@pytest.mark.parametrize(
    ("model", "outputs"),
    [
        (Multiclass(), lambda Y: [y[0] for y in Y]),
        (Chain(order=2), list),
        (Chain(pair_features=True), list),
        (Segments(max_length=3), segmented),
    ],
    ids=lambda value: type(value).__name__,
)
def test_every_model_can_be_saved_while_it_trains(model, outputs, tmp_path):
    X, Y = sequences(12)
    X = np.array([x[0] for x in X]) if model.tabular else X
    Y = outputs(Y)
    whole = svm(model=model).fit(X, Y)
    svm(model=model).set_callbacks(StopAt(2)).fit(X, Y, checkpoint=tmp_path / "c")
    continued = svm(model=model).fit(X, Y, checkpoint=tmp_path / "c")
    np.testing.assert_array_equal(continued.w_, whole.w_)


class Own(EnumeratedMulticlass, BaseEstimator):
    def __init__(self, cost, output_features=None):
        super().__init__(cost, output_features)


def own_data():
    random = np.random.default_rng(0)
    return list(random.normal(size=(25, 2))), random.integers(3, size=25).tolist()


def test_a_model_of_ones_own_is_saved_too(tmp_path):
    X, Y = own_data()
    model = Own(1 - np.eye(3))
    whole = svm(model=model, tol=1e-3).fit(X, Y)
    svm(model=model, tol=1e-3).set_callbacks(StopAt(2)).fit(X, Y, checkpoint=tmp_path / "c")
    with pytest.raises(ValueError, match="was written with other data"):
        svm(model=model, tol=1e-3).fit(X, Y[::-1], checkpoint=tmp_path / "c")
    with pytest.raises(ValueError, match=r"was written with model__cost=.*, this run has model__cost="):
        svm(model=Own(2 - 2 * np.eye(3)), tol=1e-3).fit(X, Y, checkpoint=tmp_path / "c")
    np.testing.assert_array_equal(svm(model=model, tol=1e-3).fit(X, Y, checkpoint=tmp_path / "c").w_, whole.w_)


def test_a_model_of_ones_own_starts_warm():
    X, Y = own_data()
    path = svm(model=Own(1 - np.eye(3)), warm_start=True, C=10.0, tol=1e-3).fit(X, Y)
    warm, cold = path.set_params(C=20.0).fit(X, Y), svm(model=Own(1 - np.eye(3)), C=20.0, tol=1e-3).fit(X, Y)
    assert warm.history_[0]["dual"] > cold.history_[0]["dual"] == 0.0
    assert warm.objective_ == pytest.approx(cold.objective_, rel=2e-3)
    with pytest.raises(ValueError, match="not the same"):
        path.fit(X, Y[::-1])


@dataclass
class CountingState(State):
    counts: dict[str, list[int]] = field(default_factory=dict)
    best: np.ndarray | None = None
    place: tuple[int, float] = (0, 0.0)
    random: np.random.Generator = field(default_factory=lambda: np.random.Generator(np.random.MT19937(0)))


@dataclass(frozen=True, kw_only=True)
class Wandering(Solver):
    """A solver as a user might write it: knows nothing of files."""

    max_iter: int = 8

    def init_state(self, problem, objective):
        return CountingState(w=np.zeros(problem.n_features))

    def update(self, state, problem, objective):
        assert isinstance(objective, MarginObjective)
        state.w = state.w + state.random.normal(size=len(state.w))
        state.counts.setdefault("steps", []).append(state.iteration)
        state.best = state.w if state.best is None else np.maximum(state.best, state.w)
        state.place = (state.iteration, float(state.best.sum()))
        state.record = {
            "primal": np.nan,
            "steps": len(state.counts["steps"]),
            "best": state.place[1],
            "state": "at work",
            "at": 1,
        }
        return state


def test_a_solver_of_ones_own_needs_no_code_for_it(tmp_path):
    X, Y = sequences(5)
    whole = StructuralSVM(Chain(), solver=Wandering()).fit(X, Y)
    StructuralSVM(Chain(), solver=Wandering()).set_callbacks(StopAt(4)).fit(X, Y, checkpoint=tmp_path / "c")
    continued = StructuralSVM(Chain(), solver=Wandering()).fit(X, Y, checkpoint=tmp_path / "c")
    np.testing.assert_array_equal(continued.w_, whole.w_)
    np.testing.assert_equal(without_clocks(continued.history_), without_clocks(whole.history_))


class Secretive(Wandering):
    def init_state(self, problem, objective):
        state = super().init_state(problem, objective)
        state.counts = {"socket": object()}
        return state


def test_a_state_that_cannot_be_saved_is_named_and_training_goes_on(tmp_path):
    X, Y = sequences(5)
    with pytest.warns(RuntimeWarning, match=r"no checkpoint: CountingState.counts\['socket'\] is a object"):
        svm = StructuralSVM(Chain(), solver=Secretive(max_iter=0)).fit(
            X, Y, checkpoint=tmp_path / "c", checkpoint_every=0
        )
    assert svm.n_iter_ == 1


def test_a_write_that_fails_is_told_once_and_tried_again(tmp_path, monkeypatch):
    X, Y = sequences()
    whole = svm().fit(X, Y)
    tries = []
    written = atomic.write

    def full_at_first(path, data):
        tries.append(len(data))
        if len(tries) <= 3:
            with open("/dev/full", "wb") as file:
                file.write(data)
        written(path, data)

    monkeypatch.setattr(atomic, "write", full_at_first)
    with pytest.warns(RuntimeWarning, match=r"no checkpoint: .*No space left on device; training goes on") as told:
        stopped = svm().set_callbacks(StopAt(6)).fit(X, Y, checkpoint=tmp_path / "c", checkpoint_every=0)
    assert len(told) == 1
    assert len(tries) == 7
    assert stopped.n_iter_ == 6
    np.testing.assert_array_equal(svm().fit(X, Y, checkpoint=tmp_path / "c").w_, whole.w_)


def test_a_place_where_nothing_can_be_written_is_refused_before_training(tmp_path):
    X, Y = sequences()
    with pytest.raises(FileNotFoundError, match="there is no folder"):
        svm().fit(X, Y, checkpoint=tmp_path / "nowhere" / "c")
    with pytest.raises(IsADirectoryError, match="is a folder"):
        svm().fit(X, Y, checkpoint=tmp_path)
    for wrong in (-1, "often", True, np.nan):
        with pytest.raises(ValueError, match=r"checkpoint_every is .*; it must be a number of seconds"):
            svm().fit(X, Y, checkpoint=tmp_path / "c", checkpoint_every=wrong)


def test_it_is_written_when_time_has_passed_and_not_before(tmp_path, monkeypatch):
    X, Y = sequences()
    now = [0.0]
    monkeypatch.setattr("structlearn.estimators.checkpoint.time.monotonic", lambda: now[0])
    written = []
    monkeypatch.setattr(atomic, "write", lambda path, data: written.append(now[0]))

    class Clock(StopAt):
        def on_fit_task_end(self, estimator, context):
            now[0] += 25.0

    with pytest.warns(match="max_iter=10"):
        svm(tol=1e-12, max_iter=10).set_callbacks(Clock(0)).fit(X, Y, checkpoint=tmp_path / "c", checkpoint_every=60)
    # An iteration takes 25 seconds, so every third is the first after a minute.
    assert written == [75.0, 150.0, 225.0]


def test_leftovers_of_killed_writers_go_with_the_file(tmp_path):
    X, Y = sequences()
    (tmp_path / ".tagger.ckpt.0123abcd").write_bytes(b"half a file")
    (tmp_path / ".tagger.ckpt.mine").write_bytes(b"something else")
    svm().fit(X, Y, checkpoint=tmp_path / "tagger.ckpt")
    assert [file.name for file in tmp_path.iterdir()] == [".tagger.ckpt.mine"]


def test_a_run_that_a_callback_stops_is_certified():
    X, Y = sequences()
    for stop_at in range(6):
        stopped = svm().set_callbacks(StopAt(stop_at)).fit(X, Y)
        record = stopped.history_[-1]
        assert record["certified"]
        assert record["iteration"] == stop_at
        assert 0 <= stopped.duality_gap_ <= 1
        problem = stopped.model_.bind(stopped.spec_, X, Y)
        objective = MarginObjective(np.ones(30), 30.0)
        risk = problem.risk(stopped.w_, objective).value
        assert stopped.objective_ == pytest.approx(0.5 * stopped.w_ @ stopped.w_ + risk)
    measured = StructuralSVM(Chain(), solver=Subgradient(max_iter=20)).set_callbacks(StopAt(3)).fit(X, Y)
    assert np.isfinite(measured.objective_)


def test_callbacks_of_scikit_learn_work_with_a_continued_run(tmp_path):
    X, Y = sequences()
    svm().set_callbacks(StopAt(2)).fit(X, Y, checkpoint=tmp_path / "c")
    assert svm().set_callbacks(ProgressBar()).fit(X, Y, checkpoint=tmp_path / "c").converged_
