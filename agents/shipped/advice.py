"""Advice on which algorithm to take, from the package's data, at most with the help of short runs."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, replace
from statistics import mean
from typing import Any

import pandas as pd

from rlccfr.agents import shipped
from rlccfr.agents.baselines.best import virtual_best
from rlccfr.agents.baselines.task import Task
from rlccfr.agents.judging.bench import Bench
from rlccfr.agents.judging.evidence import Evidence
from rlccfr.agents.judging.recommendation_table import TEAM
from rlccfr.agents.shipped import unmeasured, unmeasured_public
from rlccfr.agents.shipped.measured_best import best_measured, catalogs_of
from rlccfr.agents.shipped.race import race
from rlccfr.catalog import Catalog, Cell
from rlccfr.envs.episode import BudgetLike, CatalogLike, PresetLike, parse_budget, parse_catalog, parse_preset
from rlccfr.envs.measuring.compiled_games import compiled
from rlccfr.envs.measuring.evaluator import Evaluator
from rlccfr.envs.measuring.identity import is_deterministic
from rlccfr.envs.measuring.live import LiveEvaluator
from rlccfr.envs.measuring.request import Budget
from rlccfr.envs.measuring.store import MissingCellError
from rlccfr.envs.reward import Preset
from rlccfr.errors import GameError, RLCCFRError
from rlccfr.files import none_for_nan
from rlccfr.games.flat_tree import GameTree
from rlccfr.games.gambit.files import is_of_file
from rlccfr.games.names import GameName, as_name
from rlccfr.games.public.kinds import Game, checked_game
from rlccfr.games.public.names import is_public

RACED = ("exploitability", "throughput", "reward", "converged")
"""Figures of each algorithm in a race."""

SHOWN = ("exploitability", "throughput", "reward", "regret", "in_tied_set", "tied_set_size", "converged")


NOT_RUN = "; it has not run on this game, so whether it converges there is not known: a race (measure) tells"
"""Remark on the pick for a game that was not measured."""


@dataclass(frozen=True)
class Advice:
    """The best algorithm measured, a shipped team's or chooser's pick, or the SBS.

    Attributes:
        preset: reward weights.
        basis: ``"best measured"``: the best of the algorithms measured on this very game. ``"measured"``: the pick of a
            team that has learned from these measurements. ``"features"`` or ``"features and probes"``: a chooser's pick
            from the game's features alone, or also from short runs. ``"single best"``: the SBS of the training games,
            which did better on validation games of this kind; or that of the measured games with a public tree.
            ``"raced"``: the best of a few algorithms that ran on the game.
        figures: figures of the algorithm, named in :data:`SHOWN`, as far as they were measured. For the best measured
            algorithm, ``regret`` is NaN.
        why: sentence on how sure the advice is.
        race: if there was one, its figures; see :func:`rlccfr.agents.shipped.race.race`.
    """

    game: str
    budget: Budget
    preset: Preset
    cell: Cell
    basis: str
    figures: dict[str, Any]
    why: str
    race: pd.DataFrame | None = None

    def to_row(self) -> dict[str, Any]:
        """Return the advice as a JSON-able dict, with None for what was not measured."""
        return {
            "game": self.game,
            "budget": asdict(self.budget),
            "preset": self.preset.name,
            "scale": self.preset.scale,
            **self.cell._asdict(),
            "basis": self.basis,
            **{name: none_for_nan(self.figures.get(name)) for name in SHOWN},
            "why": self.why,
            **({} if self.race is None else {"race": self._race()}),
        }

    def _race(self) -> list[dict[str, Any]]:
        assert self.race is not None
        return [{**row["cell"]._asdict(), **{k: row[k] for k in RACED}} for row in self.race.to_dict("records")]

    def __str__(self) -> str:
        return f"{self.game}, {self.budget}, {self.preset}: {self.cell}\n{self.why}"


def recommend(
    game: GameName | Game,
    budget: BudgetLike | None = None,
    preset: PresetLike = "accuracy",
    catalog: CatalogLike | None = None,
    evaluator: Evaluator | None = None,
    measure: float | None = None,
) -> Advice:
    """Return the best algorithm measured on a game; for a game that was not measured, a chooser's pick or the SBS.

    A budget beyond those that were measured, or that a chooser has learned from, gets the answer for the nearest of
    them, and ``why`` says so.

    Args:
        game: a name that :func:`rlccfr.load_game` takes, or the game that it returned.
        budget: budget of the run; by default one engine CPU second, or sixty for a game with a public tree.
        preset: reward weights.
        catalog: catalog to choose from. By default, all that was measured, including the extended catalog's tabular
            algorithms. With ``"paper"``, the game's team picks. For a game that was not measured, the catalog must
            contain all of ``"tabular"``, from which choosers pick, or all of ``"public"`` if it has a public tree.
        evaluator: what runs the probes of a chooser that has any; by default a :class:`LiveEvaluator`.
        measure: engine CPU seconds for which the best few algorithms run on the game, and then the best of these is
            recommended; by default nothing but probes is run.

    Raises:
        TypeError: something else than a game.
        GameError: an unknown game, or one whose name stands for another.
        RLCCFRError: an invalid budget or preset, a catalog that is invalid or was not measured, or an installation
            without its data.
    """
    game = as_name(game)
    game = game if isinstance(game, str) else _name_of(checked_game(game))
    if measure is not None:
        if budget is not None:
            raise RLCCFRError("measure is a budget itself: leave out one of measure and budget")
        runs, limit = evaluator or LiveEvaluator(), parse_budget({"unit": "seconds", "amount": measure})
        within = None if catalog is None else parse_catalog(catalog)
        return raced(recommend(game, limit, preset, catalog, runs), limit.amount, runs, within)
    public = is_public(game)
    part = shipped.public_part() if public else shipped.paper_part()
    known, weights = shipped.name_of(game), parse_preset(preset)
    asked = part.budgets[-1] if budget is None else parse_budget(budget)
    wanted = None if catalog is None else parse_catalog(catalog).with_networks("sweep")
    if known is not None and (public or wanted != shipped.catalog()):
        table = shipped.results(known)
        best = best_measured(table, known, catalogs_of(table, known, wanted), asked, weights)
        paper, note = shipped.catalog(), ""
        if not public and wanted is None and best.cell not in set(paper):
            note = f"; `--catalog paper` picks among the paper's {len(paper)} alone"
        return Advice(game, asked, weights, best.cell, "best measured", best.figures, f"{best.why}{note}")
    if public:
        _check_catalog(part.catalogs[0], wanted, "public")
        found = unmeasured_public.choice(asked, weights)
        return Advice(game, asked, weights, found.cell, found.basis, {}, f"{found.why}{NOT_RUN}")
    if known is None:
        return _for_unmeasured(game, asked, weights, wanted, evaluator or LiveEvaluator())
    return _picked(game, known, asked, weights)


def raced(
    advice: Advice,
    seconds: float,
    evaluator: Evaluator,
    within: Catalog | None = None,
    progress: Callable[[float], None] | None = None,
) -> Advice:
    """Return what is recommended after a race that the recommended algorithm takes part in.

    Args:
        advice: the recommendation without a race.
        seconds, evaluator, within, progress: as for :func:`rlccfr.agents.shipped.race.race`.

    Raises:
        RLCCFRError: every run has failed.
    """
    table = race(advice.game, advice.cell, seconds, advice.preset, evaluator, within=within, progress=progress)
    first = {str(name): value for name, value in table.to_dict("records")[0].items()}  # Python's types, for JSON
    cell = first.pop("cell")
    state = "" if first["converged"] else "not converged: "
    why = f"{state}the best of {len(table)} algorithms that ran on this game, once each, for {seconds:g} CPU seconds"
    budget = Budget("seconds", seconds)
    return replace(advice, budget=budget, cell=cell, basis="raced", figures=first, why=why, race=table)


def _name_of(game: Game) -> str:
    """Return a name by which a game is loaded again.

    Raises:
        GameError: its name stands for another game.
    """
    name = game.name
    if isinstance(game, GameTree) and is_of_file(game.openspiel_name):
        name = game.openspiel_name  # the display name of a file may be relative to another folder
    if compiled(name).content_hash != game.content_hash:
        raise GameError(f"the game is not the one that its name stands for, {name!r}: give recommend a game's name")
    return name


def _for_unmeasured(game: str, asked: Budget, weights: Preset, wanted: Catalog | None, evaluator: Evaluator) -> Advice:
    """Return the pick of the package's best chooser, or the SBS."""
    by = unmeasured.best(asked.unit, evaluator)
    _check_catalog(by.chooser.catalog, wanted, "tabular")
    limit, note = _within(asked, by.chooser.budgets, by.who)
    found = unmeasured.choice(by, game, limit, weights)
    only = wanted is not None and set(wanted) == set(by.chooser.catalog)
    alone = "" if only else "; such picks come from the catalog tabular alone; such a race also tries others"
    return Advice(game, asked, weights, found.cell, found.basis, {}, f"{found.why}{NOT_RUN}{alone}{by.note}{note}")


def _picked(game: str, known: str, asked: Budget, weights: Preset) -> Advice:
    """Return the pick of the game's own team from the paper's catalog."""
    team = shipped.team(known)
    limit, note = _within(asked, team.env.budgets, "the team")
    cell = team.pick(game, limit, weights, _recommendable(known, limit, weights))
    figures = {
        budget: _measured(Task(shipped.results(known), shipped.catalog(), known, budget, weights), cell)
        for budget in dict.fromkeys((asked, limit))
    }
    told = next((budget for budget, found in figures.items() if found), asked)
    task = Task(shipped.results(known), Catalog.extended_tabular(), known, told, weights)
    deterministic = is_deterministic((cell,), compiled(known))
    why = f"{_judged(figures[told], told, deterministic)}{_beyond(task, figures[told])}{note}"
    return Advice(game, asked, weights, cell, "measured", figures[asked], why)


def _recommendable(known: str, budget: Budget, weights: Preset) -> list[Cell] | None:
    """Return which of the paper's algorithms may be recommended under a budget; None if it was not measured."""
    try:
        return Evidence.measured(shipped.results(known), shipped.catalog(), known, budget).recommendable(weights)
    except MissingCellError:
        return None


def _check_catalog(learned: Catalog, wanted: Catalog | None, name: str) -> None:
    """Refuse a catalog for a game that was not measured, unless it contains all that may be picked."""
    if wanted is not None and not set(learned) <= set(wanted):
        raise RLCCFRError(
            f"the game was not measured, and the package picks from the catalog {name} for such games: ask for that "
            "catalog, or measure with `rlccfr compare --catalog`"
        )


def _within(asked: Budget, met: Sequence[Budget], who: str) -> tuple[Budget, str]:
    """Return the nearest budget in the range that a chooser has learned from, and a remark if it is another one.

    A chooser's answers outside the range that it has learned from are no evidence. If it has met none in the unit, the
    budget stays as it is.
    """
    amounts = [budget.amount for budget in met if budget.unit == asked.unit]
    if not amounts:
        return asked, f"; {who} has never met a budget in {asked.unit}"
    limit = Budget(asked.unit, min(max(asked.amount, min(amounts)), max(amounts)))
    note = "" if limit == asked else f"; picked as for {limit}, the nearest to {asked} that {who} has met"
    return limit, note


def _measured(task: Task, cell: Cell) -> dict[str, Any]:
    """Return the figures of a pick; an empty dict if some runs were shorter than the budget."""
    try:
        evidence = Evidence.measured(task.evaluator, task.catalog, task.game, task.budget)
    except MissingCellError:
        return {}
    row = Bench(task, {task.game: evidence}).row(TEAM, cell, 0, 0.0)
    return {name: row[name] for name in SHOWN}


def _beyond(task: Task, figures: dict[str, Any]) -> str:
    """Return a remark about the best algorithm of the task's catalog, or "".

    The remark is made if the algorithm lies outside the paper's catalog and beats a pick with these figures.
    """
    try:
        evidence = Evidence.measured(task.evaluator, task.catalog, task.game, task.budget)
    except MissingCellError:
        return ""
    best = virtual_best(task.worths(evidence.choosing))
    more = task.rewards(evidence.judging)[best] - figures.get("reward", math.inf)
    converged = all(run.converged for run in evidence.judging[best])
    better = more > 0 or (converged and not figures.get("converged", True))
    if best in set(shipped.catalog()) or not better:
        return ""
    reached = mean(run.exploitability for run in evidence.judging[best])
    return f"; beyond these, {best} of the extended catalog reached {reached:.3g}, with {more:.3g} more reward"


def _place(tied: bool, size: int) -> str:
    """Return in words whether a pick is the best or tied with the best.

    The words include the number of tied algorithms, because a tie of very many says little.
    """
    if not tied:
        return "is not the best"
    return "is the best" if size == 1 else f"is one of {size} that can't be told from the best"


def _judged(figures: dict[str, Any], budget: Budget, deterministic: bool) -> str:
    """Return in words how sure a pick is; a ``deterministic`` algorithm has one run."""
    if not figures:
        return "picked by a team that has seen every algorithm on this game, but not under such a budget"
    judged = "by a second timing of its only run" if deterministic else "on runs that it was not chosen by"
    place = _place(figures["in_tied_set"], figures["tied_set_size"])
    return (
        f"{'' if figures['converged'] else 'not converged: '}"
        f"measured after {budget}: of {len(shipped.catalog())} algorithms it {place}; regret {figures['regret']:.3g} "
        f"{judged}; exploitability {figures['exploitability']:.3g}, {figures['throughput']:,.0f} iterations/s there"
    )
