"""Graphical models of the UAI 2014 inference competition."""

import io
import tarfile
from dataclasses import dataclass

import numpy as np

from structlearn.data.arrays import FloatArray, LabelArray
from structlearn.data.factor_graphs import FactorGraph
from structlearn.datasets._files import find_file, reading
from structlearn.io.uai import read_uai

HOME = "https://www.hlt.utdallas.edu/~vgogate/uai14-competition/"


@dataclass(frozen=True, eq=False, slots=True)
class GraphicalModel:
    """One instance with the answer that is stored beside it.

    Attributes
    ----------
    name : str
    graph : FactorGraph
        With the evidence: all other labels of known variables are forbidden.
    labels : (n_variables,) or None
        The stored labels of a MAP instance, which are not all best.
    log_z : float or None
        The stored natural logarithm of Z of an instance for marginals, to about six figures.
    marginals : (Σ n_labels,) or None
        The stored probabilities of all labels, one variable after another, to about six figures.
    """

    name: str
    graph: FactorGraph
    labels: LabelArray | None
    log_z: float | None
    marginals: FloatArray | None


def fetch_uai2014(task: str) -> list[GraphicalModel]:
    """Read the instances of a task, in the order of their names: 31 of "MAP", 32 of "MAR".

    The file is ``uai2014/uai2014.tar.xz`` with members ``MAP/Grids_18.uai``, ``MAP/Grids_18.uai.evid``,
    ``MAP/Grids_18.uai.MAP`` and so on; answers of "MAR" end with ``.MAR`` and ``.PR``.

    Raises
    ------
    FileNotFoundError
        If the file is neither in ``$STRUCTLEARN_DATA`` nor in the user's cache.
    ValueError
        If the file is damaged or holds something else.
    """
    if task not in ("MAP", "MAR"):
        raise ValueError(f"task is {task!r}; it may be 'MAP' or 'MAR'")
    path = find_file("uai2014", "uai2014.tar.xz", HOME)
    with reading(path), tarfile.open(path) as archive:
        files = {
            member.name.removeprefix("./"): content.read()
            for member in archive
            if member.isfile() and (content := archive.extractfile(member)) is not None
        }
        names = sorted(name for name in files if name.startswith(f"{task}/") and name.endswith(".uai"))
        return [_instance(name, files) for name in names]


def _instance(name: str, files: dict[str, bytes]) -> GraphicalModel:
    graph = read_uai(io.BytesIO(files[name]), io.BytesIO(files[f"{name}.evid"]))
    labels, log_z, marginals = (files.get(f"{name}.{answer}", b"").split()[1:] for answer in ("MAP", "PR", "MAR"))
    return GraphicalModel(
        name.split("/")[1].removesuffix(".uai"),
        graph,
        np.array(labels[1:], np.int32) if labels else None,
        float(log_z[0]) * float(np.log(10.0)) if log_z else None,
        _probabilities(marginals, graph) if marginals else None,
    )


def _probabilities(words: list[bytes], graph: FactorGraph) -> FloatArray:
    numbers = np.array(words[1:], np.float64)
    # Each variable's probabilities stand behind how many there are.
    sizes = graph.unary_offsets[:-1] + np.arange(graph.n_variables)
    return np.delete(numbers, sizes)
