"""Training of a controller on live runs of many games."""

from __future__ import annotations

import json
import math
import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Executor
from dataclasses import asdict
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from rlccfr.agents.control.agents import ControlAgents
from rlccfr.agents.control.collecting import Collected, Task, collect, exploring_picks, held_picks
from rlccfr.agents.control.hyperparameters import ControlHyperparameters
from rlccfr.agents.control.memory import RunMemory
from rlccfr.agents.team.selector_dqn import single_threaded
from rlccfr.components.controller import Controller
from rlccfr.envs.control.run import Episode, marks_of
from rlccfr.errors import RLCCFRError, brief, whole_number
from rlccfr.games.names import GameName, as_name

VERSION = 3
"""Version of the training. Raise it when the same seed would give another controller."""


class Round(NamedTuple):
    """What happened in a round of training.

    Attributes:
        number: number of rounds done.
        runs: number of runs so far.
        decades: mean fall of log10 of the exploitability in the round's runs, random picks included.
        epsilon: probability of a random pick.
        loss: mean loss of the round's gradient steps; 0 before the first.
        cpu_seconds: CPU seconds of the training so far, of all processes.
    """

    number: int
    runs: int
    decades: float
    epsilon: float
    loss: float
    cpu_seconds: float


def _checked_horizons(horizons: Any) -> dict[int, float]:
    """Return horizons if each is a number of iterations with a positive share.

    Raises:
        RLCCFRError: they are not.
    """
    if not isinstance(horizons, Mapping) or not horizons:
        raise RLCCFRError(
            f"horizons must give shares by numbers of iterations, as in {{1000: 1.0}}, not {brief(horizons)}"
        )
    for horizon, share in horizons.items():
        whole_number(horizon, "a horizon", 1, RLCCFRError)
        if not isinstance(share, int | float) or not 0 < share < math.inf:
            raise RLCCFRError(f"the share of horizon {horizon} must be a positive number, not {brief(share)}")
    return {int(horizon): float(share) for horizon, share in horizons.items()}


class ControlTraining:
    """Three DQN agents, and the runs that they learn from.

    Training is a sequence of rounds. Each round makes some runs, of games drawn at random, and meanwhile some gradient
    steps on earlier runs. The first runs are random; gradient steps begin when there are enough of them. The result
    depends on the arguments, not on the number of workers.

    Args:
        games: names of the games to train on.
        rounds: number of rounds of the whole training.
        horizons: for each number of iterations of a run, the share of the runs that have it.
        seed: seed of the networks and of all draws.

    Raises:
        RLCCFRError: there is no game, or a number is out of range.
    """

    def __init__(
        self,
        games: Sequence[GameName],
        rounds: int,
        *,
        horizons: Mapping[int, float] | None = None,
        hyperparameters: ControlHyperparameters | None = None,
        seed: int = 0,
    ) -> None:
        self.games = tuple(map(as_name, games))
        self.rounds = whole_number(rounds, "rounds", 1, RLCCFRError)
        self.horizons = _checked_horizons({1000: 1.0} if horizons is None else horizons)
        if not games:
            raise RLCCFRError("name at least one game")
        if others := [game for game in self.games if not isinstance(game, str)]:
            raise RLCCFRError(
                f"games are given as text, by name or file, not as {brief(others[0])}; "
                '`rlccfr.Policy.uniform(game).save("game.efg")` writes a game to a file'
            )
        self.hyperparameters = ControlHyperparameters() if hyperparameters is None else hyperparameters
        if not isinstance(self.hyperparameters, ControlHyperparameters):
            raise RLCCFRError(f"hyperparameters must be a ControlHyperparameters, not {brief(hyperparameters)}")
        self.seed = whole_number(seed, "seed", 0, RLCCFRError)
        self.tasks = [Task(game, horizon) for game in self.games for horizon in self.horizons]
        self._decisions = [len(marks_of(task.horizon)) for task in self.tasks]
        shares = np.tile(list(self.horizons.values()), len(self.games))
        self._shares = shares / shares.sum()
        initial, draws, samples = np.random.SeedSequence(seed).generate_state(3)
        self.agents = ControlAgents(self.hyperparameters, int(initial))
        self.memory = RunMemory(self._decisions, self.hyperparameters.memory, self.hyperparameters.cap)
        self._draws, self._samples = np.random.default_rng(draws), np.random.default_rng(samples)
        self.done, self.cpu_seconds = 0, 0.0
        least = self._warm_up // self.hyperparameters.runs_per_round + 1
        if rounds <= least or self.hyperparameters.memory < self._warm_up:
            raise RLCCFRError(
                f"learning begins after {least:,} rounds, since the first {self._warm_up:,} runs are random: take more "
                "rounds (and a larger memory, if that is smaller), or fewer games or horizons"
            )

    @property
    def settings(self) -> dict[str, Any]:
        """The arguments, ready for JSON; trainings with the same settings give the same controller."""
        return {
            "version": VERSION,
            "games": list(self.games),
            "rounds": self.rounds,
            "horizons": list(map(list, self.horizons.items())),
            "hyperparameters": asdict(self.hyperparameters) | {"hidden": list(self.hyperparameters.hidden)},
            "seed": self.seed,
        }

    @property
    def controller(self) -> Controller:
        """The controller as it is now."""
        return self.agents.controller

    def run(
        self, workers: Executor | None = None, parts: int = 1, callback: Callable[[Round], None] | None = None
    ) -> None:
        """Go on to the last round.

        Args:
            workers: processes that make the runs; None to make them in this one.
            parts: number of workers.
            callback: function called after each round.
        """
        with single_threaded():
            while self.done < self.rounds:
                found = self._round(workers, parts)
                if callback:
                    callback(found)

    def _round(self, workers: Executor | None, parts: int) -> Round:
        begin, elsewhere = time.process_time(), 0.0
        tasks, forced = self._draw()
        weights = self.agents.current.flat_weights()
        episodes: list[tuple[int, Episode]] = []
        jobs = [
            (
                [self.tasks[task] for task in tasks[part::parts]],
                self.hyperparameters.hidden,
                weights,
                forced[part::parts],
            )
            for part in range(parts)
        ]
        results: list[Callable[[], Collected]]
        if workers is None:
            results = [partial(collect, *job) for job in jobs]
        else:
            results = [workers.submit(collect, *job).result for job in jobs]
        loss = self._learn()
        for part, result in enumerate(results):
            collected = result()
            elsewhere += collected.cpu_seconds if workers else 0.0
            episodes += zip(range(part, len(tasks), parts), collected.episodes, strict=True)
        for place, episode in sorted(episodes, key=lambda one: one[0]):
            self.memory.add(tasks[place], episode)
        if not self.memory.has_averages and self.memory.count >= self._warm_up:
            self.memory.set_averages()
        self.done += 1
        self.cpu_seconds += time.process_time() - begin + elsewhere
        decades = -float(np.mean([episode.errors[-1] for _, episode in episodes]))
        epsilon = self.hyperparameters.epsilon_at(self.done / self.rounds)
        return Round(self.done, self.memory.count, decades, epsilon, loss, self.cpu_seconds)

    @property
    def _warm_up(self) -> int:
        """Number of runs before the first gradient step."""
        return self.hyperparameters.warm_up * len(self.tasks)

    def _draw(self) -> tuple[list[int], list[np.ndarray]]:
        """Draw the tasks of a round, and the picks that are forced on each."""
        count, settings, rng = self.hyperparameters.runs_per_round, self.hyperparameters, self._draws
        first, share = self.memory.count, self.done / self.rounds
        tasks = [int(rng.choice(len(self.tasks), p=self._shares)) for _ in range(count)]
        if first < self._warm_up:  # each task in turn
            tasks = [(first + k) % len(self.tasks) for k in range(count)]
            return tasks, [held_picks(self._decisions[task], rng) for task in tasks]
        return tasks, [exploring_picks(self._decisions[task], rng, share, settings) for task in tasks]

    def _learn(self) -> float:
        """Make the round's gradient steps; return the mean loss."""
        if not self.memory.has_averages:
            return 0.0
        settings, losses = self.hyperparameters, []
        rate = settings.learning_rate_at(self.done / self.rounds)
        for _ in range(settings.steps_per_round):
            transitions = self.memory.sample(settings.batch_size, settings.n_steps, self._samples)
            losses.append(self.agents.learn(transitions, rate))
        if self.done >= settings.average_from * self.rounds:
            self.agents.add_to_mean()
        return float(np.mean(losses))

    def state(self) -> dict[str, np.ndarray]:
        """Return all arrays that the next round depends on, by name."""
        generators = {name: rng.bit_generator.state for name, rng in self._generators.items()}
        counts = {"done": self.done, "cpu_seconds": self.cpu_seconds, "generators": generators}
        found = {"counts": np.array(json.dumps(counts))}
        found |= {f"memory/{name}": array for name, array in self.memory.state().items()}
        return found | {f"agents/{name}": array for name, array in self.agents.state().items()}

    def restore(self, saved: Mapping[str, np.ndarray]) -> None:
        """Restore the arrays that :meth:`state` returned."""
        counts = json.loads(str(saved["counts"]))
        self.done, self.cpu_seconds = counts["done"], counts["cpu_seconds"]
        for name, rng in self._generators.items():
            rng.bit_generator.state = counts["generators"][name]
        parts = {
            part: {name.removeprefix(f"{part}/"): saved[name] for name in saved if name.startswith(f"{part}/")}
            for part in ("memory", "agents")
        }
        self.memory.restore(parts["memory"])
        self.agents.restore(parts["agents"])

    @property
    def _generators(self) -> dict[str, np.random.Generator]:
        return {"draws": self._draws, "samples": self._samples}
