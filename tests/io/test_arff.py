import bz2
import gzip
import io
import time

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.io import arff as scipy_arff

from structlearn.io import Attribute, FormatError, read_arff

DENSE = b"""% a comment
@RELATION 'a table'

@attribute size REAL          % centimetres
@Attribute "the colour" {red, 'light blue', "it's", '50%'}
@attribute\tn\tinteger
@attribute note string
@attribute seen date "yyyy-MM-dd"
@DATA
% another one
1.5, red, 3, 'free, text', 2001-01-01
-2e3,'light blue',?,"a \\"quote\\" \\\\ \\t", '2001-01-02'
?, "it's", 0, '?', ?
 7 ,'50%', 1 , free, 2001-01-01 % the last

"""
SPARSE = b"@relation r\n@attribute a real\n@attribute b {no,yes,'may be'}\n@attribute c real\n@data\n"


def read(content):
    return read_arff(io.BytesIO(content))


def table_of(declarations, rows):
    header = "".join(f"@attribute {text}\n" for text in declarations)
    return read(f"{header}@data\n{rows}".encode())


@pytest.mark.parametrize("pack", [bytes, gzip.compress, bz2.compress])
def test_dense_rows_of_all_kinds_are_read(pack):
    table = read(pack(DENSE))
    assert table.relation == "a table"
    assert table.attributes == (
        Attribute("size", "numeric"),
        Attribute("the colour", "nominal", ("red", "light blue", "it's", "50%")),
        Attribute("n", "numeric"),
        Attribute("note", "string"),
        Attribute("seen", "date"),
    )
    np.testing.assert_array_equal(table.column("size"), [1.5, -2000, np.nan, 7])
    np.testing.assert_array_equal(table.column("n"), [3, np.nan, 0, 1])
    assert table.column("the colour") == ["red", "light blue", "it's", "50%"]
    # A question mark in quotes is a text, one without is none.
    assert table.column("note") == ["free, text", 'a "quote" \\ \t', "?", "free"]
    assert table.column("seen") == ["2001-01-01", "2001-01-02", None, "2001-01-01"]
    assert table.values[:, 4].tolist()[:2] == [0, 1]
    assert table.lines.tolist() == [11, 12, 13, 14]


def test_sparse_rows_leave_out_zeros_and_first_values():
    table = read(SPARSE + b"{0 1.5, 1 'may be'}\n{}\n{ 2 ?}\n{1\tyes , 2 -1}  % end\n")
    np.testing.assert_array_equal(table.values.toarray(), [[1.5, 2, 0], [0, 0, 0], [0, 0, np.nan], [0, 1, -1]])
    assert table.values.nnz == 5
    assert table.column("b") == ["may be", "no", "no", "yes"]
    np.testing.assert_array_equal(table.column("c"), [0, 0, np.nan, -1])


def test_classes_of_a_hierarchy_keep_what_was_declared():
    table = table_of(["class hierarchical a, a/b"], "a@a/b\n")
    assert table.attributes[0] == Attribute("class", "hierarchical", ("a", "a/b"))
    assert table.column("class") == ["a@a/b"]


def test_a_table_may_have_no_rows():
    assert table_of(["a real", "b real"], "").values.shape == (0, 2)


def test_a_file_by_its_path_is_named_in_messages(tmp_path):
    path = tmp_path / "bad.arff"
    path.write_bytes(DENSE.replace(b"-2e3", b"ten"))
    with pytest.raises(FormatError, match=r"bad.arff:12:1: column 0, 'size': expected a finite number, found 'ten'"):
        read_arff(path)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "1:1: the file ends before @data"),
        (b"a,b\n1,2\n", "1:1: expected @relation, @attribute or @data, found 'a,b'"),
        (b"@data\n1\n", "1:1: no attribute stands before @data"),
        (b"@attribute\n", "1:1: expected a name, found ''"),
        (b"@attribute 'a real\n", 'expected a name, found "\'a real"'),
        (b"@attribute a\n", "the attribute 'a' is of the kind ''"),
        (b"@attribute a relational\n", "the attribute 'a' is of the kind 'relational'"),
        (b"@attribute a hierarchical\n", "the attribute 'a' is of the kind 'hierarchical'"),
        (b"@attribute a real\n@attribute 'a' real\n", "2:1: a second attribute of the name 'a'"),
        (b"@attribute a {x, y\n", "the values of 'a' do not end with a brace"),
        (b"@attribute a {x,,y}\n", "a value of 'a' is empty"),
        (b"@attribute a {}\n", "a value of 'a' is empty"),
        (b"@attribute a {x,y,'x'}\n", "the value 'x' of 'a' is declared 2 times"),
        (b"@attribute a {'x,y}\n", 'expected a value and a comma, found "\'x,y"'),
        (SPARSE + b"1,yes\n", "6:1: expected 3 values, found 2"),
        (SPARSE + b"1,yes,2,3\n", "expected 3 values, found 4"),
        (SPARSE + b"1,maybe,2\n", "column 1, 'b': the value 'maybe' is not among those declared"),
        (SPARSE + b"1,,2\n", "column 1, 'b': the value '' is not among those declared"),
        (SPARSE + b"1,yes,nan\n", "found 'nan'"),
        (SPARSE + b"1,yes,1e999\n", "expected a finite number"),
        (SPARSE + b"1,yes,1_0\n", "found '1_0'"),
        (SPARSE + b"1,'yes\n", "expected a value and a comma"),
        (SPARSE + b"1, 'yes' no,2\n", "expected a value and a comma"),
        (SPARSE + b"1,yes,2\n{0 1}\n", "7:1: a sparse row after dense ones"),
        (SPARSE + b"{0 1}\n1,yes,2\n", "7:1: a dense row after sparse ones"),
        (SPARSE + b"{0 1\n", "the sparse row does not end with a brace"),
        (SPARSE + b"{0 1, 3 1}\n", "column 3 has a value; there are 3 attributes, counted from 0"),
        (SPARSE + b"{2 1, 0 1}\n", "column 0 comes after 2; columns must increase"),
        (SPARSE + b"{1 yes, 1 no}\n", "column 1 comes after 1"),
        (SPARSE + b"{0 1,}\n", "expected the number of a column and its value, found ''"),
        (SPARSE + b"{-1 1}\n", "expected the number of a column and its value"),
        (SPARSE + b"{0}\n", "expected the number of a column and its value"),
        (SPARSE + b"{99999999999999 1}\n", "expected the number of a column and its value"),
        (b"@attribute a string\n@attribute b real\n@data\n{1 1}\n", "the sparse row leaves out the text 'a'"),
        (b"@attribute a string\n@attribute b real\n@data\n,1\n", "column 0, 'a': the value is empty"),
        (b"@attribute a real\n@data\n\xff\n", "3:1: the byte 0xff is no text in utf-8"),
        (b"@attribute a real\n@data\n1\0\n", "a NUL character"),
        (gzip.compress(DENSE)[:-12], "the gzip archive is cut short"),
    ],
)
def test_what_cannot_be_understood_is_refused_with_its_place(content, message):
    with pytest.raises(FormatError) as caught:
        read(content)
    assert message in str(caught.value)
    assert str(caught.value).startswith("stream:")


@pytest.mark.parametrize("content", [DENSE, SPARSE + b"{0 1.5, 1 'may be'}\n{1 yes, 2 -1}\n"])
def test_every_truncation_is_refused_or_read(content):
    n_rows = len(read(content).lines)
    for end in range(len(content)):
        try:
            assert len(read(content[:end]).lines) <= n_rows
        except FormatError:
            continue


@given(st.text(alphabet="@attribute daN%{}'\",?\\ \t\n01", max_size=60))
def test_no_text_raises_anything_else(text):
    for content in (text, f"@attribute a real\n@attribute b {{x,y}}\n@data\n{text}"):
        try:
            read(content.encode())
        except FormatError:
            continue


@pytest.mark.parametrize(
    "line",
    ["'" + "\\'" * 500_000, "%" + "'" * 500_001, " " * 1_000_000 + "'", "1," * 500_000, "{" + "0 1," * 250_000 + "}"],
)
def test_long_lines_take_linear_time(line):
    started = time.process_time()
    for content in (
        f"@attribute a string\n@data\n{line} %",
        f"@attribute a string\n@data\n{line}",
        f"@attribute {line}",
    ):
        try:
            read(content.encode())
        except FormatError:
            continue
    assert time.process_time() - started < 20


words = st.text(st.characters(codec="utf-8", exclude_characters="\n\r\0\ufeff", exclude_categories=("Cs",)), max_size=8)


@given(st.lists(words, min_size=1, max_size=5), st.sampled_from("'\""))
def test_texts_in_quotes_are_read_as_they_were(texts, mark):
    written = [mark + text.replace("\\", "\\\\").replace(mark, f"\\{mark}") + mark for text in texts]
    table = table_of(["a string", "b real"], "".join(f"{text},1\n" for text in written))
    assert table.column("a") == texts


numbers = st.one_of(st.none(), st.floats(allow_nan=False, allow_infinity=False))
rows = st.lists(st.tuples(numbers, st.sampled_from(["x", "y", None]), numbers), min_size=1, max_size=6)


@given(rows)
def test_tables_are_those_that_scipy_reads(rows):
    header = "@relation r\n@attribute a real\n@attribute b {x,y}\n@attribute c numeric\n@data\n"
    text = header + "".join(",".join("?" if v is None else str(v) for v in row) + "\n" for row in rows)
    table = read(text.encode())
    expected, _ = scipy_arff.loadarff(io.StringIO(text))
    for name in "ac":
        np.testing.assert_array_equal(table.column(name), expected[name])
    assert [value or "?" for value in table.column("b")] == [value.decode() for value in expected["b"]]


@given(rows)
def test_sparse_rows_say_what_dense_ones_do(rows):
    rows = [tuple("?" if v is None else str(v) for v in row) for row in rows]
    declared = ["a real", "b {x,y}", "c real"]
    dense = table_of(declared, "".join(",".join(row) + "\n" for row in rows))
    entries = [[f"{k} {v}" for k, v in enumerate(row) if v not in ("x", "0.0")] for row in rows]
    sparse = table_of(declared, "".join("{" + ", ".join(row) + "}\n" for row in entries))
    np.testing.assert_array_equal(sparse.values.toarray(), dense.values)
