"""Definition of an experiment: its cases and its page."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import pandas as pd

from rlccfr.files import as_json

Row = dict[str, Any]
"""One observation, in JSON's types."""


class Case(NamedTuple):
    """A part of an experiment that is measured and kept in one go.

    Attributes:
        key: name that no other case of the experiment has; its parts are divided by slashes.
        measure: function that returns the case's rows, applied to all that they depend on.
    """

    key: str
    measure: partial[Sequence[Row]] | partial[list[Row]]

    @property
    def settings(self) -> str:
        """Digest of the function's name and arguments: with others, the case is measured again."""
        call = [self.measure.func.__qualname__, self.measure.args, self.measure.keywords]
        return hashlib.sha256(as_json(call).encode()).hexdigest()[:16]


class Claim(NamedTuple):
    """What a source says, and what is found here.

    Attributes:
        verdict: ``"holds"``, ``"does not hold"`` or ``"can't be told here"``.
        figures: the figures by which it is judged.
    """

    said: str
    verdict: str
    figures: str


@dataclass(frozen=True)
class Experiment:
    """A published experiment.

    Attributes:
        id: name on the command line, and of the page's file.
        title: title of the page.
        source: the publication.
        cases: function that returns all cases: those of the full run, or the few of a quick one.
        page: function that draws pictures into a directory and yields the page's lines after the title. It takes all
            rows, which have the further columns ``case`` and ``processor``, and whether the run was a quick one.
        claims: function that judges, by the same rows, what the source says.
    """

    id: str
    title: str
    source: str
    cases: Callable[[bool], Sequence[Case]]
    page: Callable[[pd.DataFrame, Path, bool], Iterator[str]]
    claims: Callable[[pd.DataFrame], Sequence[Claim]]
