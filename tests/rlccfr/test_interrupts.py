"""Ctrl-C is told as such, wherever it arrives."""

from __future__ import annotations

import subprocess
import sys

import pytest

from rlccfr import __main__ as entry
from rlccfr.interrupts import is_interrupt


def failed_import(*_, **__):
    """Fail like a library in C++ that Ctrl-C reaches while it loads."""
    try:
        raise KeyboardInterrupt
    except KeyboardInterrupt as error:
        raise ImportError("initialization failed") from error


class Interrupted:
    """A module whose import Ctrl-C cuts short."""

    main = property(failed_import)


def test_what_ctrl_c_has_caused_counts_as_ctrl_c():
    assert is_interrupt(KeyboardInterrupt())
    with pytest.raises(ImportError) as caught:
        failed_import()
    assert is_interrupt(caught.value)
    assert not is_interrupt(ImportError("a library is damaged"))


def test_an_interrupted_import_in_a_command_is_no_fault_of_a_library(run, monkeypatch):
    monkeypatch.setattr("rlccfr.cli.app", failed_import)
    assert run("games") == (130, "", "error: interrupted\n")


def test_an_interrupted_import_of_the_command_line_is_none_either(monkeypatch, capsys):
    monkeypatch.setitem(sys.modules, "rlccfr.cli", Interrupted())
    with pytest.raises(SystemExit) as ended:
        entry.main()
    assert ended.value.code == 130
    assert capsys.readouterr().err == "error: interrupted\n"


def test_the_exit_code_is_ours_after_an_interrupt_inside_an_exec(tmp_path):
    (tmp_path / "mine.py").write_text('exec("raise KeyboardInterrupt")')
    ended = subprocess.run(
        [sys.executable, "-m", "rlccfr", "--load", "mine.py", "games"],
        capture_output=True, text=True, cwd=tmp_path, check=False,
    )  # fmt: skip
    assert (ended.returncode, ended.stderr) == (130, "error: interrupted\n")
