"""What a training writes down: a CSV that survives a restart, and TensorBoard where it is installed."""

from __future__ import annotations

import csv
import importlib.util
from collections.abc import Callable, Mapping
from pathlib import Path
from types import TracebackType

from stable_baselines3.common.logger import KVWriter, Logger, TensorBoardOutputFormat

from rlccfr.checkpoint import require_writable

Row = Mapping[str, float | int | str]


class TrainingLog:
    """Writes a row for each measured episode; to nowhere without a directory.

    Rows go to ``training.csv`` in the directory, after those of an earlier part of the same training, and through
    Stable-Baselines3's logger to TensorBoard's event files beside it if tensorboard is installed.

    Args:
        resumes: whether the training began earlier; if not, the rows of another one are dropped.
        callback: called with each row.

    Raises:
        RLCCFRError: the directory can't be written.
    """

    def __init__(
        self, directory: Path | None, resumes: bool = False, callback: Callable[[Row], None] | None = None
    ) -> None:
        self._callback = callback
        self._path = directory / "training.csv" if directory else None
        outputs: list[KVWriter] = []
        if directory and self._path:
            require_writable(self._path)
            if not resumes:
                self._path.unlink(missing_ok=True)
            if importlib.util.find_spec("tensorboard"):
                outputs.append(TensorBoardOutputFormat(str(directory)))
        self._logger = Logger(str(directory) if directory else None, outputs)

    def write(self, step: int, row: Row) -> None:
        """One row; every row must have the same columns.

        Args:
            step: TensorBoard's horizontal axis.
        """
        if self._callback:
            self._callback(row)
        if self._path is None:
            return
        fresh = not self._path.exists()
        with self._path.open("a", newline="") as file:
            writer = csv.DictWriter(file, list(row))
            if fresh:
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
