"""The contract of the fuzzer, with what it found once and with a few hundred inputs of another origin."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from structlearn.io.crfsuite import CrfSuite
from structlearn.io.jsonl import JsonLines
from tests.fuzz.contract import READ_AS, SEEDS, check

FOUND = {
    "a byte order mark within a file": b"\x00\x03Tdd\n\n\xef\xbb\xbfld\n\nma",
    "two carriage returns at the end of a line": bytes([READ_AS.index(CrfSuite())]) + b"O\n\nRDET\twB B-VrP\r\r",
}


@pytest.mark.parametrize("data", FOUND.values(), ids=FOUND)
def test_what_was_found_holds(data):
    check(data)


@pytest.mark.parametrize("kind", range(len(READ_AS)))
def test_every_format_reads_the_files_of_all(kind):
    for seed in SEEDS:
        check(bytes([kind, 0, 0, 3]) + seed)


@given(
    st.binary(min_size=4, max_size=4), st.sampled_from(SEEDS), st.binary(max_size=8), st.integers(0), st.integers(0, 9)
)
def test_files_with_a_few_bytes_replaced_hold(choice, seed, patch, place, length):
    place %= len(seed)
    check(choice + seed[:place] + patch + seed[place + length :])


def test_the_contract_notices_a_difference(monkeypatch):
    monkeypatch.setattr(JsonLines, "write", lambda self, x, y: '{"tokens": ["other"]}\n')
    with pytest.raises(AssertionError, match="written and read again"):
        check(bytes([READ_AS.index(JsonLines()), 0, 0, 3]) + next(seed for seed in SEEDS if seed.startswith(b"{")))


@pytest.mark.parametrize("name", ["sequences", "alignment.fasta", "alignment.a3m"])
def test_the_contract_notices_a_difference_of_rows(monkeypatch, name):
    monkeypatch.setattr("tests.fuzz.contract.write_fasta", lambda rows: ">other\nACGT\n")
    with pytest.raises(AssertionError, match="written and read again"):
        check(bytes([READ_AS.index(name), 0, 0, 3]) + b">a\nACG\n")
