"""`structlearn evaluate`"""

from __future__ import annotations

from structlearn.cli import data, terminal


def evaluate(
    model: data.Model,
    file: data.Data = "-",
    format_name: data.FormatName = None,
    encoding: data.Encoding = "utf-8",
    as_json: data.Json = False,
) -> None:
    """Compare predictions with the labels of a file: loss, accuracy, and F1 for labels such as B-NP and I-NP.

    Trees have precision, recall and F1 of their brackets; alignments have the share of the true matches that are found,
    exactly (q) and up to some shifts (q1, q2, q4).

    Intervals are 95 % bootstrap intervals over examples.

    \b
        structlearn evaluate tagger.slm test.txt
        structlearn evaluate tagger.slm test.txt --json
    """
    from structlearn.evaluation import evaluate as judge
    from structlearn.io.model_file import read

    saved = read(model)
    reader, examples = data.read([file], format_name, encoding, given=saved.reader)
    with data.places(examples):
        judged = judge(saved.estimator, *data.labelled(reader, examples))
    if as_json:
        terminal.print_json(judged.to_dict())
    else:
        terminal.console().print(judged)
