"""Parse trees of English sentences: the sample of the Penn Treebank that is freely available."""

import zipfile
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import BinaryIO, cast

from structlearn.data.trees import Tree, clean_tree, leaves
from structlearn.datasets._files import find_file, reading
from structlearn.io.brackets import Brackets
from structlearn.io.text import open_text

HOME = "https://www.nltk.org/nltk_data (corpus treebank)"


@dataclass(frozen=True, slots=True)
class ParsedSentences:
    """Sentences and their trees.

    Attributes
    ----------
    X : list of lists of (word, part of speech)
    Y : list of trees
        Nested tuples (label, child, …) with leaves (tag, word).
    """

    X: list[list[tuple[str, str]]]
    Y: list[Tree]


def fetch_treebank(max_length: int | None = None) -> ParsedSentences:
    """Read the 10 % sample of the Penn Treebank: 3,914 sentences of the Wall Street Journal.

    As usual for parsing, traces are removed with the phrases that hold nothing else, function tags are cut off labels,
    the outer bracket without a label is taken off, and a phrase that is the only child of one with the same label is
    merged with it (172 of them), see `structlearn.data.clean_tree`. Punctuation is kept.

    The file is ``treebank/treebank.zip``, an archive with ``combined/wsj_0001.mrg`` and so on.

    Parameters
    ----------
    max_length : int, optional
        Leave out longer sentences: 393 have at most 10 tokens, 922 at most 15, 3,629 at most 40.

    Returns
    -------
    ParsedSentences

    Raises
    ------
    FileNotFoundError
        If the file is neither in ``$STRUCTLEARN_DATA`` nor in the user's cache.
    ValueError
        If the file is damaged or holds something else.
    """
    path = find_file("treebank", "treebank.zip", HOME)
    trees: list[Tree] = []
    with reading(path), zipfile.ZipFile(path) as archive:
        members = [name for name in archive.namelist() if PurePosixPath(name).match("combined/*.mrg")]
        if not members:
            raise ValueError("the archive holds no combined/*.mrg")
        for member in sorted(members):
            with archive.open(member) as file, open_text(cast(BinaryIO, file)) as lines:
                trees += [tree for example in Brackets().read(lines) if (tree := clean_tree(example.y)) is not None]
    kept = [tree for tree in trees if max_length is None or len(leaves(tree)) <= max_length]
    return ParsedSentences([[(word, tag) for tag, word in leaves(tree)] for tree in kept], kept)
