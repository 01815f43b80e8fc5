"""Special kernels find what the composition finds."""

import numpy as np
import pytest

from structlearn import _core
from structlearn.data.biosequences.substitution import BLOSUM62
from structlearn.inference import align
from structlearn.losses import LabelF1
from structlearn.models import Chain
from structlearn.waist import Scaling
from tests.models.enumerated import bound
from tests.models.instances import multiclass_twins

MARGIN = Scaling("margin", "linear")


def test_planes_of_classes_are_planes_of_parts():
    random = np.random.default_rng(0)
    for output_features in (False, True):
        problem = multiclass_twins(random, n=30, n_classes=4, output_features=output_features).problem
        every = np.arange(problem.n_examples)
        special, general = problem.working_sets(), _core.PartSets(problem._scores, problem.n_examples)
        assert isinstance(special, _core.MulticlassSets)
        for sets in (special, general):
            sets.set_limits(np.full(len(every), 0.5), np.zeros(len(every)))
        for _ in range(4):
            planes = problem.oracle(random.normal(size=problem.n_features), every, MARGIN)
            which = np.flatnonzero(planes.losses)
            a, b = MARGIN(planes.losses[which])
            assert problem.keep(special, planes, which, a, b) == general.add(
                planes.examples, *planes.rows.moves(), which, a, b
            )
        w = random.normal(size=problem.n_features)
        np.testing.assert_allclose(special.violations(w)[0], general.violations(w)[0], atol=1e-12)
        np.testing.assert_array_equal(special.violations(w)[1], general.violations(w)[1])
        for i in every:
            np.testing.assert_allclose(special.gram(i), general.gram(i), atol=1e-12)
        left, right = np.zeros((2, problem.n_features))
        special.solve(left, 1e-10, 1000, 0)
        general.solve(right, 1e-10, 1000, 0)
        np.testing.assert_allclose(left, right, atol=1e-9)


def test_shared_rows_of_letters_are_the_scores_of_all_pairs():
    random = np.random.default_rng(0)
    letters = "ACDEFGHIKLMNPQRSTVWY"
    pairs = [tuple("".join(random.choice(list(letters), random.integers(1, 40))) for _ in "st") for _ in range(10)]
    for (s, t), (matches, score) in zip(pairs, align(pairs, BLOSUM62, gap=-1.0, first=-9.0), strict=True):
        theta = np.zeros(len(s) * len(t) + 4 * (len(s) + len(t) + 1))
        theta[: len(s) * len(t)] = [BLOSUM62[a, b] for a in s for b in t]
        half = 2 * (len(s) + len(t) + 1)
        gaps = theta[len(s) * len(t) :]
        gaps[: len(s)] = gaps[len(s) + len(t) + 1 : len(s) + 2 * len(t) + 1] = -1.0
        gaps[half : half + len(s)] = gaps[half + len(s) + len(t) + 1 : half + len(s) + 2 * len(t) + 1] = -9.0
        engine = _core.AlignmentEngine(np.array([0, len(s)]), np.array([0, len(t)]), 0)
        given = _core.GivenAlignment(engine, _core.GivenScores(0, np.array([0, len(theta)])))
        (codes, _), scores = given.best(theta, np.zeros(1, np.int64), 1)
        assert scores[0] == score
        assert tuple((i, j) for i, j in enumerate(codes.tolist()) if j >= 0) == matches


@pytest.mark.parametrize(
    "loss", [{"label_weight": {0: 2.0, 1: 1.0, 2: 3.0, 3: 1.0}}, {"loss": LabelF1(negative=0)}, {"loss": LabelF1([1])}]
)
def test_levels_of_chains_are_those_of_derivations(loss):
    random = np.random.default_rng(0)
    Y = [tuple(random.integers(4, size=length).tolist()) for length in (1, 2, 6, 9)]
    X = [random.normal(size=(len(y), 3)) for y in Y]
    special, general = (bound(Chain(classes=range(4), order=order, **loss), X, Y) for order in (1, 2))
    w = random.normal(size=special.n_features)
    for i in range(len(X)):
        found = special.best_per_loss_level(w, i)
        expected = general.best_per_loss_level(np.append(w, np.zeros(4**3)), i)
        assert [labels for _, labels, _ in found] == [labels for _, labels, _ in expected]
        np.testing.assert_allclose(*([score for _, _, score in some] for some in (found, expected)))
