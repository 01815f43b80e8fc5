"""Alignments in estimators: learning, saving, and what is refused."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.base import clone

import structlearn
from structlearn import ConditionalRandomField, StructuralSVM, StructuredPerceptron
from structlearn.data import from_gapped, to_gapped
from structlearn.data.biosequences.substitution import AMINO_ACIDS, BLOSUM62, log_odds
from structlearn.inference import align, edit_distance
from structlearn.models import Alignment
from tests.models import sums
from tests.models.enumerated import bound


def mutated(random, n=40, length=12):
    """Pairs in which a letter of t is often the next one of s's; some letters are lost or new."""
    X, Y = [], []
    for _ in range(n):
        s = random.integers(5, size=length)
        t, y = [], []
        for i, letter in enumerate(s):
            if random.random() < 0.15:
                continue
            if random.random() < 0.15:
                t.append(random.integers(5))
            y.append((i, len(t)))
            t.append((letter + (random.random() < 0.5)) % 5)
        X.append(("".join("abcde"[k] for k in s), "".join("abcde"[k] for k in t)))
        Y.append(tuple(y))
    return X, Y


@pytest.mark.parametrize("learner", [StructuralSVM, StructuredPerceptron, ConditionalRandomField])
def test_substitutions_are_learnt(learner):
    X, Y = mutated(np.random.default_rng(0))
    X_test, Y_test = mutated(np.random.default_rng(1))
    options = {"solver": "lbfgs"} if learner is ConditionalRandomField else {}
    plain = [y for y, _ in align(X_test, {(a, b): 2.0 * (a == b) - 1 for a in "abcde" for b in "abcde"}, gap=-1)]
    fitted = learner(Alignment("abcde"), **options).fit(X, Y)
    share = np.mean([len(set(y) & set(p)) / len(y) for y, p in zip(Y_test, plain, strict=True)])
    assert fitted.score(X_test, Y_test) > share + 0.1


@pytest.mark.parametrize("loss", ["q", "q_shift", "zero_one"])
@pytest.mark.parametrize("ends", ["global", "semiglobal", "local"])
def test_training_ends_with_a_certificate(loss, ends):
    X, Y = mutated(np.random.default_rng(0), n=15)
    svm = StructuralSVM(Alignment(loss=loss, ends=ends, gaps="affine", shift=1), C=10.0, tol=1e-3).fit(X, Y)
    assert svm.converged_
    assert 0 <= svm.duality_gap_ <= 1e-3


def test_all_solvers_of_a_likelihood_agree():
    X, Y = mutated(np.random.default_rng(0), n=6, length=5)
    sums.check_same_optimum(Alignment("abcde"), X, Y, ["dual_coordinate", "lbfgs", "exponentiated_gradient"])


def test_expected_accuracy_finds_more_matches_than_the_best_alignment():
    X, Y = mutated(np.random.default_rng(0))
    X_test, Y_test = mutated(np.random.default_rng(1), n=100)
    crf = ConditionalRandomField(Alignment("abcde"), solver="lbfgs").fit(X, Y)
    best, expected = (
        np.mean([len(set(y) & set(p)) / len(y) for y, p in zip(Y_test, crf.predict(X_test, posterior=p), strict=True)])
        for p in (False, True)
    )
    assert expected > best
    assert crf.predict_marginals(X_test[:1])[0].shape == tuple(map(len, X_test[0]))


def test_threads_change_nothing():
    X, Y = mutated(np.random.default_rng(0))
    one, two = (ConditionalRandomField(Alignment(), solver="lbfgs", n_jobs=n).fit(X, Y) for n in (1, 2))
    np.testing.assert_array_equal(one.w_, two.w_)
    one, two = (StructuralSVM(Alignment(), n_jobs=n).fit(X, Y) for n in (1, 2))
    np.testing.assert_array_equal(one.w_, two.w_)
    assert one.predict(X) == two.predict(X)


def test_saved_models_come_back(tmp_path):
    X, Y = mutated(np.random.default_rng(0), n=8)
    X = [({"residue": s, "structure": "H" * len(s)}, t) for s, t in X]
    model = Alignment("abcde", ends="local", gaps="affine", features="simple", gap_features="context", loss="q_shift")
    svm = StructuralSVM(model).fit(X, Y)
    svm.save(tmp_path / "alignment.slm")
    loaded = structlearn.load(tmp_path / "alignment.slm")
    assert loaded.spec_ == svm.spec_
    assert loaded.predict(X) == svm.predict(X)
    assert clone(svm.model).get_params() == loaded.model.get_params()


def test_what_is_missing_is_refused_by_name():
    X, Y = mutated(np.random.default_rng(0), n=3)
    long = [("acgt" * 500, "acgt" * 500)], [tuple((i, i) for i in range(2000))]
    with pytest.raises(
        ValueError, match=r"X\[0\] has sequences of 2000 and 2000 letters with 2000 matches, .* 59.7 GB"
    ):
        StructuralSVM(Alignment("acgt"), rescaling="slack").fit(*long)
    with pytest.raises(ValueError, match="needs a loss that is a sum over parts"):
        StructuralSVM(Alignment(ends="local"), solver="exponentiated_gradient").fit(X, Y)


@pytest.mark.parametrize(
    ("y", "message"),
    [
        ("ab", r"Y\[0\] is 'ab'; expected matches \(i, j\)"),
        ([1], r"Y\[0\]\[0\] is 1; expected two places"),
        ([(0, 0.5)], r"Y\[0\]\[0\] is \(0, 0.5\); expected two places"),
        ([(0, 2)], r"Y\[0\]\[0\] is \(0, 2\), but X\[0\] has sequences of 3 and 2 letters"),
        ([(0, 0), (0, 1)], r"Y\[0\]\[1\] is \(0, 1\), which does not come after \(0, 0\) in both sequences"),
        ([(0, 1), (1, 0)], r"Y\[0\]\[1\] is \(1, 0\), which does not come after \(0, 1\) in both sequences"),
    ],
)
def test_alignments_that_do_not_fit_their_sequences_are_refused_by_name(y, message):
    with pytest.raises(ValueError, match=message):
        bound(Alignment(), [("abc", "ab")], [y])
    with pytest.raises(ValueError, match=r"X has 1 pairs of sequences but Y has 2 alignments"):
        bound(Alignment(), [("abc", "ab")], [(), ()])


def test_impossible_options_are_refused():
    X, Y = [("a", "a")], [((0, 0),)]
    for option, value in {"ends": "both", "gaps": "log", "features": "blosum", "loss": "f2", "reading": "x"}.items():
        with pytest.raises(ValueError, match=f"{option} is '{value}'; it may be"):
            bound(Alignment(**{option: value}), X, Y)
    with pytest.raises(ValueError, match="shift is -1"):
        bound(Alignment(shift=-1), X, Y)
    for alphabet in ("aa", ""):
        with pytest.raises(ValueError, match="alphabet is"):
            bound(Alignment(alphabet), X, Y)


def distance(s, t):
    row = list(range(len(t) + 1))
    for i, a in enumerate(s, 1):
        last, row[0] = row[0], i
        for j, b in enumerate(t, 1):
            last, row[j] = row[j], min(row[j] + 1, row[j - 1] + 1, last + (a != b))
    return row[-1]


@given(st.text("abc", max_size=8), st.text("abc", max_size=8))
def test_edit_distances_are_levenshtein_s(s, t):
    assert edit_distance(s, t) == distance(s, t)


@given(st.lists(st.sampled_from(["m", "s", "t"]), min_size=1), st.integers(0, 2**32))
def test_rows_and_matches_say_the_same(states, seed):
    letters = np.random.default_rng(seed).choice(list("abc"), len(states))
    first = "".join("-" if state == "t" else letter for state, letter in zip(states, letters, strict=True))
    second = "".join("-" if state == "s" else letter for state, letter in zip(states, letters, strict=True))
    s, t = first.replace("-", ""), second.replace("-", "")
    matches = from_gapped(first, second)
    assert len(matches) == states.count("m")
    rows = to_gapped(s, t, matches)
    assert from_gapped(*rows) == matches
    assert [row.replace("-", "") for row in rows] == [s, t]


@pytest.mark.parametrize("ends", ["global", "local"])
def test_scores_are_those_of_biopython(ends):
    Align = pytest.importorskip("Bio.Align")
    random = np.random.default_rng(0)
    X = [tuple("".join(random.choice(list(AMINO_ACIDS[:20]), n)) for n in random.integers(1, 60, 2)) for _ in range(40)]
    for first, gap in ((0.0, -4.0), (-10.0, -1.0)):
        theirs = Align.PairwiseAligner(
            mode=ends,
            substitution_matrix=Align.substitution_matrices.load("BLOSUM62"),
            open_gap_score=first + gap,
            extend_gap_score=gap,
        )
        ours = align(X, BLOSUM62, gap, first, ends=ends)
        assert [score for _, score in ours] == pytest.approx([theirs.score(*x) for x in X])


def test_blosum62_is_symmetric_and_log_odds_favour_what_is_matched():
    assert all(BLOSUM62[a, b] == BLOSUM62[b, a] for a in AMINO_ACIDS for b in AMINO_ACIDS)
    assert (BLOSUM62["W", "W"], BLOSUM62["I", "V"], BLOSUM62["G", "L"]) == (11, 3, -4)
    X, Y = mutated(np.random.default_rng(0))
    matrix = log_odds(X, Y, "abcde")
    assert min(matrix["a", "a"], matrix["a", "b"]) > 0 > max(matrix["a", "c"], matrix["a", "e"])
