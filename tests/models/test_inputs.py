import numpy as np
import pytest
import scipy.sparse as sp

from structlearn.data import Sequences
from structlearn.models import Chain
from tests.models.enumerated import bound

DENSE = [np.array([[1.0, 0.0], [0.0, 2.0]]), np.array([[3.0, 4.0]]), np.array([[0.0, 0.0], [5.0, 6.0], [0.0, 7.0]])]
LABELS = [["a", "b"], ["b"], ["a", "a", "b"]]


def dicts(sequences):
    return [[{name: v for name, v in zip("fg", token, strict=True) if v} for token in x] for x in sequences]


class Frame:
    """The part of a data frame that is used: it cannot be indexed by row number."""

    def __init__(self, values):
        self.values = values
        self.shape = values.shape

    def __len__(self):
        return len(self.values)

    def __getitem__(self, column):
        raise KeyError(column)

    def to_numpy(self):
        return self.values


FORMS = {
    "arrays": DENSE,
    "integers": [x.astype(int) for x in DENSE],
    "lists": [x.tolist() for x in DENSE],
    "sparse": [sp.csr_array(x) for x in DENSE],
    "sparse and dense": [sp.csc_matrix(DENSE[0]), *DENSE[1:]],
    "dicts": dicts(DENSE),
    "dicts with zeros": [[dict(zip("fg", token, strict=True)) for token in x.tolist()] for x in DENSE],
    "frames": [Frame(x) for x in DENSE],
    "stacked": Sequences(np.concatenate(DENSE), [2, 1, 3]),
    "stacked sparse": Sequences(sp.coo_array(np.concatenate(DENSE)), [2, 1, 3]),
}


@pytest.mark.parametrize("form", FORMS)
def test_all_forms_of_the_same_sequences_give_the_same_problem(form):
    expected = bound(Chain(), DENSE, LABELS)
    problem = bound(Chain(), FORMS[form], LABELS)
    assert problem.n_features == expected.n_features
    assert problem.fingerprint() == expected.fingerprint()


def test_labels_come_as_lists_tuples_or_arrays():
    expected = bound(Chain(), DENSE, LABELS).fingerprint()
    assert bound(Chain(), DENSE, [tuple(y) for y in LABELS]).fingerprint() == expected
    assert bound(Chain(), DENSE, [np.array(y) for y in LABELS]).fingerprint() == expected


def test_dict_features_hold_numbers_flags_and_strings():
    X = [[{"word": "dog", "capital": True, "length": 3}, {"word": "runs", "capital": False}]]
    spec = Chain().specify(X, [["N", "V"]])
    assert spec.vocabulary == ("capital", "length", "word=dog", "word=runs")
    w = np.zeros(24)
    w[:8] = np.arange(8.0)
    scores = Chain(boundaries=False).bind(spec, X).k_best(w[:12], 4)
    assert max(score for _, score in scores[0]) == (1 + 3 * 3 + 5) + 7


def test_a_name_that_is_listed_twice_counts_twice():
    once = bound(Chain(classes=["a", "b"]), [[{"f": 2.0}]], [["a"]])
    twice = bound(Chain(classes=["a", "b"]), [[["f", "f"]]], [["a"]])
    assert twice.fingerprint() == once.fingerprint()
    assert twice.radii()[0] == once.radii()[0]


def test_unknown_feature_names_are_left_out_at_prediction():
    model = Chain(boundaries=False)
    spec = model.specify([[{"f": 1.0}]], [["a"]])
    assert model.bind(spec, [[{"f": 1.0, "new": 9.0}]]).k_best(np.array([2.0, 0.0]), 1) == [[(["a"], 2.0)]]


def test_declared_classes_win_over_observed_ones():
    spec = Chain(classes=["c", "b", "a"]).specify(DENSE, LABELS)
    assert spec.classes == ("c", "b", "a")


def test_labels_that_cannot_be_compared_keep_their_order():
    assert Chain().specify([np.eye(3)], [["x", 1, (2,)]]).classes == ("x", 1, (2,))


def test_one_column_more_that_is_empty_is_another_problem():
    wide = [np.hstack([x, np.zeros((len(x), 1))]) for x in DENSE]
    assert bound(Chain(), wide, LABELS).fingerprint() != bound(Chain(), DENSE, LABELS).fingerprint()


def with_value(value):
    X = [x.copy() for x in DENSE]
    X[2][1, 0] = value
    return X


@pytest.mark.parametrize(
    ("X", "message"),
    [
        (with_value(np.nan), r"X\[2\]\[1, 0\] is nan"),
        (with_value(np.inf), r"X\[2\]\[1, 0\] is inf"),
        ([sp.csr_array(x) for x in with_value(-np.inf)], r"X\[2\]\[1, 0\] is -inf"),
        (dicts(with_value(np.nan)), r"X\[2\]\[1\]\['f'\] is nan"),
        ([DENSE[0], np.array([[np.inf, -np.inf]]), DENSE[2]], r"X\[1\]\[0, 0\] is inf"),
        ([], "X is empty"),
        (None, "X must be a list of sequences, not NoneType"),
        ("text", "X must be a list of sequences, not str"),
        ([DENSE[0], np.empty((0, 2)), DENSE[2]], r"X\[1\] is an empty sequence"),
        ([[{"f": 1.0}, {}], [], [{}]], r"X\[1\] is an empty sequence"),
        ([DENSE[0], DENSE[1][:, :1], DENSE[2]], r"X\[1\] has 1 features a token but X\[0\] has 2"),
        ([DENSE[0], DENSE[1][0], DENSE[2]], r"X\[1\] has 1 dimensions"),
        ([1, 2, 3], r"X\[0\] has 0 dimensions"),
        ([[["f"], 3.0], [["f"]], [["f"], ["f"], ["f"]]], r"X\[0\]\[1\] is 3.0; expected a dict"),
        ([[{"f": [1]}], [{}], [{}]], r"X\[0\]\[0\]\['f'\] is \[1\]"),
        ([np.array([["u", "v"]]), DENSE[1], DENSE[2]], r"X\[0\] holds <U1 values"),
        (DENSE[:2], "X has 2 sequences but Y has 3"),
        ([DENSE[0], DENSE[0], DENSE[2]], r"Y\[1\] has 1 labels but X\[1\] has 2 rows"),
    ],
)
def test_bad_sequences_are_refused_by_place_and_value(X, message):
    with pytest.raises(ValueError, match=message):
        bound(Chain(), X, LABELS)


def test_stacked_sequences_are_finite_from_the_start():
    with pytest.raises(ValueError, match=r"X\[2\]\[1, 0\] is nan"):
        Sequences(np.concatenate(with_value(np.nan)), [2, 1, 3])


@pytest.mark.parametrize(
    ("Y", "message"),
    [
        ([], "Y is empty"),
        ([["a", "b"], [[]], ["a", "a", "b"]], r"Y\[1\]\[0\] is \[\]; a label must be hashable"),
        ([["a", "b"], ["b"], ["a", np.nan, "b"]], r"Y\[2\]\[1\] is nan; a label must be equal to itself"),
        (None, "Y is empty"),
        (["ab", "b", "aab"], r"Y\[0\] is 'ab'; expected a sequence of labels"),
        ([1, 2, 3], r"Y\[0\] is 1; expected a sequence of labels"),
    ],
)
def test_bad_labels_are_refused_by_place_and_value(Y, message):
    with pytest.raises(ValueError, match=message):
        bound(Chain(), DENSE, Y)


def test_a_label_that_was_not_declared_is_named_with_its_place():
    with pytest.raises(ValueError, match=r"Y\[2\]\[1\] is 'z', which is not among the 2 classes \('a', 'b'\)"):
        bound(Chain(classes=["a", "b"]), DENSE, [*LABELS[:2], ["a", "z", "b"]])


def test_unknown_labels_count_as_always_wrong_where_they_are_allowed():
    model = Chain()
    problem = model.bind(model.specify(DENSE, LABELS), DENSE[:1], [["z", "b"]], allow_unknown=True)
    np.testing.assert_array_equal(problem.losses([[0, 1]]), [1.0])
    np.testing.assert_array_equal(problem.max_losses(), [2.0])


def test_other_features_than_in_training_are_refused():
    model = Chain()
    spec = model.specify(DENSE, LABELS)
    with pytest.raises(ValueError, match=r"X\[0\] has 3 features a token but training had 2"):
        model.bind(spec, [np.ones((1, 3))])
    with pytest.raises(ValueError, match="X has 3 features a token but training had 2"):
        model.bind(spec, Sequences(np.ones((1, 3)), [1]))


def test_large_finite_values_are_no_reason_to_complain():
    X = [np.array([[1e308, 1e308], [1e308, 1e308]])]
    assert bound(Chain(classes=["a", "b"]), X, [["a", "b"]]).n_examples == 1


@pytest.mark.parametrize(
    ("tokens", "lengths", "message"),
    [
        (np.eye(3), [1, 1], "lengths add up to 2 but there are 3 tokens"),
        (np.eye(3), [4, -1], "non-negative"),
        (np.ones(3), [1, 2], "tokens has 1 dimensions"),
    ],
)
def test_lengths_must_fit_the_stacked_tokens(tokens, lengths, message):
    with pytest.raises(ValueError, match=message):
        Sequences(tokens, lengths)


def test_stacked_sequences_are_indexed_like_a_list():
    stacked = Sequences(np.concatenate(DENSE), [2, 1, 3])
    np.testing.assert_array_equal(stacked[-1], DENSE[2])
    for which in ([2, 0], np.array([True, False, True]), slice(None, None, 2)):
        chosen = stacked[which]
        expected = [DENSE[i] for i in np.arange(3)[which]]
        for left, right in zip(chosen, expected, strict=True):
            np.testing.assert_array_equal(left, right)
    assert len(stacked[:0]) == 0


def test_plain_words_are_pointed_to_text_features():
    message = r"X\[0\]\[0\] is 'the'; .* structlearn.features.TextFeatures"
    with pytest.raises(ValueError, match=message):
        Chain().specify([["the", "dog"]], [["DET", "NOUN"]])
    spec = Chain().specify([[{"word": "the"}]], [["DET"]])
    with pytest.raises(ValueError, match=message):
        Chain().bind(spec, [["the", "dog"]])
