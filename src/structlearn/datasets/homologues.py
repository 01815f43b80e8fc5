"""Synthetic homologues among decoys (Tsochantaridis et al. 2005, section 5.3)."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from structlearn.data.biosequences.matches import Matches
from structlearn.datasets._checks import RandomState, as_generator, check_at_least

N_LETTERS = 20
OPERATIONS = {"match": 0.2, "substitute": 0.4, "insert": 0.2, "delete": 0.2}

Letters = tuple[int, ...]


@dataclass(frozen=True, eq=False, slots=True)
class HomologueData:
    """Examples of `structlearn.models.Homologues`.

    Attributes
    ----------
    X : list of (native, candidates)
        Sequences of the letters 1 to 20; the homologue is at a random place among the candidates.
    Y : list of (place, matches)
        Which candidate is the homologue, and its matches with the native sequence.
    """

    X: list[tuple[Letters, list[Letters]]]
    Y: list[tuple[int, Matches]]


def make_homologues(
    n_examples: int = 20,
    *,
    length: int = 50,
    n_decoys: int = 10,
    n_operations: int = 30,
    random_state: RandomState = None,
) -> HomologueData:
    """Draw natives, their homologues and decoys.

    Letter c of natives and decoys has probability c/210. The homologue comes from a string of `n_operations`: match
    (probability 0.2), substitute c → (c mod 20) + 1 (0.4), insert (0.2) and delete (0.2), applied to a substring of the
    native that begins at a random place. Where the paper leaves it open: inserted and padding letters are drawn as the
    others are; the homologue is the changed substring alone, padded to `length` with random letters, of which a random
    number comes before it.

    Examples
    --------
    >>> data = make_homologues(2, random_state=0)
    >>> native, candidates = data.X[0]
    >>> len(native), len(candidates), {len(z) for z in candidates}
    (50, 11, {50})
    >>> place, matches = data.Y[0]
    >>> [(native[i], candidates[place][j]) for i, j in matches][:4]
    [(7, 8), (16, 16), (16, 17), (13, 13)]
    """
    check_at_least("n_examples", n_examples, 1)
    check_at_least("n_decoys", n_decoys, 0)
    check_at_least("n_operations", n_operations, 1)
    check_at_least("length", length, n_operations)
    random = as_generator(random_state)
    share = np.arange(1, N_LETTERS + 1) / (N_LETTERS * (N_LETTERS + 1) / 2)

    def letters(size: int) -> list[int]:
        return [int(c) for c in random.choice(N_LETTERS, size, p=share) + 1]

    X: list[tuple[Letters, list[Letters]]] = []
    Y: list[tuple[int, Matches]] = []
    for _ in range(n_examples):
        native = letters(length)
        homologue, matches = _homologue(native, n_operations, letters, random)
        decoys = [tuple(letters(length)) for _ in range(n_decoys)]
        place = int(random.integers(n_decoys + 1))
        X.append((tuple(native), [*decoys[:place], homologue, *decoys[place:]]))
        Y.append((place, matches))
    return HomologueData(X, Y)


def _homologue(
    native: list[int], n_operations: int, letters: Callable[[int], list[int]], random: np.random.Generator
) -> tuple[Letters, Matches]:
    names = list(OPERATIONS)
    operations = [names[k] for k in random.choice(len(names), n_operations, p=list(OPERATIONS.values()))]
    used = sum(operation != "insert" for operation in operations)
    at = int(random.integers(len(native) - used + 1))
    changed: list[int] = []
    partners = []
    for operation in operations:
        if operation == "insert":
            changed += letters(1)
            continue
        if operation != "delete":
            partners.append((at, len(changed)))
            changed.append(native[at] if operation == "match" else native[at] % N_LETTERS + 1)
        at += 1
    n_padding = len(native) - len(changed)
    before = int(random.integers(n_padding + 1))
    homologue = letters(before) + changed + letters(n_padding - before)
    return tuple(homologue), tuple((i, j + before) for i, j in partners)
