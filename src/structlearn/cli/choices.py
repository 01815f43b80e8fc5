"""Which learner, model and kernel are taken for files of a structure."""

from __future__ import annotations

from dataclasses import dataclass

from structlearn.cli.components import (
    FILES,
    KERNEL_MAP,
    KERNELS,
    LEARNERS,
    LOSSES,
    MODELS,
    OF_PARTIAL_LABELS,
    OF_VECTORS,
    OPERATOR,
    TRANSFORMERS,
    WITH_KERNELS,
    WITHOUT_STATES,
    Component,
)


@dataclass(frozen=True, slots=True)
class Choice:
    """A learner, a model and perhaps a kernel for files of a structure, by their names."""

    learner: str
    model: str
    kernel: str | None = None

    def components(self, structure: str) -> list[Component]:
        """All whose parameters have an effect."""
        transformers = [made for name, made in TRANSFORMERS.items() if name == structure]
        model = MODELS[self.model]
        transformers = [] if model.takes_words else transformers
        kernel = [] if self.kernel is None else [KERNELS[self.kernel], *([KERNEL_MAP] if self.maps else [])]
        kernel += [OPERATOR] if self.learner in OF_VECTORS else []
        return [LEARNERS[self.learner], model, *([] if model.f1 is None else [model.f1]), *transformers, *kernel]

    @property
    def maps(self) -> bool:
        """Whether the kernel makes features for a learner that has none itself."""
        return self.kernel is not None and self.learner not in WITH_KERNELS


def choices(structure: str) -> list[Choice]:
    """What can learn from files of a structure; the first is the one to take unless told otherwise."""
    able = {name: model for name, model in MODELS.items() if structure in model.files}
    return [
        Choice(learner, name, kernel)
        for name, model in able.items()
        for learner in model.learners
        for kernel in _kernels(structure, learner, model)
    ]


def _kernels(structure: str, learner: str, model: Component) -> list[str | None]:
    if learner in WITH_KERNELS:
        # Of words the columns are too many for the search of preimages.
        return [] if structure == "words" and learner == "kernel-svm" else list(KERNELS)
    return [None, *(KERNELS if structure in KERNEL_MAP.files and not model.takes_words else ())]


def chosen(
    structure: str,
    files: str,
    learner: str | None = None,
    model: str | None = None,
    kernel: str | None = None,
    *,
    partial: bool = False,
) -> Choice:
    """The first choice with the learner, the model and the kernel that were asked for.

    `files` is what messages call such files. Labels that are known in part (`partial`) are for some learners. Where all
    are known, these learners are there for latent states unless told otherwise.

    >>> chosen("words", "columns"), chosen("words", "columns", "latent").model
    (Choice(learner='svm', model='chain', kernel=None), 'latent-chain')
    >>> chosen("row", "svmlight", model="grammar")
    Traceback (most recent call last):
    ...
    ValueError: --model grammar does not learn from svmlight files; it may be multiclass, labels
    """
    able = choices(structure)
    if partial:
        able = [choice for choice in able if choice.learner in OF_PARTIAL_LABELS]
        files = f"partly labelled {files}"
    elif model is None and learner in OF_PARTIAL_LABELS:
        partly = [choice for choice in able if choice.model in WITHOUT_STATES and choice.learner == learner]
        able = [choice for choice in able if choice not in partly]
        if partly and learner not in [choice.learner for choice in able]:
            raise ValueError(f"--learner {learner} learns from {files} files that are known in part: say --partial")
    for option, given, names in (
        ("--learner", learner, [choice.learner for choice in able]),
        ("--model", model, [choice.model for choice in able]),
        ("--kernel", kernel, [choice.kernel for choice in able if choice.kernel is not None]),
    ):
        if given is not None and not names:
            raise ValueError(f"{option} has no effect here: it is for {_of_rows()}")
        if given is not None and given not in names:
            known = ", ".join(dict.fromkeys(names))
            raise ValueError(f"{option} {given} does not learn from {files} files; it may be {known}")
    fitting = [choice for choice in able if learner in (None, choice.learner) and model in (None, choice.model)]
    if not fitting:
        known = ", ".join(choice.learner for choice in able if choice.model == model)
        raise ValueError(f"--learner {learner} does not learn --model {model}; it may be {known}")
    with_kernel = [choice for choice in fitting if kernel in (None, choice.kernel)]
    if not with_kernel:
        raise ValueError(f"--kernel has no effect here: --learner {fitting[0].learner} takes words as they are")
    return with_kernel[0]


def _of_rows() -> str:
    """
    >>> _of_rows()
    'files of words, sequences, single examples, queries, networks, images or label sets'
    """
    *others, last = (FILES[structure] for structure in KERNEL_MAP.files)
    return f"files of {', '.join(others)} or {last}"


def when(component: Component) -> str:
    """In which case the parameters of a class have an effect.

    >>> when(LEARNERS["crf"]), when(MODELS["chain"]), when(MODELS["segments"])
    ('--learner crf', 'files of sequences', '--model segments')
    """
    if component in LOSSES:
        return "--loss f1"
    if component is KERNEL_MAP:
        return "--kernel"
    if component is OPERATOR:
        return " or ".join(f"--learner {name}" for name in OF_VECTORS)
    for option, named in (("--learner", LEARNERS), ("--model", MODELS), ("--kernel", KERNELS)):
        for name, found in named.items():
            first = all(choices(structure)[0].model == name for structure in found.files)
            if found is component and (not found.files or not first):
                return f"{option} {name}"
    return f"files of {FILES[component.files[-1]]}"
