"""The display in a terminal while something runs."""

from __future__ import annotations

import os
import pty
import re
import sys
import time

import pytest
from rich.console import Console

from rlccfr import Solver, load_game
from rlccfr.cli import progress as display
from rlccfr.cli.training_display import BLANK, HEIGHT, WIDTH, TrainingView, curve, solving


def dots(line):
    return [ord(character) - BLANK for character in line[7:]]


def shown(renderable):
    console = Console(width=100)
    with console.capture() as capture:
        console.print(renderable)
    return capture.get()


def test_a_curve_falls_from_its_first_point_to_its_last():
    lines = curve([1, 10, 100, 1000], [1.0, 0.1, 0.01, 0.001], width=40, height=8)
    drawing = [dots(line) for line in lines[:-1]]
    tops = [min(row for row in range(8) if drawing[row][column]) for column in range(40)]
    assert tops == sorted(tops)
    assert (lines[0][:6], lines[7][:6]) == ("  1e+1", "  1e-3")
    assert drawing[7][39]
    assert lines[-1].split() == ["1", "1,000", "iterations"]
    assert len({len(line) for line in lines}) == 1


@pytest.mark.parametrize(
    ("x", "y"), [([1], [0.5]), ([1, 2], [0.5, 0.5]), ([1, 2], [1.0, 0.0]), ([1, 2, 3], [1e-3, 1e5, 1e-20])]
)
def test_any_curve_can_be_drawn(x, y):
    lines = curve(x, y)
    assert len(lines) == HEIGHT + 1
    assert all(len(line) == WIDTH + 7 for line in lines)
    assert any(map(any, map(dots, lines[:-1])))


def test_a_run_shows_how_far_it_is():
    solver = Solver(load_game("kuhn"))
    assert shown(solving(solver)()).strip() == ""
    solver.run(iterations=100)
    text = shown(solving(solver)())
    assert f"exploitability {solver.result().exploitability:.3g} after 100 iterations, " in text
    assert "100 iterations" in text.splitlines()[-1]


def test_a_training_shows_the_last_measurement_and_every_present_pick():
    view = TrainingView()
    assert shown(view()).strip() == ""
    row = {
        "evaluations": 3, "game": "kuhn", "budget": "10 iterations", "preset": "accuracy", "scale": "log",
        "update_rule": "cfr", "sampler": "none", "abstraction": "none", "exploitability": 0.25, "throughput": 1234.0,
        "mean_reward": 0.5, "greedy_update_rule": "dcfr", "greedy_sampler": "none", "greedy_abstraction": "none",
    }  # fmt: skip
    view.saw(row)
    view.saw(row | {"evaluations": 4, "game": "leduc", "greedy_update_rule": "ecfr"})
    text = shown(view())
    last = "cfr x none x none on leduc, exploitability 0.25, 1,234 iterations/s, reward 0.500"
    assert f"4 measured; last: {last}" in text
    assert re.search(r"kuhn +10 iterations +accuracy \(log\) +dcfr x none x none", text)
    assert re.search(r"leduc +10 iterations +accuracy \(log\) +ecfr x none x none", text)


def in_a_terminal(*arguments, encoding="utf-8"):
    """Return the exit code, and all that a command wrote to a terminal of its own."""
    pid, terminal = pty.fork()
    if pid == 0:
        os.environ |= {"TERM": "xterm", "COLUMNS": "100", "LINES": "40", "PYTHONIOENCODING": encoding}
        os.execv(sys.executable, [sys.executable, "-m", "rlccfr", *arguments])
    written = b""
    while True:
        try:
            written += os.read(terminal, 65536)
        except OSError:  # the other end is closed
            return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]), written.decode(encoding)


@pytest.mark.slow
def test_a_terminal_sees_the_curve_of_a_run_and_then_its_result():
    code, text = in_a_terminal("solve", "leduc", "--iterations", "60000")
    assert code == 0
    seen, result = text.rsplit("\x1b[2K", 1)
    assert "solving leduc" in seen
    assert any(ord(character) > BLANK for character in seen)
    assert not any(BLANK <= ord(character) <= BLANK + 255 for character in result)
    assert "NashConv" in result


@pytest.mark.slow
def test_a_terminal_of_another_alphabet_sees_the_bar_alone():
    code, text = in_a_terminal("solve", "leduc", "--seconds", "0.5", encoding="latin-1")
    assert code == 0
    assert "solving leduc" in text
    assert "NashConv" in text


def test_a_drawing_that_fails_ends_nothing(monkeypatch):
    monkeypatch.setattr(display, "stderr", Console(stderr=True, force_terminal=True))
    with display.progress("working", lambda: 1 / 0) as report:
        report(0.5)
        time.sleep(0.4)
