"""Public-tree runs that run out of disk or memory: one line of error, and the checkpoint stays as it was."""

from __future__ import annotations

import errno
import importlib
import re
import resource
import subprocess
import sys

import numpy as np
import pytest
from support import regrets

import rlccfr
from rlccfr.engine.public import public_state
from rlccfr.engine.public.public_state import PublicState
from rlccfr.errors import RLCCFRError, is_out_of_memory

GAMES = ("holdem(ranks=4,suits=2,private=1,flop=1)", "bluff(dice=1,opponent_dice=1)")

SMALL_FILES = """
import resource, shutil, sys
from rlccfr.cli import main

def run():
    try:
        main(sys.argv[1:])
    except SystemExit as end:
        return end.code

run()
shutil.copy("run.npz", "before.npz")
print("the disk is full now", file=sys.stderr)
resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000))
sys.exit(run())
"""
"""A command that is run twice; the second time, no file can grow beyond a thousand bytes."""

LOCK = ".run.npz.rlccfr.lock"
"""File that stays beside a checkpoint, for the processes that wait for it."""

TOO_LARGE = "can't write run.npz (File too large); check space and permissions"


def solve(game: str, *options: str) -> tuple[str, ...]:
    return ("solve", game, "--update-rule", "dcfr_plus", "--iterations", "5", "--checkpoint", "run.npz", *options)


@pytest.mark.parametrize("game", [GAMES[0], *(pytest.param(game, marks=pytest.mark.slow) for game in GAMES[1:])])
def test_a_checkpoint_stays_whole_when_no_space_is_left(tmp_path, game):
    command = [sys.executable, "-c", SMALL_FILES, *solve(game, "--checkpoint-every", "1e-9", "--json")]
    found = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=300)
    resumed, *warnings, error = found.stderr.partition("the disk is full now\n")[2].splitlines()
    assert resumed.startswith("resuming ")
    assert (found.returncode, error) == (1, f"error: {TOO_LARGE}")
    assert set(warnings) == {f"warning: {TOO_LARGE}"}
    assert '"iterations": 10' in found.stdout  # the results are not lost
    assert (tmp_path / "run.npz").read_bytes() == (tmp_path / "before.npz").read_bytes()
    assert {path.name for path in tmp_path.iterdir()} == {"run.npz", "before.npz", LOCK}
    assert rlccfr.Solver.load(tmp_path / "run.npz").result().iterations == 5


def no_room(monkeypatch) -> None:
    monkeypatch.setattr(public_state, "available_memory", lambda: 1000)


def run_out(*given):
    raise MemoryError


def refuse_tables(monkeypatch) -> None:
    """Let the tables be refused by the system itself, as when their size was underestimated."""
    monkeypatch.setattr(PublicState, "at_start", run_out)


def test_a_limit_of_memory_in_which_no_library_loads_is_named():
    """With so little, OpenBLAS would loop for ever while it is imported."""
    low = (300_000_000, 300_000_000)
    done = subprocess.run(
        [sys.executable, "-m", "rlccfr", "games"], capture_output=True, text=True, timeout=60,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, low),
    )  # fmt: skip
    assert (done.returncode, done.stdout) == (1, "")
    assert re.fullmatch(
        r"error: ulimit -v allows 0.3 GB of memory, but the libraries need .* GB: raise it, .*\n", done.stderr
    )


def loader_error() -> OSError:
    """Return the error of llvmlite when the system's loader was refused memory."""
    error = OSError("Could not find/load shared object file 'libllvmlite.so'")
    error.__context__ = OSError("libllvmlite.so: failed to map segment from shared object")
    return error


def error_of_an_import(statement: str, folder) -> SystemError:
    """Return the error of a module with this statement."""
    (folder / "starved.py").write_text(statement)
    sys.path.insert(0, str(folder))
    try:
        importlib.import_module("starved")
    except SystemError as error:
        return error
    finally:
        sys.path.remove(str(folder))
        sys.modules.pop("starved", None)
    raise AssertionError("the module was loaded")


def test_a_lack_of_memory_is_known_by_what_libraries_raise():
    reader = RLCCFRError("out of memory while loading run.npz")
    reader.__cause__ = MemoryError()
    for error, is_shortage in (
        (MemoryError(), True),
        (OSError(errno.ENOMEM, "Cannot allocate memory"), True),
        (OSError(errno.ENOSPC, "No space left on device"), False),
        (RuntimeError("can't start new thread"), True),
        (RuntimeError("mat1 and mat2 shapes cannot be multiplied"), False),
        (loader_error(), True),
        (OSError("Could not find/load shared object file 'libllvmlite.so'"), False),
        (SystemError("error return without exception set"), False),  # not while a module is loaded
        (reader, False),  # says more by itself
    ):
        assert is_out_of_memory(error) is is_shortage, repr(error)


def test_a_fault_of_a_module_is_not_taken_for_a_lack_of_memory(tmp_path):
    assert not is_out_of_memory(error_of_an_import("raise SystemError('a fault')", tmp_path))


def refuse_loading(*given):
    """Raise what Python raises if it can't read a module for lack of memory; the frame's file is the importer's."""
    exec(compile("raise SystemError('error return without exception set')", "<frozen importlib._bootstrap>", "exec"))


def refuse_thread(*given):
    raise RuntimeError("can't start new thread")


@pytest.mark.parametrize("refuse", [refuse_loading, refuse_thread])
def test_memory_that_a_library_is_refused_is_told_in_one_line(run, monkeypatch, refuse):
    monkeypatch.setattr(PublicState, "at_start", refuse)
    code, out, err = run(*solve(GAMES[0]))
    assert (code, out) == (1, "")
    assert err == "error: out of memory; choose a smaller game or budget, or free some memory\n"


def refuse_reading(monkeypatch) -> None:
    monkeypatch.setattr(PublicState, "restored", run_out)


def refuse_third(monkeypatch) -> None:
    monkeypatch.setattr(PublicState, "ready_for", run_out)


@pytest.mark.parametrize(
    ("shortage", "message"),
    [
        (no_room, "GB for .* table entries, but only 1e-06 GB are available: use a smaller game"),
        (refuse_tables, "^error: out of memory; choose a smaller game or budget"),
        (refuse_reading, "^error: out of memory while loading run.npz, which is complete; free some memory"),
    ],
)
@pytest.mark.parametrize("game", GAMES)
def test_a_checkpoint_stays_whole_when_memory_is_short(run, tmp_path, monkeypatch, game, shortage, message):
    assert run(*solve(game))[0] == 0
    before = (tmp_path / "run.npz").read_bytes()
    with monkeypatch.context() as patched:
        shortage(patched)
        code, out, err = run(*solve(game))
    assert (code, out, err.count("\n")) == (1, "", 1)
    assert re.search(message, err)
    assert {path.name for path in tmp_path.iterdir()} == {"run.npz", LOCK}
    assert (tmp_path / "run.npz").read_bytes() == before
    assert run(*solve(game))[0] == 0


def test_a_damaged_checkpoint_is_not_taken_for_a_whole_one_when_memory_is_short(run, tmp_path, monkeypatch):
    """Damaged headers of arrays may ask for any amount of memory."""
    assert run(*solve(GAMES[0]))[0] == 0
    data = bytearray((tmp_path / "run.npz").read_bytes())
    data[data.index(b"policy_sum.npy") + 100] ^= 1
    (tmp_path / "run.npz").write_bytes(data)
    refuse_reading(monkeypatch)
    assert "is not a complete solver file (" in run(*solve(GAMES[0]))[2]


@pytest.mark.parametrize("shortage", [no_room, refuse_third])
@pytest.mark.parametrize("game", GAMES)
def test_a_checkpoint_stays_whole_when_a_switch_finds_no_memory(tmp_path, monkeypatch, game, shortage):
    path, solver = tmp_path / "run.npz", rlccfr.Solver(rlccfr.load_game(game), "dcfr_plus")
    solver.run(iterations=5)
    solver.save(path)
    before = path.read_bytes()
    with monkeypatch.context() as patched:
        shortage(patched)
        with pytest.raises((rlccfr.RLCCFRError, MemoryError)):
            solver.switch(update_rule="pdcfr_plus")
    assert path.read_bytes() == before
    solver.run(iterations=5)
    assert np.array_equal(regrets(solver), regrets(resumed(path)))


def resumed(path):
    solver = rlccfr.Solver.load(path)
    solver.run(iterations=5)
    return solver
