"""Every structure × decoder: what is declared agrees with the list of all outputs, what is not is refused by name."""

import numpy as np
import pytest
from scipy.special import logsumexp, softmax

from structlearn import ConditionalRandomField
from structlearn.estimators.abilities import lacks
from structlearn.waist import Scaling
from tests.abilities.structures import structures
from tests.models.instances import SCALINGS

DECODERS = [
    "best",
    "loss_augmented",
    "second_best",
    "k_best",
    "loss_levels",
    "sums",
    "pair_marginals",
    "samples",
    "partial",
]
METHODS = {
    "k_best": ["k_best"],
    "sums": ["predict_marginals", "log_partition", "entropy"],
    "pair_marginals": ["predict_pair_marginals"],
    "samples": ["sample"],
}
NAMES = [structure.name for structure in structures()]
BY_NAME = dict(zip(NAMES, structures(), strict=True))


def seeds(request_all=range(8)):
    """A few random instances of each; most of them only where all tests run."""
    return [pytest.param(seed, marks=pytest.mark.slow) if seed > 0 else seed for seed in request_all]


@pytest.fixture(params=NAMES)
def name(request):
    return request.param


@pytest.mark.parametrize("decoder", DECODERS)
def test_every_decoder_has_its_cost_or_a_reason(name, decoder):
    model = BY_NAME[name].model
    assert (decoder in model.costs) != (model.refusal(decoder) is not None)


def test_costs_are_declared_for_what_there_is(name):
    structure = BY_NAME[name]
    model, problem = structure.model, structure.bound()
    oracles = {"best", "loss_augmented", "second_best", "loss_levels", "sums"}
    assert problem.oracles & oracles == set(model.costs) & oracles
    abilities = {"k_best", "sums", "pair_marginals", "samples"}
    assert model.abilities & abilities == set(model.costs) & abilities
    assert ("partial" in model.costs) == ("partial" in model.abilities or model.takes_allowed)


@pytest.mark.parametrize("decoder", METHODS)
def test_what_is_refused_is_no_method_and_says_why(name, decoder):
    model = BY_NAME[name].model
    crf = ConditionalRandomField(model)
    for method in METHODS[decoder]:
        assert hasattr(crf, method) == (decoder in model.costs)
    if decoder not in model.costs:
        assert model.refusal(decoder) in lacks(crf, decoder)


@pytest.mark.parametrize("seed", seeds())
@pytest.mark.parametrize("decoder", DECODERS)
def test_decoders_agree_with_the_list_of_all_outputs(name, decoder, seed):
    structure = structures(seed)[NAMES.index(name)]
    if decoder not in structure.model.costs:
        return
    problem = structure.bound()
    w = np.random.default_rng(seed + 100).normal(size=problem.n_features)
    CHECKS[decoder](structure, problem, w)


def check_best(structure, problem, w):
    every = np.arange(problem.n_examples)
    margins = problem.true_margins(w, every, problem.best(w, every))
    for i in every.tolist():
        listed = structure.listed(i, w)
        found = listed.true_score - margins[i]
        if problem.exactness == "approximate":
            assert found <= listed.scores.max() + 1e-9
        else:
            assert found == pytest.approx(listed.scores.max(), abs=1e-9)


def check_oracle(oracle):
    def check(structure, problem, w):
        for scaling in (scaling for scaling in SCALINGS if scaling.oracle == oracle):
            planes = problem.oracle(w, np.arange(problem.n_examples), scaling)
            found = dict(zip(planes.examples.tolist(), planes.bounds.tolist(), strict=True))
            for i in range(problem.n_examples):
                best = most_violated(structure.listed(i, w), scaling)
                assert (i in found) == (best > -np.inf)
                if problem.exactness == "approximate":
                    assert -1e-9 <= found[i] <= best + 1e-9
                elif i in found:
                    assert found[i] == pytest.approx(best, abs=1e-8)

    return check


def most_violated(listed, scaling: Scaling):
    a, b = scaling(listed.losses)
    violations = (b - a * (listed.true_score - listed.scores))[~listed.true]
    return max([*violations, -np.inf if scaling.rescaling is None else 0.0])


def check_k_best(structure, problem, w):
    for i, best in enumerate(problem.k_best(w, 7)):
        expected = np.sort(structure.listed(i, w).scores)[::-1][:7]
        assert [score for _, score in best] == pytest.approx(expected.tolist(), abs=1e-8)
        assert len({repr(output) for output, _ in best}) == len(best)


def check_sums(structure, problem, w):
    scores = [structure.listed(i, w).scores for i in range(problem.n_examples)]
    np.testing.assert_allclose(problem.log_partitions(w), [logsumexp(each) for each in scores], atol=1e-9)
    entropies = [-softmax(each) @ np.log(softmax(each)) for each in scores]
    np.testing.assert_allclose(problem.output_entropies(w), entropies, atol=1e-8)
    check_expected(structure, problem.label_probabilities(w), structure.singles, w)


def check_pair_marginals(structure, problem, w):
    check_expected(structure, problem.pair_probabilities(w), structure.pairs, w)


def check_expected(structure, found, has, w, agrees=None):
    """What is found are the expected numbers of what each output has."""
    for i, x in enumerate(structure.X):
        outputs = [y for y in structure.reference.outputs(x) if agrees is None or agrees(structure.partial[i], y)]
        p = softmax([structure.reference.joint_feature(x, y) @ w for y in outputs])
        each = [has(x, y) for y in outputs]
        if isinstance(each[0], tuple):
            arrays = found[i].values() if isinstance(found[i], dict) else found[i]
            for k, array in enumerate(arrays):
                np.testing.assert_allclose(array, np.tensordot(p, [parts[k] for parts in each], 1), atol=1e-9)
        elif isinstance(found[i], dict):
            expected = {}
            for probability, parts in zip(p, each, strict=True):
                for part, number in parts.items():
                    expected[part] = expected.get(part, 0.0) + probability * number
            assert {part for part, number in found[i].items() if number > 1e-12} == set(expected)
            assert {part: found[i][part] for part in expected} == pytest.approx(expected, abs=1e-9)
        else:
            np.testing.assert_allclose(found[i], np.tensordot(p, each, 1), atol=1e-9)


def check_samples(structure, problem, w, agrees=None):
    n_samples = 2000
    for i, drawn in enumerate(problem.samples(w, n_samples, np.random.default_rng(0))):
        x = structure.X[i]
        outputs = [y for y in structure.reference.outputs(x) if agrees is None or agrees(structure.partial[i], y)]
        p = softmax([structure.reference.joint_feature(x, y) @ w for y in outputs])
        share = dict.fromkeys((plain(structure.shown(y)) for y in outputs), 0.0)
        for y, probability in zip(outputs, p, strict=True):
            share[plain(structure.shown(y))] -= probability
        for y in drawn:
            share[plain(y)] += 1 / n_samples
        np.testing.assert_allclose(list(share.values()), 0.0, atol=0.06)


def plain(y):
    """An output as text, whatever the sequences are in which it comes."""
    return repr(tuple(y) if isinstance(y, list) else y.item() if isinstance(y, np.generic) else y)


def check_partial(structure, problem, w):
    """All of the above over the outputs that agree with what is said."""
    model, agrees = structure.model, structure.agrees
    if not model.takes_allowed:
        check_latent_sums(structure, problem, w)
        return
    spec = model.specify(structure.X, structure.Y)
    problem = model.bind(spec, structure.X, allowed=list(structure.partial))
    for i, x in enumerate(structure.X):
        outputs = [y for y in structure.reference.outputs(x) if agrees(structure.partial[i], y)]
        scores = np.array([structure.reference.joint_feature(x, y) @ w for y in outputs])
        best = problem.present(problem.best(w, np.array([i])))[0]
        assert structure.reference.joint_feature(x, best) @ w == pytest.approx(scores.max())
        assert agrees(structure.partial[i], best)
        k_best = problem.k_best(w, 5)[i]
        assert [score for _, score in k_best] == pytest.approx(np.sort(scores)[::-1][:5].tolist(), abs=1e-8)
        if "sums" not in model.costs:
            continue
        assert problem.log_partitions(w)[i] == pytest.approx(logsumexp(scores), abs=1e-9)
        assert problem.output_entropies(w)[i] == pytest.approx(-softmax(scores) @ np.log(softmax(scores)), abs=1e-8)
    if "sums" not in model.costs:
        return
    check_expected(structure, problem.label_probabilities(w), structure.singles, w, agrees)
    if structure.pairs is not None:
        check_expected(structure, problem.pair_probabilities(w), structure.pairs, w, agrees)
    check_samples(structure, problem, w, agrees)


def check_latent_sums(structure, problem, w):
    """Of structures that only learn from partial outputs: −log P of what is known."""
    expected = []
    for i in range(problem.n_examples):
        listed = structure.listed(i, w)
        expected.append(logsumexp(listed.scores) - logsumexp(listed.scores[listed.true]))
    np.testing.assert_allclose(problem.log_losses(w), expected, atol=1e-9)


CHECKS = {
    "best": check_best,
    "loss_augmented": check_oracle("loss_augmented"),
    "second_best": check_oracle("second_best"),
    "loss_levels": check_oracle("loss_levels"),
    "k_best": check_k_best,
    "sums": check_sums,
    "pair_marginals": check_pair_marginals,
    "samples": check_samples,
    "partial": check_partial,
}
