"""Reading numbers: each digit alone, or the sequence as a whole.

Real handwritten digits, with noise, strung into numbers in which some digits like to follow others. One classifier
reads every digit by itself; the chain reads the whole number and learns, from the same examples, which digit follows
which. Prints a table and writes a picture.

    python examples/digit_sequences.py [picture.png]
"""

from __future__ import annotations

import sys
from typing import Any

import matplotlib

matplotlib.use("Agg")

import matplotlib.pyplot as plt
import numpy as np
from rich.console import Console
from rich.table import Table

from structlearn import StructuralSVM
from structlearn.datasets import load_digit_sequences
from structlearn.models import Chain, Multiclass

WRONG, RIGHT, INK = "#d1411f", "#2463a8", "#20242c"


def main(picture: str) -> None:
    train, test = load_digit_sequences("train"), load_digit_sequences("test")
    console = Console(highlight=False)
    n_digits = sum(map(len, train.Y))
    console.print(f"{len(train.X)} numbers to learn from ({n_digits} digits), {len(test.X)} other numbers to read.\n")

    alone = StructuralSVM(Multiclass(), C=0.3 * n_digits, verbose=1, tol=1e-3)
    alone.fit(np.concatenate(train.X), np.concatenate(train.Y))
    together = StructuralSVM(Chain(), C=0.3 * len(train.X), verbose=1, tol=1e-3)
    together.fit(train.X, train.Y)

    read_alone = [alone.predict(x) for x in test.X]
    read_together = together.predict(test.X)
    console.print()
    console.print(
        results(test.Y, {"each digit alone": (alone, read_alone), "the whole number": (together, read_together)})
    )
    draw(test, read_alone, read_together, together.history_, picture)
    console.print(
        "\n“gap” certifies the training: the best possible objective is at most that much lower.\n"
        f"Some numbers with both readings, and the way there: {picture}"
    )


def results(truth: Any, readings: dict[str, tuple[StructuralSVM, Any]]) -> Table:
    table = Table(title="Reading handwritten numbers")
    for heading in ("read", "wrong digits", "wrong numbers", "training", "gap"):
        table.add_column(heading, justify="left" if heading == "read" else "right")
    digits = np.concatenate(truth)
    for name, (svm, read) in readings.items():
        wrong_digits = float(np.mean(np.concatenate([np.asarray(y) for y in read]) != digits))
        wrong_numbers = float(np.mean([list(y) != list(t) for y, t in zip(read, truth, strict=True)]))
        seconds = svm.history_[-1]["seconds"]
        table.add_row(
            name, f"{wrong_digits:.1%}", f"{wrong_numbers:.1%}", f"{seconds:.1f} s", f"{svm.duality_gap_:.2%}"
        )
    return table


def draw(test: Any, alone: Any, together: Any, history: list[dict[str, Any]], picture: str) -> None:
    """Six numbers that the two read differently, and the convergence curve of the chain."""
    differ = [i for i in range(len(test.X)) if list(alone[i]) != list(together[i]) and len(test.Y[i]) >= 6]
    shown = differ[:6]
    width = max(len(test.Y[i]) for i in shown)
    figure = plt.figure(figsize=(11, 6.2), layout="constrained")
    left, right = figure.subfigures(1, 2, width_ratios=(1.9, 1))
    left.suptitle("One digit at a time (upper reading), the number as a whole (lower reading)", fontsize=10, color=INK)
    grid = left.subplots(len(shown), width)
    for row, i in zip(grid, shown, strict=True):
        for t, axis in enumerate(row):
            axis.axis("off")
            if t >= len(test.Y[i]):
                continue
            axis.imshow(test.X[i][t].reshape(8, 8), cmap="Greys", vmin=0, vmax=1.2)
            for height, read in ((-0.1, alone[i]), (-0.42, together[i])):
                colour = RIGHT if read[t] == test.Y[i][t] else WRONG
                weight = "normal" if read[t] == test.Y[i][t] else "bold"
                axis.text(
                    0.5,
                    height,
                    str(read[t]),
                    transform=axis.transAxes,
                    ha="center",
                    va="center",
                    color=colour,
                    weight=weight,
                )
    axis = right.subplots()
    certified = [record for record in history if record["certified"] and record["seconds"] > 0]
    seconds = [record["seconds"] for record in certified]
    axis.plot(seconds, [record["primal"] for record in certified], color=WRONG, label="objective")
    axis.plot(seconds, [record["dual"] for record in certified], color=RIGHT, label="lower bound")
    axis.set(
        xlabel="seconds", ylim=(0, None), title="Training the chain: nothing is left to gain\nwhere the two curves meet"
    )
    axis.title.set_size(10)
    axis.legend(frameon=False)
    axis.spines[["top", "right"]].set_visible(False)
    figure.savefig(picture, dpi=130)
    plt.close(figure)


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else "demo.png")
