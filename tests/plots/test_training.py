"""Pictures of how training went."""

import matplotlib.pyplot as plt
import numpy as np
import pytest
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from structlearn import ConditionalRandomField, HiddenMarkov, StructuralSVM, StructuredPerceptron, plots
from structlearn.datasets import load_digit_sequences
from structlearn.estimators.generative import Gaussian
from structlearn.features import TokenTransformer
from structlearn.models import Chain

NUMBERS = load_digit_sequences(n_sequences=30, max_length=6)


def fitted(**options):
    return StructuralSVM(Chain(), **options).fit(NUMBERS.X, NUMBERS.Y)


def lines(ax):
    """What is drawn, by name, on both axes."""
    return {line.get_label(): line.get_xydata() for each in ax.figure.axes for line in each.get_lines()}


def test_the_objective_is_drawn_where_it_was_certified_and_nowhere_else():
    svm = fitted(C=30)
    certified = [record for record in svm.history_ if record["certified"]]
    assert 1 < len(certified) < len(svm.history_)
    drawn = lines(plots.convergence(svm))["objective"]
    np.testing.assert_array_equal(drawn, [(record["seconds"], record["primal"]) for record in certified])


def test_the_gap_ends_at_the_certificate():
    svm = fitted(C=30)
    drawn = lines(plots.convergence(svm.history_, against="iteration"))
    (name,) = (name for name in drawn if name.startswith("gap"))
    assert drawn[name][-1] == pytest.approx([svm.n_iter_, svm.duality_gap_])
    assert name == f"gap, {svm.duality_gap_:.2%} at the end"


@pytest.mark.parametrize("solver", ["dual_coordinate", "lbfgs"])
def test_likelihoods_have_both_curves(solver):
    crf = ConditionalRandomField(Chain(), solver=solver).fit(NUMBERS.X, NUMBERS.Y)
    assert {"objective", "lower bound"} < set(lines(plots.convergence(crf)))


def test_without_a_bound_there_is_no_gap():
    assert set(lines(plots.convergence(fitted(solver="subgradient", max_iter=3)))) == {"objective"}


def test_a_perceptron_shows_its_mistakes():
    perceptron = StructuredPerceptron(Chain(), max_iter=4).fit(NUMBERS.X, NUMBERS.Y)
    ax = plots.convergence(perceptron, against="iteration")
    (drawn,) = lines(ax).values()
    np.testing.assert_array_equal(drawn[:, 1], [record["mistakes"] for record in perceptron.history_[1:]])


def test_the_last_step_of_a_pipeline_is_drawn_into_given_axes():
    pipeline = make_pipeline(TokenTransformer(StandardScaler()), StructuralSVM(Chain())).fit(NUMBERS.X, NUMBERS.Y)
    _, ax = plt.subplots()
    assert plots.convergence(pipeline, ax) is ax
    assert len(plt.get_fignums()) == 1


def test_an_objective_of_zero_draws_without_a_gap():
    records = [{"seconds": t, "iteration": t, "primal": 0.0, "dual": 0.0} for t in range(2)]
    assert set(lines(plots.convergence(records))) == {"objective", "lower bound"}


def test_what_cannot_be_drawn_is_refused_by_name():
    with pytest.raises(ValueError, match="against is 'time'"):
        plots.convergence([{}], against="time")
    with pytest.raises(ValueError, match="empty"):
        plots.convergence([])
    with pytest.raises(ValueError, match="nothing was certified"):
        plots.convergence([{"seconds": 0.0, "primal": np.nan, "dual": 1.0}])
    with pytest.raises(TypeError, match="HiddenMarkov is trained without iterations"):
        plots.convergence(HiddenMarkov(Gaussian()).fit(NUMBERS.X, NUMBERS.Y))
