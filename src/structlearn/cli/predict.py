"""`structlearn predict`"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Annotated

import typer

from structlearn.cli import data
from structlearn.cli.jobs import Jobs, with_jobs
from structlearn.cli.workers import Cluster, Workers


def predict(
    model: data.Model,
    file: data.Data = "-",
    output: Annotated[
        str | None, typer.Option("--output", "-o", help="Where predictions go; standard output if left out.")
    ] = None,
    format_name: data.FormatName = None,
    columns: data.Columns = None,
    separator: data.Separator = None,
    label: data.Label = None,
    encoding: data.Encoding = "utf-8",
    draw: Annotated[
        bool, typer.Option("--draw", help="Draw trees and other structures for people to read, instead of the file.")
    ] = False,
    latent: Annotated[
        bool,
        typer.Option(
            "--latent", help="Write a table of what --learner latent found along the way, such as the sites of a motif."
        ),
    ] = False,
    probabilities: Annotated[
        bool,
        typer.Option(
            "--probabilities",
            help="How probable predictions are: in column files a further column, elsewhere with --json. For --learner "
            "crf.",
        ),
    ] = False,
    k_best: Annotated[
        int | None,
        typer.Option(min=1, metavar="K", help="The K best outputs with their scores, as JSON lines."),
    ] = None,
    samples: Annotated[
        int | None,
        typer.Option(min=1, metavar="N", help="N outputs drawn from the model's distribution, as JSON lines."),
    ] = None,
    candidates: Annotated[
        str | None,
        typer.Option(
            metavar="FILE",
            help="Where a model of --model homologues searches: sequences in FASTA, which are ranked for each query.",
        ),
    ] = None,
    seed: Annotated[int, typer.Option(min=0, max=2**32 - 1, help="Of the samples.")] = 0,
    n_jobs: Jobs = None,
    as_json: Annotated[
        bool, typer.Option("--json", help="Write one JSON object an example, with its input and all that was asked.")
    ] = False,
    workers: Workers = None,
    cluster: Cluster = None,
    quiet: data.Quiet = False,
) -> None:
    """Label new examples.

    The file is written as it was, line by line and in its encoding, with predictions: a column file gets one column
    more, JSON lines a field "predicted", and labels that are there already stay beside them; elsewhere predictions take
    the place of labels. Trees are written a line each, pairs of sequences aligned, labels of images as files of images.
    Features that training never saw are passed over.

    --draw shows trees and other structures as pictures of text; what is wrong is marked where the file has the truth.

    --latent writes a line for each example, with tabs between its name, its prediction and the latent part, and one of
    headings before them. The site of a motif is a start and an end, counted from 1 and both included as in GFF, the
    strand, the letters as the pattern reads them, and the score, which is above 0 where a site is predicted.

    --probabilities, --k-best and --samples tell how sure the model is; the first and the last are for --learner crf,
    whose scores are log-probabilities. JSON lines have "predicted" and, if asked for, "log_probability" and
    "probabilities" (of all labels of each token; of the phrases of a tree; of the matches of an alignment), "k_best"
    and "samples".

    A model of --model homologues ranks the --candidates for each sequence of the file: a line for each, best first,
    with tabs between names, score and both sequences aligned; --k-best K keeps the best K, --json has an object a
    query.

    With --workers or --cluster the file may be a folder or a pattern of files, and -o is the folder in which each of
    them is written as without; a file that cannot be read ends the run, and those that are done stay.

    \b
        structlearn predict tagger.slm new.txt > labelled.txt
        zcat text.gz | structlearn predict tagger.slm
        structlearn predict tagger.slm new.conllu -o labelled.conllu
        structlearn predict parser.slm new.mrg --draw
        structlearn predict aligner.slm new.fasta > aligned.fasta
        structlearn predict finder.slm new.fasta --latent > sites.tsv
        structlearn predict tagger.slm new.txt --probabilities
        structlearn predict ranker.slm queries.fasta --candidates database.fasta --k-best 10
        structlearn predict tagger.slm new.txt --n-jobs -1 > labelled.txt
        structlearn predict tagger.slm new.txt --k-best 5 > best.jsonl
        structlearn predict pixels.slm photos -o labelled_photos
        structlearn predict tagger.slm 'files/*.conll' -o labelled --workers 4
    """
    from structlearn.annotation.examples import searches
    from structlearn.cli.predictions.distributions import Wanted
    from structlearn.cli.predictions.form import Form, Kind
    from structlearn.cli.workers import are_asked, asked_for, files_done
    from structlearn.persistence.model_file import steps_of

    of_json = as_json or k_best is not None or samples is not None
    asked = {"--draw": draw, "--latent": latent, "JSON lines": of_json}
    if sum(asked.values()) > 1:
        raise ValueError(f"{' and '.join(name for name, given in asked.items() if given)} exclude each other")
    saved = with_jobs(data.read_model(model), n_jobs)
    _, last = steps_of(saved.fitted)
    if searches(last) != (candidates is not None):
        told = "needs --candidates FILE to search in" if searches(last) else "has no use for --candidates"
        raise ValueError(f"the model in {model} {told}")
    more = Wanted(probabilities, k_best, samples, seed)
    if candidates is None:
        more.check(saved.fitted)
    wanted = data.layout(format_name, columns, separator, label, saved.reader)
    kind: Kind = "drawn" if draw else "tabled" if latent else "json" if of_json else "beside"
    form = Form(kind if candidates is None else "ranked", more, wanted, encoding, candidates, as_json)
    if not are_asked(workers, cluster):
        form.write(saved.fitted, saved.reader, file, output)
        return
    from structlearn.distributed.files import files_of
    from structlearn.distributed.predictions import write_files

    if output is None or "-" in (file, output):
        raise ValueError("--workers and --cluster read files and write a folder of such: say which, by -o")
    if candidates is not None:
        # Workers may be in another folder.
        form = replace(form, candidates=str(Path(candidates).absolute()))
    files = files_of(file)
    names = [form.name_of(saved.reader, each) for each in files]
    with asked_for(workers, cluster) as client, files_done("predicted", shown=not quiet) as progress:
        travelling = saved.fitted, saved.reader
        write_files(client, travelling, files, names, Path(output), form.write, progress=progress)
