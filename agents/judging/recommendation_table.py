"""The recommendation table, as a DataFrame and in formats for readers and programs."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pandas as pd

from rlccfr.catalog import AXES
from rlccfr.errors import RLCCFRError
from rlccfr.files import none_for_nan, write_atomically
from rlccfr.pictures import new_axes

if TYPE_CHECKING:
    from matplotlib.axes import Axes

COLUMNS = (
    "game", "budget", "preset", "scale", "method", *AXES, "exploitability", "throughput", "speed", "reward", "regret",
    "normalised_score", "closed_gap", "in_tied_set", "tied_set_size", "converged", "evaluations", "cpu_seconds",
)  # fmt: skip

TEAM = "team"
RANDOM = "random search"
VBS = "VBS"
SBS = "SBS"
BEST_WITH = "best with "
"""Beginning of the name of the best algorithm with a user's component; the component's id follows."""

BEST_OF_OTHERS = "best of the others"
"""Name of the best algorithm without a user's component."""

SUFFIXES = (".md", ".csv", ".html", ".json", ".tex")
"""Suffixes of the files that a table is written to."""

LATEX_COLUMNS = (
    "game", "budget", "preset", "method", *AXES, "exploitability", "throughput", "speed", "reward", "regret",
)  # fmt: skip
"""Columns of the table in LaTeX: as many as fit on a page."""

IN_LATEX = str.maketrans(
    {
        "\\": r"\textbackslash{}",
        "~": r"\textasciitilde{}",
        "^": r"\textasciicircum{}",
        **{sign: f"\\{sign}" for sign in "&%$#_{}"},
    }
)
"""LaTeX's spelling of the characters that LaTeX would read as commands."""

MARKS = "osD^vP*X<>"
"""Matplotlib's markers of the methods in a picture, in the order of the table."""

SHORTEST = 1e-4
"""Least regret on a picture's logarithmic axis; smaller regrets are drawn at this value."""


@dataclass(frozen=True)
class RecommendationTable:
    """The picks of a team and of the baselines, one row per game, budget, reward weights and method.

    Attributes:
        frame: DataFrame with :data:`COLUMNS`. ``method`` is ``team``, ``random search``, ``VBS`` (the best of the
            algorithms that have converged on this game; of equal rewards, the least exploitable and then the fastest is
            the best), ``SBS`` (the best on average over the other games), one of the paper's fixed algorithms, or a
            search of :data:`rlccfr.agents.judging.bench.SEARCHES`. Two more methods concern a user's components and
            components with a controller from a file: ``best with my_rule`` is the best algorithm with such a component,
            here ``my_rule``; ``best of the others`` is the best algorithm without any such component, and has a row
            only if the VBS has such a component. ``exploitability`` (NashConv / 2), ``throughput`` (iterations per
            engine CPU second), ``speed`` (throughput as a multiple of plain CFR's) and ``reward`` (R̄, with e on the
            ``scale`` of the preset) are means over the judging runs. An algorithm that has not converged in the
            choosing runs is picked only if the weights ask for speed alone or none has converged. ``regret``,
            ``normalised_score`` and ``closed_gap`` are defined in :mod:`rlccfr.agents.judging.scores`.
            ``tied_set_size`` is the number of algorithms in the tied set, which are not clearly worse than the best
            (:meth:`rlccfr.agents.judging.evidence.Evidence.tied`); if it is large, ``in_tied_set`` says little.
            ``evaluations`` and ``cpu_seconds`` (engine CPU seconds) are the cost of choosing: for VBS, the cost of
            running every algorithm on the game; for SBS, the same on the other games. Values that can't be computed are
            NaN or None.
    """

    frame: pd.DataFrame

    @property
    def picks(self) -> pd.DataFrame:
        """The team's rows; if no team was asked, the rows of the best measured algorithms (VBS)."""
        picks = self.frame[self.frame["method"] == TEAM]
        if picks.empty:
            picks = self.frame[self.frame["method"] == VBS]
        return picks.reset_index(drop=True)

    @property
    def own(self) -> pd.DataFrame:
        """The rows whose method begins with ``best with``.

        Each is about one component that the user wrote, or whose controller is from a file.
        """
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
        """Return the table as CSV, with a header and with unrounded numbers."""
        return str(self.frame.to_csv(index=False))

    def to_markdown(self) -> str:
        """Return the table as Markdown, for display.

        Numbers have four significant digits or, from 10,000 on, no decimals. The column ``converged`` has "yes" or "not
        converged".
        """
        texts = in_words(self.frame)
        lines = [list(texts.columns), ["---"] * len(texts.columns), *texts.to_numpy().tolist()]
        return "\n".join(map(_markdown_line, lines))

    def to_html(self) -> str:
        """Return the table as HTML, with the same strings as :meth:`to_markdown`."""
        return str(in_words(self.frame).to_html(index=False))

    def to_latex(self) -> str:
        r"""Return :data:`LATEX_COLUMNS` as a LaTeX ``tabular``, with the same strings as :meth:`to_markdown`.

        A document needs ``\usepackage{booktabs}``.
        """
        return _latex(self.frame[list(LATEX_COLUMNS)])

    def plot(self, axes: Axes | None = None) -> Axes:
        """Draw each method's regret as a mark in the row of its game, budget and reward weights; less is better.

        Picks without a regret are left out.

        Args:
            axes: axes to draw on; by default those of a new figure.
        """
        return _draw_regrets(self.frame, axes)

    def write(self, path: str | Path) -> Path:
        """Write the table to a file, whole or not at all, in the format of its suffix: .md, .csv, .html, .json, .tex.

        Returns:
            The file's path.

        Raises:
            RLCCFRError: another suffix, or the file can't be written.
        """
        path = checked_path(path)
        formats = {
            ".md": self.to_markdown,
            ".csv": self.to_csv,
            ".html": self.to_html,
            ".json": self.to_json,
            ".tex": self.to_latex,
        }
        text = formats[path.suffix]()
        write_atomically(path, (text.rstrip("\n") + "\n").encode(), RLCCFRError)
        return path


def checked_path(path: str | Path) -> Path:
    """Check the suffix of a table's file, and return its path.

    Raises:
        RLCCFRError: the suffix is not one of :data:`SUFFIXES`.
    """
    path = Path(path)
    if path.suffix not in SUFFIXES:
        raise RLCCFRError(f"a table's file must end in {', '.join(SUFFIXES)}, not in {path.suffix or path.name!r}")
    return path


def in_words(frame: pd.DataFrame) -> pd.DataFrame:
    """Return the frame with strings for display in place of its values."""
    texts = frame.astype(object).copy()
    for column in frame.columns:
        texts[column] = [_text_of(column, value) for value in frame[column]]
    return texts


def _text_of(column: str, value: Any) -> str:
    """Return a column's value as a string for display."""
    if column == "converged":
        return "yes" if value else "not converged"
    if value is None:
        return "-"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float):
        if math.isnan(value):
            return "-"
        return f"{value:,.0f}" if abs(value) >= 1e4 else f"{value:.4g}"
    return str(value)


def _markdown_line(values: Sequence[Any]) -> str:
    """Return a line of a Markdown table; bars within values are escaped."""
    texts = [str(value).replace("|", "\\|") for value in values]
    return f"| {' | '.join(texts)} |"


def _latex(frame: pd.DataFrame) -> str:
    """Return a frame as a LaTeX ``tabular``; columns of numbers are aligned to the right."""
    alignment = "".join("r" if pd.api.types.is_float_dtype(frame[column]) else "l" for column in frame.columns)
    names = " & ".join(column.replace("_", " ") for column in frame.columns)
    rows = [" & ".join(map(_in_latex, row)) for row in in_words(frame).to_numpy().tolist()]
    lines = [rf"\begin{{tabular}}{{{alignment}}}", r"\toprule", rf"{names} \\", r"\midrule"]
    lines += [rf"{row} \\" for row in rows]
    return "\n".join([*lines, r"\bottomrule", r"\end{tabular}"])


def _in_latex(text: str) -> str:
    """Return a string for LaTeX; a number such as 1.5e-07 is written as a power of ten."""
    power = re.fullmatch(r"(-?[\d.]+)e([+-]\d+)", text)
    if power is not None:
        return rf"${power[1]} \cdot 10^{{{int(power[2])}}}$"
    return text.translate(IN_LATEX)


def _draw_regrets(frame: pd.DataFrame, axes: Axes | None) -> Axes:
    """Draw the picture of :meth:`RecommendationTable.plot`."""
    rows_with_regret = frame.dropna(subset="regret")
    questions = rows_with_regret["game"] + ", " + rows_with_regret["budget"] + ", " + rows_with_regret["preset"]
    lines = list(dict.fromkeys(questions))
    if axes is None:
        axes = new_axes(8.0, 1.6 + 0.28 * len(lines))
        axes.set_title("Shortfall of each method's pick from the best algorithm")
    methods = list(rows_with_regret.groupby("method", sort=False))
    for number, (mark, (method, rows)) in enumerate(zip(MARKS * 2, methods, strict=False)):
        offset = 0.6 * (number / max(1, len(methods) - 1) - 0.5)  # so that no mark hides another
        heights = [lines.index(question) + offset for question in questions[rows.index]]
        axes.plot(rows["regret"].clip(lower=SHORTEST), heights, mark, label=method, alpha=0.8)
    axes.set_yticks(range(len(lines)), lines)
    axes.invert_yaxis()
    axes.set_xscale("log")
    axes.set_xlabel(f"regret in mean reward with respect to the VBS (smaller ones are drawn at {SHORTEST:g})")
    axes.grid(axis="x", alpha=0.3)
    axes.legend(loc="upper left", bbox_to_anchor=(1, 1), frameon=False)
    return axes
