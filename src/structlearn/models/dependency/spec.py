"""What is learnt of a treebank beside its weights: values of tokens, labels, and which features there are."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import chain, repeat
from operator import itemgetter
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from structlearn import _core
from structlearn.data.examples import is_listed
from structlearn.data.fields import check_distinct, check_tuple, check_within
from structlearn.models.base import Spec
from structlearn.models.dependency.templates import SPECIAL_VALUES, Template, template_rows
from structlearn.wording import shown

Values = npt.NDArray[np.int32]
#: The place of rare values among the special ones.
RARE = SPECIAL_VALUES.index("(rare)")


@dataclass(frozen=True, eq=False)
class DependencySpec(Spec):
    """The values of the columns of tokens, the labels of arcs, and the features that have weights.

    Attributes
    ----------
    values : tuple of tuples of str
        Of each column, in the order of their numbers, after the special ones.
    labels : tuple
        Of arcs; () where they have none.
    features : tuple of tuples of arrays, or None
        Of arcs, labels and siblings, for every template the values of the fields of each feature, (n_features,
        n_fields), unless features are hashed.
    """

    values: tuple[tuple[str, ...], ...]
    labels: tuple[Any, ...]
    features: tuple[tuple[Values, ...], ...] | None = None

    def check(self) -> None:
        check_tuple("values", self.values, tuple)
        for k, column in enumerate(self.values):
            check_tuple(f"values[{k}]", column, str)
            check_distinct(f"values[{k}]", column)
        check_tuple("labels", self.labels)
        check_distinct("labels", self.labels)
        if self.features is None:
            return
        check_tuple("features", self.features, tuple)
        most = max(map(len, self.values), default=0) + len(SPECIAL_VALUES)
        for group in self.features:
            for rows in group:
                if not isinstance(rows, np.ndarray) or rows.dtype != np.int32 or rows.ndim != 2:
                    raise ValueError("features holds what is no matrix of int32")
                check_within("features", (int(rows.min(initial=0)), int(rows.max(initial=0))), 0, max(most, 14))

    @property
    def classes(self) -> tuple[Any, ...]:
        """The labels, by the name that estimators give them."""
        return self.labels

    @property
    def n_labels(self) -> int:
        return max(len(self.labels), 1)

    def encode(self, sentences: Sequence[Sequence[tuple[str, ...]]]) -> Values:
        """The values of all tokens by their numbers, (n_tokens, n_columns)."""
        found = [
            np.fromiter(map(numbers.get, map(itemgetter(k), chain.from_iterable(sentences)), repeat(RARE)), np.int32)
            for k, numbers in enumerate(self._numbers)
        ]
        return np.stack(found, axis=1)

    @cached_property
    def _numbers(self) -> list[dict[str, int]]:
        return [{value: k for k, value in enumerate(column, len(SPECIAL_VALUES))} for column in self.values]

    def core_features(self, templates: Sequence[Sequence[Template]], n_hashed: int) -> _core.DependencyFeatures:
        """The features as compiled decoders take them.

        Those with weights of their own are kept: to index them takes as long as to parse hundreds of sentences.
        """
        key = (tuple(map(tuple, templates)), n_hashed)
        if key in self._kept:
            return self._kept[key]
        found = _core.DependencyFeatures(
            [(template_rows(group), len(group)) for group in templates], self.n_labels, n_hashed
        )
        for g, group in enumerate(self.features or ()):
            for t, rows in enumerate(group):
                found.add(g, t, rows)
        if found.n_weights >= 2**32:
            raise ValueError(f"there would be {found.n_weights:,} weights; with n_hashed, features share fewer")
        if self.features is not None:
            self._kept.clear()
            self._kept[key] = found
        return found

    @cached_property
    def _kept(self) -> dict[Any, _core.DependencyFeatures]:
        return {}

    def __getstate__(self) -> dict[str, Any]:
        # What is looked up is quickly made again.
        return {"values": self.values, "labels": self.labels, "features": self.features}


class Sentences(NamedTuple):
    """Sentences that have been read; see `read_sentences`."""

    tokens: list[list[tuple[str, ...]]]


def check_columns(names: Any) -> None:
    """Refuses what are no names of columns."""
    if not is_listed(names) or not all(isinstance(name, str) and name.isidentifier() for name in names):
        raise ValueError(f"columns is {shown(names)}; expected names such as ('form', 'upos')")
    if not len(names) or len(set(names)) < len(names):
        raise ValueError(f"columns is {shown(names)}; expected different names, one at least")


def read_sentences(X: Any, columns: Sequence[str]) -> list[list[tuple[str, ...]]]:
    """Tokens as tuples with a text for each column; refuses by name what is none.

    >>> read_sentences([["Go", "!"]], ["form"])
    [[('Go',), ('!',)]]
    """
    if not is_listed(X):
        raise ValueError(f"X is {shown(X)}; expected a list of sentences")
    return [_read_sentence(x, i, columns) for i, x in enumerate(X)]


def _read_sentence(x: Any, i: int, columns: Sequence[str]) -> list[tuple[str, ...]]:
    if not is_listed(x):
        raise ValueError(f"X[{i}] is {shown(x)}; expected a list of tokens")
    if _are_texts(x, len(columns)):
        return list(x)
    found = []
    for t, token in enumerate(x):
        values = (token,) if isinstance(token, str) else token
        if isinstance(values, dict):
            values = tuple(values.get(column) for column in columns)
        if not isinstance(values, (tuple, list)) or len(values) != len(columns):
            expected = f"expected the columns {', '.join(columns)} of a token"
            told = "columns=(…) of the model, or of what read the sentences, names others"
            raise ValueError(f"X[{i}][{t}] is {shown(token)}; {expected}; {told}")
        for column, value in zip(columns, values, strict=True):
            if not isinstance(value, str):
                raise ValueError(f"X[{i}][{t}] is {shown(token)}, whose {column} is no text")
        found.append(tuple(values))
    return found


def _are_texts(x: Any, n: int) -> bool:
    """Whether all tokens are tuples of n texts, as they nearly always are; this is seen without a loop."""
    return set(map(type, x)) <= {tuple} and set(map(len, x)) <= {n} and set(map(type, chain.from_iterable(x))) <= {str}


def check_trainable(sentences: Sequence[Sequence[Any]]) -> None:
    """Refuses what nothing can be learnt from."""
    if not sentences:
        raise ValueError("X is empty; at least one sentence is needed")
    for i, sentence in enumerate(sentences):
        if not sentence:
            raise ValueError(f"X[{i}] is a sentence without tokens, from which nothing can be learnt")


def known_values(
    sentences: Sequence[Sequence[tuple[str, ...]]], n_columns: int, min_count: int
) -> tuple[tuple[str, ...], ...]:
    """The values of each column that are not rare, the most frequent first."""
    counts = [Counter(token[k] for sentence in sentences for token in sentence) for k in range(n_columns)]
    return tuple(
        tuple(
            value for value, often in sorted(count.items(), key=lambda item: (-item[1], item[0])) if often >= min_count
        )
        for count in counts
    )
