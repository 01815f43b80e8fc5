import re

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.metrics import mutual_info_score

import structlearn
from structlearn import ConditionalRandomField, LatentStructuralSVM, StructuralSVM
from structlearn.evaluation import evaluate
from structlearn.models import MultiLabel
from structlearn.models.multilabel.label_pairs import chosen_pairs, mutual_information
from tests.models.decoders import check_k_best, check_most_violating
from tests.models.enumerated import Twins, bound
from tests.models.instances import weights
from tests.models.multilabel.enumerated_label_sets import EnumeratedMultiLabel


@st.composite
def instances(draw):
    random = np.random.default_rng(draw(st.integers(0, 2**32)))
    n, K = draw(st.integers(1, 3)), draw(st.integers(1, 4))
    X, Y = random.normal(size=(n, 2)), random.integers(2, size=(n, K))
    loss = draw(st.sampled_from(["hamming", "zero_one"]))
    pairs = draw(st.sampled_from(["independent", "tree", "sparse", "full"]))
    model = MultiLabel(pairs=pairs, loss=loss)
    reference = EnumeratedMultiLabel(K, model.specify(X, Y).label_pairs, zero_one=loss == "zero_one")
    twins = Twins(bound(model, X, Y), reference, list(X), [tuple(y) for y in Y.tolist()])
    ties = draw(st.booleans())
    return twins, weights(random, twins, ties=ties)


class Tuples:
    """The problem with outputs as the reference has them."""

    def __init__(self, problem):
        self._problem = problem

    def __getattr__(self, name):
        return getattr(self._problem, name)

    def present(self, outputs):
        return [tuple(y.tolist()) for y in self._problem.present(outputs)]

    def k_best(self, w, k):
        return [[(tuple(y.tolist()), score) for y, score in best] for best in self._problem.k_best(w, k)]


@settings(max_examples=60)
@given(instances(), st.integers(1, 6))
def test_oracles_agree_with_enumeration(instance, k):
    twins, w = instance
    twins = twins._replace(problem=Tuples(twins.problem))
    check_most_violating(twins, w)
    check_k_best(twins, w, k)


def test_mutual_information_is_that_of_scikit_learn():
    table = np.random.default_rng(0).integers(2, size=(50, 4))
    table[:, 3] = table[:, 0]
    found = mutual_information(table)
    for k in range(4):
        for j in range(4):
            assert found[k, j] == pytest.approx(mutual_info_score(table[:, k], table[:, j]), abs=1e-12)


def test_pairs_are_those_that_tell_most_of_each_other():
    random = np.random.default_rng(0)
    first, second = random.integers(2, size=(2, 400))
    table = np.stack([first, second, first ^ (random.uniform(size=400) < 0.1), second], axis=1)
    assert chosen_pairs("sparse", table, 2) == ((0, 2), (1, 3))
    tree = chosen_pairs("tree", table, None)
    assert len(tree) == 3
    assert {(0, 2), (1, 3)} <= set(tree)
    assert chosen_pairs("independent", table, None) == ()
    assert len(chosen_pairs("full", table, None)) == 6
    assert chosen_pairs("full", table[:, :1], None) == ()


def related(seed=0, n=120):
    """Three labels, of which the third is there where exactly one of the others is; no plane tells it from x."""
    random = np.random.default_rng(seed)
    X = random.normal(size=(n, 2))
    first = X > 0.0
    return X, np.column_stack([first, first[:, 0] & ~first[:, 1]]).astype(int)


@pytest.mark.parametrize("loss", ["hamming", "f1", "zero_one"])
def test_pairs_help_and_files_hold_them(loss, tmp_path):
    X, Y = related()
    svm = StructuralSVM(MultiLabel(pairs="full", loss=loss), C=50.0, rescaling="slack" if loss == "f1" else "margin")
    svm.fit(sp.csr_array(X), Y)
    svm.save(tmp_path / "labels.slm")
    again = structlearn.load(tmp_path / "labels.slm")
    np.testing.assert_array_equal(again.predict(X), svm.predict(X))
    assert again.spec_.label_pairs == ((0, 1), (0, 2), (1, 2))
    assert (svm.predict(X) == Y).mean() > 0.9


def test_sets_come_back_as_sets_and_probabilities_as_a_table():
    X, Y = related()
    names = np.array(["right", "up", "corner"])
    sets = [set(names[row == 1].tolist()) for row in Y]
    crf = ConditionalRandomField(MultiLabel(classes=["right", "up", "corner"]), C=100.0).fit(X, sets)
    assert all(isinstance(y, set) for y in crf.predict(X))
    probabilities = crf.predict_marginals(X)
    assert probabilities.shape == (120, 3)
    assert ((probabilities > 0.5) == Y).mean() > 0.9


def test_labels_that_are_not_known():
    X, Y = related()
    known = Y.astype(float)
    known[np.random.default_rng(0).uniform(size=Y.shape) < 0.5] = np.nan
    svm = LatentStructuralSVM(MultiLabel(pairs="full"), C=50.0, random_state=0).fit(X, known)
    assert (svm.predict(X) == Y).mean() > 0.85
    allowed = np.full(Y.shape, np.nan)
    allowed[:, 0] = 1 - Y[:, 0]
    np.testing.assert_array_equal(svm.predict(X, allowed=allowed)[:, 0], 1 - Y[:, 0])


@pytest.mark.parametrize(
    ("X", "Y", "message"),
    [
        (np.zeros((2, 1)), [[0, 1]], "X has 2 rows but Y has 1"),
        (np.zeros((2, 1)), [[0, 2], [0, 1]], "Y[0, 1] is 2; expected 0 or 1"),
        (np.zeros((2, 1)), [[0, np.nan], [0, 1]], "Y[0, 1] is nan; expected 0 or 1"),
        (np.zeros((2, 1)), [0, 1], "Y has 1 dimensions"),
        (np.zeros((2, 1)), [["a"], ["b"]], "lists of labels must be sets"),
        (np.zeros((2, 1)), [["a", "b"], ["b"]], "lists of labels must be sets"),
        (np.zeros((2, 1)), [set(), set()], "Y has no labels"),
        (np.zeros((0, 1)), np.zeros((0, 2)), "Y is empty"),
        (np.full((1, 1), np.inf), [[0, 1]], "X[0, 0] is inf"),
        (np.zeros(3), [[0, 1]], "X has 1 dimensions"),
    ],
)
def test_bad_data_are_refused_by_name(X, Y, message):
    with pytest.raises(ValueError, match=re.escape(message)):
        StructuralSVM(MultiLabel()).fit(X, Y)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"pairs": "some"}, "pairs is 'some'"),
        ({"n_pairs": 3}, "n_pairs belongs to pairs='sparse'"),
        ({"pairs": "sparse", "n_pairs": -1}, "n_pairs"),
        ({"loss": "euclid"}, "loss is 'euclid'"),
    ],
)
def test_bad_options_are_refused_by_name(options, message):
    with pytest.raises(ValueError, match=message):
        StructuralSVM(MultiLabel(**options)).fit(*related())


def test_new_data_of_another_form_are_refused():
    X, Y = related()
    svm = StructuralSVM(MultiLabel()).fit(X, Y)
    with pytest.raises(ValueError, match="X has 3 features but training had 2"):
        svm.predict(np.zeros((1, 3)))
    with pytest.raises(ValueError, match="Y has 2 columns; there are 3 labels"):
        svm.score(X, Y[:, :2])
    assert svm.predict(np.zeros((0, 2))).shape == (0, 3)
    named = StructuralSVM(MultiLabel()).fit(X, [{"a"} if y[0] else {"b"} for y in Y])
    with pytest.raises(ValueError, match="'new', which is not among the 2 classes"):
        named.score(X[:1], [{"a", "new"}])


@pytest.mark.parametrize("form", [sp.csr_array, sp.csc_matrix, sp.coo_array, sp.lil_matrix])
def test_sparse_tables_are_tables(form):
    X, Y = related()
    dense, sparse = (StructuralSVM(MultiLabel()).fit(X, given) for given in (Y, form(Y)))
    np.testing.assert_array_equal(sparse.predict(X), dense.predict(X))
    np.testing.assert_allclose(sparse.w_, dense.w_)
    assert sparse.score(X, form(Y)) == dense.score(X, Y)
    judged = [evaluate(dense, X, given) for given in (Y, form(Y))]
    assert judged[0].to_dict() == judged[1].to_dict()
    with pytest.raises(ValueError, match=re.escape("Y[0, 1] is 2")):
        StructuralSVM(MultiLabel()).fit(X[:1], form([[0, 2, 0]]))


def test_features_may_come_by_name(tmp_path):
    X, Y = related()
    names = ["left", "right"]
    rows = [dict(zip(names, row, strict=True)) for row in X.tolist()]
    columns, named = (StructuralSVM(MultiLabel(), fit_intercept=True).fit(given, Y) for given in (X, rows))
    np.testing.assert_allclose(named.w_, columns.w_)
    assert named.spec_.vocabulary == ("left", "right")
    new = [{"right": 1.0, "unheard": 5.0}, {}]
    np.testing.assert_array_equal(named.predict(new), columns.predict([[0.0, 1.0], [0.0, 0.0]]))
    named.save(tmp_path / "named.slm")
    np.testing.assert_array_equal(structlearn.load(tmp_path / "named.slm").predict(new), named.predict(new))
    with pytest.raises(ValueError, match="X has features in columns but training had them by name"):
        named.predict(X)
    with pytest.raises(ValueError, match="X has features by name but training had them in columns"):
        columns.predict(rows)
    with pytest.raises(ValueError, match=re.escape("X[1]['left'] is nan")):
        named.predict([{}, {"left": np.nan}])
