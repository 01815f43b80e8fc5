from __future__ import annotations

import io
from typing import Any

import pytest

from structlearn.cli.summaries.documents import summarise_documents
from structlearn.data import Document, Mention
from structlearn.io import Conll2012, FormatError, read_examples, recognise

TEXT = """#begin document (bc/cctv_0001); part 003
bc/cctv_0001   3   0     Ann   NNP  (TOP(S*   -   -   -   -   *   (12)
bc/cctv_0001   3   1     saw   VBD       (VP*  see  01   1   -   *    -
bc/cctv_0001   3   2     the    DT       (NP*   -   -   -   -   *  (7|(9
bc/cctv_0001   3   3     dog    NN          *)  -   -   -   -   *   9)
bc/cctv_0001   3   4      of    IN          *   -   -   -   -   *    -
bc/cctv_0001   3   5     her  PRP$          *   -   -   -   -   *  (12)|7)

bc/cctv_0001   3   0      It   PRP          *   -   -   -   -   *   (7)

#end document
"""


def read(text: str) -> Any:
    return list(read_examples(io.BytesIO(text.encode()), None)[1])


def test_nested_mentions_and_entities_are_read() -> None:
    (example,) = read(TEXT)
    document = example.x
    assert (document.name, document.part) == ("bc/cctv_0001", 3)
    assert [" ".join(document.words(m)) for m in document.mentions] == ["Ann", "the dog of her", "the dog", "her", "It"]
    assert example.y == [0, 1, 2, 0, 1]


def test_a_prediction_replaces_the_last_column_only() -> None:
    (example,) = read(TEXT)
    written = Conll2012().annotate(example, [0, 1, 1, 2, 0])
    (again,) = read(written)
    assert again.x == example.x
    assert again.y == [0, 1, 1, 2, 0]
    for old, new in zip(TEXT.splitlines(), written.splitlines(), strict=True):
        assert old.split()[:-1] == new.split()[:-1]
    assert Conll2012().annotate(again, again.y) == written


def test_tabs_and_empty_last_columns_are_kept() -> None:
    text = "#begin document (d); part 0\nd\t0\t0\tI\t_\t\nd\t0\t1\tsee\t_\t(0)\n\n#end document\n"
    (example,) = read(text)
    assert example.x.mentions == (Mention(0, 1, 2),)
    assert Conll2012().annotate(example, [0]) == text


def test_overlapping_mentions_of_one_entity_cannot_be_written() -> None:
    document = Document((("a", "b", "c", "d"),), (Mention(0, 0, 3), Mention(0, 1, 4)))
    with pytest.raises(ValueError, match="'a b c' and 'b c d', of one entity, cannot be written"):
        Conll2012().write(document, [0, 0])
    (example,) = read(Conll2012().write(document, [0, 1]))
    assert example.x.mentions == document.mentions
    with pytest.raises(ValueError, match="cannot be written without entities"):
        Conll2012().write(document, None)


@pytest.mark.parametrize(
    ("row", "message"),
    [
        ("d 0 0 x - 3)", "a mention of entity '3' ends that has not begun"),
        ("d 0 0 x - (3", "a mention of entity '3' is not closed in its sentence"),
        ("d 0 0 x - (3)|(4)", "the same words are a mention twice, of '3' and of '4'"),
        ("d 0 0 x - 3", "'3' in the last column says not which mentions begin and end"),
        ("d 0 x", "expected at least 5 columns, found 3"),
    ],
)
def test_bad_rows_are_refused_with_their_line(row: str, message: str) -> None:
    with pytest.raises(FormatError) as caught:
        read(f"#begin document (d); part 000\n{row}\n\n#end document\n")
    assert message in str(caught.value)
    assert caught.value.line in (2, 3)


def test_documents_begin_and_end() -> None:
    with pytest.raises(FormatError, match="no '#end document'"):
        read("#begin document (d); part 000\nd 0 0 x - -\n")
    with pytest.raises(FormatError, match="begins before the one before it has ended"):
        read("#begin document (d); part 000\n#begin document (e); part 000\n")
    with pytest.raises(ValueError, match="x is a list; this format holds documents"):
        Conll2012().write(["a"], [0])


def test_documents_without_mentions_or_words_are_possible() -> None:
    first, second = read(
        "#begin document (d); part 0\n#end document\n\n#begin document (e); part 0\ne 0 0 x - -\n#end document\n"
    )
    assert (first.x.sentences, first.y) == ((), [])
    assert (second.x.sentences, second.y) == ((("x",),), [])


def test_what_is_odd_is_named() -> None:
    crossing = "d 0 0 a - (0\nd 0 1 b - (1\nd 0 2 c - 0)\nd 0 3 d - 1)\n"
    summary = summarise_documents(
        read(f"#begin document (d); part 0\n{crossing}#end document\n" * 2 + "#begin document (e)\n#end document\n")
    )
    found = [oddity.what for oddity in summary.oddities]
    assert sum("overlap, neither being within the other" in what for what in found) == 2
    assert "'d', part 0, comes a second time" in found
    assert "a document without mentions" in found
    assert (summary.examples, summary.tokens, summary.mentions, summary.entities) == (3, 8, 4, 4)


SHORT = """# of three columns
Ann NNP (0)
saw VBD -
# SYM (1
her PRP (0)|1)

It PRP _
"""


def test_words_may_be_in_another_column() -> None:
    found, (example,) = read_examples(io.BytesIO(SHORT.encode()), Conll2012(word=0))
    assert example.x.sentences == (("Ann", "saw", "#", "her"), ("It",))
    assert [" ".join(example.x.words(m)) for m in example.x.mentions] == ["Ann", "# her", "her"]
    assert example.y == [0, 1, 0]
    assert found.annotate(example, [0, 1, 0]) == SHORT.replace("(0)|1)", "1)|(0)").partition("\n")[2]
    _, (same,) = read_examples(io.BytesIO(f"#begin document (d)\n{SHORT}#end document\n".encode()), Conll2012(word=0))
    assert (same.x.sentences, same.x.mentions, same.y) == (example.x.sentences, example.x.mentions, example.y)
    with pytest.raises(ValueError, match="word is -1; expected the number of a column"):
        Conll2012(word=-1)


def test_a_file_without_names_of_documents_is_one_document() -> None:
    (example,) = read("\n".join(line for line in TEXT.splitlines() if not line.startswith("#")))
    (named,) = read(TEXT)
    assert (example.x.sentences, example.x.mentions, example.y) == (named.x.sentences, named.x.mentions, named.y)
    assert (example.x.name, example.line) == ("", 1)
    with pytest.raises(FormatError, match="expected '#begin document', found 'd 0 0 x - -'"):
        read(TEXT + "d 0 0 x - -\n")


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("Ann NNP (0)\nsaw VBD -\nher PRP (0)\n", "conll2012"),
        ("Ann (a1|(b2\nBell a1)\nLee b2)\n", "conll2012"),
        ("Ann NNP (NP*\nBell NNP *)\n", "columns"),
        ("Ann NNP (S(NP*\nBell NNP *)\n", "columns"),
        ("Ann NNP -\nBell NNP _\n", "columns"),
        ("the dog (barks)\n", "columns"),
        ("(1)\n(2)\n", "columns"),
        (") ( (1)\n( ) O\n", "columns"),
    ],
)
def test_mentions_in_the_last_column_are_no_labels_of_tokens(text: str, name: str) -> None:
    assert recognise(text.split("\n")).name == name
