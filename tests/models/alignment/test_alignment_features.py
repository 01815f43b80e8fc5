"""The features of annotated sequences, against the definition; and what Yu (2011) counts."""

from itertools import product

import numpy as np
import pytest

from structlearn.models import Alignment
from structlearn.models.alignment.features import AlignmentSpec
from tests.models import sums
from tests.models.alignment.enumerated_alignment import EnumeratedAlignment
from tests.models.alignment.test_alignment import codes_of
from tests.models.enumerated import Twins, bound

RESIDUES, STRUCTURES, AREAS = "ACDX", "HEC", (0, 1, 2)
GROUPS = ["AGPST", "C", "DENQ", "FWY", "HKR", "ILMV"]


def annotated(random, length, structure=True, accessibility=True):
    found = {"residue": "".join(random.choice(list(RESIDUES), length))}
    if structure:
        found["structure"] = "".join(random.choice(list(STRUCTURES), length))
    if accessibility:
        found["accessibility"] = random.integers(3, size=length)
    return found | {"profile": random.random((length, 3))}


def symbols(sequence, i):
    given = {"residue": RESIDUES, "structure": tuple(sorted(STRUCTURES)), "accessibility": AREAS}
    return [(given[name].index(sequence[name][i]), len(given[name])) for name in given if name in sequence]


def code(parts):
    value = 0
    for part, size in parts:
        value = value * size + part
    return value, int(np.prod([size for _, size in parts]))


def window(sequence, i, name):
    reach = {"residue": 1, "structure": 2, "accessibility": 3}[name]
    parts = []
    for place in range(i - reach, i + reach + 1):
        inside = 0 <= place < len(sequence["residue"])
        symbol = sequence[name][place] if inside else None
        if name == "residue":
            group = next((k for k, g in enumerate(GROUPS) if inside and symbol in g), 6)
            parts.append((group, 7))
        elif name == "structure":
            parts.append(("HE".index(symbol) if inside and symbol in "HE" else 2, 3))
        else:
            # Of three bins the second and the third are exposed.
            parts.append((1 if not inside else int(2 * symbol >= 3), 2))
    return code(parts)


def dense(sequence, i, features):
    one_hot = [np.eye(size)[part] for part, size in symbols(sequence, i)] * (features == "profile")
    return np.concatenate([*one_hot, sequence["profile"][i]])


def reference(features, gap_features, gaps, x, **options):
    """The same features by the words of the documentation; `x` is any pair, for the sizes."""

    def blocks(s, i, t, j):
        own, other = symbols(s, i), symbols(t, j)
        pairs = [
            [(a, b) for k, a in enumerate(own) for b in own[k + 1 :]],
            [(a, b) for k, a in enumerate(other) for b in other[k + 1 :]],
        ]
        simple = [([a], [b]) for a, b in product(own, other)]
        anova2 = [(list(a), list(b)) for a, b in product(*pairs)]
        tensor = [(own, other)]
        names = [name for name in ("residue", "structure", "accessibility") if name in s and name in t]
        windows = [(window(s, i, name), window(t, j, name)) for name in names]
        chosen = {
            "substitution": simple[:1],
            "simple": simple,
            "anova2": anova2,
            "tensor": tensor,
            "sum": simple + anova2 + tensor,
            "window": simple + anova2 + tensor,
            "profile": anova2 + tensor,
            "products": simple,
        }[features]
        found = [(code(a), code(b)) for a, b in chosen]
        return found + windows * (features in ("window", "profile"))

    def match(s, i, t, j):
        at, found = 0, []
        for (a, a_size), (b, b_size) in blocks(s, i, t, j):
            found.append((at + a * b_size + b, 1.0))
            at += a_size * b_size
        if features in ("profile", "products"):
            outer = np.outer(dense(s, i, features), dense(t, j, features)).ravel()
            found += list(zip(at + np.arange(len(outer)), outer, strict=True))
            at += len(outer)
        return found, at

    n_matches = match(x[0], 0, x[1], 0)[1]

    def border(sequence, j):
        sizes = code(symbols(sequence, 0)[1:])[1]
        left, right = (
            code(symbols(sequence, place)[1:])[0] if 0 <= place < len(sequence["residue"]) else sizes
            for place in (j - 1, j)
        )
        return left * (sizes + 1) + right, (sizes + 1) ** 2

    def one_gap(own, i, other, j):
        if gap_features == "plain":
            return [(0, 1)]
        found = [code(symbols(own, i)[:1])]
        if len(symbols(own, i)) > 1:
            found.append(code(symbols(own, i)[1:]))
        return found + [border(other, j)] * (len(symbols(other, 0)) > 1)

    width = [sum(size for _, size in one_gap(x[k], 0, x[1 - k], 0)) for k in (0, 1)]
    block = 1 if gap_features == "plain" else sum(width)

    def gap(own, i, other, j, deletion, first):
        found = []
        for opening in range(1 + (first and gaps == "affine")):
            at = n_matches + opening * block + (0 if deletion or gap_features == "plain" else width[0])
            for value, size in one_gap(own, i, other, j):
                found.append((at + value, 1.0))
                at += size
        return found

    n_features = n_matches + block * (1 + (gaps == "affine"))
    return EnumeratedAlignment(n_features, lambda *a: match(*a)[0], gap, **options)


class Lengths(dict):
    """A sequence whose length is the number of its letters, for the enumeration."""

    def __len__(self):
        return len(self["residue"])


@pytest.mark.parametrize(
    "features", ["substitution", "simple", "anova2", "tensor", "sum", "window", "profile", "products"]
)
@pytest.mark.parametrize(
    ("gap_features", "gaps", "ends"),
    [("plain", "affine", "local"), ("context", "affine", "global"), ("context", "linear", "semiglobal")],
)
def test_features_are_those_of_the_definition(features, gap_features, gaps, ends):
    random = np.random.default_rng(0)
    X = [(annotated(random, 3), annotated(random, 2)), (annotated(random, 2), annotated(random, 3))]
    # All symbols occur, so that their codes are known.
    everything = {"residue": "ACDXACDXA", "structure": "HECHECHEC", "accessibility": np.arange(9) % 3}
    everything["profile"] = np.zeros((9, 3))
    model = Alignment(RESIDUES, features=features, gap_features=gap_features, gaps=gaps, ends=ends)
    spec = model.specify([(everything, everything)], None)
    listed = [tuple(map(Lengths, x)) for x in X]
    twin = reference(features, gap_features, gaps, listed[0], ends=ends)
    Y = [((0, 0), (2, 1)), ((1, 0),)]
    twins = Twins(model.bind(spec, X, Y), twin, listed, Y)
    assert twins.problem.n_features == twin.n_features
    for i, each in enumerate(twins.listed()):
        outputs = [codes_of(y, len(listed[i][0])) for y in each.outputs]
        rows, _ = twins.problem.differences(np.full(len(outputs), i), outputs)
        found = np.zeros((len(outputs), twins.problem.n_features))
        for k, row in enumerate(found):
            rows.take(np.array([k])).add_to(row, np.ones(1))
        np.testing.assert_allclose(found, each.rows, atol=1e-12)
    w = random.normal(size=twins.problem.n_features)
    sums.check_log_partitions(twins, w)
    sums.check_expected_features(twins, w)
    sums.check_truths(twins)


def test_the_numbers_of_features_are_those_of_the_thesis():
    spec = AlignmentSpec(
        residues=tuple(range(22)),
        structures=(tuple(range(3)), tuple(range(5))),
        accessibilities=(tuple(range(4)), tuple(range(7))),
        profile_sizes=(20, 20),
    )
    counts = {
        features: Alignment(features=features).layout(spec).n_features - 1
        for features in ("simple", "anova2", "tensor", "sum", "window", "profile")
    }
    # The thesis says 1,020 for Simple, 34 more than its own definition has, and so in the sums with it.
    assert counts == {
        "simple": 986,
        "anova2": 49634,
        "tensor": 203280,
        "sum": 253934 - 34,
        "window": 447016 - 34,
        "profile": 448642,
    }


def test_models_coincide_or_vanish_where_annotations_are_missing():
    bare = AlignmentSpec(tuple("ACDX"))
    pairs = {f: Alignment(features=f).layout(bare).pairs for f in ("substitution", "simple", "tensor", "sum")}
    assert len(set(pairs.values())) == 1
    with pytest.raises(
        ValueError, match="features='anova2' is about pairs of annotations, but the first sequences have residue"
    ):
        Alignment(features="anova2").layout(bare).n_features  # noqa: B018
    with_structure = AlignmentSpec(tuple("ACDX"), structures=(tuple("HEC"), tuple("HEC")))
    same = {f: Alignment(features=f).layout(with_structure).pairs for f in ("anova2", "tensor")}
    assert same["anova2"] == same["tensor"]


@pytest.mark.parametrize(
    ("x", "message"),
    [
        (("AJ", "A"), r"X\[0\]\[0\] has the letter 'J' at 1, which is not among A C D X"),
        (("A", ""), r"X\[0\]\[1\] is an empty sequence"),
        (("A",), r"X\[0\] is no pair of sequences"),
        ("AC", r"X\[0\] is no pair of sequences"),
        (({"residue": "AC", "structure": "H"}, "A"), r"X\[0\]\[0\] has 1 values of 'structure' but 2 letters"),
        (({"residue": "A", "colour": "r"}, "A"), r"X\[0\]\[0\] has the annotation 'colour'"),
        (({"structure": "H"}, "A"), r"X\[0\]\[0\] has no 'residue'"),
        (({"residue": "A", "profile": [1.0]}, "A"), r"X\[0\]\[0\] has a profile of 1 dimensions"),
    ],
)
def test_sequences_that_are_none_are_refused_by_name(x, message):
    with pytest.raises(ValueError, match=message):
        bound(Alignment(RESIDUES), [x], [()])


def test_an_annotation_that_training_had_is_asked_for():
    model = Alignment(RESIDUES, features="simple")
    spec = model.specify([({"residue": "A", "structure": "H"}, "C")], None)
    assert (spec.structures, spec.accessibilities) == ((("H",), None), (None, None))
    with pytest.raises(ValueError, match=r"X\[0\]\[0\] has no 'structure', which the model was trained with"):
        model.bind(spec, [("A", "C")])
    with pytest.raises(ValueError, match="features='profile' needs a 'profile' in every sequence"):
        Alignment(features="profile").specify([("A", "C")], None)
