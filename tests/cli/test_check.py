"""What `check` says of files of tokens."""

import json

import pytest


@pytest.mark.parametrize(
    ("scheme", "tags", "odd", "told"),
    [
        ("BIO", "B-A I-A B-A O B-B", "B-A I-B", "2: I-B follows B-A: it continues nothing"),
        ("BIO", "B-A I-A B-A O B-B", "I-B I-B", "1: I-B begins the example: it continues nothing"),
        ("BIO", "B-A I-A B-A O B-B", "O S-A", "2: S-A is no tag of BIO"),
        (
            "IOB1",
            "I-A I-A B-A O I-B",
            "I-A B-B",
            "2: B-B follows I-A: in IOB1, B stands only right after a span of its",
        ),
        ("IOB1", "I-A I-A O I-B I-B", "B-A I-A", "1: B-A begins the example: in IOB1, B stands only"),
        ("BIOES", "B-A E-A S-A O S-B", "B-A O", "2: O follows B-A, whose span has no end"),
        ("BIOES", "B-A E-A S-A O S-B", "O B-A", "2: B-A ends the example: its span has no end"),
    ],
)
def test_checking_names_the_scheme_and_what_breaks_it(tmp_path, run, run_json, scheme, tags, odd, told):
    def written(tags, name):
        path = tmp_path / name
        path.write_text("".join(f"word {tag}\n" for tag in tags.split()) + "\n")
        return path

    sound = [written(tags, f"{k}.txt") for k in (1, 2)]
    assert json.loads(run("check", sound[0], "--json")[1])["scheme"] == scheme
    out = run("check", tmp_path)[1]
    assert f"5 tokens an example, tags in {scheme}\n" in out
    assert "continues nothing" not in out
    written(odd, "3.txt")
    status, out, _ = run("check", tmp_path)
    assert (status, f"tags in {scheme}\n" in out) == (1, True)
    assert f"{tmp_path / '3.txt'}:{told}" in out


def test_labels_that_are_no_tags_have_no_scheme(tmp_path, run):
    path = tmp_path / "words.txt"
    path.write_text("the B\ndog I\nsees V\n\n" * 2)
    assert json.loads(run("check", path, "--json")[1])["scheme"] is None
    assert "tags in" not in run("check", path)[1]


def test_checking_finds_what_is_odd(folder, run, run_json):
    assert run("check", "train.txt")[0] == 0
    text = (
        "the B-NP\ndog O\nruns I-VP\n\nthe B-NP\nd\u200bog O\nsits O\n. O\n\nthe B-NP\nd\u200bog O\nsits O\n. B-NP\n\n"
    )
    folder.joinpath("odd.txt").write_text(text)
    status, out, _ = run("check", "odd.txt")
    assert status == 1
    assert "odd.txt:3: I-VP follows O: it continues nothing" in out
    assert "odd.txt:6: 'd\\u200bog' holds an invisible character, ZERO WIDTH SPACE" in out
    assert "odd.txt:10: the same input as at line 5, with other labels" in out
    assert "odd.txt:3: the label 'I-VP' occurs only here" in out


def test_check_has_no_tokens_for_rows_and_one_of_one(tmp_path, run):
    (tmp_path / "rows.txt").write_text("1 1:0.5\n2 1:0.7\n1 1:0.1\n")
    assert "svmlight, 3 examples\n" in run("check", tmp_path / "rows.txt")[1]
    (tmp_path / "one.txt").write_text("the D\n\n")
    assert "columns, 1 example, 1 token, 1 token an example\n" in run("check", tmp_path / "one.txt")[1]
