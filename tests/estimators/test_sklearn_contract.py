from sklearn.utils.estimator_checks import parametrize_with_checks

from structlearn import StructuralSVM, StructuredPerceptron
from structlearn.models import Multiclass


@parametrize_with_checks(
    [
        StructuralSVM(Multiclass()),
        StructuralSVM(Multiclass(), tol=1e-13, max_iter=1000000, fit_intercept=True),
        StructuredPerceptron(Multiclass()),
    ]
)
def test_multiclass_estimators_pass_scikit_learns_checks(estimator, check):
    check(estimator)
