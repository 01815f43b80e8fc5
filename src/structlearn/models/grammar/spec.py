"""What a grammar learns from a treebank: its symbols, rules and words."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, fields
from functools import cached_property
from typing import Any, Literal

import numpy as np

from structlearn import _core
from structlearn.data.arrays import IntArray
from structlearn.data.fields import check_distinct, check_tuple, check_whole, check_within
from structlearn.data.ragged import offsets_of
from structlearn.data.trees import ROOTS, Tree, leaves
from structlearn.models.base import Spec
from structlearn.models.grammar.binary_trees import Symbol, symbol_name

Inputs = Literal["tags", "words"]
#: The kind of words whose likes were never seen.
UNKNOWN = "<unknown>"
#: Which tokens spans are told apart by.
PLACES = ("begins with", "ends with", "after", "before")
#: Ranges of lengths that spans are told apart by; see ``core/grammar/rules.hpp``.
LENGTHS = ("1", "2", "3", "4", "5", "6-7", "8-11", "12-19", "20 or more")


@dataclass(frozen=True)
class GrammarSpec(Spec):
    """The rules of a treebank. Symbols are numbered: phrases, then tags, then parts; rules refer to the numbers.

    Attributes
    ----------
    labels : tuple of str
    phrases : tuple of tuples
        Label, and the labels of the ancestors that are told apart.
    tags : tuple of str
    parts : tuple of tuples
        The number of a phrase and the labels of the children it remembers, see `binary_trees`.
    binary, unary : tuple of int
        (parent, left, right) and (parent, child) of every rule, one after another.
    starts : tuple of int
        Symbols of whole sentences.
    words : tuple of str
        Kinds of tokens: tags if those are the input, otherwise words and kinds of rare words.
    word_tags : tuple of tuples of int
        The symbols that each kind of tokens may have.
    longest_chain : int
        Most unary rules one above the other.
    n_token_features : int
        Features of every token, 0 where there are none.
    """

    labels: tuple[str, ...]
    phrases: tuple[tuple[str, ...], ...]
    tags: tuple[str, ...]
    parts: tuple[tuple[Any, ...], ...]
    binary: tuple[int, ...]
    unary: tuple[int, ...]
    starts: tuple[int, ...]
    words: tuple[str, ...]
    word_tags: tuple[tuple[int, ...], ...]
    longest_chain: int
    n_token_features: int = 0

    def check(self) -> None:
        for name in ("labels", "tags", "words"):
            check_tuple(name, getattr(self, name), str)
            check_distinct(name, getattr(self, name))
        check_whole("longest_chain", self.longest_chain)
        check_whole("n_token_features", self.n_token_features)
        for name in ("phrases", "parts", "word_tags"):
            check_tuple(name, getattr(self, name), tuple)
        known = set(self.labels)
        for k, names in enumerate(self.phrases):
            check_tuple(f"phrases[{k}]", names, str)
            if not names or names[0] not in known:
                raise ValueError(f"phrases[{k}] is {names!r}, whose label is not in labels")
        for k, part in enumerate(self.parts):
            check_within(f"parts[{k}]", part[:1] or (None,), 0, len(self.phrases))
            check_tuple(f"parts[{k}][1:]", part[1:], str)
        if len(self.word_tags) != len(self.words):
            raise ValueError(f"word_tags are given for {len(self.word_tags)} words but there are {len(self.words)}")
        for k, tags in enumerate(self.word_tags):
            check_within(f"word_tags[{k}]", tags, len(self.phrases), len(self.phrases) + len(self.tags))
        self._check_rules()

    def _check_rules(self) -> None:
        """Numbers of rules in the ranges, and binary ones in the order, that ``core/grammar/rules.hpp`` relies on."""
        n_phrases = len(self.phrases)
        n_plain = n_phrases + len(self.tags)
        n_symbols = n_plain + len(self.parts)
        for name, width in (("binary", 3), ("unary", 2), ("starts", 1)):
            numbers = getattr(self, name)
            check_tuple(name, numbers, int)
            if len(numbers) % width:
                raise ValueError(f"{name} has {len(numbers)} numbers, which are no rows of {width}")
        check_within("binary", self.binary, 0, n_symbols)
        check_within("the right children of binary", self.binary[2::3], 0, n_plain)
        check_within("the parents of unary", self.unary[::2], 0, n_phrases)
        check_within("the children of unary", self.unary[1::2], 0, n_plain)
        check_within("starts", self.starts, 0, n_plain)
        check_distinct("starts", self.starts)
        check_distinct("unary", zip(self.unary[::2], self.unary[1::2], strict=True))
        rows = list(zip(self.binary[1::3], self.binary[2::3], self.binary[::3], strict=True))
        check_distinct("binary", rows)
        if rows != sorted(rows):
            raise ValueError("binary is not in the order of left children, right children and parents")
        for k in range(0, len(self.binary), 3):
            if n_phrases <= self.binary[k] < n_plain:
                raise ValueError(f"binary[{k}] is {self.binary[k]}, a tag, which has no children")

    @cached_property
    def symbols(self) -> list[Symbol]:
        phrases: list[Symbol] = [("phrase", *names) for names in self.phrases]
        tags: list[Symbol] = [("tag", name) for name in self.tags]
        return [*phrases, *tags, *(("part", phrases[part[0]], *part[1:]) for part in self.parts)]

    @cached_property
    def symbol_codes(self) -> dict[Symbol, int]:
        return {symbol: k for k, symbol in enumerate(self.symbols)}

    @cached_property
    def word_codes(self) -> dict[str, int]:
        return {word: k for k, word in enumerate(self.words)}

    @cached_property
    def rule_codes(self) -> dict[tuple[int, ...], int]:
        """The weights of binary and unary rules, and of starts, by their symbols."""
        binary, unary = _rows(self.binary, 3), _rows(self.unary, 2)
        keys = [tuple(row) for row in [*binary.tolist(), *unary.tolist()]] + [(s,) for s in self.starts]
        return {key: k for k, key in enumerate(keys)}

    def rule_names(self) -> list[str]:
        """The rules as text, in the order of their weights.

        >>> from structlearn.models import Grammar
        >>> spec = Grammar().specify([["N", "V"]], ["(S (N N) (V V))"])
        >>> spec.rule_names()
        ['S → N V', 'start → S']
        """
        names = [symbol_name(symbol) for symbol in self.symbols]
        found = []
        for key in self.rule_codes:
            parent = "start" if len(key) == 1 else names[key[0]]
            found.append(f"{parent} → {' '.join(names[k] for k in key[len(key) > 1 :])}")
        return found

    def word_names(self) -> list[str]:
        """The rules of words as text, in the order of their weights."""
        first = len(self.phrases)
        pairs = zip(self.words, self.word_tags, strict=True)
        return [f"{self.tags[tag - first]} → {word}" for word, tags in pairs for tag in tags]

    def span_names(self) -> list[str]:
        """What the features of phrases are, in the order of their weights."""
        kinds = [*self.words, "an unknown token", "the end of the sentence"]
        edges = [f"{where} {kind}" for where in PLACES for kind in kinds]
        columns = [f"{where} feature {k}" for where in PLACES for k in range(self.n_token_features)]
        return [*edges, *(f"of {length} tokens" for length in LENGTHS), *columns]

    def core_rules(self, *, lexical: bool, spans: bool) -> _core.GrammarRules:
        """The rules, indexed for the decoders; made once."""
        key = (lexical, spans)
        if key not in self._built:
            label_codes = {label: k for k, label in enumerate(self.labels)}
            label = [label_codes[names[0]] for names in self.phrases] + [-1] * (len(self.tags) + len(self.parts))
            self._built[key] = _core.GrammarRules(
                n_symbols=len(label),
                n_plain=len(self.phrases) + len(self.tags),
                label=np.array(label, np.int32),
                counts=np.array([name not in ROOTS for name in self.labels], np.uint8),
                binary=_rows(self.binary, 3),
                unary=_rows(self.unary, 2),
                starts=np.array(self.starts, np.int32),
                word_begin=self.word_begins.astype(np.int32),
                word_tag=np.array([tag for tags in self.word_tags for tag in tags], np.int32),
                lexical=lexical,
                n_edges=self.n_edges if spans else 0,
                n_buckets=len(LENGTHS) if spans else 0,
                n_columns=self.n_token_features if spans else 0,
                longest_chain=self.longest_chain,
            )
        return self._built[key]

    @property
    def n_edges(self) -> int:
        """Kinds of tokens at the edge of a span: the known ones, the others, and what is outside of the sentence."""
        return len(self.words) + 2

    @cached_property
    def word_begins(self) -> IntArray:
        """Where the tags of each kind of tokens begin, if all are listed."""
        return offsets_of([len(tags) for tags in self.word_tags])

    @cached_property
    def rule_keys(self) -> list[tuple[int, ...]]:
        """The symbols of every rule, by its weight."""
        return list(self.rule_codes)

    @cached_property
    def _built(self) -> dict[tuple[bool, bool], _core.GrammarRules]:
        return {}

    def __getstate__(self) -> dict[str, Any]:
        # The fields only: what is looked up is quickly made again.
        return {field.name: getattr(self, field.name) for field in fields(self)}


def lexicon(
    trees: Iterable[Tree], codes: dict[Symbol, int], tags: Sequence[str], min_count: int | None
) -> tuple[tuple[str, ...], tuple[tuple[int, ...], ...]]:
    """Kinds of tokens, and the symbols that each may have; without `min_count` these are the tags themselves."""
    if min_count is None:
        return tuple(tags), tuple((codes["tag", tag],) for tag in tags)
    pairs = [leaf for tree in trees for leaf in leaves(tree)]
    counts = Counter(word for _, word in pairs)
    found: dict[str, set[int]] = {UNKNOWN: set()}
    for tag, word in pairs:
        kinds = (word_form(word), UNKNOWN) if counts[word] < min_count else (word,)
        for kind in kinds:
            found.setdefault(kind, set()).add(codes["tag", tag])
    if not found[UNKNOWN]:
        # Without rare words nothing is known of new ones: they may be anything.
        found[UNKNOWN] = {codes["tag", tag] for tag in tags}
    return tuple(found), tuple(tuple(sorted(tags)) for tags in found.values())


def word_form(word: str) -> str:
    """What is known of a rare word: capitals, digits, hyphens, and its last two letters.

    >>> word_form("Walking"), word_form("1,000"), word_form("x")
    ('<C-ng>', '<1>', '<>')
    """
    form = "C" * word[:1].isupper() + "1" * any(c.isdigit() for c in word) + "h" * ("-" in word)
    ending = f"-{word[-2:].lower()}" if len(word) > 3 and word[-2:].isalpha() else ""
    return f"<{form}{ending}>"


def _rows(values: Iterable[int], width: int) -> Any:
    return np.array(tuple(values), np.int32).reshape(-1, width)
