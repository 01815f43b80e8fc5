"""`structlearn evaluate`"""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from structlearn.cli import data, terminal
from structlearn.cli.jobs import Jobs, with_jobs
from structlearn.cli.workers import Cluster, Workers
from structlearn.wording import count

if TYPE_CHECKING:
    from structlearn.data.tokens.tags import Scheme
    from structlearn.evaluation import Evaluation
    from structlearn.persistence.model_file import Saved
    from structlearn.shards import Shards

SpanScheme = Annotated[
    Literal["conlleval", "BIO", "IOB1", "BIOES"],
    typer.Option(help="How tags such as B-NP and I-NP are read as spans: as conlleval does, or strictly."),
]

#: Labels that are named.
MOST_LABELS = 10


def evaluate(
    model: data.Model,
    file: data.Data = "-",
    format_name: data.FormatName = None,
    columns: data.Columns = None,
    separator: data.Separator = None,
    label: data.Label = None,
    encoding: data.Encoding = "utf-8",
    scheme: SpanScheme = "conlleval",
    n_jobs: Jobs = None,
    workers: Workers = None,
    cluster: Cluster = None,
    as_json: data.Json = False,
) -> None:
    """Compare predictions with the labels of a file: loss, accuracy, and F1 of spans for labels such as B-NP and I-NP.

    Trees have precision, recall and F1 of their brackets; alignments have the share of the true matches that are found,
    exactly (q) and up to some shifts (q1, q2, q4); networks and images have the share of right nodes or pixels and the
    mean intersection over union of their labels; label sets have averages of F1, the Hamming loss and exact matches.

    Labels that training never saw count as wrong. Intervals are 95 % bootstrap intervals over examples.

    A folder that prepare wrote with the features of the model is evaluated part by part. With --workers or --cluster
    the file may be a folder or a pattern of files; the numbers are the same.

    \b
        structlearn evaluate tagger.slm test.txt
        structlearn evaluate tagger.slm prepared_corpus
        structlearn evaluate tagger.slm test.txt --json
        structlearn evaluate tagger.slm 'files/*.conll' --workers 4
        structlearn evaluate tagger.slm labelled.txt --columns word,chunk,_ --label chunk
    """
    from dataclasses import replace

    from structlearn.annotation.examples import as_taken, labelled, places
    from structlearn.cli.corpora import opened
    from structlearn.cli.summaries.tokens import TERMS
    from structlearn.cli.workers import are_asked, asked_for, files_done
    from structlearn.distributed import evaluate_files
    from structlearn.evaluation import evaluate as judge
    from structlearn.io.paths import matching

    saved = with_jobs(data.read_model(model), n_jobs)
    corpus = opened([file], format=format_name, columns=columns, separator=separator, label=label)
    shared_out = are_asked(workers, cluster)
    if corpus is not None:
        if shared_out:
            raise ValueError(f"--workers and --cluster evaluate files, and {file} holds features that prepare has made")
        judged = _of_parts(corpus, saved, scheme, show=not as_json)
    else:
        wanted = data.layout(format_name, columns, separator, label, saved.reader)
        if shared_out:
            if file == "-":
                raise ValueError("--workers and --cluster evaluate files, not standard input")
            how: Any = {"format": wanted, "encoding": encoding, "scheme": scheme}
            with asked_for(workers, cluster) as client, files_done("evaluated", shown=not as_json) as progress:
                judged = evaluate_files(client, saved, file, **how, progress=progress)
            reader, _ = data.stream(matching(file)[0], wanted, encoding, given=saved.reader)
        else:
            reader, examples = data.read([file], wanted, encoding, given=saved.reader)
            labelled(reader, examples)
            with places(examples):
                judged = judge(saved.estimator, *as_taken(saved.estimator, examples), scheme=scheme)
        if reader.structure == "translation":
            # A table is what becomes of them.
            judged = replace(judged, example=TERMS[reader.structure].example)
    _tell_of_unseen_labels(saved.estimator, judged)
    if as_json:
        terminal.print_json(judged.to_dict())
    else:
        terminal.console().print(judged)


def _of_parts(corpus: Shards, saved: Saved, scheme: Scheme, *, show: bool) -> Evaluation:
    """The evaluation of features in files, of which a part is in memory at a time."""
    from structlearn.cli.corpora import check_learnt_from
    from structlearn.evaluation import evaluation_of, pieces_of
    from structlearn.persistence.model_file import steps_of

    check_learnt_from(corpus, saved)
    progress = terminal.Progress("evaluating", show, corpus.n_examples)
    pieces = []
    try:
        for piece in pieces_of(steps_of(saved.fitted)[1], corpus.X, corpus.Y, scheme=scheme):
            pieces.append(piece)
            progress.add(len(piece))
    finally:
        progress.end()
    return evaluation_of(pieces)


def _tell_of_unseen_labels(estimator: Any, judged: Evaluation) -> None:
    import numpy as np

    from structlearn.persistence.model_file import steps_of

    if judged.kind not in ("sequences", "examples"):
        return
    known = set(steps_of(estimator)[1].classes_.tolist())
    unseen = [label for label in judged.labels if label not in known]
    if unseen:
        n = int(np.isnan(judged.margins).sum())
        shown = ", ".join(map(str, unseen[:MOST_LABELS])) + ", …" * (len(unseen) > MOST_LABELS)
        which = f"{count(n, 'example')} {'has' if n == 1 else 'have'}"
        told = f"{which} labels that training never saw, which count as wrong: {shown}"
        typer.echo(f"structlearn: warning: {told}", err=True)
