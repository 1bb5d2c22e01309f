from __future__ import annotations

import os
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import filelock
import pytest
from holding import other_process_holding

from rlccfr.errors import InUseError, RLCCFRError
from rlccfr.files import HOLDER, LEFT_BEHIND, LOCK, discard_leftovers, held, held_file, not_held_by_others


def hold(directory: Path) -> None:
    with held(directory):
        pass


def test_another_process_is_told_who_holds_a_directory(tmp_path):
    with other_process_holding(tmp_path) as process, pytest.raises(InUseError) as error:
        hold(tmp_path)
    assert f"{tmp_path} is in use by process {process.pid} on " in str(error.value)
    assert str(error.value).endswith("; wait until it ends, or name another directory")
    hold(tmp_path)  # it has ended


def test_a_killed_process_holds_nothing(tmp_path):
    with other_process_holding(tmp_path) as process:
        process.kill()
        process.wait(60)
        hold(tmp_path)
    assert not (tmp_path / HOLDER).exists()


def test_blocks_may_be_nested_and_the_outermost_one_holds_until_it_ends(tmp_path):
    with ThreadPoolExecutor(1) as other, held(tmp_path):
        hold(tmp_path)
        with pytest.raises(InUseError):
            other.submit(hold, tmp_path).result()


def test_a_holder_that_can_not_be_read_is_another_process(tmp_path):
    with other_process_holding(tmp_path):
        (tmp_path / HOLDER).write_bytes(b"\x1b[2Jprocess\xff 1")
        with pytest.raises(InUseError, match=r"in use by \[2Jprocess. 1; wait"):
            hold(tmp_path)
        (tmp_path / HOLDER).unlink()
        with pytest.raises(InUseError, match="in use by another process; wait"):
            hold(tmp_path)


def test_a_file_is_held_under_all_its_names(tmp_path):
    """A link and a relative path are names of one file; the file beside it is another."""
    file, link = tmp_path / "run.npz", tmp_path / "link.npz"
    link.symlink_to(file)
    names = [file, link, tmp_path / "folder" / ".." / "run.npz"]

    def write(name: Path) -> None:
        with not_held_by_others(name):
            name.write_text("other")

    with ThreadPoolExecutor(1) as other, held_file(file):
        for name in names:
            with pytest.raises(
                InUseError, match=r"is in use by process \d+ .*; wait until it ends, or name another file"
            ):
                other.submit(write, name).result()
        write(file)  # blocks of one thread may be nested
        other.submit(write, tmp_path / "other.npz").result()
    write(link)
    left = {path.name for path in tmp_path.iterdir()}
    assert left == {"run.npz", "link.npz", "other.npz", f".run.npz{LOCK}"}


def test_only_a_directory_that_was_made_in_vain_is_removed(tmp_path):
    hold(tmp_path / "made")
    assert not (tmp_path / "made").exists()
    with held(tmp_path / "filled"):
        (tmp_path / "filled" / "file").touch()
    (tmp_path / "empty").mkdir()
    hold(tmp_path / "empty")
    kept = {path.relative_to(tmp_path).as_posix() for path in tmp_path.rglob("*")}
    assert kept == {"filled", "filled/file", f"filled/{LOCK}", "empty", f"empty/{LOCK}"}


def test_a_directory_that_can_not_be_written_is_one_line(tmp_path):
    (tmp_path / "file").touch()
    with pytest.raises(RLCCFRError, match="file is a file; name a directory"):
        hold(tmp_path / "file")


def test_a_lock_file_of_another_user_is_one_line(tmp_path, monkeypatch):
    def refused(*arguments, **options):
        raise PermissionError("not yours")

    monkeypatch.setattr(filelock.FileLock, "acquire", refused)
    with pytest.raises(RLCCFRError, match="belongs to another user: delete it, or name another directory"):
        hold(tmp_path)


def test_only_old_temporary_files_of_the_same_file_are_discarded(tmp_path):
    names = (".run.npz.12.0123abcd", ".run.npz.13.0123abcd", ".runs.npz.12.0123abcd", ".run.npz.backup", "run.npz")
    for name in names:
        (tmp_path / name).touch()
        if ".13." not in name:  # this one is being written
            os.utime(tmp_path / name, (0, time.time() - 2 * LEFT_BEHIND))
    discard_leftovers(tmp_path / "run.npz")
    assert {path.name for path in tmp_path.iterdir()} == set(names[1:])
    discard_leftovers(tmp_path / "missing" / "run.npz")
