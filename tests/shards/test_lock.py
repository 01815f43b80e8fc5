"""One process at a time writes into a folder of shards."""

import errno
import fcntl
import os

import pytest

from structlearn import open_shards, write_shards
from structlearn.shards import lock
from structlearn.shards.lock import claimed
from tests.shards.test_shards import CHUNKS


def test_a_second_writer_is_refused_at_once_and_does_no_harm(tmp_path):
    folder = tmp_path / "corpus"

    def chunks():
        yield CHUNKS[0]
        with pytest.raises(BlockingIOError, match="corpus is being written by another process; wait for its end"):
            write_shards(CHUNKS, folder)
        yield from CHUNKS[1:]

    assert write_shards(chunks(), folder).n_examples == 30
    assert open_shards(folder).n_examples == 30
    assert not (folder / lock.NAME).exists()


def test_what_a_killed_writer_left_is_no_lock(tmp_path):
    (tmp_path / lock.NAME).touch()
    assert write_shards(CHUNKS, tmp_path).n_examples == 30
    assert not (tmp_path / lock.NAME).exists()


def test_a_lock_that_its_owner_removes_meanwhile_is_taken_anew(tmp_path, monkeypatch):
    locked = []

    def removed_once(file, how):
        flock(file, how)
        if not locked:
            os.unlink(file.name)
        locked.append(file)

    flock = fcntl.flock
    monkeypatch.setattr(fcntl, "flock", removed_once)
    with claimed(tmp_path), pytest.raises(BlockingIOError), claimed(tmp_path):
        pass
    assert [file.closed for file in locked] == [True, True]


def test_a_folder_in_which_nothing_was_written_goes(tmp_path):
    with pytest.raises(RuntimeError), claimed(tmp_path / "new"):
        raise RuntimeError
    assert not (tmp_path / "new").exists()
    with claimed(tmp_path):
        pass
    assert tmp_path.exists()
    (tmp_path / "file").touch()
    with pytest.raises(FileExistsError, match="file is there already and is no folder"), claimed(tmp_path / "file"):
        pass


@pytest.mark.parametrize("number", [errno.EOPNOTSUPP, errno.EIO])
def test_files_that_cannot_be_locked_are_written_all_the_same(tmp_path, monkeypatch, number):
    def refused(file, how):
        raise OSError(number, os.strerror(number))

    monkeypatch.setattr(fcntl, "flock", refused)
    if number == errno.EOPNOTSUPP:
        assert write_shards(CHUNKS, tmp_path).n_examples == 30
    else:
        with pytest.raises(OSError, match="Input/output error"):
            write_shards(CHUNKS, tmp_path)
