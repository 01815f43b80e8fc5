"""From words to sparse features."""

from __future__ import annotations

import json
import warnings
from collections.abc import Iterable, Sequence
from hashlib import blake2b
from typing import Any, Self

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from structlearn.contract import Estimator, check_is_fitted
from structlearn.data.examples import is_listed
from structlearn.data.fields import LARGEST
from structlearn.data.memory import memory_option
from structlearn.data.options import flag_option, whole_option
from structlearn.data.tokens.sequences import Sequences
from structlearn.features.template_columns import Columns, Hashing, Vocabulary
from structlearn.features.templates import Template, default_templates, name, parse
from structlearn.features.token_columns import TokenColumns
from structlearn.features.vocabulary_counts import VocabularyCounts
from structlearn.features.word_attributes import attribute
from structlearn.wording import shown


class TextFeatures(Estimator):
    """φ(x, t) with a 1 for every template and the values it has at token t, such as ``word[-1]|word[0]=the|dog``.

    Parameters
    ----------
    templates : sequence of str, optional
        ``word[0]`` is the word itself, ``pos[-1]`` the tag before, ``word[0]|pos[-1]`` both together,
        ``word.suffix3[0]`` an attribute of the word. ``word[-2..2]``, ``word.prefix1..3[0]``, ``pairs of pos[-2..2]``
        and ``triples of pos[-2..2]`` stand for several, and ``bias`` for a feature that every token has. None takes
        words and lower-case words around, pairs of neighbouring words, affixes and shapes; of further columns the
        values around, their pairs and triples.

        Attributes are ``lower``, ``prefixN`` and ``suffixN`` (which words of at least N letters have), ``shape``
        (Xxx-dd), ``short_shape`` (Xx-d), and the flags ``is_capitalised``, ``is_upper``, ``is_number``,
        ``is_punctuation``, ``has_digit`` and ``has_hyphen``, which are "yes" or nothing.
    columns : sequence of str
        The names of what a token consists of, for tokens that are tuples or lists.
    boundary : bool
        Whether a place beyond the ends of a sequence has a value, as in CRF++: ``_B-1`` before the first token,
        ``_B+1`` after the last, ``_B-2`` and ``_B+2`` one further out. Otherwise templates that reach there give
        nothing.
    min_count : int
        Features of fewer tokens in training are left out.
    n_hashed : int, optional
        The number of columns into which features are hashed, for data without end: no vocabulary is kept, features may
        collide, and they have no names. None keeps a vocabulary; what it does not hold is ignored in prediction.

    Attributes
    ----------
    templates_ : tuple of str
        All templates, without abbreviations.

    Notes
    -----
    X is a list of sequences of words, or of tuples of strings such as (word, part of speech). The work is done once
    for every distinct word and by arrays for the tokens. Features of a template stand together, in the order of the
    templates. A combination with a field that has no value, or none that was seen in training, gives nothing.

    Examples
    --------
    >>> words = TextFeatures(["word[-1..0]", "word[-1]|word[0]", "word.suffix2[0]"])
    >>> rows = words.fit_transform([["the", "dog"], ["dogs"]])
    >>> rows.lengths.tolist(), rows.tokens.shape
    ([2, 1], (3, 11))
    >>> dog = rows[0][[1]]
    >>> words.get_feature_names_out()[dog.indices].tolist()
    ['word[-1]=the', 'word[0]=dog', 'word[-1]|word[0]=the|dog', 'word.suffix2[0]=og']
    """

    def __init__(
        self,
        templates: Sequence[str] | None = None,
        columns: Sequence[str] = ("word",),
        boundary: bool = True,
        min_count: int = 1,
        n_hashed: int | None = None,
    ):
        self.templates = templates
        self.columns = columns
        self.boundary = boundary
        self.min_count = min_count
        self.n_hashed = n_hashed

    def fit(self, X: Any, y: Any = None) -> Self:
        self.fit_transform(X)
        return self

    def fit_transform(self, X: Any, y: Any = None) -> Sequences:
        templates = self._parsed_templates()
        tokens = self._tokens(X, templates)
        numbering = Vocabulary(templates) if self.n_hashed is None else Hashing(templates, int(self.n_hashed))
        found = numbering.learn(tokens, self.min_count) if isinstance(numbering, Vocabulary) else numbering.find(tokens)
        self.templates_ = tuple(map(name, templates))
        self.numbering_ = numbering
        return Sequences(_indicators(found, numbering.n_columns), tokens.lengths)

    def fit_chunks(self, chunks: Iterable[Any], *, max_memory: int | str | None = None) -> Self:
        """As `fit` to all chunks together, in one pass, with one of them in memory at a time.

        Parameters
        ----------
        chunks : iterable of X
        max_memory : int or str, optional
            Bytes for counting, also as text, "500MB". Where values of templates take more, the rarest are forgotten,
            and a warning says which may be missing. None keeps all.

        Examples
        --------
        >>> words = TextFeatures(["word[0]"], min_count=2).fit_chunks([[["the", "dog"]], [["the", "cat"]]])
        >>> words.get_feature_names_out().tolist()
        ['word[0]=the']
        """
        templates = self._parsed_templates()
        counts = VocabularyCounts(templates, memory_option("max_memory", max_memory))
        for chunk in chunks if self.n_hashed is None else ():
            counts.add(self._tokens(chunk, templates))
        if counts.lost:
            warnings.warn(
                f"counting took more than max_memory={max_memory!r}: features of fewer than "
                f"{self.min_count + counts.lost} tokens may be missing",
                RuntimeWarning,
                stacklevel=2,
            )
        self.templates_ = tuple(map(name, templates))
        vocabulary = counts.vocabulary(self.min_count) if self.n_hashed is None else None
        self.numbering_ = vocabulary or Hashing(templates, int(self.n_hashed or 1))
        return self

    def check_learnt(self) -> None:
        """Refuses what `fit` could not have learnt; who loads a transformer asks for it."""
        self._parsed_templates()
        if not isinstance(self.numbering_, Vocabulary | Hashing):
            raise ValueError(f"numbering_ is a {type(self.numbering_).__name__}")
        self._check_columns(self.numbering_.templates)

    def transform(self, X: Any) -> Sequences:
        check_is_fitted(self)
        tokens = self._tokens(X, self.numbering_.templates)
        return Sequences(_indicators(self.numbering_.find(tokens), self.numbering_.n_columns), tokens.lengths)

    def get_feature_names_out(self, input_features: Any = None) -> npt.NDArray[Any]:
        """The names of all columns; `input_features` is there for scikit-learn and not used."""
        check_is_fitted(self)
        if isinstance(self.numbering_, Hashing):
            raise ValueError(f"features that are hashed (n_hashed={self.n_hashed}) have no names")
        return np.array(self.numbering_.names(), object)

    def digest(self) -> str:
        """One short text, the same for all that make the same columns of all words, however they learnt them."""
        check_is_fitted(self)
        known = list(self.numbering_.names()) if isinstance(self.numbering_, Vocabulary) else self.numbering_.n_columns
        made_of = [list(self.columns), bool(self.boundary), self.templates_, known]
        return blake2b(json.dumps(made_of).encode(), digest_size=16).hexdigest()

    def __sklearn_tags__(self) -> Any:
        from sklearn.utils import TransformerTags

        tags = super().__sklearn_tags__()
        tags.transformer_tags = TransformerTags()
        tags.input_tags.two_d_array = False
        tags.input_tags.string = True
        return tags

    def _tokens(self, X: Any, templates: tuple[Template, ...]) -> TokenColumns:
        margin = max((abs(part.offset) for template in templates for part in template), default=0)
        return TokenColumns(X, self.columns, margin, self.boundary)

    def check_options(self) -> None:
        """Refuses options that mean nothing, by name."""
        for option in ("columns", "templates"):
            value: Any = getattr(self, option)
            listed = is_listed(value) and len(value) and all(isinstance(each, str) for each in value)
            if not (listed or (value is None and option == "templates")):
                raise ValueError(f"{option} is {shown(value)}; expected a list of strings")
        flag_option("boundary", self.boundary)
        whole_option("min_count", self.min_count, 1)
        if self.n_hashed is not None:
            whole_option("n_hashed", self.n_hashed, 1, LARGEST)
        if self.n_hashed is not None and self.min_count > 1:
            raise ValueError("min_count needs a vocabulary of features; with n_hashed leave it at 1")

    def _parsed_templates(self) -> tuple[Template, ...]:
        """The templates, after a look at all options."""
        self.check_options()
        templates = parse(default_templates(self.columns) if self.templates is None else self.templates)
        self._check_columns(templates)
        return templates

    def _check_columns(self, templates: tuple[Template, ...]) -> None:
        for template in templates:
            for part in template:
                if part.column not in self.columns:
                    known = ", ".join(self.columns)
                    raise ValueError(f"the template {name(template)!r} uses {part.column!r}; the columns are {known}")
                if part.attribute:
                    attribute(part.attribute)


def _indicators(columns: Columns, n_columns: int) -> sp.csr_array:
    """A matrix with ones in the columns of every row; what is there twice, as hashes may be, counts twice."""
    kept = columns >= 0
    indices = columns[kept]
    indptr = np.zeros(len(columns) + 1, sp.get_index_dtype(maxval=len(indices)))
    np.cumsum(np.count_nonzero(kept, axis=1), dtype=indptr.dtype, out=indptr[1:])
    matrix = sp.csr_array((np.ones(len(indices)), indices, indptr), shape=(len(columns), n_columns))
    matrix.sum_duplicates()
    return matrix
