"""Tagged sentences of the CoNLL shared tasks of 2000 (chunks) and 2002 (Spanish named entities)."""

import zipfile
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import BinaryIO, Literal, cast

from structlearn.datasets._checks import check_choice
from structlearn.datasets._files import find_file, reading
from structlearn.io.columns import Columns
from structlearn.io.text import EncodingError, Source, open_text

CONLL2000_HOME = "https://www.cnts.ua.ac.be/conll2000/chunking"
CONLL2002_HOME = "https://www.cnts.ua.ac.be/conll2002/ner"


@dataclass(frozen=True, slots=True)
class TaggedSentences:
    """Sentences with one tag a token.

    Attributes
    ----------
    X : list of lists of (word, part of speech)
        ``X[i][t]`` is token t of sentence i.
    Y : list of lists of str
        ``Y[i][t]`` is its tag: 'B-NP' begins a segment of type NP, 'I-NP' continues it, 'O' is outside.
    """

    X: list[list[tuple[str, str]]]
    Y: list[list[str]]


def fetch_conll2000(subset: Literal["train", "test"] = "train") -> TaggedSentences:
    """Read the CoNLL-2000 chunking data: English sentences of the Wall Street Journal, 22 tags.

    The file is ``conll2000/conll2000.zip``, an archive of ``train.txt`` and ``test.txt``.

    Parameters
    ----------
    subset : {"train", "test"}
        8,936 sentences of 211,727 tokens, or 2,012 sentences of 47,377 tokens.

    Returns
    -------
    TaggedSentences

    Raises
    ------
    FileNotFoundError
        If the file is neither in ``$STRUCTLEARN_DATA`` nor in the user's cache.
    ValueError
        If the file is damaged or holds something else.
    """
    check_choice("subset", subset, ("train", "test"))
    path = find_file("conll2000", "conll2000.zip", CONLL2000_HOME)
    with reading(path), zipfile.ZipFile(path) as archive:
        wanted = f"{subset}.txt"
        for member in archive.namelist():
            if PurePosixPath(member).name == wanted:
                with archive.open(member) as file:
                    return _tagged(cast(BinaryIO, file))
        raise ValueError(f"the archive holds no {wanted}")


def fetch_conll2002(subset: Literal["train", "testa", "testb"] = "train") -> TaggedSentences:
    """Read the Spanish CoNLL-2002 named-entity data: persons, places, organisations, others; 9 tags.

    The files are ``conll2002/esp.train.gz``, ``esp.testa.gz`` and ``esp.testb.gz``, in Latin-1 as
    published or recoded to UTF-8.

    Parameters
    ----------
    subset : {"train", "testa", "testb"}
        8,323 sentences for training, 1,915 for development, 1,517 for the test.

    Returns
    -------
    TaggedSentences

    Raises
    ------
    FileNotFoundError
        If the file is neither in ``$STRUCTLEARN_DATA`` nor in the user's cache.
    ValueError
        If the file is damaged or holds something else.
    """
    check_choice("subset", subset, ("train", "testa", "testb"))
    path = find_file("conll2002", f"esp.{subset}.gz", CONLL2002_HOME)
    with reading(path):
        try:
            return _tagged(path)
        except EncodingError:
            return _tagged(path, "latin-1")


def _tagged(source: Source, encoding: str = "utf-8") -> TaggedSentences:
    """Sentences of lines "word POS tag"."""
    with open_text(source, encoding) as lines:
        examples = list(Columns(("word", "pos")).read(lines))
        if examples[0].y is None:
            raise lines.error("expected 3 columns, word, POS and tag; found 2", line=examples[0].line)
    return TaggedSentences([example.x for example in examples], [example.y for example in examples])
