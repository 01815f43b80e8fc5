"""Models that are younger than the kept files of version 2: their files are written anew for every run."""

from sklearn.pipeline import make_pipeline

import structlearn
from structlearn import KernelStructuralSVM
from structlearn.features import KernelMap
from structlearn.models import Alignment, Chain, DependencyTree, Grammar
from tests.abuse.subjects import ARCS, PARSED, SUBJECTS
from tests.persistence import version_2_data as data
from tests.persistence.version_2_cases import CRF, K_BEST, PROBABILITIES, SVM, Case

#: Subjects whose files are nothing but options and what was learnt.
WHOLE = (
    *("binary_svm", "perceptron_kernel", "hinge_kernel"),
    *("ridge_of_numbers", "ridge_of_label_sets", "ridge_of_sequences", "ridge_of_strings"),
    *("ridge_of_matchings", "ridge_of_graphs", "ridge_of_trees", "ridge_of_parse_trees"),
    "ridge_of_searched_strings",
    *("vector_svm_of_sequences", "vector_svm_of_strings"),
)

LETTERS = [({"residue": "ac", "profile": [[1.0, 0.5], [0.0, 2.0]]}, {"residue": "a", "profile": [[0.5, 0.5]]})]
NOUNS = [{"tokens": ["N", "N"], "features": [[1.0, -1.0], [0.5, 2.0]]}]

NEWER = {
    "alignment_products": Case(SVM(Alignment(features="products")), LETTERS, [((0, 0),)], LETTERS, K_BEST),
    "grammar_token_features": Case(
        CRF(Grammar(spans=True)), NOUNS, ["(S (A (N N)) (A (N N)))"], NOUNS, (*K_BEST, *PROBABILITIES)
    ),
    "dependency_tree": Case(SVM(DependencyTree(order=2)), PARSED, ARCS, PARSED[::-1], K_BEST),
    "dependency_tree_hashed": Case(SVM(DependencyTree(n_hashed=40, loss="zero_one")), PARSED, ARCS, [[], PARSED[0]]),
    "dependency_tree_crf": Case(
        CRF(DependencyTree(projective=False)), PARSED, ARCS, [[("cats", "NOUN")]], (*K_BEST, *PROBABILITIES)
    ),
    "kernel_svm": Case(KernelStructuralSVM(Chain(), max_iter=3), data.ROWS, data.LETTERS, data.ROWS),
    "kernel_map": Case(make_pipeline(KernelMap("rbf", 3), SVM(Chain())), data.ROWS, data.LETTERS, data.ROWS),
} | {name: Case(SUBJECTS[name].estimator, SUBJECTS[name].X, SUBJECTS[name].Y, SUBJECTS[name].X) for name in WHOLE}


def write(name, path):
    structlearn.save(NEWER[name].estimator.fit(NEWER[name].X, NEWER[name].Y), path)
