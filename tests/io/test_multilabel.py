"""Rows with sets of labels: LIBSVM's, JSON lines, and the ARFF of Mulan and MEKA."""

import gzip
import pickle

import numpy as np
import pytest

from structlearn.io import ArffSets, FormatError, JsonLines, Lines, MultiLabelRows, beside, read_examples, read_mulan

DENSE = """% scenes
@relation scenes
@attribute size real
@attribute 'kind, of' {small, large, 'very large'}
@attribute flag {0,1}
@attribute beach {0,1}
@attribute urban {1,0}
@data
1.5, small, 1, 1, 0 % first
0,'very large',0,0,1
"""
SPARSE = """@relation 'scenes: -C -2'
@attribute size real
@attribute kind {small,large}
@attribute beach {0,1}
@attribute urban {1,0}
@data
{0 1.5, 2 1}
{1 large,3 0} % none
"""
XML = '<labels><label name="beach"/><label name="urban"/></labels>'


def read(form, text, name="train"):
    return list(form.read(Lines([text.encode()], name)))


def written(form, text, outputs):
    lines = Lines([text.encode()], "new", keep=True)
    return "".join(beside(lines, form, zip(form.read(lines), outputs, strict=True)))


def test_rows_have_the_labels_before_their_features():
    examples = read(MultiLabelRows(), "# all\n3,1 2:1\n2:0.5 3:1\n+1 1:1 # one\n7\n")
    assert [example.y for example in examples] == [{"1", "3"}, set(), {"1"}, {"7"}]
    assert [example.x for example in examples] == [{"2": 1.0}, {"2": 0.5, "3": 1.0}, {"1": 1.0}, {}]


def test_predicted_sets_replace_labels_and_nothing_else():
    text = "# all\n3,1 2:1  3:1 # one\n\n2:0.5\r\n 4 1:1e0"
    assert written(MultiLabelRows(), text, [{"10", "2"}, {"1"}, set()]) == (
        "# all\n2,10 2:1  3:1 # one\n\n1 2:0.5\r\n1:1e0"
    )


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("1,1 2:1", "train:1:1: the label '1' is there twice"),
        ("1,1.0 2:1", "train:1:1: the label '1' is there twice"),
        ("1, 2:1", "train:1:1: expected a finite number, found '' as label"),
        ("1,x 2:1", "train:1:1: expected a finite number, found 'x' as label"),
        ("1,2 2:1 1:1", "train:1:9: the index 1 comes after 2"),
        ("1 2:1\n1;2 1:1", "train:2:1: expected a finite number, found '1;2' as label"),
        ("1 2:nan", "train:1:3: expected a finite number, found 'nan'"),
    ],
)
def test_broken_rows_are_refused_with_their_place(text, message):
    with pytest.raises(FormatError) as error:
        read(MultiLabelRows(), text)
    assert str(error.value).startswith(message)


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ('{"features": {}, "labels": "x"}', "expected a list of \"labels\", found 'x'"),
        ('{"features": {}, "labels": ["x", null]}', "labels[1] is null"),
        ('{"features": {}, "labels": ["x", 1.5]}', "expected a string or a whole number as labels[1], found 1.5"),
        ('{"features": {}, "labels": ["x", "y", "x"]}', "the label 'x' is there twice"),
        ('{"features": [], "labels": ["x"]}', 'expected an object of "features", found a list of 0'),
    ],
)
def test_broken_json_sets_are_refused_with_their_place(line, message):
    with pytest.raises(FormatError) as error:
        read(JsonLines("set"), '{"features": {"a": 1}, "labels": []}\n' + line)
    assert str(error.value).startswith(f"train:2:1: {message}")


def test_json_sets_are_recognised_and_predicted_beside():
    text = '{"features": {"a": 1}, "labels": ["x"]}\n'
    form = JsonLines.recognise([text], "")
    assert form == JsonLines("set")
    assert written(form, text, [{"y", "x"}]) == ('{"features": {"a": 1}, "labels": ["x"], "predicted": ["x", "y"]}\n')


def test_attributes_are_features_or_labels():
    first, second = read(ArffSets(("beach", "urban")), DENSE)
    assert (first.x, first.y, first.line) == ({"size": 1.5, "flag": 1.0}, {"beach"}, 9)
    assert (second.x, second.y) == ({"kind, of=very large": 1.0}, {"urban"})
    sparse = read(ArffSets(n_labels=-2), SPARSE)
    assert [example.x for example in sparse] == [{"size": 1.5}, {"kind=large": 1.0}]
    # What a sparse row leaves out has its first value, 1 for the label urban.
    assert [example.y for example in sparse] == [{"beach", "urban"}, set()]


def test_it_agrees_with_the_tables_of_all_rows(tmp_path):
    for name, text in (("dense", DENSE), ("sparse", SPARSE)):
        (tmp_path / f"{name}.arff").write_text(text)
        (tmp_path / f"{name}.xml").write_text(XML)
        table = read_mulan(tmp_path / f"{name}.arff", tmp_path / f"{name}.xml")
        X = table.X if isinstance(table.X, np.ndarray) else table.X.toarray()
        _, examples = read_examples(tmp_path / f"{name}.arff")
        for example, x, y in zip(examples, X.tolist(), table.Y.tolist(), strict=True):
            assert example.x == {key: value for key, value in zip(table.feature_names, x, strict=True) if value}
            assert example.y == {key for key, value in zip(table.label_names, y, strict=True) if value}


def test_predictions_take_the_place_of_labels_in_arff():
    outputs = [{"urban"}, {"beach", "urban"}]
    after = written(ArffSets(("beach", "urban")), DENSE, outputs)
    assert after == DENSE.replace("1.5, small, 1, 1, 0 % first", "1.5, small, 1,0,1 % first").replace(
        "0,'very large',0,0,1", "0,'very large',0,1,1"
    )
    after = written(ArffSets(n_labels=-2), SPARSE, [set(), {"beach", "urban"}])
    assert after == SPARSE.replace("{0 1.5, 2 1}", "{0 1.5,3 0}").replace("{1 large,3 0}", "{1 large,2 1}")
    assert [example.y for example in read(ArffSets(n_labels=-2), after)] == [set(), {"beach", "urban"}]
    with pytest.raises(ValueError, match="new:7: the label 'sea' cannot be written"):
        written(ArffSets(n_labels=-2), SPARSE, [{"sea"}, set()])


def test_rows_go_through_other_processes():
    (example, _) = read(ArffSets(n_labels=-2), SPARSE)
    again = pickle.loads(pickle.dumps(example))
    assert ArffSets(n_labels=-2).annotate(again, {"beach"}) == ArffSets(n_labels=-2).annotate(example, {"beach"})


def test_labels_are_those_of_the_xml_file_beside_or_of_the_relation(tmp_path):
    (tmp_path / "scenes.xml").write_text(XML)
    head = DENSE.splitlines()
    for name in ("scenes.arff", "scenes-train.arff", "scenes_test.arff.gz"):
        assert ArffSets.recognise(head, str(tmp_path / name)) == ArffSets(("beach", "urban"))
    (tmp_path / "packed.xml.gz").write_bytes(gzip.compress(XML.encode()))
    assert ArffSets.recognise(head, str(tmp_path / "packed-train.arff.gz")) == ArffSets(("beach", "urban"))
    assert ArffSets.recognise(head, str(tmp_path / "other.arff")) == ArffSets()
    assert ArffSets.recognise(SPARSE.splitlines(), "other.arff") == ArffSets(n_labels=-2)
    assert ArffSets.recognise(["@data"], "x.arff") is None


@pytest.mark.parametrize(
    ("form", "text", "message"),
    [
        (ArffSets(), DENSE, "train:1:1: nothing says which attributes are labels"),
        (ArffSets(("sea",)), DENSE, "train:8:1: the label 'sea' is no attribute of the table"),
        (ArffSets(("kind, of",)), DENSE, "train:8:1: the label 'kind, of' has other values than 0 and 1"),
        (ArffSets(n_labels=9), DENSE, "train:8:1: 9 attributes are labels by -C, but there are 5"),
        (ArffSets(("size",)), DENSE, "train:9:1: the label 'size' is 1.5; expected 0 or 1"),
        (ArffSets(("beach",)), DENSE.replace("1, 1, 0", "?, 1, 0"), "train:9:1: the feature 'flag' has no value"),
        (ArffSets(n_labels=-2), DENSE.replace("1, 1, 0", "1, ?, 0"), "train:9:1: the label 'beach' is ?"),
        (ArffSets(n_labels=-2), DENSE + "1,small\n", "train:11:1: expected 5 values, found 2"),
        (ArffSets(n_labels=-2), DENSE + "{1 large}\n", "train:11:1: a sparse row after dense ones"),
        (ArffSets(n_labels=1), "@attribute a real\n@attribute b string\n@data\n1,x\n", "train:4:1: the feature 'b' is"),
        (ArffSets(n_labels=1), "@attribute a real\n@data\n", "train:2:1: the file holds no example"),
        (ArffSets(n_labels=1), "@attribute a real\n", "train:1:1: the file ends before @data"),
    ],
)
def test_broken_arff_is_refused_with_its_place(form, text, message):
    with pytest.raises(FormatError) as error:
        read(form, text)
    assert str(error.value).startswith(message)


def test_rows_without_labels_are_told_from_the_empty_set():
    unlabelled = DENSE.replace("1, 1, 0", "1, ?, ?").replace("0,0,1", "0,?,?")
    assert [example.y for example in read(ArffSets(n_labels=-2), unlabelled)] == [None, None]
    after = written(ArffSets(n_labels=-2), unlabelled, [set(), {"beach"}])
    assert [example.y for example in read(ArffSets(n_labels=-2), after)] == [set(), {"beach"}]
