import io

import numpy as np
import pytest
from sklearn.datasets import dump_svmlight_file, load_svmlight_file

from structlearn.io import FormatError, Lines, SvmLight


def read(text):
    return list(SvmLight().read(Lines([text.encode()], "rows.txt")))


def test_rows_are_features_by_the_texts_of_their_indices():
    assert [(example.x, example.y) for example in read("1 1:0.5 7:-2e1\n\n2\n")] == [
        ({"1": 0.5, "7": -20.0}, "1"),
        ({}, "2"),
    ]


def test_rows_agree_with_those_of_scikit_learn():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(40, 9)).round(6) * (rng.random((40, 9)) < 0.5)
    written = io.BytesIO()
    dump_svmlight_file(X, rng.integers(-3, 3, 40), written, zero_based=False)
    features, labels = load_svmlight_file(io.BytesIO(written.getvalue()), zero_based=False, n_features=9)
    examples = read(written.getvalue().decode())
    assert [float(example.y) for example in examples] == labels.tolist()
    for example, row in zip(examples, features.toarray(), strict=True):
        assert example.x == {str(k + 1): value for k, value in enumerate(row) if value}


@pytest.mark.parametrize(("text", "label"), [("+1", "1"), ("1.0", "1"), ("-1", "-1"), ("0", "0"), ("-0.50", "-0.5")])
def test_labels_are_texts_in_their_shortest_form(text, label):
    assert read(f"{text} 1:1\n")[0].y == label


def test_comments_are_passed_over_and_kept_beside_predictions():
    commented, example = read("# all of it\n  -1  2:1 # the second\n")[0], SvmLight()
    assert commented.x == {"2": 1.0}
    assert commented.line == 2
    assert example.annotate(commented, "7") == "  7  2:1 # the second\n"
    (bare,) = read("3#bare\n")
    assert SvmLight().annotate(bare, 4) == "4#bare\n"


def test_a_line_that_begins_with_a_feature_has_no_label():
    (example,) = read("1:0.5 2:1 # new\n")
    assert (example.x, example.y) == ({"1": 0.5, "2": 1.0}, None)
    assert SvmLight().annotate(example, "2") == "2 1:0.5 2:1 # new\n"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("1 2:1 2:1", "rows.txt:1:7: the index 2 comes after 2; indices must increase"),
        ("1 2:1 1:1", "rows.txt:1:7: the index 1 comes after 2; indices must increase"),
        ("1 0:1", "rows.txt:1:3: expected a whole number from 1 as index, found '0'"),
        ("1 -3:1", "rows.txt:1:3: expected a whole number from 1 as index, found '-3'"),
        ("1 word:1", "rows.txt:1:3: expected a whole number from 1 as index, found 'word'"),
        ("1 1:nan", "rows.txt:1:3: expected a finite number, found 'nan'"),
        ("1 1:1 2:inf", "rows.txt:1:7: expected a finite number, found 'inf'"),
        ("1 1:1e999", "rows.txt:1:3: expected a finite number, found '1e999'"),
        ("1 1:1_000", "rows.txt:1:3: expected a finite number, found '1_000'"),
        ("1 1:٣", "rows.txt:1:3: expected a finite number, found '٣'"),
        ("1 1:", "rows.txt:1:3: expected a finite number, found ''"),
        ("1 0.5", "rows.txt:1:3: expected index:value, found '0.5'"),
        ("NOUN 1:1", "rows.txt:1:1: expected a finite number, found 'NOUN' as label"),
        ("nan 1:1", "rows.txt:1:1: expected a finite number, found 'nan' as label"),
        ("99999999999999999 1:1", "rows.txt:1:1: the label '99999999999999999' is too large to be told from others"),
        ("1 qid:3 1:1", "rows.txt:1:3: 'qid:' groups lines into sequences or rankings; they are read with the"),
        ("qid:3 1:1", "rows.txt:1:1: 'qid:' groups lines"),
        ("1 1:1\n2:1", "rows.txt:2:1: an example with no labels, where those before have some"),
        ("# nothing\n", "rows.txt:1:1: the file holds no example"),
    ],
)
def test_what_is_wrong_is_named_with_its_place(text, message):
    with pytest.raises(FormatError) as caught:
        read(text)
    assert str(caught.value).startswith(message)


def test_a_number_of_a_million_digits_is_refused_at_once():
    with pytest.raises(FormatError, match="expected a finite number, found '99999"):
        read("1 1:" + "9" * 1_000_000 + "x")


@pytest.mark.parametrize(
    ("x", "y", "message"),
    [
        ({"word": 1.0}, 1, "features are whole numbers from 1 in this format; 'word' cannot be written"),
        ({"1": float("nan")}, 1, "nan cannot be written"),
        ({"1": 1.0}, "NOUN", "labels are numbers in this format; 'NOUN' cannot be written"),
        ({}, None, "without label and features"),
    ],
)
def test_what_could_not_be_read_again_is_not_written(x, y, message):
    with pytest.raises(ValueError, match=message):
        SvmLight().write(x, y)
