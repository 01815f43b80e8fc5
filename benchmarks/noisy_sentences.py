"""A corpus of any size: sentences of CoNLL-2000 drawn with replacement, with other words in them.

    python benchmarks/noisy_sentences.py OUTPUT --tokens 20000000 [--seed 0]

Of every sentence, a word in ten is another word with the same part of speech, from all training sentences of
CoNLL-2000 and of the English Web Treebank, so that words keep their frequencies; one in fifty has two neighbouring
letters swapped, so that there are ever more words; and one label in a hundred is drawn anew, so that no weights are
right about all. Tags of parts of speech stay. The same seed gives the same file, one word, tag and label a line.
"""

from __future__ import annotations

import argparse
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from structlearn.datasets import fetch_conll2000, fetch_ud_english_trees

REPLACED, MISSPELT, RELABELLED = 0.1, 0.02, 0.01

Token = tuple[str, str, str]


def noisy_sentences(n_tokens: int, seed: int) -> Iterator[list[Token]]:
    """Sentences with at least so many tokens in all."""
    random = np.random.default_rng(seed)
    read = fetch_conll2000("train")
    given = [[(*token, y) for token, y in zip(*pair, strict=True)] for pair in zip(read.X, read.Y, strict=True)]
    words = _words_by_tag([token for x in read.X for token in x])
    labels = [y for sentence in read.Y for y in sentence]
    while n_tokens > 0:
        sentence = given[random.integers(len(given))]
        chances = random.random((len(sentence), 3)).tolist()
        yield [_noisy(*token, *chance, words, labels, random) for token, chance in zip(sentence, chances, strict=True)]
        n_tokens -= len(sentence)


def _words_by_tag(tokens: list[Any]) -> dict[str, list[str]]:
    found: defaultdict[str, list[str]] = defaultdict(list)
    web = fetch_ud_english_trees("train", columns=("form", "xpos"))
    for word, tag in [*tokens, *(token for x in web.X for token in x)]:
        found[tag].append(word)
    return found


def _noisy(
    word: str,
    tag: str,
    label: str,
    replaced: float,
    misspelt: float,
    relabelled: float,
    words: dict[str, list[str]],
    labels: list[str],
    random: np.random.Generator,
) -> Token:
    if replaced < REPLACED:
        word = words[tag][random.integers(len(words[tag]))]
    if misspelt < MISSPELT and len(word) > 1:
        k = int(random.integers(len(word) - 1))
        word = word[:k] + word[k + 1] + word[k] + word[k + 2 :]
    if relabelled < RELABELLED:
        label = labels[random.integers(len(labels))]
    return word, tag, label


def write(path: Path, n_tokens: int, seed: int) -> None:
    with path.open("w", encoding="utf-8") as file:
        for sentence in noisy_sentences(n_tokens, seed):
            file.write("".join(f"{word} {tag} {label}\n" for word, tag, label in sentence) + "\n")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("output", type=Path)
    parser.add_argument("--tokens", type=int, required=True)
    parser.add_argument("--seed", type=int, default=0)
    given = parser.parse_args()
    write(given.output, given.tokens, given.seed)
