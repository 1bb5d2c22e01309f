"""Policy gradients and NFSP, as OpenSpiel implements them, compared with CFR."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import ExitStack
from functools import partial
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pandas as pd

from rlccfr.errors import RLCCFRError
from rlccfr.experiments.experiment import OPEN, Case, Claim, Experiment, Finding, Row
from rlccfr.experiments.pages import MUCH, draw, ends_of, grouped, interval, table, verdict_of, with_fields
from rlccfr.games.flat_tree import GameTree
from rlccfr.games.names import load_game
from rlccfr.games.openspiel import openspiel_game
from rlccfr.policy import EXACT, Policy
from rlccfr.solver import Solver

GAMES = {"kuhn": (100_000, 3), "leduc": (200_000, 1)}
"""Games, with the number of episodes and of seeds."""

WIDTH = 128
AGENTS: Mapping[str, Mapping[str, float]] = {
    "A2C": {},
    "PPO": {},
    "NFSP": {
        "reservoir_buffer_capacity": 2_000_000,
        "anticipatory_param": 0.1,
        "replay_buffer_capacity": 200_000,
        "epsilon_start": 0.06,
        "epsilon_end": 0.001,
    },
}
"""Agents, with the settings that are not OpenSpiel's defaults. NFSP has the settings of OpenSpiel's example on Kuhn
poker, since with the defaults it plays mostly at random for a million steps."""

LINES = {"PCFR+": ("pcfr_plus", "none"), "Deep CFR": ("deep_lcfr", "external")}
"""Update rules and samplers whose curves are plotted beside those of the agents."""

POINTS = 5
"""Number of points of a curve per factor of 10 in episodes."""


class PPOSide:
    """One player's PPO agent in self-play; a transition lasts until the player's next decision or the game's end."""

    def __init__(self, player: int, size: int, actions: int) -> None:
        from open_spiel.python.pytorch.ppo import PPO, PPOAgent

        # The settings are OpenSpiel's, but without discounting.
        self._agent = PPO((size,), actions, 2, player_id=player, gamma=1.0, agent_fn=PPOAgent)
        self._player = player
        self._has_acted = False  # whether the player has acted in this game, so that a transition is incomplete

    def step(self, time_step: Any, is_evaluation: bool = False) -> Any:
        """Act, or register the end of a game, as OpenSpiel's agents do."""
        if is_evaluation:
            (output,) = self._agent.step([time_step], is_evaluation=True)
            return SimpleNamespace(action=output.action, probs=output.probs.numpy())
        if not (time_step.last() or time_step.current_player() == self._player):
            return None
        if self._has_acted:
            # The transition from the player's last decision to this one, or to the end, is complete.
            reward = time_step.rewards[self._player] if time_step.last() else 0.0
            self._agent.post_step([reward], [time_step.last()])
            if self._agent.cur_batch_idx == self._agent.steps_per_batch:
                self._agent.learn([time_step])
        self._has_acted = not time_step.last()
        return self._agent.step([time_step])[0] if self._has_acted else None


def agents(
    kind: str,
    size: int,
    actions: int,
    seed: int,
    episodes: int,
    settings: Mapping[str, Any],
    widths: tuple[int, ...] = (WIDTH,),
) -> list[Any]:
    """Return two new agents of OpenSpiel, one for each player.

    Args:
        kind: one of :data:`AGENTS`.
        size: length of information state tensors.
        actions: number of actions.
        seed: seed of NFSP; the other agents use the global random states.
        episodes: number of games that the agents will play. As in OpenSpiel's example, it is also the number of steps
            over which NFSP's exploration decays, if ``settings`` has no other; of a player's steps, only those as a
            best response count.
        settings: settings of NFSP.
        widths: numbers of units of the hidden layers of A2C's and NFSP's networks.

    Raises:
        RLCCFRError: this version of OpenSpiel does not have the agents.
    """
    try:
        from open_spiel.python.pytorch.nfsp import NFSP
        from open_spiel.python.pytorch.policy_gradient import PolicyGradient
    except ImportError as error:
        raise RLCCFRError(
            f"this version of OpenSpiel has no agents in PyTorch ({error}): upgrade open_spiel"
        ) from error
    if kind == "PPO":
        return [PPOSide(player, size, actions) for player in (0, 1)]
    if kind == "A2C":
        return [PolicyGradient(player, size, actions, loss_str="a2c", hidden_layers_sizes=widths) for player in (0, 1)]
    options = {"epsilon_decay_duration": episodes, **settings}
    # The seeds decide the average networks and all draws. OpenSpiel starts all Q-networks from the same weights.
    return [NFSP(player, size, actions, widths, seed=2 * seed + player, **options) for player in (0, 1)]


def average_mode(players: list[Any]) -> ExitStack:
    """Return a context within which agents that have an average policy play it."""
    stack = ExitStack()
    for agent in players:
        if hasattr(agent, "temp_mode_as"):
            from open_spiel.python.pytorch.nfsp import MODE

            stack.enter_context(agent.temp_mode_as(MODE.AVERAGE_POLICY))
    return stack


def learned(kind: str, game: str, episodes: int, seed: int, **settings: float) -> list[Row]:
    """Train agents in self-play, and return their exploitability as the number of episodes grows.

    The exploitability is measured :data:`POINTS` times per factor of 10 in episodes, from 100 episodes on, and after
    the last episode.
    """
    from rlccfr.networks.torch_state import contained_randomness

    tree = load_game(game)
    with contained_randomness(seed):  # from which OpenSpiel's agents draw
        return _train(kind, tree, episodes, seed, settings)


def _train(kind: str, tree: GameTree, episodes: int, seed: int, settings: Mapping[str, float]) -> list[Row]:
    """Train and measure the agents; see :func:`learned`. This changes the global random states."""
    from open_spiel.python.rl_agent_policy import JointRLAgentPolicy
    from open_spiel.python.rl_environment import Environment

    environment = Environment(openspiel_game(tree))
    environment.seed(seed)
    size = environment.observation_spec()["info_state"][0]
    actions = environment.action_spec()["num_actions"]
    players = agents(kind, size, actions, seed, episodes, settings)
    joint = JointRLAgentPolicy(openspiel_game(tree), dict(enumerate(players)), environment.use_observation)
    evaluated = {int(10 ** (power / POINTS)) for power in range(10, 40)} | {episodes}
    rows: list[Row] = []
    for episode in range(1, episodes + 1):
        play(environment, players)
        if episode in evaluated:
            with average_mode(players):
                exploitability = Policy.from_openspiel(tree, joint).exploitability()
            rows.append({"episodes": episode, "exploitability": exploitability})
    return rows


def play(environment: Any, players: list[Any], unit: float = 1.0) -> int:
    """Play one game, from which the agents learn, and return the number of its decisions.

    Args:
        environment: OpenSpiel's environment of the game.
        players: the agents.
        unit: what the agents count as a payoff of 1.
    """
    num_decisions = 0
    time_step = environment.reset()
    while not time_step.last():
        output = players[time_step.current_player()].step(time_step)
        time_step = environment.step([output.action])
        num_decisions += 1
        time_step = time_step._replace(rewards=[reward / unit for reward in time_step.rewards])
    for agent in players:
        agent.step(time_step)
    return num_decisions


def solved(rule: str, sampler: str, game: str, episodes: int, seed: int) -> list[Row]:
    """Return the points of a solver's curve; an episode is a walk, or a pass over the tree for one player."""
    solver = Solver(load_game(game), rule, sampler, seed=seed)
    networks = solver.update_rule.networks
    per_iteration = 2 * (networks.traversals if networks else 1)  # for both players
    points = solver.run(iterations=max(episodes // per_iteration, 1)).points
    return [
        {"episodes": per_iteration * point.iteration, "exploitability": point.exploitability}
        for point in points
        if point.iteration
    ]


def cases(quick: bool) -> list[Case]:
    """Return a case for each game, seed, and agent of :data:`AGENTS` or algorithm of :data:`LINES`.

    Args:
        quick: whether to return only the cases of a quick run.
    """
    games: Mapping[str, tuple[int, int]] = {"kuhn": (1_000, 1)} if quick else GAMES
    all_cases = []
    for game, (episodes, seeds) in games.items():
        for seed in range(seeds):
            all_cases += [
                Case(f"{game}/{kind}/{seed}", partial(learned, kind, game, episodes, seed, **settings))
                for kind, settings in AGENTS.items()
            ]
            all_cases += [
                Case(f"{game}/{name}/{seed}", partial(solved, *algorithm, game, episodes, seed))
                for name, algorithm in LINES.items()
                if seed == 0 or algorithm[1] != "none"  # exact passes do not draw at random
            ]
    return all_cases


def parsed(rows: pd.DataFrame) -> pd.DataFrame:
    """Return the rows with columns for the fields of their cases' keys: ``game``, ``algorithm`` and ``seed``."""
    return with_fields(rows, "game", "algorithm", "seed")


def claims(rows: pd.DataFrame) -> list[Claim]:
    """Judge how PCFR+ and Deep CFR compare with the agents."""
    reached = grouped(ends_of(parsed(rows), "game", "algorithm"), "game", "algorithm")
    means = {key: float(np.mean(values)) for key, values in reached.items()}
    games = list(dict.fromkeys(game for game, _ in means))
    best = {game: min(means[game, agent] for agent in AGENTS) for game in games}
    ratios = {game: max(means[game, "PCFR+"], EXACT) / best[game] for game in games}
    beside = ", ".join(f"{means[game, 'Deep CFR']:.3g} and {best[game]:.3g} on {game}" for game in games)
    seeds = {game: len(reached[game, next(iter(AGENTS))]) for game in games}
    return [
        Claim(
            "(not said there) PCFR+ wins by orders of magnitude",
            {game: Finding(verdict_of(ratio < MUCH), seeds[game]) for game, ratio in ratios.items()},
            f"ratio to the best of {', '.join(AGENTS)}: "
            + ", ".join(f"{ratio:.3g} on {game}" for game, ratio in ratios.items()),
            "agents with OpenSpiel's settings, not tuned",
        ),
        Claim(
            "Deep CFR is no better than tuned policy gradients on mid-size games (Rudolph et al.)",
            {game: Finding(OPEN, seeds[game]) for game in games},
            f"Deep CFR, and the best of {', '.join(AGENTS)}: {beside}",
            "agents that are not tuned, on small games",
        ),
    ]


def page(rows: pd.DataFrame, folder: Path, quick: bool) -> Iterator[str]:
    """Yield the lines of the experiment's page in Markdown, and draw its pictures into ``folder``."""
    rows = parsed(rows)
    yield from (
        "A2C, PPO and NFSP are OpenSpiel's implementations in PyTorch, in self-play, with OpenSpiel's settings and "
        f"layers of {WIDTH} units (PPO: 64, as in OpenSpiel). NFSP has the settings of OpenSpiel's example on Kuhn "
        "poker; OpenSpiel's examples play 3 million games of Kuhn poker and 20 million of Leduc, many more than here. "
        "The figures of A2C and PPO are those of the current policy, NFSP's those of its average policy. An episode is "
        "a game. For Deep CFR it is a walk, and for PCFR+ one pass over the tree for a player, which touches all "
        "histories.",
        "",
        'A benchmark of 7,000 runs (Rudolph et al., "Reevaluating policy gradient methods for imperfect-information '
        'games", ICLR 2026) found deep CFR forms no better than tuned policy gradients on mid-size games. The agents '
        "here are not tuned.",
    )
    for game, game_rows in rows.groupby("game", sort=False):
        name = f"policy-gradients-{game}.svg"
        draw(game_rows, "episodes", "algorithm", folder / name, str(game))
        yield from ("", f"## {game!s}", "", f"![Exploitability against episodes]({name})", "")
        last = ends_of(game_rows, "algorithm")
        ends = [
            (str(algorithm), f"{runs['episodes'].mean():,.0f}", interval(runs["exploitability"]))
            for algorithm, runs in last.groupby("algorithm", sort=False)
        ]
        uniform = Policy.uniform(load_game(str(game))).exploitability()
        yield f"Exploitability at the end of the runs; the uniform policy has {uniform:.3g}."
        yield ""
        yield from table(("", "episodes", "exploitability"), ends)


EXPERIMENT = Experiment(
    "policy-gradients", "Policy gradients and NFSP beside CFR",
    "Heinrich and Silver, Deep reinforcement learning from self-play in imperfect-information games, 2016 (NFSP); "
    'Rudolph et al., "Reevaluating policy gradient methods for imperfect-information games", ICLR 2026',
    cases, page, claims,
)  # fmt: skip
