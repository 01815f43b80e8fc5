"""Images of which some pixels are labelled."""

import re

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import structlearn
from structlearn import ConditionalRandomField, LatentConditionalRandomField, LatentStructuralSVM, StructuralSVM
from structlearn.data.images import read_label_images
from structlearn.datasets import make_stripes
from structlearn.evaluation import evaluate
from structlearn.losses import LabelCosts
from structlearn.models import Graph, Grid
from structlearn.models.grid.partial import PartialGridProblem
from structlearn.waist import Scaling
from structlearn.waist.objective import MarginObjective
from tests.estimators.test_checkpoint import StopAt
from tests.models.grid.enumerated_grid import EnumeratedGrid, networks
from tests.models.grid.test_likelihoods import OPTIONS, images, restricted

MARGIN = Scaling("margin", "linear")


def known(random, Y, share):
    """The labels of some pixels, None for the others."""
    return [np.where(random.uniform(size=y.shape) < share, y.astype(object), None) for y in Y]


@settings(max_examples=40)
@given(
    seed=st.integers(0, 2**32),
    options=st.sampled_from(OPTIONS),
    engine=st.sampled_from(["auto", "branch_and_bound"]),
    costs=st.booleans(),
)
def test_oracles_agree_with_enumeration(seed, options, engine, costs):
    random = np.random.default_rng(seed)
    X, Y = images(random, 2, ((2, 3), (1, 2)))
    said = restricted(random, Y, 2)
    loss = LabelCosts({(0, 1): 2.0, (1, 0): 0.5}) if costs else "hamming"
    cost = np.array([[0.0, 2.0], [0.5, 0.0]]) if costs else 1.0 - np.eye(2)
    model = Grid(classes=[0, 1], engine=engine, loss=loss, **options)
    spec = model.specify_partial(X, said)
    problem = model.bind_partial(spec, X, said)
    assert isinstance(problem, PartialGridProblem) == (engine != "auto" and options["pairwise"] is not None)
    w = random.normal(size=problem.n_features)
    reference = EnumeratedGrid(2, model.pairwise, model.neighbours, model.directions, spec.contrast)
    planes, completed = problem.oracle(w, np.arange(2), MARGIN), problem.complete(w, np.arange(2))
    for i, x in enumerate(X):
        may = [{0, 1} if s is None else s for s in said[i].ravel()]
        scores, losses, true = {}, {}, []
        for y in reference.outputs(x):
            scores[y] = w @ reference.joint_feature(x, y)
            losses[y] = sum(min(cost[t, label] for t in s) for s, label in zip(may, y, strict=True))
            true += [y] if all(label in s for s, label in zip(may, y, strict=True)) else []
        best = max(scores[y] for y in true)
        assert planes.bounds[i] == pytest.approx(max(scores[y] + losses[y] for y in scores) - best, abs=1e-7)
        found = tuple(np.ravel(planes.outputs[i]).tolist())
        assert planes.losses[i] == pytest.approx(losses[found])
        assert planes.rows.dot(w)[i] == pytest.approx(best - scores[found], abs=1e-7)
        chosen = tuple(np.ravel(completed[i]).tolist())
        assert chosen in true
        assert scores[chosen] == pytest.approx(best, abs=1e-7)
        assert problem.max_losses()[i] == pytest.approx(max(losses.values()))


@pytest.mark.parametrize(
    "options", [OPTIONS[0], OPTIONS[2], *(pytest.param(OPTIONS[k], marks=pytest.mark.slow) for k in (1, 3))]
)
def test_the_objective_is_that_of_graphs(options):
    random = np.random.default_rng(0)
    X, Y = images(random, 3)
    said = known(random, Y, 0.6)
    listed = [y.ravel().tolist() for y in said]
    N = networks(Grid(**options), X)
    graph = LatentStructuralSVM(Graph(pairwise=options["pairwise"]), C=4.0, tol=1e-4).fit(N, listed)
    problem = graph.model_.bind_partial(graph.spec_, N, listed)
    objective = MarginObjective(np.ones(len(X)), 4.0)
    for engine in ("auto", "branch_and_bound"):
        svm = LatentStructuralSVM(Grid(engine=engine, **options), C=4.0, tol=1e-4).fit(X, said)
        # Ends differ where several completions are equally good; what is minimised does not.
        same = objective.primal(svm.w_, problem.violations(svm.w_, objective))
        assert svm.objective_ == pytest.approx(same, rel=1e-6)
        svm.w_ = graph.w_
        assert svm.score(X, said) == pytest.approx(graph.score(N, listed))


def test_what_is_expected_at_random_is_what_all_labellings_have_in_the_mean():
    random = np.random.default_rng(2)
    for options in OPTIONS:
        X, Y = images(random, 2, ((2, 3), (2, 2)))
        said = restricted(random, Y, 2)
        model = Grid(classes=[0, 1], engine="icm", **options)
        if options["pairwise"] is None:
            continue
        spec = model.specify_partial(X, said)
        reference = EnumeratedGrid(2, model.pairwise, model.neighbours, model.directions, spec.contrast)
        for problem, may in ((model.bind(spec, X), None), (model.bind(spec, X, allowed=said), said)):
            expected = 0.0
            for i, x in enumerate(X):
                flags = [None] * x[..., 0].size if may is None else may[i].ravel()
                rows = [
                    reference.joint_feature(x, y)
                    for y in reference.outputs(x)
                    if all(s is None or label in s for s, label in zip(flags, y, strict=True))
                ]
                expected += np.mean(rows, axis=0)
            np.testing.assert_allclose(problem.feature_at_random(), expected, atol=1e-9)


def scribbled(share=0.15):
    data = make_stripes(8, noise=1.0, random_state=0)
    return list(data.X), list(data.Y), known(np.random.default_rng(0), data.Y, share)


@pytest.mark.slow
def test_scribbles_teach_almost_what_whole_images_do():
    X, Y, said = scribbled()
    options = {"nonnegative": "pairs", "C": 4.0}
    model = Grid(pairwise="potts")
    svm = LatentStructuralSVM(model, **options).fit(X[:4], said[:4])
    whole = StructuralSVM(model, **options).fit(X[:4], Y[:4])
    assert svm.converged_
    assert (svm.w_[-1:] >= 0.0).all()
    right = np.mean([(y == z).mean() for y, z in zip(svm.predict(X[4:]), Y[4:], strict=True)])
    assert right > whole.score(X[4:], Y[4:]) - 0.05
    # Only what is known counts.
    counted = [(y == z)[z != None].tolist() for y, z in zip(svm.predict(X[4:]), said[4:], strict=True)]  # noqa: E711
    assert svm.score(X[4:], said[4:]) == pytest.approx(np.mean(np.concatenate(counted)))
    for y, z in zip(svm.complete(X, said), said, strict=True):
        assert (y[z != None] == z[z != None]).all()  # noqa: E711


@pytest.mark.parametrize("engine", ["auto", "icm", "junction_tree"])
def test_known_labels_are_kept_in_predictions(engine):
    X, Y, said = scribbled()
    X, Y, said = ([x[:3, :4] for x in each] for each in (X, Y, said))
    svm = StructuralSVM(Grid(engine=engine), max_iter=20, tol=0.5).fit(X, Y)
    said[0] = None
    free, kept = svm.predict(X), svm.predict(X, allowed=said)
    np.testing.assert_array_equal(free[0], kept[0])
    for y, z in zip(kept[1:], said[1:], strict=True):
        assert y.shape == (3, 4)
        assert (y[z != None] == z[z != None]).all()  # noqa: E711


def test_ways_to_say_that_nothing_is_known():
    image = [np.zeros((2, 2, 1))]
    numbers = np.array([[0.0, np.nan], [2.0, 0.0]])
    masked = np.ma.array([[0, 255], [2, 0]], mask=[[False, True], [False, False]])
    found = [read_label_images([y], image) for y in ([[0, None], [2, 0]], numbers, masked, [[0, {0, 2}], [[2], 0]])]
    for each in found:
        assert each.classes == (0, 2)
        np.testing.assert_array_equal(
            each.possible((0, 2))[each.kinds[0]], [[[True, False], [True, True]], [[False, True], [True, False]]]
        )
    assert [type(label) for label in found[2].classes] == [int, int]


IMAGE = np.zeros((2, 2, 1))


@pytest.mark.parametrize(
    ("Y", "message"),
    [
        ([None, None], "Y says nothing about any pixel of 2 images; training needs some labels"),
        ([np.full((2, 2), np.nan)] * 2, "Y says nothing about any pixel of 2 images"),
        ([[[0, 1], [0, None]]], "X has 2 images but Y has 1"),
        ([None, [[0, 1, 1], [0, None, 1]]], "Y[1] has shape (2, 3) but X[1] has (2, 2) pixels"),
        ([None, [0, 1]], "Y[1] has 1 dimensions"),
        ([None, 7], "Y[1] is 7; expected (n_rows, n_columns) labels"),
        ([None, [[0, 1], [{}, 1]]], "Y[1][1, 0] is {}"),
        ([[[0, 1], [0, 1]], [[0, 1], [set(), 1]]], "Y[1][1, 0] is frozenset(): no label is left"),
    ],
)
@pytest.mark.parametrize("engine", ["auto", "icm"])
def test_bad_partial_labels_are_refused_by_name(Y, message, engine):
    with pytest.raises(ValueError, match=re.escape(message)):
        LatentStructuralSVM(Grid(engine=engine)).fit([IMAGE, IMAGE], Y)


@pytest.mark.parametrize("engine", ["auto", "icm"])
def test_an_image_of_which_nothing_is_known_costs_nothing(engine):
    Y = [np.array([[0, 1], [0, 1]], object), None]
    model = Grid(engine=engine)
    problem = model.bind_partial(model.specify_partial([IMAGE, IMAGE], Y), [IMAGE, IMAGE], Y)
    planes = problem.oracle(np.linspace(-1.0, 1.0, problem.n_features), np.arange(2), MARGIN)
    assert planes.bounds[0] > 0.5
    assert planes.bounds[1] == pytest.approx(0.0)
    assert problem.max_losses().tolist() == [4.0, 0.0]


@pytest.mark.parametrize("engine", ["auto", "icm"])
def test_labels_that_cannot_be_are_named(engine):
    Y = [np.array([[0, 1], [0, 1]])]
    svm = StructuralSVM(Grid(engine=engine), max_iter=5, tol=0.5).fit([IMAGE], Y)
    with pytest.raises(ValueError, match=r"allowed\[0\]\[1, 0\] is 7, but 7 is not one of the labels"):
        svm.predict([IMAGE], allowed=[[[None, None], [7, None]]])
    with pytest.raises(ValueError, match=r"Y\[0\]\[0, 1\] is 1, which is not allowed there"):
        StructuralSVM(Grid(engine=engine)).fit([IMAGE], Y, allowed=[[[None, 0], [None, None]]])
    latent = LatentStructuralSVM(Grid(engine=engine), init=[[[0, 0], [0, 1]]])
    with pytest.raises(ValueError, match=r"Y\[0\]\[0, 1\] is 0, which is not allowed there"):
        latent.fit([IMAGE], [[[0, 1], [None, None]]])
    latent = LatentStructuralSVM(Grid(engine=engine), max_iter=5).fit([IMAGE], [[[0, 1], [None, None]]])
    # Where predictions are judged, a label that training never saw is wrong whatever is predicted.
    assert latent.score([IMAGE], [[[7, None], [None, None]]]) == 0.0
    with pytest.raises(ValueError, match=r"Y\[0\]\[0, 0\] is 7"):
        latent.complete([IMAGE], [[[7, None], [None, None]]])


def test_sums_over_what_is_not_known_need_trees():
    X, _, said = scribbled()
    with pytest.raises(ValueError, match="engine='junction_tree' takes tables of up to 200 MB an image, or use Latent"):
        LatentConditionalRandomField(Grid()).fit(X, said)
    with pytest.raises(ValueError, match="likelihood='pseudo' needs whole truths"):
        LatentConditionalRandomField(Grid(likelihood="pseudo")).fit(X, said)
    X, said = [x[:3, :5] for x in X], [y[:3, :5] for y in said]
    crf = LatentConditionalRandomField(Grid(pairwise="potts"), C=5.0).fit(X, said)
    N, listed = networks(crf.model, X), [y.ravel().tolist() for y in said]
    graph = LatentConditionalRandomField(Graph(pairwise="potts"), C=5.0).fit(N, listed)
    assert crf.objective_ == pytest.approx(graph.objective_, rel=1e-6)
    np.testing.assert_allclose(crf.predict_log_proba(X, said), graph.predict_log_proba(N, listed), atol=1e-5)


def test_whole_truths_beside_what_is_allowed_go_into_likelihoods():
    X, Y, said = scribbled(0.5)
    for likelihood in ("pseudo", "piecewise"):
        model = Grid(pairwise="potts", likelihood=likelihood)
        free, restricted = (
            ConditionalRandomField(model, C=5.0).fit(X[:2], Y[:2], allowed=allowed) for allowed in (None, said[:2])
        )
        assert restricted.objective_ < free.objective_


@pytest.mark.parametrize("engine", ["auto", pytest.param("alpha_expansion", marks=pytest.mark.slow)])
def test_runs_go_on_from_checkpoints_and_files(engine, tmp_path):
    X, _, said = scribbled()
    X, said = [x[:, :4] for x in X], [y[:, :4] for y in said]
    options = {"model": Grid(engine=engine), "C": 4.0, "random_state": 0}
    whole = LatentStructuralSVM(**options).fit(X, said)
    path = tmp_path / "state"
    LatentStructuralSVM(**options).set_callbacks(StopAt(2)).fit(X, said, checkpoint=path)
    assert path.exists()
    again = LatentStructuralSVM(**options).fit(X, said, checkpoint=path)
    np.testing.assert_array_equal(again.w_, whole.w_)
    whole.save(tmp_path / "model.slm")
    loaded = structlearn.load(tmp_path / "model.slm")
    assert all((a == b).all() for a, b in zip(loaded.predict(X), whole.predict(X), strict=True))


@pytest.mark.parametrize("engine", ["auto", "alpha_expansion"])
def test_evaluation_counts_what_is_known(engine):
    X, Y, said = scribbled(0.3)
    svm = LatentStructuralSVM(Grid(engine=engine), tol=0.1).fit(X[:4], said[:4])
    said[4][0, :2] = {0, 1}, {0, 1}
    found = evaluate(svm, X[4:], said[4:])
    right, counted = 0, 0
    for y, z in zip(svm.predict(X[4:]), said[4:], strict=True):
        for label, entry in zip(y.ravel().tolist(), z.ravel().tolist(), strict=True):
            counted += entry is not None
            right += label in entry if isinstance(entry, set) else label == entry
    assert found.scores["pixel_accuracy"].estimate == pytest.approx(right / counted)
    assert evaluate(svm, X[4:5], Y[4:5]).loss.estimate == (svm.predict(X[4:5])[0] != Y[4]).sum()
