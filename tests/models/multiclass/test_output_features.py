import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.metrics.pairwise import cosine_similarity

from structlearn.models import ClassAttributes, ClassDescriptions, ClassKernel, Multiclass, Taxonomy
from tests.models.enumerated import bound

TREE = {"cat": "pet", "dog": "pet", "cow": "farm", "pet": "animal", "farm": "animal"}
LATTICE = {"bat": ["mammal", "flier"], "gull": ["bird"], "bird": ["flier", "animal"], "mammal": ["animal"]}


def below(parents, y, z):
    """Whether y lies below z or is z, by following the definition."""
    above = parents.get(y, [])
    above = above if isinstance(above, list) else [above]
    return y == z or any(below(parents, parent, z) for parent in above)


@pytest.mark.parametrize(
    ("parents", "classes"),
    [(TREE, ["cow", "cat", "dog"]), (TREE, ["pet", "cow"]), (LATTICE, ["bat", "gull", "mammal"])],
)
def test_a_taxonomy_marks_every_node_above_a_class(parents, classes):
    taxonomy = Taxonomy(parents)
    expected = [[float(below(parents, y, z)) for z in taxonomy.nodes] for y in classes]
    np.testing.assert_array_equal(taxonomy.matrix(classes), expected)


def test_a_taxonomy_has_each_node_once():
    assert sorted(Taxonomy(LATTICE).nodes) == ["animal", "bat", "bird", "flier", "gull", "mammal"]


def test_node_weights_scale_their_features():
    weighted = Taxonomy(TREE, weights={"pet": 0.5, "animal": 0.0})
    beta = np.array([{"pet": 0.5, "animal": 0.0}.get(node, 1.0) for node in weighted.nodes])
    np.testing.assert_array_equal(weighted.matrix(["cat", "cow"]), Taxonomy(TREE).matrix(["cat", "cow"]) * beta)


def test_shared_ancestors_are_the_inner_product_of_two_classes():
    features = Taxonomy(TREE).matrix(["cat", "dog", "cow"])
    np.testing.assert_array_equal(features @ features.T, [[3, 2, 1], [2, 3, 1], [1, 1, 3]])


def test_an_order_without_relations_is_plain_multiclass():
    X, Y = [[1.0, 2.0], [3.0, 4.0]], ["a", "b"]
    plain = bound(Multiclass(), X, Y)
    same = bound(Multiclass(output_features=ClassAttributes({"a": [], "b": []})), X, Y)
    w = np.arange(4.0)
    np.testing.assert_array_equal(plain.class_scores(w, np.arange(2)), same.class_scores(w, np.arange(2)))


def test_the_tree_loss_is_the_height_of_the_first_common_ancestor():
    unequal = {"cat": "pet", "pet": "animal", "fly": "animal"}
    np.testing.assert_array_equal(Taxonomy(unequal).tree_loss(["cat", "fly"]), [[0, 2], [2, 0]])
    np.testing.assert_array_equal(Taxonomy(TREE).tree_loss(["cat", "pet"]), [[0, 1], [1, 0]])
    np.testing.assert_array_equal(Taxonomy(LATTICE).tree_loss(["bat", "gull"]), [[0, 2], [2, 0]])


def test_the_tree_loss_serves_as_cost():
    model = Multiclass(cost=Taxonomy(TREE))
    problem = bound(model, [[1.0], [2.0], [3.0]], ["cat", "dog", "cow"])
    np.testing.assert_array_equal(problem.losses(np.zeros(3, int)), [0, 1, 2])
    np.testing.assert_array_equal(problem.present([0, 1, 2]), ["cat", "cow", "dog"])


@pytest.mark.parametrize("method", ["matrix", "tree_loss"])
@pytest.mark.parametrize("parents", [{"a": "b", "b": "a"}, {"a": "a"}, {"a": ["b", "c"], "c": ["a"]}])
def test_a_cycle_is_refused_by_name(method, parents):
    with pytest.raises(ValueError, match=r"the taxonomy has a cycle through '[ab]'"):
        getattr(Taxonomy(parents), method)(["a", "b"])


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Taxonomy(TREE).matrix(["cat", "yak"]), "class 'yak' is missing from the taxonomy"),
        (lambda: Taxonomy(TREE).tree_loss(["cat", "yak"]), "class 'yak' is missing from the taxonomy"),
        (lambda: Taxonomy(TREE, {"yak": 1.0}).matrix(["cat"]), "'yak' is missing from the taxonomy"),
        (lambda: Taxonomy({"a": "r", "b": "s"}).tree_loss(["a", "b"]), "'b' and 'a' have no common ancestor"),
        (lambda: ClassAttributes({"a": [1]}).matrix(["b"]), "class 'b' is missing from attributes"),
        (lambda: ClassAttributes({"a": [1], "b": [1, 2]}).matrix(["a", "b"]), r"attributes\['b'\] is \[1.0, 2.0\]"),
        (lambda: ClassAttributes({"a": [np.nan]}).matrix(["a"]), r"attributes\['a'\] is \[nan\]"),
        (lambda: ClassDescriptions({"a": "text"}).matrix(["b"]), "class 'b' is missing from descriptions"),
        (lambda: ClassKernel(np.eye(2), ["a", "b"]).matrix(["c"]), "class 'c' is missing from the similarity matrix"),
        (lambda: ClassKernel(np.eye(3), ["a", "b"]).matrix(["a"]), r"shape \(3, 3\) but there are 2 classes"),
        (lambda: ClassKernel([[1, 2], [0, 1]], ["a", "b"]).matrix(["a"]), "not symmetric"),
        (lambda: ClassKernel([[1, 2], [2, 1]], ["a", "b"]).matrix(["a"]), "not positive semidefinite.* eigenvalue -1"),
    ],
)
def test_impossible_output_features_are_refused(make, message):
    with pytest.raises(ValueError, match=message):
        make()


def test_attributes_stand_beside_class_identity():
    features = ClassAttributes({"bee": [1, 0], "bird": [1, 1]})
    np.testing.assert_array_equal(features.matrix(["bird", "bee"]), [[1, 0, 1, 1], [0, 1, 1, 0]])


def test_descriptions_are_compared_by_their_cosine():
    texts = {"rugby": "a team sport with a ball", "tennis": "a sport with a ball and rackets", "opera": "sung drama"}
    features = ClassDescriptions(texts, identity=False).matrix(["opera", "rugby", "tennis"])
    vectors = TfidfVectorizer(norm=None).fit(texts.values()).transform([texts[k] for k in ("opera", "rugby", "tennis")])
    np.testing.assert_allclose(features @ features.T, cosine_similarity(vectors), atol=1e-12)
    with_identity = ClassDescriptions(texts).matrix(["opera", "rugby", "tennis"])
    np.testing.assert_allclose(with_identity @ with_identity.T, features @ features.T + np.eye(3), atol=1e-12)


@settings(max_examples=40)
@given(st.integers(1, 5), st.integers(1, 5), st.integers(0, 2**32))
def test_a_class_kernel_is_reproduced_by_its_features(n_classes, rank, seed):
    random = np.random.default_rng(seed)
    factor = random.normal(size=(n_classes, rank))
    order = random.permutation(n_classes)
    features = ClassKernel(factor @ factor.T, range(n_classes)).matrix(order.tolist())
    np.testing.assert_allclose(features @ features.T, (factor @ factor.T)[np.ix_(order, order)], atol=1e-9)
    assert features.shape[1] <= min(n_classes, rank)
