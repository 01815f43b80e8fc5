import pickle
from itertools import pairwise, product
from types import SimpleNamespace

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import norm
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import GridSearchCV
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from structlearn import HiddenMarkov
from structlearn.data import Sequences
from structlearn.datasets import make_block_sequences, make_hmm_sequences
from structlearn.estimators.generative import Discrete, Gaussian, PiecewiseLinearCounts
from structlearn.features import TokenTransformer

seeds = st.integers(0, 2**32)


def joint(parameters, x, y):
    """p(x, y), factor by factor."""
    p = parameters.start[y[0]]
    for r, s in pairwise(y):
        p *= parameters.transition[r, s]
    for token, s in zip(x, y, strict=True):
        p *= np.prod(norm.pdf(token, parameters.means[s], np.sqrt(parameters.variances[s])))
    return p


@st.composite
def models(draw, ends=False):
    """A random Gaussian model, its parameters, and sequences to label; a few of its probabilities are 0."""
    random = np.random.default_rng(draw(seeds))
    n = draw(st.integers(1, 3))
    parameters = SimpleNamespace(
        start=random.dirichlet(np.ones(n)),
        transition=random.dirichlet(np.ones(n), size=n),
        means=random.normal(size=(n, 2)),
        variances=random.uniform(0.2, 2, size=(n, 2)),
    )
    if n > 1 and draw(st.booleans()):
        parameters.transition[0] = np.eye(n)[draw(st.integers(0, n - 1))]
        parameters.start = np.eye(n)[0]
    X = [random.normal(size=(length, 2)) for length in draw(st.lists(st.integers(1, 5), min_size=1, max_size=3))]
    model = HiddenMarkov.from_parameters(
        parameters.start,
        parameters.transition,
        Gaussian.from_parameters(parameters.means, parameters.variances),
        range(n),
        ends=draw(st.integers(0, n - 1)) if ends else None,
    )
    return model, parameters, X


def ranked(parameters, x, n_labels):
    """All labellings that are possible and their probability, best first."""
    found = [(list(y), joint(parameters, x, y)) for y in product(range(n_labels), repeat=len(x))]
    return sorted((pair for pair in found if pair[1] > 0), key=lambda pair: -pair[1])


@given(models(), st.integers(1, 30))
def test_decoding_agrees_with_enumeration(drawn, k):
    model, parameters, X = drawn
    for x, predicted, best in zip(X, model.predict(X), model.k_best(X, k), strict=True):
        expected = ranked(parameters, x, len(model.classes_))
        assert predicted == expected[0][0]
        assert [y for y, _ in best] == [y for y, _ in expected[:k]]
        np.testing.assert_allclose([score for _, score in best], np.log([p for _, p in expected[:k]]))


@given(models())
def test_marginals_and_likelihood_agree_with_enumeration(drawn):
    model, parameters, X = drawn
    for x, nodes, log_p in zip(X, model.predict_marginals(X), model.log_likelihood(X), strict=True):
        found = ranked(parameters, x, len(model.classes_))
        total = sum(p for _, p in found)
        assert log_p == pytest.approx(np.log(total))
        for t in range(len(x)):
            for label in range(len(model.classes_)):
                share = sum(p for y, p in found if y[t] == label) / total
                assert nodes[t, label] == pytest.approx(share, abs=1e-9)


@given(models())
def test_log_proba_is_the_logarithm_of_the_joint_probability(drawn):
    model, parameters, X = drawn
    for x in X:
        Y = list(product(range(len(model.classes_)), repeat=len(x)))
        with np.errstate(divide="ignore"):
            expected = np.log([joint(parameters, x, y) for y in Y])
        np.testing.assert_allclose(model.log_proba([x] * len(Y), Y), expected)


@given(models(ends=True), st.integers(1, 30))
def test_only_the_tokens_between_forced_ends_are_decoded(drawn, k):
    model, parameters, X = drawn
    end = model.ends
    for x, predicted, best in zip(X, model.predict(X), model.k_best(X, k), strict=True):
        if len(x) <= 2:
            expected = [([end] * len(x), 1.0)]
        else:
            inner = ranked(parameters, x[1:-1], len(model.classes_))
            expected = [([end, *y, end], p) for y, p in inner[:k]]
        assert predicted == expected[0][0]
        assert [y for y, _ in best] == [y for y, _ in expected]
        np.testing.assert_allclose([score for _, score in best], np.log([p for _, p in expected]), atol=1e-12)
        np.testing.assert_allclose(model.log_proba([x] * len(best), [y for y, _ in best]), [s for _, s in best])


def test_training_counts_transitions_and_first_labels():
    Y = [["a", "a", "b"], ["b", "b", "b", "b", "a"], ["a"]]
    X = [[0] * len(y) for y in Y]
    exact = HiddenMarkov(Discrete(), smoothing=0).fit(X, Y)
    np.testing.assert_allclose(exact.start_, [2 / 3, 1 / 3])
    np.testing.assert_allclose(exact.transition_, [[1 / 2, 1 / 2], [1 / 4, 3 / 4]])
    smooth = HiddenMarkov(Discrete(), smoothing=2).fit(X, Y)
    np.testing.assert_allclose(smooth.start_, [4 / 7, 3 / 7])
    np.testing.assert_allclose(smooth.transition_, [[3 / 6, 3 / 6], [3 / 8, 5 / 8]])
    floored = HiddenMarkov(Discrete(), smoothing="floor", classes=["a", "b", "c"]).fit(X, Y)
    np.testing.assert_allclose(floored.start_, [2 / 4, 1 / 4, 1 / 4])
    np.testing.assert_allclose(floored.transition_, [[1 / 3, 1 / 3, 1 / 3], [1 / 5, 3 / 5, 1 / 5], [1 / 3] * 3])


def test_training_with_forced_ends_looks_only_between_them():
    X = [[[9.0], [1.0], [2.0], [5.0], [-9.0]], [[7.0]], [[7.0], [7.0]], [[8.0], [3.0], [8.0]]]
    Y = [[1, 0, 0, 1, 1], [1], [1, 0], [1, 0, 1]]
    model = HiddenMarkov(Gaussian(), smoothing=0, ends=0).fit(X, Y)
    np.testing.assert_allclose(model.start_, [0.5, 0.5])
    np.testing.assert_allclose(model.transition_, [[0.5, 0.5], [0.5, 0.5]])
    np.testing.assert_allclose(model.emission_.means_, [[2.0], [5.0]])
    assert model.predict([[[5.0]], [[5.0], [5.0]], [[5.0], [5.0], [5.0]]]) == [[0], [0, 0], [0, 1, 0]]
    assert np.isneginf(model.log_proba(X[:1], Y[:1]))


def test_forced_ends_may_be_symbols_that_training_never_showed_between_them():
    model = HiddenMarkov(Discrete(), ends="o").fit(["<abb>", "<a>"], [list("oabbo"), list("oao")])
    assert model.emission_.symbols_ == ("a", "b")
    assert model.predict(["<bba>", "a"]) == [list("obbao"), ["o"]]


def test_sequences_of_one_token_make_it_naive_bayes():
    random = np.random.default_rng(0)
    tokens, labels = random.normal(size=(60, 3)), random.integers(3, size=60)
    model = HiddenMarkov(Gaussian(), smoothing=0).fit(list(tokens[:, None]), labels[:, None])
    twin = GaussianNB(var_smoothing=0).fit(tokens, labels)
    assert np.ravel(model.predict(list(tokens[:, None]))).tolist() == twin.predict(tokens).tolist()
    expected = twin.predict_joint_log_proba(tokens)[np.arange(60), labels]
    np.testing.assert_allclose(model.log_proba(list(tokens[:, None]), labels[:, None]), expected)


@pytest.mark.parametrize("discrete", [False, True])
def test_parameters_are_recovered_from_samples(discrete):
    start, transition = [0.7, 0.2, 0.1], [[0.8, 0.1, 0.1], [0.0, 0.5, 0.5], [0.3, 0.3, 0.4]]
    if discrete:
        emission = Discrete.from_parameters("xy", [[0.9, 0.1], [0.5, 0.5], [0.2, 0.8]])
    else:
        emission = Gaussian.from_parameters([[0.0], [1.0], [5.0]], [[1.0], [0.5], [2.0]])
    truth = HiddenMarkov.from_parameters(start, transition, emission, ["a", "b", "c"])
    lengths = np.tile([5, 15], 2000)
    X, Y = truth.sample(4000, lengths, random_state=0)
    assert [len(x) for x in X] == [len(y) for y in Y] == lengths.tolist()
    found = HiddenMarkov(Discrete(0) if discrete else Gaussian(), smoothing=0).fit(X, Y)
    np.testing.assert_allclose(found.start_, start, atol=0.02)
    np.testing.assert_allclose(found.transition_, transition, atol=0.02)
    assert found.transition_[1, 0] == 0
    if discrete:
        np.testing.assert_allclose(found.emission_.probabilities_, emission.probabilities_, atol=0.02)
    else:
        np.testing.assert_allclose(found.emission_.means_, emission.means_, atol=0.05)
        np.testing.assert_allclose(found.emission_.variances_, emission.variances_, atol=0.05)


def test_where_all_is_impossible_the_fewest_impossible_factors_are_predicted():
    emission = Discrete.from_parameters("xyz", [[0.5, 0.0, 0.5], [0.0, 0.5, 0.5]])
    model = HiddenMarkov.from_parameters([1.0, 0.0], [[1.0, 0.0], [0.0, 1.0]], emission, ["a", "b"])
    assert model.predict([["x", "y", "x"], ["y", "y", "y"], ["x", "?", "z"]]) == [list("aaa"), list("bbb"), list("aaa")]
    assert model.k_best([["x", "y", "x"]], 3) == [[]]
    assert model.log_proba([["x", "y", "x"]], [["a", "a", "a"]]) == -np.inf


def test_one_label_is_always_predicted():
    model = HiddenMarkov(Gaussian()).fit([[[0.0], [1.0]], [[2.0]]], [["o", "o"], ["o"]])
    assert model.predict([[[7.0], [8.0], [9.0]]]) == [["o", "o", "o"]]
    assert model.score([[[7.0], [8.0]]], [["o", "?"]]) == 0.5


def test_a_declared_label_that_training_lacks_does_no_harm():
    X, Y = [[[0.0], [0.1], [5.0]], [[5.2], [0.2]]], [["a", "a", "b"], ["b", "a"]]
    model = HiddenMarkov(Gaussian(), classes=["c", "b", "a"]).fit(X, Y)
    assert model.classes_.tolist() == ["c", "b", "a"]
    assert model.predict(X) == Y
    assert model.score(X, [["a", "a", "c"], ["b", "a"]]) == pytest.approx(0.8)


def test_labels_may_be_of_any_hashable_type_and_symbols_characters():
    X, Y = ["AACC", "CA"], [[None, None, (1, 2), (1, 2)], [(1, 2), None]]
    assert HiddenMarkov(Discrete()).fit(X, Y).predict(X) == Y


def test_sparse_and_stacked_sequences_are_read_as_arrays():
    data = make_block_sequences(4, length=80, random_state=0)
    model = HiddenMarkov(PiecewiseLinearCounts()).fit(data.X, data.Y)
    for X in ([sp.csr_array(x) for x in data.X], Sequences(np.concatenate(data.X), [80] * 4)):
        assert clone(model).fit(X, data.Y).predict(X) == model.predict(data.X)


def test_it_clones_pickles_and_has_the_options_of_its_emission_as_parameters():
    X, Y = [[[0.0], [1.0], [5.0]]], [["a", "a", "b"]]
    model = HiddenMarkov(PiecewiseLinearCounts(n_knots=3), smoothing="floor", ends="a").fit(X, Y)
    assert pickle.loads(pickle.dumps(model)).k_best(X, 4) == model.k_best(X, 4)
    copy = clone(model)
    assert copy.get_params()["emission__n_knots"] == 3
    assert copy.ends == "a"
    with pytest.raises(NotFittedError):
        copy.predict(X)
    assert model.emission is not model.emission_


def test_it_takes_part_in_pipelines_and_searches():
    data = make_block_sequences(12, length=80, random_state=0)
    pipeline = make_pipeline(TokenTransformer(StandardScaler()), HiddenMarkov(PiecewiseLinearCounts()))
    search = GridSearchCV(pipeline, {"hiddenmarkov__emission__n_knots": [2, 10]}, cv=3).fit(data.X, data.Y)
    assert search.best_score_ > 0.8


def test_data_set_1_reaches_the_published_accuracy_with_forced_ends():
    """Iglesias (2013), Table 4.2: 99.63 %; all that is wrong are the ends that are forced to −1."""
    data = make_hmm_sequences(random_state=0)
    emission = Gaussian.from_parameters(data.means, data.variances)
    truth = HiddenMarkov.from_parameters(data.start, data.transition, emission, [-1, 1], ends=-1)
    learned = HiddenMarkov(PiecewiseLinearCounts(), smoothing="floor", ends=-1).fit(data.X[:100], data.Y[:100])
    positive_ends = np.mean([np.sum(y[[0, -1]] == 1) for y in data.Y[100:]])
    assert 0 < positive_ends < 2
    for model in (truth, learned):
        assert model.score(data.X[100:], data.Y[100:]) == pytest.approx(1 - positive_ends / 250, abs=1e-4)


@pytest.mark.parametrize(("prop_distort", "published"), [(0.1, 0.948), (0.2, 0.902), (0.3, 0.807)])
def test_data_set_2_comes_near_the_published_accuracy(prop_distort, published):
    """Iglesias (2013), Table 4.5, row ML-HMM; its data are known only up to a calibration."""
    data = make_block_sequences(prop_distort=prop_distort, random_state=1)
    model = HiddenMarkov(PiecewiseLinearCounts(), smoothing="floor", ends=-1).fit(data.X[:100], data.Y[:100])
    assert model.score(data.X[100:], data.Y[100:]) == pytest.approx(published, abs=0.02)


X, Y = [[[0.0], [1.0]], [[2.0]]], [["a", "b"], ["b"]]
PAIR = Gaussian.from_parameters([[0.0], [1.0]], [[1.0], [1.0]])
HALVES = [[0.5, 0.5], [0.5, 0.5]]


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: HiddenMarkov(Gaussian()).fit(X, None), "y is None"),
        (lambda: HiddenMarkov(Gaussian()).fit(X, Y[:1]), "X has 2 sequences but Y has 1"),
        (lambda: HiddenMarkov(Gaussian()).fit(X, [["a"], ["b"]]), r"Y\[0\] has 1 labels but X\[0\] has 2 tokens"),
        (lambda: HiddenMarkov(Gaussian()).fit(X, ["ab", "b"]), r"Y\[0\] is 'ab'; expected a sequence of labels"),
        (lambda: HiddenMarkov(Gaussian(), classes=["a"]).fit(X, Y), r"Y\[0\]\[1\] is 'b', which is not among"),
        (lambda: HiddenMarkov(Gaussian()).fit([["the", "dog"], ["cat"]], Y), r"X\[0\]"),
        (lambda: HiddenMarkov(Gaussian()).fit([[[0.0], [np.nan]], [[2.0]]], Y), r"X\[0\]\[1, 0\] is nan"),
        (lambda: HiddenMarkov(Gaussian()).fit(X, Y).predict([[[0.0, 1.0]]]), r"X\[0\] has 2 features a token"),
        (lambda: HiddenMarkov(Gaussian()).fit(X, Y).log_proba(X, [["a", "c"], ["b"]]), r"Y\[0\]\[1\] is 'c'"),
        (lambda: HiddenMarkov(Gaussian()).fit(X, Y).k_best(X, 0), "k is 0"),
        (lambda: HiddenMarkov(Gaussian(), smoothing=-1).fit(X, Y), "smoothing is -1"),
        (
            lambda: HiddenMarkov(Gaussian(), ends="z").fit(X, Y),
            r"ends is 'z', which is not among the classes \['a', 'b'\]",
        ),
        (lambda: HiddenMarkov(Gaussian(), ends="a").fit(X, Y), "no sequence of X has more than two tokens"),
        (lambda: HiddenMarkov(Gaussian()).fit(X, Y).sample(0, 3), "n_sequences is 0"),
        (lambda: HiddenMarkov(Gaussian()).fit(X, Y).sample(2, 0), "lengths is 0"),
        (lambda: HiddenMarkov(Gaussian()).fit(X, Y).sample(2, [1, 2, 3]), r"lengths is \[1, 2, 3\]; .* or 2 of them"),
        (
            lambda: HiddenMarkov.from_parameters([0.5, 0.5], HALVES, PAIR, "ab", ends="a").sample(1, 3),
            "with ends='a' the tokens at the ends have no distribution",
        ),
        (lambda: HiddenMarkov.from_parameters([0.5, 0.4], HALVES, PAIR, "ab"), "start sums to 0.9"),
        (
            lambda: HiddenMarkov.from_parameters([0.5, 0.5], [[0.5, 0.5], [1, 1]], PAIR, "ab"),
            r"transition\[1\] sums to 2",
        ),
        (
            lambda: HiddenMarkov.from_parameters([0.5, 0.5], HALVES, PAIR, "abc"),
            "emission has 2 labels but there are 3 classes",
        ),
        (lambda: HiddenMarkov.from_parameters([0.5, 0.5], HALVES, Gaussian(), "ab"), "not fitted"),
    ],
)
def test_bad_input_is_named(make, message):
    with pytest.raises(ValueError, match=message):
        make()


@pytest.mark.parametrize(
    ("emission", "message"), [(Gaussian, r"give an object, Gaussian\(\)"), ("gaussian", "'gaussian'")]
)
def test_what_is_no_emission_is_named(emission, message):
    with pytest.raises(TypeError, match=message):
        HiddenMarkov(emission).fit(X, Y)
