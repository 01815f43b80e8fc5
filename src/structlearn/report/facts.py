"""What was learnt from what, in words."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

from structlearn.data.tokens.tags import are_tags
from structlearn.drawing.markup import Html, element
from structlearn.estimators.vector_valued.base import VectorPredictor
from structlearn.report import vector_valued
from structlearn.report.assets import fill
from structlearn.report.formatting import duration, number, percent
from structlearn.report.subject import Subject
from structlearn.waist.likelihood import LIKELIHOODS
from structlearn.wording import count, several

_LEARNERS = {
    "StructuralSVM": (
        "a structural support vector machine",
        "It looks for weights with which every right answer beats all wrong ones by a margin, and by a larger margin "
        "the more wrong they are.",
    ),
    "ConditionalRandomField": (
        "a conditional random field",
        "It looks for weights that make the right answers as probable as possible.",
    ),
    "LatentConditionalRandomField": (
        "a conditional random field with latent parts",
        "It looks for weights that make what is known of the right answers as probable as possible; what is not known "
        "is summed over.",
    ),
    "LatentStructuralSVM": (
        "a structural support vector machine with latent parts",
        "It looks for weights with which every right answer, with the best of its latent parts, beats all wrong ones "
        "by a margin. The latent parts are found along the way.",
    ),
    "StructuredPerceptron": (
        "a structured perceptron",
        "It corrects its weights a little whenever it makes a mistake, and averages them over the whole run.",
    ),
}

_VECTORS = {
    "VectorValuedRidge": ("ridge regression", "the one whose vector is nearest"),
    "VectorValuedSVM": (
        "asking for margins between the vectors of right and of wrong answers",
        "the one whose vector has the largest product with that of the input",
    ),
}

_MODELS = {
    "sequences": "reads a sequence of tokens and gives each a label; which labels stand side by side counts, too",
    "segments": "cuts a sequence of tokens into segments and gives each of them a label",
    "examples": "gives every example one label",
    "outputs": "chooses one output for every input",
}


def section(subject: Subject, data_name: str | None) -> Html:
    estimator = subject.estimator
    name, idea = _LEARNERS.get(type(estimator).__name__, (f"a {type(estimator).__name__}", ""))
    likelihood = LIKELIHOODS[getattr(estimator, "likelihood_", "exact")]
    if not likelihood.is_exact:
        idea = f"It looks for weights that maximise {likelihood.in_words}."
    rows = [
        (element("dt", term), element("dd", value)) for term, value in _facts(subject, data_name) if value is not None
    ]
    told = {
        "model": subject.model.in_words or _MODELS[subject.evaluation.kind],
        "certificate": certificate(estimator),
        "facts": rows,
    }
    if isinstance(estimator, VectorPredictor):
        learner, found = _VECTORS[type(estimator).__name__]
        # Whether labels count together is said by the facts.
        told["model"] = str(told["model"]).partition(";")[0]
        return fill("vector_facts", learner=learner, found=found, **told)
    return fill("facts", learner=name, idea=idea, **told)


def summary(subject: Subject) -> str:
    """One line under the title."""
    estimator, found = subject.estimator, subject.evaluation
    training = getattr(estimator, "training_", None) or {}
    over = estimator.outputs_ if isinstance(estimator, VectorPredictor) else subject.model
    parts = [f"{type(estimator).__name__} over {getattr(over, 'class_name', type(over).__name__)}"]
    if "examples" in training:
        parts.append(f"trained on {count(training['examples'], _noun(subject))}")
    parts.append(f"judged on {count(found.n_examples, _noun(subject))}")
    if subject.sequential:
        parts[-1] += f" with {count(found.n_tokens, found.place)}"
    return ", ".join(parts)


def certificate(estimator: Any) -> str:
    """How training ended, and what is proved about its result."""
    if hasattr(estimator, "lam_"):
        return vector_valued.solution(estimator)
    iterations = count(estimator.n_iter_, "iteration")
    gap = float(getattr(estimator, "duality_gap_", math.nan))
    if type(estimator).__name__ == "StructuredPerceptron":
        ended = "the last of which made no mistake" if estimator.converged_ else "the last of which still made mistakes"
        return f"Training took {iterations} over the data, {ended}. A perceptron proves nothing about its weights."
    if math.isfinite(stationarity := float(getattr(estimator, "stationarity_", math.nan))):
        return (
            f"Training ended after {iterations}, where completing the latent parts anew and solving again could lower "
            f"what it minimises by at most {percent(stationarity, 3)}. Other starts may lead to lower values."
        )
    if math.isnan(gap):
        likelihood = getattr(estimator, "likelihood_", "exact")
        if likelihood != "exact":
            return (
                f"Training ended after {iterations}. With likelihood={likelihood!r} nothing is proved of its weights."
            )
        return (
            f"Training ended after {iterations}. This solver comes without a proof of how close it is to the best "
            "weights."
        )
    most = "0.001 %" if gap < 1e-5 else percent(gap, 3)
    proved = f"no weights whatsoever could lower what it minimises by more than {most}"
    if not estimator.converged_:
        return (
            f"Training was stopped after {iterations}, before it had converged: it is proved that {proved}. More "
            "iterations may give other weights."
        )
    done = " More training would change next to nothing." if gap < 0.01 else ""
    likelihood = LIKELIHOODS[getattr(estimator, "likelihood_", "exact")]
    if not likelihood.is_exact:
        done += " Nothing is proved about the likelihood itself."
    return f"Training ended after {iterations} with a certificate, a proof that {proved}.{done}"


def _facts(subject: Subject, data_name: str | None) -> Iterator[tuple[str, Any]]:
    estimator, found, model = subject.estimator, subject.evaluation, subject.model
    training = getattr(estimator, "training_", None) or {}
    if isinstance(estimator, VectorPredictor):
        yield from vector_valued.facts(estimator)
    else:
        yield "model", f"{model.class_name}, {count(len(estimator.w_), 'weight')}"
        yield "learner", _learner(estimator)
    if hasattr(estimator, "classes_"):
        labels = estimator.classes_.tolist()
        kind = "tags of spans" if are_tags(labels) else ""
        yield "labels", f"{count(len(labels))}{': ' + kind if kind else ''}"
    spec = getattr(estimator, "spec_", None)
    n_features = getattr(spec, "n_inputs", getattr(estimator, "n_features_in_", None))
    if n_features is not None:
        yield "features", count(n_features) + (" and a constant" if getattr(spec, "intercept", False) else "")
    if subject.steps:
        yield "made by", ", then ".join(subject.steps)
    if "examples" in training:
        size = count(training["examples"], _noun(subject))
        parts = several(found.place)
        yield "trained on", size + (f" with {count(training[parts], found.place)}" if parts in training else "")
    judged = count(found.n_examples, _noun(subject))
    judged += f" with {count(found.n_tokens, found.place)}" if subject.sequential else ""
    yield "judged on", judged + (f", {data_name}" if data_name else "")
    yield "loss Δ", f"{model.loss_in_words()} (what a mistake costs)"
    if not math.isnan(float(getattr(estimator, "C_", math.nan) or math.nan)):
        yield "C", f"{number(estimator.C_)} (how much mistakes in training count against large weights)"
    history = getattr(estimator, "history_", None)
    seconds = training.get("seconds", history[-1].get("seconds") if history else None)
    yield "training time", None if seconds is None else duration(seconds)
    yield "files", ", ".join(map(str, files)) if isinstance(files := training.get("files"), (list, tuple)) else files
    command = training.get("command")
    yield "command", element("code", command) if command else None
    yield "date", training.get("date")
    library = training.get("library")
    yield "made with", f"structlearn {library}" if library else None


def _learner(estimator: Any) -> str:
    solver = estimator._solver()
    options = {
        "rescaling": {"margin": "margin rescaling", "slack": "slack rescaling"},
        "slack": {"squared": "squared slacks", "hard": "hard margin"},
    }
    words = [known[value] for name, known in options.items() if (value := getattr(estimator, name, None)) in known]
    if getattr(estimator, "l1_ratio", 0):
        words.append(f"{percent(estimator.l1_ratio, 0)} of the penalty L1")
    likelihood = LIKELIHOODS[getattr(estimator, "likelihood_", "exact")]
    if not likelihood.is_exact:
        words.append(f"maximising {likelihood.words}")
    return ", ".join([f"{type(estimator).__name__}, solver {type(solver).__name__}", *words])


def _noun(subject: Subject) -> str:
    return subject.evaluation.example
