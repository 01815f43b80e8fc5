import numpy as np
import pytest

from structlearn.data import memory
from structlearn.data.memory import available_memory, memory_option


@pytest.mark.parametrize(
    ("given", "bytes_"),
    [
        (None, None),
        (1, 1),
        (np.int64(4096), 4096),
        ("4096", 4096),
        ("1B", 1),
        ("2kB", 2000),
        ("2 KB", 2000),
        ("1.5GiB", 3 * 2**29),
        (" 3 mib ", 3 * 2**20),
        ("0.5TB", 5 * 10**11),
    ],
)
def test_bytes_as_numbers_and_as_text(given, bytes_):
    assert memory_option("max_memory", given) == bytes_


@pytest.mark.parametrize(
    "given",
    [0, -1, 2.5, np.nan, True, [1], 2**63, "", "GB", "-2GB", "nan", "2 gigs", "1e9", "0", "0.1B", "99999999TB", "²GB"],
)
def test_what_is_no_number_of_bytes_is_refused(given):
    with pytest.raises(ValueError, match="max_memory is"):
        memory_option("max_memory", given)


@pytest.fixture
def system(tmp_path, monkeypatch):
    """A machine with 8,000 kB available, in a container of version 2 if `write` makes one."""
    (tmp_path / "meminfo").write_text("MemTotal: 16000 kB\nMemAvailable:    8000 kB\nBuffers: 1 kB\n")
    monkeypatch.setattr(memory, "_MEMINFO", tmp_path / "meminfo")
    monkeypatch.setattr(memory, "_CONTAINERS", ((tmp_path, "memory.max", "memory.current"),))

    def write(limit, current, stat):
        for name, text in (("max", limit), ("current", current), ("stat", stat)):
            (tmp_path / f"memory.{name}").write_text(f"{text}\n")

    return write


def test_what_the_system_has_available(system):
    assert available_memory() == 8000 * 1024


def test_a_container_may_have_less_than_the_system(system):
    system("max", 100, "inactive_file 10")
    assert available_memory() == 8000 * 1024
    system(5000, 3000, "anon 2500\ninactive_file 400\ntotal_inactive_file 500")
    assert available_memory() == 2500
    system(5000, 6000, "")
    assert available_memory() == 0


def test_elsewhere_the_whole_memory_counts_or_nothing_is_known(tmp_path, monkeypatch):
    monkeypatch.setattr(memory, "_MEMINFO", tmp_path / "none")
    monkeypatch.setattr(memory, "_CONTAINERS", ())
    monkeypatch.setattr(memory.os, "sysconf", {"SC_PHYS_PAGES": 1000, "SC_PAGE_SIZE": 4096}.get, raising=False)
    assert available_memory() == 4096000
    monkeypatch.delattr(memory.os, "sysconf")
    assert available_memory() is None
