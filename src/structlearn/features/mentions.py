"""What the words of a mention say about it: whether it is a pronoun, a name or a noun phrase, of whom, which article.

Only words and capitals are looked at, and short lists of English words; there is no parser behind it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from structlearn.data.documents import Document, Mention

PRONOUN, NAME, NOUN = range(3)
TYPES: Final = ("pronoun", "name", "noun")
#: What a mention may be: a pronoun of one of eight kinds, or else a noun of some gender or number.
PRONOUNS: Final = ("I", "we", "you", "he", "she", "it", "they", "who")
GENDERS: Final = ("unknown", "man", "woman", "thing", "several")
ARTICLES: Final = ("none", "a", "the", "this", "my")


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


_KINDS: Final = {
    word: kind
    for kind, words in enumerate(
        (
            "i me my mine myself",
            "we us our ours ourselves",
            "you your yours yourself yourselves thou thee thy thine ye",
            "he him his himself",
            "she her hers herself",
            "it its itself",
            "they them their theirs themselves",
            "who whom whose which that this these those",
        )
    )
    for word in words.split()
}
_MEN = _words(
    "mr mr. sir lord king prince duke count baron master monsieur captain father son brother uncle nephew husband "
    "grandfather man boy gentleman fellow lad bachelor priest squire widower gentlemen papa"
)
_WOMEN = _words(
    "mrs mrs. miss ms lady queen princess duchess countess baroness mistress madame mademoiselle mother daughter "
    "sister aunt niece wife grandmother woman girl maid widow nurse dame mamma spinster"
)
_THINGS = _words(
    "house room street city town village country place road hill river sea forest garden church school ship boat car "
    "carriage world home door hall kitchen office hotel station parish island land coast mountain valley wood field "
    "parlour chamber palace castle shop bridge square farm cottage library theatre bedroom england london france paris "
    "america earth yard lane avenue building neighbourhood train coach prison court bank army company"
)
_SEVERAL = _words("people men women children folk folks police gentlemen ladies parents brothers sisters others both")
_ARTICLES: Final = {
    word: ARTICLES.index(article)
    for article, words in {
        "a": "a an some any another one two three several many no every each",
        "the": "the",
        "this": "this that these those such",
        "my": "my your his her its our their thy whose",
    }.items()
    for word in words.split()
}
#: Where a noun phrase is cut: its head is the last word before.
_AFTER_HEAD = _words(
    "of in at on with from to by for near among upon into who whom whose which that where when , ; : ( -- — - and or"
)
_BESIDE_THE_POINT = _words(
    "the a an this that these those his her their my your our its 's ’s of and in ' ’ , . \" old"
)


@dataclass(frozen=True, slots=True)
class MentionTraits:
    """What is known of one mention.

    Attributes
    ----------
    type : int
        `PRONOUN`, `NAME` or `NOUN`.
    kind : int
        Which pronoun, or beyond those the gender or number of a noun.
    article : int
    text : str
        The words that matter, in small letters.
    head : str
    words : frozenset of str
    """

    type: int
    kind: int
    article: int
    text: str
    head: str
    words: frozenset[str]


def mention_traits(document: Document, mention: Mention) -> MentionTraits:
    """
    >>> traits = mention_traits(Document((("The", "old", "man", "of", "Kent"),), (Mention(0, 0, 5),)), Mention(0, 0, 5))
    >>> traits.head, TYPES[traits.type], (PRONOUNS + GENDERS)[traits.kind], ARTICLES[traits.article], traits.text
    ('man', 'noun', 'man', 'the', 'man kent')
    """
    words = document.words(mention)
    small = [word.lower() for word in words]
    if len(words) == 1 and small[0] in _KINDS:
        return MentionTraits(PRONOUN, _KINDS[small[0]], 0, small[0], small[0], frozenset())
    cut = next((t for t, word in enumerate(small) if t and word in _AFTER_HEAD), len(words))
    place = next((t for t in reversed(range(cut)) if small[t][:1].isalpha()), cut - 1)
    head = small[place]
    matter = [word for word in small if word not in _BESIDE_THE_POINT]
    type_ = NAME if (words[place][:1].isupper() and not words[place].isupper()) or head == "god" else NOUN
    return MentionTraits(
        type_,
        len(PRONOUNS) + _gender(small, cut, head, type_),
        _ARTICLES.get(small[0], 0) if type_ == NOUN or small[0] == "the" else 0,
        " ".join(matter or small),
        head,
        frozenset(matter),
    )


def _gender(small: list[str], cut: int, head: str, type_: int) -> int:
    before = set(small[:cut])
    if "and" in small[:-1] and small.index("and") <= cut:
        return GENDERS.index("several")
    for words, gender in ((_WOMEN, "woman"), (_MEN, "man"), (_SEVERAL, "several"), (_THINGS, "thing")):
        if head in words or (gender in ("woman", "man") and type_ == NAME and before & words):
            return GENDERS.index(gender)
    if type_ == NOUN and len(head) > 3 and head.endswith("s") and not head.endswith("ss"):
        return GENDERS.index("several")
    return GENDERS.index("unknown")
