from __future__ import annotations

import math
import re
import sys
import time

import pytest
from rich.progress import Progress

from rlccfr.cli import progress as display
from rlccfr.cli.progress import duration, progress
from rlccfr.games.openspiel import _quiet


def written(capture, pattern: str) -> str:
    """Return what stderr has until a pattern is in it."""
    text, deadline = "", time.monotonic() + 60
    while time.monotonic() < deadline and not re.search(pattern, text):
        time.sleep(0.01)
        text += capture.readouterr().err
    return text


@pytest.fixture
def impatient(monkeypatch):
    monkeypatch.setattr(display, "FIRST_LINE", 0.01)
    monkeypatch.setattr(display, "LINE_EVERY", 0.01)


@pytest.mark.usefixtures("impatient")
def test_work_in_a_pipe_says_how_far_it_is(capfd):
    with progress("measuring") as report:
        assert re.match(r"measuring: at work, \S+.* passed\n", written(capfd, "passed\n"))
        report(0.25)
        assert re.search(r"^measuring: 25%, \S+.* left, \S+.* passed$", written(capfd, "25%.*\n"), re.MULTILINE)
        report(0.5, "2 of 4 runs")
        assert "measuring 2 of 4 runs: 50%, " in written(capfd, "50%.*\n")
        report(0.9, seconds_left=90.0)
        assert "measuring: 90%, about 1 min 30 s left" in written(capfd, "90%.*\n")
        report(0.95, seconds_left=math.inf)
        assert "measuring: 95%, over a month left" in written(capfd, "95%.*\n")
    capfd.readouterr()
    time.sleep(0.05)
    assert capfd.readouterr().err == ""


@pytest.mark.usefixtures("impatient")
def test_lines_come_through_while_stderr_is_hidden_from_openspiel(capfd):
    with progress("compiling"), _quiet():
        assert "compiling: at work" in written(capfd, "passed\n")


@pytest.mark.usefixtures("impatient")
def test_a_full_stderr_ends_nothing(monkeypatch):
    with open("/dev/full", "w") as full:
        monkeypatch.setattr(sys, "stderr", full)
        with progress("working") as report:
            time.sleep(0.05)
            report(0.5)


def test_short_work_in_a_pipe_is_silent(capfd):
    with progress("starting") as report:
        report(1.0)
    assert capfd.readouterr().err == ""


@pytest.mark.parametrize(
    ("seconds", "words"),
    [
        (0.0, "under 1 s"),
        (0.6, "1 s"),
        (59.4, "59 s"),
        (59.6, "1 min"),
        (90, "1 min 30 s"),
        (3_600, "1 h"),
        (7_850.0, "2 h 10 min"),
        (86_400 + 3_599, "1 d"),
        (200_000, "2 d 7 h"),
        (math.inf, "an unknown time"),
    ],
)
def test_a_duration_has_its_two_largest_units(seconds, words):
    assert duration(seconds) == words


@pytest.mark.parametrize(("left", "shown"), [(90.0, "about 1 min 30 s"), (1e9, "over a month"), (None, "-:--:--")])
def test_a_terminal_sees_the_time_that_is_left_as_it_was_reported(left, shown):
    column = display.TimeLeft()
    bar = Progress(column)
    task = bar.add_task("solving", total=1.0, seconds_left=left)
    assert str(column.render(bar.tasks[task])) == shown
