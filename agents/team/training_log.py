"""What a training writes down: a CSV that survives a restart, and TensorBoard where it is installed."""

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

Row = Mapping[str, float | int | str]


class TrainingLog:
    """Writes a row for each measured episode; to nowhere without a directory.

    Rows go to ``training.csv`` in the directory, after those of an earlier part of the same training, and through
    Stable-Baselines3's logger to TensorBoard's event files beside it if tensorboard is installed.

    Args:
        evaluations: that the training has made before; what the directory's rows tell of others is dropped.
        callback: called with each row.

    Raises:
        RLCCFRError: the directory can't be written.
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


def _drop_after(evaluations: int, path: Path) -> None:
    """Leave out rows of another training, or of this one where it was killed before they were saved with the team."""
    with path.open(newline="") as file:
        lines = list(csv.reader(file))
    whole = [line for line in lines[1:] if len(line) == len(lines[0]) and line[0].isdigit()]
    kept = [line for line in whole if int(line[0]) <= evaluations]
    if not kept:
        path.unlink()
        return
    text = io.StringIO(newline="")
    csv.writer(text).writerows([lines[0], *kept])
    write_atomically(path, text.getvalue().encode(), RLCCFRError)
