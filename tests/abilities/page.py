"""Makes docs/abilities.md of what models, problems and solvers declare: python -m tests.abilities.page."""

from itertools import groupby
from pathlib import Path

from tests.abilities.structures import structures
from tests.abilities.training import learners, refusal

PAGE = Path(__file__).resolve().parents[2] / "docs" / "abilities.md"
DECODERS = {
    "best": "best",
    "loss_augmented": "loss-augmented",
    "second_best": "best but the truth",
    "k_best": "k best",
    "loss_levels": "best for each loss",
    "sums": "log Z, marginals, entropy",
    "pair_marginals": "pair marginals",
    "samples": "samples",
    "partial": "restricted to a partial output",
}
SHORT = {
    "block_coordinate": "bc",
    "n_slack": "ns",
    "one_slack": "1s",
    "subgradient": "sg",
    "exponentiated_gradient": "eg",
    "extragradient": "xg",
    "excessive_gap": "ex",
    "dual_coordinate": "dc",
    "lbfgs": "lb",
    "iterative_scaling": "is",
    "contrastive_divergence": "cd",
    "em": "em",
    None: "yes",
}
TEXT = """# Abilities

What each structure can do, what that costs, and which estimators and solvers take it. This page is made from what
models, bound problems and solvers declare (`python -m tests.abilities.page`); tests compare every entry with
enumeration of all outputs, and train with everything that is listed. What is not listed is refused by name before
training, and an estimator has no method for it.

## Structures and decoders

Time for one example as growth, each by an algorithm of its own. T: tokens or words, L: labels, M: longest segment, R:
rules, m and n: letters of two sequences, c: candidates, E: steps of a hypergraph, P: parts of an output, d: documents
or members of a set, N: items, W: width of a motif, V: nodes of a graph or pixels, K: labels of a set, w: tree-width,
of an image about its shorter side, S: latent states, D: values of the loss, k: outputs asked for, s: samples. Graphs
and images whose tree-width is large have the first two columns and partial outputs alone, by
[engines](labelled_graphs.md).

{decoders}

Pair marginals say what neighbouring parts are together, see
[Conditional random fields](conditional_random_fields.md#pairs-and-restrictions). Partial outputs are what `allowed=`
takes.

### What is refused, and why

{reasons}

## Formulations, estimators and solvers

For the default loss of each structure; [other losses](formulations.md) may have less. SVM₀ is the hard margin, SVM₁ has
linear and SVM₂ squared slacks; "margin" and "slack" are what the loss rescales. The solvers are {short}.

{training}
"""


def table(header: list[str], rows: list[list[str]]) -> str:
    lines = [header, ["---"] * len(header), *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def reasons() -> str:
    """For each structure what it says, decoders with the same reason together."""
    lines = []
    for structure in structures():
        model = structure.model
        refused = [(name, model.refusal(name)) for name in DECODERS if model.refusal(name) is not None]
        if refused:
            lines.append(f"- `{structure.name}`")
        for reason, same in groupby(refused, key=lambda pair: pair[1]):
            lines.append(f"  - {', '.join(DECODERS[name] for name, _ in same)}: {reason}.")
    return "\n".join(lines)


def training() -> str:
    tables = []
    for estimator, group in groupby(learners(), key=lambda learner: learner.estimator):
        several = list(group)
        rows = []
        for structure in structures():
            cells = []
            for learner in several:
                takes = [SHORT[solver] for solver in learner.solvers if refusal(learner, solver, structure) is None]
                cells.append(" ".join(takes) or "–")
            if set(cells) != {"–"}:
                rows.append([f"`{structure.name}`", *cells])
        names = [learner.name.removeprefix(estimator.__name__).strip() or "trains" for learner in several]
        tables.append(f"### {estimator.__name__}\n\n{table(['', *names], rows)}")
    return "\n\n".join(tables)


def decoders() -> str:
    rows = [[f"`{each.name}`", *(each.model.costs.get(name, "–") for name in DECODERS)] for each in structures()]
    return table(["", *DECODERS.values()], rows)


def page() -> str:
    short = ", ".join(f'{code}: `"{name}"`' for name, code in SHORT.items() if name is not None)
    return TEXT.format(decoders=decoders(), reasons=reasons(), short=short, training=training())


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
