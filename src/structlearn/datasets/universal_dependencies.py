"""English sentences with universal parts of speech (the Universal Dependencies treebank EWT)."""

import gzip
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

from structlearn.datasets._checks import check_choice
from structlearn.datasets._files import find_file, reading

HOME = "https://universaldependencies.org/treebanks/en_ewt"
N_COLUMNS = 10


@dataclass(frozen=True, slots=True)
class TaggedWords:
    """Sentences with the part of speech of every word.

    Attributes
    ----------
    X : list of lists of str
        ``X[i][t]`` is word t of sentence i.
    Y : list of lists of str
        ``Y[i][t]`` is its part of speech: 'NOUN', 'VERB', 'PUNCT', …
    """

    X: list[list[str]]
    Y: list[list[str]]


def fetch_ud_english(subset: Literal["train", "dev", "test"] = "train") -> TaggedWords:
    """Read the English Web Treebank of Universal Dependencies: words and their 17 universal parts of speech.

    Words are syntactic words, "do" and "n't" for "don't"; words that the text leaves out are left out here as well.

    The files are ``ud_english_ewt/en_ewt-ud-train.conllu.gz``, ``-dev`` and ``-test``.

    Parameters
    ----------
    subset : {"train", "dev", "test"}
        12,544, 2,001 or 2,077 sentences.

    Returns
    -------
    TaggedWords

    Raises
    ------
    FileNotFoundError
        If the file is neither in ``$STRUCTLEARN_DATA`` nor in the user's cache.
    ValueError
        If the file is damaged or holds something else.
    """
    check_choice("subset", subset, ("train", "dev", "test"))
    path = find_file("ud_english_ewt", f"en_ewt-ud-{subset}.conllu.gz", HOME)
    with reading(path), gzip.open(path, "rt", encoding="utf-8") as file:
        return _parse(file)


def _parse(lines: Iterable[str]) -> TaggedWords:
    """Sentences of CoNLL-U: ten columns a word, "#" before comments, blank lines between sentences."""
    X: list[list[str]] = []
    Y: list[list[str]] = []
    in_sentence = False
    for number, line in enumerate(lines, start=1):
        line = line.rstrip("\n")
        if not line:
            in_sentence = False
        elif not line.startswith("#"):
            columns = line.split("\t")
            if len(columns) != N_COLUMNS:
                raise ValueError(f"line {number} has {len(columns)} columns instead of {N_COLUMNS}")
            identifier, word, _, part_of_speech, *_ = columns
            if not identifier.isdecimal():  # "3-4" is a contraction, "5.1" a word that is not there
                continue
            if not in_sentence:
                X.append([])
                Y.append([])
                in_sentence = True
            X[-1].append(word)
            Y[-1].append(part_of_speech)
    if not X:
        raise ValueError("it holds no sentence")
    return TaggedWords(X, Y)
