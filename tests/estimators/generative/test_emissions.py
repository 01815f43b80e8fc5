import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import norm
from sklearn.naive_bayes import CategoricalNB, GaussianNB

from structlearn.estimators.generative import Discrete, Gaussian, HiddenMarkov, PiecewiseLinearCounts

seeds = st.integers(0, 2**32)


@given(seeds, st.floats(0.1, 3))
def test_discrete_agrees_with_naive_bayes_that_knows_one_more_symbol(seed, smoothing):
    random = np.random.default_rng(seed)
    tokens, codes = random.integers(4, size=30), np.concatenate([np.arange(3), random.integers(3, size=27)])
    symbols, indices = np.unique(tokens, return_inverse=True)
    twin = CategoricalNB(alpha=smoothing, min_categories=len(symbols) + 1).fit(indices[:, None], codes)
    emission = Discrete(smoothing).fit(tokens, codes, 3)
    np.testing.assert_allclose(emission.log_score(symbols), twin.feature_log_prob_[0].T[:-1])
    np.testing.assert_allclose(emission.log_score(["never seen"])[0], twin.feature_log_prob_[0][:, -1])


def test_symbols_may_be_of_any_hashable_type():
    tokens, offsets = Discrete().stack([["a", 1, (2, 3)], "xy", np.array([4, 5])])
    assert tokens.tolist() == ["a", 1, (2, 3), "x", "y", 4, 5]
    assert offsets.tolist() == [0, 3, 5, 7]
    emission = Discrete().fit(tokens, np.zeros(7, int), 1)
    np.testing.assert_allclose(np.exp(emission.log_score(tokens)), 2 / 15)


def test_without_smoothing_an_unseen_symbol_is_impossible():
    emission = Discrete(smoothing=0).fit(["a", "b"], np.array([0, 1]), 2)
    assert emission.log_score(["a", "z"]).tolist() == [[0.0, -np.inf], [-np.inf, -np.inf]]


def test_discrete_samples_have_the_given_probabilities():
    probabilities = np.array([[0.2, 0.8, 0.0], [0.0, 0.5, 0.5]])
    emission = Discrete.from_parameters(["x", "y", "z"], probabilities)
    codes = np.repeat([0, 1], 20_000)
    drawn = emission.sample(codes, np.random.default_rng(0))
    for label in (0, 1):
        share = [np.mean(drawn[codes == label] == symbol) for symbol in "xyz"]
        np.testing.assert_allclose(share, probabilities[label], atol=0.01)
    assert "z" not in drawn[codes == 0]


@given(seeds)
def test_gaussian_agrees_with_naive_bayes(seed):
    random = np.random.default_rng(seed)
    codes = np.concatenate([np.arange(3), random.integers(3, size=30)]).repeat(2)
    tokens = random.normal(size=(len(codes), 2)) * [1, 100]
    emission = Gaussian().fit(tokens, codes, 3)
    twin = GaussianNB(var_smoothing=0).fit(tokens, codes)
    np.testing.assert_allclose(emission.means_, twin.theta_)
    np.testing.assert_allclose(emission.variances_, twin.var_)
    log_likelihood = twin.predict_joint_log_proba(tokens) - np.log(twin.class_prior_)
    np.testing.assert_allclose(emission.log_score(tokens), log_likelihood, atol=1e-6)


def test_the_variance_floor_is_a_share_of_the_variance_of_all_tokens():
    tokens = np.array([[0.0, 5.0], [0.0, 5.0], [2.0, 5.0], [4.0, 5.0]])
    emission = Gaussian(variance_floor=0.01).fit(tokens, np.array([0, 0, 1, 1]), 2)
    np.testing.assert_allclose(emission.variances_, [[0.01 * tokens[:, 0].var(), 0.01], [1, 0.01]])


def test_a_constant_feature_prefers_no_label():
    tokens = np.array([[0.0, 0.1], [1.0, 0.1], [5.0, 0.1], [7.0, 0.1]])
    both = Gaussian().fit(tokens, np.array([0, 0, 1, 1]), 2).log_score(tokens)
    one = Gaussian().fit(tokens[:, :1], np.array([0, 0, 1, 1]), 2).log_score(tokens[:, :1])
    np.testing.assert_allclose(both[:, 0] - both[:, 1], one[:, 0] - one[:, 1])


def test_a_gaussian_label_without_tokens_is_impossible_and_has_no_samples():
    emission = Gaussian().fit(np.array([[0.0], [1.0]]), np.array([0, 0]), 2)
    assert np.isneginf(emission.log_score(np.array([[0.5]]))[0]).tolist() == [False, True]
    with pytest.raises(ValueError, match="no tokens in training"):
        emission.sample(np.array([0, 1]), np.random.default_rng(0))


def test_given_gaussians_are_scored_and_sampled():
    means, variances = np.array([[0.0, 3.0], [-1.0, 1.0]]), np.array([[1.0, 4.0], [0.25, 9.0]])
    emission = Gaussian.from_parameters(means, variances)
    tokens = emission.sample(np.repeat([0, 1], 20_000), np.random.default_rng(0))
    expected = norm.logpdf(tokens[:, None], means, np.sqrt(variances)).sum(axis=2)
    np.testing.assert_allclose(emission.log_score(tokens), expected)
    again = Gaussian().fit(tokens, np.repeat([0, 1], 20_000), 2)
    np.testing.assert_allclose(again.means_, means, atol=0.06)
    np.testing.assert_allclose(again.variances_, variances, rtol=0.04)


def hat(p, knots, x):
    """c_p(x) of Iglesias (4.2), with the ramps that its end knots lack in print."""
    if (p == 0 and x <= knots[0]) or (p == len(knots) - 1 and x >= knots[-1]):
        return 1.0
    if p > 0 and knots[p - 1] < x <= knots[p]:
        return (x - knots[p - 1]) / (knots[p] - knots[p - 1])
    if p < len(knots) - 1 and knots[p] < x < knots[p + 1]:
        return (knots[p + 1] - x) / (knots[p + 1] - knots[p])
    return 0.0


@given(seeds, st.integers(1, 6), st.booleans())
def test_piecewise_linear_scores_follow_their_definition(seed, n_knots, tied):
    random = np.random.default_rng(seed)
    tokens, codes = random.normal(size=(25, 2)), random.integers(3, size=25)
    tokens = tokens.round() if tied else tokens
    emission = PiecewiseLinearCounts(n_knots).fit(tokens, codes, 3)
    new = np.concatenate([tokens, random.normal(size=(10, 2)) * 3])
    expected = np.zeros((len(new), 3))
    for feature, knots in enumerate(emission.hats_.knots_):
        assert np.all(np.diff(knots) > 0)
        assert len(knots) == n_knots or tied
        for label in range(3):
            own = tokens[codes == label, feature]
            counts = np.array([max(1.0, sum(hat(p, knots, x) for x in own)) for p in range(len(knots))])
            expected[:, label] += np.interp(new[:, feature], knots, np.log(counts / counts.sum()))
    np.testing.assert_allclose(emission.log_score(new), expected)


def test_scores_that_are_no_probabilities_are_not_sampled():
    assert not hasattr(HiddenMarkov(PiecewiseLinearCounts()), "sample")
    assert hasattr(HiddenMarkov(Discrete()), "sample")
    with pytest.raises(AttributeError) as told:
        _ = HiddenMarkov(PiecewiseLinearCounts()).sample
    assert "PiecewiseLinearCounts gives scores that are no probabilities" in str(told.value.__cause__)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Discrete().stack("ab"), "X is .ab.; a list or an array is needed"),
        (lambda: Discrete().stack([]), "X is empty"),
        (lambda: Discrete().stack([["a"], []]), r"X\[1\] is an empty sequence"),
        (lambda: Discrete().stack([["a"], 3]), r"X\[1\] is 3; expected a sequence of symbols"),
        (lambda: Discrete().stack([["a", ["b"]]]), r"X\[0\]\[1\] is \['b'\]; a symbol must be hashable"),
        (lambda: Discrete().stack([np.array([1.0, np.nan])]), r"X\[0\]\[1\] is nan"),
        (lambda: Discrete.from_parameters("ab", [[0.5, 0.5], [0.5, 0.6]]), r"probabilities\[1\] sums to 1.1"),
        (lambda: Discrete.from_parameters("aa", [[0.5, 0.5]]), "'a' more than once"),
        (lambda: Gaussian.from_parameters([[0.0]], [[1.0, 2.0]]), r"means has shape \(1, 1\) and variances \(1, 2\)"),
        (lambda: Gaussian.from_parameters([[0.0], [1.0]], [[1.0], [0.0]]), "label 1 has mean 1.0 and variance 0.0"),
        (lambda: Gaussian(0).fit(np.zeros((1, 1)), np.zeros(1, int), 1), "variance_floor is 0"),
        (lambda: PiecewiseLinearCounts(0).fit(np.zeros((1, 1)), np.zeros(1, int), 1), "n_knots is 0"),
        (lambda: Gaussian.from_parameters([[0.0]], [[1.0]]).stack([[[1.0, 2.0]]]), r"X\[0\] has 2 features a token"),
    ],
)
def test_bad_input_is_named(make, message):
    with pytest.raises(ValueError, match=message):
        make()
