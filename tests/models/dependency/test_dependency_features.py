"""Features of dependency trees by name: weights, explanations, hashing, probabilities and restrictions."""

from collections import Counter

import numpy as np
import pytest
import scipy.sparse as sp

from structlearn import ConditionalRandomField, StructuralSVM
from structlearn.models import DependencyTree
from structlearn.models.dependency.templates import value_text
from tests.abilities.with_sums import dependency_tree
from tests.models.dependency.enumerated_trees import EnumeratedTrees

KINDS = [{}, {"order": 2}, {"projective": False}]


def fitted(learner=StructuralSVM, **options):
    row = dependency_tree(np.random.default_rng(2), **options)
    return learner(row.model, C=10.0, max_iter=20).fit(row.X, row.Y), row


def random_weights(parser):
    parser.w_ = np.random.default_rng(7).normal(size=len(parser.w_))
    return parser


def written_name(reference, g, key, columns=("form", "upos")):
    """The name of a feature, by its template and the values of its fields."""
    t, *values = key
    texts = []
    for field, value in zip(reference.templates[g][t], values, strict=True):
        plain = field.place in ("direction", "distance")
        name = field.place if plain else f"{field.place}.{columns[field.column]}"
        name += f"[{field.offset:+d}]" if field.offset else ""
        texts.append(f"{name}={value_text(field, value, reference.spec.values)}")
    return " ".join(texts)


@pytest.mark.parametrize("options", KINDS)
def test_weights_have_the_names_of_their_features_in_the_order_of_w(options):
    parser, row = fitted(**options)
    random_weights(parser)
    reference = EnumeratedTrees(row.model, parser.spec_)
    assert reference.n_features == len(parser.w_)
    expected = {}
    for g, (title, numbers) in enumerate(zip(("arcs", "labels", "siblings"), reference.numbers, strict=True)):
        for key, first in numbers.items():
            for code, label in enumerate(parser.spec_.labels if g == 1 else [None]):
                expected[title, written_name(reference, g, key), label] = parser.w_[first + code]
    found = {}
    for block in parser.model_.named_weights(parser.spec_, parser.w_):
        for k, weight in enumerate(block.weights.ravel()):
            feature, *label = block.names(k)
            found[block.title, feature, *(label or [None])] = weight
    assert found == expected
    assert ("arcs", "head.form=(root) direction=right", None) in found
    top = parser.top_weights(3).features
    strongest = max((weight for (title, _, label), weight in expected.items() if title == "arcs"), key=abs)
    assert strongest in [each.weight for each in top["arcs"]]


@pytest.mark.parametrize("options", KINDS)
def test_explanations_add_up_by_the_features_that_two_trees_have(options):
    parser, row = fitted(**options)
    random_weights(parser)
    reference = EnumeratedTrees(row.model, parser.spec_)
    for x in row.X[1:]:
        told = parser.explain(x)
        outputs = sorted(reference.outputs(x), key=lambda y: -reference.joint_feature(x, y) @ parser.w_)
        assert [told.output, told.against] == outputs[:2]
        both = [reference.joint_feature(x, y) for y in outputs[:2]]
        # Words that training never saw are rare ones.
        new = [("never", tag) for _, tag in x[:2]]
        score = max(reference.joint_feature(new, y) @ parser.w_ for y in reference.outputs(new))
        assert parser.k_best([new], 1)[0][0][1] == pytest.approx(score)
        assert told.difference == pytest.approx((both[0] - both[1]) @ parser.w_)
        assert sum(part.amount for part in told.parts) == pytest.approx(told.difference)
    told = parser.explain(row.X[2], label=row.Y[2], against=[(0, "a"), (1, "b"), (1, "b")])
    names = {part.name for part in told.parts}
    assert {"2 → 1: a", "root → 2: a", "2 → 3: b", "1 → 3: b"} <= names
    assert ("1 first on its side of 2" in names) == (options.get("order") == 2)


def differences(model, spec, x, outputs):
    """The features of all outputs less those of the first, (n_outputs, n_features)."""
    problem = model.bind(spec, [x] * len(outputs), outputs)
    codes = problem.true_outputs(np.arange(len(outputs)))
    rows, _ = problem.differences(np.arange(len(outputs)), [codes[0]] * len(outputs))
    rows = rows.sparse()
    return sp.csr_array((rows.values, rows.indices, rows.indptr), (len(outputs), problem.n_features))


def all_features(reference, x, y):
    """The features that a tree has, whether they have weights or not, by group, label, template and values."""
    for token, (head, label) in enumerate(y, 1):
        for g in (0, 1):
            for key in reference.features(x, reference.templates[g], head, None, token):
                yield (g, label if g == 1 else "", *key)
        side = [t for t, (other, _) in enumerate(y, 1) if other == head and (head < t) == (head < token)]
        near = [t for t in side if min(head, token) < t < max(head, token)]
        sibling = min(near, key=lambda t: abs(t - token), default=head)
        for key in reference.features(x, reference.templates[2], head, sibling, token):
            yield (2, "", *key)


@pytest.mark.parametrize("options", KINDS)
def test_hashed_features_are_all_that_templates_give_and_share_weights_where_these_are_few(options):
    row = dependency_tree(np.random.default_rng(2), **options)
    many, few = 2**20, 2**4
    models = [DependencyTree(**row.model.get_params() | {"n_hashed": n}) for n in (many, few)]
    specs = [model.specify(row.X, row.Y) for model in models]
    reference = EnumeratedTrees(row.model, row.model.specify(row.X, row.Y))
    for x in row.X[1:]:
        outputs = list(reference.outputs(x))
        counts = [Counter(all_features(reference, x, y)) for y in outputs]
        keys = sorted(set().union(*counts), key=str)
        expected = np.array([[count[key] - counts[0][key] for key in keys] for count in counts])
        wide, narrow = (differences(*pair, x, outputs) for pair in zip(models, specs, strict=True))
        assert np.array_equal(columns(expected), columns(wide[:, np.unique(wide.indices)].toarray()))
        # A place among few is where a place among many lies.
        folded = np.zeros(narrow.shape)
        wide = wide.tocoo()
        group, place = np.divmod(wide.col, many)
        # Of labels, both weights of a feature stand side by side.
        within = np.where(group == 1, place // 2 // (many // few) * 2 + place % 2, place // (many // few))
        np.add.at(folded, (wide.row, group * few + within), wide.data)
        np.testing.assert_array_equal(folded, narrow.toarray())


def columns(matrix):
    """Those that are not zero, in an order of their own."""
    return np.array(sorted(matrix.T[matrix.any(axis=0)].tolist()))


@pytest.mark.parametrize("options", KINDS)
def test_one_weight_for_all_features_is_enough_to_train(options):
    row = dependency_tree(np.random.default_rng(2), **options)
    parser = StructuralSVM(DependencyTree(n_hashed=1, **options)).fit(row.X, row.Y)
    # Labels have one each.
    assert len(parser.w_) == 1 + 2 + (options.get("order") == 2)
    assert all(map(len, parser.predict(row.X)))
    names = [block.names(0)[0] for block in parser.model_.named_weights(parser.spec_, parser.w_)]
    assert set(names) == {"hashed feature 0"}


@pytest.mark.parametrize("options", KINDS)
def test_what_is_allowed_holds_in_all_that_is_told(options):
    crf, row = fitted(ConditionalRandomField, **options)
    random_weights(crf)
    x = row.X[2]
    said = [[(2, None), None, (None, "b")]]
    for y in (
        crf.predict([x], allowed=said)[0],
        crf.predict([x], posterior=True, allowed=said)[0],
        *(y for y, _ in crf.k_best([x], 50, allowed=said)[0]),
        *crf.sample([x], 20, random_state=0, allowed=said)[0],
    ):
        assert (y[0][0], y[2][1]) == (2, "b")
    (P,) = crf.predict_marginals([x], allowed=said)
    np.testing.assert_allclose(P.sum(axis=(0, 2)), [0, 1, 1, 1])
    assert P[2, 1].sum() == pytest.approx(1.0)
    assert P[:, 3, 1].sum() == pytest.approx(1.0)
    assert P[:, 3, 0].sum() == 0.0
    assert crf.predict([x], allowed=[None]) == crf.predict([x]) == crf.predict([x], allowed=[[None] * 3])


@pytest.mark.parametrize(
    ("said", "told"),
    [
        (3, "allowed is 3"),
        ([], "X has 1 sentences but allowed has 0"),
        ([[None]], r"allowed\[0\] has 1 entries but X\[0\] has 3 tokens"),
        ([[0, 0, None]], r"allowed\[0\] is no tree: token 2 has the head 0, as token 1 has"),
        ([[2, 1, None]], r"allowed\[0\] is no tree: token 1 is in the cycle"),
        ([[None, (None, "q"), None]], r"allowed\[0\]\[1\] is 'q', which is not among the 2 classes"),
        ([[3, 0, None]], r"allowed\[0\]: no tree without crossing arcs of X\[0\] has these heads"),
    ],
)
def test_what_cannot_be_allowed_is_refused(said, told):
    parser, row = fitted()
    with pytest.raises(ValueError, match=told):
        parser.predict(row.X[2:3], allowed=said)


def test_a_truth_that_is_not_allowed_is_named():
    crf, row = fitted(ConditionalRandomField)
    spec, said = crf.spec_, [None, None, [(3, None), None, None], None]
    with pytest.raises(ValueError, match=r"Y\[2\] has another head or label of token 1 than allowed\[2\]"):
        row.model.bind(spec, row.X, row.Y, allowed=said)
    judged = row.model.bind(spec, row.X, row.Y, allow_unknown=True, allowed=said)
    assert np.isneginf(judged.log_probabilities(crf.w_)).tolist() == [False, False, True, False]


@pytest.mark.parametrize("options", KINDS)
def test_probabilities_of_trees_add_up_and_the_most_probable_arcs_make_a_tree(options):
    crf, row = fitted(ConditionalRandomField, **options)
    random_weights(crf)
    reference = EnumeratedTrees(row.model, crf.spec_)
    for x in row.X:
        outputs = list(reference.outputs(x))
        logs = crf.predict_log_proba([x] * len(outputs), outputs)
        assert np.exp(logs).sum() == pytest.approx(1.0)
        assert crf.entropy([x])[0] == pytest.approx(-np.exp(logs) @ logs)
        best = crf.k_best([x], len(outputs) + 1)[0]
        assert [log for _, log in best] == pytest.approx(sorted(logs, reverse=True))
        (P,) = crf.predict_marginals([x])

        def right(y, P=P):
            return sum(P[head, token, "ab".index(label)] for token, (head, label) in enumerate(y, 1))

        found = crf.predict([x], posterior=True)[0]
        assert found in outputs
        assert right(found) == pytest.approx(max(map(right, outputs)))
