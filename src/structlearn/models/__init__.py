"""What is predicted: joint features, losses and decoders, one file for each output structure."""

from structlearn.models.alignment import Alignment, from_gapped, to_gapped
from structlearn.models.base import LinearSpec, Model, Spec, Weights
from structlearn.models.chain import Chain
from structlearn.models.homologues import Homologues
from structlearn.models.multiclass import Multiclass
from structlearn.models.output_features import (
    ClassAttributes,
    ClassDescriptions,
    ClassKernel,
    OutputFeatures,
    Taxonomy,
)
from structlearn.models.python_model import PythonModel
from structlearn.models.segments import Segments, from_bio, to_bio
from structlearn.models.sequences import Sequences

__all__ = [
    "Alignment",
    "Chain",
    "ClassAttributes",
    "ClassDescriptions",
    "ClassKernel",
    "Homologues",
    "LinearSpec",
    "Model",
    "Multiclass",
    "OutputFeatures",
    "PythonModel",
    "Segments",
    "Sequences",
    "Spec",
    "Taxonomy",
    "Weights",
    "from_bio",
    "from_gapped",
    "to_bio",
    "to_gapped",
]
