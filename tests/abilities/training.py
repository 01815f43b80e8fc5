"""Everything that could be trained: structure × objective × solver, and whether it is refused before training."""

from typing import Any, NamedTuple
from unittest import mock

from structlearn import (
    ConditionalRandomField,
    LatentConditionalRandomField,
    LatentStructuralSVM,
    StructuralSVM,
    StructuredPerceptron,
)
from structlearn.estimators import (
    conditional_random_field,
    latent_conditional_random_field,
    latent_structural_svm,
    structural_svm,
)
from structlearn.solvers import Solver
from tests.abilities.structure import Structure
from tests.models.instances import SCALINGS


class Learner(NamedTuple):
    """An estimator with the objective that its options say, and the solvers that it knows by name."""

    name: str
    estimator: type
    options: dict[str, Any]
    solvers: tuple[str | None, ...]

    def data(self, structure: Structure) -> tuple[Any, Any]:
        """What it is trained on: outputs known in part, where it learns from these."""
        learns = self.estimator.__name__.startswith("Latent") and "partial" in structure.model.abilities
        if not (learns and structure.partial):
            return structure.X, structure.Y
        whole = structure.Y if structure.needs_whole else []
        return [*structure.X, *structure.X[: len(whole)]], [*structure.partial, *whole]

    def with_solver(self, model: Any, solver: str | None, **more: Any) -> Any:
        chosen = {} if solver is None else {"solver": solver}
        return self.estimator(model, **self.options, **chosen, **more)


def learners() -> list[Learner]:
    margins = [
        Learner(
            f"{estimator.__name__} {formulation(scaling)}",
            estimator,
            {"rescaling": scaling.rescaling, "slack": scaling.slack},
            tuple(solvers),
        )
        for estimator, solvers in (
            (StructuralSVM, structural_svm.SOLVERS),
            (LatentStructuralSVM, latent_structural_svm.SOLVERS),
        )
        for scaling in SCALINGS
    ]
    likelihoods = [
        Learner(f"{estimator.__name__} {name}", estimator, {"l1_ratio": l1_ratio}, tuple(solvers))
        for estimator, solvers in (
            (ConditionalRandomField, conditional_random_field.SOLVERS),
            (LatentConditionalRandomField, latent_conditional_random_field.SOLVERS),
        )
        for name, l1_ratio in (("L2", 0.0), ("L1", 0.5))
    ]
    return [*margins, *likelihoods, Learner("StructuredPerceptron", StructuredPerceptron, {}, (None,))]


def formulation(scaling: Any) -> str:
    """The papers' name: SVM₀, SVM₁, SVM₂, with how the loss enters."""
    number = {"hard": "₀", "linear": "₁", "squared": "₂"}[scaling.slack]
    return f"SVM{number}" + ("" if scaling.rescaling is None else f" {scaling.rescaling}")


class BegunError(Exception):
    """Training would have begun."""


def refusal(learner: Learner, solver: str | None, structure: Structure) -> str | None:
    """With which words `fit` refuses before training; None if it does not."""
    with mock.patch.object(Solver, "iterate", side_effect=BegunError):
        try:
            learner.with_solver(structure.model, solver).fit(*learner.data(structure))
        except BegunError:
            return None
        except (TypeError, ValueError) as error:
            return str(error)
    raise AssertionError("fit neither began nor refused")
