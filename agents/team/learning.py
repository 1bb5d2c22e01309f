"""The training of a team: three DQN agents pick algorithms together, and learn from the measurements.

Agent A picks the update rule, B the sampler knowing A's pick, and C the abstraction knowing both. One step of
:class:`Training` has four parts, which follow one another in this file:

1. *Collect.* An episode is played on algorithms that were not measured yet, and each measurement is added to the team's
   experience. :mod:`rlccfr.agents.team.exploration` chooses the algorithm to measure.
2. *Replay.* A batch of measured picks is drawn from the experience (:class:`Replay`). A measurement gives the rewards
   under any reward weights, so new weights are drawn for each replayed pick.
3. *Target.* With R = 1 - (alpha e + beta s), the reward that the environment's ``step`` returns for the same weights,
   and gamma the discount between the decisions of an episode, the targets are

       agent C:   (R_A + R_B + R_C) / 3 + gamma V(next decision), or without the second term at the episode's end
       agent B:   the value of agent C's best answer
       agent A:   the value of agent B's best answer

   A value is that of the target network at the pick that the Q-network prefers: double Q-learning (van Hasselt, Guez
   and Silver, "Deep reinforcement learning with double Q-learning", AAAI 2016). Only measured answers count:
   otherwise, the highest values would be those of picks that were never tried.
4. *Step.* Each agent takes a gradient step on the Huber loss towards its targets, and its target network follows.

With ``Hyperparameters(rewards="own")``, each agent learns its own reward. The value of another agent's answer is then
of no use to it. Its target is its own reward for an algorithm, plus its own value of the next decision. The algorithm
consists of its pick and, for the later agents, of their preferred answers among those that were measured.

The agents that control a run (:mod:`rlccfr.agents.control.training`) share the functions of parts 3 and 4.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import torch
from stable_baselines3.common.utils import polyak_update, update_learning_rate
from stable_baselines3.dqn.policies import DQNPolicy
from torch import nn
from torch.nn.functional import smooth_l1_loss

from rlccfr.agents.team.experience import Outcome, Situation
from rlccfr.agents.team.exploration import Triple, next_to_measure
from rlccfr.agents.team.training_log import TrainingLog
from rlccfr.catalog import AXES, Cell
from rlccfr.envs.measuring.evaluator import Measurement
from rlccfr.envs.observation import agents_rewards, asks_for_speed_alone, reward_weights_of, with_weights
from rlccfr.envs.reward import SCALES, Costs, Preset, Worth

if TYPE_CHECKING:
    from rlccfr.agents.team.team import SelectorTeam

VERSION = 3
"""Version of the training. Raise it when the same seed and measurements would give another team."""

MEASURING = 0.8
"""Rough share of the training's time that has passed at the last evaluation, if an evaluation takes a second."""

UNKNOWN = Costs(1.0, 1.0, 1.0, 1.0)
"""Placeholder for the costs of algorithms that were not measured; nothing is learned from it."""

MAX_GRADIENT_NORM = 10.0
"""Largest norm of an agent's gradient, as in Stable-Baselines3's DQN."""


class Decision(NamedTuple):
    """One decision of a played episode: the algorithm that was picked, and its measurement."""

    situation: Situation
    preset: Preset
    algorithm: Cell
    measurement: Measurement
    outcome: Outcome


class Training:
    """One call of :meth:`SelectorTeam.train`: the team measures, and learns from the measurements.

    Args:
        team: the team; its experience, networks and random generator change.
        cap: largest total number of evaluations.
        log: log that gets a row for each measured episode.
    """

    def __init__(self, team: SelectorTeam, cap: int, log: TrainingLog) -> None:
        self.team = team
        self.cap = cap
        self.log = log
        self._learner: QLearning | None = None  # for the current experience

    @property
    def share_done(self) -> float:
        """Share of the training that is done, from 0 to 1; evaluations and the rounds of learning after them count."""
        done = min(self.team.evaluations, self.cap) + self.team.settled
        return min(1.0, done / (self.cap + self.team.hyperparameters.settling))

    @property
    def progress(self) -> float:
        """Approximate share of the training's time that has passed, from 0 to 1."""
        if self.share_done == 1.0:
            return 1.0
        measured = min(1.0, self.team.evaluations / self.cap)
        settled = self.team.settled / max(1, self.team.hyperparameters.settling)
        return MEASURING * measured + (1 - MEASURING) * settled

    def step(self) -> bool:
        """Play an episode on new algorithms if evaluations are left, then learn for one round.

        Returns:
            Whether an episode was played.
        """
        has_evaluations_left = self.team.evaluations < self.cap
        decisions = self._play_episode() if has_evaluations_left else []
        if has_evaluations_left or self._learner is None:
            self._learner = QLearning(Replay(self.team))  # the experience has grown
        self._learner.learn_round(1.0 - self.share_done, self.team.hyperparameters.gradient_steps)
        if has_evaluations_left:
            self.log.write(self.team.evaluations, self._log_row(decisions[-1]))
        else:
            self.team.settled += 1
        return has_evaluations_left

    # 1. Collect.

    def _play_episode(self) -> list[Decision]:
        """Play an episode from its start or from a decision that was reached before; return its new decisions."""
        team = self.team
        env = team.env
        situation = self._where_to_explore()
        preset = env.presets[int(team.generator.integers(len(env.presets)))]
        self._reset(situation, preset)
        for algorithm in situation.cells:  # repeat the episode up to the decision; all of it was measured
            env.step(team.catalog.flat(algorithm))
        decisions: list[Decision] = []
        while team.evaluations < self.cap and not (decisions and decisions[-1].outcome.done):
            triple = next_to_measure(
                lambda picks: team.q_values(env, picks),
                self._worths_at(situation, preset),
                team.available,
                team.hyperparameters.epsilon,
                team.generator,
                cover=not situation.cells,
            )
            algorithm = team.catalog.cell(*triple)
            measurement, outcome = self._measure(algorithm)
            team.experience.add(situation, algorithm, outcome)
            team.settled = 0
            decisions.append(Decision(situation, preset, algorithm, measurement, outcome))
            situation = situation.after(algorithm)
        return decisions

    def _where_to_explore(self) -> Situation:
        """Return an episode's start or, with several segments, sometimes a later decision that was reached before.

        If possible, it is one from which the remaining evaluations suffice to finish the episode.
        """
        team = self.team
        env = team.env
        starts = [Situation(*start) for start in product(env.games, env.engine_seeds, env.budgets)]
        earlier_outcomes = team.experience if env.segments > 1 else ()
        reached = [situation.after(algorithm) for situation, algorithm, outcome in earlier_outcomes if not outcome.done]
        # Situations with an unmeasured algorithm. At least one exists: fewer evaluations were made than are possible.
        num_available = int(team.available.sum())
        unexhausted = [
            situation for situation in (*starts, *reached) if len(team.experience.at(situation)) < num_available
        ]
        evaluations_left = self.cap - team.evaluations
        endable = [situation for situation in unexhausted if env.segments - len(situation.cells) <= evaluations_left]
        candidates = endable or unexhausted
        # Each number of earlier decisions is equally likely, although more situations have many of them.
        depths = sorted({len(situation.cells) for situation in candidates})
        depth = depths[int(team.generator.integers(len(depths)))]
        at_depth = [situation for situation in candidates if len(situation.cells) == depth]
        if depth == 0:  # games, seeds and budgets share the evaluations evenly
            return min(at_depth, key=lambda situation: len(team.experience.at(situation)))
        return at_depth[int(team.generator.integers(len(at_depth)))]

    def _worths_at(self, situation: Situation, preset: Preset) -> dict[Triple, Worth]:
        """Return each measured algorithm's worth in a situation; before the last segment, all count as converged."""
        worths = {}
        for algorithm, outcome in self.team.experience.at(situation).items():
            worth = preset.worth([outcome.costs]) if outcome.done else Worth(1.0, preset.mean_reward(outcome.costs))
            worths[self.team.catalog.index(algorithm)] = worth
        return worths

    def _measure(self, algorithm: Cell) -> tuple[Measurement, Outcome]:
        """Let the environment run an algorithm; return the measurement, and the outcome with what the agents saw."""
        env = self.team.env
        observations = np.stack([env.observe(algorithm[:agent]) for agent in range(3)])
        request = env.request(algorithm)
        done = env.step(self.team.catalog.flat(algorithm))[2]
        measurement = env.evaluator.measure(request)  # just measured, so it comes from memory
        return measurement, Outcome.of(observations, measurement, done)

    def _reset(self, situation: Situation, preset: Preset) -> None:
        """Reset the environment to the beginning of the situation's episode."""
        start = {"game": situation.game, "engine_seed": situation.engine_seed, "budget": situation.budget}
        self.team.env.reset(options={**start, "preset": preset})

    def _log_row(self, decision: Decision) -> dict[str, float | int | str]:
        """Return an episode's row of the log: its last measurement, and the losses and greedy picks after learning."""
        team = self.team
        self._reset(decision.situation, decision.preset)
        greedy = team.catalog.cell(*team.greedy(team.env, team.recommendable(team.env)))
        rewards = decision.preset.rewards(decision.outcome.costs)
        return {
            "evaluations": team.evaluations,
            "game": decision.situation.game,
            "budget": str(decision.situation.budget),
            "preset": decision.preset.name,
            "scale": decision.preset.scale,
            **decision.algorithm._asdict(),
            "status": decision.measurement.status,
            "exploitability": decision.measurement.exploitability,
            "throughput": decision.measurement.throughput,
            **{f"reward_{axis}": own_reward for axis, own_reward in zip(AXES, rewards, strict=True)},
            "mean_reward": sum(rewards) / 3,
            **{f"loss_{axis}": selector.loss for axis, selector in zip(AXES, team.selectors, strict=True)},
            **{f"greedy_{axis}": id for axis, id in greedy._asdict().items()},
        }


# 2. Replay.


class Replay:
    """A team's experience as arrays, over the n situations in which it has measured something.

    Args:
        team: team that learns.
        uniform: share of replayed picks whose reward weights are drawn uniformly from [0, 1], on a random scale of e;
            the others have one of the team's own presets.

    Attributes:
        measured: (n, rules, samplers, abstractions) which algorithms can be learned from.
        answers: same shape: which algorithms the later agents may choose as their answer to the earlier agents' picks.
            Those that end an episode without having converged are not recommended, so they are not answers.
        following: same shape: index of the situation that each algorithm leads to; -1 where the episode ends.
        costs: (n, rules, samplers, abstractions, 4): each algorithm's :class:`Costs`.
        seen: what agents A, B and C saw, shapes (n, size), (n, rules, size) and (n, rules, samplers, size).
    """

    def __init__(self, team: SelectorTeam, uniform: float = 0.0) -> None:
        self.team = team
        self.uniform = uniform
        situations = list(dict.fromkeys(situation for situation, _, _ in team.experience))
        numbers = {situation: number for number, situation in enumerate(situations)}
        shape = team.catalog.shape
        size = team.env.observe().shape
        count = len(situations)
        self.measured = np.zeros((count, *shape), np.bool_)
        self.answers = np.zeros((count, *shape), np.bool_)
        self.following = np.full((count, *shape), -1)
        self.costs = np.tile(UNKNOWN, (count, *shape, 1))
        self.seen = [np.zeros((count, *shape[:agent], *size), np.float32) for agent in range(3)]
        for situation, algorithm, outcome in team.experience:
            index = (numbers[situation], *team.catalog.index(algorithm))
            following = -1 if outcome.done else numbers.get(situation.after(algorithm))
            for agent, observation in enumerate(outcome.observations):
                self.seen[agent][index[: agent + 1]] = observation
            if following is None:  # the rest of the episode was interrupted
                continue
            self.measured[index] = True
            self.answers[index] = not outcome.done or outcome.costs.converged
            self.following[index] = following
            self.costs[index] = outcome.costs
        # Drop algorithms that lead to situations without outcomes. Each pass reaches one decision further back.
        for _ in range(team.env.segments):
            has_outcomes = np.asarray(self.measured.any(axis=(1, 2, 3)))
            # The index -1, where the episode ends, reads the last row; the first condition discards it.
            leads_nowhere = (self.following >= 0) & ~has_outcomes[self.following]
            self.measured &= ~leads_nowhere
        self.answers &= self.measured

    def legal(self, agent: int, index: tuple[np.ndarray, ...], speed_alone: np.ndarray) -> np.ndarray:
        """Return which choices of an agent are legal, as a bool array, (b, choices): those that lead to an answer.

        Where no choice leads to an answer, the choices that lead to measured runs are legal.

        Args:
            agent: 0, 1 or 2.
            index: indices of situations, (b,), and of the earlier agents' picks, (b,) each.
            speed_alone: (b,) whether the reward weights ask for speed alone, so that every measured algorithm is an
                answer.
        """
        later_axes = tuple(range(2, 4 - agent))
        measured = np.asarray(self.measured[index].any(axis=later_axes))
        answers = np.asarray(self.answers[index].any(axis=later_axes))
        all_measured = speed_alone | ~answers.any(axis=1)
        return np.where(all_measured[:, None], measured, answers)

    def draw_weights(self, count: int) -> np.ndarray:
        """Draw reward weights, shape (count, 9), in the form that observations use (:func:`reward_weights_of`)."""
        generator = self.team.generator
        presets = np.array([reward_weights_of(preset) for preset in self.team.env.presets])
        num_alphas_and_betas = presets.shape[1] - len(SCALES)
        uniform_weights = generator.uniform(size=(count, num_alphas_and_betas))
        scale_flags = np.eye(len(SCALES))[generator.integers(len(SCALES), size=count)]
        weights = np.concatenate([uniform_weights, scale_flags], axis=1)
        is_of_team = generator.random(count) >= self.uniform
        weights[is_of_team] = presets[generator.integers(len(presets), size=int(is_of_team.sum()))]
        return weights


# 3. Target.


class Picks(NamedTuple):
    """Picks to learn from, and what each agent knew.

    Attributes:
        inputs: for each agent, (b, size) what it saw, including the earlier agents' picks.
        legal: for each agent, (b, choices) whether a choice could be picked; None if all could.
        chosen: (b, agents) index of each agent's pick.
    """

    inputs: Sequence[torch.Tensor]
    legal: Sequence[torch.Tensor | None]
    chosen: torch.Tensor


def preferred(policy: DQNPolicy, inputs: torch.Tensor, legal: torch.Tensor | None = None) -> torch.Tensor:
    """Return the pick, (b,), with the highest value of an agent's Q-network, among those that can be made."""
    values = policy.q_net(inputs)
    if legal is not None:
        values = values.masked_fill(~legal, -torch.inf)
    return torch.as_tensor(values.argmax(1))


def value_of_best_answer(policy: DQNPolicy, inputs: torch.Tensor, legal: torch.Tensor | None = None) -> torch.Tensor:
    """Return the target network's value, (b,), of the pick that the Q-network prefers."""
    best = preferred(policy, inputs, legal)
    values: torch.Tensor = policy.q_net_target(inputs)
    return values.gather(1, best[:, None])[:, 0]


def targets_of_earlier_agents(policies: Sequence[DQNPolicy], picks: Picks) -> list[torch.Tensor]:
    """Return the target, (b,), of the picks of each agent but the last: the value of the next agent's best answer."""
    with torch.no_grad():
        answers = zip(policies[1:], picks.inputs[1:], picks.legal[1:], strict=True)
        return [value_of_best_answer(*answer) for answer in answers]


class QLearning:
    """The Q-learning of a team from its replayed picks.

    Args:
        replay: what the team has measured.
    """

    def __init__(self, replay: Replay) -> None:
        self.team = replay.team
        self.replay = replay
        self._measured = np.argwhere(replay.measured)  # (m, 4): situation, update rule, sampler, abstraction

    def learn_round(self, progress_remaining: float, steps: int) -> None:
        """Take gradient steps with all agents, each on a batch of measured picks.

        Args:
            progress_remaining: remaining share of all rounds, from 1 to 0; the learning rate falls with it.
            steps: number of gradient steps.
        """
        if not len(self._measured):
            return
        hyperparameters = self.team.hyperparameters
        policies = [selector.policy for selector in self.team.selectors]
        learning_rate = hyperparameters.learning_rate_at(progress_remaining)
        losses = np.zeros(3)
        for _ in range(steps):
            picks, targets = self._picks_and_targets()
            losses += learn_from(policies, picks, targets, learning_rate, hyperparameters.tau)
        for selector, loss in zip(self.team.selectors, losses / steps, strict=True):
            selector.loss = float(loss)

    def _picks_and_targets(self) -> tuple[Picks, list[torch.Tensor]]:
        """Return measured picks, drawn with replacement, and for each agent the targets of its picks, (b,)."""
        generator = self.team.generator
        batch_size = self.team.hyperparameters.batch_size
        # A situation, its algorithm and new reward weights make one replayed pick.
        drawn = self._measured[generator.integers(len(self._measured), size=batch_size)]
        situations = drawn[:, 0]
        triples = drawn[:, 1:]
        weights = self.replay.draw_weights(len(situations))
        turns = [self._seen_and_legal(agent, (situations, *triples[:, :agent].T), weights) for agent in range(3)]
        inputs, legal = zip(*turns, strict=True)
        picks = Picks(inputs, legal, torch.as_tensor(triples))
        return picks, self._targets(picks, situations, triples, weights)

    def _targets(
        self, picks: Picks, situations: np.ndarray, triples: np.ndarray, weights: np.ndarray
    ) -> list[torch.Tensor]:
        """Return the target of each agent's pick, (b,); see part 3 of this module's docstring.

        Args:
            picks: the picks, with what each agent saw.
            situations, triples, weights: the same picks as indices, as for :meth:`_returns`.
        """
        if self.team.hyperparameters.rewards == "own":
            return self._own_targets(situations, triples, weights)
        # The mean reward: earlier agents bootstrap from the value of the next agent's best answer.
        policies = [selector.policy for selector in self.team.selectors]
        earlier_targets = targets_of_earlier_agents(policies, picks)
        mean_returns = self._returns(situations, triples, weights).mean(axis=1)
        return [*earlier_targets, torch.as_tensor(mean_returns, dtype=torch.float32)]

    def _own_targets(self, situations: np.ndarray, triples: np.ndarray, weights: np.ndarray) -> list[torch.Tensor]:
        """Return the target of each agent's pick, (b,): its own return, if the later agents pick what they prefer."""
        targets = []
        for agent in range(3):
            index: tuple[np.ndarray, ...] = (situations, *triples[:, : agent + 1].T)
            for later_agent in range(agent + 1, 3):
                policy = self.team.selectors[later_agent].policy
                with torch.no_grad():
                    answer = preferred(policy, *self._seen_and_legal(later_agent, index, weights))
                index = (*index, answer.numpy())
            completed = np.stack(index[1:], axis=1)  # the agent's pick and the answers make a measured algorithm
            own_return = self._returns(situations, completed, weights)[:, agent]
            targets.append(torch.as_tensor(own_return, dtype=torch.float32))
        return targets

    def _returns(self, situations: np.ndarray, triples: np.ndarray, weights: np.ndarray) -> np.ndarray:
        """Return each agent's reward plus the discounted value of its next decision, (b, 3).

        Args:
            situations: indices of situations, (b,).
            triples: action indices of the algorithms, (b, 3).
            weights: reward weights, (b, 9).
        """
        index = (situations, *triples.T)
        returns = agents_rewards(self.replay.costs[index], weights)
        next_situations = self.replay.following[index]
        goes_on = next_situations >= 0
        if goes_on.any():  # bootstrap from the next decision, under the same reward weights
            gamma = self.team.hyperparameters.gamma
            returns[goes_on] += gamma * self._values(next_situations[goes_on], weights[goes_on])
        return returns

    def _values(self, situations: np.ndarray, weights: np.ndarray) -> np.ndarray:
        """Return each agent's value of situations, (b, 3), if all agents pick what they prefer.

        If agents learn the mean reward, all have the value of the last agent, which knows the others' picks.
        """
        index: tuple[np.ndarray, ...] = (situations,)
        values = []
        for agent, selector in enumerate(self.team.selectors):
            turn = self._seen_and_legal(agent, index, weights)
            with torch.no_grad():
                values.append(value_of_best_answer(selector.policy, *turn).numpy())
                index = (*index, preferred(selector.policy, *turn).numpy())
        if self.team.hyperparameters.rewards == "mean":
            values = [values[-1]] * 3
        return np.stack(values, axis=1)

    def _seen_and_legal(
        self, agent: int, index: tuple[np.ndarray, ...], weights: np.ndarray
    ) -> tuple[torch.Tensor, torch.Tensor]:
        """Return what an agent sees, (b, size), and which of its choices :meth:`Replay.legal` allows, (b, choices)."""
        seen = with_weights(self.replay.seen[agent][index], weights)
        legal = self.replay.legal(agent, index, asks_for_speed_alone(weights))
        return torch.as_tensor(seen), torch.as_tensor(legal)


# 4. Step.


def learn_from(
    policies: Sequence[DQNPolicy], picks: Picks, targets: Sequence[torch.Tensor], learning_rate: float, tau: float
) -> list[float]:
    """Take a gradient step with each agent towards the targets of its picks, and move its target network.

    Args:
        policies: the agents' networks and optimisers.
        picks: batch of b picks.
        targets: for each agent, (b,) targets of its picks.
        learning_rate: learning rate of the step.
        tau: share by which the target networks move towards the Q-networks.

    Returns:
        The Huber loss of each agent.
    """
    losses = []
    for agent, (policy, inputs, target) in enumerate(zip(policies, picks.inputs, targets, strict=True)):
        values = policy.q_net(inputs).gather(1, picks.chosen[:, agent : agent + 1])[:, 0]  # Q of what was picked
        loss = smooth_l1_loss(values, target)  # Huber's, less sensitive to outliers than the square
        update_learning_rate(policy.optimizer, learning_rate)
        policy.optimizer.zero_grad()
        loss.backward()  # type: ignore[no-untyped-call]
        nn.utils.clip_grad_norm_(policy.q_net.parameters(), MAX_GRADIENT_NORM)
        policy.optimizer.step()
        losses.append(float(loss.detach()))
    for policy in policies:
        polyak_update(policy.q_net.parameters(), policy.q_net_target.parameters(), tau)
    return losses
