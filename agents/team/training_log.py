"""The log of a training run: a CSV file that survives a restart, and TensorBoard's files if it is installed."""

from __future__ import annotations

import csv
import importlib.util
import io
from collections.abc import Callable, Mapping
from pathlib import Path
from types import TracebackType

from stable_baselines3.common.logger import KVWriter, Logger, TensorBoardOutputFormat

from rlccfr.errors import RLCCFRError
from rlccfr.files import require_writable, write_atomically

FIRST_COLUMN = "evaluations"
"""Name of the first column of a log, by which a file of another kind is recognised."""

Row = Mapping[str, float | int | str]


class TrainingLog:
    """A log with one row per measured episode; without a directory, no file is written.

    Rows are appended to ``training.csv`` in the directory; the file may already have rows of an earlier part of the
    training run. If tensorboard is installed, Stable-Baselines3's logger also writes the rows to its event files there.

    Args:
        directory: directory to write to; None to write nothing.
        evaluations: number of evaluations that the training run has already made; the file's rows of later evaluations
            are dropped.
        callback: function called with each row.

    Raises:
        RLCCFRError: the directory can't be written, or has a ``training.csv`` of another kind.
    """

    def __init__(
        self, directory: Path | None, evaluations: int = 0, callback: Callable[[Row], None] | None = None
    ) -> None:
        self._callback = callback
        self._path = directory / "training.csv" if directory else None
        outputs: list[KVWriter] = []
        if directory and self._path:
            require_writable(self._path)
            if self._path.exists():
                _drop_after(evaluations, self._path)
            if importlib.util.find_spec("tensorboard"):
                outputs.append(TensorBoardOutputFormat(str(directory)))
        self._logger = Logger(str(directory) if directory else None, outputs)

    def write(self, step: int, row: Row) -> None:
        """Write one row; every row must have the same columns.

        A file of an earlier version keeps its columns.

        Args:
            step: position on TensorBoard's horizontal axis.
        """
        if self._callback:
            self._callback(row)
        if self._path is None:
            return
        with self._path.open("a+", newline="", encoding="utf-8") as file:
            file.seek(0)
            columns = next(csv.reader(file), [])
            writer = csv.DictWriter(file, columns or list(row), extrasaction="ignore")
            if not columns:
                writer.writeheader()
            writer.writerow(row)
        for name, value in row.items():
            self._logger.record(f"team/{name}", value)
        self._logger.dump(step)

    def __enter__(self) -> TrainingLog:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._logger.close()


def _drop_after(evaluations: int, path: Path) -> None:
    """Drop incomplete rows and the rows of later evaluations; remove the file if no row is left.

    Rows of later evaluations are from another training run, or were written after the team was last saved.

    Raises:
        RLCCFRError: the file is not a log of a training run.
    """
    foreign = RLCCFRError(f"{path} is not a log of a training run; choose another directory (--out)")
    try:
        with path.open(newline="", encoding="utf-8") as file:
            lines = list(csv.reader(file))
    except (UnicodeDecodeError, csv.Error):
        raise foreign from None
    if lines and lines[0][:1] != [FIRST_COLUMN]:
        raise foreign
    # If the process was killed while it wrote a row, the last row is incomplete.
    complete_rows = [line for line in lines[1:] if len(line) == len(lines[0]) and line[0].isdigit()]
    rows = [line for line in complete_rows if int(line[0]) <= evaluations]
    if not rows:
        path.unlink()
        return
    text = io.StringIO(newline="")
    csv.writer(text).writerows([lines[0], *rows])
    write_atomically(path, text.getvalue().encode(), RLCCFRError)
