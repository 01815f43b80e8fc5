"""Options of the command line that are parameters of the library's classes: declared there, read from there.

A parameter's type, default and description come from the source of the class, which is parsed and not imported: help
and completion must not wait for scikit-learn. Whether a value means anything is asked of the class, which is imported
then, before any file is read.
"""

from __future__ import annotations

import ast
import inspect
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import islice
from pathlib import Path
from typing import Annotated, Any, Literal

import typer

from structlearn.cli.choices import when
from structlearn.cli.components import COMPONENTS, FROM_FILES, KERNELS, LEARNERS, MODELS, Component

PACKAGE = Path(__file__).parents[1]
#: The parameter of commands that shows help with all options, and its help.
ALL = "help_all"
HELP_ALL = "Show the options for files of all structures."


@dataclass(frozen=True, slots=True)
class Parameter:
    """What a class says about one of its parameters."""

    kind: Any
    default: Any
    help: str
    choices: dict[str, Any]


@cache
def parameters(component: Component) -> dict[str, Parameter]:
    """The declarations of the component's parameters, by the names of the options.

    >>> from structlearn.cli.components import LEARNERS, MODELS
    >>> parameters(LEARNERS["svm"])["C"].kind, parameters(MODELS["chain"])["order"].default
    (<class 'float'>, 1)
    >>> parameters(MODELS["alignment"])["gaps"].kind
    typing.Literal['linear', 'affine']
    """
    if not component.options:
        return {}
    (found,) = ast.parse(_head((PACKAGE / component.file).read_text("utf-8"), component.name)).body
    assert isinstance(found, ast.ClassDef)
    (init,) = (node for node in found.body if isinstance(node, ast.FunctionDef) and node.name == "__init__")
    described = _described(ast.get_docstring(found) or "")
    arguments = [*init.args.args[1:], *init.args.kwonlyargs]
    defaults = [*init.args.defaults, *(node for node in init.args.kw_defaults if node is not None)]
    values = dict(zip([argument.arg for argument in arguments][-len(defaults) :], defaults, strict=True))
    annotations = {argument.arg: ast.unparse(argument.annotation or ast.Constant(None)) for argument in arguments}
    declared = {}
    for option, name in component.options.items():
        if option in FROM_FILES:
            declared[option] = Parameter(str, None, FROM_FILES[option], {})
            continue
        kind, text = described.get(name, ("", ""))
        choices = _choices(kind)
        declared[option] = Parameter(
            Literal[tuple(choices)] if choices else _kind(annotations[name]),
            dict(component.defaults).get(name, ast.literal_eval(values[name])),
            text,
            choices,
        )
    return declared


def _head(source: str, name: str) -> str:
    """A class up to the end of its constructor: every command waits for the parser.

    >>> _head("import os\\n\\nclass A(B):\\n    def __init__(self): ...\\n\\n    def f(self): ...\\n", "A")
    'class A(B):\\n    def __init__(self): ...\\n\\n'
    """
    end = r"(?=^    (?:def|@)|^(?:class|def|@)|\Z)"
    (head,) = re.findall(rf"^class {name}\b.*?^    def __init__\b.*?{end}", source, re.DOTALL | re.MULTILINE)
    return str(head)


def shared_options(command: Callable[..., None]) -> Callable[..., None]:
    """Gives a command the parameters of all components as options; it receives those that were given as `options`."""
    shared = _shared()
    added = [
        inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=None, annotation=annotation)
        for name, (annotation, _) in shared.items()
    ]
    every = Annotated[bool, typer.Option("--help-all", help=HELP_ALL, callback=_show_all, is_eager=True)]
    added.append(inspect.Parameter(ALL, inspect.Parameter.KEYWORD_ONLY, default=False, annotation=every))

    def with_options(**given: Any) -> None:
        del given[ALL]
        values = {name: given.pop(name) for name in shared}
        options = {
            name: shared[name][1].get(value, value) if isinstance(value, str) else value
            for name, value in values.items()
            if value is not None
        }
        check_values(options, lambda name: asked(name, given["learner"], given["model"], given["kernel"]))
        command(**given, options=options)

    kept = [
        parameter
        for name, parameter in inspect.signature(command, eval_str=True).parameters.items()
        if name != "options"
    ]
    with_options.__signature__ = inspect.Signature([*kept, *added])  # type: ignore[attr-defined]
    with_options.__annotations__ = {parameter.name: parameter.annotation for parameter in [*kept, *added]}
    with_options.__doc__ = command.__doc__
    with_options.__name__ = command.__name__
    return with_options


def _show_all(ctx: typer.Context, wanted: bool) -> None:
    if wanted:
        ctx.meta[ALL] = True
        typer.echo(ctx.get_help(), nl=False)
        raise typer.Exit


def option_value(name: str, text: str) -> Any:
    """What a text means as the value of an option.

    >>> option_value("C", "10"), option_value("boundaries", "no"), option_value("rescaling", "none")
    (10.0, False, None)
    """
    if not components_with(name):
        raise ValueError(f"there is no option {flag(name)}")
    if name in FROM_FILES:
        raise ValueError(f"{flag(name)} is a file; give it to all settings, {flag(name)} FILE")
    parameter = parameters(components_with(name)[0])[name]
    choices = _shared()[name][1]
    if choices:
        if text not in choices:
            raise ValueError(f"{flag(name)} is {text!r}; it may be {', '.join(choices)}")
        return choices[text]
    if parameter.kind is bool:
        if text not in ("yes", "no"):
            raise ValueError(f"{flag(name)} is {text!r}; it may be yes or no")
        return text == "yes"
    try:
        return parameter.kind(text)
    except ValueError:
        raise ValueError(f"{flag(name)} is {text!r}; expected a number") from None


def checked(check: Callable[[Any], object]) -> Callable[[Any], Any]:
    """A callback for an option of a command: what a check refuses by a `ValueError` is a wrong option."""

    def callback(value: Any) -> Any:
        if value is not None:
            try:
                check(value)
            except ValueError as error:
                raise typer.BadParameter(str(error)) from None
        return value

    return callback


def check_values(options: Mapping[str, Any], users: Callable[[str], Iterable[Component]], where: str = "") -> None:
    """Refuses, as a wrong option, a value that means nothing to any of the classes that could use the option.

    What is wrong with several options together is left to where all are known.
    """
    for name, value in options.items():
        refusals = []
        for component in users(name):
            if name not in FROM_FILES and name in component.options:
                refusals.append(_refusal(component, name, value))
                if refusals[-1] is None:
                    break
        else:
            if refusals:
                raise typer.BadParameter(str(refusals[0]), param_hint=f"'{where or flag(name)}'")


def _refusal(component: Component, name: str, value: Any) -> str | None:
    """What a class says against a value of one of its parameters."""
    learnt = (
        model
        for key, each in LEARNERS.items()
        if each is component
        for model in MODELS.values()
        if key in model.learners
    )
    needed = [model.load()() for model in islice(learnt, 1)]
    made = component.load()(*needed, **component.given({name: value}))
    try:
        made.check_options()
    except ValueError as error:
        begin = f"{component.options[name]} is "
        return str(error).removeprefix(begin) if str(error).startswith(begin) else None
    return None


def asked(name: str, learner: str | None, model: str | None, kernel: str | None) -> list[Component]:
    """The classes that have an option, without the learners, models and kernels that are others than those named."""
    named = ((LEARNERS, learner), (MODELS, model), (KERNELS, kernel))
    others = [
        component
        for table, names in named
        if names is not None
        for key, component in table.items()
        if key not in re.split(r"\s*,\s*", names)
    ]
    return [component for component in components_with(name) if component not in others]


def components_with(name: str) -> list[Component]:
    """The classes that have an option."""
    return [component for component in COMPONENTS if name in component.options]


@cache
def _shared() -> dict[str, tuple[Any, dict[str, Any]]]:
    """The annotation of every option, and the values that its choices stand for."""
    shared: dict[str, tuple[Any, dict[str, Any]]] = {}
    for component in COMPONENTS:
        for name in component.options:
            if name in shared:
                continue
            declared = {other: parameters(other)[name] for other in components_with(name)}
            first = declared[component]
            choices = {text: value for parameter in declared.values() for text, value in parameter.choices.items()}
            kind = Literal[tuple(choices)] if first.choices else first.kind
            names = [f"{flag(name)}/--no-{flag(name)[2:]}" if first.kind is bool else flag(name)]
            option = typer.Option(
                *(["-c"] if name == "C" else []),
                *names,
                help=help_of(name, list(declared)),
                show_default=False,
                metavar="FILE" if name in FROM_FILES else None,
                rich_help_panel=component.panel,
            )
            shared[name] = Annotated[kind | None, option], choices
    return shared


def help_of(name: str, components: Sequence[Component]) -> str:
    """What an option means to some of the classes that have it, at least one."""
    declared = {component: parameters(component)[name] for component in components}
    (_, first), *others = declared.items()
    own = dict(components[0].defaults)
    default = own.get(components[0].options[name], first.default)
    texts = [first.help + ("" if default is None else f" \\[default: {default}]")]
    texts += [
        f"With {when(component)}: {parameter.help}"
        for component, parameter in others
        if parameter.help and parameter.help != first.help
    ]
    return " ".join(texts)


def flag(name: str) -> str:
    """
    >>> flag("max_iter"), flag("C")
    ('--max-iter', '--C')
    """
    return f"--{name.replace('_', '-')}"


def _choices(described: str) -> dict[str, Any]:
    """The choices that a docstring lists in braces, by what is typed for them."""
    listed = re.search(r"\{(.*)\}", described)
    values = ast.literal_eval(f"[{listed[1]}]") if listed else []
    return {"none" if value is None else str(value): value for value in values}


def _kind(annotation: str) -> Any:
    for name, kind in (("float", float), ("Smoothing", float), ("int", int), ("bool", bool)):
        if re.match(rf"{name}\b", annotation):
            return kind
    return str


def _described(docstring: str) -> dict[str, tuple[str, str]]:
    """Type and first paragraph of every parameter in a NumPy docstring."""
    section = re.search(r"^Parameters\n-+\n(.*?)(?=^\w[^\n]*\n-+\n|\Z)", docstring, re.DOTALL | re.MULTILINE)
    entries = re.findall(r"^(\w+) : ([^\n]*)\n((?:    [^\n]*\n|\n)*)", (section[1] if section else "") + "\n", re.M)
    return {name: (kind, _plain(text.strip().split("\n\n")[0])) for name, kind, text in entries}


def _plain(text: str) -> str:
    """Text for a terminal: one line, without code quotes, and nothing that rich would take for markup.

    >>> _plain("Letters. None takes\\nthose of `X`; None means all.")
    'Letters. Left out, it takes those of X; left out, it means all.'
    """
    text = re.sub(r"\s+", " ", text.replace("`", ""))
    text = re.sub(r"((?:^|\. )?)\bNone (means|is|takes|leaves|keeps)\b", _left_out, text)
    return text.replace("[", r"\[")


def _left_out(found: re.Match[str]) -> str:
    before, verb = found.groups()
    return f"{before}{'Left' if found.start() == 0 or before else 'left'} out, it {verb}"
