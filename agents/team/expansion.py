"""Moving a team to a larger catalog, where it keeps what it has learned."""

from __future__ import annotations

from pathlib import Path

from rlccfr.agents.team.team import SelectorTeam
from rlccfr.catalog import Catalog
from rlccfr.envs.episode import EpisodeOptions
from rlccfr.envs.measuring.evaluator import Evaluator
from rlccfr.errors import ComponentError
from rlccfr.games.compiled_games import uniform_in_units


def expand_team(team: SelectorTeam, catalog: Catalog, evaluator: str | Path | Evaluator | None = None) -> SelectorTeam:
    """Return a team for a larger catalog; it picks as before until it learns about the new components.

    The Q-networks keep their outputs for the components that they know. Their outputs for new components start below
    any likely reward. The experience is kept, and with it the number of evaluations. The optimisers start from scratch.

    Args:
        catalog: catalog that has all components of the team's catalog, in any order, and further ones.
        evaluator: evaluator of the new team; by default the old team's.

    Raises:
        ComponentError: the catalog lacks one of the team's components.
    """
    options: EpisodeOptions = {"catalog": catalog}
    if evaluator is not None:
        options["evaluator"] = evaluator
    larger = SelectorTeam(team.env.episodes, seed=team.seed, hyperparameters=team.hyperparameters, **options)
    adopt_networks(larger, team)
    # Observations describe components by features, not by indices, so they are valid for the larger catalog, too.
    for situation, algorithm, outcome in team.experience:
        larger.experience.add(situation, algorithm, outcome)
    larger.generator.bit_generator.state = team.generator.bit_generator.state
    larger.settled = team.settled
    larger.forgotten = team.forgotten
    return larger


def adopt_networks(team: SelectorTeam, source: SelectorTeam) -> None:
    """Let a team take over the networks of another one, whose catalog may be smaller.

    The networks' outputs are matched by component id; outputs for new components start below any likely reward.

    Args:
        team: team whose networks change; its hidden layers must have the widths of the other's.
        source: the other team.

    Raises:
        ComponentError: the team's catalog lacks one of the other's components.
    """
    source_indices = []  # by axis, the index in the other's catalog of each component that both catalogs have
    for ids, source_ids in zip(team.catalog.axes, source.catalog.axes, strict=True):
        lacking = [id for id in source_ids if id not in ids]
        if lacking:
            raise ComponentError(
                f"the catalog lacks {', '.join(lacking)}, which the team can pick: add the missing components"
            )
        source_indices.append({ids.index(id): index for index, id in enumerate(source_ids)})
    # On any scale, e hardly exceeds the uniform policy's, and s is at most 1. So a reward is at least about -2
    # times the largest such e, or -2 if that is less than 1, for each segment.
    largest_error = max(1.0, *(uniform_in_units(game) for game in team.env.games))
    worst_return = -2.0 * largest_error * team.env.segments
    for selector, other, indices in zip(team.selectors, source.selectors, source_indices, strict=True):
        selector.adopt(other, indices, worst_return)
