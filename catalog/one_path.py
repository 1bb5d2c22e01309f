"""Samplers of one path that draw by the sizes of subtrees, or take regrets from values of histories."""

from __future__ import annotations

from typing import Literal

from rlccfr.catalog.network_settings import network_settings
from rlccfr.catalog.samplers import LEAST_SHARE, UNBIASED
from rlccfr.catalog.sources import FARINA_2020, MCALEER_2023, STEINBERGER_2020
from rlccfr.components import Guarantee, Sampler
from rlccfr.networks.settings import HistoryNetwork
from rlccfr.registry import sampler

_EXPLORATION = {"exploration": (LEAST_SHARE, 1.0)}
_EXACT_VALUES = Guarantee(sampled_open="its estimates have their exact means only with exact values (value='oracle')")


@sampler(
    "balanced",
    source=f"{FARINA_2020} (exploration-balanced outcome sampling)",
    bounds=_EXPLORATION,
    guarantee=UNBIASED,
    aliases=("balanced outcome sampling", "exploration-balanced outcome sampling"),
)
def balanced(exploration: float = 0.6) -> Sampler:
    """Outcome sampling that explores by the sizes of subtrees: one path.

    The traverser's actions are drawn from exploration x balanced policy + (1 - exploration) x policy. The balanced
    policy plays an action in proportion to the number of the player's sequences that end below this action. If Z
    sequences of the player end in the whole tree, the balanced policy plays each of them with probability at least 1/Z.
    """
    return Sampler(traverser="one", exploration=exploration, explores="sequences")


@sampler("escher", source=MCALEER_2023, guarantee=_EXACT_VALUES, aliases=("ESCHER",))
def escher(
    value: Literal["table", "oracle", "network"] = "table",
    explores: Literal["sequences", "actions"] = "sequences",
    weighted: bool = False,
    preset: str = "fast",
) -> Sampler:
    """One path by a fixed policy of the traverser; regrets from values of histories, without importance weights.

    At each of the traverser's nodes h on the path, the regret of a grows by q(h, a) - sum_b policy(b) q(h, b), where
    q(h, a) is the traverser's value of the history after a. With exact q, which value="oracle" computes by a pass over
    the tree, the mean of these increments is the infoset's regret times the fixed policy's reach. With
    value="table", walks learn q: each sets the value of every node on its path to the mean of the values of the node's
    children. With value="network", a network with the settings ``preset`` is fitted to q, as in the source; with a deep
    rule this is Deep ESCHER. Here, the network learns from one-step backups of its values; in the source, from the
    outcomes of additional walks. Where the average is sampled, its increments are divided by the fixed policy's reach.
    weighted=True is an ablation: it divides regrets by the fixed policy's reach, too. On games represented by
    OpenSpiel's states, value="network" and explores="actions" are needed; the network then has an output for each
    action, and learns by tree backup from separate walks.
    """
    network = history_network(preset) if value == "network" else None
    return Sampler(
        traverser="one", exploration=1.0, explores=explores, values=value, weighted=weighted, network=network
    )


@sampler(
    "dream",
    source=STEINBERGER_2020,
    bounds=_EXPLORATION,
    guarantee=UNBIASED,
    later=("weighted",),
    aliases=("DREAM",),
)
def dream(exploration: float = 0.5, preset: str = "fast", weighted: bool = True) -> Sampler:
    """One path, as in outcome sampling, with baselines of histories that a network learns; with deep_lcfr, it is DREAM.

    The network, with the settings ``preset``, learns from one-step backups of its values. Differs from the source,
    which needs no model of the game: here, terminal payoffs and chance probabilities are used. The number of walks is
    the setting traversals of the deep rule or, with a tabular rule, of ``preset``. On games represented by OpenSpiel's
    states, the network learns by tree backup from separate walks, whose number is the setting traversals of ``preset``.
    weighted=False is an ablation without a regret bound: it does not divide regrets by the probability of the
    traverser's draws.
    """
    network = history_network(preset)
    return Sampler(traverser="one", exploration=exploration, baseline="network", weighted=weighted, network=network)


def history_network(preset: str) -> HistoryNetwork:
    """Return the settings of a network that values histories.

    Args:
        preset: name of network settings, which give the model, the number of walks and the iterations between fits.

    Raises:
        ComponentError: an unknown name.
    """
    settings = network_settings(preset)
    return HistoryNetwork(
        model=settings.networks().value, traversals=settings.traversals, train_every=settings.train_every
    )
