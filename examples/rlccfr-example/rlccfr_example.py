"""An example of a plugin: once it is installed, ``rlccfr.load_plugins()`` or ``rlccfr --plugins`` registers it."""

from __future__ import annotations

from rlccfr.catalog.update_rules import decay, discount
from rlccfr.components import Sampler, UpdateRule
from rlccfr.registry import sampler, update_rule


@update_rule("sqrt_dcfr", source="this example: dcfr with gentler discounts", bounds={"alpha": (0.0, 5.0)})
def sqrt_dcfr(alpha: float = 0.5, gamma: float = 1.0) -> UpdateRule:
    """DCFR with R <- d(t-1, alpha) R + r for positive and negative regrets alike; average weights t^gamma."""
    return UpdateRule(positive_discount=discount(alpha), negative_discount=discount(alpha), average_decay=decay(gamma))


def square_roots(policy, count, parameters, probability):
    """Fill ``probability`` with the square root of each action's probability under the policy, at least the floor."""
    for a in range(len(policy)):
        probability[a] = max(parameters[0], policy[a] ** 0.5)


@sampler("root", source="this example", bounds={"floor": (1e-3, 1.0)})
def root(floor: float = 0.1) -> Sampler:
    """Take each own action with the square root of its probability, at least ``floor``; else as external sampling."""
    return Sampler(traverser="subset", inclusion=square_roots, parameters=(floor,))
