"""Medical X-ray images with anatomical classes in a tree (ImageCLEF 2007, edge-histogram features)."""

import gzip
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from structlearn.datasets._checks import check_choice
from structlearn.datasets._files import find_file, reading

HOME = "http://kt.ijs.si/DragiKocev/PhD/resources"
N_FEATURES = 80


@dataclass(frozen=True, eq=False, slots=True)
class ClassifiedImages:
    """Images whose classes are the leaves of a tree.

    Attributes
    ----------
    X : (n, 80) float array
        Features of the images.
    Y : list of str
        The leaf of each image, by its full path: '2/1/3'.
    taxonomy : dict of str to str
        The parent of each node but 'root': '2/1/3' → '2/1' → '2' → 'root'.
    """

    X: NDArray[np.float64]
    Y: list[str]
    taxonomy: dict[str, str]


def fetch_imclef07a(subset: Literal["train", "test"] = "train") -> ClassifiedImages:
    """Read ImCLEF07A: X-ray images of 63 anatomical classes, the leaves of a tree of depth 3.

    The taxonomy is that of the file's header, the same in both subsets.

    The files are ``imclef07a/ImCLEF07A_Train.arff.gz`` and ``ImCLEF07A_Test.arff.gz``.

    Parameters
    ----------
    subset : {"train", "test"}
        10,000 or 1,006 images.

    Returns
    -------
    ClassifiedImages

    Raises
    ------
    FileNotFoundError
        If the file is neither in ``$STRUCTLEARN_DATA`` nor in the user's cache.
    ValueError
        If the file is damaged or holds something else.
    """
    check_choice("subset", subset, ("train", "test"))
    path = find_file("imclef07a", f"ImCLEF07A_{subset.capitalize()}.arff.gz", HOME)
    with reading(path), gzip.open(path, "rt", encoding="ascii") as file:
        lines = iter(file)
        taxonomy = _taxonomy(_declared_classes(lines))
        return _parse_rows(lines, taxonomy)


def _declared_classes(lines: Iterator[str]) -> list[str]:
    """Class paths of the ARFF header, which is consumed up to and including @DATA."""
    classes = None
    for line in lines:
        words = line.split()
        if [word.lower() for word in words[:3]] == ["@attribute", "class", "hierarchical"]:
            classes = words[3].split(",")
        elif words and words[0].lower() == "@data":
            break
    if classes is None:
        raise ValueError("its header declares no hierarchical class")
    return classes


def _taxonomy(paths: list[str]) -> dict[str, str]:
    return {path: path.rpartition("/")[0] or "root" for path in sorted(paths)}


def _parse_rows(lines: Iterable[str], taxonomy: dict[str, str]) -> ClassifiedImages:
    """Rows "v_1,...,v_80,path" where path lists the node at each depth: 2@2/1@2/1/3."""
    rows, leaves = [], []
    for number, line in enumerate(filter(str.strip, lines), start=1):
        *values, nodes = line.strip().split(",")
        if len(values) != N_FEATURES:
            raise ValueError(f"data row {number} has {len(values)} features instead of {N_FEATURES}")
        leaf = nodes.rpartition("@")[2]
        if leaf not in taxonomy:
            raise ValueError(f"data row {number} has the undeclared class {leaf!r}")
        rows.append([float(value) for value in values])
        leaves.append(leaf)
    if not rows:
        raise ValueError("it holds no data rows")
    return ClassifiedImages(np.array(rows), leaves, taxonomy)
