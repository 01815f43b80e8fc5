"""Makes docs/gallery/ of examples/: a Sphinx extension that runs every script when the site is built.

A page has the script's docstring, its code, what it printed and the picture it drew, all from that run: nothing can go
stale, and a script that fails ends the build. This is a page of code because an example here is an ordinary program
that saves one picture; sphinx-gallery would ask for scripts written in its own form.
"""

import ast
import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

EXAMPLES = Path(__file__).resolve().parent.parent / "examples"

INDEX = """# Gallery

One idea a script, each of a page's length; they need no data but what they make themselves, and run in a few seconds:
`python examples/tag_words.py`.

```{{toctree}}
:hidden:

{names}
```

{entries}
"""
ENTRY = """## [{title}]({name}.md)

[![{title}]({name}.png){{width=420px}}]({name}.md)

{summary}
"""
PAGE = """# {title}

{text}

```{{image}} {name}.png
:alt: {title}
```

It prints

```text
{printed}
```

The whole script, `examples/{name}.py`:

```python
{code}
```
"""


def parts(source: str) -> tuple[str, str, str]:
    """Title, text and code of a script: the first line of its docstring, the rest of it, and what follows."""
    module = ast.parse(source)
    docstring = ast.get_docstring(module)
    if docstring is None:
        raise ValueError("an example begins with a docstring: a title, an empty line, a paragraph")
    title, _, text = docstring.partition("\n")
    code = "\n".join(source.splitlines()[module.body[0].end_lineno :])
    return title.removesuffix("."), text.strip(), code.strip()


def run(script: Path, picture: Path) -> str:
    """What the script prints; it draws into `picture`."""
    picture.unlink(missing_ok=True)
    environment = os.environ | {"MPLBACKEND": "Agg", "PYTHONIOENCODING": "utf-8"}
    finished = subprocess.run(
        [sys.executable, str(script), picture.name], cwd=picture.parent, env=environment, capture_output=True, text=True
    )
    if finished.returncode or not picture.exists():
        raise RuntimeError(f"{script.name} failed or drew nothing:\n{finished.stderr}")
    return finished.stdout.strip("\n")


def build(folder: Path) -> None:
    folder.mkdir(exist_ok=True)
    scripts = sorted(EXAMPLES.glob("*.py"))
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        printed = list(pool.map(lambda script: run(script, folder / f"{script.stem}.png"), scripts))
    entries = []
    for script, output in zip(scripts, printed, strict=True):
        title, text, code = parts(script.read_text(encoding="utf-8"))
        page = PAGE.format(name=script.stem, title=title, text=text, printed=output, code=code)
        (folder / f"{script.stem}.md").write_text(page, encoding="utf-8")
        entries.append(ENTRY.format(name=script.stem, title=title, summary=text.partition("\n\n")[0]))
    names = "\n".join(script.stem for script in scripts)
    (folder / "index.md").write_text(INDEX.format(names=names, entries="\n".join(entries)), encoding="utf-8")


def setup(app: Any) -> dict[str, Any]:
    app.connect("builder-inited", lambda app: build(Path(app.srcdir) / "gallery"))
    return {"parallel_read_safe": True}
