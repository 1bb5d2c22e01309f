"""Mixtures of policies over a public tree, for :mod:`rlccfr.engine.blending`."""

from __future__ import annotations

from typing import Any

import numpy as np

from rlccfr.engine.blending import MEMORY_LIMIT, WINDOWS, Respond, tries_for
from rlccfr.engine.public.evaluation import iteration_cost, payoffs_against, public_values
from rlccfr.engine.public.public_crew import PublicCrew
from rlccfr.engine.public.public_state import PublicState
from rlccfr.games.memory import available_memory, gigabytes
from rlccfr.games.public.masses import row_masses
from rlccfr.games.public.records import DOUBLE, SMALLEST
from rlccfr.games.public.view import PublicGame
from rlccfr.games.records import BLOCK, HISTORY, SequenceView
from rlccfr.kernels.blending.cuts import respond
from rlccfr.kernels.handles import handle_of, prepare_handles
from rlccfr.kernels.jit import ready
from rlccfr.kernels.layout import GAME, LEAST_ERROR, Game, HistoryView
from rlccfr.kernels.public.mixtures import fill_sequences, mix_plans, scatter

TRY_TIME = 1.6
"""Nanoseconds, per window and table entry, that one try takes for both players; see :mod:`rlccfr.engine.blending`."""

CALL_TIME = 15_000.0
"""Nanoseconds that it takes to call a pass or a response; in small games, more than the work itself takes."""

SINGLE_ERROR = 1e-6
"""Counterpart, for tables in single precision, of :data:`rlccfr.kernels.layout.LEAST_ERROR`."""

RUN_TABLES = 5
"""Number of tables beside the windows' plans: the run's average, the sums before the window, the blend, and two more
when a window ends or the best blend is measured."""


class PublicMixer:
    """Mixer of policies over a public tree; see :class:`rlccfr.engine.blending.Mixer`.

    Two passes per plan find each sequence's payoffs against the plan, from plays that end before the player's next
    decision. The public tree is then no longer needed: a best response to a mixture is found in the player's tree of
    sequences, as for a compiled game (:mod:`rlccfr.kernels.blending.cuts`).

    Args:
        game: the run's game.
        dtype: type of the tables' numbers.
        crew: threads that share the passes.
        memory_limit: bytes that windows and a search may need.
    """

    def __init__(
        self, game: PublicGame, dtype: np.dtype, crew: PublicCrew | None, memory_limit: int = MEMORY_LIMIT
    ) -> None:
        self.game = game
        self.size = game.num_sequences
        self.dtype = dtype
        self.iteration_time = iteration_cost(game)
        self.memory_limit = memory_limit
        self.least_gap = (LEAST_ERROR if dtype == DOUBLE else SINGLE_ERROR) * game.utility_range
        self._crew = crew
        self._sure_entries = tuple(self._sure_entries_of(player) for player in range(2))
        self._form, self._sequence = sequence_form_of(game)
        self._compile()

    def _sure_entries_of(self, player: int) -> np.ndarray:
        """Return the table indices of one row at a player's first decision; its own moves reach it with certainty."""
        decisions = _decisions_of(self.game, player)
        if not len(decisions):
            return np.zeros(0, np.int64)
        first = self.game.view.nodes[decisions[0]]
        rows = self.game.view.deals["rows"][first["deal"], player]
        entries: np.ndarray = first["table"] + np.arange(first["num_children"]) * rows
        return entries

    def _compile(self) -> None:
        """Compile the kernels, or load them from disk, since a run's time includes the search."""
        table = np.zeros(0, self.dtype)
        ready(mix_plans, self.game.view, 0, table, np.zeros((0, 0), self.dtype), table)
        ready(scatter, table, self._sequence, np.zeros(0))

    def search_time(self, count: int, tries: int) -> float:
        # The average policies and the blends are measured, by three passes each.
        passes_of_evaluations = 6
        passes = 2 * count + passes_of_evaluations
        time_of_passes = passes * (self.iteration_time / 2 + CALL_TIME)
        return time_of_passes + tries * (count * self.size * TRY_TIME + 2 * CALL_TIME)

    def most_tries(self, count: int, nanoseconds: float) -> int:
        time_of_none = self.search_time(count, 0)
        time_of_one = self.search_time(count, 1) - time_of_none
        return min(int(max(nanoseconds - time_of_none, 0.0) / time_of_one), tries_for(count))

    def bytes_for(self, count: int) -> int:
        return bytes_of_blends(self.game, self.dtype, count)

    def fill_plan(self, sums: np.ndarray, plan: np.ndarray) -> None:
        """See :meth:`Mixer.fill_plan`. Exact passes sum policies times own reach, that is, multiples of plans."""
        for player, entries in enumerate(self._sure_entries):
            # In a plan, this row's entries sum to 1, so the total of the sums is the multiple of the plan.
            total = float(sums[entries].sum())
            factor = 1.0 / total if total > SMALLEST else 0.0
            self.mix(player, np.array([factor]), sums[None], plan)

    def mix(self, player: int, weights: np.ndarray, plans: np.ndarray, sums: np.ndarray) -> None:
        mix_plans(self.game.view, player, weights.astype(self.dtype), plans, sums)

    def values(self, sums: np.ndarray) -> tuple[float, float, float]:
        return public_values(self.game, sums, self._crew)

    def responder(self, plans: np.ndarray, average_value: float) -> Respond:
        payoffs = np.zeros((len(plans), self.size + 2))
        work = np.zeros((2, self.size + 2))
        table = np.zeros(self.size, self.dtype)
        for plan, plan_payoffs in zip(plans, payoffs, strict=True):
            for player in range(2):
                plan_payoffs[self.size + player] = payoffs_against(self.game, player, plan, table, self._crew)
            scatter(table, self._sequence, plan_payoffs)
        # This centres the payoffs of the empty sequences about 0.
        payoffs[:, -2:] += (-average_value, average_value)

        def respond_to(player: int, weights: np.ndarray, cut: np.ndarray) -> float:
            return float(respond(self._form, 1 - player, weights, payoffs, work, cut))

        return respond_to


def _decisions_of(game: PublicGame, player: int) -> np.ndarray:
    """Return a player's decision nodes; each comes after those above it."""
    decisions: np.ndarray = np.flatnonzero(game.view.nodes["kind"] == player)
    return decisions


def sequence_form_of(game: PublicGame) -> tuple[Any, np.ndarray]:
    """Return a handle of a game's sequence form without payoffs, and the sequence of each table entry, (m,).

    Each row of a decision is an infoset. Its multiplicity is the weight of its value in the value of the row that it
    comes from. A locked row is split into infosets with one action each, since nobody chooses there; the multiplicity
    of each is that of the row times the lock's probability of the action.
    """
    nodes = game.view.nodes
    decisions = [_decisions_of(game, player) for player in range(2)]
    all_decisions = np.concatenate(decisions)
    rows = game.view.deals["rows"][nodes["deal"][all_decisions], nodes["kind"][all_decisions]].astype(np.int64)
    num_infosets = int(rows.sum())
    first_infoset = np.zeros(game.num_nodes, np.int64)
    first_infoset[all_decisions] = np.cumsum(rows) - rows
    first_sequence = np.zeros(num_infosets + 1, np.uint32)
    first_sequence[1:] = np.cumsum(np.repeat(nodes["num_children"][all_decisions].astype(np.int64), rows))
    num_first = int(rows[: len(decisions[0])].sum())
    no_indices = np.zeros(0, np.uint32)
    no_payoffs = np.zeros(0)
    view = SequenceView(
        infoset_begin=np.array([0, num_first, num_infosets], np.uint32),
        first_sequence=first_sequence,
        parent=np.zeros(num_infosets, np.uint32),
        # A best response to a mixture reads only the tree: the payoffs against each plan are an argument.
        chance_weight=no_payoffs,
        mass_begin=no_indices,
        mass_sequence=no_indices,
        mass_probability=no_payoffs,
        leaf_0=no_indices,
        leaf_1=no_indices,
        blocks_0=np.zeros(0, BLOCK),
        blocks_1=np.zeros(0, BLOCK),
        payoff_0=no_payoffs,
        payoff_1=no_payoffs,
        multiplicity=np.zeros(num_infosets),
        twin=no_indices,
    )
    sequence = np.zeros(game.num_sequences, np.uint32)
    for player, player_decisions in enumerate(decisions):
        mass = row_masses(game, player)
        fill_sequences(
            game.view,
            player_decisions,
            game.parents,
            game.deal_parents,
            mass,
            game.pair_probability,
            first_infoset,
            sequence,
            view,
        )
    if game.lock is not None:
        view = _split(view, sequence[game.lock.entries], game.lock.probabilities)
    prepare_handles(GAME)
    return handle_of(Game(HistoryView(np.zeros(0, HISTORY), no_payoffs, no_payoffs), view), GAME), sequence


def _split(view: SequenceView, sequences: np.ndarray, probabilities: np.ndarray) -> SequenceView:
    """Return a sequence form in which each locked sequence has an infoset of its own.

    Args:
        sequences: (k,) the locked sequences; either all sequences of an infoset are locked, or none is.
        probabilities: (k,) the lock's probability of each.
    """
    first = view.first_sequence.astype(np.int64)
    num_infosets = len(first) - 1
    owner = np.repeat(np.arange(num_infosets), np.diff(first))
    share = np.ones(len(owner))
    share[sequences] = probabilities
    begins = np.zeros(len(owner), bool)  # whether an infoset begins with the sequence
    begins[first[:-1]] = True
    begins[sequences] = True
    begin = np.flatnonzero(begins)
    infoset_before = owner[begin]
    return view._replace(
        infoset_begin=np.searchsorted(infoset_before, view.infoset_begin).astype(np.uint32),
        first_sequence=np.append(begin, len(owner)).astype(np.uint32),
        parent=view.parent[infoset_before],
        multiplicity=view.multiplicity[infoset_before] * share[begin],
    )


def bytes_of_blends(game: PublicGame, dtype: np.dtype, count: int) -> int:
    """Return how many bytes ``count`` windows and a search among them need."""
    plans = (count + 1 + RUN_TABLES) * dtype.itemsize
    search = (count + 1 + 2) * DOUBLE.itemsize + dtype.itemsize  # payoffs, the response, and a table of payoffs
    sequence_indices = 4  # the sequence of each entry
    # For each infoset: its first sequence, its parent sequence, and its multiplicity.
    bytes_of_infosets = (4 + 4 + DOUBLE.itemsize) * game.num_infosets
    return (plans + search + sequence_indices) * game.num_sequences + bytes_of_infosets


def memory_for_blends(state: PublicState) -> tuple[int, str]:
    """Return how many bytes blends may use (0 if even the fewest windows do not fit), and a one-line message."""
    sizes = [bytes_of_blends(state.game, state.dtype, count) for count in WINDOWS]
    available = available_memory()
    if available is None:
        available = MEMORY_LIMIT
    elif not state.iteration:  # zeros take no memory before they are written
        available -= sum(table.nbytes for table in state.tables)
    fewest = sizes[-1]
    if fewest > available:
        left = gigabytes(max(available, 0))
        name = state.game.name
        return 0, f"{name!r} runs without blends: they need {gigabytes(fewest)}, but only {left} are available"
    most = max([fewest, *(size for size in sizes if size <= min(MEMORY_LIMIT, available))])
    return most, f"blends use up to {gigabytes(most)} of memory"
