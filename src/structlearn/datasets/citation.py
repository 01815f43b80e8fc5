"""Scientific papers that cite each other (Sen et al. 2008)."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from structlearn.data.arrays import IntArray
from structlearn.datasets._checks import check_choice
from structlearn.datasets._edges import undirected
from structlearn.datasets._files import arrays_of, find_file, reading

HOME = "https://linqs.org/datasets"


@dataclass(frozen=True, eq=False, slots=True)
class CitationGraph:
    """Papers, the words in each, and which cite each other.

    Attributes
    ----------
    X : (n, n_words) CSR array
        1.0 where the paper has the word.
    Y : (n,) array of str
        Subjects.
    edges : (n_edges, 2) int array
        Pairs of papers of which one cites the other, each pair once, the lower number first.
    names : list of str
    n_self_loops, n_duplicates : int
        Citations that are left out: of a paper by itself, and between papers of which there is one already.
    """

    X: "csr_array[np.float64]"
    Y: NDArray[np.str_]
    edges: IntArray
    names: list[str]
    n_self_loops: int
    n_duplicates: int


def fetch_citation(name: str) -> CitationGraph:
    """Read Cora or CiteSeer, as one graph each.

    ========  ======  =========  =====  ==========  =====  ========
    name      papers  citations  loops  duplicates  words  subjects
    ========  ======  =========  =====  ==========  =====  ========
    cora       2,708      5,429      0         151  1,433         7
    citeseer   3,312      4,715    124          55  3,703         6
    ========  ======  =========  =====  ==========  =====  ========

    The files are ``citation/cora.npz`` and ``citation/citeseer.npz``, with the parts of a CSR array of citations,
    `adj_data`, `adj_indices`, `adj_indptr`, `adj_shape`, those of words, `attr_data` and so on, and `labels`,
    `class_names` and `node_names`.

    Parameters
    ----------
    name : {"cora", "citeseer"}

    Returns
    -------
    CitationGraph

    Raises
    ------
    FileNotFoundError
        If the file is neither in ``$STRUCTLEARN_DATA`` nor in the user's cache.
    ValueError
        If the file is damaged or holds something else.
    """
    check_choice("name", name, ("cora", "citeseer"))
    path = find_file("citation", f"{name}.npz", HOME)
    with reading(path):
        labels, classes, names = arrays_of(path, "labels", "class_names", "node_names")
        cites, words = (
            csr_array(tuple(arrays_of(path, f"{of}_data", f"{of}_indices", f"{of}_indptr")), shape=shape.tolist())
            for of, shape in (("adj", arrays_of(path, "adj_shape")[0]), ("attr", arrays_of(path, "attr_shape")[0]))
        )
        for matrix in (cites, words):
            matrix.check_format(full_check=True)
        n = len(labels)
        if cites.shape != (n, n) or words.shape[0] != n or len(names) != n:
            raise ValueError(f"there are {n} labels, but {cites.shape[0]} papers and {words.shape[0]} bags of words")
        if labels.min() < 0 or labels.max() >= len(classes):
            raise ValueError(f"labels must be 0 to {len(classes) - 1}, got {labels.min()} to {labels.max()}")
        edges, n_self_loops, n_duplicates = undirected(np.stack(cites.tocoo().coords, axis=1))
        X = csr_array((words.data.astype(np.float64), words.indices, words.indptr), shape=words.shape)
        X.sort_indices()
    return CitationGraph(X, classes[labels], edges, [str(each) for each in names], n_self_loops, n_duplicates)
