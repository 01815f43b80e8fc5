"""The command line on pairs of sequences."""

import json
import operator

import numpy as np
import pytest

import structlearn
from structlearn.io import NamedSequence, Pairs
from structlearn.metrics import q_score
from structlearn.models import Alignment
from structlearn.persistence import model_file


def pairs(n, seed):
    """Aligned pairs of a substitution process that is the same for all seeds."""
    generator = np.random.default_rng(seed)
    X, Y = [], []
    for k in range(n):
        s = "".join(generator.choice(list("ACGT"), generator.integers(8, 15)))
        kept = np.flatnonzero(generator.random(len(s)) > 0.15)
        t = "".join("CAGT"["ACGT".index(s[i])] if generator.random() < 0.3 else s[i] for i in kept)
        X.append((NamedSequence(s, f"s{k} of {seed}"), NamedSequence(t, f"t{k} of {seed}")))
        Y.append(tuple((int(i), j) for j, i in enumerate(kept)))
    return X, Y


@pytest.fixture
def folders(tmp_path, monkeypatch):
    """Aligned pairs in a folder each for training and testing, and those for testing in one file without gaps."""
    monkeypatch.chdir(tmp_path)
    for seed, (name, n) in enumerate({"train": 12, "test": 8}.items()):
        tmp_path.joinpath(name).mkdir()
        for k, (x, y) in enumerate(zip(*pairs(n, seed), strict=True)):
            tmp_path.joinpath(name, f"{k:02}.fasta").write_text(Pairs().write(x, y))
    new = "".join(f">{s.header}\n{s}\n" for x in pairs(8, 1)[0] for s in x)
    tmp_path.joinpath("new.fasta").write_text(new)
    return tmp_path


@pytest.fixture
def aligner(folders, run):
    assert run("train", "train", "-o", "aligner.slm", "-q", "-c", "10")[0] == 0
    return folders / "aligner.slm"


def test_the_command_line_learns_and_aligns_as_the_library_does(folders, run, run_json):
    told = run_json("train", "train", "-o", "aligner.slm", "-c", "10", "--tol", "1e-6")
    X, Y = pairs(12, 0)
    svm = structlearn.StructuralSVM(Alignment(), C=10, tol=1e-6).fit(X, Y)
    assert (told["structure"], told["examples"], told["alphabet"]) == ("Alignment", 12, "ACGT")
    assert told["objective"] == svm.objective_
    X, _ = pairs(8, 1)
    expected = "".join(map(Pairs().write, X, svm.predict(X)))
    assert run("predict", "aligner.slm", "new.fasta") == (0, expected, "")
    assert run("predict", "aligner.slm", "test") == (0, expected, "")
    svm.save("own.slm")
    assert run("predict", "own.slm", "new.fasta") == (0, expected, "")


@pytest.mark.parametrize("learner", ["svm", "crf", "perceptron"])
def test_every_learner_learns_to_align(folders, run, run_json, learner):
    run_json("train", "train", "-o", "m.slm", "--learner", learner, "--random-state", "3")
    assert run_json("evaluate", "m.slm", "train")["loss"] < 0.3


def test_options_of_alignments_reach_the_model(folders, run):
    words = "--alphabet ACGTN --ends semiglobal --gaps affine --features window --normalise --loss q_shift --shift 2"
    assert run("train", "train", "-o", "m.slm", "-q", *words.split(), "--reading", "text")[0] == 0
    model = structlearn.load("m.slm").model
    assert (model.alphabet, model.ends, model.gaps, model.features) == ("ACGTN", "semiglobal", "affine", "window")
    assert (model.normalise, model.loss, model.shift, model.reading) == (True, "q_shift", 2, "text")


def test_options_of_other_structures_are_refused(folders, run):
    status, _, err = run("train", "train", "--order", "2")
    told = "it is for files of sequences or files of dependency trees"
    assert (status, err) == (1, f"structlearn: --order has no effect here: {told}\n")
    folders.joinpath("train.txt").write_text("the D\ndog N\n\n")
    status, _, err = run("train", "train.txt", "--gaps", "affine")
    assert (status, err) == (1, "structlearn: --gaps has no effect here: it is for files of pairs\n")
    status, _, err = run("train", "train", "--loss", "hamming", "-q")
    assert (status, "'--loss': 'hamming'; it may be 'q', 'q_shift', 'f1' or 'zero_one'" in err) == (2, True)
    status, _, err = run("train", "train", "--templates", "x")
    assert (status, err.startswith("structlearn: --templates are for files of words")) == (1, True)


def test_tuning_scores_alignments_by_the_matches_that_are_found(folders, run_json, run):
    words = ("--folds", "2", "-j", "1", "--seed", "1")
    found = run_json("tune", "train", "--grid", "C=0.001,10", "--grid", "loss=q,q_shift", *words)
    assert [result["setting"] for result in found["results"]] == [
        {"loss": loss, "C": C} for loss in ("q", "q_shift") for C in (0.001, 10.0)
    ]
    assert 0.8 < found["score"] < 1.0
    assert run("tune", "train", "--grid", "C=1", *words, "-o", "best.slm", "-q") == (0, "best: C=1.0\n", "")
    assert run("predict", "best.slm", "new.fasta")[0] == 0


def test_a_letter_of_one_pair_is_known_in_all_parts_and_to_learning_curves(folders, run, run_json):
    folders.joinpath("train/rare.fasta").write_text(">a\nACGTN\n>b\nACGT-\n")
    assert run_json("tune", "train", "--grid", "C=1", "--folds", "3", "-j", "1")["score"] > 0.5
    assert run_json("train", "train", "-o", "m.slm")["alphabet"] == "ACGNT"
    folders.joinpath("test/rare.fasta").write_text(">a\nACGTN\n>b\nACGT-\n")
    assert run("report", "m.slm", "test", "--learning-curve", "train")[:2] == (0, "report.html\n")


def test_checking_counts_letters_and_matches(folders, run, run_json):
    status, out, _ = run("check", "train")
    assert (status, out.startswith("train: pairs, 12 pairs, ")) == (0, True)
    assert "not aligned" in run("check", "new.fasta")[1]
    odd = ["ACC", "ACC", "ACC", "ACC", "AC-", "--C", "AC", "ACW", "ACC---", "---ACC"]
    folders.joinpath("odd.fasta").write_text("".join(f">{k}\n{row}\n" for k, row in enumerate(odd)))
    status, out, _ = run("check", "odd.fasta")
    assert status == 1
    assert "odd.fasta:13: sequences that are not aligned, unlike those before" in out
    assert "odd.fasta:13: the letter W occurs only here" in out
    assert "odd.fasta:9: an alignment without a single match" in out
    assert "odd.fasta:17: the same sequences as at odd.fasta:1, aligned in another way" in out
    assert run("check", "odd.fasta", "--json")[0] == 1
    assert json.loads(run("check", "odd.fasta", "--json")[1])["letters"]["C"] == 16


def test_families_become_pairs_by_conversion(folders, run):
    folders.joinpath("family.sto").write_text("# STOCKHOLM 1.0\nq A-CG\nr ATC-\ns A--G\n//\n")
    expected = ">q\nA-CG\n>r\nATC-\n>q\nACG\n>s\nA-G\n"
    assert run("convert", "family.sto", "--to", "pairs") == (0, expected, "")
    assert run("convert", "family.sto", "--to", "jsonl")[::2] == (
        1,
        "structlearn: pairs holds pairs of sequences, jsonl holds sequences: one cannot become the other\n",
    )


BAD = {
    "letter": (">a\nAC\n>b\nA3\n", "bad/b.fasta:4:2: the character '3' is no letter of a sequence"),
    "lengths": (">a\nACG-\n>b\nACG\n", "bad/b.fasta:3:1: 'b' has 3 columns, but 'a' has 4"),
    "not aligned": (
        ">a\nACGG\n>b\nACG\n",
        "bad/b.fasta:1: these sequences are not aligned: 4 and 3 letters without a gap",
    ),
    "two gaps": (">a\nA-C\n>b\nA-G\n", "bad/b.fasta:3:1: column 2 is a gap in both 'a' and 'b'"),
    "empty": (">a\nAC\n>b\n\n", "bad/b.fasta:3:1: 'b' is an empty sequence"),
    "odd": (">a\nAC\n", "bad/b.fasta:1:1: 'a' is the last of an odd number of sequences"),
    "words": (
        "the DET\ndog NOUN\n",
        "bad/b.fasta:1:1: expected a file in the format pairs; this one looks like columns",
    ),
}


@pytest.mark.parametrize(("content", "message"), BAD.values(), ids=BAD)
def test_what_is_wrong_in_a_folder_is_named_with_file_and_line(folders, run, content, message):
    folders.joinpath("bad").mkdir()
    folders.joinpath("bad/a.fasta").write_text(">a\nAC\n>b\nAC\n")
    folders.joinpath("bad/b.fasta").write_text(content)
    status, _, err = run("train", "bad")
    assert (status, err[: len(message) + 13]) == (1, f"structlearn: {message}")
    assert not folders.joinpath("model.slm").exists()


def test_a_letter_outside_the_alphabet_is_named_with_file_and_line(aligner, folders, run):
    folders.joinpath("new.fasta").write_text(">a\nACGT\n>b\nACT\n>c\nACXGT\n>d\nACGT\n")
    for command in (("predict", aligner, "new.fasta"), ("train", "new", "--alphabet", "ACGT", "-q")):
        folders.joinpath("new").mkdir(exist_ok=True)
        folders.joinpath("new/x.fasta").write_text(">c\nACXGT\n>d\nAC-GT\n")
        status, _, err = run(*command)
        place = "new.fasta:5: X[1]" if command[0] == "predict" else "new/x.fasta:1: X[0]"
        assert status == 1
        assert err == f"structlearn: {place}[0] has the letter 'X' at 2, which is not among A C G T\n"


def test_a_folder_may_hold_all_formats_of_pairs(folders, run, run_json):
    folders.joinpath("train/family.sto").write_text("# STOCKHOLM 1.0\nq A-CG\nr ATC-\ns A--G\n//\n")
    folders.joinpath("train/family.a3m").write_text(">q\nACG\n>r\nAttC-\n")
    assert run_json("train", "train", "-o", "m.slm")["examples"] == 12 + 2 + 1


def test_a_folder_without_files_is_named(folders, run):
    folders.joinpath("empty/inner").mkdir(parents=True)
    folders.joinpath("empty/.hidden").write_text("")
    assert run("train", "empty") == (1, "", "structlearn: empty is a folder without files\n")


def test_a_file_of_the_folder_that_is_read_is_not_overwritten(aligner, run):
    status, _, err = run("predict", aligner, "test", "-o", "test/00.fasta")
    assert (status, "is the file that is read" in err) == (1, True)


def test_evaluation_measures_matches(aligner, run_json):
    found = run_json("evaluate", aligner, "test")
    X, Y = pairs(8, 1)
    predicted = structlearn.load(aligner).predict(X)
    assert found["q"] == pytest.approx(q_score(Y, predicted))
    assert found["q4"] == pytest.approx(q_score(Y, predicted, 4))
    assert found["loss"] == pytest.approx(1.0 - found["q"])
    assert found["intervals"]["q"][0] < found["q"] < found["intervals"]["q"][1]
    assert found["accuracy"] == sum(map(operator.eq, Y, predicted)) / 8


def test_inspection_shows_pairs_of_letters_and_gaps(aligner, run, run_json):
    found = run_json("inspect", aligner, "--top", "1")
    assert (found["reader"], "labels" in found) == ("pairs", False)
    assert set(found["top_weights"]["features"]) == {"matches", "gaps"}
    status, out, _ = run("inspect", aligner)
    assert (status, "each letter" in out) == (0, True)


def test_predictions_are_drawn_with_what_is_wrong(aligner, run):
    status, out, _ = run("predict", aligner, "test", "--draw")
    assert (status, "s0  1 " in out, "matches wrong" in out, "✓" in out) == (0, True, True, True)
    status, out, _ = run("predict", aligner, "new.fasta", "--draw")
    assert (status, "t0  1 " in out, "✓" in out) == (0, True, False)


def test_reports_draw_alignments(aligner, folders, run):
    assert run("report", aligner, "test", "-o", "report.html")[:2] == (0, "report.html\n")
    page = folders.joinpath("report.html").read_text()
    assert '<pre class="alignment">' in page
    assert "the share of the true matches that are missed" in page


OPTIONS = [
    Alignment("ACGT"),
    Alignment(tuple("ACGT"), ends="local", gaps="affine"),
    Alignment(features="window", gap_features="context", normalise=True, loss="q_shift", shift=1, reading="text"),
]


@pytest.mark.parametrize("model", OPTIONS, ids=repr)
def test_a_saved_aligner_predicts_what_it_predicted(model, tmp_path):
    X, Y = pairs(12, 0)
    X_new, _ = pairs(8, 1)
    svm = structlearn.StructuralSVM(model, C=10).fit(X, Y)
    structlearn.save(svm, tmp_path / "aligner.slm", reader=Pairs())
    saved = model_file.read(tmp_path / "aligner.slm")
    assert saved.estimator.predict(X_new) == svm.predict(X_new)
    assert (saved.reader, saved.estimator.spec_) == (Pairs(), svm.spec_)


def test_a_saved_aligner_of_annotated_sequences_predicts_what_it_predicted(tmp_path):
    def annotated(sequence, k):
        n = len(sequence)
        structure = ["HEC"[(k + i) % 3] for i in range(n)]
        profile = np.random.default_rng(k).random((n, 4))
        return {
            "residue": sequence,
            "structure": structure,
            "accessibility": [i % 2 for i in range(n)],
            "profile": profile,
        }

    X, Y = pairs(12, 0)
    X = [(annotated(s, k), annotated(t, k + 1)) for k, (s, t) in enumerate(X)]
    for features in ("sum", "profile"):
        svm = structlearn.StructuralSVM(Alignment(features=features, gap_features="context"), C=10).fit(X[:6], Y[:6])
        structlearn.save(svm, tmp_path / "aligner.slm")
        assert structlearn.load(tmp_path / "aligner.slm").predict(X[6:]) == svm.predict(X[6:])


FAMILIES = {
    "one.sto": "a MKVL-AG\n#=GR a SS CHHH-CC\n#=GR a SA 0123-45\nb MKI-LAG\n#=GR b SS CHH-HCC\n#=GR b SA 012-345\n",
    "two.sto": "c GLVKM\n#=GR c SS CCHHH\n#=GR c SA 01234\nd GLIKM\n#=GR d SS CCHHH\n#=GR d SA 01234\n",
}


@pytest.fixture
def families(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    tmp_path.joinpath("train").mkdir()
    for name, text in FAMILIES.items():
        tmp_path.joinpath("train", name).write_text(f"# STOCKHOLM 1.0\n{text}//\n")
    return tmp_path


def test_annotations_of_stockholm_files_are_learnt_from(families, run, run_json):
    told = run_json("train", "train", "-o", "m.slm", "--features", "sum", "-c", "10", "--tol", "1e-6")
    first = {"residue": "MKVLAG", "structure": "CHHHCC", "accessibility": "012345"}
    second = {"residue": "MKILAG", "structure": "CHHHCC", "accessibility": "012345"}
    other = {"structure": "CCHHH", "accessibility": "01234"}
    X = [(first, second), ({"residue": "GLVKM", **other}, {"residue": "GLIKM", **other})]
    Y = [((0, 0), (1, 1), (2, 2), (4, 4), (5, 5)), tuple((k, k) for k in range(5))]
    model = Alignment("AGIKLMV", features="sum")
    svm = structlearn.StructuralSVM(model, C=10, tol=1e-6).fit(X, Y)
    assert told["objective"] == pytest.approx(svm.objective_, rel=1e-6)
    assert structlearn.load("m.slm").spec_ == svm.spec_
    status, out, _ = run("predict", "m.slm", "train/two.sto")
    assert (status, out) == (0, ">c\nGLVKM\n>d\nGLIKM\n")
    assert run_json("evaluate", "m.slm", "train")["q"] > 0.5
    families.joinpath("plain.fasta").write_text(out)
    status, _, err = run("predict", "m.slm", "plain.fasta")
    assert (status, err) == (
        1,
        "structlearn: plain.fasta:1: X[0][0] has no 'structure', which the model was trained with\n",
    )


def test_annotations_that_no_feature_uses_are_not_needed(families, run):
    assert run("train", "train", "-o", "m.slm", "-q")[0] == 0
    families.joinpath("plain.fasta").write_text(">c\nGLVKM\n>d\nGLIKM\n")
    assert run("predict", "m.slm", "plain.fasta")[0] == 0


def test_annotations_of_another_length_are_refused(families, run):
    families.joinpath("bad.sto").write_text("# STOCKHOLM 1.0\na MK\n#=GR a SS CHH\nb MK\n//\n")
    status, _, err = run("train", "bad.sto", "--features", "sum")
    assert (status, err) == (1, "structlearn: bad.sto:2:1: the structure of 'a' has 3 letters for 2 columns\n")
