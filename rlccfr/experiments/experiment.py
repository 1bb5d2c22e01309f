"""Definition of an experiment: its cases, its page, and the claims of its source."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import pandas as pd

from rlccfr.errors import RLCCFRError
from rlccfr.experiments.public_files import PublicFile
from rlccfr.files import as_json

Row = dict[str, Any]
"""One row of an experiment's results: values of JSON's types, keyed by the names of columns."""

HOLDS, FAILS, ALIKE, OPEN = "holds", "does not hold", "no difference seen", "can't be told here"
VERDICTS = (HOLDS, FAILS, ALIKE, OPEN)
"""Verdicts on a source's claim. A claim that two things are equal can be refuted, but no number of seeds proves it:
runs can only show that no difference is seen."""

NO_STAND_IN = "-"
"""Value of :attr:`Claim.stand_in` for a claim that is judged on its source's own games and algorithms."""


class Case(NamedTuple):
    """A part of an experiment that is measured and stored as a unit.

    Attributes:
        key: name that is unique within the experiment: its fields, separated by slashes.
        measure: function that returns the case's rows, bound to all arguments on which the rows depend.
        files: files that the function reads; those that are not on this machine are downloaded before a run begins.
    """

    key: str
    measure: partial[Sequence[Row]] | partial[list[Row]]
    files: tuple[PublicFile, ...] = ()

    @property
    def settings(self) -> str:
        """Digest of the function's name and arguments; a case whose digest has changed is measured again."""
        call = [self.measure.func.__qualname__, self.measure.args, self.measure.keywords]
        return hashlib.sha256(as_json(call).encode()).hexdigest()[:16]


@dataclass(frozen=True)
class Finding:
    """The verdict on a claim for one game.

    Attributes:
        verdict: one of :data:`VERDICTS`.
        seeds: number of seeds of each algorithm that draws at random; 0 if none of them does, or if nothing was run.

    Raises:
        RLCCFRError: the verdict is unknown, or the number of seeds is negative.
    """

    verdict: str
    seeds: int

    def __post_init__(self) -> None:
        if self.verdict not in VERDICTS:
            raise RLCCFRError(f"a verdict must be one of {', '.join(VERDICTS)}, not {self.verdict!r}")
        if self.seeds < 0:
            raise RLCCFRError(f"the number of seeds must not be negative, but it is {self.seeds}")

    def __str__(self) -> str:
        """The verdict, with a remark if it rests on a single run."""
        single_run = self.seeds == 1 and self.verdict != OPEN
        return f"{self.verdict} in the one run made" if single_run else self.verdict

    @property
    def drawn(self) -> str:
        """The number of seeds as a string; if it is 0, a dash for an open verdict, otherwise ``nothing drawn``."""
        if self.seeds:
            return str(self.seeds)
        return "-" if self.verdict == OPEN else "nothing drawn"


@dataclass(frozen=True)
class Claim:
    """A claim of a source, and the verdicts on it by runs of this library.

    Attributes:
        said: the claim, as the source means it.
        findings: verdicts, keyed by the name of the game.
        figures: the figures by which the claim is judged.
        stand_in: what was run instead of the source's game or algorithm, and what of the source was not run;
            :data:`NO_STAND_IN` if nothing stands in.

    Raises:
        RLCCFRError: there is no game, or ``said``, ``figures`` or ``stand_in`` is empty.
    """

    said: str
    findings: Mapping[str, Finding]
    figures: str
    stand_in: str

    def __post_init__(self) -> None:
        if not self.findings or not all(self.findings):
            raise RLCCFRError(f"the claim {self.said!r} must name the games that it is judged on")
        for name in ("said", "figures", "stand_in"):
            if not getattr(self, name):
                raise RLCCFRError(f"the claim {self.said!r} needs a non-empty {name!r}")

    @property
    def verdict(self) -> str:
        """The verdict if it is the same on all games; otherwise each verdict with its games."""
        return _by_game({game: str(finding) for game, finding in self.findings.items()})

    @property
    def seeds(self) -> str:
        """The number of seeds if it is the same on all games; otherwise each number with its games."""
        return _by_game({game: finding.drawn for game, finding in self.findings.items()})

    @property
    def row(self) -> tuple[str, ...]:
        """The claim as a row of a table with the columns :data:`COLUMNS`."""
        return self.said, self.verdict, "; ".join(self.findings), self.seeds, self.stand_in, self.figures


def _by_game(texts: Mapping[str, str]) -> str:
    """Return the text if it is the same for all games; otherwise each text with its games."""
    games_by_text: dict[str, list[str]] = {}
    for game, text in texts.items():
        games_by_text.setdefault(text, []).append(game)
    if len(games_by_text) == 1:
        return next(iter(games_by_text))
    return "; ".join(f"{text} on {', '.join(games)}" for text, games in games_by_text.items())


COLUMNS = ("said", "here", "games", "seeds", "stand-in", "figures")
"""Columns of a table of claims."""


@dataclass(frozen=True)
class Experiment:
    """A published experiment.

    Attributes:
        id: name on the command line, and of the page's file.
        title: title of the page.
        source: the publication.
        cases: function that is told whether the run is a quick one, and returns all cases of the run.
        page: function that is given the rows of all cases, a directory for the pictures, and whether the run is a quick
            one. It draws the pictures, and yields the page's lines after the title. The rows have the further columns
            ``case`` (the key) and ``processor``.
        claims: function that is given the same rows, and returns the source's claims with verdicts.
    """

    id: str
    title: str
    source: str
    cases: Callable[[bool], Sequence[Case]]
    page: Callable[[pd.DataFrame, Path, bool], Iterator[str]]
    claims: Callable[[pd.DataFrame], Sequence[Claim]]
