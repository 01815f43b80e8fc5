"""Named attributes as the compiled reader finds them, against a reading in plain Python."""

import pickle
import sys
from collections import Counter, OrderedDict, UserDict
from types import MappingProxyType

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from structlearn import StructuralSVM
from structlearn.data.tokens.sequences import NamedColumns, read_sequences, stack
from structlearn.models import Chain


def wrapped(value):
    """A dict as another kind of mapping, which the compiled reader does not know."""
    return UserDict(value) if isinstance(value, dict) else value


# "aa" and chr(0x6161) consist of the same bytes, and so have the same hash.
names = st.one_of(st.sampled_from(["a", "b", "a=b", "1", "", "aa", chr(0x6161)]), st.text("ab=é中😀\0", max_size=5))
eighths = st.integers(-40, 40).map(lambda k: k / 8)
numbers = st.one_of(
    eighths, st.booleans(), st.integers(-(2**40), 2**40), eighths.map(np.float32), eighths.map(np.float64)
)
lists = st.lists(st.one_of(names, names.map(np.str_)), max_size=6)
keys = st.one_of(names, names.map(np.str_), st.integers(0, 2))
nested = st.recursive(
    st.one_of(lists, lists.map(tuple), lists.map(set), lists.map(frozenset)),
    lambda inner: st.dictionaries(keys, st.one_of(numbers, names, inner), max_size=3),
    max_leaves=5,
)
dicts = st.dictionaries(
    keys,
    st.one_of(numbers, names, names.map(np.str_), st.just(np.True_), st.just(np.int8(3)), nested, nested.map(wrapped)),
    max_size=5,
)
tokens = st.one_of(
    dicts,
    st.dictionaries(names, numbers, max_size=5),
    dicts.map(OrderedDict),
    dicts.map(UserDict),
    dicts.map(MappingProxyType),
    lists.map(Counter),
    lists,
    lists.map(tuple),
    lists.map(frozenset),
    lists.map(lambda token: dict.fromkeys(token).keys()),
)
sequences = st.lists(st.lists(tokens, min_size=1, max_size=4).map(lambda x: [{"first": 1}, *x]), min_size=1, max_size=4)


def attributes(token):
    if not hasattr(token, "items"):
        return [(name, 1.0) for name in token]
    found = []
    for name, value in token.items():
        if isinstance(value, str):
            found.append((f"{name}={value}", 1.0))
        elif hasattr(value, "__iter__"):
            found += [(f"{name}={inner}", number) for inner, number in attributes(value)]
        else:
            found.append((str(name), float(value)))
    return found


def expected_rows(X, vocabulary):
    rows = np.zeros((sum(len(x) for x in X), len(vocabulary)))
    column = {name: k for k, name in enumerate(vocabulary)}
    for row, token in zip(rows, (token for x in X for token in x), strict=True):
        for name, value in attributes(token):
            if name in column:
                row[column[name]] += value
    return rows


def read(X, vocabulary):
    return stack(X, NamedColumns(vocabulary), None)[0]


@settings(max_examples=300)
@given(sequences)
def test_the_vocabulary_is_all_names_in_order(X):
    assert read_sequences(X).names == tuple(sorted({name for x in X for token in x for name, _ in attributes(token)}))


@settings(max_examples=300)
@given(sequences, st.lists(names, unique=True, max_size=5))
def test_rows_hold_the_sums_of_equal_names_and_no_zeros(X, others):
    for vocabulary in (read_sequences(X).names, others):
        matrix = read(X, vocabulary)
        np.testing.assert_array_equal(matrix.toarray(), expected_rows(X, vocabulary))
        assert matrix.has_canonical_format
        assert matrix.data.all()


@settings(max_examples=300)
@given(sequences, st.lists(names, unique=True, max_size=5))
def test_what_was_read_once_has_the_rows_of_any_vocabulary(X, others):
    once = read_sequences(X)
    for vocabulary in (once.names, others):
        first, again = read(X, vocabulary), read(once, vocabulary)
        assert again.shape == first.shape
        for part in ("indptr", "indices", "data"):
            np.testing.assert_array_equal(getattr(again, part), getattr(first, part))


@pytest.mark.parametrize("templates", [3, 14, 63, 64, 65, 100])
def test_rows_of_tokens_that_are_alike_are_sorted_and_summed(templates):
    random = np.random.default_rng(templates)
    order = random.permutation(templates)
    values = random.integers(4, size=(4, 40, templates))
    X = [[[f"{k}={v}" for k, v in zip(order, token, strict=True)] for token in x] for x in values]
    for x in X:
        x[7], x[11] = x[7][: templates // 2], x[11] + x[11][:2]
    vocabulary = sorted({name for x in X for token in x for name in token} - {f"{k}=2" for k in range(templates)})
    found = read(X, vocabulary)
    np.testing.assert_array_equal(found.toarray(), expected_rows(X, vocabulary))
    assert sp.csr_array((found.data, found.indices, found.indptr), found.shape).has_canonical_format


def test_what_is_nested_has_the_outer_names_in_front():
    token = {"w": {"a": 0.5, "b": "c", "d": ["e", "e"]}, "set": {"f"}, "nothing": [], "neither": {}}
    vocabulary = read_sequences([[token]]).names
    assert vocabulary == ("set=f", "w=a", "w=b=c", "w=d=e")
    np.testing.assert_array_equal(read([[token]], vocabulary).toarray(), [[1.0, 0.5, 1.0, 2.0]])


def test_a_word_is_the_same_feature_alone_in_a_list_in_a_set_and_in_a_dict():
    X = [[{"w": "a"}, {"w": ["a"]}, {"w": {"a"}}, {"w": {"a": 1.0}}, {"w": {"a": True}}, {"w=a": 1.0}, ["w=a"]]]
    assert read_sequences(X).names == ("w=a",)
    np.testing.assert_array_equal(read(X, ["w=a"]).toarray(), np.ones((7, 1)))


plain_names = st.text("ab é", max_size=3)
crfsuite_values = st.recursive(
    st.one_of(eighths, st.booleans(), plain_names, st.lists(plain_names, unique=True), st.sets(plain_names)),
    lambda inner: st.dictionaries(plain_names, inner, max_size=3),
    max_leaves=6,
)


@settings(max_examples=300)
@given(st.dictionaries(plain_names, crfsuite_values, max_size=4))
def test_dicts_mean_what_they_mean_to_python_crfsuite(token):
    crfsuite = pytest.importorskip("pycrfsuite")
    expected = {name.replace(":", "="): value for name, value in crfsuite.ItemSequence([token]).items()[0].items()}
    names = [name for name, _ in attributes(token)]
    assume(len(names) == len(set(names)))  # a dict of items keeps only the last of equal names, where training adds
    row = read([[token]], list(expected)).toarray()[0] if expected else []
    assert dict(zip(expected, row, strict=True)) == expected
    assert set(read_sequences([[token]]).names) == set(expected)


def test_many_long_names_find_their_own_columns():
    vocabulary = [f"{'long ' * (k % 50)}{k}{'中' * (k % 3)}" for k in range(20_000)]
    matrix = read([[[name] for name in reversed(vocabulary)]], vocabulary)
    np.testing.assert_array_equal(matrix.indices, np.arange(20_000)[::-1])
    assert read_sequences([[vocabulary]]).names == tuple(sorted(vocabulary))


def test_names_of_the_same_bytes_are_told_apart():
    assert hash("aa") == hash(chr(0x6161))
    np.testing.assert_array_equal(read([[["aa"], [chr(0x6161)]]], ["aa", chr(0x6161)]).toarray(), np.eye(2))


def test_tokens_without_attributes_are_rows_without_entries():
    assert read_sequences([[{}], [{}, {}]]).names == ()
    assert read([[{}], [{}, {}]], []).shape == (3, 0)
    assert read([[{}, [], ()]], ["a"]).nnz == 0


@pytest.mark.parametrize(
    ("token", "error", "message"),
    [
        (3.0, ValueError, r"X\[1\]\[2\] is 3.0; expected a dict of features or a list of feature names"),
        (None, ValueError, r"X\[1\]\[2\] is None; expected"),
        ("word", ValueError, r"X\[1\]\[2\] is 'word'; a token is a dict or a list"),
        (b"word", ValueError, r"X\[1\]\[2\] is b'word'; expected"),
        (["a", 3], ValueError, r"X\[1\]\[2\] is \['a', 3\]; expected"),
        (("a", None), ValueError, r"X\[1\]\[2\] is \('a', None\); expected"),
        ({"a": 1.0, "b": np.nan}, ValueError, r"X\[1\]\[2\]\['b'\] is nan$"),
        ({"a": 1.0, 7: -np.inf}, ValueError, r"X\[1\]\[2\]\[7\] is -inf$"),
        ({"b": np.float32("inf")}, ValueError, r"X\[1\]\[2\]\['b'\] is inf$"),
        ({"b": None}, ValueError, r"X\[1\]\[2\]\['b'\] is None; a feature is a number, a flag, a string, a list"),
        ({"b": b"dog"}, ValueError, r"X\[1\]\[2\]\['b'\] is b'dog'; a feature is"),
        (UserDict(b=[1]), ValueError, r"X\[1\]\[2\]\['b'\] is \[1\]; a feature is"),
        ({"b": [["a"]]}, ValueError, r"X\[1\]\[2\]\['b'\] is \[\['a'\]\]; a feature is"),
        ({"b": {"a": 1.0, "c": {7: None}}}, ValueError, r"X\[1\]\[2\]\['b'\]\['c'\]\[7\] is None; a feature is"),
        ({"b": {"a": np.nan}}, ValueError, r"X\[1\]\[2\]\['b'\]\['a'\] is nan$"),
        ({"b": 10**400}, ValueError, r"X\[1\]\[2\]\['b'\] is 10{400}"),
    ],
)
def test_what_is_no_token_is_refused_by_place_and_value(token, error, message):
    X = [[["a"]], [{"a": 1}, ["a"], token]]
    with pytest.raises(error, match=message):
        read_sequences(X)
    with pytest.raises(error, match=message):
        read(X, ["a"])


def test_a_dict_that_holds_itself_is_an_error_and_no_crash():
    token = {"a": 1.0}
    token["b"] = token
    with pytest.raises(RecursionError):
        read_sequences([[token]])


def test_deep_dicts_are_read_to_the_bottom():
    token = {"a": "x"}
    for _ in range(80):
        token = {"a": token}
    assert read_sequences([[token]]).names == ("=".join("a" * 81 + "x"),)


def test_reading_keeps_no_reference_and_loses_none():
    name, value, number = "".join(["a ", "name"]), "".join(["a ", "value"]), 12345.5
    plain, mapping, bad = [name, name], {name: value, value: number}, ["x", object()]
    inner = {name: plain, value: mapping}
    held = (name, value, number, plain, mapping, bad, inner)
    X = [[plain, tuple(plain), mapping, UserDict(mapping), inner, {name: inner, value: {name}}]]
    columns = NamedColumns([name, value])

    def counts():
        return [sys.getrefcount(each) for each in held]

    before = counts()
    for _ in range(20):
        read_sequences(X)
        stack(X, columns, None)
        with pytest.raises(ValueError, match="expected a dict"):
            stack([[plain, bad]], columns, None)
    assert counts() == before


def test_a_token_that_changes_the_list_while_it_is_read_does_no_harm():
    class Vanishing(UserDict):
        def items(self):
            x.clear()
            return super().items()

    x = [["a"], Vanishing(a=2.0), ["a"], ["a"]]
    with pytest.raises(ValueError, match="X changed while it was read: it had 4 tokens and then 2"):
        read_sequences([x])
    assert x == []


def test_an_estimator_that_has_read_names_is_pickled_without_its_tables():
    X, Y = [[["a"], ["b"]], [["b"]]], [["A", "B"], ["B"]]
    svm = StructuralSVM(Chain(), C=10).fit(X, Y)
    assert svm.spec_.columns is svm.spec_.columns
    again = pickle.loads(pickle.dumps(svm))
    assert again.spec_ == svm.spec_
    assert "columns" not in vars(again.spec_)
    assert again.predict(X) == Y


def test_names_stay_valid_while_foreign_tokens_are_read():
    class Forgetful(dict):
        """Empties the token before it when it is read."""

        def items(self):
            before.clear()
            return super().items()

    before = ["".join(["fir", "st"]), "".join(["sec", "ond"])]
    X = [[before, Forgetful(third=2.0), ["fourth"]]]
    columns = NamedColumns(["first", "second", "third", "fourth"])
    np.testing.assert_array_equal(columns.rows(X, 3).toarray(), [[1, 1, 0, 0], [0, 0, 2, 0], [0, 0, 0, 1]])
