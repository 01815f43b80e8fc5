"""Pairs of proteins and synthetic homologues."""

import gzip
import io
import os
import tarfile

import numpy as np
import pytest

from structlearn.datasets import fetch_balibase_pairs, fetch_homstrad, fetch_tmalign_pairs, make_homologues

needs_files = pytest.mark.skipif(
    not os.environ.get("STRUCTLEARN_DATA"), reason="STRUCTLEARN_DATA names no folder of data sets"
)


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.setenv("STRUCTLEARN_DATA", str(tmp_path / "data"))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    for name in ("homstrad", "tmalign_pairs", "balibase3"):
        (tmp_path / "data" / name).mkdir(parents=True)
    return tmp_path / "data"


def archive(path, members, mode):
    with tarfile.open(path, mode) as file:
        for name, content in members.items():
            info = tarfile.TarInfo(name)
            info.size = len(content)
            file.addfile(info, io.BytesIO(content))


def test_homstrad_is_read_by_aligner(folder):
    members = {
        "./b/mustang.afasta": b">1b.pdb\nAC\n-\n\n>2b.pdb\nA-G\n",
        "./a/mustang.afasta": b">1a\nA\n>2a\nC\n",
        "./a/mafft.fasta": b">1a\nAA\n>2a\nCC\n",
    }
    archive(folder / "homstrad" / "alignments.tar.gz", members, "w:gz")
    found = fetch_homstrad()
    assert list(found) == ["a", "b"]
    assert (found["b"].names, found["b"].rows) == (("1b", "2b"), ("AC-", "A-G"))
    assert fetch_homstrad("mafft")["a"].rows == ("AA", "CC")
    with pytest.raises(ValueError, match="it holds no alignment by 'blast'"):
        fetch_homstrad("blast")
    archive(folder / "homstrad" / "alignments.tar.gz", {"./a/mustang.afasta": b">1\nAA\n>2\nA\n"}, "w:gz")
    with pytest.raises(ValueError, match=r"the rows of ./a/mustang.afasta have different lengths"):
        fetch_homstrad()


def test_states_of_tmalign_become_matches(folder):
    line = "p\tq\t0.6\t0.7\t1.0\tACG\tAGT\t:1.2\n"
    for part in ("valid", "test"):
        with gzip.open(folder / "tmalign_pairs" / f"deepblast_{part}.txt.gz", "wt") as file:
            file.write(line + "p\tq\t0.9\t0.1\t1.0\tA\tA\t:\n")
    found = fetch_tmalign_pairs()
    assert (found.X, found.Y) == ([("ACG", "AGT")] * 2, [((0, 0), (2, 1))] * 2)
    assert len(fetch_tmalign_pairs(0.0).X) == 4
    for states, message in ((":1.", "the states read 3 and 2 letters"), (":1.?", r"there is no state '\?'")):
        with gzip.open(folder / "tmalign_pairs" / "deepblast_test.txt.gz", "wt") as file:
            file.write(line.replace(":1.2", states))
        with pytest.raises(ValueError, match=message):
            fetch_tmalign_pairs()


@pytest.mark.parametrize("fetch", [fetch_homstrad, fetch_tmalign_pairs, fetch_balibase_pairs])
def test_missing_files_are_named_with_their_home(folder, fetch):
    with pytest.raises(FileNotFoundError, match=r"The data set's home is https://"):
        fetch()


@pytest.mark.slow
@needs_files
def test_the_published_files_have_their_counts():
    families = fetch_homstrad()
    assert (len(families), sum(len(rows.rows) == 2 for rows in families.values())) == (1032, 630)
    assert len(fetch_tmalign_pairs(0.0).X) == 2000
    pairs = fetch_balibase_pairs()
    assert (len(pairs.X), len(np.unique(pairs.families))) == (1840, 60)
    for (s, t), y in zip(pairs.X, pairs.Y, strict=True):
        assert len(s["residue"]) == len(s["structure"])
        assert all(i < len(s["residue"]) and j < len(t["residue"]) for i, j in y[-1:])


def test_homologues_follow_their_operations():
    data = make_homologues(400, random_state=0)
    kinds = []
    for (native, candidates), (place, matches) in zip(data.X, data.Y, strict=True):
        assert len(candidates) == 11
        homologue = candidates[place]
        kinds += [homologue[j] - native[i] for i, j in matches]
        assert {len(native), *map(len, candidates)} == {50}
    # A match keeps the letter, a substitution takes the next one, 1 after 20.
    assert set(kinds) == {0, 1, -19}
    assert np.mean(np.array(kinds) == 0) == pytest.approx(1 / 3, abs=0.02)
    assert len(kinds) / 400 == pytest.approx(18, abs=0.4)
    letters = np.concatenate([native for native, _ in data.X])
    np.testing.assert_allclose(
        np.bincount(letters, minlength=21)[1:] / len(letters), np.arange(1, 21) / 210, atol=0.005
    )
    again = make_homologues(400, random_state=0)
    assert (again.X, again.Y) == (data.X, data.Y)
    with pytest.raises(ValueError, match="length must be at least 30"):
        make_homologues(1, length=20)
