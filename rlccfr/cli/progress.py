"""Progress of long work on standard error: a bar on a terminal, elsewhere a line now and then."""

from __future__ import annotations

import math
import os
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import TextIO

from rich.console import Console, Group, RenderableType
from rich.live import Live
from rich.progress import (
    BarColumn,
    Progress,
    Task,
    TaskProgressColumn,
    TextColumn,
    TimeElapsedColumn,
    TimeRemainingColumn,
)
from rich.text import Text

FIRST_LINE = 10.0
"""Seconds until the first line of progress, where stderr is not a terminal."""

LINE_EVERY = 60.0
"""Seconds between later lines."""


stderr = Console(stderr=True)


@contextmanager
def progress(description: str, below: Callable[[], RenderableType] | None = None) -> Iterator[Callable[..., None]]:
    """Show progress on stderr: a bar on a terminal, removed at the end; elsewhere a line now and then.

    The bar pulses until the first share is known.

    Args:
        description: name of the work.
        below: function called several times per second for what to show below the bar on a terminal.

    Yields:
        Function to call with the share done. It has two optional arguments: ``words`` to show after the description,
        and ``seconds_left`` for work whose remaining time does not follow from the share and the time so far; NaN
        stands for an unknown time.
    """
    with _separate_stderr() as stream:
        display = _bar(stream, description, below) if stderr.is_terminal else _lines(stream, description)
        with display as report:
            yield report


@contextmanager
def _separate_stderr() -> Iterator[TextIO]:
    """Yield a separate stream to stderr, to which threads can write even while OpenSpiel's stderr is hidden."""
    try:
        descriptor = os.dup(sys.stderr.fileno())
    except (OSError, ValueError):  # a stream without a descriptor, such as a test's
        yield sys.stderr
        return
    stream = open(descriptor, "w", encoding=sys.stderr.encoding, errors="replace")  # noqa: SIM115
    try:
        yield stream
    finally:
        with suppress(OSError):  # closing tries again to write what a full device refused
            stream.close()


class TimeLeft(TimeRemainingColumn):
    """The time that is left: as it was reported or, without a report, as it follows from the bar's speed."""

    def render(self, task: Task) -> Text:
        seconds_left = task.fields.get("seconds_left")
        if seconds_left is None:
            return super().render(task)
        return Text(in_words(seconds_left), style="progress.remaining")


@contextmanager
def _bar(stream: TextIO, description: str, below: Callable[[], RenderableType] | None) -> Iterator[Callable[..., None]]:
    """Show a bar on a terminal, and below it what ``below`` returns."""
    columns = (TextColumn("{task.description}"), BarColumn(), TaskProgressColumn(), TimeElapsedColumn())
    bar = Progress(*columns, TextColumn("left:"), TimeLeft())
    bar_alone = below is None or "utf" not in sys.stderr.encoding.lower()  # drawings need more than ASCII

    def picture() -> RenderableType:
        if below is None or bar_alone:
            return bar.get_renderable()
        try:
            return Group(bar.get_renderable(), below())
        except Exception:  # a fault of the display must not end the work
            return bar.get_renderable()

    with Live(get_renderable=picture, console=Console(file=stream), transient=True, refresh_per_second=4):
        task = bar.add_task(description, total=None)

        def report(share: float, words: str = "", seconds_left: float | None = None) -> None:
            bar.update(
                task,
                total=1.0,
                completed=share,
                description=f"{description} {words}".rstrip(),
                seconds_left=seconds_left,
            )

        yield report


@contextmanager
def _lines(stream: TextIO, description: str) -> Iterator[Callable[..., None]]:
    """Write lines of progress from a thread, since the work may not report for minutes; short work writes no line."""
    begin = time.monotonic()
    is_done = threading.Event()
    share_done = 0.0
    title = description
    reported_seconds_left: float | None = None

    def report(share: float, words: str = "", seconds_left: float | None = None) -> None:
        nonlocal share_done, title, reported_seconds_left
        share_done = share
        title = f"{description} {words}".rstrip()
        reported_seconds_left = seconds_left

    # Runs in the thread, and reads what the last report has noted.
    def write() -> None:
        pause = FIRST_LINE
        while not is_done.wait(pause):
            pause = LINE_EVERY
            passed = time.monotonic() - begin
            seconds_left = reported_seconds_left
            if seconds_left is None and share_done:  # the rest takes as long for its size as what is done
                seconds_left = passed / share_done - passed
            state = "at work" if seconds_left is None else f"{share_done:.0%}, {in_words(seconds_left)} left"
            with suppress(OSError, ValueError):  # a closed or full stderr must not end the work
                print(f"{title}: {state}, {duration(passed)} passed", file=stream, flush=True)

    thread = threading.Thread(target=write, daemon=True)
    thread.start()
    try:
        yield report
    finally:
        is_done.set()
        thread.join()


MONTH = 30 * 86_400
"""Seconds beyond which a prediction gives no number: a curve says nothing about so distant a time."""


def in_words(seconds_left: float) -> str:
    """Return the remaining time in words; NaN stands for an unknown time."""
    if math.isnan(seconds_left):
        return "an unknown time"
    if seconds_left < 0.5:
        return "under 1 s"
    return f"about {duration(seconds_left)}" if seconds_left < MONTH else "over a month"


UNITS = (("d", 86_400), ("h", 3_600), ("min", 60), ("s", 1))
"""Units of durations, the largest first, and their seconds."""


def duration(seconds: float) -> str:
    """Return a duration in its two largest units: ``40 s``, ``3 min 5 s``, ``2 h 10 min``."""
    if not math.isfinite(seconds):
        return "an unknown time"
    counts = []
    seconds_left = round(seconds)
    for unit, size in UNITS:
        count, seconds_left = divmod(seconds_left, size)
        counts.append((count, unit))
    largest = next((place for place, (count, _) in enumerate(counts) if count), None)
    if largest is None:
        return "under 1 s"
    return " ".join(f"{count} {unit}" for count, unit in counts[largest : largest + 2] if count)
