"""Who is who in novels: the coreference annotations of LitBank."""

import re
import tarfile
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import BinaryIO, cast

import numpy as np

from structlearn.data.arrays import LabelArray
from structlearn.data.documents import Document
from structlearn.datasets._files import find_file, reading
from structlearn.io.conll2012 import Conll2012
from structlearn.io.text import open_text

HOME = "https://github.com/dbamman/litbank"


@dataclass(frozen=True, eq=False, slots=True)
class CoreferenceDocuments:
    """Documents with mentions, and which of them are of the same entity.

    Attributes
    ----------
    X : list of Document
    Y : list of (n_mentions,) arrays
        Labels of entities, numbered in each document as they appear.
    names : list of str
    """

    X: list[Document]
    Y: list[LabelArray]
    names: list[str]


def fetch_litbank() -> CoreferenceDocuments:
    """Read the coreference layer of LitBank: 100 works of English fiction, about 2,000 words of each, 29,103 mentions.

    People, places, organisations and vehicles are mentioned by names, noun phrases and pronouns; entities that are
    mentioned once only are annotated too (Bamman, Lewke and Mansoor 2020). Documents come in the order of their
    numbers at Project Gutenberg.

    The file is ``litbank/litbank-coref.tar.xz`` with members ``coref/conll/1023_bleak_house_brat.conll`` and so on.

    Returns
    -------
    CoreferenceDocuments

    Raises
    ------
    FileNotFoundError
        If the file is neither in ``$STRUCTLEARN_DATA`` nor in the user's cache.
    ValueError
        If the file is damaged or holds something else.
    """
    path = find_file("litbank", "litbank-coref.tar.xz", HOME)
    examples = []
    with reading(path), tarfile.open(path) as archive:
        members = [name for name in archive.getnames() if PurePosixPath(name).match("coref/conll/*.conll")]
        if not members:
            raise ValueError("the archive holds no coref/conll/*.conll")
        for member in sorted(members, key=_number):
            with open_text(cast(BinaryIO, archive.extractfile(member))) as lines:
                examples += list(Conll2012().read(lines))
    X, Y = [example.x for example in examples], [np.array(example.y, np.int32) for example in examples]
    return CoreferenceDocuments(X, Y, [document.name for document in X])


def _number(member: str) -> int:
    found = re.match(r"\d+", PurePosixPath(member).name)
    if found is None:
        raise ValueError(f"the name of {member} does not begin with a number")
    return int(found[0])
