"""``rlccfr play``."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import TYPE_CHECKING, Annotated, Any

import typer

from rlccfr.cli.checks import at_least
from rlccfr.cli.console import Interrupted, load, on_one_line
from rlccfr.cli.options import Seed
from rlccfr.cli.progress import progress
from rlccfr.errors import RLCCFRError

if TYPE_CHECKING:
    import numpy as np

    from rlccfr.play.tables import Table
    from rlccfr.policy import Policy

CLOSE = "1e-4x"
"""Target of the run that finds an opponent, as a share of the uniform policy's exploitability."""

MOST_SECONDS = 10.0
"""CPU seconds after which the run that finds an opponent ends in any case."""


def play(
    game: Annotated[str, typer.Argument(help="A name from `rlccfr games`, or an OpenSpiel string.")],
    against: Annotated[
        str | None,
        typer.Option(help="The other player: a policy's file, a run that was saved, or uniform. [solved here]"),
    ] = None,
    seat: Annotated[
        int | None, typer.Option(callback=at_least(0, 1), help="Your seat. [changes after each game]")
    ] = None,
    games: Annotated[int | None, typer.Option(callback=at_least(1), help="Number of games. [until you leave]")] = None,
    seed: Seed = 0,
) -> None:
    """Play a game against a policy.

    Type ? at any prompt for help. Without --against, the game is solved first, for ten CPU seconds at most. In hold'em
    in buckets, the policy may be for another number of buckets.
    """
    import numpy as np

    from rlccfr.cli.policies.named import game_of_opponent, policy_of
    from rlccfr.games.words import payoff_unit, plain
    from rlccfr.play.session import Session

    tree = load(game)
    if not tree.num_infosets:
        raise RLCCFRError(f"nobody decides anything in {tree.name!r}, so there is nothing to play: choose another game")
    if against is None:
        policy = _solved_policy(tree, game)
    else:
        policy = policy_of(against, game_of_opponent(against, tree))
        policy.require_plays(tree)
    # Two streams: chance's moves do not depend on the policy's.
    table_seed, session_seed = np.random.SeedSequence(seed).spawn(2)
    table_rng = np.random.default_rng(table_seed)
    session_rng = np.random.default_rng(session_seed)
    encoding = sys.stdout.encoding or "ascii"

    def tell(line: str) -> None:
        print(plain(on_one_line(line), encoding), flush=True)

    def ask(prompt: str) -> str:
        return _ask(plain(prompt, encoding))

    name = getattr(tree, "openspiel_name", tree.name)
    session = Session(_dealer(policy, table_rng), ask, tell, name, payoff_unit(tree), session_rng)
    try:
        session.play(games, seat)
    except KeyboardInterrupt:
        raise Interrupted(f"interrupted; score: {session.score()}") from None


def _ask(prompt: str) -> str:
    """Return the answer to a prompt, which is shown on stdout even if that is a pipe."""
    print(on_one_line(prompt), end=" ", flush=True)
    if sys.stdin is None:
        raise EOFError
    answer = sys.stdin.readline()
    if not answer:
        print()
        raise EOFError
    return answer


def _dealer(policy: Policy, rng: np.random.Generator) -> Callable[[], Table]:
    """Return a function that begins a game against a policy; ``rng`` draws the moves of the policy and of chance."""
    table_class = policy.game.form.part("table")
    return lambda: table_class(policy, rng)


def _solved_policy(tree: Any, game: str) -> Policy:
    """Return a policy close to an equilibrium, and say how close."""
    from rlccfr.limits import target_of
    from rlccfr.solver import Solver

    with progress(f"solving {game}") as report:
        solver = Solver(tree, "dcfr_plus")
        result = solver.run(seconds=MOST_SECONDS, until=target_of(tree, CLOSE), progress=report)
    print(f"The other player's policy was solved just now; its exploitability is {result.exploitability:.3g}.")
    average: Policy = solver.average_policy()
    return average
