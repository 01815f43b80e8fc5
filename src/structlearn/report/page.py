"""The page: all sections, the style and the script, in one file."""

from __future__ import annotations

import base64
import hashlib
import os
from pathlib import Path
from typing import Any

from structlearn.drawing.markup import Html, element
from structlearn.persistence import atomic
from structlearn.report import convergence, facts, learning_curve, mistakes, scores, vector_valued, weights
from structlearn.report.assets import asset, fill
from structlearn.report.subject import Subject


def write_report(
    path: str | os.PathLike[str],
    estimator: Any,
    X: Any,
    Y: Any,
    *,
    title: str | None = None,
    data_name: str | None = None,
    learning_curve: tuple[Any, Any] | None = None,
    picture: tuple[int, int] | None = None,
) -> None:
    """Writes one HTML file that shows what an estimator learnt and how it does on X, Y.

    The file needs no network and nothing beside it, and can be read without scripts and in print.

    Parameters
    ----------
    path : str or path
        Where the file is written; what was there is replaced.
    estimator : fitted estimator
        Or a scikit-learn pipeline that ends with one: features then have the names that the steps before it give them,
        and mistakes are shown as they are in X.
    X, Y : inputs and true outputs
        Better ones that training did not see.
    title : str, optional
    data_name : str, optional
        What X and Y are called.
    learning_curve : (X_train, Y_train), optional
        Trains clones on a sixteenth, an eighth, … and all of these data, and shows how they do on X, Y.
    picture : (height, width), optional
        For rows of features that are pixels: shows inputs and weights as pictures.

    Examples
    --------
    >>> import tempfile
    >>> from structlearn import StructuralSVM
    >>> from structlearn.models import Chain
    >>> X = [[{"word": "the"}, {"word": "dog"}], [{"word": "a"}, {"word": "cat"}, {"word": "sleeps"}]]
    >>> Y = [["DET", "NOUN"], ["DET", "NOUN", "VERB"]]
    >>> tagger = StructuralSVM(Chain(), C=10).fit(X, Y)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write_report(f"{folder}/tagger.html", tagger, X, Y, title="A tagger")
    ...     page = Path(f"{folder}/tagger.html").read_text("utf-8")
    >>> "<title>A tagger</title>" in page
    True
    """
    path = Path(path)
    atomic.check_writable(path)
    subject = Subject.of(estimator, X, Y, picture)
    points = None if learning_curve is None else _learnt(estimator, learning_curve, X, Y)
    page = _page(subject, title or "What was learnt", data_name, points)
    # Text may hold half of a surrogate pair, which UTF-8 has no bytes for.
    atomic.write(path, page.encode("utf-8", errors="replace"))


def _learnt(estimator: Any, training: tuple[Any, Any], X: Any, Y: Any) -> list[learning_curve.Point]:
    if not (isinstance(training, (tuple, list)) and len(training) == 2):
        raise ValueError("learning_curve must be a pair (X_train, Y_train)")
    return learning_curve.learnt(estimator, (training[0], training[1]), X, Y)


def _page(subject: Subject, title: str, data_name: str | None, points: list[learning_curve.Point] | None) -> Html:
    sections = {
        "What was learnt": facts.section(subject, data_name),
        "Scores": scores.section(subject),
        "Confusions": scores.confusions(subject),
        "Mistakes": mistakes.section(subject),
        **subject.panels(),
        "Transitions": weights.transitions(subject),
        "Features": weights.features(subject),
        "Shared by labels": vector_valued.shared(subject),
        "Left-out errors": vector_valued.left_out(subject),
        "Training": convergence.section(subject),
        "Learning curve": learning_curve.section(points, subject.evaluation) if points else None,
    }
    shown = {name: section for name, section in sections.items() if section is not None}
    script = asset("script.js")
    return fill(
        "page",
        title=title,
        summary=facts.summary(subject),
        headline=scores.headline(subject),
        links=[element("a", name, href=f"#{_anchor(name)}") for name in shown],
        sections=[element("section", element("h2", name), body, id=_anchor(name)) for name, body in shown.items()],
        style=Html(asset("style.css")),
        script=Html(script),
        script_digest=base64.b64encode(hashlib.sha256(script.encode()).digest()).decode(),
    )


def _anchor(name: str) -> str:
    return name.lower().replace(" ", "-")
