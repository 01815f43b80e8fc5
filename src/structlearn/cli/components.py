"""What the command line learns with: every learner, model, kernel and maker of features, declared here alone.

An entry names a class, the file it is in and which of its parameters are options. No class is imported before it is
asked for: help and completion must not wait for scikit-learn; see `structlearn.cli.options` for what the files say
about the parameters. To bring a model to the command line is one entry in `MODELS`.
"""

from __future__ import annotations

from dataclasses import dataclass
from importlib import import_module
from typing import Any

#: What files of a structure hold, see `structlearn.io.format.Structure`.
FILES = {
    "words": "words",
    "attributes": "sequences",
    "row": "single examples",
    "tree": "trees",
    "dependencies": "dependency trees",
    "pair": "pairs",
    "translation": "translations",
    "document": "documents",
    "sequence": "labelled sequences",
    "query": "queries",
    "set": "label sets",
    "network": "networks",
    "image": "images",
}


@dataclass(frozen=True, slots=True)
class Component:
    """A class whose parameters are options.

    Attributes
    ----------
    file, name : str
        Where the class is, and what it is called.
    parameters : tuple of str
        Those of its parameters that are options; "option=parameter" where another class has an option of that name with
        another meaning.
    panel : str
        Under which heading help shows them.
    files : tuple of str
        The structures of the files that it learns from; none for learners, whose models say that.
    learners : tuple of str
        Of a model, what learns it; the first is the one to take unless told otherwise.
    price : float or None
        Of a learner that has a C, what C/S is by default.
    takes_words : bool
        Of a model, whether it takes words as they are, and needs no features of them.
    around : (file, name) or None
        A class that takes an object of this one, where that is the model.
    f1 : Component or None
        Of a model, the loss that ``--loss f1`` stands for, where that has options.
    defaults : tuple of (parameter, value)
        Values that are others than those of the class, unless the option is given; None for one that the data tell.
    from_data : tuple of str
        Parameters that are no options, but are taken from all examples together.
    """

    file: str
    name: str
    parameters: tuple[str, ...]
    panel: str
    files: tuple[str, ...] = ()
    learners: tuple[str, ...] = ()
    price: float | None = None
    takes_words: bool = False
    around: tuple[str, str] | None = None
    f1: Component | None = None
    defaults: tuple[tuple[str, Any], ...] = ()
    from_data: tuple[str, ...] = ()

    @property
    def options(self) -> dict[str, str]:
        """The names of its parameters by those of the options."""
        return {text.partition("=")[0]: text.rpartition("=")[2] for text in self.parameters}

    def given(self, options: dict[str, Any]) -> dict[str, Any]:
        """The values of its parameters among those of all options."""
        given = {self.options[name]: value for name, value in options.items() if name in self.options}
        return dict(self.defaults) | given | {name: options[name] for name in self.from_data if name in options}

    def load(self) -> Any:
        """The class itself."""
        return load_class(self.file, self.name)


def load_class(file: str, name: str) -> Any:
    return getattr(import_module(f"structlearn.{file.removesuffix('.py').replace('/', '.')}"), name)


_KERNEL_RUN = ("max_iter", "random_state", "n_jobs", "max_memory")
_RUN = ("n_iter_no_change", *_KERNEL_RUN)

LEARNERS = {
    "svm": Component(
        "estimators/structural_svm.py",
        "StructuralSVM",
        ("C", "tol", "eps", "solver", "rescaling", "slack", "nonnegative", "fit_intercept", *_RUN),
        "Learner",
        price=0.1,
    ),
    "crf": Component(
        "estimators/conditional_random_field.py",
        "ConditionalRandomField",
        ("C", "tol", "solver", "l1_ratio", "fit_intercept", *_RUN),
        "Learner",
        price=1.0,
    ),
    "perceptron": Component(
        "estimators/structured_perceptron.py",
        "StructuredPerceptron",
        ("average", "fit_intercept", *_RUN),
        "Learner",
    ),
    "latent": Component(
        "estimators/latent_structural_svm.py",
        "LatentStructuralSVM",
        ("C", "tol", "solver", "n_init", *_RUN),
        "Learner",
        price=0.1,
    ),
    "latent-crf": Component(
        "estimators/latent_conditional_random_field.py",
        "LatentConditionalRandomField",
        ("C", "tol", "solver", "l1_ratio", "n_init", *_RUN),
        "Learner",
        price=1.0,
    ),
    "kernel-svm": Component(
        "estimators/kernel_structural_svm.py",
        "KernelStructuralSVM",
        ("C", "tol", "eps", "solver", "n_components", "rescaling", "slack", "fit_intercept", *_KERNEL_RUN),
        "Learner",
        price=0.1,
    ),
    "vector-ridge": Component(
        "estimators/vector_valued/ridge.py",
        "VectorValuedRidge",
        ("lam", "tol", "n_components", "max_iter", "random_state", "n_jobs"),
        "Learner",
    ),
    "vector-svm": Component(
        "estimators/vector_valued/svm.py",
        "VectorValuedSVM",
        ("C", "tol", "loss", "solver", "max_iter", "random_state", "n_jobs"),
        "Learner",
        price=0.1,
    ),
    "hmm": Component("estimators/generative/hidden_markov.py", "HiddenMarkov", ("smoothing",), "Learner"),
    "pcfg": Component("estimators/generative/relative_frequencies.py", "RelativeFrequencies", ("n_jobs",), "Learner"),
}

#: Learners that know no loss.
LIKELIHOODS = ("crf", "latent-crf", "hmm", "pcfg")

_MARGIN_OR_LIKELIHOOD = ("svm", "crf", "perceptron")
_OF_ROWS = (*_MARGIN_OR_LIKELIHOOD, "kernel-svm")
#: Learners of outputs as vectors, which take these in the place of a model.
OF_VECTORS = ("vector-ridge", "vector-svm")
#: Learners that have kernels themselves.
WITH_KERNELS = ("kernel-svm", *OF_VECTORS)
OF_PARTIAL_LABELS = ("latent", "latent-crf")
#: Models without latent states: these learners are there for labels that are known in part.
WITHOUT_STATES = ("chain", "multiclass", "graph", "dependency-tree")

#: By what is typed after --model. Of the models for a structure, the first is the one to take unless told otherwise.
MODELS = {
    "chain": Component(
        "models/chain/chain.py",
        "Chain",
        (
            "loss",
            "costs=loss",
            "boundaries",
            "balance",
            "pair_features",
            "allowed_transitions",
            "observed_only",
            "order",
        ),
        "Model of sequences",
        ("words", "attributes"),
        (*_OF_ROWS, *OF_PARTIAL_LABELS),
        f1=Component("losses/labels.py", "LabelF1", ("negative",), "Model of sequences"),
    ),
    "segments": Component(
        "models/segments/segments.py",
        "Segments",
        ("loss", "costs=loss", "max_length", "lengths", "segment_ends=ends"),
        "Model of segments",
        ("words", "attributes"),
        _OF_ROWS,
        f1=Component("losses/segments.py", "SpanF1", ("negative",), "Model of segments"),
    ),
    "latent-chain": Component(
        "models/chain/latent_chain.py",
        "LatentChain",
        ("states", "boundaries", "balance", "allowed_transitions"),
        "Model of sequences",
        ("words", "attributes"),
        OF_PARTIAL_LABELS,
    ),
    "label-sequences": Component(
        "outputs/label_sequences.py",
        "LabelSequenceOutputs",
        ("edges",),
        "Model of sequences",
        ("words", "attributes"),
        OF_VECTORS,
    ),
    "hidden-markov": Component(
        "estimators/generative/emissions.py",
        "Discrete",
        ("smoothing",),
        "Model of sequences",
        ("words",),
        ("hmm",),
        takes_words=True,
    ),
    "multiclass": Component(
        "models/multiclass/multiclass.py",
        "Multiclass",
        ("costs=cost", "taxonomy=output_features"),
        "Model of single examples",
        ("row",),
        (*_OF_ROWS, *OF_PARTIAL_LABELS),
    ),
    "labels": Component("outputs/labels.py", "LabelOutputs", (), "Model of single examples", ("row",), OF_VECTORS),
    "grammar": Component(
        "models/grammar/grammar.py",
        "Grammar",
        ("inputs", "loss", "horizontal", "vertical", "spans", "min_count", "max_chain", "unary_cycles"),
        "Model of trees",
        ("tree",),
        (*_MARGIN_OR_LIKELIHOOD, "pcfg"),
    ),
    "dependency-tree": Component(
        "models/dependency/dependency_tree.py",
        "DependencyTree",
        ("loss", "projective", "order", "single_root", "min_count", "n_hashed"),
        "Model of dependency trees",
        ("dependencies",),
        (*_MARGIN_OR_LIKELIHOOD, *OF_PARTIAL_LABELS),
        from_data=("columns",),
    ),
    "alignment": Component(
        "models/alignment/alignment.py",
        "Alignment",
        ("alphabet", "ends", "gaps", "features", "gap_features", "normalise", "loss", "shift", "reading"),
        "Model of alignments",
        ("pair",),
        _MARGIN_OR_LIKELIHOOD,
    ),
    "homologues": Component(
        "models/alignment/alignment.py",
        "Alignment",
        ("alphabet", "ends", "gaps", "features", "gap_features", "normalise"),
        "Model of alignments",
        ("pair",),
        ("svm",),
        around=("models/alignment/homologues.py", "Homologues"),
        defaults=(("ends", "local"),),
    ),
    "matching": Component(
        "models/matching/matching.py",
        "Matching",
        ("loss", "unmatched", "fertility", "further", "crowded"),
        "Model of matchings",
        ("translation",),
        ("svm", "perceptron"),
        defaults=(("crowded", "largest"),),
    ),
    "motif": Component(
        "models/motif/motif.py",
        "Motif",
        ("width", "background_order", "both_strands", "positive"),
        "Model of motifs",
        ("sequence",),
        ("latent",),
    ),
    "ranking": Component(
        "models/ranking/ranking.py",
        "Ranking",
        ("loss", "k", "threshold", "gain"),
        "Model of rankings",
        ("query",),
        ("svm", "perceptron", "kernel-svm"),
    ),
    "precision-at-k": Component(
        "models/ranking/precision_at_k.py",
        "PrecisionAtK",
        ("k", "threshold"),
        "Model of rankings",
        ("query",),
        ("latent",),
    ),
    "latent-forest": Component(
        "models/clustering/latent_forest.py",
        "LatentForest",
        ("r",),
        "Model of clusters",
        ("document",),
        ("latent",),
    ),
    "correlation-clustering": Component(
        "models/clustering/correlation_clustering.py",
        "CorrelationClustering",
        ("decoder",),
        "Model of clusters",
        ("document",),
        ("svm",),
    ),
    "graph": Component(
        "models/graph/graph.py",
        "Graph",
        ("loss", "costs=loss", "pairwise", "engine", "max_seconds", "likelihood"),
        "Model of networks",
        ("network",),
        (*_OF_ROWS, *OF_PARTIAL_LABELS),
        f1=Component("losses/labels.py", "LabelF1", ("negative",), "Model of networks"),
    ),
    "grid": Component(
        "models/grid/grid.py",
        "Grid",
        ("costs=loss", "pairwise", "neighbours", "directions", "contrast", "engine", "max_seconds"),
        "Model of images",
        ("image",),
        ("svm", "perceptron"),
    ),
    "multilabel": Component(
        "models/multilabel/multilabel.py",
        "MultiLabel",
        ("loss", "pairs", "n_pairs", "engine", "max_seconds", "likelihood"),
        "Model of label sets",
        ("set",),
        _OF_ROWS,
        from_data=("classes",),
    ),
    "label-sets": Component(
        "outputs/labels.py",
        "LabelSetOutputs",
        (),
        "Model of label sets",
        ("set",),
        OF_VECTORS,
        from_data=("classes",),
    ),
}

#: What makes features of the examples of a structure.
TRANSFORMERS = {
    "words": Component("features/text.py", "TextFeatures", ("min_count", "n_hashed"), "Features", ("words",)),
    "document": Component("features/mention_pairs.py", "MentionPairs", ("window",), "Features", ("document",)),
    "translation": Component("features/word_pairs.py", "WordPairs", ("bitext",), "Features", ("translation",)),
}

#: By what is typed after --kernel.
KERNELS = {
    "rbf": Component("kernels/vectors.py", "RBF", ("gamma",), "Kernel", defaults=(("gamma", None),)),
    "laplacian": Component("kernels/vectors.py", "Laplacian", ("gamma",), "Kernel", defaults=(("gamma", None),)),
    "polynomial": Component("kernels/vectors.py", "Polynomial", ("degree",), "Kernel"),
    "histogram_intersection": Component("kernels/vectors.py", "HistogramIntersection", (), "Kernel"),
    "linear": Component("kernels/vectors.py", "Linear", (), "Kernel"),
}
#: How the coordinates of outputs are learnt together, of learners of vectors.
OPERATOR = Component("kernels/operators.py", "Decomposable", ("operator=A",), "Kernel")
#: What makes features of a kernel, for every learner but those that have kernels themselves.
KERNEL_MAP = Component(
    "features/kernel_map.py",
    "KernelMap",
    ("n_components", "basis=method", "random_state"),
    "Kernel",
    # Inputs with rows of numbers.
    ("words", "attributes", "row", "query", "network", "image", "set"),
    defaults=(("random_state", 0),),
)

#: Options whose values are files that say what a parameter shall be, and their help.
FROM_FILES = {
    "costs": "What it costs to take one label for another, as CSV: labels in the first line, as predicted, and before "
    "the numbers of each further line, as true.",
    "taxonomy": "What labels have in common, as CSV: a node and its parent a line. Labels with a near common ancestor "
    "share weights, and are a small mistake for one another.",
}

LOSSES = [model.f1 for model in MODELS.values() if model.f1 is not None]

COMPONENTS = (
    *LEARNERS.values(),
    *MODELS.values(),
    *LOSSES,
    *TRANSFORMERS.values(),
    KERNEL_MAP,
    *KERNELS.values(),
    OPERATOR,
)
