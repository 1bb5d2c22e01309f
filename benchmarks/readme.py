"""``python -m benchmarks.readme``: fill the marked places of README.md and docs/overview.md with figures.

The speeds come from the newest report of ``python -m benchmarks`` in benchmarks/results, the quality of choices from
the figures that ``python -m benchmarks.selection`` wrote there, and the rest from the measurements that the package
ships.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
import textwrap
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

from benchmarks import informed, simpler
from benchmarks.targets import ratio_row
from benchmarks.teams import to_start_from
from rlccfr.agents import shipped
from rlccfr.catalog import Catalog, Cell
from rlccfr.cli.commands import demo
from rlccfr.engine.binding import Binding, RunOptions
from rlccfr.errors import ComponentError
from rlccfr.files import write_atomically
from rlccfr.game import Game
from rlccfr.games.names import load_game
from rlccfr.registry import REGISTRIES

ROOT = Path(__file__).parent.parent
README, OVERVIEW = ROOT / "README.md", ROOT / "docs" / "overview.md"
RESULTS = Path(__file__).parent / "results"
SHOWN = (
    ("CFR+, exact", "kuhn"),
    ("CFR+, exact", "goofspiel"),
    ("CFR+, exact", "leduc"),
    ("external sampling", "leduc"),
    ("exploitability", "leduc"),
    ("CFR+, exact", "liars_dice"),
    ("CFR+, exact", "royal"),
    ("CFR+, beside SciPy", "leduc"),
    ("CFR+, beside SciPy", "royal"),
)
"""Rows and games of the benchmark that the README shows."""

FORMS = (
    (
        "tree of histories",
        "two-player zero-sum games of OpenSpiel, Gambit's files, matrices, random games",
        "kuhn",
    ),
    ("public tree", "limit hold'em (`holdem`, `flop_holdem`) and `bluff`", "holdem(ranks=6,suits=2)"),
)
"""Forms of a game, the games that have them, and a small game on which algorithms are tried."""

FEW = 100
"""Number of evaluations below which successive halving is compared with the team."""


def main() -> None:
    """Fill every marked place."""
    for page, places in ((README, SHORT), (OVERVIEW, PLACES)):
        write_atomically(page, filled(page.read_text(), places).encode())


def filled(text: str, places: Mapping[str, Callable[[], str]]) -> str:
    """Return the text with each marked place filled by its function.

    Raises:
        ValueError: a place is not marked, or is marked twice.
    """
    for name, write in places.items():
        begin, end = f"<!-- {name}: written by python -m benchmarks.readme -->", f"<!-- end of {name} -->"
        parts = re.split(f"({re.escape(begin)}\n).*?(\n{re.escape(end)})", text, flags=re.DOTALL)
        if len(parts) != 4:
            raise ValueError(f"the text must have one place marked {begin} to {end}")
        before, opening, closing, after = parts
        text = f"{before}{opening}{write()}{closing}{after}"
    return text


def newest() -> dict[str, Any]:
    """Return the newest report of ``python -m benchmarks``."""
    return dict(json.loads(max(RESULTS.glob("????-??-??.json")).read_text()))


def speeds() -> str:
    """Return the table of ratios, with the date and the processor of the measurement."""
    report = newest()
    records = {(one["row"], one["game"]): one for one in report["rows"]}
    lines = [
        _wrapped(
            f"Measured on {report['date']} on one core of {_a(report['processor'])}. The kernels may have changed "
            "since; `make bench` measures them on your machine."
        ),
        "",
        "| | game | rlccfr / s | peer / s | ratio | 95 % interval | target |",
        "|---|---|---|---|---|---|---|",
    ]
    return "\n".join([*lines, *(ratio_row(records[key]) for key in SHOWN)])


def recommended() -> str:
    """Return the output of ``rlccfr results table --seconds 1`` as a Markdown code block."""
    command = [sys.executable, "-m", "rlccfr", "results", "table", "--seconds", "1"]
    table = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    return "\n".join(["```text", *(line.rstrip() for line in table.strip("\n").splitlines()), "```"])


def runs() -> str:
    """Return a table that tells how many algorithms of each catalog run on each form of a game."""
    catalogs = {"paper": Catalog.paper(), "extended": Catalog.extended(), "public": Catalog.public()}
    lines = [f"| form | games | {' | '.join(f'`{name}`' for name in catalogs)} |", "|---" * (2 + len(catalogs)) + "|"]
    for form, games, example in FORMS:
        game = load_game(example)
        counts = [f"{sum(is_accepted(game, cell) for cell in cells)} of {len(cells)}" for cells in catalogs.values()]
        lines.append(f"| {form} | {games} | {' | '.join(counts)} |")
    return "\n".join(lines)


def is_accepted(game: Game, cell: Cell) -> bool:
    """Return whether a solver of a game accepts an algorithm."""
    parts = (registry.resolve(id) for registry, id in zip(REGISTRIES, cell, strict=True))
    try:
        Binding.of(game, *parts, RunOptions(), 0)
    except ComponentError:
        return False
    return True


def choosing() -> str:
    """Return where simpler methods choose as well as the team, and how good picks for unseen games are."""
    found = json.loads(simpler.FIGURES.read_text())
    hundred, few, unseen = found["hundred"], found["demo"], found["unseen games"]
    numbers = [number for number in found["ladder"]["team"] if int(number) < FEW]
    halving, team = (
        _listed(f"{found['ladder'][method][number]:.2f}" for number in numbers)
        for method in ("successive halving", "team")
    )
    sure = {name: sum(map(simpler.is_above_zero, unseen[name])) for name in ("preset", "budget")}
    whole = unseen["all"]
    scores = informed.mean_scores()
    first = informed.EVALUATIONS[0]
    papers, never_met = (scores.loc[kind, first] for kind in ("the paper's games", "games never met"))
    points = (
        f"After the time of {first} evaluation, the mean normalised score of an informed team is "
        f"{papers['informed team']:.2f} on the paper's games, none of which it has learned from, and "
        f"{never_met['informed team']:.2f} on other games never met. Successive halving's is "
        f"{papers['successive halving']:.2f} and {never_met['successive halving']:.2f}. A score above 1 means that a "
        "pick beats the virtual best, which is chosen by runs other than the judging ones.",
        f"A fresh team begins blindly. With {_listed(numbers)} evaluations of "
        f"{len(shipped.catalog())}, the mean normalised score of successive "
        f"halving is {halving}; the fresh team's is {team}.",
        "The fresh team's exploration was also judged without its networks. With the "
        f"{demo.EVALUATIONS} evaluations of "
        f"{len(shipped.tabular())} that `make demo` makes, the exploration alone scores {few['no network']:.3f} on "
        f"Kuhn poker, and the fresh team {few['team']:.3f}. With {FEW} of {len(shipped.catalog())}, the mean regret of "
        f"the exploration alone is {_short(hundred['no network'])}, the fresh team's {_short(hundred['team'])}, and "
        f"successive halving's {_short(hundred['successive halving'])}.",
        f"On {whole['games']:.0f} games that the package's team has not learned from, its picks after halving, which "
        "only benchmarks do, in a tenth of the budget have a mean regret that is lower than that of the single best "
        "algorithm of its training games by "
        f"{_short(whole['gain'])} (95 % interval "
        f"{_short(whole['gain from'])} to {_short(whole['gain to'])}), over all reward weights; games with higher "
        "stakes weigh more in it, because the paper's weights count exploitability in a game's units. The interval is "
        "above 0 "
        f"for {sure['preset']} of {len(unseen['preset'])} reward weights and {sure['budget']} of "
        f"{len(unseen['budget'])} budgets.",
    )
    return "\n".join(_wrapped(point, "- ") for point in points)


def package() -> str:
    """Return the paragraph on the measurements and teams that the package ships."""
    return _wrapped(
        f"The package ships {len(shipped.results()):,} measured runs on Kuhn, Leduc, Goofspiel and Royal: of every "
        "algorithm in the paper's catalog, and of every tabular one in the extended catalog; and "
        f"{len(shipped.public_results()):,} runs of the {len(shipped.public_catalog())} algorithms of the catalog "
        "`public` on three games of hold'em, for which `rlccfr recommend holdem` answers. It also ships teams "
        "trained on the paper's algorithms; `rlccfr results table leduc --catalog extended-tabular` trains one on the "
        "extended catalog's. `rlccfr recommend leduc` names the best of all measured algorithms, and with `--catalog "
        "paper` the team's pick among the paper's. For any other game, it predicts from the game's features, having "
        f"learned from {len(to_start_from())} small games; with `--measure 10s`, eight algorithms, among them those "
        "with the best predictions, then run on the game by successive halving. "
        '`rlccfr recommend "leduc(ranks=5,suits=2,raises=1)"` says how good such picks were on test games.'
    )


def evidence() -> str:
    """Return a table of what was measured, with links to the pages that say more."""
    rows = {(one["row"], one["game"]): one for one in newest()["rows"]}
    exact, drawn = rows["CFR+, exact", "leduc"], rows["external sampling", "leduc"]
    flop = re.search(r"^\| flop hold'em \| ([\d,]+) \| ([\d.]+) s", _page("holdem.md"), re.MULTILINE)
    assert flop is not None
    never_met = informed.mean_scores().loc["games never met", informed.EVALUATIONS[0]]
    return "\n".join(
        (
            "| | | |",
            "|---|---|---|",
            f"| speed | on Leduc, {exact['ratio']:.0f} times as fast as the fastest peer ({exact['peer']}) with exact "
            f"passes, and {drawn['ratio']:.0f} times ({drawn['peer']}) with external sampling | "
            "[benchmarks](docs/benchmarks.md) |",
            f"| size | flop hold'em, {flop[1]} infosets, to 37 mbb/g in {flop[2]} CPU seconds of one core | "
            "[hold'em](docs/holdem.md) |",
            f"| correctness | {_checks('verification.md')}, against OpenSpiel, plain references and statistics of "
            "samplers | [verification](docs/verification.md) |",
            f"| choices | on games never met, the team's choice after the time of {informed.EVALUATIONS[0]} evaluation "
            f"has a mean normalised score of {never_met['informed team']:.2f}, where the best algorithm has 1, and "
            f"successive halving's has {never_met['successive halving']:.2f} | [selection](docs/selection.md) |",
            f"| faults | {_checks('reliability.md')}, with damaged files, kills, full disks and scarce memory: nothing "
            "may be lost, and no traceback shown | [reliability](docs/reliability.md) |",
        )
    )


def _checks(name: str) -> str:
    """Return how many checks of a long suite passed and failed, and how many are missing or outdated."""
    page = _page(name)
    found = re.search(r"^(\d+) checks passed, (\d+) failed\.$", page, re.MULTILINE)
    assert found is not None
    failed = f" and {found[2]} failed, which are named" if int(found[2]) else ", none failed"
    earlier, missing = (
        re.search(rf"^{words}.*: (\d+)\.$", page, re.MULTILINE) for words in ("Made from earlier", "Without a result")
    )
    everything = earlier and int(earlier[1]) == int(found[1]) + int(found[2])
    counts = [f"{'all' if everything else f'{earlier[1]} of them'} on an earlier commit"] if earlier else []
    counts += [f"{missing[1]} more have no result"] if missing else []
    return f"{found[1]} long checks passed{failed}" + (f" ({', '.join(counts)})" if counts else "")


def _page(name: str) -> str:
    return (ROOT / "docs" / name).read_text()


SHORT: dict[str, Callable[[], str]] = {"evidence": evidence}
"""Function that writes each place of README.md."""

PLACES: dict[str, Callable[[], str]] = {
    "recommended": recommended,
    "choosing": choosing,
    "speeds": speeds,
    "package": package,
    "runs": runs,
}
"""Function that writes each place of docs/overview.md."""


def _wrapped(text: str, mark: str = "") -> str:
    """Return the text in lines of at most 120 characters, none of which ends inside code."""
    solid = re.sub("`.*?`", lambda code: code[0].replace(" ", "\0"), text)
    lines = textwrap.fill(
        solid, 120, initial_indent=mark, subsequent_indent=" " * len(mark), break_on_hyphens=False,
        break_long_words=False,
    )  # fmt: skip
    return lines.replace("\0", " ")


def _listed(words: Iterable[str]) -> str:
    *first, last = words
    return f"{', '.join(first)} and {last}" if first else last


def _short(value: float) -> str:
    """Return a figure rounded to ``simpler.DIGITS`` decimals, without trailing zeros or the sign of zero."""
    text = f"{value:.{simpler.DIGITS}f}".rstrip("0").rstrip(".")
    return "0" if text == "-0" else text


def _a(noun: str) -> str:
    return f"an {noun}" if noun[0].lower() in "aeiou" else f"a {noun}"


if __name__ == "__main__":
    main()
