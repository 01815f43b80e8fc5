"""Every block of code in README.md, CONTRIBUTING.md and docs/ is run by a test, and says what it says there.

- ``python`` with ``>>>`` is a doctest, which `make test` collects from the page.
- ``python`` without is run here, and so is ``console``: lines after ``$`` by bash (``>`` goes on with a command), our
  own command in this process, with what they print compared to what the page shows, by doctest's rules for white space
  and ``...``. All blocks of a page share one temporary folder, and its python blocks one set of names.
- Other languages are for what nobody can run.
"""

import doctest
import io
import os
import re
import shlex
import subprocess
import sys
import warnings
from pathlib import Path
from typing import NamedTuple

import pytest
from markdown_it import MarkdownIt

from structlearn import cli
from structlearn.datasets import make_sentences
from structlearn.io.columns import Columns

ROOT = Path(__file__).resolve().parent.parent
DOCS = ROOT / "docs"
#: Pages that the build of the site writes, from scripts that tests/test_examples.py runs.
GENERATED = (DOCS / "_build", DOCS / "gallery")

#: Commands that are not run here, by how they begin, and why.
NOT_RUN = {
    "make ": "builds an environment or takes minutes; the target must exist",
    "pip install ": "changes the environment of the tests",
    ".venv/bin/pip install ": "changes the environment of the tests",
    "git clone ": "needs a network",
    "cd ": "follows a git clone",
    "python examples/": "run by tests/test_examples.py; the file must exist",
    "python experiments/": "takes minutes and needs data sets; the file must exist",
    "python benchmarks/": "takes minutes; the file must exist",
}
#: Content that cannot be executed.
INERT = {"text", "bibtex", "{toctree}", "{eval-rst}", "{image}", "{figure}", "{note}", "{warning}", "{tip}"}
#: What a command is told of its surroundings. Every core has a worker of the tests: `tune` needs no processes.
PLAIN = {"COLUMNS": "100", "TERM": "dumb", "NO_COLOR": "1", "PYTHONIOENCODING": "utf-8", "LOKY_MAX_CPU_COUNT": "1"}
#: The commands of a pipeline, and our own one among them, whose output may go to a file.
PIECES = re.compile(r"""(?:'[^']*'|"[^"]*"|[^'"|\n])+""")
OURS = re.compile(r" *(?P<command>structlearn [^|<>&;$`*]*)(?P<file>> *\S+)?(?P<both> 2>&1)? *(?:#.*)?")
Finished = subprocess.CompletedProcess[str]
SAME = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE


class Block(NamedTuple):
    where: str
    language: str
    content: str


class Command(NamedTuple):
    line: str
    printed: str


def pages() -> list[Path]:
    found = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted(DOCS.rglob("*.md"))]
    return [page for page in found if page.exists() and not any(page.is_relative_to(folder) for folder in GENERATED)]


def blocks(page: Path) -> list[Block]:
    """All blocks of code; those that are only indented, such as formulas, have the language "indented"."""
    found = []
    for token in MarkdownIt().parse(page.read_text(encoding="utf-8")):
        if token.type in ("fence", "code_block"):
            language = (token.info.split() or [""])[0] if token.type == "fence" else "indented"
            found.append(Block(f"{page.name}, line {token.map[0] + 1}", language, token.content))
    return found


def commands(block: Block) -> list[Command]:
    """The commands of a console block, each with the output below it."""
    found: list[Command] = []
    for line in block.content.splitlines():
        if line.startswith("$ "):
            found.append(Command(line[2:], ""))
        elif not found:
            raise AssertionError(f"{block.where}: a console block begins with a command, `$ …`")
        elif (line == ">" or line.startswith("> ")) and not found[-1].printed:
            found[-1] = Command(f"{found[-1].line}\n{line[2:]}", "")
        else:
            found[-1] = Command(found[-1].line, f"{found[-1].printed}{line}\n")
    return found


def check_kind(block: Block) -> None:
    """Fails for a block that nobody would execute."""
    lines = block.content.splitlines()
    if block.language == "python" and ">>>" in block.content:
        around = [part.strip() for part in doctest.DocTestParser().parse(block.content) if isinstance(part, str)]
        assert not any(around), f"{block.where}: no doctest runs {around}"
    elif block.language in INERT | {"indented"}:
        hidden = [line for line in lines if line.startswith("$ ")]
        assert not hidden, f"{block.where}: {hidden[0]!r} belongs into a console block, where it is run"
    else:
        assert block.language in ("python", "console"), (
            f"{block.where}: nobody executes a block of the language {block.language!r}; write python or console, or "
            "text for what cannot be executed"
        )


def run_page(page: Path, folder: Path) -> None:
    """Runs, in order, all blocks of a page that are no doctests, in the present folder."""
    names: dict[str, object] = {"__name__": "__main__"}
    for block in blocks(page):
        if block.language == "console":
            for command in commands(block):
                run_command(command, block.where, folder)
        elif block.language == "python" and ">>>" not in block.content:
            exec(compile(block.content, block.where, "exec"), names)


def run_command(command: Command, where: str, folder: Path) -> None:
    begin = next((begin for begin in NOT_RUN if command.line.startswith(begin)), None)
    if begin is not None:
        check_not_run(command.line, begin, where)
        return
    finished = run_pipeline(command.line, folder)
    outputs = (finished.stdout, finished.stdout + finished.stderr)
    same = doctest.OutputChecker().check_output
    if not command.printed.strip():
        assert finished.returncode == 0, f"{where}: $ {command.line}\n{finished.stdout}{finished.stderr}"
    else:
        assert any(same(f"{command.printed.strip()}\n", f"{output.strip()}\n", SAME) for output in outputs), (
            f"{where}: $ {command.line}\nexpected:\n{command.printed}\nprinted:\n{outputs[1]}"
        )


def run_pipeline(line: str, folder: Path) -> Finished:
    """Our command runs in this process, since its imports take longest, and the shell has what is around it."""
    pieces = PIECES.findall(line)
    ours = next((k for k, piece in enumerate(pieces) if OURS.fullmatch(piece)), None)
    if ours is None or "\n" in line:
        return in_a_shell(line, folder)
    match = OURS.fullmatch(pieces[ours])
    given = in_a_shell("|".join(pieces[:ours]), folder).stdout if ours else ""
    told = in_this_process(match["command"], folder, given)
    rest = [f"cat {match['file']}"] if match["file"] else pieces[ours + 1 :]
    if not rest:
        return told
    out, err = (told.stdout + told.stderr, "") if match["both"] else (told.stdout, told.stderr)
    after = in_a_shell("|".join(rest), folder, out)
    return Finished(line, told.returncode or after.returncode, after.stdout, err + after.stderr)


def in_a_shell(line: str, folder: Path, given: str = "") -> Finished:
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    return subprocess.run(
        ["bash", "-c", line],
        cwd=folder,
        env=os.environ | PLAIN | {"PATH": path},
        input=given,
        capture_output=True,
        text=True,
        encoding="utf-8",
        timeout=120,
    )


def in_this_process(line: str, folder: Path, given: str = "") -> Finished:
    words, status = shlex.split(line, comments=True), 0
    with pytest.MonkeyPatch.context() as patch, warnings.catch_warnings():
        warnings.simplefilter("default")
        read = io.TextIOWrapper(io.BytesIO(given.encode()), encoding="utf-8")
        read.buffer.name = "<stdin>"
        out, err = (io.TextIOWrapper(io.BytesIO(), encoding="utf-8", write_through=True) for _ in range(2))
        for name, value in {"argv": words, "stdin": read, "stdout": out, "stderr": err}.items():
            patch.setattr(sys, name, value)
        for name, value in PLAIN.items():
            patch.setenv(name, value)
        patch.chdir(folder)
        try:
            cli.run()
        except SystemExit as exit:
            status = exit.code or 0
        return Finished(words, status, *(stream.buffer.getvalue().decode() for stream in (out, err)))


def check_not_run(line: str, begin: str, where: str) -> None:
    words = line.partition("#")[0].split()
    if begin == "make ":
        targets = {text.partition(":")[0] for text in (ROOT / "Makefile").read_text().splitlines() if ":" in text}
        assert set(words[1:]) <= targets, f"{where}: `{line}`, but the Makefile has no such target"
    elif begin.startswith("python "):
        assert (ROOT / words[1]).exists(), f"{where}: there is no {words[1]}"


@pytest.mark.parametrize("page", pages(), ids=lambda page: str(page.relative_to(ROOT)))
def test_every_block_is_of_a_kind_that_is_executed(page):
    for block in blocks(page):
        check_kind(block)


@pytest.mark.parametrize("page", pages(), ids=lambda page: str(page.relative_to(ROOT)))
def test_blocks_run_as_shown(page, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    if page.name == "README.md":
        # It shows the commands on a published data set; here they run on sentences that need no download.
        for seed, name in enumerate(["train.txt", "test.txt"]):
            drawn = make_sentences(50, random_state=seed)
            (tmp_path / name).write_text("".join(map(Columns(("word", "pos")).write, drawn.X, drawn.Y)))
    run_page(page, tmp_path)


def test_make_test_collects_the_doctests_of_every_page():
    line = next(line for line in (ROOT / "Makefile").read_text().splitlines() if "pytest" in line and " tests " in line)
    collected = [ROOT / word for word in line.split()]
    for page in pages():
        if any(">>>" in block.content for block in blocks(page)):
            assert any(page.is_relative_to(place) for place in collected), f"make test does not collect {page.name}"


def page_of(folder, text):
    page = folder / "page.md"
    page.write_text(text, encoding="utf-8")
    return page


@pytest.mark.parametrize(
    "text",
    [
        "```bash\nls\n```",
        "```\nls\n```",
        "```python\nx = 1\n\n>>> x\n1\n```",
        "```text\n$ ls\n```",
        "Run\n\n    $ ls\n",
    ],
    ids=["bash", "no language", "code before a doctest", "command as text", "indented command"],
)
def test_a_block_that_nobody_executes_is_found(text, tmp_path):
    (block,) = blocks(page_of(tmp_path, text))
    with pytest.raises(AssertionError, match=r"page\.md, line"):
        check_kind(block)


def test_blocks_of_a_page_share_files_and_names(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    page = page_of(
        tmp_path,
        "```console\n$ cat > data.txt <<END\n> one\n>\n> two\n> END\n$ wc -l data.txt | head -1\n3 ...\n```\n"
        "```python\nfrom pathlib import Path\n\nlines = Path('data.txt').read_text().split()\n```\n"
        "```python\nPath('out.txt').write_text(' '.join(lines))\n```\n"
        "```console\n$ cat out.txt   # both\none   two\n```\n",
    )
    run_page(page, tmp_path)


@pytest.mark.parametrize(
    "text", ["$ echo one\ntwo", "$ false", "$ no-such-command", "output first\n$ ls", "$ make nothing"]
)
def test_what_does_not_happen_as_shown_fails(text, tmp_path):
    with pytest.raises(AssertionError, match=r"page\.md, line 1"):
        run_page(page_of(tmp_path, f"```console\n{text}\n```\n"), tmp_path)


def test_a_command_may_fail_with_the_message_that_is_shown(tmp_path):
    run_page(page_of(tmp_path, "```console\n$ cat nothing.txt\ncat: nothing.txt: ...\n```\n"), tmp_path)
