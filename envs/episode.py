"""The specification of episodes: from a user's options to checked and typed values."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, TypedDict, Unpack, cast

from rlccfr.catalog import Catalog
from rlccfr.envs.catalog_text import NAMED, catalog_from_text
from rlccfr.envs.measuring.evaluator import Evaluator
from rlccfr.envs.measuring.live import shared_evaluator
from rlccfr.envs.measuring.request import Budget, check_segments
from rlccfr.envs.measuring.table import TableEvaluator
from rlccfr.envs.reward import PRESETS, Preset, Scale, Weights, preset
from rlccfr.errors import BudgetError, RLCCFRError, brief, choices
from rlccfr.games.compiled_games import compiled
from rlccfr.games.names import GameName, as_name

DEFAULT_BUDGET: Mapping[str, Any] = {"unit": "iterations", "amount": 1000}
"""Budget of an episode if none is given."""

Games = GameName | Sequence[GameName]
BudgetLike = Budget | Mapping[str, Any]
Budgets = BudgetLike | Sequence[BudgetLike]
PresetLike = str | Preset | Sequence[float] | Sequence[Sequence[float]]
Presets = PresetLike | Sequence[PresetLike]
CatalogLike = str | Catalog | Mapping[str, Sequence[str]]


class EpisodeOptions(TypedDict, total=False):
    """Episode options besides games and budgets: keyword arguments of environments, teams and recommendation tables.

    Attributes:
        segments: number of decisions per episode, one per segment of the run. The budget is split evenly, and the
            solver keeps its tables from segment to segment. The default is 1.
        preset: reward weights of the agents: a name of :data:`rlccfr.envs.reward.PRESETS`, a ``Preset``, one pair
            (alpha, beta) for all agents, or three pairs. If a list of names, of ``Preset`` objects or of triples of
            pairs is given, each episode draws one entry. The default is ``"accuracy"``.
        scale: scale of the error cost e: ``"log"``, ``"linear"`` or ``"units"`` (see
            :class:`rlccfr.envs.reward.Costs`). By default, each preset has its own scale: ``"log"`` for ``"accuracy"``
            and for pairs, ``"units"`` for the paper's presets.
        catalog: ``"paper"`` (the default), ``"tabular"``, ``"extended"``, ``"extended-tabular"``, ``"schedules"``,
            ``"public"``, ``"buckets"``, one of these names with further components (``"tabular + my_rule"``),
            components alone (``"my_rule(speed=1|2) + cfr_plus"``), a ``Catalog``, or a dict with a list of ids for each
            of ``"update_rules"``, ``"samplers"`` and ``"abstractions"``.
        engine_seeds: one engine seed, or several, from which each episode draws one. With few seeds, episodes reuse
            earlier measurements. The default is (0,).
        evaluator: source of measurements: None (the default), to measure each request once per process; a directory,
            to keep the measurements in a store as well; a ``.parquet`` file with a table of measurements; or an
            evaluator.
    """

    segments: int
    preset: Presets
    scale: str | None
    catalog: CatalogLike
    engine_seeds: int | Sequence[int]
    evaluator: str | Path | Evaluator | None


@dataclass(frozen=True)
class EpisodeSpec:
    """A checked specification of the episodes of an environment, a team or a recommendation table.

    Attributes:
        games: names of all games that an episode may draw.
        budgets: all budgets that an episode may draw.
        segments: number of decisions per episode.
        presets: all reward weights that an episode may draw.
        catalog: algorithms to pick from.
        engine_seeds: all engine seeds that an episode may draw.
        evaluator: source of measurements.

    Examples:
        >>> spec = EpisodeSpec.parse(["kuhn"], preset="0.7, 0.3", catalog="tabular")
        >>> spec.budgets, spec.presets[0].name, spec.segments
        ((Budget(unit='iterations', amount=1000),), '(0.7, 0.3) (0.7, 0.3) (0.7, 0.3)', 1)
    """

    games: tuple[str, ...]
    budgets: tuple[Budget, ...]
    segments: int
    presets: tuple[Preset, ...]
    catalog: Catalog
    engine_seeds: tuple[int, ...]
    evaluator: Evaluator

    @classmethod
    def parse(
        cls, games: Games | EpisodeSpec = "kuhn", budget: Budgets | None = None, **options: Unpack[EpisodeOptions]
    ) -> EpisodeSpec:
        """Return a specification with these games, budgets and options, after checking them and compiling the games.

        Args:
            games: a name that :func:`rlccfr.load_game` accepts, or several, from which each episode draws one; or a
                specification, in which the given budget and options replace its own.
            budget: budget of an episode, ``{"unit": "iterations" | "seconds" | "nodes", "amount": ...}``, or a list of
                budgets, from which each episode draws one. The default is 1,000 iterations, or the budgets of the
                specification.
            options: see :class:`EpisodeOptions`.

        Raises:
            RLCCFRError: an invalid value.
            TypeError: an unknown option.
        """
        check_option_names(options, ("games", "budget"))
        if isinstance(games, EpisodeSpec):
            options = {**games.options, **options}
            budget = games.budgets if budget is None else budget
            games = games.games
        budgets = _budgets(DEFAULT_BUDGET if budget is None else budget)
        segments = options.get("segments", 1)
        for episode_budget in budgets:
            check_segments(episode_budget, segments)
        return cls(
            games=_games(games),
            budgets=budgets,
            segments=segments,
            presets=_presets(options.get("preset", "accuracy"), options.get("scale")),
            catalog=parse_catalog(options.get("catalog", "paper")),
            engine_seeds=_seeds(options.get("engine_seeds", (0,))),
            evaluator=_evaluator(options.get("evaluator")),
        )

    @property
    def options(self) -> EpisodeOptions:
        """Options from which this specification can be made again, together with its games and budgets."""
        return {
            "segments": self.segments,
            "preset": self.presets,
            "catalog": self.catalog,
            "engine_seeds": self.engine_seeds,
            "evaluator": self.evaluator,
        }


def check_option_names(options: Mapping[str, Any], others: Sequence[str]) -> None:
    """Check that keyword arguments are options of episodes.

    Args:
        options: keyword arguments that a caller received as options of episodes.
        others: names of the caller's further arguments, for the error message.

    Raises:
        TypeError: a name is not an option of episodes; the message gives the nearest name, or all names.
    """
    names = [*others, *EpisodeOptions.__annotations__]
    for name in options:
        if name not in EpisodeOptions.__annotations__:
            raise TypeError(f"unexpected keyword argument {name!r}; {choices(name, names)}")


def _games(games: Games) -> tuple[str, ...]:
    """Return the names of games, each once, after compiling them."""
    listed: Sequence[Any] = ()
    if isinstance(games, (str, os.PathLike)):
        listed = (games,)
    elif isinstance(games, Sequence):
        listed = games
    names = tuple(as_name(game) for game in listed)
    if not names or not all(isinstance(name, str) for name in names):
        raise RLCCFRError(f"games must be a name, or a list of at least one name, not {games!r}")
    for name in names:
        compiled(name)
    return tuple(dict.fromkeys(names))


def _budgets(value: Budgets) -> tuple[Budget, ...]:
    are_several = isinstance(value, Sequence) and not isinstance(value, str) and len(value) > 0
    listed: Sequence[Any] = value if are_several else [value]  # type: ignore[assignment]
    return tuple(dict.fromkeys(parse_budget(budget) for budget in listed))


def parse_budget(budget: BudgetLike) -> Budget:
    """Return the budget of a dict ``{"unit": ..., "amount": ...}``; return a ``Budget`` as it is.

    Raises:
        BudgetError: the value is not a budget.
    """
    if isinstance(budget, Budget):
        return budget
    if not isinstance(budget, Mapping) or set(budget) != {"unit", "amount"}:
        raise BudgetError(f'a budget must have the form {{"unit": "iterations", "amount": 1000}}, not {budget!r}')
    return Budget(budget["unit"], budget["amount"])


def _presets(value: Presets, scale: str | None) -> tuple[Preset, ...]:
    first: Any = value[0] if isinstance(value, Sequence) and not isinstance(value, str) and value else None
    # Three pairs are one preset: their first entry holds numbers. A list of triples of pairs holds sequences there.
    is_list_of_triples = isinstance(first, Sequence) and len(first) > 0 and isinstance(first[0], Sequence)
    are_several = isinstance(first, (str, Preset)) or is_list_of_triples
    listed: Sequence[Any] = value if are_several else [value]  # type: ignore[assignment]
    return tuple(dict.fromkeys(parse_preset(preset, scale) for preset in listed))


def parse_preset(value: PresetLike, scale: str | None = None) -> Preset:
    """Return reward weights, given by name or as numbers; the numbers then also serve as the name.

    Numbers are a pair (alpha, beta) for all three agents, or three pairs; a string may hold the two or six numbers. A
    ``Preset`` is returned as it is.

    Args:
        scale: scale of the error cost; None keeps the preset's own scale, which is ``"log"`` for numbers.

    Raises:
        RLCCFRError: an unknown name or scale, a wrong number of weights, or weights that are not valid in a
            :class:`Preset`.
    """
    preset = _parse_weights(value)
    return preset if scale is None else replace(preset, scale=cast(Scale, scale))  # which the preset checks


def _parse_weights(value: PresetLike) -> Preset:
    """Return reward weights with the scale of their preset, or the default scale if they are given as numbers."""
    if isinstance(value, Preset):
        return value
    pairs: Any = value
    if isinstance(value, str):
        if value in PRESETS or not any(character.isdigit() for character in value):
            return preset(value)
        numbers = value.translate(str.maketrans("(),;", "    ")).split()
        # Six numbers are a pair for each agent.
        pairs = list(zip(numbers[::2], numbers[1::2], strict=True)) if len(numbers) == 6 else numbers
    try:
        if len(pairs) == 2:  # one pair for all three agents
            pairs = [pairs] * 3
        if any(isinstance(pair, str) for pair in pairs):  # two digits are not a pair
            raise ValueError
        a, b, c = (Weights(float(alpha), float(beta)) for alpha, beta in pairs)
    except (TypeError, ValueError):
        raise RLCCFRError(
            f"a preset must be a name ({', '.join(PRESETS)}), a pair (alpha, beta) such as '0.7,0.3', or three pairs, "
            f"one per agent, not {brief(value)}"
        ) from None
    name = " ".join(f"({_exact(alpha)}, {_exact(beta)})" for alpha, beta in (a, b, c))
    return Preset(name, (a, b, c))


def _exact(number: float) -> str:
    """Return a number in as few digits as give the number again, so that a preset's name can be read back."""
    short = f"{number:g}"
    return short if float(short) == number else repr(number)


def parse_catalog(value: CatalogLike) -> Catalog:
    """Return a catalog, given by lists of ids or by a string; return a ``Catalog`` as it is.

    :func:`rlccfr.envs.catalog_text.catalog_from_text` reads the string.

    Raises:
        RLCCFRError: the value has none of these forms, a component is unknown or appears twice, or an axis is empty.
    """
    if isinstance(value, Catalog):
        return value
    if isinstance(value, str):
        return catalog_from_text(value)
    fields = {"update_rules", "samplers", "abstractions"}
    axes: dict[Any, tuple[Any, ...]] = {}
    if isinstance(value, Mapping):
        axes = {axis: _as_ids(ids) for axis, ids in value.items()}
    if set(axes) != fields or not all(isinstance(id, str) for ids in axes.values() for id in ids):
        names = ", ".join(map(repr, NAMED))
        raise RLCCFRError(
            f"catalog must be {names}, a Catalog, or a dict with a list of ids for each of "
            f"{', '.join(sorted(fields))}, not {value!r}"
        )
    return Catalog(**axes)


def _as_ids(ids: Any) -> tuple[Any, ...]:
    """Return the entries of a list of ids; a value that is no list counts as a wrong entry."""
    return tuple(ids) if isinstance(ids, Iterable) and not isinstance(ids, str) else (None,)


def _seeds(value: int | Sequence[int]) -> tuple[int, ...]:
    seeds: tuple[int, ...] = ()
    if isinstance(value, int):
        seeds = (value,)
    elif isinstance(value, Sequence):
        seeds = tuple(value)
    if not seeds or any(isinstance(seed, bool) or not isinstance(seed, int) or seed < 0 for seed in seeds):
        raise RLCCFRError(f"engine_seeds must be at least one non-negative integer, not {value!r}")
    return tuple(dict.fromkeys(seeds))


def _evaluator(value: str | Path | Evaluator | None) -> Evaluator:
    """Return an evaluator: for a Parquet file, a table; for a directory or None, a live evaluator; else the value."""
    if isinstance(value, (str, Path)) and Path(value).suffix == ".parquet":
        return TableEvaluator(value)
    if value is None or isinstance(value, (str, Path)):
        return shared_evaluator(None if value is None else str(Path(value).resolve()))
    if not all(callable(getattr(value, name, None)) for name in ("measure", "known", "result", "seeds")):
        raise RLCCFRError(
            f"evaluator must be None, a path (a store's directory or a .parquet table), or an evaluator, not {value!r}"
        )
    return value
