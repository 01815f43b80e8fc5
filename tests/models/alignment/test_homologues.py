import numpy as np
import pytest
from sklearn.base import clone

import structlearn
from structlearn import StructuralSVM
from structlearn.datasets import make_homologues
from structlearn.models import Alignment, Homologues
from structlearn.waist import Scaling
from tests.models.alignment.enumerated_alignment import EnumeratedAlignment, alignments, plain_features
from tests.models.enumerated import bound

SCALINGS = [
    Scaling(None, "squared"),
    Scaling("margin", "linear"),
    Scaling("slack", "squared"),
    Scaling("margin", "squared"),
]


def word(random, size):
    return "".join(random.choice(list("abc"), size))


def instance(random, n=5):
    X, Y = [], []
    for _ in range(n):
        native = word(random, random.integers(1, 5))
        candidates = [word(random, random.integers(1, 5)) for _ in range(random.integers(1, 4))]
        place = int(random.integers(len(candidates)))
        every = list(alignments(len(native), len(candidates[place])))
        X.append((native, candidates))
        Y.append((place, every[random.integers(len(every))]))
    return X, Y


@pytest.mark.parametrize("ends", ["local", "global"])
@pytest.mark.parametrize("seed", range(8))
def test_oracles_agree_with_enumeration(ends, seed):
    random = np.random.default_rng(seed)
    X, Y = instance(random)
    n_features, match, gap = plain_features("abc", "affine")
    aligner = EnumeratedAlignment(n_features, match, gap, ends=ends)
    problem = bound(Homologues(Alignment("abc", ends=ends, gaps="affine")), X, Y)
    w = random.normal(size=n_features)
    predicted = problem.present(problem.predict(w))
    violations = {s: problem.oracle(w, np.arange(len(X)), s).violations(len(X)) for s in SCALINGS}
    for i, ((native, candidates), (place, matches)) in enumerate(zip(X, Y, strict=True)):
        scores = [
            max(aligner.joint_feature((native, z), y) @ w for y in aligner.outputs((native, z))) for z in candidates
        ]
        truth = aligner.joint_feature((native, candidates[place]), matches) @ w
        assert scores[predicted[i]] == pytest.approx(max(scores))
        decoys = [1.0 - truth + score for k, score in enumerate(scores) if k != place]
        for scaling in SCALINGS:
            expected = max(decoys, default=-np.inf) if scaling.rescaling is None else max([0.0, *decoys])
            assert violations[scaling][i] == pytest.approx(expected)


def test_rows_are_differences_of_features():
    random = np.random.default_rng(0)
    X, Y = instance(random)
    n_features, match, gap = plain_features("abc", "linear")
    aligner = EnumeratedAlignment(n_features, match, gap, ends="local")
    problem = bound(Homologues(Alignment("abc", ends="local")), X, Y)
    w = random.normal(size=n_features)
    examples = np.arange(len(X))
    outputs = problem.best(w, examples)
    rows, losses = problem.differences(examples, outputs)
    for k, (i, output) in enumerate(zip(examples, outputs, strict=True)):
        native, candidates = X[i]
        place, matches = Y[i]
        found = tuple((a, int(b)) for a, b in enumerate(output[1:]) if b >= 0)
        expected = aligner.joint_feature((native, candidates[place]), matches)
        expected = expected - aligner.joint_feature((native, candidates[output[0]]), found)
        row = np.zeros(n_features)
        rows.take(np.array([k])).add_to(row, np.ones(1))
        np.testing.assert_allclose(row, expected)
        assert losses[k] == (output[0] != place)
        assert np.linalg.norm(row) <= problem.radii()[i]


def test_homologues_are_learnt_and_models_saved(tmp_path):
    train, test = make_homologues(10, random_state=0), make_homologues(100, random_state=1)
    model = Homologues(Alignment(tuple(range(1, 21)), ends="local"))
    svm = StructuralSVM(model, rescaling=None, slack="squared", C=1.0).fit(train.X, train.Y)
    assert svm.converged_
    assert svm.score(train.X, train.Y) == 1.0
    assert svm.score(test.X, test.Y) > 0.85
    assert svm.score(test.X, [place for place, _ in test.Y]) == svm.score(test.X, test.Y)
    svm.save(tmp_path / "homologues.slm")
    loaded = structlearn.load(tmp_path / "homologues.slm")
    assert loaded.predict(test.X) == svm.predict(test.X)
    assert clone(svm).get_params()["model__alignment__ends"] == "local"


def test_an_example_without_decoys_has_no_constraint():
    svm = StructuralSVM(Homologues(), rescaling=None).fit([("ab", ["ab"])], [(0, ((0, 0),))])
    assert svm.objective_ == 0.0


@pytest.mark.parametrize(
    ("x", "y", "message"),
    [
        ("ab", (0, ()), r"X\[0\] is no pair \(native, candidates\)"),
        (("ab", "ab"), (0, ()), r"X\[0\]\[1\] is 'ab'; expected a list"),
        (("ab", []), (0, ()), r"X\[0\]\[1\] is \[\]; expected a list of at least one candidate"),
        (("ab", ["a"]), 0, r"Y\[0\] is 0; expected \(place of the homologue, matches\)"),
        (("ab", ["a"]), (1, ()), r"Y\[0\] says candidate 1, but there are 1"),
        (
            ("ab", ["a"]),
            (0, ((0, 1),)),
            r"Y\[0\]\[1\]\[0\] is \(0, 1\), but the pair of Y\[0\] has sequences of 2 and 1",
        ),
    ],
)
def test_bad_examples_are_refused_by_name(x, y, message):
    with pytest.raises(ValueError, match=message):
        bound(Homologues(), [x], [y])
