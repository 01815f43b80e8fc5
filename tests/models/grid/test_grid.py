import re

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.exceptions import ConvergenceWarning

import structlearn
from structlearn import StructuralSVM
from structlearn.datasets import make_stripes
from structlearn.losses import LabelCosts
from structlearn.models import Grid
from structlearn.models.grid.neighbours import Neighbours, contrast_scale
from structlearn.waist import Scaling
from tests.models.enumerated import bound
from tests.models.grid.enumerated_grid import EnumeratedGrid

MARGIN = Scaling("margin", "linear")


def stripes(n, noise):
    data = make_stripes(n, noise, random_state=0)
    return list(data.X), list(data.Y)


@st.composite
def instances(draw):
    random = np.random.default_rng(draw(st.integers(0, 2**32)))
    L = draw(st.integers(1, 3))
    shape = draw(st.sampled_from([(1, 1), (1, 3), (2, 2), (3, 1), (2, 3)]))
    options = {
        "pairwise": draw(st.sampled_from(["free", "symmetric", "potts", None])),
        "neighbours": draw(st.sampled_from([4, 8])),
        "directions": draw(st.booleans()),
        "contrast": draw(st.booleans()),
    }
    image = random.normal(size=(*shape, 2))
    truth = random.integers(L, size=shape)
    return random, L, options, image, truth


@settings(max_examples=60)
@given(instances())
def test_oracles_agree_with_enumeration(instance):
    random, L, options, image, truth = instance
    model = Grid(classes=list(range(L)), engine="branch_and_bound", **options)
    problem = bound(model, [image], [truth])
    beta = contrast_scale([image], options["neighbours"]) if options["contrast"] else None
    reference = EnumeratedGrid(L, options["pairwise"], options["neighbours"], options["directions"], beta)
    w = random.normal(size=problem.n_features)
    planes = problem.oracle(w, np.arange(1), MARGIN)
    flat = tuple(truth.ravel().tolist())
    psi = reference.joint_feature(image, flat)
    violations = {
        y: reference.loss(flat, y) - w @ (psi - reference.joint_feature(image, y)) for y in reference.outputs(image)
    }
    assert planes.bounds[0] == pytest.approx(max(violations.values()), abs=1e-7)
    found = tuple(np.asarray(planes.outputs[0]).ravel().tolist())
    assert violations[found] == pytest.approx(planes.bounds[0], abs=1e-7)
    assert planes.losses[0] == reference.loss(flat, found)
    assert planes.rows.dot(w) == pytest.approx([w @ (psi - reference.joint_feature(image, found))], abs=1e-9)
    best = tuple(problem.best(w, np.arange(1))[0].ravel().tolist())
    scores = [w @ reference.joint_feature(image, y) for y in reference.outputs(image)]
    assert w @ reference.joint_feature(image, best) == pytest.approx(max(scores), abs=1e-7)


def test_cuts_and_lists_of_edges_find_the_same():
    random = np.random.default_rng(0)
    images = [random.normal(size=(6, 7, 2)) for _ in range(3)]
    truths = [random.integers(2, size=(6, 7)) for _ in images]
    for options in ({}, {"contrast": True, "directions": True, "neighbours": 8}):
        grid, listed = (
            bound(Grid(pairwise="potts", engine=engine, **options), images, truths)
            for engine in ("graph_cut", "branch_and_bound")
        )
        w = np.abs(random.normal(size=grid.n_features))
        bounds = [problem.oracle(w, np.arange(3), MARGIN).bounds for problem in (grid, listed)]
        assert bounds[0] == pytest.approx(bounds[1])


def test_stripes_are_learnt_where_single_pixels_are_not():
    X, Y = stripes(12, 1.0)
    alone, together = (
        StructuralSVM(Grid(pairwise=form), C=20.0).fit(X[:6], Y[:6]).score(X[6:], Y[6:]) for form in (None, "symmetric")
    )
    assert together > alone + 0.2


def test_pixels_on_their_own_need_no_engine(monkeypatch):
    data = make_stripes(4, noise=0.5, n_rows=4, n_columns=6, random_state=0)
    X, Y = list(data.X), list(data.Y)
    monkeypatch.setattr("structlearn.models.graph.search.best_labelling", None)
    svm = StructuralSVM(Grid(pairwise=None, engine="icm"), C=4, tol=1e-3).fit(X, Y)
    assert svm.duality_gap_ <= 1e-3
    by_hand = np.argmax(data.X @ svm.w_.reshape(3, 3), axis=3)
    assert np.array_equal(svm.predict(X), by_hand)


def test_the_gap_is_that_of_bounds():
    X, Y = stripes(4, 0.5)
    svm = StructuralSVM(Grid(), C=4.0, tol=1e-3).fit(X, Y)
    assert svm.duality_gap_ <= 1e-3
    with pytest.warns(ConvergenceWarning):
        greedy = StructuralSVM(Grid(engine="alpha_expansion"), C=4.0, max_iter=20).fit(X, Y)
    assert np.isnan(greedy.duality_gap_)
    assert greedy.history_[-1]["dual"] <= svm.objective_ * (1.0 + 1e-6)
    assert greedy.score(X, Y) > svm.score(X, Y) - 0.05


def test_images_of_different_sizes_labels_by_name_and_files(tmp_path):
    random = np.random.default_rng(0)
    X = [random.normal(size=shape) for shape in ((3, 4), (5, 2), (1, 1))]
    Y = [np.where(x > 0.0, "sky", "sea") for x in X]
    model = Grid(pairwise="potts", contrast=True, loss=LabelCosts({("sky", "sea"): 2.0}))
    svm = StructuralSVM(model, nonnegative="pairs", fit_intercept=True).fit(X, Y)
    svm.save(tmp_path / "grid.slm")
    again = structlearn.load(tmp_path / "grid.slm")
    for x, found in zip(X, svm.predict(X), strict=True):
        assert found.shape == x.shape
        assert found.dtype.kind == "U"
    assert all((a == b).all() for a, b in zip(svm.predict(X), again.predict(X), strict=True))
    assert [block.weights.shape for block in again.model_.named_weights(again.spec_, again.w_)] == [(2, 2), (1, 2, 1)]
    assert (svm.w_[-2:] >= 0.0).all()


def test_features_of_a_pair_fall_with_contrast():
    image = np.array([[[0.0], [1.0], [1.0]]])
    assert contrast_scale([image], 4) == 1.0
    found = Neighbours(4, False, 1.0).features(image, 0)
    np.testing.assert_allclose(found[0], [[1.0, np.exp(-1.0)], [1.0, 1.0]])


IMAGE = np.zeros((2, 2, 1))


@pytest.mark.parametrize(
    ("X", "Y", "message"),
    [
        ([], [], "X is empty"),
        (3, [[[0]]], "X is 3"),
        ([np.zeros(3)], [np.zeros(3, int)], "X[0] has shape (3,)"),
        ([np.zeros((0, 2, 1))], [np.zeros((0, 2), int)], "none of them 0"),
        ([IMAGE * np.nan], [np.zeros((2, 2), int)], "X[0][0, 0, 0] is nan"),
        ([IMAGE, np.zeros((2, 2, 2))], [np.zeros((2, 2), int)] * 2, "X[1] has 2 channels but X[0] has 1"),
        ([IMAGE], [np.zeros((2, 3), int)], "Y[0] has shape (2, 3) but X[0] has (2, 2) pixels"),
        ([IMAGE], [np.zeros(4, int)], "Y[0] has 1 dimensions"),
        ([IMAGE], np.zeros((2, 2), int), "put the labels of one image into a list, [labels]"),
        (IMAGE[:, :, 0], [np.zeros((2, 2), int)], "X has shape (2, 2); expected a list of images"),
        ([IMAGE, IMAGE], [np.zeros((2, 2), int)], "X has 2 images but Y has 1"),
    ],
)
def test_bad_images_are_refused_by_name(X, Y, message):
    with pytest.raises(ValueError, match=re.escape(message)):
        StructuralSVM(Grid()).fit(X, Y)


def test_one_image_without_a_list_is_told_of():
    image = np.zeros((4, 5, 3))
    svm = StructuralSVM(Grid()).fit([image], [np.eye(4, 5, dtype=int)])
    with pytest.raises(ValueError, match=r"put one image into a list, \[image\]"):
        svm.predict(image)
    with pytest.raises(ValueError, match=r"X has 2 channels but training had 3$"):
        svm.predict([np.zeros((4, 5, 2))])


def test_labels_that_training_never_saw_are_named():
    svm = StructuralSVM(Grid()).fit([IMAGE], [np.array([[0, 1], [0, 1]])])
    with pytest.raises(ValueError, match=r"Y\[0\]\[1, 1\] is 7"):
        svm.model_.bind(svm.spec_, [IMAGE], [np.array([[0, 1], [0, 7]])])
    with pytest.raises(ValueError, match=r"Y\[0\]\[0, 1\] is None: labels that are known in part"):
        StructuralSVM(Grid()).fit([IMAGE], [np.array([[0, None], [0, 1]])])
    with pytest.raises(ValueError, match="loss is 'f1'"):
        StructuralSVM(Grid(loss="f1")).fit([IMAGE], [np.array([[0, 1], [0, 1]])])
