import gzip
import io
import os
from contextlib import suppress
from itertools import combinations
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from structlearn.data import Document, Links, Mention, SentencePair, leaves
from structlearn.io import (
    FORMATS,
    ArffSets,
    Brackets,
    Columns,
    Conll2012,
    ConllU,
    CrfSuite,
    FormatError,
    JsonLines,
    LabelledFasta,
    Letor,
    Lines,
    MultiLabelRows,
    NamedNetwork,
    NodeLink,
    Pairs,
    SvmHmm,
    SvmLight,
    Tagged,
    WordAlignments,
    beside,
    format_of,
    open_text,
    read_examples,
    recognise,
)

REAL = Path(os.environ.get("STRUCTLEARN_DATA", ""))
needs_files = pytest.mark.skipif(
    not os.environ.get("STRUCTLEARN_DATA"), reason="STRUCTLEARN_DATA names no folder of data sets"
)

characters = st.characters(codec="utf-8", exclude_characters="\n\r\0\ufeff")
texts = st.text(characters, min_size=1, max_size=8)
words = texts.map(lambda text: text.replace("\t", "").replace(" ", "")).filter(bool)
fields = texts.map(lambda text: text.replace("\t", "")).filter(str.strip)
numbers = st.floats(allow_nan=False, allow_infinity=False)
rows = st.dictionaries(st.integers(1, 10**9).map(str), numbers, max_size=5)
classes = st.one_of(st.integers(-9, 9), st.floats(-9, 9).map(lambda x: x or 0.0)).map(
    lambda x: str(int(x)) if float(x).is_integer() else repr(x)
)
free = st.text(st.characters(codec="utf-8"), max_size=8)


def sequences(token, label):
    """Lists of tokens with their labels."""
    pairs = st.lists(st.tuples(token, label), min_size=1, max_size=3)
    return pairs.map(lambda tokens: ([x for x, _ in tokens], [y for _, y in tokens]))


def attributes(names, weights):
    """Lists of names, or dicts that have a weight other than 1; none of them is an empty dict."""
    weighted = st.dictionaries(names, weights, max_size=4).filter(
        lambda token: not token or set(token.values()) != {1.0}
    )
    return st.lists(names, min_size=1, max_size=4) | weighted


leaf = st.tuples(words, words)
trees = st.recursive(leaf, lambda below: st.tuples(words, below) | st.tuples(words, below, below), max_leaves=4)


@st.composite
def translations(draw):
    word = words.filter(lambda text: text != "|||")
    x = SentencePair(*(tuple(draw(st.lists(word, max_size=4))) for _ in range(2)))
    pairs = st.sets(st.tuples(st.integers(0, 3), st.integers(0, 3))).map(
        lambda found: {(i, j) for i, j in found if i < len(x.source) and j < len(x.target)}
    )
    return x, Links(sorted(draw(pairs)), draw(pairs))


@st.composite
def aligned_pairs(draw):
    """Two sequences and matches of theirs."""
    s, t = (draw(st.text("ACGTW", min_size=1, max_size=90)) for _ in range(2))
    size = draw(st.integers(0, min(len(s), len(t))))
    places = [draw(st.permutations(range(len(sequence)))) for sequence in (s, t)]
    return (s, t), tuple(zip(*(sorted(place[:size]) for place in places), strict=True))


@st.composite
def documents(draw):
    """A text, mentions in it, and their entities numbered as they appear."""
    text = draw(st.lists(st.lists(fields, min_size=1, max_size=4), max_size=2))
    spans = [
        Mention(s, begin, end)
        for s, sentence in enumerate(text)
        for begin in range(len(sentence))
        for end in range(len(sentence), begin, -1)
        if draw(st.booleans())
    ]
    entities: dict[int, int] = {}
    labels = [entities.setdefault(draw(st.integers(0, 2)), len(entities)) for _ in spans]
    return Document(tuple(map(tuple, text)), tuple(spans), draw(words), draw(st.integers(0, 9))), labels


@st.composite
def networks(draw):
    """Nodes with ids, edges between some of them, and features of both, by name or in columns."""
    names = draw(st.lists(free | st.integers(), min_size=1, max_size=4, unique=True))
    pairs = draw(st.lists(st.sampled_from(list(combinations(range(len(names)), 2)) or [None]), unique=True, max_size=4))
    pairs = [pair[:: draw(st.sampled_from((1, -1)))] for pair in pairs if pair is not None]
    by_name, width = draw(st.booleans()), draw(st.integers(0, 3))
    row = st.dictionaries(free, numbers, max_size=2) if by_name else st.lists(numbers, min_size=width, max_size=width)

    def features(n):
        rows = draw(st.lists(row, min_size=n, max_size=n))
        return rows if by_name else np.array(rows, float).reshape(n, width)

    edge_features = features(len(pairs)) if pairs and draw(st.booleans()) else None
    labels = draw(st.lists(free | st.integers(), min_size=len(names), max_size=len(names)))
    return NamedNetwork(features(len(names)), pairs, edge_features, tuple(names)), labels


ROUND_TRIPS = [
    (Columns(), sequences(words, words)),
    (Columns(("word", "pos", "_"), label=1), sequences(st.tuples(words, words), words)),
    (Columns(("word", "pos"), separator="\t"), sequences(st.tuples(fields, fields), fields)),
    (Columns(("word", "pos", "_"), label="pos", comment="#"), sequences(words, words)),
    (Tagged(), sequences(words, words)),
    (Tagged("_"), sequences(st.text("ab_", min_size=1), st.text("N_", min_size=1))),
    (ConllU(), sequences(fields, fields)),
    (ConllU("feats", ("form", "lemma", "upos")), sequences(st.tuples(fields, fields, fields), fields)),
    (Brackets(), trees.map(lambda tree: ([(word, tag) for tag, word in leaves(tree)], tree))),
    (LabelledFasta(), st.tuples(st.text("ACGTN", min_size=1, max_size=90), free | st.integers())),
    (Pairs(), aligned_pairs()),
    (Conll2012(), documents()),
    (Conll2012(word=0), documents()),
    (SvmLight(), st.tuples(rows, classes)),
    (MultiLabelRows(), st.tuples(rows, st.sets(classes, max_size=3))),
    (NodeLink(), networks()),
    (WordAlignments(), translations()),
    (Letor(), sequences(rows, st.integers(-3, 9).map(float) | st.just(0.25))),
    (SvmHmm(), sequences(rows, classes)),
    (CrfSuite(), sequences(attributes(fields, numbers), fields)),
    (JsonLines(), sequences(free, free | st.integers())),
    (JsonLines(columns=("word", "pos")), sequences(st.tuples(free, free), free)),
    (JsonLines("attributes"), sequences(st.dictionaries(free, numbers), free)),
    (JsonLines("row"), st.tuples(st.dictionaries(free, numbers), free | st.integers())),
    (JsonLines("set"), st.tuples(st.dictionaries(free, numbers), st.sets(free | st.integers(), max_size=3))),
    (ArffSets(("a",)), st.tuples(rows, st.just(set()))),
]


def read(form, text):
    return [(example.x, example.y) for example in form.read(Lines([text.encode()], "written"))]


@pytest.mark.parametrize(("form", "examples"), ROUND_TRIPS, ids=[repr(form) for form, _ in ROUND_TRIPS])
@given(st.data())
def test_what_is_written_is_read_again(form, examples, data):
    x, y = data.draw(examples)
    if data.draw(st.booleans()):
        y = None
    try:
        text = form.write(x, y)
    except ValueError as error:
        assert "cannot be written" in str(error)  # noqa: PT017
        return
    assert read(form, text) == [(x, y)]


@pytest.mark.parametrize(("form", "examples"), ROUND_TRIPS, ids=[repr(form) for form, _ in ROUND_TRIPS])
@given(st.data())
def test_examples_written_one_after_another_stay_apart(form, examples, data):
    drawn = data.draw(st.lists(examples, min_size=2, max_size=3))
    try:
        text = "".join(form.write(x, y) for x, y in drawn)
    except ValueError:
        return
    assert read(form, text) == drawn


@pytest.mark.parametrize(
    ("form", "x", "y", "text"),
    [
        (Columns(("word", "_", "pos"), label=0), [("dog", "NN")], ["O"], "O dog _ NN\n\n"),
        (Tagged(), ["1/2", "dogs"], ["CD", "NNS"], "1/2/CD dogs/NNS\n"),
        (Tagged("_"), ["dogs", "run"], None, "dogs run\n"),
        (ConllU(), ["dog"], ["NOUN"], "1\tdog\t_\tNOUN\t_\t_\t_\t_\t_\t_\n\n"),
        (Brackets(), [("dog", "NN")], ("NP", ("NN", "dog")), "((NP (NN dog)))\n"),
        (LabelledFasta(), "ACG", -1, ">sequence label=-1\nACG\n"),
        (Pairs(), ("ACG", "AG"), ((0, 0), (2, 1)), ">first\nACG\n>second\nA-G\n"),
        (
            Conll2012(),
            Document((("her", "dog"),), (Mention(0, 0, 2), Mention(0, 0, 1)), "d"),
            ["x", "y"],
            "#begin document (d); part 000\nd\t0\t0\ther\t-\t(0|(1)\nd\t0\t1\tdog\t-\t0)\n\n#end document\n",
        ),
        (SvmLight(), {"10": 0.5, "9": 2.0}, 3, "3 9:2 10:0.5\n"),
        (Letor(), [{"1": 1.0}, {}], [2.0, 0.5], "2 qid:1 1:1\n0.5 qid:1\n"),
        (SvmHmm(), [{"1": 1.0}], ["2"], "2 qid:1 1:1\n"),
        (CrfSuite(), [["a:b"], {"c": 0.5}], ["X", "Y"], "X\ta\\:b\nY\tc:0.5\n\n"),
        (JsonLines(), ["dög"], None, '{"tokens": ["dög"]}\n'),
        (JsonLines("set"), {"a": 1.0}, {"y", "x"}, '{"features": {"a": 1.0}, "labels": ["x", "y"]}\n'),
        (WordAlignments(), (("a",), ("b", "c")), Links([(0, 1)], [(0, 0)]), "a ||| b c ||| 0?0 0-1\n"),
        (WordAlignments(), (("a",), ("b",)), None, "a ||| b\n"),
        (MultiLabelRows(), {"7": 0.5}, {"10", "2"}, "2,10 7:0.5\n"),
        (
            NodeLink(),
            ([[1.0], [0.5]], [(1, 0)]),
            ["x", "y"],
            '{"nodes": [{"id": 0, "features": [1.0], "label": "x"}, {"id": 1, "features": [0.5], "label": "y"}], '
            '"edges": [{"source": 1, "target": 0}]}\n',
        ),
    ],
)
def test_examples_are_written_as_others_write_them(form, x, y, text):
    assert form.write(x, y) == text


FILES = {
    "columns": ["The DT B-NP", "dog NN I-NP", "", "Runs VB B-VP"],
    "tagged": ["The/at dog/nn barks/vbz ./.", "Dogs/nns bark/vb"],
    "conllu": ["# text = Go", "1\tGo\tgo\tVERB\tVB\t_\t0\troot\t_\t_"],
    "brackets": ["( (S (NP (PRP it))", "  (VP (VBZ works))) )"],
    "fasta": [">one label=+1", "ACGT", ">two of them label=-1 weight=0.5", "AC", "G"],
    "conll2012": ["#begin document (d); part 000", "d 0 0 It PRP (0)", "", "#end document"],
    "pairs": [">one", "AC-G", ">two", "A-CG"],
    "svmlight": ["+1 1:0.5 3:1", "-1 2:1 # comment"],
    "letor": ["1 qid:1 1:0.5 2:1 #docid = a", "2 qid:1 1:NULL 2:3 #docid = b"],
    "svmhmm": ["1 qid:1 1:0.5", "2 qid:1 3:1"],
    "crfsuite": ["B-NP\tw[0]=The\tw[1]=dog\t__BOS__", "I-NP\tw[0]=dog\t__EOS__"],
    "jsonl": ['{"tokens": ["The"], "labels": ["DT"]}'],
    "multilabel": ["1,3 1:0.5 3:1", " 2:1 # no label", "2 1:1"],
    "word_alignments": ["the house ||| la maison ||| 0-0 1?1"],
    "nodelink": ['{"directed": false, "nodes": [{"id": 0}], "links": []}'],
    "arff": ["% shapes", "@RELATION shapes", "@attribute size real", "@attribute red {0,1}", "@data", "1.5,1"],
}


def test_every_format_is_tested():
    assert set(FILES) == set(FORMATS) == {form.name for form, _ in ROUND_TRIPS}


@pytest.mark.parametrize("name", FILES)
def test_a_format_is_recognised_by_its_own_files(name):
    assert recognise(FILES[name]).name == name
    assert recognise(["", *FILES[name]], "some.txt").name == name


@pytest.mark.parametrize(("form", "examples"), ROUND_TRIPS, ids=[repr(form) for form, _ in ROUND_TRIPS])
@given(st.data())
def test_recognising_never_fails_with_anything_but_a_value_error(form, examples, data):
    x, y = data.draw(examples)
    with suppress(ValueError):
        assert recognise(form.write(x, y).split("\n")).name in FORMATS


def test_what_no_format_fits_is_refused_with_the_names_of_all():
    with pytest.raises(
        ValueError,
        match="none of the formats nodelink, jsonl, fasta, pairs, word_alignments, conllu, conll2012, arff, brackets",
    ):
        recognise(["some running text", "of no format that is known"])
    with pytest.raises(ValueError, match="holds no example"):
        recognise(["", " "])


def test_a_file_is_recognised_without_losing_its_first_lines(tmp_path):
    path = tmp_path / "chunks"
    path.write_bytes(gzip.compress("\n".join(FILES["columns"]).encode()))
    found, examples = read_examples(path)
    assert found == Columns(("word", "pos"))
    assert [example.line for example in examples] == [1, 4]


def test_a_pipe_is_recognised_without_losing_its_first_lines():
    reading, writing = os.pipe()
    with os.fdopen(writing, "wb") as pipe:
        pipe.write("\n".join(FILES["svmhmm"]).encode())
    with os.fdopen(reading, "rb") as pipe:
        found, examples = read_examples(pipe)
        assert found == SvmHmm()
        assert [example.y for example in examples] == [["1", "2"]]


def test_a_format_can_be_given_with_its_options_or_by_name():
    content = b"a\tb c\n"
    found, examples = read_examples(io.BytesIO(content), "columns")
    assert found == Columns(separator="\t")
    assert next(examples).y == ["b c"]
    found, examples = read_examples(io.BytesIO(content), Columns(("word", "pos")))
    assert next(examples).x == [("a", "b")]
    with pytest.raises(
        ValueError, match=r"there is no format 'xml'; there are nodelink, jsonl, fasta.*columns, npz, png"
    ):
        read_examples(io.BytesIO(content), "xml")


def test_a_line_that_does_not_fit_is_named_where_the_others_tell_the_format():
    content = b"a DT O\n" * 16 + b"dog NN\n" + b"a DT O\n" * 9
    for form in (None, "columns"):
        _, examples = read_examples(io.BytesIO(content), form)
        with pytest.raises(
            FormatError, match=r"stream:17:1: expected 3 columns separated by blanks, found 2: 'dog NN'"
        ):
            list(examples)
    _, examples = read_examples(io.BytesIO(b"a DT O\nb\n"), "columns")
    with pytest.raises(FormatError, match=r"stream:2:1: expected 3 columns"):
        list(examples)


def test_a_file_of_no_known_format_is_named():
    with pytest.raises(FormatError, match=r"stream:1:1: this looks like none of the formats"):
        read_examples(io.BytesIO(b"a b\nc\n"))
    with pytest.raises(FormatError, match=r"stream:1:1: the file holds no example"):
        read_examples(io.BytesIO(b""))


def test_the_file_is_closed_when_nobody_reads_on(tmp_path):
    path = tmp_path / "rows"
    path.write_text("1 1:1\n2 1:1\n")
    _, examples = read_examples(path)
    next(examples)
    examples.close()
    _, examples = read_examples(path)
    del examples


@pytest.mark.sample(2)
@needs_files
@pytest.mark.parametrize(
    ("file", "form", "n_examples", "n_tokens"),
    [
        ("conll2002/esp.testa.gz", Columns(("word", "pos")), 1915, 52_923),
        ("ud_english_ewt/en_ewt-ud-dev.conllu.gz", ConllU(), 2001, 25_147),
        ("adult/a9a_test.txt.gz", SvmLight(), 16_281, None),
        ("ijcnn1/ijcnn1.trn.bz2", SvmLight(), 49_990, None),
    ],
)
def test_published_files_are_recognised_and_read(file, form, n_examples, n_tokens):
    found, examples = read_examples(REAL / file)
    assert found == form
    sizes = [len(example.x) for example in examples]
    assert len(sizes) == n_examples
    assert n_tokens is None or sum(sizes) == n_tokens


@needs_files
def test_annotated_treebanks_are_what_they_were():
    path = REAL / "ud_english_ewt/en_ewt-ud-test.conllu.gz"
    with open_text(path, keep=True) as lines:
        form = format_of(lines)
        text = "".join(beside(lines, form, ((example, example.y) for example in form.read(lines))))
    assert text == gzip.decompress(path.read_bytes()).decode()


def test_a_place_is_named_once():
    with pytest.raises(FormatError, match=r"^stream:2:1: the byte 0xff"):
        read_examples(io.BytesIO(b"the D\n\xff D\n"))
