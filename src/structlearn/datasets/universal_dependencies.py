"""English sentences with universal parts of speech (the Universal Dependencies treebank EWT)."""

from dataclasses import dataclass
from typing import Literal

from structlearn.datasets._checks import check_choice
from structlearn.datasets._files import find_file, reading
from structlearn.io.conllu import ConllU
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
    with reading(path), open_text(path) as lines:
        examples = list(ConllU().read(lines))
        if examples[0].y is None:
            raise lines.error("expected parts of speech, found none", line=examples[0].line)
    return TaggedWords([example.x for example in examples], [example.y for example in examples])
