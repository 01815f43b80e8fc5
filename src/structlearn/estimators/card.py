"""What a notebook shows of a fitted estimator, below scikit-learn's diagram."""

from __future__ import annotations

from html import escape
from math import isfinite, log10
from typing import Any

from structlearn.waist.likelihood import LIKELIHOODS
from structlearn.wording import count

# Colours come from the text around, so that the card is right on light and on dark pages alike.
_STYLE = """<style>
.structlearn-card {display: inline-block; margin-top: .5em; padding: .6em .9em; color: inherit;
  border: 1px solid rgba(128, 128, 128, .4); border-radius: .4em; font: 13px/1.5 system-ui, sans-serif}
.structlearn-card table {border-collapse: collapse; margin: .3em 0 0; background: none; color: inherit; font: inherit}
.structlearn-card td {padding: 0 .9em 0 0; border: none; text-align: left; background: none; vertical-align: top}
.structlearn-card td:first-child, .structlearn-card small {opacity: .65}
.structlearn-card svg {display: block; margin-top: .4em}
</style>"""
_WIDTH, _HEIGHT = 220, 36
#: Labels that are named; a longer list is cut.
_NAMED = 8


class WithCard:
    """The HTML of an estimator: scikit-learn's diagram, and once it is fitted a card that says what was learnt."""

    def _html_repr(self) -> str:
        diagram: str = super()._html_repr()  # type: ignore[misc]
        return diagram + card(self) if hasattr(self, "w_") else diagram


def card(estimator: Any) -> str:
    """A self-contained piece of HTML: sizes, objective and gap of a fitted estimator, and how the gap closed.

    >>> from structlearn import StructuralSVM
    >>> from structlearn.models import Multiclass
    >>> svm = StructuralSVM(Multiclass(), C=10).fit([[0.0, 1.0], [1.0, 0.0]], ["north", "<east>"])
    >>> "2: &lt;east&gt;, north" in card(svm)
    True
    """
    model = getattr(estimator.model_, "user_model", estimator.model_)
    rows = "".join(f"<tr><td>{name}</td><td>{escape(text)}</td></tr>" for name, text in _facts(estimator))
    return (
        f'{_STYLE}<div class="structlearn-card"><b>{escape(type(estimator).__name__)}</b> of '
        f"<b>{escape(type(model).__name__)}</b>, fitted<table>{rows}</table>{_sparkline(estimator.history_)}</div>"
    )


def gap_in_words(estimator: Any) -> str:
    """What the certificate of a fitted estimator says.

    >>> from structlearn import StructuralSVM
    >>> from structlearn.models import Multiclass
    >>> svm = StructuralSVM(Multiclass(), C=10, tol=1e-6).fit([[0.0, 1.0], [1.0, 0.0]], ["north", "east"])
    >>> gap_in_words(svm)
    'the best possible is at most 0.001 % lower'
    """
    what, gap = "best possible", estimator.duality_gap_
    if hasattr(estimator, "stationarity_"):
        what, gap = "convex upper bound's minimum", estimator.stationarity_
    if not isfinite(gap):
        return "no certificate: no lower bound is known"
    likelihood = getattr(estimator, "likelihood_", "exact")
    if likelihood != "exact":
        what = f"best possible with likelihood={likelihood!r}"
    words = f"the {what} is at most {max(100 * gap, 0.001):.3f}".rstrip("0").rstrip(".") + " % lower"
    return words if estimator.converged_ else f"{words}; stopped before the tolerance was met"


def _facts(estimator: Any) -> list[tuple[str, str]]:
    facts = []
    classes = getattr(estimator, "classes_", None)
    if classes is not None:
        names = ", ".join(map(str, classes[:_NAMED])) + (", …" if len(classes) > _NAMED else "")
        facts.append(("labels", f"{len(classes)}: {names}"))
    features = getattr(estimator.spec_, "n_inputs", None)
    if features is not None:
        facts.append(("features", f"{features:,} ({count(len(estimator.w_), 'weight')})"))
    else:
        facts.append(("weights", f"{len(estimator.w_):,}"))
    training = getattr(estimator, "training_", {})
    if "examples" in training:
        tokens = f" ({count(training['tokens'], 'token')})" if "tokens" in training else ""
        facts.append(("examples", f"{training['examples']:,}{tokens}"))
    likelihood = LIKELIHOODS[getattr(estimator, "likelihood_", "exact")]
    if not likelihood.is_exact:
        facts.append(("maximised", likelihood.in_words))
    if isfinite(estimator.objective_):
        facts.append(("objective", f"{estimator.objective_:.6g}, {gap_in_words(estimator)}"))
    seconds = training.get("seconds", estimator.history_[-1]["seconds"])
    facts.append(("training", f"{seconds:.2f} s, {count(estimator.n_iter_, 'iteration')}"))
    return facts


def _sparkline(history: list[dict[str, Any]]) -> str:
    """The relative gap against the iterations, on a logarithmic scale; nothing where there are fewer than two."""
    known = [
        (record["iteration"], log10(record["gap"] / record["primal"]))
        for record in history
        if record["primal"] > 0 and record["gap"] > 0
    ]
    if len(known) < 2:
        return ""
    (first, _), (last, _) = known[0], known[-1]
    low, high = min(gap for _, gap in known), max(gap for _, gap in known)
    points = " ".join(
        f"{2 + (_WIDTH - 4) * (at - first) / max(last - first, 1):.1f},"
        f"{2 + (_HEIGHT - 4) * (high - gap) / max(high - low, 1e-9):.1f}"
        for at, gap in known
    )
    return (
        f'<svg width="{_WIDTH}" height="{_HEIGHT}" viewBox="0 0 {_WIDTH} {_HEIGHT}" role="img">'
        f"<title>relative gap by iteration, from {10**high:.2g} to {10**low:.2g}</title>"
        f'<polyline points="{points}" fill="none" stroke="currentColor" stroke-width="1.5" opacity=".8"/></svg>'
        f"<small>relative gap, {10**high:.2g} → {10**low:.2g}, logarithmic</small>"
    )
