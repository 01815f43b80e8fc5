import warnings
from itertools import product

import numpy as np
import pytest
from sklearn.datasets import load_iris
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV

import structlearn
from structlearn import ConditionalRandomField, StructuralSVM
from structlearn.datasets import load_digit_sequences
from structlearn.models import Chain, Grammar, Multiclass, Segments
from structlearn.solvers import LBFGS, DualCoordinate
from tests.models.enumerated import EnumeratedChain


@pytest.fixture(scope="module")
def chains():
    random = np.random.default_rng(0)
    X = [random.normal(size=(length, 2)) for length in (1, 3, 4, 2, 3)]
    Y = [random.integers(3, size=len(x)).tolist() for x in X]
    return X, Y, ConditionalRandomField(Chain(classes=[0, 1, 2]), C=8, tol=1e-6).fit(X, Y)


def distribution(crf, x):
    outputs = list(product(range(3), repeat=len(x)))
    scores = np.array([EnumeratedChain(3).joint_feature(x, y) @ crf.w_ for y in outputs])
    return outputs, np.exp(scores - np.logaddexp.reduce(scores))


def test_probabilities_agree_with_enumeration(chains):
    X, Y, crf = chains
    log_p = crf.predict_log_proba(X, Y)
    marginals, best, entropies = crf.predict_marginals(X), crf.k_best(X, 4), crf.entropy(X)
    for i, x in enumerate(X):
        outputs, p = distribution(crf, x)
        assert log_p[i] == pytest.approx(np.log(p[outputs.index(tuple(Y[i]))]), abs=1e-9)
        for t, label in product(range(len(x)), range(3)):
            assert marginals[i][t, label] == pytest.approx(
                sum(q for q, y in zip(p, outputs, strict=True) if y[t] == label), abs=1e-9
            )
        np.testing.assert_allclose([score for _, score in best[i]], np.sort(np.log(p))[::-1][:4], atol=1e-9)
        assert tuple(best[i][0][0]) == outputs[int(p.argmax())] == tuple(crf.predict([x])[0])
        assert entropies[i] == pytest.approx(-np.sum(p * np.log(p)), abs=1e-9)
    posterior = crf.predict(X, posterior=True)
    assert posterior == [nodes.argmax(axis=1).tolist() for nodes in marginals]


def test_samples_follow_the_model(chains):
    X, _, crf = chains
    drawn = np.array(crf.sample(X[1:2], 20_000, random_state=0)[0])
    frequencies = np.stack([(drawn == label).mean(axis=0) for label in range(3)], axis=1)
    assert frequencies == pytest.approx(crf.predict_marginals(X[1:2])[0], abs=0.015)
    assert crf.sample(X, 3, random_state=1) == crf.sample(X, 3, random_state=1)
    assert [len(y) for y in crf.sample(X)[2]] == [4]


def test_labels_never_seen_are_impossible_and_count_as_wrong(chains):
    X, Y, crf = chains
    strange = [["never"] * len(y) for y in Y]
    assert np.isneginf(crf.predict_log_proba(X, strange)).all()
    assert crf.score(X, strange) == 0.0


@pytest.mark.parametrize("C", [1.5, 150.0])
def test_classes_give_multinomial_logistic_regression(C):
    X, y = load_iris(return_X_y=True)
    X = X - X.mean(axis=0)
    theirs = LogisticRegression(C=C / len(X), fit_intercept=False, tol=1e-10, max_iter=10_000).fit(X, y)
    ours = ConditionalRandomField(Multiclass(), C=C, tol=1e-10, max_iter=5000).fit(X, y)
    np.testing.assert_allclose(ours.w_.reshape(4, 3).T, theirs.coef_, atol=2e-4)
    np.testing.assert_allclose(ours.predict_proba(X), theirs.predict_proba(X), atol=2e-4)
    np.testing.assert_allclose(ours.predict_log_proba(X), theirs.predict_log_proba(X), atol=2e-3)
    assert (ours.predict(X) == theirs.predict(X)).all()
    assert (ours.predict(X, posterior=True) == ours.predict(X)).all()
    drawn = np.array(ours.sample(X[:1], 5000, random_state=0)[0])
    assert [(drawn == label).mean() for label in range(3)] == pytest.approx(ours.predict_proba(X[:1])[0], abs=0.03)


def test_c_means_the_same_as_in_the_svm():
    """Both objectives are ½‖w‖² + C times a mean: doubling the data changes neither."""
    X, Y = [np.eye(2), np.eye(2)[::-1]], [["a", "b"], ["b", "a"]]
    once, twice = (ConditionalRandomField(Chain(), C=3, tol=1e-8).fit(X * k, Y * k) for k in (1, 2))
    np.testing.assert_allclose(once.w_, twice.w_, atol=1e-3)
    assert once.objective_ == pytest.approx(twice.objective_, rel=1e-6)
    weighted = ConditionalRandomField(Chain(), C=3, tol=1e-8).fit(X, Y, sample_weight=[2.0, 0.0])
    removed = ConditionalRandomField(Chain(), C=3, tol=1e-8).fit(X[:1], Y[:1])
    np.testing.assert_allclose(weighted.w_, removed.w_, atol=1e-3)


def test_the_objective_equals_crfsuites(tmp_path):
    pycrfsuite = pytest.importorskip("pycrfsuite")
    data = load_digit_sequences(n_sequences=60, random_state=0)
    X = [np.asarray(x) > 8 for x in data.X]
    c2 = 0.7
    for observed in (False, True):
        options = {"c2": c2, "max_iterations": 3000, "epsilon": 1e-9, "delta": 1e-10}
        if not observed:
            options |= {"feature.possible_states": True, "feature.possible_transitions": True}
        trainer = pycrfsuite.Trainer("lbfgs", options, verbose=False)
        for x, y in zip(X, data.Y, strict=True):
            trainer.append([[str(k) for k in np.flatnonzero(row)] for row in x], [str(label) for label in y])
        trainer.train(str(tmp_path / "crf"))
        theirs = trainer.logparser.iterations[-1]["loss"] / (2 * c2)
        model = Chain(boundaries=False, observed_only=observed)
        crf = ConditionalRandomField(model, C=len(X) / (2 * c2), tol=1e-5, max_iter=5000)
        crf.fit([x.astype(float) for x in X], data.Y)
        assert crf.objective_ == pytest.approx(theirs, rel=1e-4)
        assert crf.history_[-1]["dual"] <= theirs * (1 + 1e-6)


def test_lasso_gives_zeros_and_says_so():
    data = load_digit_sequences(n_sequences=30, random_state=0)
    lasso = ConditionalRandomField(Chain(), l1_ratio=1.0, C=100, tol=0.05).fit(data.X, data.Y)
    ridge = ConditionalRandomField(Chain(), C=100).fit(data.X, data.Y)
    assert np.mean(lasso.w_ == 0) > 0.3 > np.mean(ridge.w_ == 0)
    assert lasso.score(data.X, data.Y) > 0.9


def test_it_behaves_like_any_estimator(tmp_path):
    data = load_digit_sequences(n_sequences=30, random_state=0)
    search = GridSearchCV(ConditionalRandomField(Chain()), {"C": [1, 10], "model__boundaries": [True, False]}, cv=2)
    crf = search.fit(data.X, data.Y).best_estimator_
    crf.save(tmp_path / "crf.slm")
    loaded = structlearn.load(tmp_path / "crf.slm")
    assert loaded.predict(data.X) == crf.predict(data.X)
    np.testing.assert_array_equal(loaded.predict_marginals(data.X)[0], crf.predict_marginals(data.X)[0])


def test_a_warm_start_begins_with_a_smaller_gap():
    data = load_digit_sequences(n_sequences=30, random_state=0)
    path = ConditionalRandomField(Chain(), warm_start=True, C=1).fit(data.X, data.Y)
    warm = path.set_params(C=2).fit(data.X, data.Y)
    cold = ConditionalRandomField(Chain(), C=2).fit(data.X, data.Y)
    assert warm.history_[0]["gap"] < 0.5 * cold.history_[0]["gap"]
    assert warm.objective_ == pytest.approx(cold.objective_, rel=2e-3)


def test_margins_and_likelihoods_share_one_model():
    data = load_digit_sequences(n_sequences=40, random_state=0)
    model = Chain(pair_features=[0, 1])
    for estimator in (StructuralSVM, ConditionalRandomField):
        assert estimator(model, C=100).fit(data.X, data.Y).score(data.X, data.Y) > 0.95


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"C": 0}, "C is 0"),
        ({"C": "big"}, "C is 'big'"),
        ({"l1_ratio": 2.0}, "l1_ratio is 2.0"),
        ({"solver": "newton"}, "solver is 'newton'"),
        ({"tol": -1}, "tol is -1"),
        ({"solver": DualCoordinate(), "l1_ratio": 0.5}, "no form for l1_ratio=0.5"),
        ({"solver": LBFGS(), "max_iter": 3}, "give it to LBFGS"),
    ],
)
def test_bad_parameters_are_named(options, message):
    with pytest.raises(ValueError, match=message):
        ConditionalRandomField(Chain(), **options).fit([np.eye(2)], [["a", "b"]])


def test_a_run_that_ends_early_says_how_far_it_came():
    data = load_digit_sequences(n_sequences=20, random_state=0)
    with pytest.warns(ConvergenceWarning, match=r"relative duality gap of .* \(tol=0.001\)"):
        ConditionalRandomField(Chain(), C=1000, max_iter=2).fit(data.X, data.Y)


@pytest.mark.parametrize("solver", ["dual_coordinate", "lbfgs", "exponentiated_gradient"])
def test_hard_data_end_with_finite_weights(solver):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        crf = ConditionalRandomField(Chain(), C=1e6, solver=solver, max_iter=30)
        crf.fit([1e6 * np.eye(3), np.zeros((1, 3))], [["a", "b", "c"], ["a"]])
    assert np.isfinite(crf.w_).all()
    assert np.isfinite(crf.objective_)


def test_one_label_is_certain():
    crf = ConditionalRandomField(Chain()).fit([np.eye(2)], [["a", "a"]])
    assert crf.predict_marginals([np.eye(2)])[0].tolist() == [[1.0], [1.0]]
    assert crf.predict_log_proba([np.eye(2)], [["a", "a"]]) == pytest.approx(0.0)


def test_labels_of_single_tokens_make_up_no_segments():
    crf = ConditionalRandomField(Segments()).fit([np.eye(2)], [[("a", 0, 1), ("b", 1, 2)]])
    with pytest.raises(ValueError, match="single places need not make up an output of Segments"):
        crf.predict([np.eye(2)], posterior=True)


def test_log_proba_of_sequences_needs_the_sequences():
    crf = ConditionalRandomField(Chain()).fit([np.eye(2)], [["a", "b"]])
    with pytest.raises(ValueError, match="y is missing"):
        crf.predict_log_proba([np.eye(2)])


def test_what_a_grammar_does_not_derive_has_probability_zero():
    parser = ConditionalRandomField(Grammar()).fit([["DT", "NN"]], ["(S (DT the) (NN dog))"])
    (best,) = parser.k_best([["NN", "DT"]], 2)
    assert best == [(parser.predict([["NN", "DT"]])[0], -np.inf)]
