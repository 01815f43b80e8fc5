"""How many threads commands take that use what was learnt."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from structlearn.cli.options import checked


def _check(value: int) -> None:
    from structlearn.data.options import jobs_option

    jobs_option("n_jobs", value)


Jobs = Annotated[
    int | None,
    typer.Option(
        "--n-jobs",
        metavar="N",
        help="Threads, -1 for all cores; predictions are the same. Left out: as many as in training.",
        callback=checked(_check),
    ),
]


def with_jobs(saved: Any, n_jobs: int | None) -> Any:
    """What a model file held, whose steps take so many threads wherever they can take several."""
    from structlearn.persistence.model_file import steps_of

    steps, last = steps_of(saved.fitted)
    for step in [last, *(step for _, step in steps)]:
        if n_jobs is not None and hasattr(step, "n_jobs"):
            step.n_jobs = n_jobs
    return saved
