"""English sentences with parts of speech and dependency trees (the Universal Dependencies treebank EWT)."""

from dataclasses import dataclass
from typing import Any, Literal

from structlearn.datasets._checks import check_choice
from structlearn.datasets._files import find_file, reading
from structlearn.io.conllu import ConllU
from structlearn.io.format import Example
from structlearn.io.text import open_text

HOME = "https://universaldependencies.org/treebanks/en_ewt"


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


@dataclass(frozen=True, slots=True)
class DependencyTreebank:
    """Sentences with their dependency trees.

    Attributes
    ----------
    X : list of lists of tuples of str
        ``X[i][t]`` is token t of sentence i, with an entry for each of the columns; a str where there is only one.
    Y : list of lists of (int, str)
        ``Y[i][t]`` is the head of token t, counted from 1 with 0 for the root, and the label of the arc.
    """

    X: list[list[Any]]
    Y: list[list[tuple[int, str]]]


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
    examples = _read(subset, ConllU(), "parts of speech")
    return TaggedWords([example.x for example in examples], [example.y for example in examples])


def fetch_ud_english_trees(
    subset: Literal["train", "dev", "test"] = "train",
    *,
    columns: tuple[str, ...] = ("form", "upos"),
    subtypes: bool = True,
) -> DependencyTreebank:
    """Read the English Web Treebank of Universal Dependencies: sentences and their dependency trees.

    The files are those of `fetch_ud_english`, and so are the words. All trees have one root; 288 of the 12,544 for
    training have arcs that cross. Raises what `fetch_ud_english` raises.

    Parameters
    ----------
    subset : {"train", "dev", "test"}
        12,544, 2,001 or 2,077 sentences.
    columns : tuple of str
        What a token consists of: "form", "lemma", "upos", "xpos", "feats" or "misc"; of other columns than the first
        two `DependencyTree` must be told as well.
    subtypes : bool
        Whether labels keep what stands behind a colon; without, nsubj:pass is nsubj.

    Returns
    -------
    DependencyTreebank
    """
    examples = _read(subset, ConllU("tree", columns, subtypes=subtypes), "dependency trees")
    return DependencyTreebank([example.x for example in examples], [example.y for example in examples])


def _read(subset: str, form: ConllU, expected: str) -> list[Example]:
    check_choice("subset", subset, ("train", "dev", "test"))
    path = find_file("ud_english_ewt", f"en_ewt-ud-{subset}.conllu.gz", HOME)
    with reading(path), open_text(path) as lines:
        examples = list(form.read(lines))
        if examples[0].y is None:
            raise lines.error(f"expected {expected}, found none", line=examples[0].line)
    return examples
