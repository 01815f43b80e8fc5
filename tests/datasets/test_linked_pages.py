"""Graphs of papers and of web pages."""

import io
import os
import tarfile
from collections import Counter
from pathlib import Path

import numpy as np
import pytest
from scipy.sparse import csr_array

from structlearn.datasets import fetch_citation, fetch_webkb


def needs(folder):
    here = Path(os.environ.get("STRUCTLEARN_DATA", "")) / folder
    return pytest.mark.skipif(not here.is_dir(), reason=f"STRUCTLEARN_DATA names no folder with {folder}")


def check_edges(edges, n_nodes):
    assert edges.min() >= 0
    assert edges.max() < n_nodes
    assert np.all(edges[:, 0] < edges[:, 1])
    assert len(np.unique(edges, axis=0)) == len(edges)


@needs("citation")
@pytest.mark.parametrize(
    ("name", "nodes", "words", "links", "loops", "duplicates", "classes"),
    [("cora", 2708, 1433, 5429, 0, 151, 7), ("citeseer", 3312, 3703, 4715, 124, 55, 6)],
)
def test_citations_are_complete(name, nodes, words, links, loops, duplicates, classes):
    data = fetch_citation(name)
    assert data.X.shape == (nodes, words)
    assert set(data.X.data) == {1.0}
    assert len(data.Y) == len(data.names) == nodes
    assert len(set(data.Y)) == classes
    assert (data.n_self_loops, data.n_duplicates) == (loops, duplicates)
    assert len(data.edges) == links - loops - duplicates
    check_edges(data.edges, nodes)
    # Papers cite those of their own subject: what edges in a wrong order would not show.
    assert np.mean(data.Y[data.edges[:, 0]] == data.Y[data.edges[:, 1]]) > 0.7


@needs("webkb")
@pytest.mark.slow
def test_webkb_is_complete():
    data = fetch_webkb()
    assert data.X.shape == (8281, len(data.words))
    kinds = {"other": 3763, "student": 1641, "faculty": 1124, "course": 930, "project": 504}
    assert Counter(data.Y.tolist()) == kinds | {"department": 182, "staff": 137}
    sizes = {"misc": 4120, "wisconsin": 1262, "washington": 1205, "cornell": 867, "texas": 827}
    assert Counter(data.universities.tolist()) == sizes
    assert (data.n_links, data.n_self_loops, data.n_duplicates) == (24_132, 6038, 3757)
    assert len(data.edges) == 14_337
    check_edges(data.edges, 8281)
    # Links were rebuilt rightly if they stay within a university.
    assert np.mean(data.universities[data.edges[:, 0]] == data.universities[data.edges[:, 1]]) > 0.95
    assert not {"href", "nbsp", "html"} & set(np.array(data.words)[np.argsort(-data.X.sum(axis=0))[:50]])
    one = fetch_webkb("texas")
    here = data.universities == "texas"
    assert one.urls == [url for url, kept in zip(data.urls, here, strict=True) if kept]
    within = here[data.edges].all(axis=1)
    np.testing.assert_array_equal(one.edges, (np.cumsum(here) - 1)[data.edges[within]])


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.setenv("STRUCTLEARN_DATA", str(tmp_path))
    (tmp_path / "webkb").mkdir()
    (tmp_path / "citation").mkdir()
    return tmp_path


def papers(**changes):
    cites, words = csr_array([[0, 1, 1], [1, 0, 0], [0, 0, 1]]), csr_array([[0, 1], [1, 1], [0, 0]])
    parts = {
        f"{of}_{part}": np.array(getattr(matrix, part))
        for of, matrix in (("adj", cites), ("attr", words))
        for part in ("data", "indices", "indptr", "shape")
    }
    names = {"class_names": np.array(["x", "y"]), "node_names": np.array(["a", "b", "c"])}
    return parts | names | {"labels": np.array([0, 1, 1], np.int8)} | changes


def test_citations_become_edges_once(folder):
    np.savez(folder / "citation/cora.npz", **papers())
    data = fetch_citation("cora")
    assert data.edges.tolist() == [[0, 1], [0, 2]]
    assert (data.n_self_loops, data.n_duplicates) == (1, 1)
    assert data.Y.tolist() == ["x", "y", "y"]
    assert data.X.toarray().tolist() == [[0, 1], [1, 1], [0, 0]]
    assert data.names == ["a", "b", "c"]


@pytest.mark.parametrize(
    ("changes", "complaint"),
    [
        ({"labels": np.array([0, 1])}, "there are 2 labels, but 3 papers and 3 bags of words"),
        ({"labels": np.array([0, 2, 1])}, "labels must be 0 to 1, got 0 to 2"),
        ({"adj_indices": np.array([1, 2, 0, 7])}, "indices must be < 3"),
        ({"attr_indptr": np.array([0, 3, 1, 3])}, "non-decreasing"),
    ],
)
def test_damaged_citations_are_explained(folder, changes, complaint):
    np.savez(folder / "citation/cora.npz", **papers(**changes))
    with pytest.raises(ValueError, match=r"cora.npz is damaged or is not the expected file") as caught:
        fetch_citation("cora")
    assert complaint in str(caught.value)


def test_unknown_graphs_are_refused():
    with pytest.raises(ValueError, match="name must be one of 'cora', 'citeseer', got 'pubmed'"):
        fetch_citation("pubmed")
    with pytest.raises(ValueError, match=r"university must be one of 'cornell', .* got 'oxford'"):
        fetch_webkb("oxford")


HEADER = "Server: CERN/3.0\r\nContent-type: text/html\r\n\r\n"
ANN = """<title>Ann's page</title> Ann &amp; friends &eacute; <A HREF="http://CS.cornell.edu/~bob/">Bob</A>
<a name=x href='../courses/index.html#top'>a course</a> <a href=http://cs.cornell.edu:80/%7Eann>me</a>
<!-- <a href="http://x.org/">hidden</a> secret --> <a href="http://[">?</a> <a href="mailto:bob">mail</a>
<a href="http://cs.cornell.edu/~bob/index.html">Bob again</a> <a href="http://elsewhere.edu/">out</a>
<a href="/courses/?order=1">another page</a>"""
PAGES = {
    "student/cornell/http\uf03a^^cs.cornell.edu^~ann^": HEADER + ANN,
    "faculty/cornell/http\uf03a^^cs.cornell.edu^~bob": HEADER + '<a href="/~ann/#here">Ann</a> teaches\n\nANN',
    "course/texas/http\uf03a^^cs.cornell.edu^courses^": "<p>a course\n\nof algebra",
    "other/misc/http\uf03a^^x.org": HEADER + "nothing",
    "other/oxford/http\uf03a^^y.org": HEADER + "no such university",
}


def write(folder, pages):
    with tarfile.open(folder / "webkb/webkb_pages.tar.gz", "w:gz") as archive:
        for name, text in pages.items():
            member = tarfile.TarInfo(f"webkb/{name}")
            content = text.encode("latin-1")
            member.size = len(content)
            archive.addfile(member, io.BytesIO(content))


def test_links_are_rebuilt_from_addresses(folder):
    write(folder, PAGES)
    data = fetch_webkb(min_pages=1)
    assert data.urls == [
        "http://cs.cornell.edu/~ann/",
        "http://cs.cornell.edu/~bob",
        "http://cs.cornell.edu/courses/",
        "http://x.org",
    ]
    assert data.Y.tolist() == ["student", "faculty", "course", "other"]
    assert data.universities.tolist() == ["cornell", "cornell", "texas", "misc"]
    assert data.edges.tolist() == [[0, 1], [0, 2]]
    # Ann to Bob twice, to the course and to herself; Bob to Ann.
    assert (data.n_links, data.n_self_loops, data.n_duplicates) == (5, 1, 2)
    assert fetch_webkb("cornell", min_pages=1).edges.tolist() == [[0, 1]]


def test_words_are_counted_without_tags(folder):
    write(folder, PAGES)
    data = fetch_webkb(min_pages=1)
    counts = [dict(zip(data.words, row.tolist(), strict=True)) for row in data.X.toarray()]
    assert {word: n for word, n in counts[1].items() if n} == {"ann": 2, "teaches": 1}
    assert {word: n for word, n in counts[2].items() if n} == {"course": 1, "of": 1, "algebra": 1}
    assert counts[0]["friends"] == 1
    assert not {"href", "server", "secret", "amp"} & set(data.words)
    assert fetch_webkb(min_pages=2).words == ["ann", "course"]


@pytest.mark.parametrize(
    ("pages", "complaint"),
    [({"README": "nothing"}, "holds no pages"), ({"other/misc/http\uf03a^^x.org": HEADER}, "empty vocabulary")],
)
def test_an_archive_without_pages_or_words_is_named(folder, pages, complaint):
    write(folder, pages)
    with pytest.raises(ValueError, match=rf"webkb_pages.tar.gz is damaged .*{complaint}"):
        fetch_webkb()
