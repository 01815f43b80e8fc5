"""What must hold for any bytes whatever: they give examples or a ValueError that names a place, never anything else."""

import bz2
import gzip
import lzma
from itertools import islice

import numpy as np

from structlearn.data import FactorGraph
from structlearn.features.crfpp import read_crfpp_templates
from structlearn.io import (
    FORMATS,
    ArffSets,
    Columns,
    Conll2012,
    ConllU,
    FormatError,
    JsonLines,
    Lines,
    NodeLink,
    read_alignment,
    read_arff,
    read_evidence,
    read_label_names,
    read_uai,
    recognise,
    write_aligned_pair,
)
from structlearn.io.fasta import read_fasta, write_fasta

READ_AS = [
    None,
    *(kind() for kind in FORMATS.values()),
    Columns(("word", "_", "pos"), label=0, separator="\t", comment="#"),
    Columns(("word", "pos"), label="pos", separator=","),
    Conll2012(word=0),
    ConllU(label="feats", columns=("form", "lemma")),
    ConllU("tree"),
    ConllU("tree", partial=True, subtypes=False),
    JsonLines("dependencies"),
    JsonLines("dependencies", partial=True),
    JsonLines("attributes"),
    JsonLines("row"),
    JsonLines("set"),
    NodeLink(partial=True),
    ArffSets(("c",)),
    ArffSets(n_labels=-1),
    JsonLines(columns=("word", "pos")),
    "templates",
    "sequences",
    "alignment.fasta",
    "alignment.a3m",
    "graph",
    "evidence",
    "table",
    "label names",
]
ENCODINGS = ["utf-8", "latin-1", "utf-16", "utf-7", "shift_jis"]
PACKED = [lambda content: content, gzip.compress, bz2.compress, lambda content: lzma.compress(content, preset=0)]

SEEDS = [
    b"the house ||| la maison ||| 0-0 1?1\n\nhe ||| il\n",
    b"a ||| b ||| 0-1-P 99999999999-0 0--0\n||| |||\na ||| b ||| c ||| d\n",
    b"The DT B-NP\ndog NN I-NP\n\n-DOCSTART- -X- O\n\nRuns VB B-VP\r\n",
    b"The\nold\n\nman\n",
    b"The/DT old/JJ\tman/NN\n1/2/CD ./.\n",
    b"( (S (NP-SBJ (PRP it))\n   (VP (VBZ works))) )\n(X (Y y) (Z z))\n",
    b"# text\n1-2 don't _ _ _ _ _ _ _ _\n1 do do AUX VBP _ 0 root _ _\n2.1 x _ _ _ _ _ _ _ _\n".replace(b" ", b"\t"),
    b"1 I _ PRON _ _ 2 nsubj _ _\n2 go _ VERB _ _ 0 root _ _\n\n1 Go _ X _ _ _ _ _ _\n".replace(b" ", b"\t"),
    b"1 a _ X _ _ 2 x:y _ _\n2 b _ X _ _ 1 ? _ _\n3 c _ X _ _ 99 _ _ _\n4 d _ X _ _ 0 | _ _\n".replace(b" ", b"\t"),
    b'{"tokens": ["I", "go"], "heads": [2, 0], "labels": ["nsubj", "root"]}\n',
    b'{"tokens": ["I", "go"], "heads": [null, 1e3], "labels": [null, [1]]}\n{"tokens": ["a"], "heads": null}\n',
    b">a one label=+1\nACG\n>b weight=.5 label=x\nac\n\n>c label=1 label=2\nA\n",
    b"#begin document (a b); part 007\nd 0 0 the - (1|(2\nd 0 1 dog - 2)\nd 0 2 x - (1)|1)|(3)\n\n#end document\n",
    b"# of three columns\nAnn NNP (0)\nsaw VBD -\n# SYM (1\nher PRP 1)|(0)\n\nIt PRP _\n",
    b">a one\nAC-G\n>b\nA-TG\n>c\nac\n>d\nacg\n",
    b"# STOCKHOLM 1.0\n\na  AC.\n#=GR a SS  HH.\nb  A-G\n//\n",
    b"+1 1:0.5 7:2e-3 # comment\n-1 2:1\n",
    b"1 qid:1 3:1 # the\n2 qid:1 5:-.5\n2 qid:2 5:1\n",
    b"2 qid:1 1:1 2:NULL #docid = a\n0 qid:1 1:-.5 2:3\n",
    b"DET\tw=the\tcap\n@weight:2.5\nNOUN\tw=a\\:b\\\\:3\n\n",
    b'{"tokens": ["The", "dog"], "labels": ["DET", 1], "id": 7}\n',
    b'{"tokens": [["The", "DT"]], "labels": null}\n',
    b'{"tokens": [{"w": "a", "n": 1e3, "s": ["x"], "d": {"e": true}}], "labels": [false]}\n',
    b'{"features": {"a": 1, "b": "\\u00e9"}, "label": "x"}\n',
    b"# templates\nU00:%x[-2,0]\nU05:%x[-1,0]/%x[0,1]\nB\nB01:%x[0,0]\n",
    b">one first\nACGT\nAC\n;comment\n>two\nacg tac\n",
    b">a\nAC-GT\n>b x\nA.cGT\n>c\n--CG-\n",
    b">q\nACG\n>r\nAttC-\n>s\ngA-G.\n",
    b"# STOCKHOLM 1.0\n#=GF ID x\n\na AC.\n#=GR a SS HH.\nb A~G\n\na t\n#=GR a SS C\nb T\n//\n",
    b"MARKOV\n3\n2 1 2\n3\n1 0\n2 0 1\n3 2 1 0\n2 .5 1e-3\n2 1 0\n4 1 2 3 4\n",
    b"2 0 1 2 0\n",
    b"% c\n@attribute 'a b' real\n@attribute c {x, 'y z'}\n@attribute d string\n@data\n1,'y z',\"a\\\"\"\n?,x,?\n",
    b"@attribute a real\n@attribute c {x,y}\n@data\n{0 1.5, 1 y}\n{}\n",
    b"@relation 'm: -C 1'\n@attribute c {0,1}\n@attribute 'a, b' real\n@data\n1, 2.5 % one\n 0 ,1\n?,'3'\n",
    b"@attribute a real\n@attribute c {1,0}\n@data\n{0 1.5, 1 0}\n{} % empty\n",
    b"1,3 1:0.5 7:2e-3 # comment\n 2:1\n2\n",
    b'{"features": {"a": 1, "b": "x"}, "labels": ["x", 2]}\n',
    b'{"directed": false, "nodes": [{"id": "a", "label": "x", "features": {"w": "b"}}, {"id": 1, "label": 2}],'
    b' "graph": {}, "links": [{"source": "a", "target": 1, "features": [1e3]}]}\n',
    b'{"nodes": [{"features": [1, 2.5]}, {"features": [0, -1], "label": null}], "edges": []}\n',
    b'<?xml version="1.0"?>\n<labels xmlns="m"><label name="a"><label name="b&amp;"/></label></labels>\n',
    gzip.compress(b"The DT\n"),
    bz2.compress(b"The DT\n"),
    lzma.compress(b"The DT\n"),
]


def check(data: bytes) -> None:
    """The first four bytes choose how the others are read."""
    if len(data) < 4:
        return
    kind, packing, encoding, size = data[:4]
    content = PACKED[packing % len(PACKED)](data[4:])
    if packing >= 128:
        content = content[: -(packing % 16) or None]
    read_as = READ_AS[kind % len(READ_AS)]
    encoding = ENCODINGS[encoding % len(ENCODINGS)] if encoding >= 128 else "utf-8"
    size = 1 + size % 7
    pieces = [content[k : k + size] for k in range(0, len(content), size)]
    try:
        if read_as == "templates":
            read_crfpp_templates([content])
            return
        if read_as in ("graph", "evidence"):
            check_graph(read_as, content)
            return
        if read_as in ("table", "label names"):
            check_table(read_as, content, pieces, encoding)
            return
        if isinstance(read_as, str):
            rows = rows_of(read_as, [content], encoding)
            assert rows_of(read_as, pieces, encoding) == rows, "the same in pieces"
            check_rows(read_as, rows)
            return
        whole = Lines([content], "whole", encoding)
        head = whole.head()
        form = recognise(head, "whole") if read_as is None else read_as
        examples = list(form.read(whole))
    except FormatError as error:
        check_error(error)
        return
    except ValueError:
        if read_as is not None:  # an unknown format has no place
            raise AssertionError("an error without a place") from None
        return
    assert list(form.read(Lines(pieces, "pieces", encoding))) == examples, "the same in pieces"
    check_examples(form, examples)


def check_error(error):
    assert error.line >= 1
    assert error.column >= 1
    assert len(str(error)) < 1000, "an error message without end"


def check_examples(form, examples):
    """Examples that were read can be written, read again and annotated, or writing them is refused."""
    for example in islice(examples, 20):
        try:
            written = form.write(example.x, example.y)
        except ValueError:
            pass
        else:
            (again,) = form.read(Lines([written.encode()], "written"))
            assert (again.x, again.y) == (example.x, example.y), "written and read again"
        check_annotation(form, example)


def check_annotation(form, example):
    """A prediction is read back from beside its input as the label, where the format puts it in the label's place."""
    labels = example.y
    if labels is None:
        n = len(example.x.names) if form.structure == "network" else len(example.x)
        labels = {"row": "1", "set": set(), "dependencies": [*range(n)]}.get(form.structure, ["1"] * n)
    try:
        annotated = form.annotate(example, labels)
    except ValueError:
        return
    # A row of ARFF means nothing without the lines before it.
    replaces = not isinstance(form, (Columns, JsonLines, ArffSets)) or (isinstance(form, Columns) and example.y is None)
    if replaces and getattr(form, "label", -1) in (-1, "upos", "feats", "tree"):
        (again,) = form.read(Lines([annotated.encode()], "annotated"))
        assert (again.x, again.y) == (example.x, labels), "annotated and read again"


class Stream:
    """A file that gives its content in pieces."""

    def __init__(self, pieces, name):
        self.pieces = iter(pieces)
        self.name = name

    def read(self, size):
        return next(self.pieces, b"")


def check_graph(name, content):
    """A graph that was read has a score for any labels, and evidence is of the graph's labels."""
    if name == "graph":
        graph = read_uai(Stream([content], name))
        assert not np.isnan(graph.score(np.zeros(graph.n_variables, int)))
    else:
        graph = FactorGraph.of([2, 1, 2], [])
        graph.given(read_evidence(Stream([content], name), graph))


def check_table(name, content, pieces, encoding):
    """A table has a value for every column and row; it is the same in pieces."""
    whole, other = Stream([content], name), Stream(pieces, name)
    if name == "label names":
        assert read_label_names(whole, encoding) == read_label_names(other, encoding), "the same in pieces"
        return
    table, again = read_arff(whole, encoding), read_arff(other, encoding)
    assert (table.relation, table.attributes) == (again.relation, again.attributes), "the same in pieces"
    for attribute in table.attributes[:20]:
        column = table.column(attribute.name)
        assert len(column) == len(table.lines)
        assert list(map(str, column)) == list(map(str, again.column(attribute.name))), "the same in pieces"


def rows_of(name, pieces, encoding):
    """The sequences of a file, or its alignment."""
    if name == "sequences":
        return list(read_fasta(Lines(pieces, name, encoding)))
    return read_alignment(Stream(pieces, name), encoding)


def check_rows(name, found):
    """Sequences and alignments that were read can be written and read again, or writing them is refused."""
    if name == "sequences":
        assert all(row.sequence.isalpha() and row.sequence.isupper() for row in found)
        rows = [(row.name, row.sequence) for row in found]
    else:
        assert len({len(row) for row in found.rows}) == 1, "rows of one length"
        rows = list(zip(found.names, found.rows, strict=True))
    try:
        written = write_fasta(rows)
    except ValueError:
        return
    if name == "sequences":
        again = [(row.name, row.sequence) for row in rows_of(name, [written.encode()], "utf-8")]
    else:
        read = rows_of("alignment.fasta", [written.encode()], "utf-8")
        again = list(zip(read.names, read.rows, strict=True))
        if len(rows) > 1:
            (s, t), matches = found.pair()
            pair = write_aligned_pair(found.names[:2], s, t, matches)
            assert rows_of("alignment.fasta", [pair.encode()], "utf-8").pair() == ((s, t), matches), "pairs again"
    assert again == rows, "written and read again"
