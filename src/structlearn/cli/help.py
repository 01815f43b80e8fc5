"""Help that shows the options which the files of a command can use."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import typer
from typer.core import TyperCommand

from structlearn.cli.choices import Choice, choices
from structlearn.cli.components import COMPONENTS, FILES, KERNEL_MAP, Component
from structlearn.cli.options import ALL, help_of, parameters

#: Options that help without a file shows, beside those of the command that are not rare.
COMMON = {"C", "tol", "n_jobs"}
RARE = {"separator", "encoding", "checkpoint", "checkpoint_every"}
#: Options of the command that only files of some structures can use.
ONLY_FOR = {
    "templates": ("words",),
    "columns": ("words", "document", "dependencies"),
    "separator": ("words",),
    "label": ("words", "set", "dependencies"),
    "kernel": KERNEL_MAP.files,
}
_OF_COMPONENTS = {name for component in COMPONENTS for name in component.options}
_GIVEN = "structlearn.given"


class FittingHelp(TyperCommand):
    """A command that learns from files, whose help is about the structure of those that it is given.

    Without a file help has the most common options, with --help-all those for files of all structures.
    """

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        # Help is shown before the other values are known to the context.
        ctx.meta[_GIVEN], _, _ = self.make_parser(ctx).parse_args(args=list(args))
        return super().parse_args(ctx, args)

    def format_help(self, ctx: Any, formatter: Any) -> None:
        given: dict[str, Any] = ctx.meta.get(_GIVEN, {})
        files = [file for file in given.get("files") or () if isinstance(file, str)]
        if ctx.meta.get(ALL):
            super().format_help(ctx, formatter)
        elif files:
            self._format_for(files[0], given, ctx, formatter)
        else:
            hidden = (_OF_COMPONENTS - COMMON) | RARE
            name = f"structlearn {self.name}"
            epilog = f"{name} FILE --help shows the options for files such as FILE, {name} --help-all all of them."
            with self._showing(hidden, {}, epilog):
                super().format_help(ctx, formatter)

    def _format_for(self, file: str, given: dict[str, Any], ctx: Any, formatter: Any) -> None:
        """Help for files of the structure that one of them has."""
        structure, form = _structure(file, given)
        able = [choice for choice in choices(structure) if _is_asked(choice, given)] or choices(structure)
        used = list(dict.fromkeys(user for choice in able for user in choice.components(structure)))
        texts = {name: [user for user in used if name in user.options] for user in used for name in user.options}
        hidden = (_OF_COMPONENTS - texts.keys()) | {name for name, only in ONLY_FOR.items() if structure not in only}
        learners, models = ({getattr(choice, key): None for choice in able} for key in ("learner", "model"))
        told = f"{file} is a file of {FILES[structure]} ({form})"
        epilog = f"{told}. structlearn {self.name} --help-all shows the options for files of all structures."
        changed = {name: _described(name, users) for name, users in texts.items()}
        changed |= {"learner": {"metavar": _one_of(learners)}, "model": {"metavar": _one_of(models)}}
        with self._showing(hidden, changed, epilog):
            super().format_help(ctx, formatter)

    @contextmanager
    def _showing(self, hidden: set[str], changed: dict[str, dict[str, Any]], epilog: str) -> Iterator[None]:
        """Help without some options, with others described in another way, and with a last line."""
        before = [(param, name, getattr(param, name, None)) for param in self.params for name in _SHOWN]
        self.epilog = epilog
        for param in self.params:
            for name, value in ({"hidden": param.name in hidden} | changed.get(param.name or "", {})).items():
                setattr(param, name, value)
        try:
            yield
        finally:
            for param, name, value in before:
                setattr(param, name, value)
            self.epilog = None


_SHOWN = ("hidden", "help", "metavar", "rich_help_panel")


def _described(name: str, components: Sequence[Component]) -> dict[str, Any]:
    """An option as those classes have it that are in use."""
    choices = {text: None for component in components for text in parameters(component)[name].choices}
    shown = {"help": help_of(name, components), "rich_help_panel": components[0].panel}
    return shown | ({"metavar": _one_of(choices)} if choices else {})


def _one_of(names: Iterable[str]) -> str:
    return f"<{'|'.join(names)}>"


def _is_asked(choice: Choice, given: dict[str, Any]) -> bool:
    """Whether a choice is among those that were named, with commas between where several may be."""
    asked = [(given.get(key), getattr(choice, key)) for key in ("learner", "model", "kernel")]
    return all(not isinstance(names, str) or name in _split(names) for names, name in asked)


def _split(names: str) -> Sequence[str]:
    return [name.strip() for name in names.split(",")]


def _structure(file: str, given: dict[str, Any]) -> tuple[str, str]:
    """The structure of a file and the name of its format, told or recognised."""
    from structlearn.cli import data

    def told(name: str) -> str | None:
        value = given.get(name)
        return value if isinstance(value, str) else None

    if file == "-":
        raise typer.BadParameter("help is about files that can be looked at, not about standard input")
    wanted = data.layout(told("format_name"), told("columns"), told("separator"), told("label"))
    reader, _ = data.stream(file, wanted, told("encoding") or "utf-8")
    return reader.structure, reader.name
