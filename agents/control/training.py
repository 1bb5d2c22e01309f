"""Training of a controller: three DQN agents pick in turn, and learn from runs of many games.

A round of :class:`ControlTraining` makes runs (:mod:`rlccfr.agents.control.collecting`), stores them
(:mod:`rlccfr.agents.control.replay_buffer`), and lets :class:`ControlAgents` take gradient steps on decisions drawn
from them, by the double Q-learning of :mod:`rlccfr.agents.team.learning`.
"""

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
import torch
from stable_baselines3.dqn.policies import DQNPolicy
from torch import nn
from torch.nn.functional import one_hot

from rlccfr.agents.control.collecting import Collected, Task, collect, exploring_picks, held_picks
from rlccfr.agents.control.hyperparameters import ControlHyperparameters
from rlccfr.agents.control.replay_buffer import ReplayBuffer, Transitions
from rlccfr.agents.q_networks import (
    network_weights,
    new_policy,
    optimizer_state,
    restore_optimizer,
    set_weights,
)
from rlccfr.agents.team.learning import Picks, learn_from, preferred, targets_of_earlier_agents, value_of_best_answer
from rlccfr.agents.team.selector import with_prefix
from rlccfr.components.controller import AGENTS, CHOICES, OBSERVATION, Controller
from rlccfr.envs.control.run import Episode, marks_of
from rlccfr.errors import RLCCFRError, brief, whole_number
from rlccfr.games.names import GameName, as_name
from rlccfr.networks.torch_state import contained_randomness, one_thread

VERSION = 4
"""Version of the training. Raise it when the same seed would give another controller."""


class Round(NamedTuple):
    """What happened in a round of training.

    Attributes:
        number: number of rounds done.
        runs: number of runs so far.
        decades: mean fall of log10 of the exploitability in the round's runs, random picks included.
        epsilon: probability of a random pick in the round's runs, except in those whose picks are held.
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
    """Return horizons as a dict, after a check that each is a number of iterations with a positive share.

    Raises:
        RLCCFRError: ``horizons`` is not a mapping, is empty, or has an invalid key or value.
    """
    if not isinstance(horizons, Mapping) or not horizons:
        raise RLCCFRError(
            f"horizons must map numbers of iterations to shares, as in {{1000: 1.0}}, not {brief(horizons)}"
        )
    for horizon, share in horizons.items():
        whole_number(horizon, "a horizon", 1, RLCCFRError)
        if not isinstance(share, int | float) or not 0 < share < math.inf:
            raise RLCCFRError(f"the share of horizon {horizon} must be a positive number, not {brief(share)}")
    return {int(horizon): float(share) for horizon, share in horizons.items()}


class ControlTraining:
    """Three DQN agents, and the runs that they learn from.

    Training is a sequence of rounds. Each round makes some runs, of games drawn at random, and meanwhile takes gradient
    steps on earlier runs. The first runs, the warm-up, have random picks; gradient steps begin after them. The result
    depends on the arguments, not on the number of workers.

    Args:
        games: names of the games to train on.
        rounds: number of rounds of the whole training.
        horizons: numbers of iterations that a run may have, each with the share of runs that have it; None for 1,000
            iterations in all runs.
        hyperparameters: hyperparameters; None for the defaults.
        seed: seed of the networks and of all draws.

    Attributes:
        games, rounds, horizons, hyperparameters, seed: the arguments.
        tasks: all pairs of a game and a horizon.
        agents: the agents.
        replay_buffer: the latest runs.
        done: number of rounds done.
        cpu_seconds: CPU seconds of the training so far, of all processes.

    Raises:
        RLCCFRError: an argument is invalid, or the training would end before gradient steps begin.
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
        if unnamed_games := [game for game in self.games if not isinstance(game, str)]:
            raise RLCCFRError(
                f"games must be given by name or file, not as {brief(unnamed_games[0])}; "
                '`rlccfr.Policy.uniform(game).save("game.efg")` writes a game to a file'
            )
        self.hyperparameters = ControlHyperparameters() if hyperparameters is None else hyperparameters
        if not isinstance(self.hyperparameters, ControlHyperparameters):
            raise RLCCFRError(f"hyperparameters must be a ControlHyperparameters, not {brief(hyperparameters)}")
        self.seed = whole_number(seed, "seed", 0, RLCCFRError)
        self.tasks = [Task(game, horizon) for game in self.games for horizon in self.horizons]
        self._decision_counts = [len(marks_of(task.horizon)) for task in self.tasks]
        shares = np.tile(list(self.horizons.values()), len(self.games))  # the tasks' order: horizons vary fastest
        self._task_probabilities = shares / shares.sum()

        # Separate generators: runs do not depend on how many decisions are sampled from the buffer.
        weights_seed, runs_seed, sampling_seed = np.random.SeedSequence(seed).generate_state(3)
        self.agents = ControlAgents(self.hyperparameters, int(weights_seed))
        self.replay_buffer = ReplayBuffer(self._decision_counts, self.hyperparameters.memory, self.hyperparameters.cap)
        self._run_generator = np.random.default_rng(runs_seed)
        self._sampling_generator = np.random.default_rng(sampling_seed)
        self.done = 0
        self.cpu_seconds = 0.0
        warm_up_rounds = math.ceil(self._warm_up_runs / self.hyperparameters.runs_per_round)
        if rounds <= warm_up_rounds or self.hyperparameters.memory < self._warm_up_runs:
            raise RLCCFRError(
                f"learning begins after {warm_up_rounds:,} rounds, since the first {self._warm_up_runs:,} runs are "
                f"random: use more rounds (and a memory of at least {self._warm_up_runs:,} runs), or fewer games or "
                "horizons"
            )

    @property
    def settings(self) -> dict[str, Any]:
        """The arguments, ready for JSON; training runs with the same settings give the same controller."""
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
        """The result of the training so far; see :attr:`ControlAgents.controller`."""
        return self.agents.controller

    def run(
        self, workers: Executor | None = None, parts: int = 1, callback: Callable[[Round], None] | None = None
    ) -> None:
        """Train until the last round.

        Args:
            workers: processes that make the runs; None to make them in this process.
            parts: number of parts into which a round's runs are divided: the number of workers, or 1.
            callback: function called after each round.
        """
        with one_thread():
            while self.done < self.rounds:
                finished_round = self._round(workers, parts)
                if callback:
                    callback(finished_round)

    def _round(self, workers: Executor | None, parts: int) -> Round:
        """Make a round's runs under the current networks, and meanwhile take gradient steps on earlier runs."""
        begin = time.process_time()
        epsilon = self._epsilon
        tasks, forced_picks = self._draw_runs()
        results = self._start_runs(tasks, forced_picks, workers, parts)
        loss = self._learn()  # while the workers make the runs

        # Part k made runs k, k + parts, ...; they are added in the order in which they were drawn, whatever the
        # workers.
        worker_seconds = 0.0
        numbered_episodes: list[tuple[int, Episode]] = []
        for part, result in enumerate(results):
            collected = result()
            worker_seconds += collected.cpu_seconds if workers else 0.0
            numbered_episodes += zip(range(part, len(tasks), parts), collected.episodes, strict=True)
        for number, episode in sorted(numbered_episodes, key=lambda numbered: numbered[0]):
            self.replay_buffer.add(tasks[number], episode)
        if not self.replay_buffer.has_averages and self.replay_buffer.count >= self._warm_up_runs:
            self.replay_buffer.set_averages()

        self.done += 1
        self.cpu_seconds += time.process_time() - begin + worker_seconds
        decades = -float(np.mean([episode.errors[-1] for _, episode in numbered_episodes]))
        return Round(self.done, self.replay_buffer.count, decades, epsilon, loss, self.cpu_seconds)

    @property
    def _warm_up_runs(self) -> int:
        """Number of runs before the first gradient step."""
        return self.hyperparameters.warm_up * len(self.tasks)

    @property
    def _epsilon(self) -> float:
        """Probability of a random pick in the next round's runs: 1 before the first gradient step."""
        is_warm_up = self.replay_buffer.count < self._warm_up_runs
        return 1.0 if is_warm_up else self.hyperparameters.epsilon_at(self.done / self.rounds)

    def _draw_runs(self) -> tuple[list[int], list[np.ndarray]]:
        """Draw the tasks of a round, as indices, and for each task the picks that replace the networks' picks."""
        rng = self._run_generator
        run_count = self.hyperparameters.runs_per_round
        tasks = [int(rng.choice(len(self.tasks), p=self._task_probabilities)) for _ in range(run_count)]
        first_run = self.replay_buffer.count
        if first_run < self._warm_up_runs:  # each task in turn
            tasks = [(first_run + k) % len(self.tasks) for k in range(run_count)]
            return tasks, [held_picks(self._decision_counts[task], rng) for task in tasks]
        share = self.done / self.rounds
        picks = [exploring_picks(self._decision_counts[task], rng, share, self.hyperparameters) for task in tasks]
        return tasks, picks

    def _start_runs(
        self, tasks: Sequence[int], forced_picks: Sequence[np.ndarray], workers: Executor | None, parts: int
    ) -> list[Callable[[], Collected]]:
        """Start the runs of a round; return, for each part of them, a function that waits for its runs.

        The function returns the runs. Without workers, it makes them when it is called.
        """
        weights = self.agents.current.flat_weights()
        jobs = []
        for part in range(parts):
            part_tasks = [self.tasks[task] for task in tasks[part::parts]]
            jobs.append((part_tasks, self.hyperparameters.hidden, weights, forced_picks[part::parts]))
        if workers is None:
            return [partial(collect, *job) for job in jobs]
        return [workers.submit(collect, *job).result for job in jobs]

    def _learn(self) -> float:
        """Take the round's gradient steps; return the mean loss."""
        # Rewards are differences from average runs, which are known only after the warm-up.
        if not self.replay_buffer.has_averages:
            return 0.0
        settings = self.hyperparameters
        learning_rate = settings.learning_rate_at(self.done / self.rounds)
        losses = []
        for _ in range(settings.steps_per_round):
            transitions = self.replay_buffer.sample(settings.batch_size, settings.n_steps, self._sampling_generator)
            losses.append(self.agents.learn(transitions, learning_rate))
        # The result is a mean over the late rounds, which is less noisy than the last weights.
        if self.done >= settings.average_from * self.rounds:
            self.agents.add_to_mean()
        return float(np.mean(losses))

    def state(self) -> dict[str, np.ndarray]:
        """Return all arrays that the next round depends on, by name."""
        generators = {name: rng.bit_generator.state for name, rng in self._generators.items()}
        counts = {"done": self.done, "cpu_seconds": self.cpu_seconds, "generators": generators}
        arrays = {"counts": np.array(json.dumps(counts))}
        arrays |= {f"memory/{name}": array for name, array in self.replay_buffer.state().items()}
        arrays |= {f"agents/{name}": array for name, array in self.agents.state().items()}
        return arrays

    def restore(self, saved: Mapping[str, np.ndarray]) -> None:
        """Restore the arrays that :meth:`state` returned."""
        counts = json.loads(str(saved["counts"]))
        self.done = counts["done"]
        self.cpu_seconds = counts["cpu_seconds"]
        for name, rng in self._generators.items():
            rng.bit_generator.state = counts["generators"][name]
        self.replay_buffer.restore(with_prefix(saved, "memory/"))
        self.agents.restore(with_prefix(saved, "agents/"))

    @property
    def _generators(self) -> dict[str, np.random.Generator]:
        """The generators, by their names in files."""
        return {"draws": self._run_generator, "samples": self._sampling_generator}


class ControlAgents:
    """The agents of :data:`rlccfr.components.controller.AGENTS`, which pick in turn and learn from the same decisions.

    The first agent's network takes an observation. Each further network also takes the picks of the earlier agents,
    each as one number per choice: 1 for the pick, 0 for the others.

    Args:
        hyperparameters: hyperparameters of the networks and of training.
        seed: seed of the initial weights.

    Attributes:
        hyperparameters: the argument.
        counts: number of choices of each agent.
        policies: Q-network, target network and optimiser of each agent.
        rounds_averaged: number of rounds whose weights are in the mean.
        mean_weights: (weights,) mean of the Q-networks' weights, in the order of :meth:`Controller.flat_weights`; empty
            while no weights have been added.
    """

    def __init__(self, hyperparameters: ControlHyperparameters, seed: int) -> None:
        self.hyperparameters = hyperparameters
        self.counts = [len(choices) for choices in CHOICES]
        self.rounds_averaged = 0
        self.mean_weights = np.zeros(0)
        self.policies: list[DQNPolicy] = []
        input_size = len(OBSERVATION)
        with contained_randomness(seed):
            for count in self.counts:
                # The schedule gives only the optimiser's initial rate; each gradient step sets its own.
                policy = new_policy(input_size, count, hyperparameters.hidden, lambda _: hyperparameters.learning_rate)
                self.policies.append(policy)
                input_size += count

    @property
    def current(self) -> Controller:
        """A controller with the current Q-networks."""
        networks = []
        for policy in self.policies:
            layers = [layer for layer in policy.q_net.q_net if isinstance(layer, nn.Linear)]
            networks.append(
                tuple((layer.weight.detach().numpy().T.copy(), layer.bias.detach().numpy().copy()) for layer in layers)
            )
        return Controller(CHOICES, (tuple(networks),))

    @property
    def controller(self) -> Controller:
        """A controller with the mean of the weights added so far, or with the current weights if none were added."""
        return self.current.with_weights(self.mean_weights) if self.rounds_averaged else self.current

    def add_to_mean(self) -> None:
        """Add the Q-networks' weights to their mean, which is the training's result.

        Such a mean is less noisy than the last networks (Izmailov, Podoprikhin, Garipov, Vetrov and Wilson, Averaging
        weights leads to wider optima and better generalization, UAI 2018).
        """
        weights = self.current.flat_weights()
        self.rounds_averaged += 1
        previous_mean = self.mean_weights if self.rounds_averaged > 1 else weights
        self.mean_weights = previous_mean + (weights - previous_mean) / self.rounds_averaged

    def learn(self, transitions: Transitions, rate: float) -> float:
        """Take a gradient step with each agent, and move its target network.

        The target of the last agent's pick is the sum of the rewards that followed and the value of the later decision.
        The target of an earlier agent's pick is the value of the next agent's best answer to this pick
        (:mod:`rlccfr.agents.team.learning`).

        Args:
            transitions: batch of b decisions.
            rate: learning rate.

        Returns:
            The sum of the agents' Huber losses.
        """
        observations = torch.as_tensor(transitions.observations)
        later_observations = torch.as_tensor(transitions.later)
        picked = torch.as_tensor(transitions.picks)
        # What each agent saw, including the picks of the earlier agents.
        inputs = [observations, *(self._inputs(observations, picked, agent) for agent in range(1, len(AGENTS)))]
        with torch.no_grad():
            later_values = self._values(later_observations)
            later_values[torch.as_tensor(transitions.over)] = 0.0  # nothing follows the end of a run
        last_target = torch.as_tensor(transitions.rewards, dtype=torch.float32) + later_values
        picks = Picks(inputs, [None] * len(inputs), picked)
        targets = [*targets_of_earlier_agents(self.policies, picks), last_target]
        return sum(learn_from(self.policies, picks, targets, rate, self.hyperparameters.tau))

    def _inputs(self, observations: torch.Tensor, picks: torch.Tensor, agent: int) -> torch.Tensor:
        """Return an agent's inputs, (b, inputs): the observations, and the picks of the agents before it.

        Args:
            observations: (b, k) observations.
            picks: (b, 3) index of each agent's pick.
            agent: the agent's index.
        """
        earlier_picks = [one_hot(picks[:, k], self.counts[k]).float() for k in range(agent)]
        return torch.cat([observations, *earlier_picks], dim=1)

    def _values(self, observations: torch.Tensor) -> torch.Tensor:
        """Return the value of each observation, (b,), if all agents then pick what they prefer."""
        inputs = observations
        for policy, count in zip(self.policies[:-1], self.counts, strict=False):
            inputs = torch.cat([inputs, one_hot(preferred(policy, inputs), count).float()], dim=1)
        return value_of_best_answer(self.policies[-1], inputs)

    def state(self) -> dict[str, np.ndarray]:
        """Return all arrays that learning depends on, by name."""
        arrays = {"rounds_averaged": np.array(self.rounds_averaged), "mean_weights": self.mean_weights}
        for agent, policy in zip(AGENTS, self.policies, strict=True):
            arrays |= {f"{agent}/{name}": array.copy() for name, array in network_weights(policy).items()}
            arrays |= {f"{agent}/optimizer/{name}": array for name, array in optimizer_state(policy).items()}
        return arrays

    def restore(self, saved: Mapping[str, np.ndarray]) -> None:
        """Restore the arrays that :meth:`state` returned."""
        self.rounds_averaged = int(saved["rounds_averaged"])
        self.mean_weights = saved["mean_weights"]
        for agent, policy in zip(AGENTS, self.policies, strict=True):
            arrays = with_prefix(saved, f"{agent}/")
            set_weights(policy, {name: arrays[name] for name in policy.state_dict()})
            restore_optimizer(policy, with_prefix(arrays, "optimizer/"))
