"""A motif bound to sequences."""

from __future__ import annotations

import numbers
from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from structlearn.data.arrays import FloatArray, IntArray, LabelArray, digest
from structlearn.data.biosequences.dna import BASES, Site, reverse_complement
from structlearn.data.labels import label_array
from structlearn.inference.sites import Sites, no_sites
from structlearn.models.explanation import PartFeatures
from structlearn.waist.latent import LatentProblem, Start
from structlearn.waist.objective import Oracle, Scaling
from structlearn.waist.planes import Outputs
from structlearn.waist.rows import SparseRows
from structlearn.wording import count

#: How many patterns a start is chosen from, and how often each is fitted to its sites.
N_TRIES = 50
N_ROUNDS = 8


class MotifProblem(LatentProblem):
    """A `Motif` model bound to data. Outputs are rows (number of the width, strand, start); number −1 is no site."""

    oracles: frozenset[Oracle] = frozenset({"best", "loss_augmented", "loss_levels"})

    def __init__(
        self,
        letters: Sequence[npt.NDArray[np.int8]],
        labels: LabelArray | None,
        classes: tuple[Any, Any],
        widths: tuple[int, ...],
        order: int,
        both_strands: bool,
    ):
        self.n_examples = len(letters)
        self.sites = Sites(letters, widths, order, both_strands)
        self.n_features = self.sites.n_parts
        self._widths = widths
        self._labels = labels
        self._classes = classes

    def best(self, w: FloatArray, examples: IntArray) -> LabelArray:
        sites, scores = self._best(w, examples)
        return np.where(scores[:, None] > 0.0, sites, no_sites(len(examples)))

    def loss_augmented(self, w: FloatArray, examples: IntArray) -> LabelArray:
        return self.loss_levels(w, examples, Scaling("margin", "linear"))

    def loss_levels(self, w: FloatArray, examples: IntArray, scaling: Scaling) -> LabelArray:
        assert self._labels is not None
        sites, scores = self._best(w, examples)
        is_positive = self._labels[examples] == 1
        right = np.where(is_positive, scores, 0.0)
        wrong = np.where(is_positive, 0.0, scores)
        a, b = scaling(np.array([0.0, 1.0]))
        truth = np.zeros(len(examples))
        if a[0] != a[1]:
            truth = self.between(examples, self.truths(w, examples), no_sites(len(examples))).dot(w)
        errs = b[1] + a[1] * (wrong - truth) > b[0] + a[0] * (right - truth)
        return np.where((is_positive ^ errs)[:, None], sites, no_sites(len(examples)))

    def complete(self, w: FloatArray, examples: IntArray) -> LabelArray:
        assert self._labels is not None
        outputs = no_sites(len(examples))
        is_positive = self._labels[examples] == 1
        sites, scores = self._best(w, examples[is_positive])
        if np.isneginf(scores).any():
            raise self._without_site(int(examples[is_positive][np.argmin(scores)]))
        outputs[is_positive] = sites
        return outputs

    def between(self, examples: IntArray, left: Outputs, right: Outputs) -> SparseRows:
        return SparseRows(*self.sites.between(examples, _rows(left), _rows(right)))

    def other_label(self, label: Any) -> Any:
        """The one of the two labels that this is not."""
        return self._classes[int(label == self._classes[0])]

    def differing_parts(self, w: FloatArray) -> list[PartFeatures]:
        """See `ComposedProblem.differing_parts`: the best sites of the outputs that are positive."""
        found = []
        nothing, examples = no_sites(1), np.zeros(1, np.int64)
        for sign, row in zip((1.0, -1.0), self.complete(w, np.arange(2)), strict=True):
            (site,) = self.present_latent(row)
            if site is not None:
                name = f"site {site.start + 1} to {site.start + site.width} on strand {site.strand}"
                features = self.between(examples, row, nothing)
                found.append(PartFeatures(name, sign, features.indices, sign * features.values))
        return found

    def output_losses(self, examples: IntArray, outputs: Outputs) -> FloatArray:
        assert self._labels is not None
        return np.asarray(self._labels[examples] != (_rows(outputs)[:, 0] >= 0), np.float64)

    def random_completions(self, random: np.random.Generator) -> LabelArray:
        """Uniformly over all sites of a positive sequence, of all widths and strands."""
        assert self._labels is not None
        outputs = no_sites(self.n_examples)
        for i in np.flatnonzero(self._labels == 1):
            sites = self.sites.of(int(i))
            if not len(sites):
                raise self._without_site(int(i))
            outputs[i] = sites[random.integers(len(sites))]
        return outputs

    def start(self, random: np.random.Generator) -> Start:
        """The sites of the likeliest of several patterns, each grown from a random site of one positive sequence.

        A pattern is fitted to its best sites in all positive sequences and these are found anew, some rounds long:
        the starts of MEME (Bailey and Elkan 1994), with hard assignments. A site counts by its log probability under
        the pattern less that under the background. Labels choose the positive sequences and nothing else.
        """
        assert self._labels is not None
        positives = np.flatnonzero(self._labels == 1)
        drawn = self.random_completions(random)
        known = self.sites.contexts[self.sites.contexts >= 0]
        n_contexts = self.n_features - self.sites.pattern_size
        background = np.bincount(known, minlength=n_contexts).reshape(-1, len(BASES)) + 1.0
        log_background = np.log(background / background.sum(axis=1, keepdims=True)).ravel()

        def likeliest(examples: IntArray, sites: LabelArray, weight: float) -> FloatArray:
            patterns = weight * self._base_counts(examples, sites) + 1.0 / len(BASES)
            return np.concatenate([np.log(patterns / patterns.sum(axis=1, keepdims=True)).ravel(), log_background])

        best, most = drawn, -np.inf
        for i in random.permutation(positives)[:N_TRIES, None]:
            w = likeliest(i, drawn[i], 2.0)
            for _ in range(N_ROUNDS):
                sites, scores = self._best(w, positives)
                w = likeliest(positives, sites, 1.0)
            if scores.sum() > most:
                most, best = scores.sum(), self.complete(w, np.arange(self.n_examples))
        return Start(completions=best)

    def _base_counts(self, examples: IntArray, sites: LabelArray) -> FloatArray:
        """How often each base stands at each place of the patterns, those of all widths one below the other."""
        rows = self.between(examples, sites, no_sites(len(examples)))
        counts = np.zeros(self.n_features)
        rows.add_to(counts, np.ones(len(examples)))
        return counts[: self.sites.pattern_size].reshape(-1, len(BASES))

    def completions_of(self, latent: Sequence[Any]) -> LabelArray:
        assert self._labels is not None
        outputs = no_sites(self.n_examples)
        for i, h in enumerate(latent):
            if (h is None) != (self._labels[i] != 1):
                wanted = "a site" if h is None else "None"
                label = self._classes[self._labels[i]]
                raise ValueError(f"Y[{i}] is {label!r}, but its latent part is {h!r}, not {wanted}")
            if h is not None:
                outputs[i] = self._site(i, h)
        return outputs

    def reachable(self) -> npt.NDArray[np.bool_]:
        """Whether a positive sequence has a site."""
        assert self._labels is not None
        _, scores = self._best(np.zeros(self.n_features), np.arange(self.n_examples))
        return np.asarray((self._labels != 1) | (scores > -np.inf))

    def max_losses(self) -> FloatArray:
        return np.ones(self.n_examples)

    def radii(self) -> FloatArray:
        # Two sites that share nothing: their letters, and their backgrounds if all letters of each have the same one.
        width = max(self._widths)
        return np.full(self.n_examples, float(np.sqrt(2.0 * (width + width**2))))

    def present(self, outputs: Outputs) -> npt.NDArray[Any]:
        labels: npt.NDArray[Any] = label_array(self._classes)[(_rows(outputs)[:, 0] >= 0).astype(np.int64)]
        return labels

    def present_latent(self, outputs: Outputs) -> list[Site | None]:
        return self.sites.present(_rows(outputs))

    def describe_latent(self, w: FloatArray, outputs: Outputs) -> list[dict[str, Any]]:
        """Where the sites lie, counted from 1 with both ends included as in GFF, their letters, and what they score."""
        described = []
        for i, (site, score) in enumerate(zip(self.present_latent(outputs), self.site_scores(w).tolist(), strict=True)):
            row = dict.fromkeys(("start", "end", "strand", "letters"))
            if site is not None:
                codes = self.sites.letters[i][site.start : site.start + site.width]
                letters = "".join(BASES[code] for code in codes)
                row = {
                    "start": site.start + 1,
                    "end": site.start + site.width,
                    "strand": site.strand,
                    "letters": reverse_complement(letters) if site.strand == "-" else letters,
                }
            described.append({**row, "score": score if np.isfinite(score) else None})
        return described

    def site_scores(self, w: FloatArray) -> FloatArray:
        """max_h F(x, +, h) − F(x, −) of every sequence: above zero where predicted positive, −∞ without a site."""
        return self._best(w, np.arange(self.n_examples))[1]

    def sizes(self) -> dict[str, int]:
        return {"examples": self.n_examples, "letters": len(self.sites.letters.flat)}

    def fingerprint(self) -> str:
        assert self._labels is not None
        sites = self.sites
        options = np.array([*sites.widths, sites.order, sites.both_strands])
        return digest(sites.letters.flat, sites.letters.offsets, self._labels, options)

    def _best(self, w: FloatArray, examples: IntArray) -> tuple[LabelArray, FloatArray]:
        return self.sites.best(w, examples, self.n_threads)

    def _site(self, i: int, h: Any) -> LabelArray:
        start, strand, width = (*((h,) if isinstance(h, numbers.Integral) else tuple(h)), *Site(0)[1:])[:3]
        width = width or self._widths[0]
        if width in self._widths and strand in ("+", "-"):
            row = np.array([self._widths.index(width), strand == "-", start], np.int32)
            if (self.sites.of(i) == row).all(axis=1).any():
                return row
        raise ValueError(f"the latent part {h!r} of example {i} is no site: see Motif for what is one")

    def _without_site(self, i: int) -> ValueError:
        length = len(self.sites.letters[i])
        return ValueError(
            f"Y[{i}] is {self._classes[1]!r}, but X[{i}] has {count(length, 'letter')} and no site for a pattern of "
            f"width {min(self._widths)}"
        )


def _rows(outputs: Outputs) -> LabelArray:
    return np.ascontiguousarray(outputs, np.int32).reshape(-1, 3)
