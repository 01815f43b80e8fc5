from __future__ import annotations

from itertools import combinations, permutations
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from structlearn.metrics import coreference_counts, coreference_scores, pair_losses

labels = st.integers(1, 6).flatmap(
    lambda n: st.tuples(*[st.lists(st.integers(0, 3), min_size=n, max_size=n) for _ in range(2)])
)


def of(key: list[str], response: list[str]) -> dict[str, tuple[float, float]]:
    """Recall and precision of one document; a mention is a letter."""
    found = coreference_scores([[list(c) for c in key]], [[list(c) for c in response]])
    measures = ("muc", "b_cubed", "ceaf_m", "ceaf_e")
    return {name: (getattr(found, name).recall, getattr(found, name).precision) for name in measures}


def test_the_example_of_the_reference_scorers_paper() -> None:
    found = of(["abc", "defg"], ["ab", "cd", "fghi"])
    expected = {"muc": (0.40, 0.40), "b_cubed": (0.42, 0.50), "ceaf_m": (0.57, 0.50), "ceaf_e": (0.65, 0.43)}
    for name, (recall, precision) in expected.items():
        assert found[name] == (pytest.approx(recall, abs=0.005), pytest.approx(precision, abs=0.005)), name


@pytest.mark.parametrize(
    ("key", "response", "recall", "precision"),
    [
        # Vilain et al. 1995, the table of their section 3: links A-B, B-C, C-D and so on as chains.
        (["abcd"], ["ab", "cd"], 2 / 3, 2 / 2),
        (["ab", "cd"], ["abcd"], 2 / 2, 2 / 3),
        (["abcd"], ["abcd"], 1.0, 1.0),
        (["abcd"], ["ab"], 1 / 3, 1 / 1),
        (["abc"], ["ac"], 1 / 2, 1 / 1),
    ],
)
def test_muc_counts_links_as_its_paper_does(
    key: list[str], response: list[str], recall: float, precision: float
) -> None:
    assert of(key, response)["muc"] == (pytest.approx(recall), pytest.approx(precision))


@pytest.mark.parametrize(
    ("response", "muc", "b_cubed"),
    [
        # Bagga and Baldwin 1998: truth 12345, 67, 89ABC; joining the last two is as bad as joining the first and last
        # in MUC's eyes only.
        (["12345", "6789ABC"], 0.9, 0.762),
        (["1234589ABC", "67"], 0.9, 0.583),
    ],
)
def test_b_cubed_tells_bad_links_apart_as_its_paper_says(response: list[str], muc: float, b_cubed: float) -> None:
    found = of(["12345", "67", "89ABC"], response)
    assert found["muc"] == (1.0, pytest.approx(muc))
    assert found["b_cubed"] == (1.0, pytest.approx(b_cubed, abs=0.001))


@pytest.mark.parametrize(
    ("response", "mention", "entity"),
    [
        # Luo 2005, Table 1: F-measures of the same truth and four responses.
        (["12345", "6789ABC"], 0.833, 0.733),
        (["1234589ABC", "67"], 0.583, 0.667),
        (["123456789ABC"], 0.417, 0.294),
        (list("123456789ABC"), 0.250, 0.178),
    ],
)
def test_ceaf_is_as_in_its_papers_table(response: list[str], mention: float, entity: float) -> None:
    found = coreference_scores([[list(c) for c in ("12345", "67", "89ABC")]], [[list(c) for c in response]])
    assert found.ceaf_m.f1 == pytest.approx(mention, abs=0.001)
    assert found.ceaf_e.f1 == pytest.approx(entity, abs=0.001)


def clusters(y: list[int]) -> list[set[int]]:
    return [{i for i, label in enumerate(y) if label == chosen} for chosen in set(y)]


@given(labels)
def test_all_measures_agree_with_their_definitions(pair: tuple[list[int], list[int]]) -> None:
    key, response = (clusters(y) for y in pair)
    found = coreference_scores([pair[0]], [np.array(pair[1])])
    n = len(pair[0])

    def share(a: list[set[int]], b: list[set[int]]) -> float:
        mine = [next(c for c in a if i in c) for i in range(n)]
        other = [next(c for c in b if i in c) for i in range(n)]
        return sum(len(x & y) / len(x) for x, y in zip(mine, other, strict=True)) / n

    assert found.b_cubed.recall == pytest.approx(share(key, response))
    assert found.b_cubed.precision == pytest.approx(share(response, key))

    def best_matching(similarity: Any) -> float:
        few, many = sorted([key, response], key=len)
        chosen = permutations(many, len(few))
        return max(sum(similarity(a, b) for a, b in zip(few, some, strict=True)) for some in chosen)

    assert found.ceaf_m.f1 == pytest.approx(best_matching(lambda a, b: len(a & b)) / n)
    dice = best_matching(lambda a, b: 2 * len(a & b) / (len(a) + len(b)))
    assert found.ceaf_e.recall == pytest.approx(dice / len(key))
    assert found.ceaf_e.precision == pytest.approx(dice / len(response))

    def missing(a: list[set[int]], b: list[set[int]]) -> int:
        return sum(sum(bool(c & other) for other in b) - 1 for c in a)

    links = n - len(key)
    assert found.muc.recall == pytest.approx((links - missing(key, response)) / links if links else 0.0)


@given(labels)
def test_the_pair_loss_counts_pairs(pair: tuple[list[int], list[int]]) -> None:
    y, found = pair
    pairs = list(combinations(range(len(y)), 2))
    wrong = sum((y[i] == y[j]) != (found[i] == found[j]) for i, j in pairs)
    assert pair_losses([y], [found])[0] == pytest.approx(wrong / max(len(pairs), 1))


@given(st.lists(labels, min_size=2, max_size=4))
def test_what_is_counted_is_summed_over_documents(documents: list[tuple[list[int], list[int]]]) -> None:
    Y, Y_pred = [y for y, _ in documents], [p for _, p in documents]
    sums = coreference_counts(Y, Y_pred).sum(axis=0)
    found = coreference_scores(Y, Y_pred)
    assert found.b_cubed.recall == pytest.approx(sums[6] / sums[7])
    assert found.ceaf_e.precision == pytest.approx(sums[12] / sums[13])
    assert found.conll == pytest.approx((found.muc.f1 + found.b_cubed.f1 + found.ceaf_e.f1) / 3)
    assert found.mitre_loss == 1.0 - found.muc.f1


def test_singletons_count_in_all_measures_but_muc() -> None:
    without, with_one = of(["ab"], ["ab"]), of(["ab", "c"], ["ab"])
    assert without["muc"] == with_one["muc"] == (1.0, 1.0)
    assert with_one["b_cubed"] == (pytest.approx(2 / 3), 1.0)
    assert with_one["ceaf_m"] == (pytest.approx(2 / 3), 1.0)
    assert with_one["ceaf_e"] == (pytest.approx(1 / 2), 1.0)


def test_documents_without_clusters_score_nothing() -> None:
    found = coreference_scores([[]], [[]])
    assert (found.muc.f1, found.b_cubed.f1, found.ceaf_e.f1) == (0.0, 0.0, 0.0)
    assert coreference_scores([[], [0, 0]], [[], [0, 0]]).conll == 1.0


@pytest.mark.parametrize(
    ("Y", "Y_pred", "message"),
    [
        ([[0]], [], r"Y has 1 documents but Y_pred has 0"),
        ([], [], r"Y has no documents"),
        ([[0, 1]], [[0]], r"Y\[0\] has labels of 2 mentions but Y_pred\[0\] of 1"),
        ([[["a"], ["a", "b"]]], [[["a"]]], r"Y\[0\] has the mention 'a' in two clusters"),
        (["ab"], [[0]], r"Y\[0\] is 'ab'; expected a label for every mention"),
    ],
)
def test_bad_input_is_named(Y: Any, Y_pred: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        coreference_scores(Y, Y_pred)


def test_pairs_need_the_same_mentions() -> None:
    with pytest.raises(ValueError, match=r"Y\[0\] and Y_pred\[0\] have different mentions"):
        pair_losses([[["a", "b"]]], [[["a"]]])
