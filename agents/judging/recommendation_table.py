"""The recommendation table, as a DataFrame and in formats for people and programs."""

from __future__ import annotations

import json
import math
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pandas as pd

from rlccfr.catalog import AXES
from rlccfr.errors import RLCCFRError
from rlccfr.files import none_for_nan, write_atomically

if TYPE_CHECKING:
    from matplotlib.axes import Axes

COLUMNS = (
    "game", "budget", "preset", "scale", "method", *AXES, "exploitability", "throughput", "speed", "reward", "regret",
    "normalised_score", "closed_gap", "in_tied_set", "tied_set_size", "converged", "evaluations", "cpu_seconds",
)  # fmt: skip
BEST_WITH, BEST_OF_OTHERS = "best with ", "best of the others"
"""How the name of the best algorithm with a component of one's own begins, and the name of the best of the others."""

SUFFIXES = (".md", ".csv", ".html", ".json")
TEAM, RANDOM, VBS, SBS = "team", "random search", "VBS", "SBS"


@dataclass(frozen=True)
class RecommendationTable:
    """The picks of a team and of the baselines, one row per game, budget, reward weights and method.

    Attributes:
        frame: DataFrame with :data:`COLUMNS`. ``method`` is ``team``, ``random search``, ``VBS`` (best on the game of
            the algorithms that have converged), ``best with my_rule`` (likewise, among those with a component that is
            not this library's, or with a controller from a file), ``best of the others`` (where VBS is one of these),
            ``SBS`` (best on average over the other games) or one of the paper's fixed algorithms.
            ``exploitability`` (NashConv / 2), ``throughput`` (iterations per engine CPU second), ``speed`` and
            ``reward`` are means over the judging runs. ``speed`` is throughput as a multiple of plain CFR's; the reward
            is computed from it. ``reward`` is R̄, with e on the ``scale`` of the preset. An algorithm that has not
            converged in the choosing runs is picked only if the weights ask for speed alone or none has converged.
            ``tied_set_size`` counts the algorithms that can't be told from the best; if it is large, ``in_tied_set``
            says little. ``evaluations`` and ``cpu_seconds`` (engine CPU seconds) are the cost of choosing: for VBS,
            that of every algorithm on the game; for SBS, that of every algorithm on the other games. Values that can't
            be computed are NaN or None.
    """

    frame: pd.DataFrame

    @property
    def picks(self) -> pd.DataFrame:
        """The team's rows."""
        return self.frame[self.frame["method"] == TEAM].reset_index(drop=True)

    @property
    def own(self) -> pd.DataFrame:
        """The rows of the best algorithms with components of one's own, or with controllers from files."""
        return self.frame[self.frame["method"].str.startswith(BEST_WITH)].reset_index(drop=True)

    def to_rows(self) -> list[dict[str, Any]]:
        """Return the rows as JSON-able dicts, with None for NaN."""
        return [
            {str(name): none_for_nan(value) for name, value in row.items()}
            for row in self.frame.astype(object).to_dict("records")
        ]

    def to_json(self) -> str:
        """Return the rows as a JSON list."""
        return json.dumps(self.to_rows(), indent=1, allow_nan=False)

    def to_csv(self) -> str:
        """Return the table as CSV, with a header and with numbers in full."""
        return str(self.frame.to_csv(index=False))

    def to_markdown(self) -> str:
        """Return the table as Markdown, for people.

        Numbers have four significant digits or, from 10,000, no decimals. "not converged" is in words.
        """
        shown = in_words(self.frame)
        lines = [list(shown.columns), ["---"] * len(shown.columns), *shown.to_numpy().tolist()]
        return "\n".join(
            f"| {' | '.join(str(value).replace('|', chr(92) + '|') for value in line)} |" for line in lines
        )

    def to_html(self) -> str:
        """Return the table as HTML, with the texts of :meth:`to_markdown`."""
        return str(in_words(self.frame).to_html(index=False))

    def plot(self, axes: Axes | None = None) -> Axes:
        """Draw the methods' regrets (:func:`rlccfr.agents.judging.regret_picture.draw_regrets`)."""
        from rlccfr.agents.judging.regret_picture import draw_regrets

        return draw_regrets(self.frame, axes)

    def write(self, path: str | Path) -> Path:
        """Write to a file, whole or not at all, in the format that its suffix names: .md, .csv, .html or .json.

        Returns:
            The file's path.

        Raises:
            RLCCFRError: another suffix, or the file can't be written.
        """
        path = checked_path(path)
        write = {".md": self.to_markdown, ".csv": self.to_csv, ".html": self.to_html, ".json": self.to_json}
        write_atomically(path, (write[path.suffix]().rstrip("\n") + "\n").encode(), RLCCFRError)
        return path


def _is_nan(value: Any) -> bool:
    return isinstance(value, float) and math.isnan(value)


def checked_path(path: str | Path) -> Path:
    """Return the path of a table's file, after a check of its suffix.

    Raises:
        RLCCFRError: the suffix is none of :data:`SUFFIXES`.
    """
    path = Path(path)
    if path.suffix not in SUFFIXES:
        raise RLCCFRError(f"a table is written as {', '.join(SUFFIXES)}, not as {path.suffix or path.name!r}")
    return path


def in_words(frame: pd.DataFrame) -> pd.DataFrame:
    """Return the frame with texts for people in place of its values."""
    shown = frame.astype(object).copy()
    for name in frame.columns:
        shown[name] = [_cell_text(name, value) for value in frame[name]]
    return shown


def _cell_text(name: str, value: Any) -> str:
    if name == "converged":
        return "yes" if value else "not converged"
    if value is None or isinstance(value, bool):
        return "-" if value is None else "yes" if value else "no"
    if isinstance(value, float):
        return "-" if _is_nan(value) else f"{value:,.0f}" if abs(value) >= 1e4 else f"{value:.4g}"
    return str(value)
