"""Outputs that are sums of parts: losses, oracles and marginals are those of enumeration."""

from itertools import product

import numpy as np
import pytest

from structlearn.inference.chain_tables import farthest_sequences
from structlearn.outputs import LabelOutputs, LabelSequenceOutputs, LabelSetOutputs
from structlearn.outputs.coded import most_worthwhile

RANDOM = np.random.default_rng(0)
FACTOR = RANDOM.normal(size=(3, 3))
SIMILARITY = FACTOR @ FACTOR.T
SEQUENCES = [list(y) for y in product("abc", repeat=4)]
SETS = [{name for name, has in zip("abcd", bits, strict=True) if has} for bits in product((0, 1), repeat=4)]

CASES = {
    "labels": (LabelOutputs().fit(list("abc")), list("abc"), 1),
    "similar labels": (LabelOutputs(SIMILARITY).fit(list("abc")), list("abc"), 1),
    "sets": (LabelSetOutputs().fit(SETS), SETS, 1),
    "tokens": (LabelSequenceOutputs(0.0).fit(SEQUENCES), SEQUENCES, 4),
    "similar tokens": (LabelSequenceOutputs(0.0, SIMILARITY).fit(SEQUENCES), SEQUENCES, 4),
    "sequences": (LabelSequenceOutputs(0.7).fit(SEQUENCES), SEQUENCES, 4),
    "similar sequences": (LabelSequenceOutputs(0.7, SIMILARITY).fit(SEQUENCES), SEQUENCES, 4),
}


@pytest.fixture(params=CASES)
def case(request):
    """Outputs, the codes of all there are, their vectors, and offsets of one example."""
    outputs, listed, length = CASES[request.param]
    alone = np.array([0, length])
    codes = [outputs.encode([y], alone) for y in listed]
    return outputs, codes, np.array([outputs.vectors(c, alone).ravel() for c in codes]), alone


def listed_losses(outputs, loss, codes, vectors, truth):
    if loss == "hamming":
        return np.array([float((c != codes[truth]).sum()) for c in codes])
    squares = ((vectors - vectors[truth]) ** 2).sum(axis=1)
    return squares if loss == "squared" else np.sqrt(squares)


def test_scores_of_parts_are_inner_products(case):
    outputs, codes, vectors, alone = case
    F = RANDOM.normal(size=(alone[1], outputs.n_coordinates()))
    scores = outputs.scores(F)
    for c, vector in zip(codes, vectors, strict=True):
        parts = outputs.parts(c, alone)
        assert scores[parts].sum() == pytest.approx(F.ravel() @ vector)
        own = np.broadcast_to(outputs.part_norms(), scores.shape)[parts].sum()
        assert own == pytest.approx(vector @ vector)


@pytest.mark.parametrize("loss", ["hamming", "squared"])
def test_losses_of_parts_add_up_to_those_of_outputs(case, loss):
    outputs, codes, vectors, alone = case
    truth = len(codes) // 3
    of_parts = outputs.part_losses(codes[truth], alone, loss)
    found = np.array([of_parts[outputs.parts(c, alone)].sum() for c in codes])
    np.testing.assert_allclose(found - found[truth], listed_losses(outputs, loss, codes, vectors, truth), atol=1e-12)


@pytest.mark.parametrize("scale", [0.1, 1.0])
def test_the_most_violating_outputs_are_those_of_enumeration(case, scale):
    outputs, codes, vectors, alone = case
    for loss in outputs.losses:
        if loss == "distance" and isinstance(outputs, LabelSequenceOutputs) and outputs.similarity is not None:
            continue
        for truth in range(0, len(codes), 7):
            F = scale * RANDOM.normal(size=(alone[1], outputs.n_coordinates()))
            scores, right = outputs.scores(F), codes[truth]
            if loss == "distance":
                found = outputs.farthest_codes(scores, alone, right)
            else:
                found = outputs.best_codes(scores + outputs.part_losses(right, alone, loss), alone)
            values = vectors @ F.ravel() + listed_losses(outputs, loss, codes, vectors, truth)
            np.testing.assert_array_equal(found, codes[int(values.argmax())])


def test_marginals_are_those_of_enumeration(case):
    outputs, codes, _, alone = case
    theta = RANDOM.normal(size=(alone[1], outputs.n_parts()))
    indicators = np.array([outputs.indicators(c, alone) for c in codes])
    weights = np.exp((indicators * theta).sum(axis=(1, 2)))
    expected = np.tensordot(weights / weights.sum(), indicators, axes=1)
    np.testing.assert_allclose(outputs.marginals(theta, alone), expected, atol=1e-12)


def test_several_sequences_are_decoded_as_each_alone():
    outputs, offsets = LabelSequenceOutputs(0.7).fit(SEQUENCES), np.array([0, 3, 4, 4, 9])
    scores = RANDOM.normal(size=(9, outputs.n_parts()))
    truths = RANDOM.integers(3, size=9).astype(np.int32)
    found = outputs.farthest_codes(scores, offsets, truths)
    marginals, losses = outputs.marginals(scores, offsets), outputs.part_losses(truths, offsets, "squared")
    for begin, end in ((0, 3), (3, 4), (4, 9)):
        rows, alone = slice(begin, end), np.array([0, end - begin])
        np.testing.assert_array_equal(found[rows], outputs.farthest_codes(scores[rows], alone, truths[rows]))
        np.testing.assert_allclose(marginals[rows], outputs.marginals(scores[rows], alone), atol=1e-14)
        np.testing.assert_array_equal(losses[rows], outputs.part_losses(truths[rows], alone, "squared"))


def test_nothing_is_worth_changing_at_a_loss():
    assert most_worthwhile(np.array([-1.5, -3.0]), 1.0).tolist() == []


@pytest.mark.parametrize(
    ("outputs", "loss", "message"),
    [
        (LabelOutputs(), "f1", "loss is 'f1'; these outputs have 'hamming', 'squared', 'distance'"),
        (LabelSequenceOutputs(), 3, "loss is 3"),
        (LabelSequenceOutputs(1.0, SIMILARITY), "distance", "take loss='squared' or leave similarity out"),
    ],
)
def test_losses_that_outputs_do_not_have_are_refused(outputs, loss, message):
    with pytest.raises(ValueError, match=message):
        outputs.check_loss(loss)


def test_distances_that_do_not_fit_into_memory_are_refused():
    nodes, offsets = np.zeros((200_001, 1)), np.array([0, 1, 200_001])
    with pytest.raises(ValueError, match=r"sequence 1, which has 200000 labels, would take .* take loss='squared'"):
        farthest_sequences(nodes, nodes[:, :, None], offsets, np.zeros(200_001, np.int32), 1.0, 1.0)
