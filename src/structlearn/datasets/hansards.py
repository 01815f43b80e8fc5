"""Words of the Canadian parliament: English and French sentences whose words were aligned by hand."""

import re
import tarfile
from dataclasses import dataclass
from typing import Literal

from structlearn.data.matchings import Links, SentencePair
from structlearn.datasets._checks import check_choice
from structlearn.datasets._files import find_file, reading
from structlearn.io.word_alignments import read_links

HOME = "https://github.com/mhajiloo/berkeleyaligner"
_FOLDER = "word_alignment/berkeleyaligner/resources/example"
_FILES = {"trial": ("dev/trial",), "test": ("test/test",)}
_BITEXT = tuple(f"train/hansard.36.1.house.debates.00{k}" for k in (1, 2, 3))


@dataclass(frozen=True, eq=False, slots=True)
class AlignedSentences:
    """Pairs of sentences, and which of their words are translations of one another.

    Attributes
    ----------
    X : list of SentencePair
        English and French words.
    Y : list of Links, or None
        Pairs of words, English and French, that are sure, and those that are possible; None for plain text, of which
        nobody knows them.
    """

    X: list[SentencePair]
    Y: list[Links] | None


def fetch_hansards(subset: Literal["trial", "test", "bitext"] = "test") -> AlignedSentences:
    """Read the hand-aligned Hansards of the shared task of 2003 (Och and Ney 2000; Mihalcea and Pedersen 2003).

    "trial" has 37 and "test" 447 pairs of sentences with links; there is no "train", and who learns takes the trial
    sentences and some of the test. "bitext" has 2,383 pairs without links, of the same parliament, for
    ``WordPairs(bitext=…)``: its Y is None.

    The file is ``word_alignment/word_alignment.tar.xz``, with ``test.e``, ``test.f`` and ``test.align`` and so on in
    ``word_alignment/berkeleyaligner/resources/example/test``.

    Parameters
    ----------
    subset : {"trial", "test", "bitext"}

    Returns
    -------
    AlignedSentences

    Raises
    ------
    FileNotFoundError
        If the file is neither in ``$STRUCTLEARN_DATA`` nor in the user's cache.
    ValueError
        If the file is damaged or holds something else.
    """
    check_choice("subset", subset, ("trial", "test", "bitext"))
    path = find_file("word_alignment", "word_alignment.tar.xz", HOME)
    X: list[SentencePair] = []
    Y: list[Links] = []
    with reading(path), tarfile.open(path) as archive:
        for name in _FILES.get(subset, _BITEXT):
            english, french = (_lines(archive, f"{name}.{side}") for side in "ef")
            pairs = [SentencePair(_words(e), _words(f)) for e, f in zip(english, french, strict=True)]
            X += pairs
            if subset != "bitext":
                links = zip(_lines(archive, f"{name}.align"), pairs, strict=True)
                # The files have French places first.
                Y += [_exchanged(read_links(line, (len(x.target), len(x.source)))) for line, x in links]
    return AlignedSentences(X, None if subset == "bitext" else Y)


def _lines(archive: tarfile.TarFile, name: str) -> list[str]:
    try:
        file = archive.extractfile(f"{_FOLDER}/{name}")
    except KeyError:
        file = None
    if file is None:
        raise ValueError(f"the archive holds no {_FOLDER}/{name}")
    return file.read().decode("utf-8").splitlines()


def _words(line: str) -> tuple[str, ...]:
    """The words of a line, which may stand within ``<s snum=0001>`` and ``</s>``."""
    return tuple(re.sub(r"^<s[^>]*>|</s>$", "", line.strip()).split())


def _exchanged(links: Links) -> Links:
    return Links(sorted((j, i) for i, j in links), ((j, i) for i, j in links.possible))
