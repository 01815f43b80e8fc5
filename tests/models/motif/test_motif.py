import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV

import structlearn
from structlearn import LatentStructuralSVM
from structlearn.data import Site, base_counts
from structlearn.datasets import make_motifs
from structlearn.models import Motif
from structlearn.models.own.python_latent_model import PythonLatentProblem
from structlearn.solvers import BlockCoordinate
from structlearn.waist import MarginObjective, Scaling
from tests.models.enumerated import bound
from tests.models.motif.enumerated_motif import EnumeratedMotif

SCALINGS = [Scaling("margin", "linear"), Scaling("slack", "linear"), Scaling("margin", "squared")]


@st.composite
def instances(draw):
    widths = tuple(draw(st.lists(st.integers(1, 6), min_size=1, max_size=2, unique=True)))
    order, both_strands = draw(st.integers(0, 3)), draw(st.booleans())
    enumerated = EnumeratedMotif(widths, order, both_strands)
    X = draw(st.lists(st.text("ACGTN", max_size=12), min_size=1, max_size=5))
    Y = [draw(st.integers(0, 1)) if enumerated.completions(x, 1) else 0 for x in X]
    random = np.random.default_rng(draw(st.integers(0, 1000)))
    # Weights on a coarse grid give ties, which may be broken either way.
    w = (
        random.normal(size=enumerated.n_features)
        if draw(st.booleans())
        else random.integers(-1, 2, enumerated.n_features)
    )
    # Both labels have to be there; a short negative is.
    X, Y = [*X, "A" * widths[0], ""], [*Y, 1, 0]
    problem = bound(Motif(widths, order, both_strands), X, Y)
    return enumerated, PythonLatentProblem(enumerated, enumerated.n_features, X, Y), problem, X, Y, w.astype(float)


@settings(max_examples=50, deadline=None)
@given(instances())
def test_oracles_agree_with_enumeration(instance):
    enumerated, listed, problem, X, _, w = instance
    everything = np.arange(len(X))
    fixed = [one.completed(one.complete(w, everything)) for one in (listed, problem)]
    for left, right in [(listed, problem), fixed]:
        for scaling in SCALINGS:
            expected, found = (p.oracle(w, everything, scaling).bounds for p in (left, right))
            np.testing.assert_allclose(found, expected, atol=1e-9)
        expected, found = (p.true_margins(w, everything, p.best(w, everything)) for p in (left, right))
        np.testing.assert_allclose(found, expected, atol=1e-9)
    outputs = problem.predict(w)
    for i, (y, h) in enumerate(zip(problem.present(outputs), problem.present_latent(outputs), strict=True)):
        best = max(w @ enumerated.joint_feature(X[i], *pair) for pair in enumerated.outputs(X[i]))
        assert w @ enumerated.joint_feature(X[i], y, h) == pytest.approx(best)


@settings(max_examples=50, deadline=None)
@given(instances())
def test_completions_agree_with_enumeration(instance):
    enumerated, _, problem, X, Y, w = instance
    for i, h in enumerate(problem.present_latent(problem.complete(w, np.arange(len(X))))):
        best = max(w @ enumerated.joint_feature(X[i], Y[i], other) for other in enumerated.completions(X[i], Y[i]))
        assert w @ enumerated.joint_feature(X[i], Y[i], h) == pytest.approx(best)


@settings(max_examples=50, deadline=None)
@given(instances(), st.integers(0, 1000))
def test_rows_are_differences_of_features_and_radii_bound_them(instance, seed):
    enumerated, listed, problem, X, _, _ = instance
    everything, random = np.arange(len(X)), np.random.default_rng(seed)
    pairs = [[pairs[random.integers(len(pairs))] for pairs in map(enumerated.outputs, X)] for _ in range(2)]
    compact = [_compact(problem, chosen) for chosen in pairs]
    found, expected = problem.between(everything, *compact), listed.between(everything, *pairs)
    for name in ("indptr", "indices", "values"):
        np.testing.assert_array_equal(getattr(found, name), getattr(expected, name))
    lengths = [np.linalg.norm(found.values[found.indptr[i] : found.indptr[i + 1]]) for i in everything]
    assert np.all(lengths <= problem.radii() + 1e-9)
    np.testing.assert_array_equal(
        problem.output_losses(everything, compact[0]), listed.output_losses(everything, pairs[0])
    )


def _compact(problem, pairs):
    numbers = {width: number for number, width in enumerate(problem._widths)}
    return np.array([(-1, 0, 0) if y == 0 else (numbers[h[2]], h[1] == "-", h[0]) for y, h in pairs], np.int32)


@settings(max_examples=50, deadline=None)
@given(instances(), st.integers(0, 1000))
def test_random_completions_are_sites_and_can_be_given_back(instance, seed):
    enumerated, _, problem, X, Y, _ = instance
    outputs = problem.random_completions(np.random.default_rng(seed))
    latent = problem.present_latent(outputs)
    assert all(h in enumerated.completions(x, y) for h, x, y in zip(latent, X, Y, strict=True))
    np.testing.assert_array_equal(problem.completions_of(latent), outputs)


def test_random_completions_are_uniform_over_all_sites():
    problem = bound(Motif(2, both_strands=True), ["ACNGTT", ""], [1, 0])
    random = np.random.default_rng(0)
    drawn = [problem.present_latent(problem.random_completions(random))[0] for _ in range(3000)]
    share = {site: drawn.count(site) / 3000 for site in set(drawn)}
    assert set(share) == {Site(start, strand, 2) for start in (0, 3, 4) for strand in "+-"}
    assert all(abs(value - 1 / 6) < 0.03 for value in share.values())


@settings(max_examples=50, deadline=None)
@given(instances(), st.integers(0, 1000))
def test_the_start_has_a_site_in_every_positive_sequence(instance, seed):
    enumerated, _, problem, X, Y, _ = instance
    start = problem.start(np.random.default_rng(seed))
    latent = problem.present_latent(start.completions)
    assert all(h in enumerated.completions(x, y) for h, x, y in zip(latent, X, Y, strict=True))


def test_base_counts_are_those_of_the_letters_at_the_sites():
    problem = bound(Motif((2, 3), both_strands=True), ["ACGTT", "GGGAC", "AA"], [1, 1, 0])
    sites = [Site(1, "+", 2), Site(2, "-", 3), None]
    counts = problem._base_counts(np.arange(3), problem.completions_of(sites))
    np.testing.assert_array_equal(counts[:2], base_counts(["ACGTT"], [sites[0]]))
    np.testing.assert_array_equal(counts[2:], base_counts(["GGGAC"], [sites[1]]))


@pytest.mark.parametrize("both_strands", [False, True])
def test_the_start_finds_planted_sites_that_random_sites_miss(both_strands):
    data = make_motifs(200, width=11, length=200, substitutions=2, both_strands=both_strands, random_state=2)
    problem = bound(Motif(11, both_strands=both_strands), data.X, data.Y)

    def share(completions):
        found = problem.present_latent(completions)
        return np.mean([abs(h.start - s.start) <= 2 for h, s in zip(found, data.sites, strict=True) if s is not None])

    for seed in range(3):
        assert share(problem.start(np.random.default_rng(seed)).completions) > 0.5
        assert share(problem.random_completions(np.random.default_rng(seed))) < 0.1


def test_the_start_leads_to_a_lower_objective_than_random_sites():
    data = make_motifs(200, width=11, length=200, substitutions=2, random_state=2)
    ends = {
        init: LatentStructuralSVM(Motif(11), C=20, init=init, tol=0.01, random_state=0).fit(data.X, data.Y).objective_
        for init in ("model", "random")
    }
    assert ends["model"] < 0.5 * ends["random"]


@settings(max_examples=15, deadline=None)
@given(instances())
def test_the_convex_problem_has_the_same_minimum_as_the_enumerated_one(instance):
    _, listed, problem, X, _, _ = instance
    completions = problem.random_completions(np.random.default_rng(0))
    given = listed.completions_of(problem.present_latent(completions))
    objective, solver = MarginObjective(np.ones(len(X)), C=3.0), BlockCoordinate(tol=1e-6)
    ours = solver.run(problem.completed(completions), objective)
    theirs = solver.run(listed.completed(given), objective)
    assert ours.history[-1]["primal"] == pytest.approx(theirs.history[-1]["primal"], rel=1e-5)


@pytest.mark.parametrize("solver", ["block_coordinate", "one_slack", "n_slack"])
@pytest.mark.parametrize(("rescaling", "slack"), [("margin", "linear"), ("slack", "linear"), ("margin", "squared")])
def test_the_objective_never_rises_between_completions(solver, rescaling, slack):
    data = make_motifs(40, width=6, length=30, substitutions=1, random_state=0)
    svm = LatentStructuralSVM(Motif(6), C=40, solver=solver, rescaling=rescaling, slack=slack, random_state=0)
    svm.fit(data.X, data.Y)
    values = [r["primal"] for r in svm.history_]
    assert svm.history_[-1]["completion"] >= 2
    assert np.all(np.diff(values) <= 1e-9 * np.abs(values[:-1]))


def test_stationarity_is_reached():
    data = make_motifs(40, width=6, length=30, substitutions=1, random_state=0)
    svm = LatentStructuralSVM(Motif(6), C=40, random_state=0).fit(data.X, data.Y)
    assert svm.converged_
    assert svm.stationarity_ <= 1e-3
    assert svm.history_[-1]["completion"] > 0


def test_a_start_from_which_nothing_leads_down_is_the_end():
    svm = LatentStructuralSVM(Motif(1, 0), C=1e-6).fit(["AA", "AA"], [1, 0])
    assert svm.converged_
    assert svm.objective_ == pytest.approx(1e-6)


@pytest.mark.sample(2)
@pytest.mark.parametrize("both_strands", [False, True])
def test_planted_sites_are_found(both_strands):
    """200 sequences of 60 letters, half of them with a site of 11 letters of which one was changed."""
    data = make_motifs(200, width=11, length=60, substitutions=1, both_strands=both_strands, random_state=1)
    model = Motif(11, both_strands=both_strands)
    svm = LatentStructuralSVM(model, C=20, n_init=10, tol=0.01, solver="one_slack", random_state=0).fit(data.X, data.Y)
    found = svm.complete(data.X, data.Y)
    planted = [(h, site) for h, site in zip(found, data.sites, strict=True) if site is not None]
    if both_strands:
        # A pattern and its reverse complement tell the same sites.
        flipped = sum(h.strand != site.strand for h, site in planted) > len(planted) / 2
        planted = [(h._replace(strand="-+"[h.strand == "-"]) if flipped else h, site) for h, site in planted]
    assert np.mean([h == site for h, site in planted]) >= 0.95


def test_several_widths_compete():
    data = make_motifs(60, width=8, length=30, substitutions=0, random_state=0)
    svm = LatentStructuralSVM(Motif((4, 8)), C=60, n_init=5, random_state=0).fit(data.X, data.Y)
    widths = [site.width for site in svm.complete(data.X, data.Y) if site]
    assert np.mean(np.array(widths) == 8) > 0.9
    assert svm.model_.pattern(svm.w_, 4).shape == (4, 4)
    assert svm.model_.pattern(svm.w_, 8).shape == (8, 4)
    assert svm.model_.background(svm.w_).shape == (4, 4, 4, 4)
    with pytest.raises(ValueError, match="width is None; the model has patterns of width 4, 8"):
        svm.model_.pattern(svm.w_)


def test_the_width_can_be_searched():
    data = make_motifs(40, width=6, length=20, substitutions=0, random_state=0)
    search = GridSearchCV(LatentStructuralSVM(Motif(), C=40, random_state=0), {"model__width": [2, 6]}, cv=2)
    assert search.fit(data.X, data.Y).best_params_["model__width"] == 6


@pytest.mark.parametrize(
    ("Y", "positive", "expected"),
    [
        (["yes", "no"], "no", ("yes", "no")),
        (["yes", "no"], None, ("no", "yes")),
        ([-1, 1], None, (-1, 1)),
        ([True, False], None, (False, True)),
        (np.array([2.0, 1.0]), 1.0, (2.0, 1.0)),
    ],
)
def test_either_label_may_be_the_positive_one(Y, positive, expected):
    spec = Motif(2, positive=positive).specify(["ACGT", "AC"], Y)
    assert (spec.negative, spec.positive) == expected


def test_small_letters_and_uracil_are_bases_and_windows_with_other_letters_no_sites():
    model = Motif(2, 0)
    problem = bound(model, ["acguRYa", "AC"], [1, 0])
    assert problem.present_latent(problem.sites.of(0)) == [Site(0, "+", 2), Site(1, "+", 2), Site(2, "+", 2)]


def test_sequences_without_a_site_are_negative_and_refused_as_positive_in_training():
    X, Y = ["ACGTACGT", "TTTTTTTT", "ACG"], [1, 0, 0]
    svm = LatentStructuralSVM(Motif(4), C=10, random_state=0).fit(X, Y)
    assert svm.predict(["AC", "", "ANNNA"]).tolist() == [0, 0, 0]
    assert svm.predict_latent(["AC"]) == [None]
    assert svm.score(["AC"], [1]) == 0.0
    for init in ("random", np.zeros(4 * 4 + 256)):
        with pytest.raises(
            ValueError, match=r"Y\[2\] is 1, but X\[2\] has 3 letters and no site for a pattern of width 4"
        ):
            LatentStructuralSVM(Motif(4), C=10, init=init).fit(X, [1, 0, 1])


@pytest.mark.parametrize(
    ("model", "X", "Y", "message"),
    [
        (Motif(0), ["A", "C"], [0, 1], "width is 0; expected a whole number from 1 to 1000 or several"),
        (Motif((3, 3)), ["A", "C"], [0, 1], r"width is \(3, 3\); expected .* all different"),
        (Motif("11"), ["A", "C"], [0, 1], "width is '11'"),
        (Motif(1, 7), ["A", "C"], [0, 1], "background_order is 7; it must be a whole number from 0 to 6"),
        (Motif(1), ["A", "C", "G"], [0, 1, 2], r"Y has 3 different labels \(0, 1, 2\); two are needed"),
        (Motif(1), ["A", "C"], [1, 1], r"Y has 1 different labels \(1\); two are needed"),
        (Motif(1, positive=5), ["A", "C"], [0, 1], r"two are needed, one of them positive=5"),
        (Motif(1), ["A", "C-"], [0, 1], r"X\[1\] has '-' at 1, which is no letter of a sequence"),
        (Motif(1), ["A", "Cé"], [0, 1], r"X\[1\] has 'é' at 1, which is no letter of a sequence"),
        (Motif(1), ["A", "C", "G"], [0, 1], r"X has 3 sequences but Y has 2 labels"),
        (Motif(1), ["A", "C"], [[0], [1]], r"Y\[0\] is \[0\]; expected one label a sequence"),
        (Motif(1), [], [], "X is empty"),
    ],
)
def test_bad_input_is_named(model, X, Y, message):
    with pytest.raises(ValueError, match=message):
        LatentStructuralSVM(model, C=1).fit(X, Y)


@pytest.mark.parametrize("X", [[["A"], ["C"]], [1, 2]])
def test_sequences_are_strings(X):
    with pytest.raises(TypeError, match="expected a string of bases"):
        LatentStructuralSVM(Motif(1), C=1).fit(X, [0, 1])


def test_one_string_is_no_list_of_sequences():
    with pytest.raises(ValueError, match="X is 'ACGT'; a list or an array is needed"):
        LatentStructuralSVM(Motif(1), C=1).fit("ACGT", [0, 1, 0, 1])


@pytest.mark.parametrize(
    ("latent", "message"),
    [
        ([3, None], "the latent part 3 of example 0 is no site"),
        ([(0, "-"), None], r"the latent part \(0, '-'\) of example 0 is no site"),
        ([(0, "+", 5), None], "is no site"),
        ([None, None], r"Y\[0\] is 1, but its latent part is None, not a site"),
        ([0, 0], r"Y\[1\] is 0, but its latent part is 0, not None"),
    ],
)
def test_wrong_latent_variables_are_named(latent, message):
    with pytest.raises(ValueError, match=message):
        LatentStructuralSVM(Motif(2), C=1, init=latent).fit(["ACGT", "ACGT"], [1, 0])


def test_a_starting_place_is_enough_as_hidden_part():
    problem = bound(Motif(2), ["ACGT", "ACGT"], [1, 0])
    assert problem.present_latent(problem.completions_of([1, None])) == [Site(1, "+", 2), None]


def test_a_fitted_finder_is_saved_and_loaded(tmp_path):
    data = make_motifs(40, width=6, length=30, substitutions=0, random_state=0)
    svm = LatentStructuralSVM(Motif((5, 6), 2, True, positive=0), C=40, random_state=0).fit(
        data.X, 1 - np.array(data.Y)
    )
    svm.save(tmp_path / "finder.slm")
    loaded = structlearn.load(tmp_path / "finder.slm")
    assert loaded.model.get_params() == svm.model.get_params()
    assert loaded.predict_latent(data.X) == svm.predict_latent(data.X)
    assert clone(loaded.model).get_params() == svm.model.get_params()


def test_threads_change_nothing():
    data = make_motifs(40, width=6, length=30, random_state=0)
    one, two = (LatentStructuralSVM(Motif(6), C=40, random_state=0, n_jobs=n).fit(data.X, data.Y) for n in (1, 2))
    np.testing.assert_array_equal(one.w_, two.w_)
