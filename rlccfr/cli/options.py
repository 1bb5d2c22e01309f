"""Options that several commands take."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, ClassVar

import typer

from rlccfr.cli.checks import at_least
from rlccfr.cli.command import option, rare
from rlccfr.errors import ComponentError, RLCCFRError

if TYPE_CHECKING:
    from rlccfr.catalog import Cell

BUDGET_AND_WEIGHTS = "Budget of a run, and weights of the reward"

Json = Annotated[bool, typer.Option("--json", help="Print JSON for a program to read.")]
Seed = Annotated[int, typer.Option(help="Seed of everything random.", callback=at_least(0))]
RunSeed = Annotated[
    int | None, typer.Option(help="Seed of everything random. [0; a saved run's own]", callback=at_least(0))
]
StorePath = Annotated[Path, typer.Option("--store", help="Directory of measurements.")]
GameOfFile = Annotated[
    str | None, typer.Option("--game", help="The game that the policy is for. [the one named in the file]")
]

CATALOG = (
    "Catalog: paper, tabular, extended, extended-tabular, schedules, buckets; public for hold'em and Bluff; "
    '"tabular + my_rule" adds your own rule; "my_rule(a=1|2) + cfr" has these alone.'
)
EVALUATIONS = "Largest number of algorithms to measure."
SCALE = "Scale of the error cost: log, linear or units. [the preset's]"


@dataclass(frozen=True)
class GameOptions:
    """How a game is compiled."""

    TITLE: ClassVar[str] = ""
    max_histories: int | None = rare(None, "Largest number of histories that a game may have.", callback=at_least(1))


@dataclass(frozen=True)
class OneBudget:
    """The budget of a run, in one of three units."""

    TITLE: ClassVar[str] = BUDGET_AND_WEIGHTS
    iterations: int | None = option(None, "Budget in iterations. [1000]", callback=at_least(1))
    seconds: float | None = option(None, "Budget in engine CPU seconds.")
    nodes: int | None = option(None, "Budget in histories touched.", callback=at_least(1))

    @property
    def is_given(self) -> bool:
        """Whether a budget was given."""
        return (self.iterations, self.seconds, self.nodes) != (None, None, None)

    def amount(self) -> dict[str, Any]:
        """Return the budget as ``{"unit": ..., "amount": ...}``; 1,000 iterations if none was given.

        Raises:
            RLCCFRError: several budgets were given, or one is not positive.
        """
        amounts = {"iterations": self.iterations, "seconds": self.seconds, "nodes": self.nodes}
        (budget,) = _budgets({unit: [amount] for unit, amount in amounts.items() if amount is not None})
        return budget


@dataclass(frozen=True)
class SeveralBudgets:
    """Budgets of runs, all in one unit."""

    TITLE: ClassVar[str] = BUDGET_AND_WEIGHTS
    iterations: list[int] | None = option(None, "Budget in iterations; may be repeated.", callback=at_least(1))
    seconds: list[float] | None = option(None, "Budget in engine CPU seconds; may be repeated.")
    nodes: list[int] | None = option(None, "Budget in histories touched; may be repeated.", callback=at_least(1))

    @property
    def are_given(self) -> bool:
        """Whether any budget was given."""
        return any((self.iterations, self.seconds, self.nodes))

    def amounts(self) -> list[dict[str, Any]]:
        """Return each budget as ``{"unit": ..., "amount": ...}``; 1,000 iterations if none was given.

        Raises:
            RLCCFRError: several units were given, or an amount is not positive.
        """
        amounts = {"iterations": self.iterations, "seconds": self.seconds, "nodes": self.nodes}
        return _budgets({unit: list(values) for unit, values in amounts.items() if values})


def _budgets(amounts_by_unit: Mapping[str, list[float]]) -> list[dict[str, Any]]:
    """Return budgets in one unit; 1,000 iterations if there are none.

    Raises:
        RLCCFRError: there are several units, or an amount is not positive.
    """
    if len(amounts_by_unit) > 1:
        names = [f"--{unit}" for unit in amounts_by_unit]
        raise RLCCFRError(f"give one budget, not {' and '.join(names)}")
    ((unit, amounts),) = (amounts_by_unit or {"iterations": [1000]}).items()
    for amount in amounts:
        if not amount > 0:
            raise RLCCFRError(f"--{unit} must be a positive number, not {amount}")
    return [{"unit": unit, "amount": amount} for amount in amounts]


@dataclass(frozen=True)
class Weights:
    """Weights of the agents' rewards."""

    TITLE: ClassVar[str] = BUDGET_AND_WEIGHTS
    presets: list[str] | None = option(
        None, "Weights: accuracy, paper-kuhn ..., or alpha and beta as 0.7,0.3; may be repeated. [accuracy]", "--preset"
    )
    scale: str | None = rare(None, SCALE)

    @property
    def names(self) -> list[str]:
        """The presets' names, ``accuracy`` by default."""
        return self.presets or ["accuracy"]


@dataclass(frozen=True)
class TrainingOptions:
    """What a team may pick, and what it measures to learn which algorithms to pick."""

    TITLE: ClassVar[str] = "Training of a team"
    catalog: str | None = option(None, f"{CATALOG} [what fits the games]")
    evaluations: int = option(24, EVALUATIONS, callback=at_least(1))
    engine_seeds: list[int] | None = rare(
        None, "Engine seed of the runs; may be repeated. [0]", "--engine-seed", callback=at_least(0)
    )

    def catalog_for(self, games: Sequence[str]) -> str:
        """Return the catalog to pick from: the one that the user named, or that of the games' form.

        Raises:
            RLCCFRError: agents can't observe a game; or no catalog is named, and the games have different ones.
        """
        from rlccfr.envs.catalog_text import default_catalog
        from rlccfr.games.names import form_named

        for game in games:
            form_named(game).part("features")
        return self.catalog or default_catalog(games)


def parsed_algorithm(text: str, option_name: str) -> Cell:
    """Return the algorithm that an option's value names; see :meth:`rlccfr.catalog.Cell.from_text`.

    Raises:
        ComponentError: the value names no algorithm; the message begins with the option's name.
    """
    from rlccfr.catalog import Cell

    try:
        return Cell.from_text(text)
    except ComponentError as error:
        raise ComponentError(f"{option_name}: {error}") from None
