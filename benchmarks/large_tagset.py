"""A corpus of a million tokens with 450 tags, like the Brown corpus, and training on it.

    python benchmarks/large_tagset.py make corpus.txt --share 0.1
    python benchmarks/large_tagset.py race --share 1.0 --rival-share 0.1

`make` writes a word and a tag a line and a blank line after each sentence; `race` trains the library to a 1 % gap, and
CRFsuite's averaged perceptron on a part of the same sentences, each in a process of its own: processor seconds, peak
memory, accuracy on every twentieth sentence, which is held out.
"""

from __future__ import annotations

import argparse
import os
import time
from collections import Counter, defaultdict
from collections.abc import Iterator
from contextlib import suppress
from functools import cached_property
from itertools import pairwise
from pathlib import Path
from sys import intern
from typing import Any

import data
import numpy as np
import numpy.typing as npt
from measure import SCRATCH, Run, in_fresh_process, peak_mb
from races import crfsuite

from structlearn import StructuralSVM
from structlearn.datasets import fetch_conll2000
from structlearn.features import TextFeatures
from structlearn.io.conllu import ConllU
from structlearn.io.text import open_text
from structlearn.models import Chain

FOLDER = Path(os.environ["STRUCTLEARN_DATA"]) / "ud_english_ewt"
N_TOKENS = 1_000_000
N_TAGS = 450
#: The frequency of the tag of rank r is that of Brown, about 0.004 (50 / r)³ from rank 50 on.
FREQUENCY_AT_50, DECAY = 0.004, 3.0
#: Shares of the tokens that become another word of the same tag, or a new one made of two such words.
SWAPPED, NEW = 0.3, 0.04
#: Parts of speech with fewer words get no new ones.
OPEN_CLASS = 300
HELD_OUT = 20

Tagged = list[tuple[str, str]]


def sources() -> list[Tagged]:
    """All sentences of UD English EWT and of CoNLL-2000, about half a million words with Penn Treebank tags."""
    found: list[Tagged] = []
    for subset in ("train", "dev", "test"):
        with open_text(FOLDER / f"en_ewt-ud-{subset}.conllu.gz") as lines:
            found += [list(zip(example.x, example.y, strict=True)) for example in ConllU("xpos").read(lines)]
    return found + [list(x) for subset in ("train", "test") for x in fetch_conll2000(subset).X]


class Resampling:
    """Sentences drawn from others, with words exchanged for words of the same tag, and fine tags of word classes.

    A fine tag takes words of one part of speech whose neighbours are mostly the same, up to the frequency that its
    rank has; the part of speech itself is the tag of all its other words.
    """

    def __init__(self, sentences: list[Tagged], n_tags: int = N_TAGS, seed: int = 0):
        self.sentences = sentences
        self.n_tags = n_tags
        self.random = np.random.default_rng(seed)
        self.counts = Counter(token for sentence in sentences for token in sentence)
        self.tags = self._fine_tags()

    def _fine_tags(self) -> dict[tuple[str, str], str]:
        classes = self._word_classes()
        total = sum(self.counts.values())
        coarse = {tag for _, tag in self.counts}
        tags = {token: token[1] for token in self.counts}
        for rank in range(len(coarse) + 1, self.n_tags + 1):
            wanted = total * FREQUENCY_AT_50 * (50 / rank) ** DECAY
            # Of the classes that are large enough one by chance, large ones first as they have the most words.
            fitting = [name for name, words in classes.items() if sum(self.counts[w] for w in words) >= wanted]
            sizes = np.array([len(classes[name]) for name in fitting], float)
            name = fitting[self.random.choice(len(fitting), p=sizes / sizes.sum())]
            taken = 0
            while taken < wanted and classes[name]:
                word = classes[name].pop()
                tags[word] = f"{name[0]}-{rank}"
                taken += self.counts[word]
        return tags

    def _word_classes(self) -> dict[tuple[str, str, str], Tagged]:
        """Words by their part of speech and the most frequent parts of speech before and after them."""
        around: dict[tuple[str, str], tuple[Counter[str], Counter[str]]] = defaultdict(lambda: (Counter(), Counter()))
        for sentence in self.sentences:
            padded = ["^", *(tag for _, tag in sentence), "$"]
            for t, token in enumerate(sentence):
                around[token][0][padded[t]] += 1
                around[token][1][padded[t + 2]] += 1
        classes: dict[tuple[str, str, str], Tagged] = defaultdict(list)
        most = max(self.counts.values())
        for word, sides in around.items():
            if self.counts[word] < most / 20:
                classes[word[1], sides[0].most_common(1)[0][0], sides[1].most_common(1)[0][0]].append(word)
        for words in classes.values():
            self.random.shuffle(words)
        return classes

    @cached_property
    def _words(self) -> dict[str, tuple[list[str], npt.NDArray[np.float64]]]:
        """The words of each fine tag, and their cumulative shares."""
        words: dict[str, Tagged] = defaultdict(list)
        for token, tag in self.tags.items():
            words[tag].append(token)
        counts = {tag: np.cumsum([self.counts[token] for token in some]) for tag, some in words.items()}
        return {tag: ([word for word, _ in some], counts[tag] / counts[tag][-1]) for tag, some in words.items()}

    def draw(self, n_tokens: int) -> Iterator[Tagged]:
        """Sentences until there are so many tokens; fewer are the beginning of more."""
        n_drawn = 0
        while n_drawn < n_tokens:
            sentence = self.sentences[self.random.integers(len(self.sentences))]
            chances = self.random.random(len(sentence))
            tagged = [(token[0], self.tags[token]) for token in sentence]
            yield [(self._another(*token, chance), token[1]) for token, chance in zip(tagged, chances, strict=True)]
            n_drawn += len(sentence)

    def _another(self, word: str, tag: str, chance: float) -> str:
        if chance < NEW and len(self._words[tag][0]) >= OPEN_CLASS:
            head, tail = self._of(tag), self._of(tag)
            return head[: (len(head) + 1) // 2] + tail[len(tail) // 2 :]
        return self._of(tag) if chance < SWAPPED else word

    def _of(self, tag: str) -> str:
        words, shares = self._words[tag]
        return words[min(int(np.searchsorted(shares, self.random.random())), len(words) - 1)]


def make(path: Path, share: float, seed: int) -> None:
    with path.open("w", encoding="utf-8") as file:
        for sentence in Resampling(sources(), seed=seed).draw(int(share * N_TOKENS)):
            file.writelines(f"{word}\t{tag}\n" for word, tag in sentence)
            file.write("\n")


def read(path: Path) -> Iterator[Tagged]:
    sentence: Tagged = []
    with path.open(encoding="utf-8") as file:
        for line in file:
            word, _, tag = line.rstrip("\n").partition("\t")
            if word:
                sentence.append((intern(word), intern(tag)))
            else:
                yield sentence
                sentence = []


def split(path: Path) -> tuple[list[list[str]], ...]:
    """Words and tags to train on, and those that are held out."""
    parts: tuple[list[list[str]], ...] = ([], [], [], [])
    for i, sentence in enumerate(read(path)):
        for k in (0, 1):
            parts[k + 2 * (i % HELD_OUT == 0)].append([token[k] for token in sentence])
    return parts


def ours(path: str, tol: float) -> Run:
    words, Y, words_new, Y_new = split(Path(path))
    features = TextFeatures()
    X = features.fit_transform(words)
    del words
    before = peak_mb()
    with suppress(OSError):  # on Linux; the peak is that of training then, not that of the features
        Path("/proc/self/clear_refs").write_text("5")
    svm = StructuralSVM(Chain(), tol=tol)
    begin = time.process_time()
    svm.fit(X, Y)
    last = svm.history_[-1]
    return {
        "cpu_seconds": time.process_time() - begin,
        "peak_mb": peak_mb(),
        "features_peak_mb": before,
        "n_features": X.tokens.shape[1],
        "n_tags": len(svm.classes_),
        "gap": svm.duality_gap_,
        "iterations": svm.n_iter_,
        "seconds": last["seconds"],
        "oracle_seconds": last["oracle_seconds"],
        "dual_seconds": last["dual_seconds"],
        "accuracy": 1.0 - data.token_error(Y_new, svm.predict(features.transform(words_new))),
    }


def theirs(path: str) -> Run:
    words, Y, words_new, Y_new = split(Path(path))
    features = TextFeatures()
    train = features.fit_transform(words)
    names = features.get_feature_names_out().tolist()
    algorithm, options = crfsuite.ALGORITHMS["averaged perceptron"]
    model = SCRATCH / "large-tagset.crfsuite"
    del words
    begin = time.process_time()
    run = crfsuite.train(attributes(train, names), Y, algorithm, options, model)
    spent = time.process_time() - begin
    tagger = crfsuite.tagger(model)
    predicted = [tagger.tag(x) for x in attributes(features.transform(words_new), names)]
    return {
        "cpu_seconds": spent,
        "n_features": len(names),
        "n_tags": len({tag for y in Y for tag in y}),
        "iterations": run["iterations"],
        "accuracy": 1.0 - data.token_error(Y_new, predicted),
    }


def attributes(X: Any, names: list[str]) -> Iterator[list[list[str]]]:
    """The names of the features of every token, a sentence at a time: all of them at once would take gigabytes."""
    for rows in X:
        found = [names[column] for column in rows.indices]
        yield [found[begin:end] for begin, end in pairwise(rows.indptr)]


def describe(path: Path) -> str:
    sentences = list(read(path))
    tokens = [token for sentence in sentences for token in sentence]
    tags = Counter(tag for _, tag in tokens)
    shares = np.cumsum([count for _, count in tags.most_common()]) / len(tokens)
    n_features = TextFeatures().fit_transform([[word for word, _ in x] for x in sentences]).tokens.shape[1]
    words = len({word for word, _ in tokens})
    return (
        f"{len(tokens)} tokens in {len(sentences)} sentences, {words} words, {n_features} features, {len(tags)} tags; "
        f"the 10, 50 and 100 most frequent tags cover {', '.join(f'{shares[n - 1]:.1%}' for n in (10, 50, 100))}"
    )


def race(share: float, rival_share: float, seed: int, tol: float) -> None:
    SCRATCH.mkdir(parents=True, exist_ok=True)
    runs = {"structlearn": (share, "ours", {"tol": tol}), "CRFsuite, averaged perceptron": (rival_share, "theirs", {})}
    for name, (part, function, options) in runs.items():
        path = SCRATCH / f"large-tagset-{part:g}-{seed}.txt"
        make(path, part, seed)
        run = in_fresh_process(f"large_tagset:{function}", path=str(path), **options)
        print(f"{name}, share {part:g}:", ", ".join(f"{key} {value:.5g}" for key, value in run.items()), flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(dest="command", required=True)
    making = commands.add_parser("make", help="write the corpus")
    making.add_argument("path", type=Path)
    racing = commands.add_parser("race", help="train on it")
    racing.add_argument("--rival-share", type=float, default=0.1, help="the part of it for CRFsuite (0.1)")
    racing.add_argument("--tol", type=float, default=0.01, help="the relative gap (0.01)")
    for command in (making, racing):
        command.add_argument("--share", type=float, default=1.0, help="a part of the million tokens (1.0)")
        command.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    if options.command == "make":
        make(options.path, options.share, options.seed)
        print(describe(options.path))
    else:
        race(options.share, options.rival_share, options.seed, options.tol)


if __name__ == "__main__":
    main()
