"""What is predicted: joint features, losses and decoders, one file for each output structure."""

from structlearn.models.alignment import Alignment, from_gapped, to_gapped
from structlearn.models.base import LinearSpec, Model, Spec, Weights
from structlearn.models.best_word import BestWord
from structlearn.models.chain import Chain
from structlearn.models.clusterings import to_clusters, to_labels
from structlearn.models.correlation_clustering import CorrelationClustering
from structlearn.models.dna import Site, base_counts, consensus, information, reverse_complement, site_letters
from structlearn.models.grammar import Grammar
from structlearn.models.grammar_spec import GrammarSpec
from structlearn.models.homologues import Homologues
from structlearn.models.item_pairs import ItemPairs
from structlearn.models.latent_chain import LatentChain
from structlearn.models.latent_forest import LatentForest
from structlearn.models.motif import Motif, MotifSpec
from structlearn.models.multiclass import Multiclass
from structlearn.models.multivariate_binary import MultivariateBinary
from structlearn.models.output_features import (
    ClassAttributes,
    ClassDescriptions,
    ClassKernel,
    OutputFeatures,
    Taxonomy,
)
from structlearn.models.precision_at_k import PrecisionAtK
from structlearn.models.python_latent_model import PythonLatentModel
from structlearn.models.python_model import PythonModel
from structlearn.models.ranking import Ranking
from structlearn.models.segments import Segments, from_bio, to_bio
from structlearn.models.sequences import Sequences
from structlearn.models.trees import as_tree, brackets, format_tree, leaves, parse_tree

__all__ = [
    "Alignment",
    "BestWord",
    "Chain",
    "ClassAttributes",
    "ClassDescriptions",
    "ClassKernel",
    "CorrelationClustering",
    "Grammar",
    "GrammarSpec",
    "Homologues",
    "ItemPairs",
    "LatentChain",
    "LatentForest",
    "LinearSpec",
    "Model",
    "Motif",
    "MotifSpec",
    "Multiclass",
    "MultivariateBinary",
    "OutputFeatures",
    "PrecisionAtK",
    "PythonLatentModel",
    "PythonModel",
    "Ranking",
    "Segments",
    "Sequences",
    "Site",
    "Spec",
    "Taxonomy",
    "Weights",
    "as_tree",
    "base_counts",
    "brackets",
    "consensus",
    "format_tree",
    "from_bio",
    "from_gapped",
    "information",
    "leaves",
    "parse_tree",
    "reverse_complement",
    "site_letters",
    "to_bio",
    "to_clusters",
    "to_gapped",
    "to_labels",
]
