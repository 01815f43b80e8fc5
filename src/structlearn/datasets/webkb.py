"""Pages of computer science departments with the links between them (Craven et al. 1998)."""

import html
import re
import tarfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import NamedTuple
from urllib.parse import unquote, urljoin, urlsplit

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from structlearn.data.arrays import IntArray
from structlearn.datasets._checks import check_at_least, check_choice
from structlearn.datasets._edges import undirected
from structlearn.datasets._files import find_file, reading

HOME = "https://www.cs.cmu.edu/~webkb"
CLASSES = ("course", "department", "faculty", "other", "project", "staff", "student")
UNIVERSITIES = ("cornell", "misc", "texas", "washington", "wisconsin")

COMMENT = re.compile(r"<!--.*?-->", re.DOTALL)
TAG = re.compile(r"<[^>]*>")
HREF = re.compile(r"""<a\b[^>]*?\bhref\s*=\s*(?:"([^"]*)"|'([^']*)'|([^\s>"']+))""", re.IGNORECASE)
WORD = r"[a-z]{2,}"
# What servers send for a folder: the same page under two names.
FRONT_PAGE = re.compile(r"/(?:(?:index|home|default)\.html?)?$", re.IGNORECASE)


@dataclass(frozen=True, eq=False, slots=True)
class LinkedPages:
    """Web pages, the words in each, and which link to each other.

    Attributes
    ----------
    X : (n, n_words) CSR array
        How often each word occurs in the page, without its tags.
    Y : (n,) array of str
        Kinds of pages.
    edges : (n_edges, 2) int array
        Pairs of pages of which one links to the other, each pair once, the lower number first.
    universities : (n,) array of str
    urls : list of str
    words : list of str
        What the columns of X count.
    n_links : int
        Links that were found between the pages, before those of a page to itself and duplicates were left out.
    n_self_loops, n_duplicates : int
        What was left out.
    """

    X: "csr_array[np.float64]"
    Y: NDArray[np.str_]
    edges: IntArray
    universities: NDArray[np.str_]
    urls: list[str]
    words: list[str]
    n_links: int
    n_self_loops: int
    n_duplicates: int


class _Page(NamedTuple):
    label: str
    university: str
    url: str
    source: str


def fetch_webkb(university: str | None = None, *, min_pages: int = 10) -> LinkedPages:
    """Read WebKB: pages of the classes course, department, faculty, other, project, staff and student.

    They were collected in 1997 at four universities, Cornell (867), Texas (827), Washington (1,205) and Wisconsin
    (1,262), and 4,120 at others, "misc". A link is found where the address in ``<a href=…>``, without what follows
    ``#``, is that of a page of the set, with or without ``index.html`` or the slash at its end: 24,132 in all, 14,337
    pairs of pages. Where pages share an address, a link leads to the first of them.

    The file is ``webkb/webkb_pages.tar.gz`` with members ``…/course/cornell/http:^^cs.cornell.edu^…``, in which ``^``
    stands for a slash. Pages are decoded as Latin-1; what the server sent before them is left out.

    Parameters
    ----------
    university : {"cornell", "misc", "texas", "washington", "wisconsin"} or None
        One of them, with the links within it, or all.
    min_pages : int
        A word that fewer pages have, of those that are read, is left out. Words are runs of at least two letters a to
        z, in small letters.

    Returns
    -------
    LinkedPages

    Raises
    ------
    FileNotFoundError
        If the file is neither in ``$STRUCTLEARN_DATA`` nor in the user's cache.
    ValueError
        If the file is damaged or holds something else.
    """
    if university is not None:
        check_choice("university", university, UNIVERSITIES)
    check_at_least("min_pages", min_pages, 1)
    path = find_file("webkb", "webkb_pages.tar.gz", HOME)
    with reading(path):
        pages = [page for page in _pages(path) if university in (None, page.university)]
        if not pages:
            raise ValueError("the archive holds no pages of classes and universities")
        X, words = _bags_of_words([page.source for page in pages], min_pages)
    links = np.array(list(_links(pages)), np.int64).reshape(-1, 2)
    edges, n_self_loops, n_duplicates = undirected(links)
    return LinkedPages(
        X,
        np.array([page.label for page in pages]),
        edges,
        np.array([page.university for page in pages]),
        [page.url for page in pages],
        words,
        len(links),
        n_self_loops,
        n_duplicates,
    )


def _pages(path: Path) -> Iterator[_Page]:
    with tarfile.open(path, "r:gz") as archive:
        for member in archive:
            label, university, name = ("", "", "", *PurePosixPath(member.name).parts)[-3:]
            content = archive.extractfile(member) if label in CLASSES and university in UNIVERSITIES else None
            if content is not None:
                yield _Page(label, university, _address(name), _body(content.read().decode("latin-1")))


def _body(answer: str) -> str:
    """A page without comments, and without what the server sent before it, where that was kept.

    >>> _body("Server: CERN\\r\\nDate: 1996\\r\\n\\r\\n<title>Ann</title><!-- old -->"), _body("<p>Ann\\n\\nBob")
    ('<title>Ann</title> ', '<p>Ann\\n\\nBob')
    """
    text = answer.replace("\r\n", "\n")
    return COMMENT.sub(" ", text if text.startswith("<") else text.partition("\n\n")[2])


def _address(name: str) -> str:
    """The URL that a file is named after. Characters that Windows forbids in names were moved to U+F000 and beyond.

    >>> _address("http\\uf03a^^cs.cornell.edu^Info^")
    'http://cs.cornell.edu/Info/'
    """
    moved = (chr(ord(c) - 0xF000) if 0xF000 <= ord(c) < 0xF080 else c for c in name)
    return "".join(moved).replace("^", "/").strip()


def _page_key(url: str) -> str:
    """The same for all ways to write the address of a page.

    >>> _page_key("http://CS.cornell.edu:80/%7Eann/index.html"), _page_key("http://cs.cornell.edu/~ann")
    ('cs.cornell.edu/~ann', 'cs.cornell.edu/~ann')
    """
    parts = urlsplit(url)
    return (parts.hostname or "") + FRONT_PAGE.sub("", unquote(parts.path)) + (parts.query and f"?{parts.query}")


def _links(pages: list[_Page]) -> Iterator[tuple[int, int]]:
    """From page to page, as often as they occur."""
    places: dict[str, int] = {}
    for k, page in enumerate(pages):
        places.setdefault(_page_key(page.url), k)
    for k, page in enumerate(pages):
        for match in HREF.finditer(page.source):
            reference = html.unescape(match[1] or match[2] or match[3] or "").strip()
            try:
                to = places.get(_page_key(urljoin(page.url, reference)))
            except ValueError:  # no address, such as http://[
                continue
            if to is not None:
                yield k, to


def _bags_of_words(sources: list[str], min_pages: int) -> tuple["csr_array[np.float64]", list[str]]:
    from sklearn.feature_extraction.text import CountVectorizer

    texts = (html.unescape(TAG.sub(" ", source)) for source in sources)
    counter = CountVectorizer(token_pattern=WORD, dtype=np.float64)
    counts = csr_array(counter.fit_transform(texts))
    kept = np.flatnonzero(np.bincount(counts.indices, minlength=counts.shape[1]) >= min_pages)
    return counts[:, kept], counter.get_feature_names_out()[kept].tolist()
