"""What `predict` writes of a file: a value, so that workers can be sent it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from structlearn.annotation.examples import batches, places
from structlearn.annotation.files import annotated, annotated_name, kept, predicted
from structlearn.cli import data
from structlearn.cli.predictions.distributions import Wanted, json_lines, with_probability
from structlearn.cli.predictions.images import write_images
from structlearn.cli.predictions.searches import rankings
from structlearn.cli.predictions.written import drawn, tabled
from structlearn.io.format import Reader
from structlearn.io.images import ImageReader

Kind = Literal["beside", "drawn", "tabled", "json", "ranked"]


@dataclass(frozen=True, slots=True)
class Form:
    """What is written: the file with predictions beside, pictures, a table of latent parts, JSON lines, or rankings.

    Attributes
    ----------
    kind : {"beside", "drawn", "tabled", "json", "ranked"}
    more : Wanted
        What is told beside predictions.
    format : Reader, str or None
        Of the files, if it is another one than the model has.
    encoding : str
    candidates : str or None
        The file in which sequences are searched, for rankings.
    as_json : bool
        Whether rankings are JSON lines.
    """

    kind: Kind
    more: Wanted
    format: Reader | str | None
    encoding: str
    candidates: str | None = None
    as_json: bool = False

    def name_of(self, reader: Reader | None, file: str) -> str:
        """What is written of a file is called so in a folder of such."""
        ends = {"drawn": ".txt", "tabled": ".tsv", "json": ".jsonl", "ranked": ".jsonl" if self.as_json else ".tsv"}
        return annotated_name(reader, file) if self.kind == "beside" else Path(file).name + ends[self.kind]

    def write(self, estimator: Any, reader: Reader | None, file: str, output: str | None) -> None:
        """Writes what is wanted of a file, or of all files of a folder one after another."""
        given = None if reader is None else reader.before_predictions()
        if self.kind == "beside" and isinstance(given, ImageReader):
            write_images(estimator, given, file, output)
            return
        encoding = self.encoding if self.kind == "beside" else "utf-8"
        with data.writing(output, not_over=file, encoding=encoding) as write:
            for text in self._texts(estimator, given, file, to_file=output is not None):
                write(text)

    def _texts(self, estimator: Any, given: Reader | None, file: str, *, to_file: bool) -> Iterator[str]:
        if self.candidates is not None:
            more = self.candidates, self.encoding, self.more.k_best
            yield from rankings(estimator, file, *more, as_json=self.as_json)
            return
        wanted = self.format.before_predictions() if isinstance(self.format, Reader) else self.format
        if self.kind == "beside":
            yield from self._beside(estimator, given, wanted, file)
            return
        reader, examples = data.stream(file, wanted, self.encoding, given=given)
        if self.kind == "json":
            texts = json_lines(estimator, reader, self.more)
        elif self.kind == "tabled":
            texts = tabled(estimator, reader)
        else:
            texts = drawn(estimator, reader, to_file=to_file)
        for batch in batches(examples):
            with places(batch):
                yield from texts(batch)

    def _beside(self, estimator: Any, reader: Any, wanted: Reader | str | None, file: str) -> Iterator[str]:
        text = "\n"
        for each in data.files_of(file):
            if not text.endswith("\n"):
                yield "\n"
            with kept(each, wanted, self.encoding, reader) as (reader, lines):
                predicting = with_probability if self.more.probabilities else predicted
                for text in annotated(estimator, reader, lines, predicting):
                    yield text
