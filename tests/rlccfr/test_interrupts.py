"""Ctrl-C is told as such, wherever it arrives."""

from __future__ import annotations

import subprocess
import sys

import pytest

from rlccfr import __main__ as entry
from rlccfr import load_game
from rlccfr.cli import main
from rlccfr.errors import RLCCFRError
from rlccfr.interrupts import is_interrupt


def failing(kind, text):
    """Return a function that fails with an error that Ctrl-C has caused."""

    def fail(*_, **__):
        try:
            raise KeyboardInterrupt
        except KeyboardInterrupt as interrupt:
            raise kind(text) from interrupt

    return fail


failed_import = failing(ImportError, "initialization failed")  # a library in C++ that Ctrl-C reaches while it loads


class Entry:
    """A plugin whose loading Ctrl-C cuts short."""

    name = "mine"
    load = staticmethod(failed_import)


class Interrupted:
    """A module whose import Ctrl-C cuts short."""

    main = property(failed_import)


def test_what_ctrl_c_has_caused_counts_as_ctrl_c():
    assert is_interrupt(KeyboardInterrupt())
    with pytest.raises(ImportError) as caught:
        failed_import()
    assert is_interrupt(caught.value)
    own_cause = ImportError("a library is damaged")
    own_cause.__cause__ = own_cause
    assert not is_interrupt(own_cause)


@pytest.mark.parametrize(("kind", "counts"), [(ImportError, True), (OSError, False)])
def test_an_error_while_ctrl_c_is_handled_counts_only_if_an_import_fails(kind, counts):
    error = kind()
    error.__context__ = KeyboardInterrupt()
    assert is_interrupt(error) == counts


@pytest.mark.parametrize(
    ("place", "words"),
    [("rlccfr.cli.app", "games"), ("rlccfr.testing.check_update_rule", "check cfr")],
)
def test_an_error_that_ctrl_c_has_caused_is_no_fault_of_a_command_or_a_component(run, monkeypatch, place, words):
    monkeypatch.setattr(place, failing(SystemError, "returned a result with an exception set"))
    assert run(*words.split()) == (130, "", "error: interrupted\n")


def test_a_file_that_could_not_be_written_after_ctrl_c_is_told(run, monkeypatch):
    def fail(*_, **__):
        try:
            raise KeyboardInterrupt
        except KeyboardInterrupt:
            try:
                raise OSError("no space left")
            except OSError as error:
                raise RLCCFRError("can't write team.npz") from error

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


@pytest.mark.slow
def test_the_exit_code_is_ours_after_an_interrupt_inside_an_exec(tmp_path):
    (tmp_path / "mine.py").write_text('exec("raise KeyboardInterrupt")')
    ended = subprocess.run(
        [sys.executable, "-m", "rlccfr", "--load", "mine.py", "games"],
        capture_output=True, text=True, cwd=tmp_path, check=False,
    )  # fmt: skip
    assert (ended.returncode, ended.stderr) == (130, "error: interrupted\n")


def test_ctrl_c_in_a_users_file_or_a_plugins_module_is_no_fault_of_theirs(run, monkeypatch, tmp_path):
    text = "try:\n    raise KeyboardInterrupt\nexcept KeyboardInterrupt as error:\n    raise ImportError from error\n"
    (tmp_path / "mine.py").write_text(text)
    assert run("--load", "mine.py", "games") == (130, "", "error: interrupted\n")
    monkeypatch.setattr("rlccfr.plugins.loaded.plugins", False)
    monkeypatch.setattr("rlccfr.plugins.entry_points", lambda group: [Entry()])
    assert run("--plugins", "games") == (130, "", "error: interrupted\n")


def test_ctrl_c_in_openspiel_is_no_fault_of_a_game(monkeypatch):
    monkeypatch.setattr("pyspiel.load_game", failing(SystemError, "returned a result with an exception set"))
    with pytest.raises(KeyboardInterrupt):
        load_game("kuhn_poker(players=2)")
