"""With many labels most of the transitions are not looked at, and the answer is that of the full decoder."""

import numpy as np
import pytest

from structlearn.inference import k_best, viterbi
from structlearn.losses import LabelCosts
from structlearn.models import Chain
from tests.models.enumerated import bound

#: Chains with as many labels are decoded with pruned products.
MANY = (129, 200, 300)


def uneven(random, shape):
    """A few large scores among small ones, as trained models have them."""
    return random.normal(size=shape) * random.choice([0.1, 4.0], size=shape, p=[0.95, 0.05])


def forbidden(random, shape):
    scores = random.normal(size=shape)
    scores[random.random(shape) < 0.7] = -np.inf
    scores[..., 3] = -np.inf
    scores.flat[:: shape[-1] + 1] = 0.0  # label l at place l, or twice
    return scores


KINDS = {
    "random": lambda random, shape: random.normal(size=shape),
    "uneven": uneven,
    "tied": lambda random, shape: random.integers(0, 2, size=shape).astype(float),
    "nearly tied": lambda random, shape: 0.1 * random.integers(0, 4, size=shape) / 3,
    "zero": lambda random, shape: np.zeros(shape),
    "forbidden": forbidden,
}


def everywhere(transition, length):
    """The same transitions as one matrix for each pair of neighbours, for which nothing is pruned."""
    return np.tile(transition, (length - 1, 1, 1))


@pytest.mark.parametrize("n_labels", MANY)
@pytest.mark.parametrize("transitions", KINDS)
@pytest.mark.parametrize("emissions", KINDS)
def test_pruned_and_full_decoders_agree(emissions, transitions, n_labels):
    random = np.random.default_rng(n_labels)
    for length in (1, 2, 9):
        emission = KINDS[emissions](random, (length, n_labels))
        transition = KINDS[transitions](random, (n_labels, n_labels))
        start, stop = KINDS[emissions](random, (2, n_labels))
        emission[:, 0] = start[0] = stop[0] = transition[0, 0] = -1.0  # so that there is a way
        labels, score = viterbi(emission, transition, start, stop)
        expected, best = viterbi(emission, everywhere(transition, length), start, stop)
        assert labels.tolist() == expected.tolist()
        assert score == best


@pytest.mark.parametrize("kind", KINDS)
def test_pruned_decoder_agrees_with_enumeration(kind):
    random = np.random.default_rng(0)
    n_labels = MANY[0]
    emission, transition = KINDS[kind](random, (3, n_labels)), KINDS[kind](random, (n_labels, n_labels))
    emission[:, 0] = transition[0, 0] = -1.0
    a, b, c = emission
    scores = a[:, None, None] + transition[:, :, None] + b[None, :, None] + transition[None] + c
    labels, score = viterbi(emission, transition)
    assert score == pytest.approx(scores.max(), abs=1e-12)
    assert scores[tuple(labels)] == pytest.approx(scores.max(), abs=1e-12)


@pytest.mark.parametrize("kind", KINDS)
def test_the_k_best_agree(kind):
    random = np.random.default_rng(0)
    emission, transition = KINDS[kind](random, (6, MANY[0])), KINDS[kind](random, (MANY[0], MANY[0]))
    emission[:, 0] = transition[0, 0] = -1.0
    found = k_best(emission, transition, 20)
    expected = k_best(emission, everywhere(transition, 6), 20)
    assert [(labels.tolist(), score) for labels, score in found] == [
        (labels.tolist(), score) for labels, score in expected
    ]


def test_what_is_all_forbidden_is_refused():
    with pytest.raises(ValueError, match="every label sequence is forbidden"):
        viterbi(np.zeros((4, MANY[0])), np.full((MANY[0], MANY[0]), -np.inf))


@pytest.mark.sample(3)
@pytest.mark.parametrize("scale", [0.0, 0.01, 1.0])
@pytest.mark.parametrize("loss", ["hamming", "weights", "costs"])
def test_loss_augmented_and_restricted_decoding_agree(loss, scale):
    random = np.random.default_rng(1)
    labels = range(MANY[0])
    L = len(labels)
    cost = 1.0 - np.eye(L)
    options = {}
    if loss == "weights":
        cost[:20] *= 3.0
        options = {"label_weight": dict.fromkeys(range(20), 3.0)}
    elif loss == "costs":
        cost *= random.random((L, L))
        options = {"loss": LabelCosts.from_matrix(labels, cost)}
    Y = [random.integers(L, size=length).tolist() for length in (1, 5, 12)]
    X = [random.normal(size=(len(y), 4)) for y in Y]
    may_follow = random.random((L, L)) < 0.5
    for y in Y:
        may_follow[y[:-1], y[1:]] = True
    ends = [end for label in labels for end in ((None, label), (label, None))]
    chain = Chain(classes=labels, allowed_transitions=[*map(tuple, np.argwhere(may_follow).tolist()), *ends], **options)
    may_be = [random.random((len(y), L)) < 0.5 for y in Y]
    for mask, y in zip(may_be, Y, strict=True):
        mask[range(len(y)), y] = True
    problem = bound(chain, X, Y)
    allowed = [[np.flatnonzero(row).tolist() for row in mask] for mask in may_be]
    restricted = chain.bind(chain.specify(X, Y), X, Y, allowed=allowed)
    w = scale * random.normal(size=problem.n_features)
    emit, move, start, stop = np.split(w, [4 * L, 4 * L + L * L, 5 * L + L * L])
    move = np.where(may_follow, move.reshape(L, L), -np.inf)
    every = np.arange(len(X))
    found = {
        "augmented": problem.unpack(problem.loss_augmented(w, every)),
        "restricted": restricted.unpack(restricted.best(w, every)),
    }
    for i, (x, y) in enumerate(zip(X, Y, strict=True)):
        emission = x @ emit.reshape(4, L)
        for kind, more in {"augmented": cost[y], "restricted": np.where(may_be[i], 0.0, -np.inf)}.items():
            scores = emission + more, everywhere(move, len(y)), start, stop
            given = np.asarray(found[kind][i])
            score = scores[0][range(len(y)), given].sum() + move[given[:-1], given[1:]].sum()
            score += start[given[0]] + stop[given[-1]]
            assert score == pytest.approx(viterbi(*scores)[1], abs=1e-9)
