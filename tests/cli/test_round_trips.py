"""What `predict` writes, for every format: the file as it was, line by line, with predictions that `evaluate` reads."""

import json
import re
from dataclasses import dataclass

import pytest
from typer.testing import CliRunner

from structlearn.cli import app
from structlearn.io.formats import FORMATS


@dataclass(frozen=True)
class Case:
    """A format, a file to learn from, and one with all that may stand between examples.

    `prediction` is what a line has more when it was predicted; where predictions replace labels it is both, and nothing
    else of a line may change.
    """

    format: str
    train: str
    new: str
    prediction: str
    replaces: bool = False
    options: tuple[str, ...] = ()
    encoding: str = "utf-8"


def tabs(text):
    return text.replace(" ", "\t")


COLUMNS = "# one\nthe DT B\ndog NN I\n\n# two\nruns VB O\nthe DT B\n\n"
MESSY = "\n\n-DOCSTART- -X- O\n\n\n# one\nthe DT B\r\ncäfe NN I  \n\n \n\n# only a comment\n\nruns\tVB O\r\n\n\n"
CONLLU = """# text = the dog
1 the the DET DT _ 2 det _ _
2-3 dogs _ _ _ _ _ _ _ _
2 dog dog NOUN NN _ 0 root _ _
3 s s PART POS _ 2 case _ _

"""
JSON = '{"tokens": ["the", "dog"], "labels": ["D", "N"]}\n'
DOCUMENT = """#begin document (d{0}); part 000
d{0} 0 0 Ann - (4)
d{0} 0 1 saw - -
d{0} 0 2 her - (6|(4)
d{0} 0 3 dog - 6)

#end document
"""
NETWORK = (
    '{"nodes": [{"id": "p", "label": "x", "features": {"x": 1.0}}, {"id": "q", "label": "x", "features": {}}], '
    '"name": 7, "links": [{"source": "p", "target": "q"}]}\n'
)
ARFF = "@relation 'shapes: -C -2'\n@attribute size real\n@attribute red {0,1}\n@attribute 'is round' {0,1}\n@data\n"
TREES = "(S (NP (DT the) (NN dog)) (VP (VBZ barks)))\n( (S (NP (PRP it)) (VP (VBZ has) (NP (DT a) (NN bone)))))\n"

CASES = {
    "columns": Case("columns", COLUMNS, MESSY, r"[ \t]\S+(?=\r?$)"),
    "columns in latin-1": Case("columns", COLUMNS, MESSY, r"[ \t]\S+(?=\r?$)", encoding="latin-1"),
    "columns in utf-16": Case("columns", COLUMNS, MESSY, r"[ \t]\S+(?=\r?$)", encoding="utf-16"),
    "columns with a mark": Case("columns", COLUMNS, "\ufeff" + MESSY.lstrip(), r"[ \t]\S+(?=\r?$)"),
    "columns without a last line end": Case("columns", COLUMNS, "the DT B\ndog NN I", r"[ \t]\S+(?=\r?$)"),
    "columns with tabs": Case("columns", tabs("the DT B\ndog NN I\n\n"), tabs("\n\ndog NN O\n\n\n"), r"\t\S+$"),
    "columns with commas": Case("columns", "the,DT,B\ndog,NN,I\n\n", "\ndog,NN,O\n\n\n", r",\w+$"),
    "columns by name": Case(
        "columns", "DT the B\nNN dog I\n\n", "\nNN dog O\n\n\n", r" \w+$", options=("--columns", "pos,word,chunk")
    ),
    "tagged": Case("tagged", "the/D dog/N\na/D cat/N\n", "\n\nthe/N  cat/N\r\n\n a/D dog/D\n\n", r"/\w", True),
    "conllu": Case(
        "conllu",
        tabs(CONLLU),
        tabs(f"\n\n{CONLLU}\n\n# end\n\n{CONLLU}").replace("DET", "ADJ"),
        r"\t(?:ADJ|DET|NOUN|PART)",
        True,
    ),
    "conllu xpos": Case(
        "conllu", tabs(CONLLU), tabs(CONLLU).replace("DT", "NN"), r"\t(?:DT|NN|POS)", True, ("--label", "xpos")
    ),
    "conllu of trees": Case(
        "conllu",
        tabs(CONLLU),
        tabs(f"\n\n{CONLLU}\n# end\n\n{CONLLU}").replace("2\tdet", "3\tcase"),
        r"\t\d\t(?:det|root|case)",
        True,
        ("--label", "tree"),
    ),
    "svmlight": Case("svmlight", "1 1:1 2:.5\n2 3:1\n", "\n# rows\n1 1:1 # one\n\n 1 3:1e0\n\n", r"^ ?\d", True),
    "svmhmm": Case(
        "svmhmm",
        "1 qid:1 1:1\n2 qid:1 2:1\n2 qid:2 2:1\n",
        "# tokens\n\n2 qid:1 1:1 # a\n# between\n\n2 qid:1 2:1\n\n2 qid:5 2:1\n# end",
        r"^\d",
        True,
    ),
    "letor": Case(
        "letor",
        "2 qid:1 1:1 2:0 #docid = a\n0 qid:1 1:0 2:1 #docid = b\n",
        "# queries\n0 qid:1 1:1 2:0 #docid = a\n\n2 qid:1 1:0 2:1 #docid = b\n\n1 qid:2 1:0 2:1 #docid = b\n",
        r"^\d",
        True,
    ),
    "crfsuite": Case(
        "crfsuite",
        "D\tw=the\nN\tw=dog\tcap:2\n\n",
        "\n\n@weight:2\nN\tw=dog\t\n\n\nN\tw=the\nN\tw=dog:0.50\n\n",
        r"^\w",
        True,
    ),
    "jsonl": Case(
        "jsonl", JSON, '\n\n{"tokens":["dog" ],"labels":["D"],  "id": 1e3}\n\n' + JSON, r', "predicted": \[.*\](?=})'
    ),
    "jsonl of attributes": Case(
        "jsonl",
        '{"tokens": [{"w": "the"}, {"w": "dog"}], "labels": [1, 2]}\n',
        '{"tokens": [{"w": "dog"}], "labels": [1]} \n\n',
        r', "predicted": \[.*\](?=})',
    ),
    "jsonl of rows": Case(
        "jsonl",
        '{"features": {"a": 1}, "label": "x"}\n{"features": {"b": 1}, "label": "y"}\n',
        '\n{"features": {"b": 1}, "label": "x"}\n',
        r', "predicted": "."(?=})',
    ),
    "jsonl of sets": Case(
        "jsonl",
        '{"features": {"a": 1}, "labels": ["x"]}\n{"features": {"b": 1}, "labels": ["y", "x"]}\n',
        '\n{"features": {"b": 1e0}, "labels": []}\n',
        r', "predicted": \[.*\](?=})',
    ),
    "multilabel": Case(
        "multilabel",
        "1,2 1:1\n2 2:1\n1,2 1:1 2:.5\n2 2:1\n",
        "# rows\n\n2,1 2:1 # one\n\n2 1:1e0\r\n",
        r"^[12,]+",
        True,
    ),
    "nodelink": Case(
        "nodelink",
        NETWORK + NETWORK.replace("x", "y"),
        "\n\n" + NETWORK.replace('"label": "x"', '"label": "y"') + "\n" + NETWORK,
        r'"label": "."',
        True,
    ),
    "arff": Case(
        "arff",
        ARFF + "1.5,1,0\n-1.5,0,1\n2,1,0\n",
        "% new\n" + ARFF + "\n 1.5e0 ,0,0 % one\n\n-2,1,1\n% end\n",
        r",[01],[01]",
        True,
    ),
    "arff of sparse rows": Case(
        "arff",
        ARFF + "{0 1.5, 1 1}\n{0 -1.5,2 1}\n{0 2,1 1}\n",
        ARFF + "{ 0 1.50, 2 1}\n\n{0 -2, 1 1 } % two",
        r",? ?[12] 1 ?",
        True,
    ),
    "brackets": Case(
        "brackets",
        TREES,
        f"\n\n{TREES}\n\n{TREES}".replace("(NN dog))", "(NP (NN dog)))"),
        r"\(.*\)",
        True,
        ("-c", "10"),
    ),
    "conll2012": Case(
        "conll2012",
        "".join(map(DOCUMENT.format, range(3))),
        "\n\n" + "\n# by hand\n\n".join(map(DOCUMENT.format, range(2))).replace("4", "6") + "\n",
        r"[-()|\d]+$",
        True,
    ),
    "word_alignments": Case(
        "word_alignments",
        "the house ||| la maison ||| 0-0 1-1\nthe cat ||| le chat ||| 0-0 1-1\n" * 2,
        "\n  the  house|| ||| la\tmaison ||| \n\nthe cat ||| le chat ||| 0-1 1?1\n",
        r"\|\|\|[^|]*$",
        True,
    ),
    "fasta": Case(
        "fasta",
        "".join(f">a{k} label=1\nAAATGACGT\n>b{k} label=-1\nCCGCCGCCT\n" for k in range(3)),
        "; sites\n\n>a of two label=-1\nAAATG\nacgt\n; within\nA\n\n\n>b label=1\nccgccgcct\n",
        r" predicted=-?1$",
        options=("--width", "3", "--random-state", "0"),
    ),
}
#: Formats of which the lines cannot stay, as the page on formats says.
NOT_LINE_BY_LINE = {"pairs"}


@pytest.fixture(scope="module")
def run():
    def command(*words):
        result = CliRunner().invoke(app, [str(word) for word in words])
        assert result.exit_code == 0, (words, result.output, result.exception)
        return result.stdout_bytes

    return command


@pytest.fixture(scope="module")
def predicted(run, tmp_path_factory):
    """The folder of a case, with train, new, model.slm and what `predict` made of the new file; made once a case."""
    made = {}

    def folder(name):
        if name not in made:
            case, made[name] = CASES[name], tmp_path_factory.mktemp("case")
            for file in ("train", "new"):
                (made[name] / file).write_bytes(getattr(case, file).encode(case.encoding))
            said = () if case.format in ("columns", "conllu") else ("--format", case.format)
            encoding = ("--encoding", case.encoding)
            model = made[name] / "model.slm"
            run("train", made[name] / "train", "-o", model, "-q", *said, *case.options, *encoding)
            run("predict", model, made[name] / "new", "-o", made[name] / "written", *encoding)
        return made[name]

    return folder


def test_every_format_is_tried():
    assert {case.format for case in CASES.values()} | NOT_LINE_BY_LINE == set(FORMATS)


@pytest.mark.parametrize("name", CASES)
def test_a_file_with_predictions_is_the_file_line_by_line(name, predicted):
    case, folder = CASES[name], predicted(name)
    before = case.new.split("\n")
    after = (folder / "written").read_bytes().decode(case.encoding).split("\n")
    assert len(after) == len(before)
    assert after != before
    found = re.compile(case.prediction)
    for old, new in zip(before, after, strict=True):
        if case.replaces:
            assert found.sub("·", new) == found.sub("·", old)
        elif new != old:
            assert found.sub("", new) == old


@pytest.mark.parametrize("name", CASES)
def test_standard_output_gets_the_same_bytes_as_a_file_however_many_batches(name, predicted, run, monkeypatch):
    folder = predicted(name)
    monkeypatch.setattr("structlearn.annotation.examples.BATCH", 1)
    printed = run("predict", folder / "model.slm", folder / "new", "--encoding", CASES[name].encoding)
    assert printed == (folder / "written").read_bytes()


@pytest.mark.parametrize("name", CASES)
def test_what_was_written_is_what_is_evaluated(name, predicted, run):
    case, folder = CASES[name], predicted(name)

    def evaluate(file, *options):
        words = ("evaluate", folder / "model.slm", folder / file, "--json", "--encoding", case.encoding, *options)
        return json.loads(run(*words))

    if case.replaces:
        # The true labels are gone: the model agrees with itself.
        assert evaluate("written")["loss"] == 0.0
        assert evaluate("new")["loss"] > 0.0
    elif case.format == "columns":
        names = {"columns by name": "pos,word,chunk"}.get(name, "word,pos,chunk")
        separator = ("--separator", ",") if "commas" in name else ()
        options = ("--columns", f"{names},_", "--label", "chunk", *separator)
        assert evaluate("written", *options) == evaluate("new")
    else:
        assert evaluate("written") == evaluate("new")


def test_pairs_keep_their_headers_and_what_stands_between_them(tmp_path, run):
    (tmp_path / "train").write_text(">a\nAC-GT\n>b\nACGGT\n>c\nAACG\n>d\nA-CG\n")
    (tmp_path / "new").write_text("; new\n\n>one of two\nacg\n\nt\n>two\nACGGT\n\n; next\n>three\nAAC\n>four\nA-C\n\n")
    model = tmp_path / "model.slm"
    run("train", tmp_path / "train", "-o", model, "-q")
    run("predict", model, tmp_path / "new", "-o", tmp_path / "written")
    lines = (tmp_path / "written").read_text().split("\n")
    assert [line for line in lines if not line.replace("-", "A").isalpha()] == [
        *("; new", "", ">one of two", ">two", "", "; next", ">three", ">four", "", "")
    ]
    assert json.loads(run("evaluate", model, tmp_path / "written", "--json"))["loss"] == 0.0


def test_trees_on_several_lines_or_beside_one_another_are_written_a_line_each(tmp_path, run):
    (tmp_path / "train").write_text(TREES)
    (tmp_path / "new").write_text("\n(ROOT (S (NP (DT a))\n   (VP (VBZ has))))\n\n\n(S (NN dog)) ( (S (NN bone)))\n")
    run("train", tmp_path / "train", "-o", tmp_path / "model.slm", "-q")
    lines = run("predict", tmp_path / "model.slm", tmp_path / "new").decode().split("\n")
    assert [bool(line) for line in lines] == [False, True, False, False, True, True, False]
    assert [line.startswith("((") for line in lines if line] == [False, False, True]


def test_a_prediction_that_the_encoding_lacks_is_refused(tmp_path, run):
    (tmp_path / "train").write_text("the Δ\ndog Ν\n", encoding="utf-8")
    (tmp_path / "new").write_text("caf\xe9\n", encoding="latin-1")
    run("train", tmp_path / "train", "-o", tmp_path / "model.slm", "-q")
    words = ["predict", tmp_path / "model.slm", tmp_path / "new", "--encoding", "latin-1"]
    result = CliRunner().invoke(app, list(map(str, words)))
    assert re.match("this cannot be written in latin-1: 'café [ΔΝ]'", str(result.exception))


def test_the_files_of_a_folder_begin_on_lines_of_their_own(tmp_path, run):
    (tmp_path / "train").write_text("the D\ndog N\n")
    run("train", tmp_path / "train", "-o", tmp_path / "model.slm", "-q")
    (tmp_path / "folder").mkdir()
    for name in "ab":
        (tmp_path / "folder" / name).write_text("the\ndog")
    assert run("predict", tmp_path / "model.slm", tmp_path / "folder") == b"the D\ndog N\nthe D\ndog N"


FOUR = "EU NNP B-NP B-ORG\nrejects VBZ B-VP O\nGerman JJ B-NP B-MISC\n\n"


def test_labels_in_the_place_of_the_last_column_are_refused_by_its_number(tmp_path, run):
    (tmp_path / "train").write_text(FOUR)
    run("train", tmp_path / "train", "-o", tmp_path / "model.slm", "-q")
    (tmp_path / "unlabelled").write_text(re.sub(r" \S+\n", "\n", FOUR))
    assert run("predict", tmp_path / "model.slm", tmp_path / "unlabelled").decode().startswith("EU NNP B-NP B-ORG\n")
    (tmp_path / "without chunks").write_text(re.sub(r" B-[NV]P", "", FOUR))
    result = CliRunner().invoke(app, ["predict", str(tmp_path / "model.slm"), str(tmp_path / "without chunks")])
    assert str(result.exception).endswith(
        "chunks:1: column 3 of 3 holds labels (B-MISC, B-ORG, O) where the model has 'column3'; it learnt from 4 "
        "columns, of which only the label may be left out"
    )


def test_columns_that_the_model_does_not_know_are_refused(tmp_path, run):
    (tmp_path / "train").write_text(FOUR)
    run("train", tmp_path / "train", "-o", tmp_path / "model.slm", "-q")
    words = ["evaluate", tmp_path / "model.slm", tmp_path / "train", "--columns", "word,pos,_,ner"]
    result = CliRunner().invoke(app, list(map(str, words)))
    assert str(result.exception) == (
        "--columns has word, pos beside the label, but the model learnt from word, pos, column3"
    )
