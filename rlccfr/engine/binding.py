"""Components as the kernels see them."""

from __future__ import annotations

from rlccfr.components import Sampler, UpdateRule
from rlccfr.kernels.layout import RuleFlags
from rlccfr.kernels.walks.walk_layout import ALL, ONE, SUBSET, WalkPlan


def flags_of(rule: UpdateRule) -> RuleFlags:
    """How a rule differs from plain regret matching."""
    return RuleFlags(
        plain=rule.is_plain,
        predicts=rule.only_predicts,
        reweights=rule.reweight is not None,
        maps_policy=rule.policy_map is not None,
        uses_mass=rule.uses_mass,
        argmax_fallback=rule.fallback == "argmax",
        average_column=rule.arrays.index(rule.average_weight) if rule.average_weight else -1,
    )


def plan_of(sampler: Sampler) -> WalkPlan:
    """A sampler's settings of the walk."""
    return WalkPlan(
        chance_all=sampler.chance == "all",
        opponent_all=sampler.opponent == "all",
        traverser={"all": ALL, "one": ONE, "subset": SUBSET}[sampler.traverser],
        exploration=float(sampler.exploration),
        probe=sampler.probe,
        baseline_rate=float(sampler.baseline_rate),
        subset_size=sampler.subset_size,
        mixes=sampler.mixture is not None,
        one_draw=sampler.one_draw,
        counts=sampler.inclusion is not None or sampler.mixture is not None,
    )


def is_quick(plan: WalkPlan, flags: RuleFlags) -> bool:
    """Whether kernels/quick.py has what a sampler and a rule ask for: external or outcome sampling, a simple fold."""
    alike = plan.traverser in (ALL, ONE) and not any(plan._replace(traverser=0, exploration=0.0))
    return alike and (flags.plain or flags.predicts)
