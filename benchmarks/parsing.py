"""Sentences a second: the best trees of at most 40 words under the full treebank grammar, against nltk's ViterbiParser.

    python benchmarks/parsing.py

Not part of ``race.py``; it takes about a minute on a quiet machine. Parts of speech are the input, weights are relative
frequencies, one thread, processor time. nltk gets the same binary rules and must find trees of the same probability; it
is left out by name where it is not installed (``pip install nltk``).

No maintained compiled parser for given weighted grammars was found on the package index. disco-dop 0.5.2 does not build
on Python 3.11 or later: its archive has generated C only, which needs a header that is gone. genlm-grammar 0.2.0 has a
CKY in pure Python; torch-struct 0.5 wants dense tensors of all triples of symbols; pcfg 0.1.5 only generates sentences
and cky 0.1.5 is a placeholder; bllipparser, benepar, supar and stanza parse with models of their own and take no rules.
"""

from __future__ import annotations

import argparse
import statistics
import time
from typing import Any

import numpy as np

from structlearn import RelativeFrequencies
from structlearn.datasets import fetch_treebank
from structlearn.models import Grammar

#: How long nltk's sentences may be: it takes minutes for one of 40 words.
LONGEST_FOR_NLTK = 8


def rules_of(counted: RelativeFrequencies) -> list[tuple[list[str], float]]:
    """Parent and children of every rule by name, and its probability; starts have the parent "start"."""
    spec = counted.spec_
    names = [f"s{k}" for k in range(len(spec.symbols))]
    found = []
    for key, w in zip(spec.rule_codes, counted.w_.tolist(), strict=True):
        parent = ["start"] if len(key) == 1 else [names[key[0]]]
        found.append((parent + [names[k] for k in key[len(key) > 1 :]], float(np.exp(w))))
    return found


def ours(counted: RelativeFrequencies, X: list[Any]) -> tuple[float, list[float]]:
    begin = time.process_time()
    counted.predict(X)
    seconds = time.process_time() - begin
    problem = counted.model_.bind(counted.spec_, X)
    return seconds, problem.best_scored(counted.w_, np.arange(len(X)))[1].tolist()


def nltk_parser(counted: RelativeFrequencies, X: list[Any]) -> tuple[float, list[float]]:
    from nltk.grammar import PCFG, Nonterminal, ProbabilisticProduction
    from nltk.parse import ViterbiParser

    productions = [
        ProbabilisticProduction(Nonterminal(names[0]), list(map(Nonterminal, names[1:])), prob=p)
        for names, p in rules_of(counted)
    ]
    spec = counted.spec_
    first_tag = len(spec.phrases)
    for k, tag in enumerate(spec.tags):
        productions.append(ProbabilisticProduction(Nonterminal(f"s{first_tag + k}"), [tag], prob=1.0))
    parser = ViterbiParser(PCFG(Nonterminal("start"), productions), max_time=None)
    begin = time.process_time()
    trees = [next(parser.parse(x)) for x in X]
    return time.process_time() - begin, [float(np.log(tree.prob())) for tree in trees]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sentences", type=int, default=300, help="how many of at most 40 words")
    parser.add_argument("--for-nltk", type=int, default=4, help=f"how many of {LONGEST_FOR_NLTK} words for nltk")
    parser.add_argument("--repeats", type=int, default=3)
    options = parser.parse_args()
    data = fetch_treebank(40)
    X = [[tag for _, tag in x] for x in data.X]
    counted = RelativeFrequencies(Grammar()).fit(X, data.Y)
    print(f"{len(counted.spec_.binary) // 3} binary and {len(counted.spec_.unary) // 2} unary rules")
    some = X[:: max(len(X) // options.sentences, 1)]
    seconds = statistics.median(ours(counted, some)[0] for _ in range(options.repeats))
    words = sum(map(len, some))
    print(f"structlearn: {len(some)} sentences, {words} words, {len(some) / seconds:.0f} sentences a second")
    short = [x for x in X if len(x) == LONGEST_FOR_NLTK][: options.for_nltk]
    mine, scores = ours(counted, short * 50)
    try:
        theirs, their_scores = nltk_parser(counted, short)
    except ImportError:
        print("nltk: left out, it is not installed")
        return
    np.testing.assert_allclose(their_scores, scores[: len(short)], rtol=1e-6)
    rate = 50 * len(short) / mine
    print(f"structlearn: {rate:.0f} sentences of {LONGEST_FOR_NLTK} words a second")
    print(f"nltk ViterbiParser: {len(short) / theirs:.3f}; ratio of times {len(short) / theirs / rate:.2g}")


if __name__ == "__main__":
    main()
