"""Training of a team: episodes on new algorithms, each followed by a round of learning from all measurements."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from rlccfr.agents.team.experience import Outcome, Situation
from rlccfr.agents.team.exploration import Triple, next_to_measure
from rlccfr.agents.team.learning.q_learning import QLearning
from rlccfr.agents.team.learning.records import Records
from rlccfr.agents.team.training_log import TrainingLog
from rlccfr.catalog import AXES, Cell
from rlccfr.envs.measuring.evaluator import Measurement
from rlccfr.envs.reward import Preset, Worth

if TYPE_CHECKING:
    from rlccfr.agents.team.team import SelectorTeam


VERSION = 3
"""Version of the training. Raise it when the same seed and measurements would give another team."""

MEASURING = 0.8
"""Rough share of the training's time that is over at the last evaluation, if an evaluation takes a second."""


@dataclass(frozen=True)
class Plan:
    """The amount of measuring and learning in one training run.

    Attributes:
        cap: largest total number of evaluations.
        settling: number of further rounds of learning, after the round that follows the last measured episode.
    """

    cap: int
    settling: int

    def share_done(self, evaluations: int, settled: int) -> float:
        """Return the share of the plan that is done, from 0 to 1; evaluations and rounds count the same."""
        return min(1.0, (min(evaluations, self.cap) + settled) / (self.cap + self.settling))


class _Step(NamedTuple):
    situation: Situation
    preset: Preset
    cell: Cell
    measurement: Measurement
    outcome: Outcome


class Training:
    """One call of :meth:`SelectorTeam.train`: the team measures, and learns from the measurements."""

    def __init__(self, team: SelectorTeam, plan: Plan, log: TrainingLog) -> None:
        self.team, self.plan, self.log = team, plan, log
        self._learner: QLearning | None = None  # from the present experience

    @property
    def share_done(self) -> float:
        """Share of the plan that is done, from 0 to 1."""
        return self.plan.share_done(self.team.evaluations, self.team.settled)

    @property
    def progress(self) -> float:
        """Approximate share of the training's time that is over, from 0 to 1."""
        plan, team = self.plan, self.team
        if self.share_done == 1.0:
            return 1.0
        measured = min(1.0, team.evaluations / plan.cap)
        return MEASURING * measured + (1 - MEASURING) * team.settled / max(1, plan.settling)

    def step(self) -> bool:
        """Play an episode on new algorithms if evaluations are left, then learn for one round.

        Returns:
            Whether an episode was played.
        """
        measures = self.team.evaluations < self.plan.cap
        steps = self._play_new() if measures else []
        if measures or self._learner is None:
            self._learner = QLearning(Records(self.team))
        self._learner.round(1.0 - self.share_done, self.team.hyperparameters.gradient_steps)
        if measures:
            self.log.write(self.team.evaluations, self._row(steps[-1]))
        else:
            self.team.settled += 1
        return measures

    def _play_new(self) -> list[_Step]:
        team, env = self.team, self.team.env
        situation, preset = self._where_to_explore(), self._draw_preset()
        self._reset(situation, preset)
        for cell in situation.cells:
            env.step(team.catalog.flat(cell))
        steps: list[_Step] = []
        while team.evaluations < self.plan.cap and not (steps and steps[-1].outcome.done):
            triple = next_to_measure(
                lambda picks: team.q_values(env, picks),
                self._worths_at(situation, preset),
                team.available,
                team.hyperparameters.epsilon,
                team.generator,
                cover=not situation.cells,
            )
            cell = team.catalog.cell(*triple)
            measurement, outcome = self._measure(cell)
            team.experience.add(situation, cell, outcome)
            team.settled = 0
            steps.append(_Step(situation, preset, cell, measurement, outcome))
            situation = situation.after(cell)
        return steps

    def _draw_preset(self) -> Preset:
        presets = self.team.env.presets
        return presets[int(self.team.generator.integers(len(presets)))]

    def _reset(self, situation: Situation, preset: Preset) -> None:
        """Reset the environment to the beginning of the situation's episode."""
        options = {"game": situation.game, "engine_seed": situation.engine_seed, "budget": situation.budget}
        self.team.env.reset(options={**options, "preset": preset})

    def _measure(self, cell: Cell) -> tuple[Measurement, Outcome]:
        env = self.team.env
        observations = np.stack([env.observe(cell[:agent]) for agent in range(3)])
        request = env.request(cell)
        done = env.step(self.team.catalog.flat(cell))[2]
        measurement = env.evaluator.measure(request)  # just measured, so it comes from memory
        return measurement, Outcome.of(observations, measurement, done)

    def _where_to_explore(self) -> Situation:
        """Return an episode's start or, with several segments, sometimes a later decision point reached before.

        If possible, the remaining evaluations suffice to end the episode from there.
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

    def _worths_at(self, situation: Situation, preset: Preset) -> dict[Triple, Worth]:
        """Return the worth of each measured algorithm; only the end of an episode tells whether it converges."""
        return {
            self.team.catalog.index(cell): preset.worth([outcome.costs])
            if outcome.done
            else Worth(1.0, preset.mean_reward(outcome.costs))
            for cell, outcome in self.team.experience.at(situation).items()
        }

    def _row(self, step: _Step) -> dict[str, float | int | str]:
        team, env = self.team, self.team.env
        self._reset(step.situation, step.preset)
        greedy = team.catalog.cell(*team.greedy(env, team.recommendable(env)))
        row: dict[str, float | int | str] = {"evaluations": team.evaluations, "game": step.situation.game}
        row |= {"budget": str(step.situation.budget), "preset": step.preset.name, "scale": step.preset.scale}
        row |= step.cell._asdict()
        row |= {name: getattr(step.measurement, name) for name in ("exploitability", "throughput")}
        rewards = step.preset.rewards(step.outcome.costs)
        row |= {f"reward_{axis}": reward for axis, reward in zip(AXES, rewards, strict=True)}
        row["mean_reward"] = sum(rewards) / 3
        row |= {f"loss_{axis}": selector.loss for axis, selector in zip(AXES, team.selectors, strict=True)}
        return row | {f"greedy_{axis}": id for axis, id in greedy._asdict().items()}
