"""Small training data for every kind of model, the same on every machine."""

from itertools import pairwise

import numpy as np

from structlearn.data import ItemPairs, leaves, parse_tree


def numbers(n_rows, n_columns, start=0.0):
    """A matrix that looks random."""
    return np.sin((start + np.arange(n_rows * n_columns)) ** 2).round(3).reshape(n_rows, n_columns)


#: Sequences of rows, and labels that follow their largest entry but where a label would come twice.
ROWS = np.split(numbers(14, 3), [4, 9])
LETTERS = [["ABC"[k] for k in x.argmax(axis=1)] for x in ROWS]
for letters in LETTERS:
    for t, (before, here) in enumerate(pairwise(letters), 1):
        letters[t] = "C" if before == here == "A" else here
NEW_ROWS = np.split(numbers(7, 3, start=100.0), [5])

WORDS = [
    ["Ann", "Lee", "met", "Bob", "."],
    ["the", "dog", "saw", "New", "York", "."],
    ["he", "slept", "in", "Paris"],
    ["Lee", "saw", "Ann", "in", "New", "York"],
]
TAGS = [
    ["B-PER", "I-PER", "O", "B-PER", "O"],
    ["O", "O", "O", "B-LOC", "I-LOC", "O"],
    ["O", "O", "O", "B-LOC"],
    ["B-PER", "O", "B-PER", "O", "B-LOC", "I-LOC"],
]
NEW_WORDS = [["Bob", "Lee", "slept", "in", "York"], ["the", "new", "dog"]]


def described(sentences):
    """Words as dicts of features."""
    return [
        [{"word": word, "capital": word[0].isupper(), "length": len(word)} for word in words] for words in sentences
    ]


TREES = [
    "(S (NP (DT the) (NN dog)) (VP (VBZ barks)))",
    "(S (NP (PRP it)) (VP (VBZ has) (NP (DT a) (NN bone))))",
    "(S (NP (DT the) (NN dog)) (VP (VBZ sees) (NP (NP (DT the) (NN man)) (PP (IN with) (NP (DT a) (NN bone))))))",
    "(S (NP (PRP it)) (VP (VBZ sees) (NP (DT the) (NN man)) (PP (IN at) (NP (NN night)))))",
    "(S (NP (PRP it)) (VP (VBZ has) (NP (NP (DT a) (NN bone)) (PP (IN with) (NP (NN meat))))))",
]
TAGGED = [[(word, tag) for tag, word in leaves(parse_tree(tree))] for tree in TREES]
NEW_TAGGED = [
    [("it", "PRP"), ("barks", "VBZ")],
    [
        *(("a", "DT"), ("cat", "NN"), ("sees", "VBZ"), ("the", "DT"), ("dog", "NN")),
        *(("at", "IN"), ("night", "NN"), ("with", "IN"), ("a", "DT"), ("bone", "NN")),
    ],
]


def tags(sentences):
    return [[tag for _, tag in sentence] for sentence in sentences]


PAIRS = [("ACGT", "AGT"), ("GGAC", "GAC"), ("TTA", "TCTA"), ("ACCGA", "ACGGA")]
MATCHES = [
    ((0, 0), (2, 1), (3, 2)),
    ((0, 0), (2, 1), (3, 2)),
    ((0, 0), (1, 2), (2, 3)),
    ((0, 0), (1, 1), (2, 2), (3, 3), (4, 4)),
]
NEW_PAIRS = [("TACG", "TCG"), ("CCGAT", "CGT")]


def annotated(pairs):
    """Pairs of proteins with secondary structure, accessibility and, of each place, a profile of two columns."""
    return [tuple(map(_annotated, pair)) for pair in pairs]


def _annotated(letters):
    return {
        "residue": letters,
        "structure": ["HEC"[ord(letter) % 3] for letter in letters],
        "accessibility": [ord(letter) % 2 for letter in letters],
        "profile": numbers(len(letters), 2, start=len(letters)),
    }


PROTEINS = [("MKVLA", "MRVLA"), ("GDWEA", "GDEA"), ("KLLSP", "KILLSP")]
PARTNERS = [tuple((i, i) for i in range(5)), ((0, 0), (1, 1), (3, 2), (4, 3)), ((0, 0), (1, 2), (2, 3), (3, 4), (4, 5))]
NEW_PROTEINS = [("MKWEA", "MREA"), ("SPLLG", "SPILG")]

FAMILIES = [("acca", ["acta", "tgtt"]), ("gcac", ["tttg", "gcac"])]
RELATIVES = [(0, ((0, 0), (1, 1), (3, 3))), (1, ((0, 0), (1, 1), (2, 2), (3, 3)))]
NEW_FAMILIES = [("ccac", ["gttg", "tgca", "ccag"]), ("ttgc", ["accc", "ttgg"])]

POINTS = numbers(12, 4).tolist()
CLASSES = [["cat", "cow", "dog"][int(np.argmax(x[:3]))] for x in POINTS]
NEW_POINTS = numbers(5, 4, start=200.0).tolist()

QUERIES = [numbers(5, 3, start=20.0 * q).tolist() for q in range(4)]
RELEVANCE = [
    (2 * np.array([x[0] - x[1] > -0.2 for x in query]) - [x[2] > 0.3 for x in query]).clip(0) for query in QUERIES
]
NEW_QUERIES = [numbers(6, 3, start=500.0).tolist()]


def places(*where):
    """Items on a line, with their distances as features of pairs."""
    gaps = [abs(a - b) for i, a in enumerate(where) for b in where[i + 1 :]]
    return ItemPairs(len(where), np.reshape([[1.0, gap] for gap in gaps], (-1, 2)))


ITEMS = [places(0.0, 5.0, 1.0, 2.0, 6.0), places(3.0, 7.0, 4.0, 8.0)]
CLUSTERS = [[0, 1, 0, 0, 1], [0, 1, 0, 1]]
NEW_ITEMS = [places(1.0, 2.0, 3.0, 9.0, 4.0), places(2.0), places(1.5, 6.0, 3.0)]

DNA = ["GGTATACC", "CTATAGGC", "CCGGTATA", "GGCCTTCA", "ATTACGGC", "TGGCATCA"]
BOUND = [1, 1, 1, 0, 0, 0]
NEW_DNA = ["CCTATAGG", "CCTTTGGC", "TTTATACCNN"]
