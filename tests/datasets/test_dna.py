"""DNA: what the published files hold, the rules by which they are read, and planted motifs."""

import gzip
import itertools
import os
import zipfile
from collections import Counter

import numpy as np
import pytest

from structlearn.data import Site, reverse_complement, site_letters
from structlearn.datasets import fetch_promoters, fetch_splice, fetch_yeast_origins, make_motifs
from structlearn.datasets.yeast_origins import N_CHROMOSOMES, _drawn

needs_files = pytest.mark.skipif(
    not os.environ.get("STRUCTLEARN_DATA"), reason="STRUCTLEARN_DATA names no folder of data sets"
)


@needs_files
def test_promoters_are_complete():
    data = fetch_promoters()
    assert Counter(data.Y) == {"+": 53, "-": 53}
    assert {len(x) for x in data.X} == {57}
    assert set("".join(data.X)) == set("ACGT")
    assert (data.names[0], data.X[0][:8]) == ("S10", "TACTAGCA")


@needs_files
def test_splice_junctions_are_complete():
    data = fetch_splice()
    assert Counter(data.Y) == {"N": 1655, "IE": 768, "EI": 767}
    assert {len(x) for x in data.X} == {60}
    # All but a few introns begin with GT and end with AG.
    for kind, middle, letters in (("EI", slice(30, 32), "GT"), ("IE", slice(28, 30), "AG")):
        found = [x[middle] for x, y in zip(data.X, data.Y, strict=True) if y == kind]
        assert found.count(letters) / len(found) > 0.97


@pytest.mark.slow
@needs_files
def test_yeast_origins_are_complete():
    data = fetch_yeast_origins(random_state=0)
    assert Counter(data.Y) == {1: 352, 0: 352}
    assert [len(x) for x in data.X[:352]] == [len(x) for x in data.X[352:]]
    assert set("".join(data.X)) == set("ACGT")
    assert sum(bool(sites) for sites in data.consensus) == 191
    places = {site for sites in data.consensus for site in sites}
    assert {site.width for site in places} == {11, 15, 17}
    # Sites on either strand look alike only if the strands are read rightly: rich in T.
    for strand in "+-":
        found = "".join(
            site_letters(x, s)
            for x, sites in zip(data.X, data.consensus, strict=True)
            for s in sites
            if s.strand == strand
        )
        assert found.count("T") / len(found) > 0.45
    assert "ARS104" in data.names
    assert len(data.intergenic) > 6000
    assert fetch_yeast_origins(random_state=1).X[352:] != data.X[352:]
    assert len(set(data.families)) == 676


def genbank(features, letters):
    table = "".join(f'     {kind:<16}{place}\n                     /note="{note}"\n' for kind, place, note in features)
    return f"LOCUS x\nFEATURES             Location/Qualifiers\n{table}ORIGIN\n        1 {letters.lower()}\n//\n"


@pytest.fixture
def small_genome(tmp_path, monkeypatch):
    random = np.random.default_rng(0)
    letters = ["".join(random.choice(list("ACGT"), 400)) for _ in range(N_CHROMOSOMES)]
    (tmp_path / "yeast_ars").mkdir()
    features = [
        ("source", "1..400", "all"),
        ("CDS", "complement(join(1..20,\n                     91..100))", "a gene"),
        ("rep_origin", "121..160", "ARS1; an origin"),
    ]
    with zipfile.ZipFile(tmp_path / "yeast_ars/Saccharomyces_cerevisiae.zip", "w") as archive:
        for c, x in enumerate(letters, 1):
            archive.writestr(f"chr{c:02d}.gb", genbank(features if c == 1 else [("gene", "1..400", "one")], x))
    row = "S1\tARS_consensus_sequence\t\t\t\t\tARS1\t\t1\t{}\t{}\t{}\t\t\t\t\n"
    table = row.format(140, 130, "C") + row.format(125, 135, "W")
    (tmp_path / "yeast_ars/SGD_features.tab.gz").write_bytes(gzip.compress(table.encode()))
    monkeypatch.setenv("STRUCTLEARN_DATA", str(tmp_path))
    return letters[0]


def test_origins_and_what_lies_between_genes(small_genome):
    data = fetch_yeast_origins(random_state=0)
    assert data.names[0] == "ARS1"
    assert data.X[0] == small_genome[120:160]
    assert data.consensus[0] == [Site(9, "-", 11), Site(4, "+", 11)]
    # Between genes is what follows the origin; what lies between gene and origin is shorter than the origin.
    begin, end = map(int, data.names[1].removeprefix("chr01:").split("-"))
    assert 160 <= begin < end <= 400
    assert data.X[1] == small_genome[begin:end]
    rest = [piece for piece in (small_genome[160:begin], small_genome[end:]) if len(piece) >= 40]
    assert data.intergenic == rest


def test_a_damaged_genome_is_named(small_genome, tmp_path):
    (tmp_path / "yeast_ars/Saccharomyces_cerevisiae.zip").write_bytes(b"no zip")
    with pytest.raises(ValueError, match=r"Saccharomyces_cerevisiae.zip is damaged"):
        fetch_yeast_origins()


def test_sequences_are_drawn_uniformly_and_apart():
    random = np.random.default_rng(0)
    starts = [_drawn([3], [(1, 0, 5), (2, 10, 14)], 1, random)[0][0] for _ in range(3000)]
    assert {place: round(count / 300) for place, count in Counter(starts).items()} == {
        (1, 0, 3): 2,
        (1, 1, 4): 2,
        (1, 2, 5): 2,
        (2, 10, 13): 2,
        (2, 11, 14): 2,
    }
    places, free = _drawn([4, 3, 5], [(1, 0, 20)], 1, random)
    assert [end - begin for _, begin, end in places] == [4, 3, 5]
    covered = sorted((begin, end) for _, begin, end in places + free)
    assert covered[0][0] == 0
    assert covered[-1][1] == 20
    assert all(left[1] == right[0] for left, right in itertools.pairwise(covered))


@pytest.mark.parametrize(
    ("file", "content", "fetch"),
    [
        ("promoters/promoters.data", b"*,S10,\tacgt\n", fetch_promoters),
        ("promoters/promoters.data", b"+,S10,\tac-t\n", fetch_promoters),
        ("splice/splice.arff.gz", gzip.compress(b"@data\nx,A,C,Q\n"), fetch_splice),
        ("splice/splice.arff.gz", gzip.compress(b"@relation x\n"), fetch_splice),
    ],
)
def test_foreign_files_are_named(file, content, fetch, tmp_path, monkeypatch):
    monkeypatch.setenv("STRUCTLEARN_DATA", str(tmp_path))
    (tmp_path / file).parent.mkdir()
    (tmp_path / file).write_bytes(content)
    with pytest.raises(ValueError, match="is damaged or is not the expected file"):
        fetch()


@pytest.mark.parametrize("fetch", [fetch_promoters, fetch_splice, fetch_yeast_origins])
def test_missing_files_are_named(fetch, tmp_path, monkeypatch):
    monkeypatch.setenv("STRUCTLEARN_DATA", str(tmp_path))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    with pytest.raises(FileNotFoundError, match="The data set's home is https://"):
        fetch()


@pytest.mark.parametrize("both_strands", [False, True])
def test_planted_sites_differ_from_the_consensus_by_the_substitutions(both_strands):
    data = make_motifs(
        50, width=7, length=20, substitutions=2, positives=0.4, both_strands=both_strands, random_state=0
    )
    planted = [(x, site) for x, site in zip(data.X, data.sites, strict=True) if site is not None]
    assert len(planted) == sum(data.Y) == 20
    assert {sum(a != b for a, b in zip(site_letters(*one), data.consensus, strict=True)) for one in planted} == {2}
    assert {site.strand for _, site in planted} == set("+-" if both_strands else "+")


def test_the_background_is_a_markov_chain_of_its_order():
    data = make_motifs(200, length=500, positives=0.0, background_order=1, random_state=0)
    counts = Counter(x[t - 2 : t + 1] for x in data.X for t in range(2, 500))
    table = np.array([[[counts[a + b + c] for c in "ACGT"] for b in "ACGT"] for a in "ACGT"], float)
    share = table / table.sum(axis=2, keepdims=True)
    assert np.abs(share - share.mean(axis=0)).max() < 0.03
    assert np.abs(share.mean(axis=0) - share.mean(axis=(0, 1))).max() > 0.05


def test_difficulties_that_cannot_be_are_named():
    with pytest.raises(ValueError, match="width must be at least 6, got 5"):
        make_motifs(width=5, substitutions=6)
    with pytest.raises(ValueError, match="length must be at least 11, got 5"):
        make_motifs(length=5)


def test_the_other_strand_is_read_backwards():
    assert reverse_complement("AACGTN") == "NACGTT"
    assert site_letters("AACCGG", Site(1, "-", 4)) == "CGGT"
