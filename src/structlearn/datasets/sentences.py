"""Small English sentences with parts of speech and chunks, drawn from a grammar: text that needs no download."""

from __future__ import annotations

import numpy as np

from structlearn.datasets._checks import RandomState, as_generator, check_at_least
from structlearn.datasets.conll import TaggedSentences

# Many words stand in several lists: which tag they have shows only around them.
LEXICON = {
    "DT": "the a this that every some no",
    "JJ": "old light cold fast green open close loud patient early running watching clear kind last fair",
    "NN": "dog cat duck fish saw light watch bear fly run hand play walk river bank can plant table train mouse "
    "house garden boat park market guard point answer cook question cut drive fall rest stone iron cover",
    "NNS": "dogs cats ducks saws lights watches bears flies runs hands plays walks parks banks cans plants trains "
    "houses boats guards points answers cooks questions cuts drives falls rests stones covers",
    "NNP": "Mary John Paris Oslo Will Mark May Rose Frank Bill Grace Robin Victor London Dean Miles",
    "PRP": "she he they it we you I",
    "VBZ": "sees lights watches bears flies runs hands plays walks cooks plants guards points answers questions cuts "
    "drives falls rests covers ducks",
    "VBD": "saw lit watched bore flew ran handed played walked cooked planted guarded cut drove fell rested left "
    "found covered lost put let shut",
    "VB": "see light watch bear fly run hand play walk cook plant guard point answer question cut drive fall rest "
    "cover duck fish park train open close",
    "MD": "can will may must might could should",
    "RB": "fast early often never slowly close well hard still soon last quietly",
    "IN": "in on near under with over by from past for like round",
    "CC": "and or but",
    "CD": "two three ten 40 1,200 1987",
}


def make_sentences(n_sentences: int = 500, *, random_state: RandomState = None) -> TaggedSentences:
    """Draw sentences with the part of speech and the chunk tag of every word.

    The words are English, the grammar is ours and small; a share of the words is ambiguous, "saw" or "light" or "can",
    so that a tagger has to look around.

    Parameters
    ----------
    n_sentences : int
    random_state : int, numpy Generator or None
        Seed.

    Returns
    -------
    TaggedSentences
        Tokens are pairs (word, part of speech), labels are chunks such as B-NP, I-NP, B-VP, B-PP, O.

    Examples
    --------
    >>> sentences = make_sentences(2, random_state=1)
    >>> for (word, tag), chunk in zip(sentences.X[0][:3], sentences.Y[0]):
    ...     print(word, tag, chunk)
    A DT B-NP
    play NN I-NP
    handed VBD B-VP
    """
    check_at_least("n_sentences", n_sentences, 1)
    draw = _Grammar(as_generator(random_state))
    drawn = [draw.sentence() for _ in range(n_sentences)]
    return TaggedSentences(
        [[(word, tag) for word, tag, _ in sentence] for sentence in drawn],
        [[chunk for _, _, chunk in sentence] for sentence in drawn],
    )


Token = tuple[str, str, str]


class _Grammar:
    def __init__(self, random: np.random.Generator):
        self._random = random
        self._words = {tag: words.split() for tag, words in LEXICON.items()}

    def sentence(self) -> list[Token]:
        tokens = self._clause()
        if self._chance(0.2):
            tokens += [*self._chunk("O", ["CC"]), *self._clause()]
        word, tag, chunk = tokens[0]
        return [(word[0].upper() + word[1:], tag, chunk), *tokens[1:], (".", ".", "O")]

    def _clause(self) -> list[Token]:
        tokens = self._chunk("ADVP", ["RB"]) if self._chance(0.1) else []
        tokens += self._noun_phrase() + self._verb_phrase()
        if self._chance(0.75):
            tokens += self._noun_phrase()
        if self._chance(0.5):
            tokens += self._chunk("PP", ["IN"]) + self._noun_phrase()
        if self._chance(0.25):
            tokens += self._chunk("ADVP", ["RB"])
        return tokens

    def _noun_phrase(self) -> list[Token]:
        kind = self._random.random()
        if kind < 0.15:
            return self._chunk("NP", ["PRP"])
        if kind < 0.35:
            return self._chunk("NP", ["NNP"] * (1 + self._chance(0.3)))
        adjectives = ["JJ"] * int(self._random.choice(3, p=[0.5, 0.4, 0.1]))
        if kind < 0.5:
            return self._chunk("NP", [*(["CD"] if self._chance(0.5) else []), *adjectives, "NNS"])
        compound = ["NN"] if self._chance(0.25) else []
        return self._chunk("NP", ["DT", *adjectives, *compound, "NN"])

    def _verb_phrase(self) -> list[Token]:
        kind = self._random.random()
        if kind < 0.3:
            return self._chunk("VP", ["MD", *(["RB"] if self._chance(0.3) else []), "VB"])
        return self._chunk("VP", ["VBD" if kind < 0.65 else "VBZ"])

    def _chunk(self, kind: str, tags: list[str]) -> list[Token]:
        marks = ["O"] if kind == "O" else [f"B-{kind}", *[f"I-{kind}"] * (len(tags) - 1)]
        return [(str(self._random.choice(self._words[tag])), tag, mark) for tag, mark in zip(tags, marks, strict=True)]

    def _chance(self, probability: float) -> bool:
        return bool(self._random.random() < probability)
