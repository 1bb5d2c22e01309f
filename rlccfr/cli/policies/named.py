"""Policies as commands name them: ``uniform``, a policy's file, or a saved run."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from rlccfr.errors import CheckpointError

if TYPE_CHECKING:
    from rlccfr.policy import Policy

UNIFORM = "uniform"

BEST_RESPONSES = ("best", "best_response", "best-response", "br")
"""Names for best responses to the opponent's policy, which ``rlccfr match`` computes."""


def policy_of(name: str, game: Any = None) -> Policy:
    """Return the policy that a name or a file stands for; a run stands for its average policy.

    Args:
        name: ``uniform``, or a file that holds a policy or a run.
        game: the game that the policy must be for; by default the one that the file names.

    Raises:
        CheckpointError: the file can't be read, is for another game, or does not name its game.
        GameError: the game that the file names can't be loaded.
    """
    from rlccfr.game import policy_class
    from rlccfr.policies.table_policy_file import is_table_policy, load_table_policy

    if name == UNIFORM:
        if game is None:
            raise CheckpointError(f"{UNIFORM!r} is a policy of any game: name the game with --game")
        uniform: Policy = policy_class(game).uniform(game)
        return uniform
    if not Path(name).exists():
        if is_best(name):
            raise CheckpointError(
                f"{name!r} is a best response to another policy, so only `rlccfr match` takes it; in Python, "
                "policy.best_response().save(path) writes one to a file"
            )
        raise CheckpointError(
            f"there is no file {name}; name one that `rlccfr solve GAME --policy policy.npz` wrote, or {UNIFORM}"
        )
    if is_run(name):
        average: Policy = run_of(name, game).average_policy()
        return average
    if game is not None:
        loaded: Policy = policy_class(game).load(name, game)
        return loaded
    # No game was named, so the file has to tell which kind of policy it holds.
    if is_table_policy(Path(name)):
        of_file: Policy = load_table_policy(Path(name))
        return of_file
    from rlccfr.policies.network_policy_format import is_network_policy
    from rlccfr.policy import Policy

    if is_network_policy(Path(name)):
        from rlccfr.policies.network_policy import NetworkPolicy

        return NetworkPolicy.load(name)
    return Policy.load(name)


def game_of_opponent(name: str, game: Any) -> Any:
    """Return the game that an opponent's policy must be for; None if the policy's file may name another game."""
    from rlccfr.game import policy_class

    return None if policy_class(game).plays_other_games and name != UNIFORM else game


def is_best(name: str) -> bool:
    """Return whether a name stands for best responses to the opponent's policy, and not for a file."""
    return name.lower() in BEST_RESPONSES and not Path(name).exists()


def is_run(name: str) -> bool:
    """Return whether a file holds a run; a file that can't be read is taken to hold a policy."""
    from rlccfr.checkpoint import is_solver

    return is_solver(Path(name))


def run_of(name: str, game: Any = None) -> Any:
    """Return the run in a file.

    Raises:
        CheckpointError: the file can't be read, or its run is on another game.
    """
    from rlccfr.game import without_lock
    from rlccfr.solver import Solver

    run = Solver.load(Path(name), game=game)
    if game is not None and without_lock(run.game).content_hash != game.content_hash:
        raise CheckpointError(f"{name} is a run on {run.game.name!r}, not on {game.name!r}")
    return run
