"""Examples with sets of labels: images, genes, music and bookmarks, in the files of Mulan."""

from typing import Literal

from structlearn.datasets._checks import check_choice
from structlearn.datasets._files import find_file, reading
from structlearn.io.mulan import MultiLabelTable, read_mulan

HOME = "https://mulan.sourceforge.net/datasets-mlc.html"
NAMES = ("scene", "yeast", "emotions", "bibtex")


def fetch_multilabel(name: str, subset: Literal["train", "test"] = "train") -> MultiLabelTable:
    """Read a multi-label data set with its published split.

    ========  ============  ========  ======  ================================================
    name      train, test   features  labels  what
    ========  ============  ========  ======  ================================================
    scene     1,211, 1,196  294       6       photographs (Boutell et al. 2004)
    yeast     1,500, 917    103       14      functions of genes (Elisseeff and Weston 2001)
    emotions  391, 202      72        6       moods of music (Trohidis et al. 2008)
    bibtex    4,880, 2,515  1,836     159     tags of bookmarks, sparse (Katakis et al. 2008)
    ========  ============  ========  ======  ================================================

    The files are ``multilabel/scene-train.arff.gz``, ``scene-test.arff.gz``, ``scene.xml.gz`` and so on.

    Parameters
    ----------
    name : {"scene", "yeast", "emotions", "bibtex"}
    subset : {"train", "test"}

    Returns
    -------
    structlearn.io.MultiLabelTable
        X (n, n_features), a CSR array for bibtex; Y (n, n_labels) int8; feature_names; label_names.

    Raises
    ------
    FileNotFoundError
        If the file is neither in ``$STRUCTLEARN_DATA`` nor in the user's cache.
    ValueError
        If the file is damaged or holds something else.
    """
    check_choice("name", name, NAMES)
    check_choice("subset", subset, ("train", "test"))
    path = find_file("multilabel", f"{name}-{subset}.arff.gz", HOME)
    labels = find_file("multilabel", f"{name}.xml.gz", HOME)
    with reading(path):
        data = read_mulan(path, labels)
        if not len(data.Y):
            raise ValueError("it holds no examples")
        return data
