"""Features Λ(y) of class labels (Tsochantaridis et al. 2005, section 4.2): what classes have in common.

With Ψ(x, y) = φ(x) ⊗ Λ(y), classes that share output features share what is learnt about them:
⟨Ψ(x, y), Ψ(x', y')⟩ = ⟨φ(x), φ(x')⟩ ⟨Λ(y), Λ(y')⟩.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from structlearn.contract import Parameters
from structlearn.data.arrays import FloatArray
from structlearn.data.labels import declared_classes
from structlearn.data.matrices import checked_numbers
from structlearn.data.options import flag_option, real_option
from structlearn.wording import shown


class OutputFeatures(Parameters, ABC):
    """Λ: a row of features for every class."""

    @abstractmethod
    def matrix(self, classes: Sequence[Any]) -> FloatArray:
        """Λ for the given classes, (n_classes, n_output_features)."""

    def names(self, classes: Sequence[Any]) -> Sequence[Any]:
        """What the output features are called, for weights by name."""
        return [f"output feature {k}" for k in range(self.matrix(classes).shape[1])]


class Taxonomy(OutputFeatures):
    """λ_z(y) = β_z if y lies below z or is z, and 0 otherwise, for every node z of a partial order.

    Parameters
    ----------
    parents : mapping
        ``{node: parent}`` for a tree, ``{node: [parent, ...]}`` for a general partial order. Nodes that only occur as
        parents are roots. Classes are nodes of the order, usually but not always its leaves.
    weights : mapping, optional
        β_z of some nodes; 1 for the others.

    Examples
    --------
    >>> animals = Taxonomy({"cat": "pet", "dog": "pet", "cow": "farm", "pet": "animal", "farm": "animal"})
    >>> animals.nodes
    ('cat', 'dog', 'cow', 'pet', 'farm', 'animal')
    >>> animals.matrix(["cat", "dog", "cow"])
    array([[1., 0., 0., 1., 0., 1.],
           [0., 1., 0., 1., 0., 1.],
           [0., 0., 1., 0., 1., 1.]])
    >>> animals.tree_loss(["cat", "dog", "cow"])
    array([[0., 1., 2.],
           [1., 0., 2.],
           [2., 2., 0.]])
    """

    def __init__(self, parents: Mapping[Any, Any], weights: Mapping[Any, float] | None = None):
        self.parents = parents
        self.weights = weights

    @property
    def nodes(self) -> tuple[Any, ...]:
        """All nodes: those that have parents in the order given, then the roots."""
        order = _parent_lists(self.parents)
        return tuple(dict.fromkeys([*order, *(p for parents in order.values() for p in parents)]))

    def names(self, classes: Sequence[Any]) -> Sequence[Any]:
        return self.nodes

    def matrix(self, classes: Sequence[Any]) -> FloatArray:
        above = _ancestors(self.parents)
        column = {node: z for z, node in enumerate(self.nodes)}
        result = np.zeros((len(classes), len(column)))
        for k, label in enumerate(classes):
            _require(label, above, "the taxonomy")
            for node in above[label]:
                result[k, column[node]] = 1.0
        _check_mapping("weights", self.weights or {})
        for node, weight in (self.weights or {}).items():
            _require(node, column, "the taxonomy")
            result[:, column[node]] *= real_option(f"weights[{node!r}]", weight)
        return result

    def tree_loss(self, classes: Sequence[Any]) -> FloatArray:
        """Δ(y, y') = height of the first common ancestor, (n_classes, n_classes).

        The height of a node is the longest way down from it, 0 at a leaf; in a partial order the first common
        ancestor is one of least height. Δ(y, y) = 0 even where y is not a leaf.
        """
        above = _ancestors(self.parents)
        height = _heights(self.parents, self.nodes)
        result = np.zeros((len(classes), len(classes)))
        for k, left in enumerate(classes):
            for j, right in enumerate(classes[:k]):
                _require(left, above, "the taxonomy")
                _require(right, above, "the taxonomy")
                common = above[left] & above[right]
                if not common:
                    raise ValueError(f"{left!r} and {right!r} have no common ancestor; add a root to the taxonomy")
                result[k, j] = result[j, k] = min(height[node] for node in common)
        return result


class ClassAttributes(OutputFeatures):
    """Λ(y) = the attribute vector of class y, beside class identity.

    Parameters
    ----------
    attributes : mapping
        ``{class: vector}``, all of one length.
    identity : bool
        Whether a feature of its own is added for every class, so that classes can also be told apart.

    Examples
    --------
    >>> ClassAttributes({"bee": [1, 0], "bird": [1, 1]}, identity=False).matrix(["bird", "bee"])
    array([[1., 1.],
           [1., 0.]])
    """

    def __init__(self, attributes: Mapping[Any, npt.ArrayLike], identity: bool = True):
        self.attributes = attributes
        self.identity = identity

    def names(self, classes: Sequence[Any]) -> Sequence[Any]:
        n = self.matrix(classes).shape[1] - len(classes) * self.identity
        return [*(classes if self.identity else ()), *(f"attribute {k}" for k in range(n))]

    def matrix(self, classes: Sequence[Any]) -> FloatArray:
        _check_mapping("attributes", self.attributes)
        flag_option("identity", self.identity)
        for label in classes:
            _require(label, self.attributes, "attributes")
        vectors = [
            np.asarray(checked_numbers(self.attributes[label], f"attributes[{label!r}]"), np.float64).ravel()
            for label in classes
        ]
        for label, vector in zip(classes, vectors, strict=True):
            if len(vector) != len(vectors[0]) or not np.isfinite(vector).all():
                raise ValueError(
                    f"attributes[{label!r}] is {vector.tolist()}; expected {len(vectors[0])} finite numbers"
                )
        return _beside_identity(np.array(vectors), self.identity)


class ClassDescriptions(OutputFeatures):
    """Λ(y) = tf-idf vector of a text that describes class y, of length one, beside class identity.

    ⟨Λ(y), Λ(y')⟩ of the text part is the cosine similarity of the descriptions.

    Parameters
    ----------
    descriptions : mapping
        ``{class: text}``. The vocabulary and the idf weights come from all of these texts.
    identity : bool
        Whether a feature of its own is added for every class.

    Examples
    --------
    >>> texts = {"rugby": "sport with a ball", "tennis": "sport with a racket", "opera": "music on a stage"}
    >>> gram = ClassDescriptions(texts, identity=False).matrix(["rugby", "tennis", "opera"])
    >>> (gram @ gram.T).round(2)
    array([[1.  , 0.54, 0.  ],
           [0.54, 1.  , 0.  ],
           [0.  , 0.  , 1.  ]])
    """

    def __init__(self, descriptions: Mapping[Any, str], identity: bool = True):
        self.descriptions = descriptions
        self.identity = identity

    def names(self, classes: Sequence[Any]) -> Sequence[Any]:
        words = self._vectorizer().get_feature_names_out()
        return [*(classes if self.identity else ()), *(f"word {word}" for word in words)]

    def matrix(self, classes: Sequence[Any]) -> FloatArray:
        _check_mapping("descriptions", self.descriptions)
        flag_option("identity", self.identity)
        for label, text in self.descriptions.items():
            if not isinstance(text, str):
                raise ValueError(f"descriptions[{label!r}] is {shown(text)}; it must be a text")
        for label in classes:
            _require(label, self.descriptions, "descriptions")
        texts = self._vectorizer().transform([self.descriptions[label] for label in classes]).toarray()
        return _beside_identity(texts, self.identity)

    def _vectorizer(self) -> Any:
        # Slow to import, and few need it.
        from sklearn.feature_extraction.text import TfidfVectorizer

        return TfidfVectorizer().fit(self.descriptions.values())


class ClassKernel(OutputFeatures):
    """Λ with ⟨Λ(y), Λ(y')⟩ = L(y, y') for a given positive semidefinite matrix of class similarities.

    Parameters
    ----------
    similarity : (n_classes, n_classes) array
        L, rows and columns in the order of `classes`.
    classes : sequence
        The classes that L is about.

    Examples
    --------
    >>> features = ClassKernel([[2.0, 1.0], [1.0, 2.0]], ["a", "b"]).matrix(["a", "b"])
    >>> (features @ features.T).round(12)
    array([[2., 1.],
           [1., 2.]])
    """

    def __init__(self, similarity: npt.ArrayLike, classes: Sequence[Any]):
        self.similarity = similarity
        self.classes = classes

    def matrix(self, classes: Sequence[Any]) -> FloatArray:
        similarity = np.asarray(checked_numbers(self.similarity, "similarity"), np.float64)
        place = {label: k for k, label in enumerate(declared_classes(self.classes))}
        if similarity.shape != (len(place), len(place)):
            raise ValueError(f"similarity has shape {similarity.shape} but there are {len(place)} classes")
        # Any factor of L would do, but weights mean something beside one of them only: it is kept, and saved.
        if not self._is_factor(getattr(self, "factor_", None), similarity):
            self.factor_ = _factor(similarity)
        for label in classes:
            _require(label, place, "the similarity matrix")
        return np.ascontiguousarray(self.factor_[[place[label] for label in classes]])

    def check_learnt(self) -> None:
        """Refuses a factor that is none of the similarity; who loads a model asks for it."""
        if not self._is_factor(self.factor_, np.asarray(self.similarity, np.float64)):
            raise ValueError("factor_ of ClassKernel is no factor of its similarity")

    @staticmethod
    def _is_factor(found: Any, similarity: FloatArray) -> bool:
        if not isinstance(found, np.ndarray) or found.dtype != np.float64 or found.ndim != 2:
            return False
        if len(found) != len(similarity) or not np.isfinite(found).all():
            return False
        return bool(
            np.allclose(found @ found.T, similarity, rtol=1e-6, atol=1e-8 * np.abs(similarity).max(initial=0.0))
        )


def _factor(similarity: FloatArray) -> FloatArray:
    """Λ with Λ Λᵀ = L, from the eigenvectors, whose signs and order among equals are the machine's choice."""
    if not np.isfinite(similarity).all():
        raise ValueError("similarity holds entries that are not finite")
    if not np.allclose(similarity, similarity.T):
        raise ValueError("similarity is not symmetric")
    values, vectors = np.linalg.eigh(similarity)
    if values.min() < -1e-8 * max(abs(values).max(), 1.0):
        raise ValueError(f"similarity is not positive semidefinite: it has the eigenvalue {values.min():.3g}")
    used = values > 1e-12 * max(values.max(), 0.0)
    return np.asarray(vectors[:, used] * np.sqrt(values[used]))


def _beside_identity(features: FloatArray, identity: bool) -> FloatArray:
    return np.hstack([np.eye(len(features)), features]) if identity else features


def _require(label: Any, known: Any, where: str) -> None:
    if label not in known:
        raise ValueError(f"class {label!r} is missing from {where}")


def _check_mapping(name: str, given: Any) -> None:
    if not isinstance(given, Mapping):
        raise ValueError(f"{name} is {shown(given)}; it must be a dict")


def _parent_lists(parents: Mapping[Any, Any]) -> dict[Any, list[Any]]:
    _check_mapping("parents", parents)
    return {node: list(p) if isinstance(p, (list, set, frozenset)) else [p] for node, p in parents.items()}


def _ancestors(parents: Mapping[Any, Any]) -> dict[Any, set[Any]]:
    """Every node with all nodes above it, itself among them."""
    order = _parent_lists(parents)
    above: dict[Any, set[Any]] = {}

    def climb(node: Any, below: tuple[Any, ...]) -> set[Any]:
        if node in below:
            raise ValueError(f"the taxonomy has a cycle through {node!r}")
        if node not in above:
            higher = (climb(parent, (*below, node)) for parent in order.get(node, []))
            above[node] = {node}.union(*higher)
        return above[node]

    for node in order:
        climb(node, ())
    return above


def _heights(parents: Mapping[Any, Any], nodes: Iterable[Any]) -> dict[Any, int]:
    children: dict[Any, list[Any]] = {node: [] for node in nodes}
    for node, above in _parent_lists(parents).items():
        for parent in above:
            children[parent].append(node)
    height: dict[Any, int] = {}

    def measure(node: Any) -> int:
        if node not in height:
            height[node] = 1 + max((measure(child) for child in children[node]), default=-1)
        return height[node]

    for node in children:
        measure(node)
    return height
