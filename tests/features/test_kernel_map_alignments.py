"""Kernels of the profiles of aligned letters, against explicit features, and what is refused of them."""

import numpy as np
import pytest
from sklearn.pipeline import make_pipeline

import structlearn
from structlearn import ConditionalRandomField, StructuralSVM
from structlearn.features import KernelMap
from structlearn.kernels import RBF, Linear, Polynomial, median_gamma
from structlearn.models import Alignment

MODEL = Alignment("AC", features="products", gaps="affine")


def sequence(random, length):
    return {"residue": "".join(random.choice(["A", "C"], length)), "profile": random.normal(size=(length, 2))}


def pairs(n, seed=0):
    """Letters match where their profiles are about the same; some of the second sequence are left out."""
    random = np.random.default_rng(seed)
    X, Y = [], []
    for _ in range(n):
        s = sequence(random, random.integers(4, 8))
        kept = np.flatnonzero(random.random(len(s["residue"])) < 0.8)
        kept = kept if len(kept) else np.array([0])
        t = sequence(random, len(kept)) | {"profile": s["profile"][kept] + 0.1 * random.normal(size=(len(kept), 2))}
        X.append((s, t))
        Y.append(tuple((int(i), j) for j, i in enumerate(kept)))
    return X, Y


X, Y = pairs(12)


def mapped(function, X):
    return [tuple(side | {"profile": function(side["profile"])} for side in x) for x in X]


def squares(rows):
    """φ with ⟨φ(x), φ(z)⟩ = (⟨x, z⟩ + 1)² of two columns."""
    a, b = rows.T
    return np.column_stack([np.ones(len(rows)), 2**0.5 * a, 2**0.5 * b, a * a, b * b, 2**0.5 * a * b])


@pytest.mark.parametrize(("kernel", "explicit"), [(Linear(), np.copy), (Polynomial(2), squares)], ids=["1", "2"])
@pytest.mark.parametrize("learner", [StructuralSVM, ConditionalRandomField])
def test_learners_are_those_with_the_explicit_features_of_the_kernel(learner, kernel, explicit):
    options = {"C": 5.0, "tol": 1e-9, "max_iter": 5000}
    plain = learner(MODEL, **options).fit(mapped(explicit, X), Y)
    kernelised = make_pipeline(KernelMap(kernel, None), learner(MODEL, **options)).fit(X, Y)
    assert kernelised[-1].objective_ == pytest.approx(plain.objective_, rel=1e-6)
    assert plain.w_.any()
    new = pairs(6, seed=1)[0]
    for (found, score), (expected, other) in zip(
        kernelised[-1].k_best(kernelised[:-1].transform(new), 1)[0],
        plain.k_best(mapped(explicit, new), 1)[0],
        strict=True,
    ):
        assert found == expected
        assert score == pytest.approx(other, abs=1e-3)


def test_products_of_coordinates_are_the_kernel_of_both_letters_together():
    kernel = RBF(0.3)
    (one, two), (three, four) = KernelMap(kernel, None).fit(X).transform(X[:2])
    found = np.prod([s["profile"][:2] @ t["profile"][:2].T for s, t in ((one, three), (two, four))], axis=0)
    together = [np.hstack([s["profile"][:2], t["profile"][:2]]) for s, t in X[:2]]
    np.testing.assert_allclose(found, kernel(*together), atol=1e-6)
    assert one["residue"] == X[0][0]["residue"]


def test_a_gaussian_kernel_aligns_by_nearness_as_products_of_numbers_cannot():
    (train, truth), (test, true) = pairs(40), pairs(20, seed=1)
    train, test = (mapped(lambda rows: rows[:, :1], X) for X in (train, test))
    linear = StructuralSVM(MODEL, C=40).fit(train, truth)
    gaussian = make_pipeline(KernelMap(RBF(4.0), 12, "cholesky"), StructuralSVM(MODEL, C=40)).fit(train, truth)
    assert gaussian.score(test, true) > linear.score(test, true) + 0.04


def test_fitted_pipelines_come_back_from_files(tmp_path):
    pipeline = make_pipeline(KernelMap("rbf", 5, random_state=0), StructuralSVM(MODEL)).fit(X, Y)
    assert pipeline[0].kernel_.gamma == median_gamma(X)
    structlearn.save(pipeline, tmp_path / "svm.slm")
    loaded = structlearn.load(tmp_path / "svm.slm")
    assert loaded.predict(X) == pipeline.predict(X)


WIDE, BROKEN = ({"residue": "AC", "profile": rows} for rows in (np.ones((2, 3)), [[0.0, 1.0], [np.nan, 1.0]]))


@pytest.mark.parametrize(
    ("pair", "fitting", "message"),
    [
        ((X[0][0], WIDE), True, r"X\[1\]\[1\] has a profile of 3 columns but X\[0\]\[0\] had 2"),
        ((X[0][0], WIDE), False, r"X\[1\]\[1\] has a profile of 3 columns but training had 2"),
        ((BROKEN, X[0][1]), True, r"X\[1\]\[0\]\['profile'\]\[1, 0\] is nan"),
        ((BROKEN, X[0][1]), False, r"X\[1\]\[0\]\['profile'\]\[1, 0\] is nan"),
        ((X[0][0], "AC"), True, r"X\[1\]\[1\] has no 'profile', whose rows have the kernel"),
        (("AC", {"residue": "AC"}), False, r"X\[1\]\[0\] has no 'profile', whose rows have the kernel"),
        ((X[0][0], X[0][1], X[0][1]), True, r"X\[1\] is no pair of sequences"),
        ((X[0][0], WIDE | {"profile": np.ones((3, 2))}), True, r"X\[1\]\[1\] has 3 values of 'profile' but 2 letters"),
    ],
)
def test_profiles_without_a_kernel_are_refused_by_name(pair, fitting, message):
    fitted = KernelMap(n_components=3).fit(X)
    with pytest.raises(ValueError, match=message):
        (fitted.fit if fitting else fitted.transform)([X[0], pair])


def test_a_learner_refuses_numbers_that_are_none_as_well():
    with pytest.raises(ValueError, match=r"X\[0\]\[0\]\['profile'\]\[1, 0\] is nan"):
        StructuralSVM(MODEL).fit([(BROKEN, BROKEN)], [((0, 0),)])
