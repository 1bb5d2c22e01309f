"""Iterations by exact passes whose settings a controller chooses during the run."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Mapping
from typing import Any

import numpy as np

from rlccfr.components.controller import OBSERVATION, Controller
from rlccfr.engine.binding import Binding
from rlccfr.engine.evaluation import better_of
from rlccfr.engine.exact import ExactStepper
from rlccfr.engine.state import RunState
from rlccfr.engine.stepper import CHUNK, Stepper
from rlccfr.errors import CheckpointError
from rlccfr.games.flat_tree import GameTree
from rlccfr.games.records import CHANCE, TERMINAL
from rlccfr.kernels.control.control_layout import (
    AGENTS,
    CONTROL,
    DECIDED,
    DECISIONS,
    FIRST_SETTING,
    HORIZON,
    KEPT,
    LOOK,
    LOOKED_AT,
    MEMORY,
    NEVER,
    NEXT,
    PICKS,
    RANGE,
    SEEN_AT,
    START,
    Control,
)
from rlccfr.kernels.control.controlled_iterations import controlled_iterations, prepared
from rlccfr.kernels.control.decide import next_mark
from rlccfr.kernels.control.keep import looked, next_look
from rlccfr.kernels.control.observe import observed
from rlccfr.kernels.handles import handle_of

_MEMORY, _DIGEST, _KEPT = "control", "controller", "kept"
"""Names under which a controlled run's memory, a digest of its controller, and the policies kept are saved."""

_WIDEST = int(np.diff(FIRST_SETTING).max())
"""Largest number of settings of an agent."""

MOVED = 1.5
"""Factor by which the number of iterations aimed at must change for a decision out of turn."""

APART = 1.5
"""Factor by which iterations must have grown since the last decision for one out of turn."""


class ControlledStepper(ExactStepper):
    """Stepper of exact iterations whose settings the rule's controller picks at each decision.

    Each player keeps its best average policy of the last eighth of the run; see :mod:`rlccfr.kernels.control.keep`.
    """

    def __init__(self, state: RunState, binding: Binding, previous: Stepper[RunState] | None = None) -> None:
        assert binding.rule.controller is not None
        self.control = control_of(binding.rule.controller, state.game)
        super().__init__(state, binding, previous)

    def _set_up(self, reduce: bool = True) -> None:
        super()._set_up(reduce)
        self.take(self.control, keep=self.blender is None)

    def take(self, control: Control, *, keep: bool = True) -> None:
        """Go on with another controller and memory.

        Args:
            keep: whether the best average policies are kept.
        """
        self.control = control._replace(kept=np.zeros(self.form.num_sequences if keep else 0))
        self._handle: Any = handle_of(self.control, CONTROL)

    @property
    def costs(self) -> dict[str, float]:
        return self._costs()

    def aim(self, iterations: int) -> None:
        """See :meth:`Stepper.aim`.

        A decision falls due if the end has moved much since the last one, but not too soon after it: in training, there
        is at most one in so few iterations. Otherwise the next one stays where it is.
        """
        super().aim(iterations)
        memory, done = self.control.memory, self.state.iteration
        memory[LOOK] = next_look(done, iterations) if len(self.control.kept) else NEVER
        memory[HORIZON], decided = iterations, memory[DECIDED]
        if memory[DECISIONS] and (not decided / MOVED <= iterations <= decided * MOVED or 0 < decided <= done):
            soon = max(done, math.ceil(APART * memory[SEEN_AT]))
            memory[NEXT] = min(soon, next_mark(done, iterations))

    def _run(self, iterations: int) -> None:
        if self._crew is not None or self.blender is not None:
            super()._run(iterations)
        else:  # in one call, with all decisions that fall due
            game, run, control = self._handles
            rule, procedure = self.binding.rule_handle, self.binding.procedure
            controlled_iterations(game, run, rule, procedure, control, iterations, self.nodes_per_iteration)
        if self.state.iteration >= self.control.memory[LOOK]:
            looked(*self._handles)

    def _rows(self, iterations: int) -> np.ndarray:
        """See :meth:`ExactStepper._rows`; looks or decides if that is due."""
        return self.control.rows[: prepared(*self._handles, iterations) + 1]

    @property
    def _handles(self) -> tuple[Any, Any, Any]:
        """Handles of the game that passes run over, the run and the controller."""
        over = self._copy or self.state
        return over.game_handle, over.run_handle, self._handle

    def own_sums(self) -> np.ndarray:
        """See :meth:`FlatStepper.own_sums`; of the present and the kept policy, each player has the better one."""
        memory, sums = self.control.memory, super().own_sums()
        if memory[LOOKED_AT] < 0 or not np.isfinite(sums).all():  # policies kept must not hide an overflow
            return sums
        kept = self._kept()
        if memory[LOOKED_AT] < self.state.iteration:
            return better_of(self.form, kept, memory[KEPT : KEPT + 2], sums)
        return kept

    def _kept(self) -> np.ndarray:
        """Return the kept policies, over the sequences of ``form``."""
        kept = self.control.kept
        return kept.copy() if self._crew is None or not len(kept) else kept[self._crew.sequences]

    def restart(self) -> None:
        """Go back to the start of a run with one thread."""
        tables, memory = (self._copy or self.state).tables, self.control.memory
        tables.regret.fill(0.0)
        tables.policy_sum.fill(0.0)
        tables.policy[:] = self.form.uniform_policy()
        self.state.counts.fill(0)
        memory[:] = first_memory(self.state.game)

    def observe(self) -> np.ndarray:
        """Return what the controller would see now, (21,)."""
        over = self._copy or self.state
        observed(over.game_handle, over.run_handle, self._handle)
        return self.control.inputs[: len(OBSERVATION)]

    def saved(self) -> dict[str, np.ndarray]:
        return {**super().saved(), _MEMORY: self.control.memory, _KEPT: self._kept(), _DIGEST: self._digest}

    def restore(self, saved: Mapping[str, np.ndarray]) -> None:
        if not np.array_equal(saved[_DIGEST], self._digest):
            raise CheckpointError("this run's controller has changed since the run was saved; start anew")
        super().restore(saved)
        self.take(self.control, keep=len(saved[_KEPT]) > 0)
        self.control.memory[:] = saved[_MEMORY]
        if len(self.control.kept):
            self.control.kept[... if self._crew is None else self._crew.sequences] = saved[_KEPT]

    @property
    def _digest(self) -> np.ndarray:
        """Digest of the controller's weights and choices."""
        parts = (self.control.weights, self.control.choices)
        return np.frombuffer(hashlib.sha256(b"".join(part.tobytes() for part in parts)).digest(), np.uint8)


def control_of(controller: Controller, game: GameTree, decisions: int = 0) -> Control:
    """Return a controller and its state at the start of a run.

    Args:
        decisions: number of decisions that may be forced and are recorded.
    """
    size = len(OBSERVATION)
    layers, total, first = controller.layers, sum(controller.counts), 0
    choices = np.zeros((total, _WIDEST))
    for own in controller.choices:
        choices[first : first + len(own), : own.shape[1]] = own
        first += len(own)
    return Control(
        weights=controller.single_weights,
        members=len(controller.members),
        layers=np.array(layers, np.int64),
        choices=choices,
        features=features_of(game),
        memory=first_memory(game),
        forced=np.full((decisions, AGENTS), -1, np.int64),
        trace=np.zeros((decisions, size + AGENTS + 1)),
        inputs=np.zeros(size + total),
        hidden=np.zeros((3, max(map(max, layers))), np.float32),
        rows=np.zeros((CHUNK + 1, 5)),
        kept=np.zeros(0),
    )


def first_memory(game: GameTree) -> np.ndarray:
    """Return the memory of a controlled run before its first decision; see the kernels' ``control_layout``."""
    memory = np.zeros(MEMORY)
    memory[PICKS : PICKS + AGENTS], memory[SEEN_AT], memory[START] = -1.0, -1.0, np.nan
    memory[LOOK], memory[LOOKED_AT], memory[KEPT : KEPT + 2] = NEVER, -1.0, np.inf
    memory[RANGE] = np.log10(game.utility_range or 1.0)
    return memory


def features_of(game: GameTree) -> np.ndarray:
    """Return the features of a game that controllers see, (5,); none of them grows with the game's size alone.

    They are the mean number of actions at infosets and the largest, each n / (n + 4); the depth, n / (n + 10); the
    share of chance among the inner histories, and of ends among all.
    """
    actor = np.ascontiguousarray(game.histories["actor"])  # of a field with strides; a copy is counted faster
    actions = np.diff(game.view.first_sequence.astype(np.int64))
    inner = max(int(np.count_nonzero(actor != TERMINAL)), 1)
    mean, most = float(actions.mean()) if len(actions) else 0.0, int(actions.max(initial=0))
    chance, depth = int(np.count_nonzero(actor == CHANCE)) / inner, game.depth / (game.depth + 10)
    return np.array([mean / (mean + 4), most / (most + 4), depth, chance, 1 - inner / game.num_histories])
