import pycrfsuite
import pytest
from hypothesis import given
from hypothesis import strategies as st

from structlearn.io import CrfSuite, FormatError, Lines

names = st.text(st.characters(codec="utf-8", exclude_characters="\t\n\r\0\ufeff"), min_size=1).filter(str.strip)
weights = st.floats(allow_nan=False, allow_infinity=False)


def read(text):
    return list(CrfSuite().read(Lines([text.encode()], "tags.txt")))


@given(st.lists(st.dictionaries(names, weights), min_size=1))
def test_attributes_are_those_of_python_crfsuite(tokens):
    (example,) = read(CrfSuite().write(tokens, ["label"] * len(tokens)))
    assert pycrfsuite.ItemSequence(example.x).items() == pycrfsuite.ItemSequence(tokens).items()
    assert [dict.fromkeys(t, 1.0) if isinstance(t, list) else t for t in example.x] == tokens


def test_attributes_without_weights_are_lists_of_names():
    (example,) = read("DET\tw=the\tcap\nNOUN\tw=dog\tlength:3\nX\n")
    assert example.x == [["w=the", "cap"], {"w=dog": 1.0, "length": 3.0}, {}]
    assert example.y == ["DET", "NOUN", "X"]


@pytest.mark.parametrize(
    ("field", "token"),
    [
        (r"a\:b", ["a:b"]),
        (r"a\\b", [r"a\b"]),
        (r"a\b", [r"a\b"]),
        (r"a\\:2", {"a\\": 2.0}),
        (r"a\:b:2", {"a:b": 2.0}),
        ("a:", ["a"]),
        ("a:1", ["a"]),
        ("\ta\t\tb\t", ["a", "b"]),
        ("a\ta", ["a", "a"]),
        ("a\ta:0.5", {"a": 1.5}),
        ("New York", ["New York"]),
    ],
)
def test_fields_are_read_as_crfsuite_reads_them(field, token):
    assert read(f"L\t{field}\n")[0].x == [token]


def test_what_a_token_has_twice_adds_up_as_in_crfsuite(tmp_path):
    def weights(token, path):
        trainer = pycrfsuite.Trainer(algorithm="lbfgs", params={"c2": 1.0}, verbose=False)
        trainer.append(pycrfsuite.ItemSequence([token, ["b"]]), ["L", "M"])
        trainer.train(str(path))
        with pycrfsuite.Tagger().open(str(path)) as tagger:
            return tagger.info().state_features

    assert weights(["a", "a"], tmp_path / "one") == weights({"a": 2.0}, tmp_path / "two")


def test_labels_may_hold_colons_that_are_escaped():
    assert read("a\\:b\tx\n")[0].y == ["a:b"]


def test_a_line_that_begins_with_a_tab_has_no_label():
    (example,) = read("\tw=the\n\tw=dog:2\n")
    assert (example.x, example.y) == ([["w=the"], {"w=dog": 2.0}], None)
    assert CrfSuite().annotate(example, ["DET", "a:b"]) == "DET\tw=the\na\\:b\tw=dog:2\n"


def test_sequences_may_have_weights():
    first, second = read("@weight:2.5\nA\tx\n\nB\tx\n")
    assert (first.weight, second.weight) == (2.5, 1.0)
    assert (first.x, first.line) == ([["x"]], 1)
    assert CrfSuite().annotate(first, ["C"]) == "@weight:2.5\nC\tx\n"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("A\tx:y\n", "tags.txt:1:3: expected a finite number, found 'y'"),
        ("A\tx\ty:nan\n", "tags.txt:1:5: expected a finite number, found 'nan'"),
        ("A\tx:1:2\n", "tags.txt:1:3: a second colon in 'x:1:2'; within a name it is written \\:"),
        ("A\t:2\n", "tags.txt:1:3: an attribute without a name: ':2'"),
        ("A:2\tx\n", "tags.txt:1:1: a bare colon in the label 'A:2'; there it is written \\:"),
        ("A\tx\n\ty\n", "tags.txt:2:1: a token without a label, unlike those before it"),
        ("A\tx:1e308\tx:1e308\n", "tags.txt:1:1: the weights of 'x' add up to more than a number can hold"),
        ("@weight:x\nA\tx\n", "tags.txt:1:1: expected a finite number, found 'x'"),
        ("@weight:-1\nA\tx\n", "tags.txt:1:1: the weight of a sequence must not be negative, found '-1'"),
        ("@other:1\nA\tx\n", "tags.txt:1:1: the declaration '@other' is unknown; only @weight is"),
        ("@weight:1\n", "tags.txt:1:1: the file holds no example"),
        ("\t\t\n", "tags.txt:1:1: the file holds no example"),
    ],
)
def test_what_is_wrong_is_named_with_its_place(text, message):
    with pytest.raises(FormatError) as caught:
        read(text)
    assert str(caught.value) == message


@pytest.mark.parametrize(
    ("x", "y"),
    [
        ([["a\tb"]], ["L"]),
        ([[""]], ["L"]),
        ([{"a": float("inf")}], ["L"]),
        ([["a"]], ["@L"]),
        ([["a"]], [""]),
        ([[]], [" "]),
        ([[]], None),
        ([["\ud800"]], ["L"]),
        ([], []),
    ],
)
def test_what_could_not_be_read_again_is_not_written(x, y):
    with pytest.raises(ValueError, match="cannot be written"):
        CrfSuite().write(x, y)
