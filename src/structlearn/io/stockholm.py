"""Stockholm: rows "name letters", in blocks, with annotations in lines that begin with "#=", and "//" at the end."""

from __future__ import annotations

from structlearn.io.fasta import LONGEST, Row
from structlearn.io.text import Lines, quoted

GAPS = "-.~_"


#: The annotations of rows (#=GR) that are read, and what sequences call them.
ANNOTATIONS = {"SS": "structure", "SA": "accessibility"}


def read_stockholm_rows(lines: Lines) -> tuple[list[Row], dict[str, dict[str, str]]]:
    """The rows of the first alignment of a file, capital and with "-" for gaps, and their annotations by name.

    Annotations are secondary structures (#=GR … SS) and accessible surfaces (#=GR … SA), a letter a column.

    Examples
    --------
    >>> text = b"# STOCKHOLM 1.0\\n\\na  AC.\\n#=GR a SS  HH.\\nb  A-G\\n\\na  T\\n#=GR a SS  C\\nb  t\\n//\\n"
    >>> rows, annotations = read_stockholm_rows(Lines([text], "small.sto"))
    >>> [(row.name, row.sequence) for row in rows], annotations
    ([('a', 'AC-T'), ('b', 'A-GT')], {'a': {'structure': 'HH.C'}})
    """
    if not next(lines, "").startswith("# STOCKHOLM"):
        raise lines.error("expected a first line with '# STOCKHOLM'")
    parts: dict[str, list[str]] = {}
    begins: dict[str, int] = {}
    annotations: dict[str, dict[str, str]] = {}
    sizes: dict[str, int] = {}
    for line in lines:
        fields = line.split()
        if line.startswith("//"):
            break
        if line.startswith("#=GR") and len(fields) == 4 and fields[2] in ANNOTATIONS:
            _, name, kind, letters = fields
            known = annotations.setdefault(name, {})
            known[ANNOTATIONS[kind]] = known.get(ANNOTATIONS[kind], "") + letters
        if not fields or line.startswith("#"):
            continue
        if len(fields) != 2:
            raise lines.error(f"expected a name and a row of letters, found {quoted(line)}")
        name, letters = fields
        at = line.rindex(letters)
        for k, character in enumerate(letters):
            if not (character.isascii() and character.isalpha()) and character not in GAPS:
                raise lines.error(f"the character {character!r} is no letter of a sequence", at + k + 1)
        begins.setdefault(name, lines.number)
        parts.setdefault(name, []).append(letters)
        sizes[name] = sizes.get(name, 0) + len(letters)
        if sizes[name] > LONGEST:
            raise lines.error(f"{quoted(name)} has more than {LONGEST:,} letters")
    else:
        raise lines.error("the file ends without '//'")
    if not parts:
        raise lines.error("the file holds no sequence")
    gaps = str.maketrans(dict.fromkeys(GAPS, "-"))
    rows = [Row(name, "".join(found).upper().translate(gaps), begins[name], name) for name, found in parts.items()]
    for row in rows:
        for kind, letters in annotations.get(row.name, {}).items():
            if len(letters) != len(row.sequence):
                told = f"the {kind} of {quoted(row.name)} has {len(letters)} letters for {len(row.sequence)} columns"
                raise lines.error(told, line=row.line)
    return rows, annotations
