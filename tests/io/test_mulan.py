import gzip
import io

import numpy as np
import pytest
from scipy.sparse import csr_array

from structlearn.io import FormatError, mulan, read_label_names, read_mulan

XML = b"""<?xml version="1.0" encoding="utf-8"?>
<labels xmlns="http://mulan.sourceforge.net/labels">
<label name="round"></label>
<label name="l&#228;nge &amp; breite"/>
</labels>
"""
HEADER = "@attribute size real\n@attribute 'länge & breite' {1,0}\n@attribute hue {red,green,blue}\n"
HEADER += "@attribute word {0,1}\n@attribute round {0,1}\n@data\n"


def read(rows, xml=XML, header=HEADER):
    return read_mulan(io.BytesIO((header + rows).encode()), io.BytesIO(xml))


def test_dense_files_are_read():
    data = read("1.5,1,red,0,1\n?,0,blue,1,1\n0,0,green,0,0\n")
    np.testing.assert_array_equal(data.X, [[1.5, 0, 0, 0], [np.nan, 0, 1, 1], [0, 1, 0, 0]])
    assert data.feature_names == ["size", "hue=green", "hue=blue", "word"]
    # In the order of the table, whatever that of the XML.
    assert data.label_names == ["länge & breite", "round"]
    assert data.Y.tolist() == [[1, 1], [0, 1], [0, 0]]
    assert data.Y.dtype == np.int8


def test_sparse_files_stay_sparse():
    data = read("{0 1.5,4 1}\n{0 ?,1 0,2 blue,3 1,4 1}\n{1 0, 2 green}\n")
    assert isinstance(data.X, csr_array)
    assert data.X.nnz == 5
    np.testing.assert_array_equal(data.X.toarray(), [[1.5, 0, 0, 0], [np.nan, 0, 1, 1], [0, 1, 0, 0]])
    assert data.Y.tolist() == [[1, 1], [0, 1], [0, 0]]


def test_labels_may_be_numbers():
    data = read("1,0\n2,1\n", b"<labels><label name='b'/></labels>", "@attribute a real\n@attribute b numeric\n@data\n")
    assert data.Y.tolist() == [[0], [1]]


@pytest.mark.parametrize(
    ("rows", "header", "message"),
    [
        ("1,1,red,0,1\n", HEADER.replace("round", "flat"), "stream:1:1: the label 'round' is no attribute"),
        ("1,1,red,0,1\n", HEADER.replace("round {0,1}", "round {no,1}"), "'round' has other values than 0 and 1"),
        ("1,1,red,0,1\n1,1,red,0,?\n", HEADER, "stream:8:1: the label 'round' is nan; expected 0 or 1"),
        ("1,1,red,0,2\n", HEADER.replace("round {0,1}", "round real"), "the label 'round' is 2.0; expected 0 or 1"),
        ("1,1,?,0,1\n", HEADER, "stream:7:1: the feature 'hue' has no value"),
        ("1,1,red,0,1\n", HEADER.replace("size real", "size string"), "the feature 'size' is text"),
    ],
)
def test_tables_that_do_not_fit_are_refused(rows, header, message):
    with pytest.raises(FormatError) as caught:
        read(rows, header=header)
    assert message in str(caught.value)


def test_tables_that_would_fill_the_memory_are_refused(monkeypatch):
    monkeypatch.setattr(mulan, "MOST_CELLS", 5)
    with pytest.raises(FormatError, match=r"3 rows with 2 columns; at most 5 cells are read"):
        read("{}\n{}\n{}\n")


def test_names_are_unpacked_and_read_from_any_depth():
    nested = b"<labels><label name='a'><label name='b'/></label><label name='c'/></labels>"
    assert read_label_names(io.BytesIO(gzip.compress(nested))) == ["a", "b", "c"]


def test_an_encoding_of_its_own_does_not_count():
    xml = XML.replace(b'encoding="utf-8"', b'encoding="utf-7"').replace(b"&#228;", "ä".encode())
    assert read_label_names(io.BytesIO(xml)) == ["round", "länge & breite"]


BOMB = b"".join(b'<!ENTITY e%d "%s">' % (k, b"&e%d;" % (k - 1) * 10 if k else b"ha") for k in range(20))


@pytest.mark.parametrize(
    ("xml", "message"),
    [
        (b"", "stream:1:1: this is no XML: no element found"),
        (b"@relation x\n", "stream:1:1: this is no XML"),
        (XML[:-12], "this is no XML"),
        (b"<labels>\n<label name='a'>\n</labels>", "stream:3:3: this is no XML: mismatched tag"),
        (b"<labels></labels>", "the file names no label"),
        (b"<label name='a'/>", "expected the element 'labels', found 'label'"),
        (b"<labels><tag name='a'/></labels>", "expected the element 'label', found 'tag'"),
        (b"<labels><label/></labels>", "a label without a name"),
        (b"<labels><label name='a'/>\n<label name='a'/></labels>", "stream:2:1: a second label of the name 'a'"),
        (b"<labels><label name='&e;'/></labels>", "undefined entity"),
        (b"<!DOCTYPE labels>\n<labels><label name='a'/></labels>", "stream:1:1: the file declares a document type"),
        (b"<!DOCTYPE labels [" + BOMB + b"]><labels><label name='&e19;'/></labels>", "declares a document type"),
        (b"<!DOCTYPE labels SYSTEM 'file:///etc/passwd'><labels/>", "declares a document type"),
        (b"<!DOCTYPE l [<!ENTITY e SYSTEM 'file:///etc/passwd'>]><labels/>", "declares a document type"),
        (b"<labels><label name='\xff'/></labels>", "the byte 0xff is no text in utf-8"),
    ],
)
def test_damaged_and_hostile_names_are_refused(xml, message):
    with pytest.raises(FormatError) as caught:
        read_label_names(io.BytesIO(xml))
    assert message in str(caught.value)


def test_elements_without_end_are_refused():
    deep = b"<labels>" + b"".join(b"<label name='%d'>" % k for k in range(100_000))
    with pytest.raises(FormatError, match="this is no XML: no element found"):
        read_label_names(io.BytesIO(deep))
