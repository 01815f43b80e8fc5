import numpy as np
import pytest
from sklearn.callback import ProgressBar, ScoringMonitor
from sklearn.datasets import load_digits, load_iris, load_wine
from sklearn.exceptions import ConvergenceWarning, NotFittedError
from sklearn.metrics import accuracy_score
from sklearn.svm import LinearSVC

from structlearn import StructuralSVM, StructuredPerceptron
from structlearn.callbacks import Progress
from structlearn.datasets import load_digit_sequences, make_hmm_sequences
from structlearn.models import Chain, Multiclass, Segments
from structlearn.solvers import BlockCoordinate, NSlack, OneSlack


@pytest.fixture(scope="module")
def numbers():
    train = load_digit_sequences(n_sequences=60, max_length=6)
    test = load_digit_sequences("test", n_sequences=60, max_length=6)
    return train.X, train.Y, test.X, test.Y


def test_digits_reach_the_objective_of_linear_svc():
    X, y = load_digits(return_X_y=True)
    X = X / 16
    theirs = LinearSVC(multi_class="crammer_singer", fit_intercept=False, C=0.1, tol=1e-6, max_iter=10**6).fit(X, y)
    scores = X @ theirs.coef_.T
    margins = scores[np.arange(len(y)), y][:, None] - scores + (np.arange(10) == y[:, None])
    objective = 0.5 * (theirs.coef_**2).sum() + 0.1 * np.maximum(0.0, 1.0 - margins).max(axis=1).sum()
    ours = StructuralSVM(Multiclass(), C=0.1 * len(y), tol=1e-3).fit(X, y)
    assert ours.objective_ == pytest.approx(objective, rel=1e-3)


def test_the_chain_beats_reading_each_digit_alone(numbers):
    X, Y, X_test, Y_test = numbers
    together = StructuralSVM(Chain(), C=0.3 * len(X)).fit(X, Y)
    alone = StructuralSVM(Multiclass(), C=0.3 * sum(map(len, Y))).fit(np.concatenate(X), np.concatenate(Y))
    assert together.score(X_test, Y_test) > alone.score(np.concatenate(X_test), np.concatenate(Y_test)) + 0.03


def test_score_is_accuracy_for_zero_one_and_hamming_losses(numbers):
    X, Y, X_test, Y_test = numbers
    svm = StructuralSVM(Chain(), tol=0.1).fit(X, Y)
    flat = np.concatenate(svm.predict(X_test)), np.concatenate(Y_test)
    assert svm.score(X_test, Y_test) == pytest.approx(accuracy_score(*flat))
    whole = StructuralSVM(Chain(loss="zero_one"), tol=0.1).fit(X, Y)
    right = [list(a) == list(b) for a, b in zip(whole.predict(X_test), Y_test, strict=True)]
    assert whole.score(X_test, Y_test) == pytest.approx(np.mean(right))


def test_score_stays_accuracy_where_training_was_restricted(numbers):
    X, Y, X_test, Y_test = numbers
    sure = [[label if t % 2 else None for t, label in enumerate(y)] for y in Y]
    svm = StructuralSVM(Chain(), tol=0.1).fit(X, Y, allowed=sure)
    assert svm.score(X_test, Y_test) == pytest.approx(
        accuracy_score(np.concatenate(svm.predict(X_test)), np.concatenate(Y_test))
    )
    brackets = [[(label, t, t + 1) for t, label in enumerate(y)] for y in Y]
    svm = StructuralSVM(Segments(), tol=0.1).fit(X, brackets, allowed=[y[:2] for y in brackets])
    missed = [len(set(map(tuple, a)) ^ set(map(tuple, b))) for a, b in zip(svm.predict(X), brackets, strict=True)]
    assert svm.score(X, brackets) == pytest.approx(1 - sum(missed) / sum(2 * len(y) for y in brackets))


def test_labels_never_seen_count_as_wrong_when_scoring():
    svm = StructuralSVM(Multiclass()).fit([[0.0, 1.0], [1.0, 0.0]], ["a", "b"])
    assert svm.score([[0.0, 1.0], [0.0, 1.0]], ["a", "never seen"]) == 0.5


def test_default_C_prices_each_example_at_a_tenth():
    svm = StructuralSVM(Multiclass()).fit([[0.0, 1.0], [1.0, 0.0]], ["a", "b"], sample_weight=[1.0, 3.0])
    assert np.isclose(svm.C_, 0.4)


@pytest.mark.parametrize(
    "formulation",
    [{"slack": slack, "rescaling": rescaling} for slack in ("linear", "squared") for rescaling in ("margin", "slack")],
)
def test_an_example_with_weight_k_equals_k_copies_and_weight_zero_removal(formulation):
    data = make_hmm_sequences(6, length=5, n_features=2, random_state=1)
    weight = np.array([0, 1, 2, 3, 1, 0])
    svm = StructuralSVM(Chain(), C=4.0, tol=1e-9, max_iter=10_000, **formulation)
    weighted = svm.fit(data.X, data.Y, sample_weight=weight).w_
    copies = [i for i, k in enumerate(weight) for _ in range(k)]
    copied = svm.fit([data.X[i] for i in copies], [data.Y[i] for i in copies]).w_
    np.testing.assert_allclose(weighted, copied, atol=1e-4)


def test_class_weight_multiplies_sample_weight():
    X, y = load_iris(return_X_y=True)
    svm = StructuralSVM(Multiclass(), C=10, tol=1e-8)
    by_class = svm.set_params(class_weight={0: 1, 1: 5, 2: 1}).fit(X, y).w_
    by_example = svm.set_params(class_weight=None).fit(X, y, sample_weight=np.array([1, 5, 1])[y]).w_
    np.testing.assert_allclose(by_class, by_example, atol=1e-5)
    with pytest.raises(ValueError, match="label_weight"):
        StructuralSVM(Chain(), class_weight="balanced").fit([[[1.0]]], [["a"]])


def test_intercept_is_a_constant_feature():
    X, y = load_iris(return_X_y=True)
    with_ones = StructuralSVM(Multiclass(), C=50, tol=1e-8).fit(np.hstack([X, np.ones((len(X), 1))]), y)
    intercept = StructuralSVM(Multiclass(), C=50, tol=1e-8, fit_intercept=True).fit(X, y)
    np.testing.assert_allclose(intercept.w_, with_ones.w_)
    assert intercept.n_features_in_ == 4
    np.testing.assert_array_equal(intercept.predict(X), with_ones.predict(np.hstack([X, np.ones((len(X), 1))])))


@pytest.mark.parametrize("solver", [BlockCoordinate(tol=1e-6), NSlack(tol=1e-6), OneSlack(tol=1e-6)])
def test_a_warm_started_path_begins_with_a_bound_and_ends_where_cold_fits_end(solver):
    X, y = load_iris(return_X_y=True)
    path = StructuralSVM(Multiclass(), solver=solver, warm_start=True, C=1.0).fit(X, y)
    for C in (10.0, 100.0, 5.0):
        warm = path.set_params(C=C).fit(X, y)
        cold = StructuralSVM(Multiclass(), solver=solver, C=C).fit(X, y)
        assert warm.history_[0]["dual"] > cold.history_[0]["dual"] == 0.0
        assert warm.objective_ == pytest.approx(cold.objective_, rel=1e-5)


def test_a_warm_start_on_other_data_is_refused():
    X, y = load_iris(return_X_y=True)
    svm = StructuralSVM(Multiclass(), warm_start=True).fit(X, y)
    with pytest.raises(ValueError, match="not the same"):
        svm.fit(X + 1, y)


def test_a_run_cut_short_warns_with_its_gap():
    X, y = load_iris(return_X_y=True)
    with pytest.warns(ConvergenceWarning, match=r"max_iter=2 .* gap of"):
        svm = StructuralSVM(Multiclass(), C=100, max_iter=2).fit(X, y)
    assert not svm.converged_
    assert svm.duality_gap_ > 1e-3


def test_history_has_one_certified_record_an_iteration(numbers):
    X, Y, _, _ = numbers
    svm = StructuralSVM(Chain(), C=10, tol=1e-3, track_loss=True, solver="n_slack").fit(X, Y)
    assert [record["iteration"] for record in svm.history_] == list(range(svm.n_iter_ + 1))
    for record in svm.history_:
        assert record["certified"]
        assert record["gap"] == pytest.approx(record["primal"] - record["dual"])
        assert record["oracle_seconds"] + record["dual_seconds"] <= record["seconds"] + 1e-3
        assert record["train_loss"] <= record["mean_slack"] + 1e-9
        assert {"violation", "planes"} <= record.keys()
    assert svm.duality_gap_ <= 1e-3
    assert svm.slacks_.mean() == pytest.approx(svm.history_[-1]["mean_slack"])


def test_eps_alone_stops_by_violation_and_bounds_the_objective():
    X, y = load_iris(return_X_y=True)
    best = StructuralSVM(Multiclass(), C=10, tol=1e-9).fit(X, y).objective_
    for solver in ("n_slack", "one_slack"):
        svm = StructuralSVM(Multiclass(), C=10, eps=0.05, solver=solver).fit(X, y)
        assert svm.history_[-1]["violation"] <= 0.05
        assert svm.history_[-2]["violation"] > 0.05
        assert best - 1e-6 <= svm.objective_ <= best + 10 * 0.05


def test_early_stopping_keeps_the_weights_that_did_best_on_held_out_data(numbers):
    X, Y, X_test, Y_test = numbers
    svm = StructuralSVM(Chain(), C=10 * len(X), tol=1e-9, n_iter_no_change=3)
    svm.fit(X, Y, validation=(X_test, Y_test))
    losses = [record["validation_loss"] for record in svm.history_]
    assert len(losses) - 1 - int(np.argmin(losses)) == 3
    mistakes = np.mean([np.sum(np.asarray(a) != b) for a, b in zip(svm.predict(X_test), Y_test, strict=True)])
    assert mistakes == min(losses)


def test_early_stopping_does_not_give_up_before_the_weights_move():
    data = load_digit_sequences(n_sequences=60, max_length=5)
    svm = StructuralSVM(Chain(), C=10, solver="n_slack")
    svm.fit(data.X[:40], data.Y[:40], validation=(data.X[40:], data.Y[40:]))
    assert svm.score(data.X[40:], data.Y[40:]) > 0.7
    assert svm.duality_gap_ <= svm.history_[0]["gap"]


@pytest.mark.parametrize("solver", ["auto", "n_slack", "one_slack"])
def test_features_of_any_scale_are_solved(solver):
    random = np.random.default_rng(0)
    X = [1e3 * random.normal(size=(length, 3)) for length in (2, 3, 4, 2)]
    Y = [list("ab"), list("aba"), list("bbab"), list("aa")]
    by_gap = StructuralSVM(Chain(), C=10, solver=solver, tol=1e-3).fit(X, Y)
    by_violation = StructuralSVM(Chain(), C=10, solver=solver, eps=0.01).fit(X, Y)
    assert by_gap.objective_ == pytest.approx(19.2682, rel=1e-3)
    assert by_violation.objective_ == pytest.approx(19.2682, abs=0.1)
    X, y = load_wine(return_X_y=True)
    assert StructuralSVM(Multiclass(), C=100, solver=solver, tol=1e-3).fit(X, y).duality_gap_ <= 1e-3


class WrongOracle:
    def joint_feature(self, x, y):
        return np.array([x * y, y])

    def loss(self, y, y_hat):
        return float(y != y_hat)

    def inference(self, x, w):
        return 1 if w @ [x, 1] > 0 else -1

    def loss_augmented_inference(self, x, y, w):
        return y if w.any() else -y


def test_a_gap_below_zero_tells_that_an_oracle_is_wrong():
    with pytest.warns(RuntimeWarning, match="check_model"):
        StructuralSVM(WrongOracle(), C=0.1).fit([1.0, -1.5, 0.7, -0.2], [1, -1, -1, 1])


def test_slacks_have_an_entry_for_every_example():
    svm = StructuralSVM(Multiclass()).fit(np.eye(3), ["a", "b", "c"], sample_weight=[1, 0, 1])
    assert np.isnan(svm.slacks_).tolist() == [False, True, False]


def test_k_best_comes_in_order_and_begins_with_the_prediction(numbers):
    X, Y, X_test, _ = numbers
    svm = StructuralSVM(Chain(), tol=0.1).fit(X, Y)
    for best, prediction in zip(svm.k_best(X_test, 3), svm.predict(X_test), strict=True):
        assert best[0][0] == prediction
        assert [score for _, score in best] == sorted((score for _, score in best), reverse=True)
    with pytest.raises(ValueError, match="k is 0"):
        svm.k_best(X_test, 0)


class StopAfter:
    def __init__(self, iterations):
        self.iterations = iterations
        self.calls = []

    def setup(self, estimator, context):
        self.calls.append("setup")

    def on_fit_task_begin(self, estimator, context):
        pass

    def on_fit_task_end(self, estimator, context, *, fitted_estimator):
        self.calls.append(fitted_estimator.history_[-1]["iteration"])
        return self.calls[-1] >= self.iterations

    def teardown(self, estimator, context):
        self.calls.append("teardown")


def test_a_callback_sees_every_record_and_may_stop_the_run():
    X, y = load_iris(return_X_y=True)
    callback = StopAfter(2)
    svm = StructuralSVM(Multiclass(), C=100, tol=1e-9).set_callbacks(callback).fit(X, y)
    assert svm.n_iter_ == 2
    assert callback.calls == ["setup", 0, 1, 2, 2, "teardown"]


def test_scikit_learns_callbacks_plug_in(capsys):
    X, y = load_iris(return_X_y=True)
    monitor = ScoringMonitor(scoring="accuracy")
    svm = StructuralSVM(Multiclass(), C=10, tol=0.01).set_callbacks(ProgressBar(), Progress(), monitor).fit(X, y)
    assert svm.converged_
    assert "gap" in capsys.readouterr().err


def test_verbose_shows_a_line_with_the_gap(capsys):
    X, y = load_iris(return_X_y=True)
    StructuralSVM(Multiclass(), C=10, verbose=1).fit(X, y)
    assert "gap" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"C": 0}, "C is 0"),
        ({"C": -1.0}, "C is -1.0"),
        ({"C": np.nan}, "C is nan"),
        ({"rescaling": "both"}, "rescaling is 'both'"),
        ({"slack": "none"}, "slack is 'none'"),
        ({"slack": "hard"}, "rescaling=None"),
        ({"solver": "newton"}, "solver is 'newton'"),
        ({"solver": "subgradient", "tol": 0.1}, "Subgradient has no option 'tol'"),
        ({"solver": "one_slack", "slack": "hard", "rescaling": None}, "no form for slack='hard'"),
        ({"tol": 0.0}, "tol is 0.0"),
        ({"n_jobs": 0}, "n_jobs is 0"),
        ({"max_iter": -1}, "max_iter is -1"),
        ({"max_iter": 2.5}, r"max_iter is 2\.5"),
        ({"C": "10"}, "C is '10'"),
        ({"solver": NSlack(), "tol": 0.1}, "give it to NSlack"),
    ],
)
def test_options_out_of_range_are_named(options, message):
    svm = StructuralSVM(Multiclass(), **options)
    with pytest.raises(ValueError, match=message):
        svm.fit([[0.0, 1.0], [1.0, 0.0]], ["a", "b"])


def test_a_fit_that_fails_leaves_the_estimator_as_it_was():
    X, Y = [np.eye(2)], [["a", "b"]]
    svm = StructuralSVM(Chain())
    with pytest.raises(ValueError, match=r"X\[0\]\[1, 0\] is nan"):
        svm.fit([np.array([[0.0, 1.0], [np.nan, 0.0]])], Y)
    assert not any(name.endswith("_") and not name.startswith("_") for name in vars(svm))
    with pytest.raises(NotFittedError):
        svm.predict(X)
    svm.fit(X, Y)
    before = svm.w_.copy()
    with pytest.raises(ValueError, match=r"Y\[0\] has 1 labels but X\[0\] has 2 rows"):
        svm.fit(X, [["a"]])
    np.testing.assert_array_equal(svm.w_, before)


@pytest.mark.parametrize("estimator", [StructuralSVM, StructuredPerceptron])
def test_one_example_and_one_class_are_enough(estimator):
    assert estimator(Multiclass()).fit([[1.0]], ["only"]).predict([[2.0], [-2.0]]).tolist() == ["only", "only"]
    chain = estimator(Chain()).fit([[[1.0], [2.0]]], [["only", "only"]])
    assert chain.predict([[[3.0]]]) == [["only"]]


def test_a_class_a_generator_and_a_wrong_validation_are_named():
    with pytest.raises(TypeError, match=r"give an object, Chain\(\)"):
        StructuralSVM(Chain).fit([np.eye(2)], [["a", "b"]])
    with pytest.raises(TypeError, match="X is a generator"):
        StructuralSVM(Chain()).fit((x for x in [np.eye(2)]), [["a", "b"]])
    with pytest.raises(ValueError, match="pair"):
        StructuralSVM(Chain()).fit([np.eye(2)], [["a", "b"]], validation=0.2)


@pytest.mark.parametrize("rescaling", ["margin", "slack", None])
@pytest.mark.parametrize("slack", ["linear", "squared"])
def test_one_class_is_enough_for_every_formulation(rescaling, slack):
    svm = StructuralSVM(Chain(), rescaling=rescaling, slack=slack).fit([[[1.0], [2.0]]], [["only", "only"]])
    assert svm.objective_ == 0.0


def test_labels_of_any_hashable_type():
    labels = [("tuple", 1), None, 2.5, "text"]
    # None says that nothing is known, unless it is declared as a label.
    svm = StructuralSVM(Multiclass(classes=labels), C=100).fit(np.eye(4), labels)
    assert svm.predict(np.eye(4)).tolist() == labels
    chain = StructuralSVM(Chain(classes=labels), C=100).fit([np.eye(4)], [labels])
    assert chain.predict([np.eye(4)]) == [labels]


def test_a_label_that_only_predict_meets_in_its_features_is_no_problem():
    X = [[{"word": "a"}, {"word": "b"}]]
    svm = StructuralSVM(Chain()).fit(X, [["x", "y"]])
    assert len(svm.predict([[{"word": "new"}]])[0]) == 1


def test_a_million_features_work():
    token = {f"f{k}": 1.0 for k in range(0, 1_000_000, 1000)}
    svm = StructuralSVM(Chain(), C=1).fit([[token, {"f999999": 1.0}]], [["a", "b"]])
    assert svm.predict([[token]]) == [["a"]]


@pytest.mark.parametrize("option", [{"tol": 0.1}, {"max_iter": 5}, {"random_state": 3}])
def test_options_beside_a_solver_object_belong_to_the_solver(option):
    svm = StructuralSVM(Multiclass(), solver=BlockCoordinate(), **option)
    with pytest.raises(ValueError, match=r"was given beside a solver object; give it to BlockCoordinate"):
        svm.fit(np.eye(2), ["a", "b"])


def test_a_seed_is_no_mistake_for_solvers_that_draw_nothing():
    for solver in ("n_slack", NSlack()):
        assert StructuralSVM(Multiclass(), solver=solver, random_state=3).fit(np.eye(2), ["a", "b"]).converged_


def test_a_solver_without_a_certificate_neither_converges_nor_warns():
    svm = StructuralSVM(Multiclass(), solver="subgradient", max_iter=2).fit(np.eye(2), ["a", "b"])
    assert not svm.converged_
    assert np.isnan(svm.duality_gap_)
