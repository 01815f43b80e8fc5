"""Posts to twenty newsgroups, with the tree that the groups' names form."""

import tarfile
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import Literal

from structlearn.datasets._checks import check_choice
from structlearn.datasets._files import find_file, reading

HOME = "http://qwone.com/~jason/20Newsgroups"


@dataclass(frozen=True, slots=True)
class ClassifiedTexts:
    """Texts whose classes are the leaves of a tree.

    Attributes
    ----------
    X : list of str
        Texts.
    Y : list of str
        The leaf of each text, such as 'comp.graphics'.
    taxonomy : dict of str to str
        The parent of each node but 'root'.
    """

    X: list[str]
    Y: list[str]
    taxonomy: dict[str, str]


def fetch_newsgroups(subset: Literal["train", "test"] = "train", *, strip_headers: bool = True) -> ClassifiedTexts:
    """Read the 20 Newsgroups posts, split by date, in the order of the archive.

    A group's parent is its name up to the first dot: comp (5 groups), rec (4), sci (4), talk (4), alt,
    misc and soc (1 each). The last three keep a node of their own although it has one child only, and
    talk.religion.misc stays with talk rather than with the other two groups on religion: the tree is
    the names' own, and every leaf lies two levels below 'root'.

    The file is ``newsgroups/20news-bydate.tar.gz``; posts are decoded as Latin-1.

    Parameters
    ----------
    subset : {"train", "test"}
        11,314 older or 7,532 newer posts.
    strip_headers : bool
        Drop everything before the first blank line. Headers name the group, so they give the class away.

    Returns
    -------
    ClassifiedTexts

    Raises
    ------
    FileNotFoundError
        If the file is neither in ``$STRUCTLEARN_DATA`` nor in the user's cache.
    ValueError
        If the file is damaged or holds something else.
    """
    check_choice("subset", subset, ("train", "test"))
    path = find_file("newsgroups", "20news-bydate.tar.gz", HOME)
    folder = f"20news-bydate-{subset}"
    texts, groups = [], []
    with reading(path), tarfile.open(path, "r:gz") as archive:
        for member in archive:
            parts = PurePosixPath(member.name).parts
            content = archive.extractfile(member) if parts[-3:-2] == (folder,) else None
            if content is None:
                continue
            text = content.read().decode("latin-1")
            texts.append(text.partition("\n\n")[2] if strip_headers else text)
            groups.append(parts[-2])
        if not texts:
            raise ValueError(f"the archive holds no posts under {folder}")
    return ClassifiedTexts(texts, groups, _taxonomy(groups))


def _taxonomy(groups: list[str]) -> dict[str, str]:
    parents = {group: group.partition(".")[0] for group in sorted(set(groups))}
    return parents | dict.fromkeys(parents.values(), "root")
