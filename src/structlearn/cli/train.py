"""`structlearn train`"""

from __future__ import annotations

import shlex
import sys
import tempfile
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from structlearn.cli import data, terminal
from structlearn.cli.choices import Choice, chosen
from structlearn.cli.components import KERNELS, LEARNERS, LIKELIHOODS, MODELS
from structlearn.cli.options import flag
from structlearn.cli.workers import Cluster, Workers
from structlearn.wording import count

if TYPE_CHECKING:
    from structlearn.cli.corpora import Elsewhere
    from structlearn.shards import Shards

    LearnerName = str
    ModelName = str
    KernelName = str
else:
    LearnerName, ModelName, KernelName = Literal[tuple(LEARNERS)], Literal[tuple(MODELS)], Literal[tuple(KERNELS)]

Files = Annotated[
    list[str],
    typer.Argument(
        metavar="FILE…",
        help='Labelled examples, or folders of such files; "-" is standard input. Or a folder that '
        "[bold]prepare[/bold] wrote.",
    ),
]
Learner = Annotated[
    LearnerName | None,
    typer.Option(
        help="A structural SVM, a conditional random field, the averaged perceptron, the SVM or the field for latent "
        "parts and partial labels, the SVM that chooses the functions of a kernel itself, or baselines that only "
        "count: a hidden Markov model of words, the grammar of a treebank. Outputs are learnt as vectors by ridge "
        "regression (vector-ridge) or with margins (vector-svm). Left out, what suits the files."
    ),
]
Model = Annotated[
    ModelName | None,
    typer.Option(
        help="What is predicted, where files leave a choice: of tags such as B-NP and I-NP, chain predicts one after "
        "another and segments whole spans."
    ),
]
Kernel = Annotated[
    KernelName | None,
    typer.Option(
        help="A kernel of features that are numbers, for all learners. Left out, scores are linear in features; rbf "
        "for learners that have kernels themselves.",
        rich_help_panel="Kernel",
    ),
]
Templates = Annotated[
    Path | None,
    typer.Option(
        metavar="FILE",
        help="Which features words get: CRF++ templates (U00:%x\\[-1,0]) or one template of ours a line "
        "(word\\[-1]|word\\[0]). Left out: words around, affixes, shapes, and tags around.",
        rich_help_panel="Features",
    ),
]


def train(
    files: Files,
    output: Annotated[Path, typer.Option("--output", "-o", help="The file that the model is written to.")] = Path(
        "model.slm"
    ),
    learner: Learner = None,
    model: Model = None,
    kernel: Kernel = None,
    format_name: data.FormatName = None,
    columns: data.Columns = None,
    separator: data.Separator = None,
    label: data.Label = None,
    partial: data.Partial = False,
    encoding: data.Encoding = "utf-8",
    templates: Templates = None,
    validation: Annotated[
        str | None,
        typer.Option(
            metavar="FILE",
            help="Held-out examples: training ends when their loss no longer improves, and the best weights are kept.",
            rich_help_panel="Data",
        ),
    ] = None,
    checkpoint: Annotated[
        Path | None,
        typer.Option(help="Where the state of the run is kept, so that the same command goes on after a crash."),
    ] = None,
    checkpoint_every: Annotated[float, typer.Option(min=0, metavar="SECONDS", help="How often it is written.")] = 60.0,
    workers: Workers = None,
    cluster: Cluster = None,
    quiet: data.Quiet = False,
    as_json: data.Json = False,
    options: Any = None,
) -> None:
    """Learn from a file of examples.

    The format is recognised. Words get features by templates; attributes are taken as they are; trees give a grammar,
    pairs of sequences in FASTA an aligner; networks, images and sets of labels have models as well. Training ends with
    a certificate: the best possible objective is at most 3 % lower (0.1 % for likelihoods), or whatever --tol says;
    --learner latent ends within 0.1 % of a stationary point.
    Ctrl-C ends it earlier and keeps the best model so far.

    \b
        structlearn train train.txt -o tagger.slm
        structlearn train train.txt.gz -o tagger.slm --learner crf -c 5000 --n-jobs -1
        structlearn train names.txt -o names.slm --model segments
        structlearn train some_labels.txt -o tagger.slm --partial --learner latent-crf
        structlearn train train.txt -o tagger.slm --templates template.txt --checkpoint run.ckpt
        structlearn train words.svmhmm -o tagger.slm -c 100 --eps 0.1
        structlearn train folder_of_aligned_fasta -o aligner.slm --gaps affine
        structlearn train pages.jsonl -o pages.slm --pairwise potts
        structlearn train photos -o pixels.slm --pairwise potts --nonnegative pairs
        structlearn train scenes.arff -o scenes.slm --pairs full
        structlearn train prepared_corpus -o tagger.slm --max-memory 1GB
        structlearn train prepared_corpus -o tagger.slm --workers 4
        structlearn train 'files/*.conll' -o tagger.slm --workers 4 --min-count 3
        structlearn train rows.svmlight -o svm.slm --kernel rbf --gamma 0.1 --n-components 300
        structlearn train scenes.arff -o scenes.slm --learner vector-ridge --operator covariance
    """
    from structlearn.annotation.examples import as_taken, labelled, places, weights
    from structlearn.cli.corpora import build_for, choice_for, elsewhere, on_workers, opened
    from structlearn.cli.pipelines import (
        build,
        check_effects,
        fit,
        fit_last,
        in_terms_of_the_data,
        read_templates,
        refusals_in_flags,
    )
    from structlearn.cli.workers import are_asked
    from structlearn.persistence import atomic, model_file

    atomic.check_writable(output)
    asked = {"format": format_name, "columns": columns, "separator": separator, "label": label, "partial": partial}
    corpus: Shards | Elsewhere | None = opened(files, **asked, templates=templates, kernel=kernel)
    show = not (quiet or as_json)
    if corpus is None and are_asked(workers, cluster):
        if kernel is not None or partial:
            given = "--partial" if partial else "--kernel"
            raise ValueError(f"{given} is for one machine, and not for --workers and --cluster")
        wanted = data.layout(format_name, columns, separator, label)
        corpus = elsewhere(files, wanted, encoding, learner, model, templates, options, show=show)
    examples: list[Any] = []
    if corpus is not None:
        reader, Y = corpus.reader, [list(corpus.classes)]
        choice = choice_for(corpus, learner, model)
        estimator = build_for(corpus, choice, options)
    else:
        label = data.implied_label(label, model, format_name, files)
        wanted = data.as_asked(data.layout(format_name, columns, separator, label), options)
        reader, examples = data.read(files, wanted, encoding, partial=partial)
        X, Y = labelled(reader, examples)
        written = read_templates(templates, reader)
        choice = chosen(reader.structure, reader.described, learner, model, kernel, partial=partial)
        check_effects(options, reader, [choice])
        estimator = build(reader, choice, in_terms_of_the_data(reader, choice, X, Y, options), written)
        X_taken, Y_taken = as_taken(estimator, examples)
        if show:
            _tell_what_was_guessed(reader, wanted, model_file.steps_of(estimator)[1], X, Y)
    _, last = model_file.steps_of(estimator)
    _warn(choice, options, reader, Y)
    how: dict[str, Any] = {}
    if validation is not None:
        _, held_out = data.read([validation], format_name, encoding, given=reader)
        labelled(reader, held_out)
        how["validation"] = as_taken(estimator, held_out)
    if checkpoint is not None:
        how |= {"checkpoint": checkpoint, "checkpoint_every": checkpoint_every}
    interrupted = None
    try:
        with places(examples), refusals_in_flags(choice, reader.structure, options):
            if corpus is not None:
                with on_workers(corpus, workers, cluster) as (X, Y):
                    fit_last(estimator, X, Y, show=show, **how)
            else:
                fit(estimator, X_taken, Y_taken, written, weights(examples), show=show, **how)
    except KeyboardInterrupt as interrupt:
        if not (hasattr(last, "w_") or hasattr(last, "weights_")):
            raise
        interrupted = interrupt
    if len(getattr(last, "classes_", "ab")) == 1 and getattr(getattr(last, "model", None), "kind", "") != "outputs":
        typer.echo(f"structlearn: warning: every label is {last.classes_[0]}: there was nothing to learn", err=True)
    save(estimator, output, reader, files, Y)
    if as_json:
        terminal.print_json(terminal.facts(estimator) | {"model": str(output)})
    elif not quiet:
        terminal.print_facts(estimator, title=f"{output}")
    if interrupted is not None:
        # What the estimator says beyond is for those who have it in their hands.
        told = str(interrupted).partition(";")[0] or "training stopped"
        told += f"; the best model so far is in {output}"
        if checkpoint is not None and checkpoint.exists():
            told += f"; the same command goes on from {checkpoint}"
        typer.echo(f"structlearn: {told}", err=True)
        raise typer.Exit(130)


def _warn(choice: Choice, options: Any, reader: Any, Y: list[Any]) -> None:
    """Of what trains without a complaint, but perhaps not what was meant."""
    unused = [name for name in ("loss", "costs") if name in options and choice.learner in LIKELIHOODS]
    if unused:
        told = f"{flag(unused[0])} counts in evaluations only: --learner {choice.learner} maximises a likelihood"
        typer.echo(f"structlearn: warning: {told}", err=True)
    told = reader.hint(label for y in Y for label in (y if isinstance(y, list) else [y]))
    if told:
        typer.echo(f"structlearn: warning: {told}", err=True)


def _tell_what_was_guessed(reader: Any, wanted: Any, learner: Any, X: list[Any], Y: list[Any]) -> None:
    """The format, where it was not named, and what its labels are taken for."""
    from structlearn.cli.summaries.tokens import TERMS, TOKENS

    if wanted is None:
        told = f"; {reader.look_alike}" if reader.look_alike else ""
        noun = TERMS.get(reader.structure, TOKENS).example
        typer.echo(f"format {reader.name}, {count(len(X), noun)}{told}", err=True)
    if reader.structure == "sequence" and learner.model.positive is None:
        positive = learner.model.specify(X, Y).positive
        typer.echo(f"sequences labelled {positive} are taken to hold the motif; --positive names others", err=True)


def save(estimator: Any, output: Path, reader: Any, files: Sequence[str], labels: Sequence[Any]) -> None:
    """Writes the model with what it was made from; if that fails now, after all the work, then somewhere else."""
    from structlearn.annotation.examples import predicts_segments
    from structlearn.data.tokens.tags import scheme_of
    from structlearn.persistence import model_file

    _, last = model_file.steps_of(estimator)
    if predicts_segments(last):
        last.training_["tags"] = scheme_of(labels)
    last.training_ |= {
        "files": list(files),
        "command": shlex.join(["structlearn", *sys.argv[1:]]),
        "date": datetime.now(UTC).isoformat(timespec="seconds"),
    }
    try:
        model_file.save(estimator, output, reader=reader)
    except OSError as error:
        rescued = Path(tempfile.mkdtemp(prefix="structlearn-")) / output.name
        model_file.save(estimator, rescued, reader=reader)
        raise OSError(f"{error.strerror or error}; the model was saved to {rescued} instead") from error
