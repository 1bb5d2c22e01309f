"""How a team learns: episodes on new cells, and many more on cells measured already, which cost nothing."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from rlccfr.agents.experience import Outcome, Situation
from rlccfr.agents.exploration import QFunction, Triple, greedy_triple, next_to_measure, next_to_replay
from rlccfr.agents.training_log import TrainingLog
from rlccfr.catalog import Cell
from rlccfr.envs.observation import with_weights
from rlccfr.envs.reward import AXES, Preset

if TYPE_CHECKING:
    from rlccfr.agents.team import SelectorTeam


@dataclass(frozen=True)
class Plan:
    """How many episodes of which kind.

    Attributes:
        cap: evaluations in all.
        replays: episodes on measured cells after each episode on new ones ...
        settling: ... and after the last, so many more.
    """

    cap: int
    replays: int
    settling: int

    def measures_next(self, evaluations: int, replayed: int) -> bool:
        """Whether the next episode goes to new cells, after so many replays since the last that did."""
        return evaluations < self.cap and (evaluations == 0 or replayed >= self.replays)

    def share_done(self, evaluations: int, replayed: int) -> float:
        """From 0 to 1; 1 when there is nothing left to do."""
        measuring = self.cap * (1 + self.replays)
        turn = measuring / (measuring + self.settling)  # the share after which only settling is left
        if evaluations < self.cap:
            return turn * evaluations / self.cap
        last = self.replays + self.settling
        return turn + (1 - turn) * replayed / last if replayed < last else 1.0


class _Step(NamedTuple):
    situation: Situation
    preset: Preset
    cell: Cell
    outcome: Outcome
    first: int  # the first agent after which the others picked greedily, and so the first that learns


class Training:
    """One call of :meth:`SelectorTeam.train`: plays episodes with the team and lets it learn from them."""

    def __init__(self, team: SelectorTeam, plan: Plan, log: TrainingLog) -> None:
        self.team, self.plan, self.log = team, plan, log

    @property
    def share_done(self) -> float:
        """Of the plan, from 0 to 1."""
        return self.plan.share_done(self.team.evaluations, self.team.replayed)

    def episode(self) -> bool:
        """Play and learn from one episode; returns whether it measured anything."""
        measures = self.plan.measures_next(self.team.evaluations, self.team.replayed)
        progress_remaining = 1.0 - self.share_done
        steps = self._play_new() if measures else self._play_measured()
        self._learn(steps, progress_remaining)
        if measures:
            self.log.write(self.team.evaluations, self._row(steps[-1]))
        return measures

    def _play_new(self) -> list[_Step]:
        team, env = self.team, self.team.env
        situation, preset = self._where_to_explore(), self._draw_preset()
        self._reset(situation, preset)
        for cell in situation.cells:
            env.step(team.catalog.flat(cell))
        steps: list[_Step] = []
        while team.evaluations < self.plan.cap and not (steps and steps[-1].outcome.done):
            triple, first = next_to_measure(
                lambda picks: team.q_values(env, picks),
                self._rewards_at(situation, preset),
                team.available,
                team.hyperparameters.epsilon,
                team.generator,
                cover=not situation.cells,
            )
            cell = team.catalog.cell(*triple)
            outcome = self._measure(cell)
            team.experience.add(situation, cell, outcome)
            team.replayed = 0
            steps.append(_Step(situation, preset, cell, outcome, first))
            situation = situation.after(cell)
        return steps

    def _draw_preset(self) -> Preset:
        presets = self.team.env.presets
        return presets[int(self.team.generator.integers(len(presets)))]

    def _reset(self, situation: Situation, preset: Preset) -> None:
        """To the beginning of the episode that the situation is part of."""
        options = {"game": situation.game, "engine_seed": situation.engine_seed, "budget": situation.budget}
        self.team.env.reset(options={**options, "preset": preset})

    def _measure(self, cell: Cell) -> Outcome:
        env = self.team.env
        observations = np.stack([env.observe(cell[:agent]) for agent in range(3)])
        request = env.request(cell)
        done = env.step(self.team.catalog.flat(cell))[2]
        measurement = env.evaluator.measure(request)  # just measured, so from memory
        return Outcome.of(observations, measurement, env.scale, done)

    def _where_to_explore(self) -> Situation:
        """An episode's start or, with several segments, sometimes a later decision point reached before.

        Where there is a choice, one from which the evaluations that are left suffice to end the episode.
        """
        team, segments = self.team, self.team.env.segments
        starts = [Situation(*start) for start in product(team.env.games, team.env.engine_seeds, team.env.budgets)]
        walked = team.experience if segments > 1 else ()
        reached = [situation.after(cell) for situation, cell, outcome in walked if not outcome.done]
        cells, left = int(team.available.sum()), self.plan.cap - team.evaluations
        room = [place for place in (*starts, *reached) if len(team.experience.at(place)) < cells]
        endable = [place for place in room if segments - len(place.cells) <= left] or room
        depths = sorted({len(place.cells) for place in endable})
        depth = depths[int(team.generator.integers(len(depths)))]
        places = [place for place in endable if len(place.cells) == depth]
        if depth == 0:  # games, seeds and budgets share the evaluations evenly
            return min(places, key=lambda place: len(team.experience.at(place)))
        return places[int(team.generator.integers(len(places)))]

    def _play_measured(self) -> list[_Step]:
        team = self.team
        starts = team.experience.starts
        situation, preset = starts[int(team.generator.integers(len(starts)))], self._draw_preset()
        steps: list[_Step] = []
        while team.experience.at(situation) and not (steps and steps[-1].outcome.done):
            triple, first = next_to_replay(
                self._remembered_values(situation, preset),
                self._measured(situation),
                team.catalog.shape,
                team.generator,
            )
            cell = team.catalog.cell(*triple)
            steps.append(_Step(situation, preset, cell, team.experience.at(situation)[cell], first))
            situation = situation.after(cell)
        team.replayed += 1
        return steps

    def _learn(self, steps: list[_Step], progress_remaining: float) -> None:
        for step in steps:
            after = self._observations_after(step)
            if after is None:
                continue  # the measuring of its rest was interrupted
            before = with_weights(step.outcome.observations, step.preset.weights)
            rewards = step.preset.rewards(*step.outcome.costs)
            for agent in range(step.first, 3):
                self.team.selectors[agent].remember(
                    (step.situation, step.preset, step.cell[: agent + 1]),
                    before[agent],
                    self.team.catalog.index(step.cell)[agent],
                    rewards[agent],
                    after[agent],
                    step.outcome.done,
                )
        first = min((step.first for step in steps), default=3)
        for selector in self.team.selectors[first:]:
            selector.learn(progress_remaining)

    def _observations_after(self, step: _Step) -> np.ndarray | None:
        """What the agents see at the next decision if the team does its best there, as far as it is measured.

        Not what they saw when the episode went on at random: B and C would learn the worth of answers to picks that
        A never makes. None where nothing was measured there.
        """
        if step.outcome.done:
            return step.outcome.observations  # not looked at
        following = step.situation.after(step.cell)
        outcomes = self.team.experience.at(following)
        if not outcomes:
            return None
        known = np.zeros(self.team.catalog.shape, dtype=np.bool_)
        known[tuple(np.transpose(self._measured(following)))] = True
        best = greedy_triple(self._remembered_values(following, step.preset), known)
        return with_weights(outcomes[self.team.catalog.cell(*best)].observations, step.preset.weights)

    def _rewards_at(self, situation: Situation, preset: Preset) -> dict[Triple, float]:
        return {
            self.team.catalog.index(cell): outcome.mean_reward(preset)
            for cell, outcome in self.team.experience.at(situation).items()
        }

    def _measured(self, situation: Situation) -> list[Triple]:
        return [self.team.catalog.index(cell) for cell in self.team.experience.at(situation)]

    def _remembered_values(self, situation: Situation, preset: Preset) -> QFunction:
        """Q-values from the observations that were made when the situation's cells were measured."""
        axes, experience = self.team.catalog.axes, self.team.experience

        def q(picks: tuple[int, ...]) -> np.ndarray:
            ids = tuple(axes[axis][index] for axis, index in enumerate(picks))
            seen = with_weights(experience.observation(situation, ids), preset.weights)
            return self.team.selectors[len(picks)].q_values(seen)

        return q

    def _row(self, step: _Step) -> dict[str, float | int | str]:
        team, env = self.team, self.team.env
        self._reset(step.situation, step.preset)
        greedy = team.catalog.cell(*team.greedy(env))
        row: dict[str, float | int | str] = {"evaluations": team.evaluations, "game": step.situation.game}
        row |= {"budget": str(step.situation.budget), "preset": str(step.preset), **step.cell._asdict()}
        rewards = step.preset.rewards(*step.outcome.costs)
        row |= {f"reward_{axis}": reward for axis, reward in zip(AXES, rewards, strict=True)}
        row["mean_reward"] = sum(rewards) / 3
        row |= {f"loss_{axis}": selector.loss for axis, selector in zip(AXES, team.selectors, strict=True)}
        return row | {f"greedy_{axis}": id for axis, id in greedy._asdict().items()}
