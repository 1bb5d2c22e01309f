"""Mixtures of policies over a public tree, for :mod:`rlccfr.engine.blending`."""

from __future__ import annotations

import numpy as np

from rlccfr.engine.blending import MEMORY_LIMIT, WINDOWS, Respond, tries_for
from rlccfr.engine.public.draws import first_entries
from rlccfr.engine.public.evaluation import PASS_TIME, public_values, root_value
from rlccfr.engine.public.public_crew import PublicCrew
from rlccfr.engine.public.public_state import PublicState
from rlccfr.games.memory import available_memory, gigabytes
from rlccfr.games.public.masses import row_masses
from rlccfr.games.public.records import DOUBLE, SMALLEST
from rlccfr.games.public.view import PublicGame
from rlccfr.kernels.jit import ready
from rlccfr.kernels.layout import LEAST_ERROR
from rlccfr.kernels.public.mixtures import mix_plans, values_of_plans
from rlccfr.kernels.public.sweep import KEEP_RESPONSE, WRITE_PAYOFFS
from rlccfr.kernels.public.workspace import PublicTables

MIX_TIME = 0.5
"""Nanoseconds of a mixture, or of its cut, per window and table entry of its player."""

SINGLE_ERROR = 1e-6
"""The same as :data:`rlccfr.kernels.layout.LEAST_ERROR` for tables in single precision."""

SEARCH_TABLES = 7
"""Number of tables beside the windows: the run's average, what was before the window, the blend, the mixture that is
tried, payoffs against the response, and two that a window needs when it ends."""


class PublicMixer:
    """Mixer of policies over a public tree; see :class:`rlccfr.engine.blending.Mixer`.

    Plans are kept in the tables' type, and nothing else is kept for each of them. So a try takes two passes for each
    player: one finds the best response to a mixture, and the other what each of the mixture's sequences gets against
    it, which gives the response's value against every plan.

    Args:
        game: the run's game.
        dtype: type of the tables' numbers.
        crew: threads that share the passes.
        memory_limit: bytes that windows and a search may take.
    """

    def __init__(
        self, game: PublicGame, dtype: np.dtype, crew: PublicCrew | None, memory_limit: int = MEMORY_LIMIT
    ) -> None:
        self.game = game
        self.size = game.num_sequences
        self.dtype = dtype
        self.iteration_time = 2.0 * game.pass_size * PASS_TIME
        self.memory_limit = memory_limit
        self.least_gap = (LEAST_ERROR if dtype == DOUBLE else SINGLE_ERROR) * game.utility_range
        self._crew = crew
        self._masses = tuple(row_masses(game, player) for player in range(2))
        self._first_entries = tuple(self._first_entries_of(player) for player in range(2))
        self._compile()

    def _first_entries_of(self, player: int) -> np.ndarray:
        """Return the entries of the first row of a player's first decision, which the player reaches for certain."""
        nodes = self.game.view.nodes
        decisions = np.flatnonzero(nodes["kind"] == player)
        if not len(decisions):
            return np.zeros(0, np.int64)
        first = nodes[decisions[0]]  # a node comes after its parent
        rows = self.game.view.deals["rows"][first["deal"], player]
        entries: np.ndarray = first["table"] + np.arange(first["num_children"]) * rows
        return entries

    def _compile(self) -> None:
        """Compile the kernels, or load them from disk, since a run's time includes the search."""
        view = self.game.view
        table = np.zeros(0, self.dtype)
        plans = np.zeros((0, 0), self.dtype)
        ready(mix_plans, view, 0, table, plans, table)
        ready(values_of_plans, view, 0, self._masses[0], table, plans, np.zeros(0))

    def search_time(self, count: int, tries: int) -> float:
        passes = 3 + 4 * tries
        return passes * self.iteration_time / 2 + 2 * tries * count * self.size * MIX_TIME

    def most_tries(self, count: int, nanoseconds: float) -> int:
        time_of_none = self.search_time(count, 0)
        time_of_one = self.search_time(count, 1) - time_of_none
        return min(int(max(nanoseconds - time_of_none, 0.0) / time_of_one), tries_for(count))

    def bytes_for(self, count: int) -> int:
        return bytes_of_blends(self.game, self.dtype, count)

    def fill_plan(self, sums: np.ndarray, plan: np.ndarray) -> None:
        """See :class:`Mixer`. Exact passes weigh policies by their player's reach, so sums are plans up to a factor."""
        for player, entries in enumerate(self._first_entries):
            total = float(sums[entries].sum())
            factor = 1.0 / total if total > SMALLEST else 0.0
            mix_plans(self.game.view, player, np.array([factor], self.dtype), sums[None], plan)

    def mix(self, player: int, weights: np.ndarray, plans: np.ndarray, sums: np.ndarray) -> None:
        mix_plans(self.game.view, player, weights.astype(self.dtype), plans, sums)

    def values(self, sums: np.ndarray) -> tuple[float, float, float]:
        return public_values(self.game, sums, self._crew)

    def responder(self, plans: np.ndarray, average_value: float) -> Respond:
        game = self.game
        mixture = np.zeros(self.size, self.dtype)
        payoffs = np.zeros(self.size, self.dtype)
        response = np.zeros(game.num_infosets, np.uint8)
        starts = {"response": response, "response_start": first_entries(game, per_private_state=True)}
        mixture_tables = PublicTables.read_only(mixture)._replace(**starts)
        payoff_tables = PublicTables.read_only(payoffs)._replace(**starts)

        def respond_to(player: int, weights: np.ndarray, cut: np.ndarray) -> float:
            shift = average_value if player == 0 else -average_value
            self.mix(player, weights, plans, mixture)
            value = root_value(game, 1 - player, mixture_tables, KEEP_RESPONSE, self._crew)
            # The player gets this where it has no decision, and payoffs after its decisions.
            cut[:] = root_value(game, player, payoff_tables, WRITE_PAYOFFS, self._crew) / game.unit
            values_of_plans(game.view, player, self._masses[player], payoffs, plans, cut)
            cut *= -game.unit  # what the player gets, the response loses
            cut += shift
            return value + shift

        return respond_to


def bytes_of_blends(game: PublicGame, dtype: np.dtype, count: int) -> int:
    """Return the bytes that ``count`` windows and a search among them take."""
    tables = (count + SEARCH_TABLES) * dtype.itemsize * game.num_sequences
    responses = game.num_infosets + DOUBLE.itemsize * game.num_nodes
    masses = 2 * DOUBLE.itemsize * len(game.view.above)
    return tables + responses + masses


def memory_for_blends(state: PublicState) -> tuple[int, str]:
    """Return the bytes that blends may take, and a line on it; 0 if not even the fewest windows fit into memory."""
    sizes = [bytes_of_blends(state.game, state.dtype, count) for count in WINDOWS]
    available = available_memory()
    if available is None:
        available = MEMORY_LIMIT
    elif not state.iteration:  # zeros take no memory before they are written
        available -= sum(table.nbytes for table in state.tables)
    fewest = sizes[-1]
    if fewest > available:
        left = gigabytes(max(available, 0))
        return 0, f"{state.game.name!r} runs without blends: they need {gigabytes(fewest)}, but only {left} are left"
    most = max([fewest, *(size for size in sizes if size <= min(MEMORY_LIMIT, available))])
    return most, f"blends take up to {gigabytes(most)} of memory"
