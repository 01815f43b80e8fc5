"""What is predicted: joint features, losses and decoders, one file for each output structure."""

from structlearn.models.alignment import Alignment, from_gapped, to_gapped
from structlearn.models.base import LinearSpec, Model, Spec, Weights
from structlearn.models.chain import Chain
from structlearn.models.grammar import Grammar
from structlearn.models.grammar_spec import GrammarSpec
from structlearn.models.homologues import Homologues
from structlearn.models.latent_chain import LatentChain
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
    "Chain",
    "ClassAttributes",
    "ClassDescriptions",
    "ClassKernel",
    "Grammar",
    "GrammarSpec",
    "Homologues",
    "LatentChain",
    "LinearSpec",
    "Model",
    "Multiclass",
    "MultivariateBinary",
    "OutputFeatures",
    "PrecisionAtK",
    "PythonLatentModel",
    "PythonModel",
    "Ranking",
    "Segments",
    "Sequences",
    "Spec",
    "Taxonomy",
    "Weights",
    "as_tree",
    "brackets",
    "format_tree",
    "from_bio",
    "from_gapped",
    "leaves",
    "parse_tree",
    "to_bio",
    "to_gapped",
]
