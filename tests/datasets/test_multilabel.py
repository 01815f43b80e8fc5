import gzip
import os
from pathlib import Path

import pytest
from scipy.sparse import csr_array

from structlearn.datasets import fetch_multilabel

needs_files = pytest.mark.skipif(
    not (Path(os.environ.get("STRUCTLEARN_DATA", "")) / "multilabel").is_dir(),
    reason="STRUCTLEARN_DATA names no folder with multilabel",
)
ARFF = "@relation r\n@attribute a real\n@attribute b {0,1}\n@data\n"
XML = "<labels><label name='b'/></labels>"


@needs_files
@pytest.mark.parametrize(
    ("name", "n_train", "n_test", "n_features", "n_labels", "cardinality"),
    [
        # Labels an example, of both parts together, as Mulan's page has them.
        pytest.param("scene", 1211, 1196, 294, 6, 1.074, marks=pytest.mark.slow),
        ("yeast", 1500, 917, 103, 14, 4.237),
        ("emotions", 391, 202, 72, 6, 1.869),
        pytest.param("bibtex", 4880, 2515, 1836, 159, 2.402, marks=pytest.mark.slow),
    ],
)
def test_the_sets_are_complete(name, n_train, n_test, n_features, n_labels, cardinality):
    train, test = fetch_multilabel(name), fetch_multilabel(name, "test")
    assert train.X.shape == (n_train, n_features)
    assert test.X.shape == (n_test, n_features)
    assert train.Y.shape == (n_train, n_labels)
    assert test.Y.shape == (n_test, n_labels)
    assert (int(train.Y.sum()) + int(test.Y.sum())) / (n_train + n_test) == pytest.approx(cardinality, abs=6e-4)
    assert train.label_names == test.label_names
    assert train.feature_names == test.feature_names
    assert isinstance(train.X, csr_array) == (name == "bibtex")


@needs_files
@pytest.mark.slow
def test_bibtex_has_words_and_tags():
    data = fetch_multilabel("bibtex")
    assert set(data.X.data) == {1.0}
    assert {name.startswith("TAG_") for name in data.label_names} == {True}


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.setenv("STRUCTLEARN_DATA", str(tmp_path))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    (tmp_path / "multilabel").mkdir()
    return tmp_path / "multilabel"


def write(folder, rows, xml=XML):
    (folder / "scene-test.arff.gz").write_bytes(gzip.compress((ARFF + rows).encode()))
    (folder / "scene.xml.gz").write_bytes(gzip.compress(xml.encode()))


def test_a_small_set_is_read(folder):
    write(folder, "1.5,1\n2,0\n")
    data = fetch_multilabel("scene", "test")
    assert (data.X.tolist(), data.Y.tolist()) == ([[1.5], [2]], [[1], [0]])


@pytest.mark.parametrize(
    ("rows", "xml", "complaint"),
    [
        ("1,2\n", XML, "the value '2' is not among those declared"),
        ("1,1\n", XML.replace("'b'", "'c'"), "the label 'c' is no attribute"),
        ("1,1\n", "no XML", "scene.xml.gz:1:1: this is no XML"),
        ("", XML, "it holds no examples"),
    ],
)
def test_wrong_content_is_explained(folder, rows, xml, complaint):
    write(folder, rows, xml)
    with pytest.raises(ValueError, match=r"scene-test.arff.gz is damaged or is not the expected file") as caught:
        fetch_multilabel("scene", "test")
    assert complaint in str(caught.value)


@pytest.mark.parametrize("file", ["scene-test.arff.gz", "scene.xml.gz"])
def test_a_missing_file_is_named(folder, file):
    write(folder, "1,1\n")
    (folder / file).unlink()
    with pytest.raises(FileNotFoundError, match=rf"multilabel/{file} was not found .* https://mulan"):
        fetch_multilabel("scene", "test")


def test_unknown_names_are_refused():
    with pytest.raises(ValueError, match=r"name must be one of 'scene', 'yeast', 'emotions', 'bibtex', got 'enron'"):
        fetch_multilabel("enron")
    with pytest.raises(ValueError, match=r"subset must be one of 'train', 'test', got 'dev'"):
        fetch_multilabel("scene", "dev")
