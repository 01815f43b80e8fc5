"""What a report says of learners of outputs as vectors."""

import numpy as np
import pytest

from structlearn import VectorValuedRidge, VectorValuedSVM
from structlearn.kernels import RBF, Decomposable
from structlearn.outputs import LabelOutputs, LabelSequenceOutputs, LabelSetOutputs
from structlearn.report import write_report

RANDOM = np.random.default_rng(0)
ROWS = RANDOM.normal(size=(40, 3))
SETS = [{name for name, value in zip(("<b>", "y", "z"), x, strict=True) if value + RANDOM.normal() > 0} for x in ROWS]
SEQUENCES, TAGS = [ROWS[k : k + 4] for k in range(0, 40, 4)], [["a", "b", "b", "a"]] * 10


def page(tmp_path, estimator, X, Y, **more):
    write_report(tmp_path / "page.html", estimator.fit(X, Y), X, Y, **more)
    return (tmp_path / "page.html").read_text("utf-8")


def test_ridge_regression_has_a_curve_over_lambda_and_what_labels_share(tmp_path):
    ridge = VectorValuedRidge(LabelSetOutputs(["<b>", "y", "z"]), Decomposable("rbf", "covariance"))
    text = page(tmp_path, ridge, ROWS, SETS, learning_curve=(ROWS, SETS))
    assert all(f"<h2>{title}</h2>" in text for title in ("Shared by labels", "Left-out errors", "Mistakes"))
    assert "covariance, 3 × 3" in text
    assert "chosen by the errors of what is left out" in text
    assert "nothing to converge" in text
    assert "adds up weights" not in text
    shared = text.partition("<h2>Shared by labels</h2>")[2].partition("</section>")[0]
    assert ("<b>" in shared, "&lt;b&gt;" in shared) == (False, True)
    curve = text.partition("Error of what is left out over λ")[2].partition("</section>")[0]
    nothing = ridge.left_out_[-1]["error"]
    assert 1 < curve.count("<circle") == sum(record["error"] <= 2.1 * nothing for record in ridge.left_out_)
    assert "<h2>Training</h2>" not in text


def test_one_lambda_has_no_curve(tmp_path):
    text = page(tmp_path, VectorValuedRidge(LabelOutputs(), lam=0.1), ROWS, (ROWS[:, 0] > 0).tolist())
    assert "Left-out errors" not in text
    assert "Shared by labels" not in text
    assert "one linear system" in text


def test_kernels_to_choose_from_have_a_line_each(tmp_path):
    ridge = VectorValuedRidge(LabelSequenceOutputs(), [RBF(0.1), RBF(10.0)])
    text = page(tmp_path, ridge, SEQUENCES, TAGS)
    assert "Kernel 2 is Decomposable(kernel=RBF(gamma=10.0))" in text
    assert "pairs of neighbours count 1" in text


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_margins_have_a_certificate_and_the_way_there(tmp_path, capsys):
    svm = VectorValuedSVM(LabelSequenceOutputs(), RBF(0.3), C=3, max_iter=20, verbose=1)
    text = page(tmp_path, svm, SEQUENCES, TAGS)
    assert "it is proved that" in text or "with a certificate" in text
    assert "Objective over time" in text
    assert "VectorValuedSVM  iteration 0  objective" in capsys.readouterr().err
    seconds = [record["seconds"] for record in svm.history_]
    assert seconds == sorted(seconds)
    assert len(seconds) == svm.n_iter_ + 1
