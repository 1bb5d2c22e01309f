"""Ctrl-C is told as such, wherever it arrives."""

from __future__ import annotations

import subprocess
import sys

import pytest

from rlccfr import __main__ as entry
from rlccfr.cli import main
from rlccfr.errors import RLCCFRError
from rlccfr.interrupts import is_interrupt


def failing(error):
    """Return a function that fails with an error that Ctrl-C has caused."""

    def fail(*_, **__):
        try:
            raise KeyboardInterrupt
        except KeyboardInterrupt as interrupt:
            raise error from interrupt

    return fail


failed_import = failing(ImportError("initialization failed"))  # a library in C++ that Ctrl-C reaches while it loads


class Interrupted:
    """A module whose import Ctrl-C cuts short."""

    main = property(failed_import)


def test_what_ctrl_c_has_caused_counts_as_ctrl_c():
    assert is_interrupt(KeyboardInterrupt())
    with pytest.raises(ImportError) as caught:
        failed_import()
    assert is_interrupt(caught.value)
    assert not is_interrupt(ImportError("a library is damaged"))


@pytest.mark.parametrize("error", [ImportError("initialization failed"), SystemError(), RLCCFRError("can't compile")])
def test_an_error_of_a_command_that_ctrl_c_has_caused_is_no_fault(run, monkeypatch, error):
    monkeypatch.setattr("rlccfr.cli.app", failing(error))
    assert run("games") == (130, "", "error: interrupted\n")


def test_a_file_that_could_not_be_written_after_ctrl_c_is_told(run, monkeypatch):
    def fail(*_, **__):
        try:
            raise KeyboardInterrupt
        finally:
            raise RLCCFRError("can't write team.npz")

    monkeypatch.setattr("rlccfr.cli.app", fail)
    assert run("games") == (1, "", "error: can't write team.npz\n")


def test_a_fault_of_ours_keeps_its_traceback(monkeypatch):
    def fail(*_, **__):
        raise SystemError("ours")

    monkeypatch.setattr("rlccfr.cli.app", fail)
    with pytest.raises(SystemError, match="ours"):
        main(["games"])


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
