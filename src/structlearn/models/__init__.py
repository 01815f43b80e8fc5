"""What is predicted: joint features, losses and decoders, one package for each output structure."""

from typing import TYPE_CHECKING

from structlearn.lazy import names

if TYPE_CHECKING:
    from structlearn.models.alignment.alignment import Alignment
    from structlearn.models.alignment.homologues import Homologues
    from structlearn.models.base import LinearSpec, Model, Spec, Weights
    from structlearn.models.chain.chain import Chain
    from structlearn.models.chain.latent_chain import LatentChain
    from structlearn.models.clustering.correlation_clustering import CorrelationClustering
    from structlearn.models.clustering.latent_forest import LatentForest
    from structlearn.models.dependency.dependency_tree import DependencyTree
    from structlearn.models.dependency.spec import DependencySpec
    from structlearn.models.grammar.grammar import Grammar
    from structlearn.models.grammar.spec import GrammarSpec
    from structlearn.models.graph.graph import Graph, GraphSpec
    from structlearn.models.grid.grid import Grid, GridSpec
    from structlearn.models.matching.matching import Matching, MatchingSpec
    from structlearn.models.motif.best_word import BestWord
    from structlearn.models.motif.motif import Motif, MotifSpec
    from structlearn.models.multiclass.multiclass import Multiclass
    from structlearn.models.multiclass.output_features import (
        ClassAttributes,
        ClassDescriptions,
        ClassKernel,
        OutputFeatures,
        Taxonomy,
    )
    from structlearn.models.multilabel.multilabel import MultiLabel, MultiLabelSpec
    from structlearn.models.own.composed import Composed
    from structlearn.models.own.hypergraph_model import HypergraphModel
    from structlearn.models.own.python_latent_model import PythonLatentModel
    from structlearn.models.own.python_model import PythonModel
    from structlearn.models.ranking.multivariate_binary import MultivariateBinary
    from structlearn.models.ranking.precision_at_k import PrecisionAtK
    from structlearn.models.ranking.ranking import Ranking
    from structlearn.models.segments.segments import Segments
    from structlearn.models.typed_graph.spec import TypedGraphSpec
    from structlearn.models.typed_graph.templates import Factor
    from structlearn.models.typed_graph.typed_graph import TypedGraph
else:
    # A file that holds a chain need not wait for grammars.
    __getattr__, __dir__ = names(
        __name__,
        {
            "Alignment": "alignment.alignment",
            "BestWord": "motif.best_word",
            "Chain": "chain.chain",
            "ClassAttributes": "multiclass.output_features",
            "ClassDescriptions": "multiclass.output_features",
            "ClassKernel": "multiclass.output_features",
            "Composed": "own.composed",
            "CorrelationClustering": "clustering.correlation_clustering",
            "DependencySpec": "dependency.spec",
            "DependencyTree": "dependency.dependency_tree",
            "Factor": "typed_graph.templates",
            "Grammar": "grammar.grammar",
            "GrammarSpec": "grammar.spec",
            "Graph": "graph.graph",
            "GraphSpec": "graph.graph",
            "Grid": "grid.grid",
            "GridSpec": "grid.grid",
            "Homologues": "alignment.homologues",
            "HypergraphModel": "own.hypergraph_model",
            "LatentChain": "chain.latent_chain",
            "LatentForest": "clustering.latent_forest",
            "LinearSpec": "base",
            "Matching": "matching.matching",
            "MatchingSpec": "matching.matching",
            "Model": "base",
            "Motif": "motif.motif",
            "MotifSpec": "motif.motif",
            "MultiLabel": "multilabel.multilabel",
            "MultiLabelSpec": "multilabel.multilabel",
            "Multiclass": "multiclass.multiclass",
            "MultivariateBinary": "ranking.multivariate_binary",
            "OutputFeatures": "multiclass.output_features",
            "PrecisionAtK": "ranking.precision_at_k",
            "PythonLatentModel": "own.python_latent_model",
            "PythonModel": "own.python_model",
            "Ranking": "ranking.ranking",
            "Segments": "segments.segments",
            "Spec": "base",
            "Taxonomy": "multiclass.output_features",
            "TypedGraph": "typed_graph.typed_graph",
            "TypedGraphSpec": "typed_graph.spec",
            "Weights": "base",
        },
    )

__all__ = [
    "Alignment",
    "BestWord",
    "Chain",
    "ClassAttributes",
    "ClassDescriptions",
    "ClassKernel",
    "Composed",
    "CorrelationClustering",
    "DependencySpec",
    "DependencyTree",
    "Factor",
    "Grammar",
    "GrammarSpec",
    "Graph",
    "GraphSpec",
    "Grid",
    "GridSpec",
    "Homologues",
    "HypergraphModel",
    "LatentChain",
    "LatentForest",
    "LinearSpec",
    "Matching",
    "MatchingSpec",
    "Model",
    "Motif",
    "MotifSpec",
    "MultiLabel",
    "MultiLabelSpec",
    "Multiclass",
    "MultivariateBinary",
    "OutputFeatures",
    "PrecisionAtK",
    "PythonLatentModel",
    "PythonModel",
    "Ranking",
    "Segments",
    "Spec",
    "Taxonomy",
    "TypedGraph",
    "TypedGraphSpec",
    "Weights",
]
