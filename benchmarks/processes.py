"""Processes that answer line by line, for contenders that run in an environment or a checkout of their own."""

from __future__ import annotations

import subprocess
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

Ask = Callable[[str], str]
"""Function that sends a line to a process and returns its answer, also a line."""


class ProcessEndedError(Exception):
    """A process ended instead of answering; the message has its exit status and its last line of standard error."""


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
    # Errors go to a file: if they went to a pipe that nobody reads, the process would wait once the pipe is full.
    with tempfile.TemporaryFile("w+", errors="replace") as errors:
        process = subprocess.Popen(command, cwd=folder, stdin=pipe, stdout=pipe, stderr=errors, text=True)
        assert process.stdin is not None
        assert process.stdout is not None
        questions, answers = process.stdin, process.stdout

        def ask(line: str) -> str:
            with suppress(BrokenPipeError):  # the process has ended, and so has no answer
                print(line, file=questions, flush=True)
            answer = answers.readline()
            if not answer:
                status = process.wait()
                errors.seek(0)
                last = (errors.read().strip().splitlines() or ["without a message"])[-1]
                raise ProcessEndedError(f"{last}; exit status {status}")
            return answer.strip()

        try:
            yield ask
        finally:
            process.kill()
            process.wait()
            answers.close()
            with suppress(BrokenPipeError):  # a question that could not be sent is flushed again
                questions.close()
