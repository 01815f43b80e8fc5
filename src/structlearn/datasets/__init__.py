"""Data sets: generators and digit sequences that need no files, and readers of published sets."""

from structlearn.datasets.balibase import ProteinStructures, fetch_balibase_structures
from structlearn.datasets.binary import (
    BinaryRows,
    ForestCover,
    fetch_adult,
    fetch_covertype,
    fetch_ijcnn1,
    make_checkerboard,
)
from structlearn.datasets.citation import CitationGraph, fetch_citation
from structlearn.datasets.conll import TaggedSentences, fetch_conll2000, fetch_conll2002
from structlearn.datasets.digits import DigitSequences, load_digit_sequences
from structlearn.datasets.dna import LabelledDNA, fetch_promoters, fetch_splice
from structlearn.datasets.generators import (
    BlockSequences,
    HMMSequences,
    make_block_sequences,
    make_hmm_sequences,
)
from structlearn.datasets.hansards import AlignedSentences, fetch_hansards
from structlearn.datasets.homologues import HomologueData, make_homologues
from structlearn.datasets.imclef import ClassifiedImages, fetch_imclef07a
from structlearn.datasets.letor import JudgedQueries, fetch_mq2007_agg
from structlearn.datasets.letters import LetterSequences, fetch_letters
from structlearn.datasets.litbank import CoreferenceDocuments, fetch_litbank
from structlearn.datasets.matchings import MatchedPoints, make_matchings
from structlearn.datasets.motifs import PlantedMotifs, make_motifs
from structlearn.datasets.multiclass import Multiclass, make_multiclass
from structlearn.datasets.multilabel import fetch_multilabel
from structlearn.datasets.newsgroups import ClassifiedTexts, fetch_newsgroups
from structlearn.datasets.protein_pairs import (
    AlignedPairs,
    fetch_balibase_pairs,
    fetch_homstrad,
    fetch_tmalign_pairs,
)
from structlearn.datasets.sentences import make_sentences
from structlearn.datasets.snakes import LabelledPictures, fetch_snakes
from structlearn.datasets.stripes import StripedImages, make_stripes
from structlearn.datasets.treebank import ParsedSentences, fetch_treebank
from structlearn.datasets.uai2014 import GraphicalModel, fetch_uai2014
from structlearn.datasets.universal_dependencies import (
    DependencyTreebank,
    TaggedWords,
    fetch_ud_english,
    fetch_ud_english_trees,
)
from structlearn.datasets.webkb import LinkedPages, fetch_webkb
from structlearn.datasets.yeast_origins import ReplicationOrigins, fetch_yeast_origins

__all__ = [
    "AlignedPairs",
    "AlignedSentences",
    "BinaryRows",
    "BlockSequences",
    "CitationGraph",
    "ClassifiedImages",
    "ClassifiedTexts",
    "CoreferenceDocuments",
    "DependencyTreebank",
    "DigitSequences",
    "ForestCover",
    "GraphicalModel",
    "HMMSequences",
    "HomologueData",
    "JudgedQueries",
    "LabelledDNA",
    "LabelledPictures",
    "LetterSequences",
    "LinkedPages",
    "MatchedPoints",
    "Multiclass",
    "ParsedSentences",
    "PlantedMotifs",
    "ProteinStructures",
    "ReplicationOrigins",
    "StripedImages",
    "TaggedSentences",
    "TaggedWords",
    "fetch_adult",
    "fetch_balibase_pairs",
    "fetch_balibase_structures",
    "fetch_citation",
    "fetch_conll2000",
    "fetch_conll2002",
    "fetch_covertype",
    "fetch_hansards",
    "fetch_homstrad",
    "fetch_ijcnn1",
    "fetch_imclef07a",
    "fetch_letters",
    "fetch_litbank",
    "fetch_mq2007_agg",
    "fetch_multilabel",
    "fetch_newsgroups",
    "fetch_promoters",
    "fetch_snakes",
    "fetch_splice",
    "fetch_tmalign_pairs",
    "fetch_treebank",
    "fetch_uai2014",
    "fetch_ud_english",
    "fetch_ud_english_trees",
    "fetch_webkb",
    "fetch_yeast_origins",
    "load_digit_sequences",
    "make_block_sequences",
    "make_checkerboard",
    "make_hmm_sequences",
    "make_homologues",
    "make_matchings",
    "make_motifs",
    "make_multiclass",
    "make_sentences",
    "make_stripes",
]
