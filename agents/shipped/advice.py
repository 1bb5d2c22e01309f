"""Advice on which algorithm to use, from the package's data and at most a few short runs."""

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
from rlccfr.agents.predicting.choosers import BY_TEAM
from rlccfr.agents.shipped import unmeasured
from rlccfr.agents.shipped.measured_best import best_measured, catalogs_of
from rlccfr.agents.shipped.race import RUNNERS, final_seconds, race
from rlccfr.catalog import Catalog, Cell
from rlccfr.envs.episode import BudgetLike, CatalogLike, PresetLike, parse_budget, parse_catalog, parse_preset
from rlccfr.envs.measuring.evaluator import NOT_CONVERGED, Evaluator
from rlccfr.envs.measuring.identity import is_deterministic
from rlccfr.envs.measuring.live import LiveEvaluator
from rlccfr.envs.measuring.request import Budget
from rlccfr.envs.measuring.store import MissingCellError
from rlccfr.envs.reward import Preset
from rlccfr.errors import GameError, RLCCFRError
from rlccfr.files import none_for_nan
from rlccfr.game import Form, Game, checked_game
from rlccfr.games.compiled_games import compiled
from rlccfr.games.gambit.files import is_of_file
from rlccfr.games.names import GameName, as_name, form_named
from rlccfr.games.public.spots import is_subgame

RACED = ("seconds", "exploitability", "throughput", "reward", "converged")
"""Figures of each algorithm in a race."""

SHOWN = ("exploitability", "throughput", "reward", "regret", "in_tied_set", "tied_set_size", "converged")
"""Figures of the recommended algorithm."""

NOT_RUN = "; it has not run on this game, so it may not converge there: --measure 10s (measure=10 in Python) tries it"
"""Remark on a pick for a game that was not measured."""


@dataclass(frozen=True)
class Advice:
    """A recommended algorithm, with the kind of evidence for it.

    Attributes:
        game: name of the game.
        budget: budget of the run.
        preset: reward weights.
        cell: recommended algorithm.
        basis: ``"best measured"``: the best of the algorithms measured on this game. ``"measured"``: the pick of a
            team that has learned from the measurements on this game. ``"features"``: the pick from the game's features.
            ``"single best"``: the single best algorithm (SBS) of the training games, if it does better than picks from
            features; or, for a game with a public tree, the SBS of the measured games with public trees. ``"raced"``:
            the best of a few algorithms that ran on the game. ``"default"``: the run that :func:`rlccfr.solve` makes by
            default, since no game of this form was measured with a catalog.
        figures: those figures of :data:`SHOWN` that were measured for the algorithm: exploitability (NashConv / 2) in
            the game's units, throughput in iterations per engine CPU second. For the best measured algorithm,
            ``regret`` is NaN.
        why: sentence on how sure the advice is.
        race: figures of the race, if there was a race; see :func:`rlccfr.agents.shipped.race.race`.
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
        row: dict[str, Any] = {
            "game": self.game,
            "budget": asdict(self.budget),
            "preset": self.preset.name,
            "scale": self.preset.scale,
            **self.cell._asdict(),
            "basis": self.basis,
            **{name: none_for_nan(self.figures.get(name)) for name in SHOWN},
            "why": self.why,
        }
        if self.race is not None:
            row["race"] = [
                {**runner["cell"]._asdict(), **{name: runner[name] for name in RACED}}
                for runner in self.race.to_dict("records")
            ]
        return row

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
    """Return the best algorithm measured on a game or, if the game was not measured, a pick by results on other games.

    Such a pick is that of a team of DQN agents, or the single best algorithm (SBS) of the training games. If no game
    that is represented in the same form (:class:`rlccfr.game.Form`) was measured, as for hold'em in buckets, the answer
    is the algorithm that :func:`rlccfr.solve` takes by default within the budget.

    If the budget lies outside the range that was measured, or that the chooser or team has learned from, the answer is
    for the nearest budget in this range. If a chooser has learned from no budget in the same unit, the answer is for
    the longest headline budget. In both cases, ``why`` names the budget of the answer.

    Args:
        game: a name that :func:`rlccfr.load_game` accepts, or a game that it returned.
        budget: budget of the run; by default one engine CPU second, or sixty for a game that is not compiled.
        preset: reward weights.
        catalog: catalog to choose from. By default, all algorithms that were measured, including the extended catalog's
            tabular ones. With ``"paper"``, the team that was trained on the game picks if it is one of the paper's
            games. For a game that was not measured, the catalog must contain all of ``"tabular"``, from which choosers
            pick, or all of ``"public"`` if the game has a public tree.
        evaluator: evaluator that runs a race; by default a :class:`LiveEvaluator`.
        measure: total engine CPU seconds of a race: a few promising algorithms run on the game, the best of them for
            longer, and the winner is recommended. ``measure`` and ``budget`` can't be given together. By default
            nothing is run.

    Raises:
        TypeError: ``game`` is not a game.
        GameError: an unknown game, or a game whose name stands for another game.
        RLCCFRError: an invalid budget or preset; a catalog that is invalid or was not measured; ``measure`` or
            ``catalog`` for a game of a form of which no game was measured; or an installation that lacks the package's
            data.
    """
    game = as_name(game)
    form = form_named(game) if isinstance(game, str) else checked_game(game).form
    # Choosers know only forms that were measured; for any other form, the library's default run is the answer.
    if not shipped.was_measured(form):
        if measure is not None or catalog is not None:
            raise _nothing_to_choose_from(form, "measure" if catalog is None else "catalog")
        known = game if isinstance(game, str) else checked_game(game)
        return _default_run(known, shipped.PUBLIC_BUDGETS[-1] if budget is None else budget, preset)
    name = game if isinstance(game, str) else _name_of(checked_game(game))
    evaluator = evaluator or LiveEvaluator(keep_runs=RUNNERS)
    if measure is not None:
        if budget is not None:
            raise RLCCFRError("measure sets the budget: leave out measure or budget")
        seconds = parse_budget({"unit": "seconds", "amount": measure}).amount
        within = None if catalog is None else parse_catalog(catalog)
        # The race begins with the advice for the budget of a finalist, since the winner is recommended for that budget.
        final = Budget("seconds", final_seconds(seconds))
        return raced(recommend(name, final, preset, catalog, evaluator), seconds, evaluator, within)
    return _from_measurements(name, budget, preset, catalog)


def raced(
    advice: Advice,
    seconds: float,
    evaluator: Evaluator,
    within: Catalog | None = None,
    progress: Callable[[float], None] | None = None,
) -> Advice:
    """Return the advice after a race in which the recommended algorithm takes part.

    Args:
        advice: the recommendation before the race.
        seconds, evaluator, within, progress: as for :func:`rlccfr.agents.shipped.race.race`.

    Raises:
        RLCCFRError: every run has failed, or no game that is represented in the game's form was measured.
    """
    if advice.basis == "default":
        raise _nothing_to_choose_from(form_named(advice.game), "measure")
    result = race(advice.game, advice.cell, seconds, advice.preset, evaluator, within=within, progress=progress)
    table = result.table
    figures = {str(name): value for name, value in table.to_dict("records")[0].items()}  # Python's types, for JSON
    winner = figures.pop("cell")
    state = "" if figures["converged"] else NOT_CONVERGED
    why = (
        f"{state}the best of {len(table)} algorithms that ran on this game for at most {seconds:g} CPU seconds in all, "
        f"the last of them for {figures['seconds']:.3g} each"
    )
    if not math.isnan(result.default_exploitability):
        why += (
            "; in as much time, the iterations of `rlccfr solve --seconds` reached "
            f"{result.default_exploitability:.3g}, and the winner {figures['exploitability']:.3g}"
        )
    budget = Budget("seconds", figures.pop("seconds"))
    return replace(advice, budget=budget, cell=winner, basis="raced", figures=figures, why=why, race=table)


def _name_of(game: Game) -> str:
    """Return a name by which a game can be loaded again.

    Raises:
        GameError: the game's name stands for another game.
        RLCCFRError: no game that is represented in the same form was measured.
    """
    name = game.name
    # The display name of a file may be relative to another folder, and that of a subgame can't be loaded.
    if is_of_file(game.full_name) or is_subgame(game.full_name):
        name = game.full_name
    shipped.part_of(name)  # raises its error before the game is made again
    if compiled(name).content_hash != game.content_hash:
        raise GameError(f"the game is not the one that load_game({name!r}) returns: call recommend with a game's name")
    return name


def _from_measurements(name: str, budget: BudgetLike | None, preset: PresetLike, catalog: CatalogLike | None) -> Advice:
    """Return what the measurements of a game, or of other games of its form, recommend; see :func:`recommend`."""
    part = shipped.part_of(name)
    shipped_name = shipped.name_of(name)
    weights = parse_preset(preset)
    limit = part.budgets[-1] if budget is None else parse_budget(budget)
    wanted_catalog = None if catalog is None else parse_catalog(catalog).with_networks("sweep")

    # A measured game: the best measured algorithm or, from the paper's catalog, the pick of the game's team.
    if shipped_name is not None:
        if wanted_catalog == shipped.catalog() and part.learned:
            return _pick_of_team(name, shipped_name, limit, weights)
        return _best_measured(name, shipped_name, limit, weights, wanted_catalog)

    # Another game: the single best algorithm of similar games, or the pick of a chooser that has learned from others.
    if not part.learned:
        _check_catalog(part.catalogs[0], wanted_catalog, "public")
        choice = unmeasured.public_choice(limit, weights)
        return Advice(name, limit, weights, choice.cell, choice.basis, {}, f"{choice.why}{NOT_RUN}")
    return _for_unmeasured(name, limit, weights, wanted_catalog)


def _nothing_to_choose_from(form: Form, argument: str) -> RLCCFRError:
    """Return the error for an argument that needs measured algorithms."""
    return RLCCFRError(
        f"no game represented {form.title} was measured, so there are no algorithms to choose from: leave out "
        f"{argument} to get the run that `rlccfr solve` makes by default"
    )


def _default_run(game: str | Game, budget: BudgetLike, preset: PresetLike) -> Advice:
    """Return the advice to run what :func:`rlccfr.solve` runs by default, for a game in a form that was not measured.

    Raises:
        RLCCFRError: an invalid budget or preset.
    """
    limit = parse_budget(budget)
    tree = compiled(game) if isinstance(game, str) else game
    form = tree.form
    seconds = limit.amount if limit.unit == "seconds" else math.inf
    iterations = limit.amount if limit.unit == "iterations" else None
    if limit.unit == "nodes":  # the time in which exact iterations, of two passes each, touch as many nodes
        seconds = limit.amount / (2 * tree.pass_size) / form.passes_within(tree, 1.0)
    arguments = form.default_run(tree, seconds, iterations)
    cell = Cell.of_run(arguments)
    passes = form.passes_within(tree, seconds)
    why = f"the run that `rlccfr solve` makes by default{', with blends at its end' if arguments.get('blend') else ''}"
    if math.isfinite(passes):
        why += f", in a budget of some {passes:,.0f} exact iterations" if passes >= 1 else ", in so small a budget"
    why += f"; no game represented {form.title} was measured with a catalog"
    if form.chosen_by:
        why += f"; {form.chosen_by}"
    name = game if isinstance(game, str) else game.name
    return Advice(name, limit, parse_preset(preset), cell, "default", {}, why)


def _best_measured(
    game: str, shipped_name: str, budget: Budget, preset: Preset, wanted_catalog: Catalog | None
) -> Advice:
    """Return the best of the algorithms that were measured on a game.

    Args:
        game: the game's name, as the user gave it.
        shipped_name: name under which the game was measured.
        wanted_catalog: catalog to choose from; None for all that were measured.

    Raises:
        RLCCFRError: the catalog was not measured.
    """
    table = shipped.results(shipped_name)
    best = best_measured(table, shipped_name, catalogs_of(table, shipped_name, wanted_catalog), budget, preset)
    paper = shipped.catalog()
    note = ""
    if shipped.part_of(game).learned and wanted_catalog is None and best.cell not in set(paper):
        note = f"; `--catalog paper` picks only among the paper's {len(paper)}"
    return Advice(game, budget, preset, best.cell, "best measured", best.figures, f"{best.why}{note}")


def _for_unmeasured(game: str, budget: Budget, preset: Preset, wanted_catalog: Catalog | None) -> Advice:
    """Return the pick from a game's features, or the single best algorithm (SBS) of the training games.

    Raises:
        RLCCFRError: the catalog lacks an algorithm that the chooser may pick.
    """
    chooser = unmeasured.prior()
    _check_catalog(chooser.catalog, wanted_catalog, "tabular")
    nearest_budget, budget_note = _nearest_learned(budget, chooser.budgets, BY_TEAM)
    if nearest_budget.unit not in {learned.unit for learned in chooser.budgets}:
        nearest_budget = shipped.BUDGETS[-1]  # the team has not learned from other units
        budget_note += f"; picked as for {nearest_budget}"
    choice = unmeasured.choice(game, nearest_budget, preset)
    same_catalog = wanted_catalog is not None and set(wanted_catalog) == set(chooser.catalog)
    catalog_note = ""
    if not same_catalog:
        catalog_note = "; such picks come only from the catalog tabular, but --measure also tries other algorithms"
    why = f"{choice.why}{NOT_RUN}{catalog_note}{budget_note}"
    return Advice(game, budget, preset, choice.cell, choice.basis, {}, why)


def _pick_of_team(game: str, shipped_name: str, budget: Budget, preset: Preset) -> Advice:
    """Return the pick of the game's own team from the paper's catalog.

    Args:
        game: the game's name, as the user gave it.
        shipped_name: name under which the game was measured.
    """
    team = shipped.team(shipped_name)
    table = shipped.results(shipped_name)
    nearest_budget, budget_note = _nearest_learned(budget, team.env.budgets, "the team")
    candidates = _recommendable(shipped_name, nearest_budget, preset)
    cell = team.pick(game, nearest_budget, preset, candidates)

    # The description is for the requested budget if all runs cover it, else for the budget that the pick is for.
    figures = {
        limit: _figures_of(Task(table, shipped.catalog(), shipped_name, limit, preset), cell)
        for limit in dict.fromkeys((budget, nearest_budget))
    }
    described_budget = next((limit for limit, values in figures.items() if values), budget)
    described_figures = figures[described_budget]
    deterministic = is_deterministic((cell,), compiled(shipped_name))
    extended_task = Task(table, Catalog.extended_tabular(), shipped_name, described_budget, preset)
    why = (
        f"{_certainty(described_figures, described_budget, deterministic)}"
        f"{_better_extended(extended_task, described_figures)}{budget_note}"
    )
    return Advice(game, budget, preset, cell, "measured", figures[budget], why)


def _recommendable(shipped_name: str, budget: Budget, preset: Preset) -> list[Cell] | None:
    """Return the paper's algorithms that may be recommended under a budget; None if some runs were shorter."""
    table = shipped.results(shipped_name)
    try:
        return Evidence.measured(table, shipped.catalog(), shipped_name, budget).recommendable(preset)
    except MissingCellError:
        return None


def _check_catalog(learned_catalog: Catalog, wanted_catalog: Catalog | None, name: str) -> None:
    """Check that the catalog for a game that was not measured contains all algorithms that may be picked.

    Args:
        learned_catalog: algorithms that may be picked.
        wanted_catalog: catalog that the user asks for; None for the default.
        name: name of ``learned_catalog``, for the message.

    Raises:
        RLCCFRError: the wanted catalog lacks an algorithm that may be picked.
    """
    if wanted_catalog is not None and not set(learned_catalog) <= set(wanted_catalog):
        raise RLCCFRError(
            f"the game was not measured, and for such games the package picks from the catalog {name}: use that "
            "catalog, or measure with `rlccfr compare --catalog`"
        )


def _nearest_learned(budget: Budget, learned_budgets: Sequence[Budget], who: str) -> tuple[Budget, str]:
    """Return the nearest budget in the range that a chooser has learned from, and a remark if it is not ``budget``.

    A chooser's answers outside the range that it has learned from can't be relied on. If it has learned from no budget
    in this unit, ``budget`` is returned as it is, with a remark that says so.

    Args:
        budget: budget that the user asks for.
        learned_budgets: budgets that the chooser has learned from.
        who: the chooser, as the subject of a sentence.
    """
    amounts = [learned.amount for learned in learned_budgets if learned.unit == budget.unit]
    if not amounts:
        return budget, f"; {who} was not trained with budgets in {budget.unit}"
    limit = Budget(budget.unit, min(max(budget.amount, min(amounts)), max(amounts)))
    note = "" if limit == budget else f"; picked as for {limit}, the nearest to {budget} that {who} was trained with"
    return limit, note


def _figures_of(task: Task, cell: Cell) -> dict[str, Any]:
    """Return the figures of a pick; empty if some runs were shorter than the budget."""
    try:
        evidence = Evidence.measured(task.evaluator, task.catalog, task.game, task.budget)
    except MissingCellError:
        return {}
    row = Bench(task, {task.game: evidence}).row(TEAM, cell, 0, 0.0)
    return {name: row[name] for name in SHOWN}


def _better_extended(task: Task, figures: dict[str, Any]) -> str:
    """Return a remark about the best algorithm of the extended catalog, if it beats the pick; else "".

    No remark is made about an algorithm of the paper's catalog.

    Args:
        task: task with the extended catalog.
        figures: figures of the pick; without a reward, no algorithm beats it.
    """
    try:
        evidence = Evidence.measured(task.evaluator, task.catalog, task.game, task.budget)
    except MissingCellError:
        # The table may lack some runs of the extended catalog, or have runs that are shorter than this budget.
        return ""
    best = virtual_best(task.ranks(evidence.choosing))
    runs = evidence.judging[best]
    gain = task.rewards(evidence.judging)[best] - figures.get("reward", math.inf)
    converged = all(run.converged for run in runs)
    better = gain > 0 or (converged and not figures.get("converged", True))
    if best in set(shipped.catalog()) or not better:
        return ""
    exploitability = mean(run.exploitability for run in runs)
    comparison = f"with {gain:.3g} more reward" if gain > 0 else "and has converged"
    return f"; beyond these, {best} of the extended catalog reached {exploitability:.3g}, {comparison}"


def _rank_in_words(in_tied_set: bool, tied_set_size: int) -> str:
    """Return in words whether a pick is the best or tied with the best.

    The words include the number of tied algorithms, because a tie of very many algorithms says little.
    """
    if not in_tied_set:
        return "is not the best"
    return "is the best" if tied_set_size == 1 else f"is one of {tied_set_size} that are tied for the best"


def _certainty(figures: dict[str, Any], budget: Budget, deterministic: bool) -> str:
    """Return in words how certain a pick is.

    Args:
        figures: the pick's figures under the budget; empty if some runs were shorter.
        budget: budget of the figures.
        deterministic: whether the algorithm draws nothing at random, so that it has one run.
    """
    if not figures:
        return "picked by a team that has seen every algorithm on this game, but not under such a budget"
    state = "" if figures["converged"] else NOT_CONVERGED
    rank = _rank_in_words(figures["in_tied_set"], figures["tied_set_size"])
    judged = "by a second timing of its only run" if deterministic else "on runs other than those it was chosen by"
    return (
        f"{state}measured after {budget}: of {len(shipped.catalog())} algorithms it {rank}; regret "
        f"{figures['regret']:.3g} {judged}; exploitability {figures['exploitability']:.3g}, "
        f"{figures['throughput']:,.0f} iterations/s, reward {figures['reward']:.3g} there"
    )
