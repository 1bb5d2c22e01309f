"""Processes that answer line by line, for contenders that run in an environment or a checkout of their own."""

from __future__ import annotations

import subprocess
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

Ask = Callable[[str], str]
"""Function that sends a line to a process and returns its answer, also a line."""


class ProcessEndedError(Exception):
    """A process ended instead of answering; the message is the last line that it wrote to standard error."""


@contextmanager
def answering(command: Sequence[str], folder: Path) -> Iterator[Ask]:
    """Start a process for a block of code; it ends with the block.

    Args:
        command: the command.
        folder: the folder in which it runs.

    Yields:
        A function for questions. It raises :class:`ProcessEndedError` if the process has ended.
    """
    pipe = subprocess.PIPE
    with subprocess.Popen(command, cwd=folder, stdin=pipe, stdout=pipe, stderr=pipe, text=True) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        assert process.stderr is not None
        lines_in, lines_out, errors = process.stdin, process.stdout, process.stderr

        def ask(line: str) -> str:
            with suppress(BrokenPipeError):  # the process has ended, and its last error is read below
                print(line, file=lines_in, flush=True)
            answer = lines_out.readline()
            if not answer:
                written = errors.read().strip().splitlines()
                raise ProcessEndedError(written[-1] if written else f"{command[0]} ended without a message")
            return answer.strip()

        try:
            yield ask
        finally:
            process.kill()
