"""What an experiment is: cases that are measured, and a page that tells what came out."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import pandas as pd

Row = dict[str, Any]
"""One observation, in JSON's types."""


class Case(NamedTuple):
    """A part of an experiment that is measured and kept in one go.

    Attributes:
        key: name that no other case of the experiment has.
        measure: function that returns the case's rows.
    """

    key: str
    measure: Callable[[], Sequence[Row]]


@dataclass(frozen=True)
class Experiment:
    """A published experiment.

    Attributes:
        id: name on the command line, and of the page's file.
        title: title of the page.
        cases: function that returns all cases: those of the full run, or the few of a quick one.
        page: function that draws pictures into a directory and yields the page's lines after the title. It takes all
            rows, which have a further column ``case``, and whether the run was a quick one.
    """

    id: str
    title: str
    cases: Callable[[bool], Sequence[Case]]
    page: Callable[[pd.DataFrame, Path, bool], Iterator[str]]
