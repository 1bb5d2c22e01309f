"""Samplers of one path that draw by the sizes of subtrees, or take regrets from values of histories."""

from __future__ import annotations

from typing import Literal

from rlccfr.catalog.samplers import UNBIASED
from rlccfr.components import Guarantee, Sampler
from rlccfr.registry import sampler

FARINA_2020 = "Farina, Kroer and Sandholm, Stochastic regret minimization in extensive-form games, ICML 2020"
MCALEER_2023 = (
    "McAleer, Farina, Lanctot and Sandholm, ESCHER: eschewing importance sampling in games by computing a history "
    "value function to estimate regret, ICLR 2023"
)
_OPEN = {"exploration": (1e-6, 1.0)}
_VALUES = Guarantee(sampled_open="its estimates have their exact means only with exact values (value='oracle')")


@sampler("balanced", source=f"{FARINA_2020} (exploration-balanced outcome sampling)", bounds=_OPEN, guarantee=UNBIASED)
def balanced(exploration: float = 0.6) -> Sampler:
    """Outcome sampling that explores by the sizes of subtrees: one path.

    Own actions are drawn from exploration x balanced policy + (1 - exploration) x policy. The balanced policy takes an
    action in proportion to the number of own sequences that end below it. So it plays each of all Z such sequences with
    probability at least 1/Z.
    """
    return Sampler(traverser="one", exploration=exploration, explores="sequences")


@sampler("escher", source=MCALEER_2023, guarantee=_VALUES)
def escher(
    value: Literal["table", "oracle"] = "table",
    explores: Literal["sequences", "actions"] = "sequences",
    weighted: bool = False,
) -> Sampler:
    """One path, own actions drawn by a fixed policy; regrets from values of histories, without importance weights.

    At each own node h of the path, the regret of a grows by q(h, a) - sum_b policy(b) q(h, b), where q(h, a) is the
    traverser's value of the history after a. With exact q, which value="oracle" computes by a pass over the tree, its
    mean is the infoset's regret times the fixed policy's reach. value="table" learns q: a walk sets the value of each
    of its nodes to the mean of its children's. Differs from the source, which fits q by a network. The opponent's
    average policy gets increments of weight 1/(the fixed policy's reach). weighted=True is an ablation: it divides
    regrets by that reach.
    """
    return Sampler(traverser="one", exploration=1.0, explores=explores, values=value, weighted=weighted)
