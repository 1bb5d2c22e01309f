"""Teams for catalogs that have grown."""

from __future__ import annotations

from pathlib import Path

from rlccfr.agents.team.team import SelectorTeam
from rlccfr.catalog import Catalog
from rlccfr.envs.episode import EpisodeOptions
from rlccfr.envs.measuring.compiled_games import uniform_in_units
from rlccfr.envs.measuring.evaluator import Evaluator
from rlccfr.errors import ComponentError


def expand_team(team: SelectorTeam, catalog: Catalog, evaluator: str | Path | Evaluator | None = None) -> SelectorTeam:
    """Return a team for a larger catalog; it picks as before until it learns about the new components.

    Output rows of the Q-networks are mapped by component id; new rows start below any likely reward. The experience
    is kept, and with it the number of evaluations. The optimisers start anew.

    Args:
        catalog: catalog with all components of the team's own, in any order, and others.
        evaluator: evaluator of the new team; by default the old team's.

    Raises:
        ComponentError: the catalog lacks one of the team's components.
    """
    rows = []
    for own, others in zip(catalog.axes, team.catalog.axes, strict=True):
        lacking = [id for id in others if id not in own]
        if lacking:
            raise ComponentError(
                f"the catalog lacks {', '.join(lacking)}, which the team can pick; add what is missing"
            )
        rows.append({own.index(id): row for row, id in enumerate(others)})
    changed: EpisodeOptions = {"catalog": catalog}
    if evaluator is not None:
        changed["evaluator"] = evaluator
    larger = SelectorTeam(team.env.episodes, seed=team.seed, hyperparameters=team.hyperparameters, **changed)
    # e is hardly above the uniform policy's, on any scale, and s at most 1: a reward is at least about -2 per segment,
    # or as much less as the uniform policy's exploitability exceeds 1.
    largest_error = max(1.0, *(uniform_in_units(game) for game in team.env.games))
    worst = -2.0 * largest_error * team.env.segments
    for selector, source, mapped in zip(larger.selectors, team.selectors, rows, strict=True):
        selector.adopt(source, mapped, worst)
    for entry in team.experience:
        larger.experience.add(*entry)
    larger.generator.bit_generator.state = team.generator.bit_generator.state
    larger.settled, larger.forgotten = team.settled, team.forgotten
    return larger
