"""The values that flow through everything else, and what checks them where they enter."""

from structlearn.data.biosequences.dna import (
    Site,
    base_counts,
    consensus,
    information,
    reverse_complement,
    site_letters,
)
from structlearn.data.biosequences.matches import from_gapped, to_gapped
from structlearn.data.biosequences.substitution import BLOSUM62, log_odds
from structlearn.data.clusterings import to_clusters, to_labels
from structlearn.data.dependency_trees import crossing_arcs, is_projective
from structlearn.data.documents import Document, Mention
from structlearn.data.factor_graphs import AtMostOne, Cardinality, FactorGraph, GridGraph, Potts, TruncatedLinear
from structlearn.data.hypergraphs import Hypergraph
from structlearn.data.item_pairs import ItemPairs
from structlearn.data.matchings import Links, PairTable, SentencePair
from structlearn.data.networks import Network
from structlearn.data.tokens.segments import from_bio, to_bio
from structlearn.data.tokens.sequences import Sequences
from structlearn.data.tokens.tags import spans
from structlearn.data.trees import as_tree, brackets, clean_tree, format_tree, leaves, parse_tree, remove_unary_cycles
from structlearn.data.typed_networks import TypedNetwork

__all__ = [
    "BLOSUM62",
    "AtMostOne",
    "Cardinality",
    "Document",
    "FactorGraph",
    "GridGraph",
    "Hypergraph",
    "ItemPairs",
    "Links",
    "Mention",
    "Network",
    "PairTable",
    "Potts",
    "SentencePair",
    "Sequences",
    "Site",
    "TruncatedLinear",
    "TypedNetwork",
    "as_tree",
    "base_counts",
    "brackets",
    "clean_tree",
    "consensus",
    "crossing_arcs",
    "format_tree",
    "from_bio",
    "from_gapped",
    "information",
    "is_projective",
    "leaves",
    "log_odds",
    "parse_tree",
    "remove_unary_cycles",
    "reverse_complement",
    "site_letters",
    "spans",
    "to_bio",
    "to_clusters",
    "to_gapped",
    "to_labels",
]
