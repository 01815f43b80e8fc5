"""CRFsuite's passive-aggressive algorithm on a column file: ``crfsuite_columns.py train|tag FILE MODEL``.

What a user of python-crfsuite would write, with the features that `structlearn train` makes by itself. It imports
nothing else, since its start counts.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from functools import cache
from itertools import pairwise
from sys import intern

import pycrfsuite

Sentence = list[list[str]]


def sentences(path: str) -> Iterator[Sentence]:
    """The lines of every sentence, split into columns."""
    sentence: Sentence = []
    with open(path, encoding="utf-8") as lines:
        for line in lines:
            if line.strip():
                sentence.append(line.rstrip("\n").split("\t"))
            elif sentence:
                yield sentence
                sentence = []
    if sentence:
        yield sentence


@cache
def kind(character: str) -> str:
    if character.isupper():
        return "X"
    if character.isalpha():
        return "x"
    return "d" if character.isdigit() else character


@cache
def of_word(word: str) -> tuple[str, str, list[str]]:
    """The word in small letters, its short shape, and what only the word itself has."""
    shape = "".join(map(kind, word))
    own = [f"s={shape}"]
    own += [f"p{k}={word[:k]}" for k in range(1, 5) if len(word) >= k]
    own += [f"e{k}={word[-k:]}" for k in range(1, 5) if len(word) >= k]
    return word.lower(), re.sub(r"(.)\1+", r"\1", shape), own


def attributes(sentence: Sentence) -> list[list[str]]:
    """The default templates of the command line, for words and one further column, if there is one."""
    n = len(sentence)
    words = ["_B-2", "_B-1", *(token[0] for token in sentence), "_B+1", "_B+2"]
    known = [(word, word, []) for word in words[:2]] + [of_word(word) for word in words[2:-2]]
    known += [(word, word, []) for word in words[-2:]]
    made = []
    for t in range(n):
        at = t + 2
        names = ["bias", *known[at][2]]
        names += [intern(f"w[{d}]={words[at + d]}") for d in range(-2, 3)]
        names += [f"w[{d}|{d + 1}]={words[at + d]}|{words[at + d + 1]}" for d in (-1, 0)]
        names += [intern(f"l[{d}]={known[at + d][0]}") for d in (-1, 0, 1)]
        names += [intern(f"h[{d}]={known[at + d][1]}") for d in (-1, 0, 1)]
        made.append(names)
    if len(sentence[0]) > 2:
        tags = ["_B-2", "_B-1", *(token[1] for token in sentence), "_B+1", "_B+2"]
        pairs = [f"{a}|{b}" for a, b in pairwise(tags)]
        for t, names in enumerate(made):
            names += [intern(f"t[{d}]={tags[t + 2 + d]}") for d in range(-2, 3)]
            names += [intern(f"tt[{d}]={pairs[t + 2 + d]}") for d in range(-2, 2)]
            names += [intern(f"ttt[{d}]={pairs[t + 2 + d]}|{tags[t + 4 + d]}") for d in range(-2, 1)]
    return made


def train(path: str, model: str) -> None:
    trainer = pycrfsuite.Trainer(algorithm="pa", verbose=False)
    for sentence in sentences(path):
        trainer.append(attributes(sentence), [token[-1] for token in sentence])
    trainer.train(model)


def tag(path: str, model: str) -> None:
    """Writes one label a line, and a blank line after every sentence."""
    tagger = pycrfsuite.Tagger()
    tagger.open(model)
    for sentence in sentences(path):
        print("\n".join(tagger.tag(attributes(sentence))), end="\n\n")


if __name__ == "__main__":
    command, path, model = sys.argv[1:]
    {"train": train, "tag": tag}[command](path, model)
