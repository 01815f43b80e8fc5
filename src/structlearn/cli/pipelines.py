"""From a file format and options to an estimator that learns from such files."""

from __future__ import annotations

import inspect
import warnings
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any

from structlearn.cli.choices import Choice, choices, when
from structlearn.cli.components import (
    FILES,
    FROM_FILES,
    KERNEL_MAP,
    KERNELS,
    LEARNERS,
    MODELS,
    OF_VECTORS,
    OPERATOR,
    TRANSFORMERS,
    Component,
    load_class,
)
from structlearn.cli.options import check_values, components_with, flag

if TYPE_CHECKING:
    from structlearn.features import TextFeatures
    from structlearn.features.crfpp import CrfppTemplates
    from structlearn.io.format import Reader
    from structlearn.losses import LabelCosts
    from structlearn.models.multiclass.output_features import Taxonomy
    from structlearn.persistence.steps import Steps

    Templates = CrfppTemplates | tuple[str, ...]


def build(
    reader: Reader,
    choice: Choice,
    options: dict[str, Any],
    templates: Templates | None = None,
) -> Any:
    """An estimator for the examples of a format, or steps that end with one.

    Sequences of words get features by templates, sequences of attributes are learnt as they are, single rows of
    attributes are classified, trees give a grammar, pairs of sequences are aligned, words of translations matched,
    mentions in documents clustered, the documents of queries ranked, and in labelled sequences a motif is looked for.
    Nodes of networks, pixels of images and rows with sets of labels are taken as they are. A kernel of rows of features
    has its own coordinates, unless the learner has kernels itself.
    """
    from structlearn.features.crfpp import CrfppTemplates

    learner, structure = LEARNERS[choice.learner], MODELS[choice.model]
    check_values(options, lambda name: choice.components(reader.structure))
    given = structure.given(options) | _f1(structure, options)
    if isinstance(templates, CrfppTemplates) and choice.model == "chain":
        model = templates.chain(**{"pair_features": False} | given)
    else:
        model = structure.load()(**given)
        model = model if structure.around is None else load_class(*structure.around)(model)
    kernel = {} if choice.kernel is None else {"kernel": _kernel(choice, options)}
    estimator = learner.load()(model, **learner.given(options), **({} if choice.maps else kernel))
    if structure.takes_words:
        if templates is not None:
            raise ValueError(f"--templates has no effect here: --learner {choice.learner} takes words as they are")
        return estimator
    steps = list(_transformers(reader, choice, options, templates))
    if choice.kernel is not None and isinstance(templates, CrfppTemplates) and templates.pair_templates:
        raise ValueError("--kernel and templates of label pairs exclude each other: a kernel has no such columns")
    if choice.maps:
        steps.append(KERNEL_MAP.load()(**kernel, **KERNEL_MAP.given(options)))
    return _steps(*steps, estimator) if steps else estimator


def _transformers(
    reader: Reader, choice: Choice, options: dict[str, Any], templates: Templates | None
) -> Iterator[Any]:
    """What makes features of the examples of a format, where they do not have these."""
    if reader.structure == "words":
        yield _features(templates, reader, TRANSFORMERS["words"].given(options))
    elif reader.structure in TRANSFORMERS:
        transformer = TRANSFORMERS[reader.structure]
        yield transformer.load()(**transformer.given(options))
    elif reader.structure == "row" or (reader.structure == "set" and choice.kernel is not None):
        from sklearn.feature_extraction import DictVectorizer

        yield DictVectorizer()


def _kernel(choice: Choice, options: dict[str, Any]) -> Any:
    """The kernel with the options that were given; its name where the data shall tell them."""
    from structlearn.kernels import kernel_option

    name = str(choice.kernel)
    given = {option: value for option, value in KERNELS[name].given(options).items() if value is not None}
    kernel = kernel_option(name, **given) if given else name
    operator = OPERATOR.given(options)
    if choice.learner == "vector-svm" and operator.get("A") == "learnt":
        raise ValueError("--operator learnt is for --learner vector-ridge; vector-svm takes identity or covariance")
    return OPERATOR.load()(kernel, **operator) if operator else kernel


def _f1(model: Component, options: dict[str, Any]) -> dict[str, Any]:
    """The loss that --loss f1 stands for, where one of its own options is given."""
    given = {} if model.f1 is None else model.f1.given(options)
    if model.f1 is None or not given:
        return {}
    if options.get("loss") != "f1":
        raise ValueError(f"{flag(next(iter(given)))} has no effect here: it is for --loss f1")
    return {"loss": model.f1.load()(**given)}


def _steps(*steps: Any) -> Steps:
    """Named as scikit-learn's `make_pipeline` would name them."""
    from structlearn.persistence.steps import Steps

    return Steps([(type(step).__name__.lower(), step) for step in steps])


def check_effects(options: Iterable[str], reader: Reader, asked: Iterable[Choice]) -> None:
    """Refuses options that have no effect with any of the choices."""
    used = {name for choice in asked for user in choice.components(reader.structure) for name in user.options}
    for name in options:
        if name not in used:
            needed = " or ".join(dict.fromkeys(_needed(name, reader.structure)))
            raise ValueError(f"{flag(name)} has no effect here: it is for {needed}")


def _needed(name: str, structure: str) -> list[str]:
    """In which cases an option has an effect: by which learners and models of such files, or for which other files."""
    able = [
        choice for choice in choices(structure) if any(name in user.options for user in choice.components(structure))
    ]
    return [_owner(choice, name) for choice in able] or list(map(when, _most_general(components_with(name))))


def _owner(choice: Choice, name: str) -> str:
    """What has an option, of a choice that has it."""
    if name in LEARNERS[choice.learner].options or (choice.learner in OF_VECTORS and name in OPERATOR.options):
        return f"--learner {choice.learner}"
    if choice.kernel is not None and name in KERNELS[choice.kernel].options:
        return f"--kernel {choice.kernel}"
    return "--kernel" if choice.maps and name in KERNEL_MAP.options else f"--model {choice.model}"


def _most_general(components: list[Component]) -> list[Component]:
    """Classes without those models that are an alternative to another one among them, for the same files."""
    files = {FILES[component.files[-1]]: component for component in reversed(components) if component.files}
    return [component for component in components if not component.files or component in files.values()]


def in_terms_of_the_data(
    reader: Reader, choice: Choice, X: list[Any], Y: list[Any], options: dict[str, Any]
) -> dict[str, Any]:
    """The options, with the letters of all pairs as the alphabet, and labels read as those that the model has.

    A part of the pairs may lack some letters.
    """
    from structlearn.data.labels import observed_classes
    from structlearn.io.labelled_fasta import parse_label

    if reader.structure == "pair" and "alphabet" not in options:
        return options | {"alphabet": "".join(sorted(set().union(*(sequence for x in X for sequence in x))))}
    if reader.structure == "set":
        # A part of the examples may lack some labels, which the others may still have.
        return options | {"classes": observed_classes([*getattr(reader, "labels", ()), *_labels(choice, Y)])}
    if reader.structure == "dependencies":
        return options | {"columns": reader.inputs}
    if reader.structure == "sequence" and "positive" in options:
        return options | {"positive": parse_label(options["positive"])}
    if not options.keys() & {*FROM_FILES, "negative"}:
        return options
    if {"loss", "costs"} <= options.keys():
        raise ValueError("--loss and --costs exclude each other: the costs are the loss")
    labels = _labels(choice, Y)
    read: dict[str, Any] = {}
    if "negative" in options:
        text = options["negative"]
        named = {str(label): label for label in labels}
        read["negative"] = None if text == "none" and text not in named else named.get(text, text)
    if "taxonomy" in options:
        read["taxonomy"] = read["costs"] = _taxonomy(options["taxonomy"], labels)
    if "costs" in options:
        read["costs"] = _costs(options["costs"], labels)
    return options | read


def _labels(choice: Choice, Y: list[Any]) -> set[Any]:
    """All labels that a model has after training: those of the file, or of the segments that its tags stand for."""
    from structlearn.data.labels import known_labels
    from structlearn.data.tokens.tags import is_tag, tag_type

    listed = (y if isinstance(y, list) else y.ravel().tolist() if hasattr(y, "ravel") else [y] for y in Y)
    labels = {label for entries in listed for entry in entries for label in known_labels(entry)}
    model = MODELS[choice.model]
    if getattr(model.load(), "kind", None) != "segments":
        return labels
    # What is no tag is refused, with its place, where the segments are made.
    return {tag_type(label) for label in labels if is_tag(label)}


def _costs(path: str, labels: set[Any]) -> LabelCosts:
    """The costs of a file for the labels that there are."""
    from structlearn.io.label_files import read_costs
    from structlearn.losses import LabelCosts

    costs = read_costs(path)
    named = {true for true, _ in costs}
    for label in sorted(labels, key=str):
        if str(label) not in named:
            raise ValueError(f"{path} has no costs of the label {str(label)!r}, which the examples have")
    return LabelCosts({(a, b): costs[str(a), str(b)] for a in labels for b in labels if a != b})


def _taxonomy(path: str, labels: set[Any]) -> Taxonomy:
    """The taxonomy of a file, checked to have all labels below one root."""
    from structlearn.io.label_files import read_parents
    from structlearn.models.multiclass.output_features import Taxonomy

    own = {str(label): label for label in labels}
    parents = read_parents(path)
    taxonomy = Taxonomy(
        {own.get(node, node): [own.get(name, name) for name in above] for node, above in parents.items()}
    )
    try:
        taxonomy.tree_loss(sorted(labels, key=str))
        taxonomy.matrix(sorted(labels, key=str))
    except ValueError as error:
        raise ValueError(f"{path}: {error}") from None
    return taxonomy


def _features(templates: Templates | None, reader: Reader, options: dict[str, Any]) -> TextFeatures:
    from structlearn.features import TextFeatures
    from structlearn.features.crfpp import CrfppTemplates

    if isinstance(templates, CrfppTemplates):
        return templates.features(**options)
    return TextFeatures(templates, columns=reader.inputs, **options)


def read_templates(path: Path | None, reader: Reader) -> Templates | None:
    """The templates of a file: CRF++'s, or one of ours a line."""
    if path is None:
        return None
    if reader.structure != "words":
        told = f"{reader.name} files bring their features with them"
        if reader.structure == "dependencies":
            told = "those of dependency trees are given from Python, DependencyTree(templates=…)"
        raise ValueError(f"--templates are for files of words; {told}")
    from structlearn.features.crfpp import read_crfpp_templates
    from structlearn.io.text import open_text

    with open_text(path) as lines:
        written = [line.strip() for line in lines if line.strip() and not line.startswith("#")]
    if not written:
        raise ValueError(f"{path} holds no template")
    if any("%x[" in line for line in written) or "B" in written:
        return read_crfpp_templates(path, reader.inputs)
    return tuple(written)


@contextmanager
def refusals_in_flags(choice: Choice, structure: str, options: dict[str, Any]) -> Iterator[None]:
    """What helps against a lack of memory, as options of the command line that have an effect beside those given."""
    from structlearn.estimators.memory import InsufficientMemoryError

    show = warnings.showwarning
    known = {name for component in choice.components(structure) for name in component.options}
    # Hashed features are not counted.
    known -= {"min_count"} if "n_hashed" in options else set()
    count = options.get("min_count", 1)

    def way(name: str, value: Any) -> str:
        if name == "min_count":
            return f"{flag(name)} {2 * count}"
        instead = f" without {flag('min_count')}" if name == "n_hashed" and count > 1 else ""
        return flag(name) if value is True else f"{flag(name)} {value}{instead}"

    def told(refused: InsufficientMemoryError) -> str:
        ways = [(name, value) for name, value in refused.ways if name in known or name == "labels"]
        return refused.told("--max-memory", way, ways)

    def in_flags(message: Warning | str, *where: Any, **more: Any) -> None:
        refused = getattr(message, "refused", None)
        text = message if refused is None else str(message).replace(str(refused), told(refused))
        show(text, *where, **more)

    warnings.showwarning = in_flags
    try:
        yield
    except InsufficientMemoryError as error:
        raise ValueError(told(error)) from None
    finally:
        warnings.showwarning = show


def fit(
    estimator: Any,
    X: Any,
    Y: Any,
    templates: Templates | None,
    weight: Any = None,
    *,
    validation: tuple[Any, Any] | None = None,
    show: bool = False,
    **options: Any,
) -> None:
    """Fits what `build` made; held-out examples go through the same features, further options to the learner."""
    X = fit_features(estimator, X, templates)
    fit_last(estimator, X, Y, weight, validation=validation, show=show, **options)


def fit_last(
    estimator: Any,
    X: Any,
    Y: Any,
    weight: Any = None,
    *,
    validation: tuple[Any, Any] | None = None,
    show: bool = False,
    **options: Any,
) -> None:
    """Fits the learner after steps that are fitted, to what they made of X.

    Whether the run is shown is a matter of this command, and nothing that the model keeps.
    """
    from structlearn.persistence.model_file import steps_of

    if validation is not None:
        validation = features(estimator, validation[0]), validation[1]
    _, last = steps_of(estimator)
    tells = hasattr(last, "verbose")
    if tells:
        last.verbose = int(show)
    try:
        fit_learner(last, X, Y, weight, validation=validation, **options)
    finally:
        if tells:
            last.verbose = 0


def fit_learner(learner: Any, X: Any, Y: Any, weight: Any, **options: Any) -> None:
    """Fits a learner with those options that it takes: some have neither held-out examples nor a state."""
    taken = inspect.signature(type(learner).fit).parameters
    for name, value in options.items():
        if value is not None and name not in taken:
            raise ValueError(f"{flag(name)} has no effect here: it is not for {type(learner).__name__}")
    given = {name: value for name, value in options.items() if name in taken}
    if "sample_weight" in taken:
        given["sample_weight"] = weight
    elif weight is not None and any(each != 1.0 for each in weight):
        raise ValueError(f"weights of examples have no effect here: they are not for {type(learner).__name__}")
    learner.fit(X, Y, **given)


def fit_features(estimator: Any, X: Any, templates: Templates | None) -> Any:
    """Fits the steps of a pipeline before the estimator, and gives X as they make it."""
    from structlearn.features.crfpp import CrfppTemplates
    from structlearn.persistence.model_file import steps_of

    steps, last = steps_of(estimator)
    if not steps:
        return X
    X = estimator.fit_transform(X)
    if isinstance(templates, CrfppTemplates) and templates.pair_templates:
        # Which columns score pairs of labels is known only now.
        last.set_params(model__pair_features=templates.pair_columns(steps[0][1]))
    return X


def features(estimator: Any, X: Any) -> Any:
    """X as the fitted steps of a pipeline before the estimator make it."""
    from structlearn.persistence.steps import Steps

    return estimator.transform(X) if isinstance(estimator, Steps) else X


def attributes(X: list[Any], templates: Templates | None, reader: Reader) -> list[list[list[str]]]:
    """The names of the features of every token."""
    text = _features(templates, reader, {})
    names = text.fit(X).get_feature_names_out()
    return [
        [names[row.indices[begin:end]].tolist() for begin, end in pairwise(row.indptr)] for row in text.transform(X)
    ]
