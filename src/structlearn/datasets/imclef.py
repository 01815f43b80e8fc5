"""Medical X-ray images with anatomical classes in a tree (ImageCLEF 2007, edge-histogram features)."""

from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from structlearn.datasets._checks import check_choice
from structlearn.datasets._files import find_file, reading
from structlearn.io.arff import ArffTable, read_arff

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
    with reading(path):
        return _classified(read_arff(path))


def _classified(table: ArffTable) -> ClassifiedImages:
    """Rows v_1, …, v_80 and a class, which lists the node at each depth: 2@2/1@2/1/3."""
    *features, last = table.attributes
    if last.kind != "hierarchical":
        raise ValueError("its header declares no hierarchical class at the end")
    if len(features) != N_FEATURES or {attribute.kind for attribute in features} != {"numeric"}:
        raise ValueError(f"it has {len(features)} features instead of {N_FEATURES} numbers")
    if not isinstance(table.values, np.ndarray) or not len(table.values) or np.isnan(table.values).any():
        raise ValueError("it holds no complete rows of data")
    taxonomy = {path: path.rpartition("/")[0] or "root" for path in sorted(last.values)}
    leaves = [str(nodes).rpartition("@")[2] for nodes in table.column(last.name)]
    for i, leaf in enumerate(leaves):
        if leaf not in taxonomy:
            raise table.error(f"the undeclared class {leaf!r}", i)
    return ClassifiedImages(table.values[:, :-1].copy(), leaves, taxonomy)
