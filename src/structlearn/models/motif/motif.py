"""Sequences of DNA that hold a pattern somewhere, or hold none."""

from __future__ import annotations

import numbers
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from structlearn.data.arrays import FloatArray
from structlearn.data.biosequences.dna import BASES, base_codes
from structlearn.data.examples import check_examples
from structlearn.data.fields import check_distinct
from structlearn.data.labels import LabelCodes, check_label, observed_classes, plain
from structlearn.data.options import flag_option, whole_option
from structlearn.drawing import Drawing, draw_pattern, draw_site
from structlearn.drawing.markup import Html, element
from structlearn.drawing.patterns import draw_logos
from structlearn.inference.sites import HIGHEST_ORDER
from structlearn.models.base import Ability, ByDecoder, Model, Spec
from structlearn.models.description import WeightBlock, blocks_of, refuse_names
from structlearn.models.motif.best_word import BestWord, best_word
from structlearn.models.motif.problem import MotifProblem
from structlearn.wording import shown

#: Of the pattern.
LONGEST = 1000
#: Sequences that the report shows with their sites.
MOST_EXAMPLES = 8


@dataclass(frozen=True)
class MotifSpec(Spec):
    """The label of sequences without the pattern and that of those with it."""

    negative: Any
    positive: Any

    def check(self) -> None:
        check_distinct("classes", self.classes)

    @property
    def classes(self) -> tuple[Any, Any]:
        return self.negative, self.positive


class Motif(Model):
    """Ψ(x, +, h) = Σ_{j<l} φ_j(x_{h+j}) + Σ_{i outside [h, h+l)} φ_BG(x_i) and Ψ(x, −) = Σ_i φ_BG(x_i).

    A sequence is positive if a pattern of l letters lies somewhere in it, over a background in which a letter depends
    on those before it (Yu 2011, Section 5.4.1). φ_j is the base at place j of the pattern, φ_BG the base together with
    the `background_order` bases before it. Where the pattern lies is latent: use `LatentStructuralSVM`. The loss is
    zero-one.

    Parameters
    ----------
    width : int or sequence of ints
        l. With several, each has a pattern of its own, and the latent part of a sequence is one site of one of them; to
        find the one best width, search over ``model__width`` instead.
    background_order : int
        From 0 to 6.
    both_strands : bool
        Whether the pattern may also lie on the other strand, where the letters are read backwards as their complements.
    positive : label, optional
        Which of the two labels sequences with the pattern have. None takes the larger: the greater number, or of
        texts the last by the alphabet.

    Notes
    -----
    Inputs are strings; small letters are as good as capital ones, and U is T. A window with another letter, such as N,
    is no site. Such a letter has no background feature, nor has one without `background_order` bases right before it. A
    sequence without any site, because it is shorter than the pattern, is always predicted to be negative; in training a
    positive one is refused.

    Only the letters of the site tell the two outputs apart, so a weight counts where the pattern lies and nowhere else:
    weights are the patterns, (l, 4) each, then the background, (4,) * (background_order + 1), the present letter last.
    `predict_latent` gives a `Site` or None.

    Learning begins at the sites of a pattern that is likely in the positive sequences: 50 patterns are grown, each from
    a random window, by fitting it to its best sites in turns, and the likeliest is taken (`MotifProblem.start`).
    Uniformly random sites, as in the thesis, are ``init="random"``.

    Examples
    --------
    >>> from structlearn import LatentStructuralSVM
    >>> X = ["GGTATACC", "CTATAGGC", "CCGGTATA", "GGCCTTCA", "ATTACGGC", "TGGCATCA"]
    >>> finder = LatentStructuralSVM(Motif(width=4, background_order=0), C=100, random_state=0)
    >>> finder.fit(X, [1, 1, 1, 0, 0, 0]).predict(["CCTATAGG", "CCTTTGGC"])
    array([1, 0])
    >>> finder.predict_latent(["CCTATAGG", "CCTTTGGC"])
    [Site(start=2, strand='+', width=4), None]
    """

    kind = "examples"

    refusals: ClassVar[ByDecoder] = {
        "second_best": "every site of a positive sequence is as good as the truth",
        "k_best": "the best outputs of a sequence are its sites, one label; describe_latent has the best one",
        "sums": "likelihoods over latent sites are not written; GibbsMotif samples from such a model",
        "pair_marginals": "an output has one site, which has no neighbour",
        "partial": "its truths are partial already: where the pattern lies is latent",
    }

    @property
    def costs(self) -> ByDecoder:
        return {"best": "T W", "loss_augmented": "T W", "loss_levels": "T W"}

    @property
    def abilities(self) -> frozenset[Ability]:
        return frozenset({"explain"})

    def __init__(
        self,
        width: int | Sequence[int] = 11,
        background_order: int = 3,
        both_strands: bool = False,
        positive: Any = None,
    ):
        self.width = width
        self.background_order = background_order
        self.both_strands = both_strands
        self.positive = positive

    @property
    def widths(self) -> tuple[int, ...]:
        """All widths, in order and checked."""
        given = (self.width,) if isinstance(self.width, numbers.Integral) else self.width
        widths = tuple(given) if isinstance(given, Sequence | np.ndarray) and not isinstance(given, str) else ()
        whole = all(isinstance(width, numbers.Integral) and 1 <= int(width) <= LONGEST for width in widths)
        if not widths or not whole or len(set(widths)) < len(widths):
            raise ValueError(
                f"width is {shown(self.width)}; expected a whole number from 1 to {LONGEST} or several, all different"
            )
        return tuple(map(int, widths))

    def check_options(self) -> None:
        _ = self.widths
        whole_option("background_order", self.background_order, 0, HIGHEST_ORDER)
        flag_option("both_strands", self.both_strands)
        if self.positive is not None:
            check_label(self.positive, "positive")

    def specify(self, X: Any, Y: Any) -> MotifSpec:
        self.check_options()
        check_examples("X", X)
        if len(X) == 0:
            raise ValueError("X is empty; training needs at least one example")
        labels = observed_classes(_labels(Y))
        if self.positive is None and len(labels) == 2:
            return MotifSpec(*labels)
        positive = plain(self.positive)
        if len(labels) != 2 or positive not in labels:
            some = ", ".join(map(shown, labels[:5])) + ", …" * (len(labels) > 5)
            wanted = "" if self.positive is None else f", one of them positive={shown(positive)}"
            raise ValueError(f"Y has {len(labels)} different labels ({some}); two are needed{wanted}")
        return MotifSpec(labels[1 - labels.index(positive)], positive)

    def bind(self, spec: MotifSpec, X: Any, Y: Any = None, *, allow_unknown: bool = False) -> MotifProblem:
        check_examples("X", X)
        letters = [base_codes(x, f"X[{i}]") for i, x in enumerate(X)]
        labels = None
        if Y is not None:
            if len(Y) != len(letters):
                raise ValueError(f"X has {len(letters)} sequences but Y has {len(Y)} labels")
            labels = LabelCodes((spec.negative, spec.positive), allow_unknown=allow_unknown).encode(_labels(Y), "Y")
        return MotifProblem(
            letters,
            labels,
            (spec.negative, spec.positive),
            self.widths,
            int(self.background_order),
            bool(self.both_strands),
        )

    def latent_drawing(self, x: Any, y: Any, h: Any, truth: Any = None, *, width: int = 100) -> Drawing:
        """See `structlearn.drawing.draw_site`."""
        return draw_site(x, h, y, truth, width=width)

    def loss_in_words(self) -> str:
        return "1 for a wrong label"

    def named_weights(
        self, spec: MotifSpec, w: FloatArray, feature_names: Sequence[str] | None = None
    ) -> tuple[WeightBlock, ...]:
        refuse_names(feature_names, self.class_name)
        patterns = [
            (f"pattern of width {width}", (range(1, width + 1), BASES), "others", "{1} at place {0}")
            for width in self.widths
        ]
        order = int(self.background_order)
        after = " after " + "".join(f"{{{k}}}" for k in range(order)) if order else ""
        form = f"background {{{order}}}{after}"
        return blocks_of(w, *patterns, ("background", (BASES,) * (order + 1), "others", form))

    def alternative(self, problem: MotifProblem, w: FloatArray, output: Any) -> Any:
        return problem.other_label(output)

    def facts(self, spec: MotifSpec, w: FloatArray) -> dict[str, Any]:
        words = [self.best_word(w, width) for width in self.widths]
        return {
            "positive": spec.positive,
            "patterns": [word._asdict() | {"changes": word.changes.tolist()} for word in words],
        }

    def weight_drawings(self, spec: MotifSpec, w: FloatArray) -> list[Drawing]:
        """See `structlearn.drawing.draw_pattern`."""
        return [draw_pattern(*self.best_word(w, width)) for width in self.widths]

    def panels(self, X: Any, predicted: Any, latent: Sequence[Any], truths: Sequence[Any]) -> dict[str, Html]:
        """The logo of the sites that were found, and the first sequences with theirs."""
        logos = draw_logos(list(X), latent, self.widths)
        if not logos:
            return {}
        found = [i for i, site in enumerate(latent) if site is not None][:MOST_EXAMPLES]
        first = "The first sequences with a site, which is marked."
        words = element("p", first if len(found) > 1 else "The only sequence with a site.", class_="note")
        drawings = [self.latent_drawing(X[i], predicted[i], latent[i], truths[i]).html for i in found]
        return {"Motif": Html(logos + words + "".join(drawings))}

    def n_weights(self, spec: MotifSpec) -> int:
        return len(BASES) * sum(self.widths) + int(len(BASES) ** (self.background_order + 1))

    def spec_from_dict(self, values: dict[str, Any]) -> MotifSpec:
        return MotifSpec.from_dict(values)

    def pattern(self, w: FloatArray, width: int | None = None) -> FloatArray:
        """The weights of the pattern in w, (width, 4) with columns A, C, G, T; `width` chooses where there are several.

        >>> Motif(width=(2, 3), background_order=0).pattern(np.arange(24.0), width=3)
        array([[ 8.,  9., 10., 11.],
               [12., 13., 14., 15.],
               [16., 17., 18., 19.]])
        """
        widths = self.widths
        if width is None and len(widths) == 1:
            width = widths[0]
        if width not in widths:
            raise ValueError(f"width is {width}; the model has patterns of width {', '.join(map(str, widths))}")
        begin = len(BASES) * sum(widths[: widths.index(width)])
        return w[begin : begin + len(BASES) * width].reshape(width, len(BASES))

    def background(self, w: FloatArray) -> FloatArray:
        """The weights of the background in w, one axis a base, that of the present letter last."""
        return w[len(BASES) * sum(self.widths) :].reshape((len(BASES),) * (self.background_order + 1))

    def best_word(self, w: FloatArray, width: int | None = None) -> BestWord:
        """The letters that score highest as a site, and what others in their places change.

        Background and pattern are learnt together, and a part of the pattern may be in the weights of the background:
        this puts them together.

        >>> finder = Motif(width=2, background_order=0)
        >>> finder.best_word(np.array([3.0, 0, 0, 1, 0, 2, 0, 0, 1, 0, 0, 0])).letters
        'AC'
        """
        return best_word(self.pattern(w, width), self.background(w))


def _labels(Y: Any) -> list[Any]:
    check_examples("Y", Y)
    labels = Y.tolist() if isinstance(Y, np.ndarray) else [plain(y) for y in Y]
    for i, y in enumerate(labels):
        if isinstance(y, list | dict | set | np.ndarray):
            raise ValueError(f"Y[{i}] is {shown(y)}; expected one label a sequence")
        check_label(y, f"Y[{i}]")
    return labels
