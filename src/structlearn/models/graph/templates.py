"""Templates of factors: which types of nodes a factor joins, and which of their labels have weights."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from structlearn.data.options import choice_option
from structlearn.data.typed_networks import Key
from structlearn.models.graph.factor_tables import TableForm
from structlearn.wording import shown


@dataclass(frozen=True)
class Factor:
    """A template of factors: all that are made by it share their weights.

    Parameters
    ----------
    types : tuple of str
        The types of the nodes of a factor, two or more.
    table : {"free", "symmetric", "potts"} or mapping
        Which weights the labels of the nodes have together: one for each; one for the same labels in any order; one for
        equal labels alone. Or a mapping from tuples of labels to what their weight is called: those with the same name
        share it, and those that are left out score 0.

    Examples
    --------
    >>> Factor(("word", "word", "topic"), {("noun", "noun", "arts"): "nouns", ("noun", "noun", "life"): "nouns"}).types
    ('word', 'word', 'topic')
    """

    types: tuple[str, ...]
    table: TableForm = "free"

    def check(self, name: str) -> None:
        """Refuses what is no template."""
        if not isinstance(self.types, tuple) or not all(isinstance(kind, str) for kind in self.types):
            raise ValueError(f"{name} has the types {shown(self.types)}; expected a tuple of texts")
        if len(self.types) < 2:
            raise ValueError(f"{name} has the types {shown(self.types)}; a factor has two nodes or more")
        if not isinstance(self.table, Mapping):
            choice_option(f"the table of {name}", self.table, ("free", "symmetric", "potts"))


def templates_of(factors: Any) -> dict[Key, Factor]:
    """The templates that the option of a model names: by types with a table, or by a name with a `Factor`."""
    if factors is None:
        return {}
    if not isinstance(factors, Mapping):
        raise ValueError(f"factors is {shown(factors)}; expected a dict of templates")
    found: dict[Key, Factor] = {}
    for key, value in factors.items():
        name = f"factors[{key!r}]"
        if isinstance(key, tuple):
            if isinstance(value, Factor):
                raise ValueError(f"{name} is a Factor, but its types are there already; give a table, or a name to it")
            found[key] = Factor(key, value)
        elif isinstance(key, str) and isinstance(value, Factor):
            found[key] = value
        else:
            raise ValueError(
                f"{name} is {shown(value)}; expected a tuple of types with a table, or a name with a Factor"
            )
        found[key].check(name)
    return found


def called(key: Key) -> str:
    """What a template is called in names of weights.

    >>> called(("word", "topic")), called("agree")
    ('word – topic', 'agree')
    """
    return key if isinstance(key, str) else " – ".join(key)
