"""The runs that reached targets soonest in measurements, by the form of the game; ``rlccfr.solve`` takes them.

``python -m benchmarks.soonest_rules`` compares update rules, and ``python -m benchmarks.default_laws`` fits the laws
(see :attr:`rlccfr.game.TargetRun.law`). Decisions 40, 46 and 55 (docs/adr) say why these runs were chosen.
"""

from __future__ import annotations

from rlccfr.game import TargetRun

FINE_TARGETS_RULE = "scheduled(alpha=1.5,gamma=8.5,optimism=0.5,decay=0.05,momentum=0.5,memory=0.95,power=2.0)"
"""The rule for fine targets in games with chance; ``python -m benchmarks.points`` searched for its settings.

It is discounted CFR+ with momentum and with optimism, which is halved after 50 iterations and fades further.
"""

NUM_TABLES_WITH_MOMENTUM = 4
"""Number of tables over all sequences of a rule with momentum: regrets, policy sums, policy, and momentum."""

ON_COMPILED_GAMES = (
    TargetRun({"update_rule": "dcfr_plus"}, (0.377, 0.505, 0.048), most_decades=3, chance=True),
    TargetRun(
        {"control": "schedule", "blend": True},
        (0.715, 0.432, 0.0),
        least_decades=4.5,
        least_size=500_000,
        chance=True,
    ),
    TargetRun({"update_rule": FINE_TARGETS_RULE}, (0.338, 0.328, 0.196), chance=True),
    TargetRun({"update_rule": "hs_pcfr_plus"}, (-0.453, 0.344, 0.317), chance=False),
)

LARGE_TREE = 2_000_000
"""Number of sequences from which public trees count as large.

It lies between those of the lists ``trees-larger`` and ``trees-largest`` of :mod:`benchmarks.soonest_rules`.
"""

ON_PUBLIC_TREES = (
    TargetRun({"update_rule": "dcfr_plus"}, (0.497, 0.496, 0.0), most_decades=3, least_size=LARGE_TREE),
    TargetRun({"update_rule": "dcfr"}, (0.648, 0.464, 0.0), most_decades=3),
    TargetRun({"update_rule": "dcfr"}, (0.388, 0.554, 0.0), most_decades=5, least_size=LARGE_TREE),
    TargetRun({"update_rule": FINE_TARGETS_RULE}, (0.809, 0.392, 0.0), num_tables=NUM_TABLES_WITH_MOMENTUM),
    TargetRun({"update_rule": "dcfr"}),  # where the four tables do not fit into memory
)

ON_SPOTS = (TargetRun({"update_rule": "dcfr_plus"}),)

ON_BUCKET_HISTORIES = (
    # Sampling reaches a target sooner if it is at most two decades below the uniform policy's exploitability
    # (measured with 5 buckets by `rlccfr reproduce texas`).
    TargetRun({"update_rule": "lcfr", "sampler": "public_chance"}, most_decades=2.0),
    TargetRun({"update_rule": "dcfr"}),
)
