"""Candidates and neighbours of outputs that only a kernel knows, beside an exhaustive search."""

from itertools import product

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.exceptions import NotFittedError

import structlearn
from structlearn import StructuralSVM, VectorValuedRidge
from structlearn.kernels import RBF, FunctionKernel, Spectrum
from structlearn.models import Chain, Multiclass
from structlearn.outputs import KernelOutputs, Substitutions

RANDOM = np.random.default_rng(0)
ALL = ["".join(letters) for letters in product("ab", repeat=6)]
WORDS = [ALL[i] for i in RANDOM.choice(len(ALL), 12, replace=False)]
X, NEW = RANDOM.normal(size=(12, 2)), RANDOM.normal(size=(25, 2))


def exhaustive(ridge, rows):
    """Distances to the vectors of all words, from b(x)ᵀHb(x) − 2b(x)ᵀk(y) + K(y, y), and the nearest word."""
    kernel, trained = ridge.outputs_.kernel, ridge.outputs_.outputs_
    b = ridge.decision_function(rows) * ridge.outputs_.roots_
    far = kernel.diagonal(ALL) - 2 * b @ kernel(trained, ALL) + ((b @ kernel(trained)) * b).sum(axis=1)[:, None]
    return far


def fitted(**options):
    return VectorValuedRidge(KernelOutputs(Spectrum(2), **options), RBF(0.5), lam=0.05).fit(X, WORDS)


def test_all_words_as_candidates_are_an_exhaustive_search():
    ridge = fitted(candidates=ALL)
    far = exhaustive(ridge, NEW)
    found = [ALL.index(y) for y in ridge.predict(NEW)]
    np.testing.assert_allclose(far[np.arange(25), found], far.min(axis=1))
    assert not ridge.preimages(NEW).exact.any()


def test_candidates_of_each_input_are_the_best_of_what_the_function_lists():
    def listed(x):
        return [y for y in ALL if y.startswith("b" if x[0] > 0 else "a")]

    ridge = fitted(candidates=listed)
    far = exhaustive(ridge, NEW)
    for x, y, row in zip(NEW, ridge.predict(NEW), far, strict=True):
        some = [ALL.index(z) for z in listed(x)]
        assert y[0] == ("b" if x[0] > 0 else "a")
        assert row[ALL.index(y)] == pytest.approx(row[some].min())
    assert 0.0 <= ridge.score(X, WORDS) <= 1.0


def test_hill_climbing_ends_where_no_neighbour_is_nearer():
    search = Substitutions("ab")
    ridge, plain = fitted(search=search), fitted()
    far = exhaustive(ridge, NEW)
    climbed = [ALL.index(y) for y in ridge.predict(NEW)]
    begun = [ALL.index(y) for y in plain.predict(NEW)]
    for row, here, start in zip(far, climbed, begun, strict=True):
        assert row[here] <= row[start] + 1e-9
        assert row[here] <= min(row[ALL.index(y)] for y in search(ALL[here])) + 1e-9
    best, reached = far.argmin(axis=1), far[np.arange(25), climbed]
    assert (far[np.arange(25), begun] > reached + 1e-9).any()
    assert (reached <= far[np.arange(25), best] + 1e-9).mean() > 0.5
    assert all(len(search(y)) == 6 for y in ALL)
    assert fitted(search=lambda y: []).predict(NEW) == plain.predict(NEW)


def sums(left, right):
    return np.array([[x.sum(axis=0) @ z.sum(axis=0) for z in right] for x in left])


SENTENCES = [RANDOM.normal(size=(n, 3)) for n in (2, 3, 4, 3, 2)]
TAGS = [["ab"[int(row[0] > 0)] for row in x] for x in SENTENCES]


def test_the_k_best_outputs_of_another_model_are_ranked_again():
    svm = StructuralSVM(Chain(), C=10).fit(SENTENCES, TAGS)
    outputs = KernelOutputs(Spectrum(2), svm, n_candidates=3)
    ridge = VectorValuedRidge(outputs, FunctionKernel(sums, rows=False), lam=0.1).fit(SENTENCES, TAGS)
    kernel, values = Spectrum(2), ridge.decision_function(SENTENCES) * ridge.outputs_.roots_
    for found, vector, best in zip(ridge.predict(SENTENCES), values, svm.k_best(SENTENCES, 3), strict=True):
        listed = [y for y, _ in best]
        scores = 2 * vector @ kernel(ridge.outputs_.outputs_, listed) - kernel.diagonal(listed)
        assert found == listed[int(scores.argmax())]
    assert clone(ridge).outputs.candidates is svm
    one = VectorValuedRidge(KernelOutputs(Spectrum(2), svm, n_candidates=1), ridge.kernel, lam=0.1)
    assert one.fit(SENTENCES, TAGS).predict(SENTENCES) == svm.predict(SENTENCES)


def test_a_search_comes_back_from_files(tmp_path):
    ridge = fitted(search=Substitutions("ab"), candidates=ALL[:5])
    ridge.save(tmp_path / "ridge.slm")
    assert structlearn.load(tmp_path / "ridge.slm").predict(NEW) == ridge.predict(NEW)


def test_substitutions_keep_the_kind_of_sequence():
    assert Substitutions("ab")(("a", "b")) == [("b", "b"), ("a", "a")]
    assert Substitutions([0, 1, 2])([]) == []


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"candidates": 3}, "candidates is 3; a list or an array is needed"),
        ({"candidates": Chain}, "give a fitted model that has k_best, a function, or a list"),
        ({"candidates": VectorValuedRidge()}, "give a fitted model that has k_best, a function, or a list"),
        ({"candidates": lambda x: []}, r"candidates gave no outputs for X\[0\]"),
        ({"candidates": lambda x: "ab"}, r"candidates gave 'ab' for X\[0\]; expected a list"),
        ({"candidates": lambda x: None}, r"candidates gave None for X\[0\]"),
        ({"n_candidates": 0}, "n_candidates is 0"),
        ({"search": "ab"}, "search is 'ab'; expected a function that lists neighbours"),
        ({"search": Substitutions}, "expected a function that lists neighbours"),
        ({"search": Substitutions("")}, "symbols is empty"),
    ],
)
def test_what_gives_no_candidates_is_refused(options, message):
    with pytest.raises(ValueError, match=message):
        fitted(**options).predict(NEW)


def test_a_model_that_is_not_fitted_gives_no_candidates():
    with pytest.raises(NotFittedError):
        fitted(candidates=StructuralSVM(Multiclass()))


def test_a_kernel_that_sees_no_positions_is_not_for_tagging():
    message = r"X\[0\] has several rows, but KernelOutputs has one vector an example and does not see positions: .*"
    for inputs in (SENTENCES, [x.tolist() for x in SENTENCES], [[{"a": 1.0}] * len(x) for x in SENTENCES]):
        with pytest.raises(ValueError, match=message + "LabelSequenceOutputs"):
            VectorValuedRidge(KernelOutputs(Spectrum(1)), "rbf").fit(inputs, TAGS)


def test_outputs_that_are_all_the_same_are_refused():
    with pytest.raises(ValueError, match=r"all outputs of y are the same to Spectrum\(n=1\), as 'ab'; two are needed"):
        KernelOutputs(Spectrum(1)).fit(["ab", "ba", "ab"])


def test_landmarks_of_a_function_that_is_no_kernel_are_refused():
    unlike = FunctionKernel(lambda Y, Z: [[float(y != z) for z in Z] for y in Y], rows=False)
    with pytest.raises(ValueError, match="the kernel matrix of 3 examples of y is not positive semidefinite"):
        KernelOutputs(unlike, n_landmarks=2).fit(["a", "b", "c"])
