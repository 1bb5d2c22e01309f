"""Names of the literature that stand for no single component of this catalog.

Those that do are aliases of the component, on its registry entry.
"""

from __future__ import annotations

from rlccfr.registry import samplers, update_rules

# Lanctot et al. 2009 give the family its name; all of these sample.
for _name in ("MCCFR", "Monte Carlo CFR"):
    samplers.family(_name, "external", "outcome", "chance", "average_strategy", "public_chance")

# Steinberger 2019: Deep CFR whose average is played by its value networks.
for _name in ("SD-CFR", "single deep CFR"):
    update_rules.family(_name, "deep_cfr(average='value_networks')")

# Xu et al., ICLR 2024: a network chooses the exponents during the run. Here is its mean schedule; this library's own
# agents do the like.
for _name in ("DDCFR", "dynamic DCFR"):
    update_rules.family(_name, "ddcfr_schedule", "controlled")

# Meng et al., AAAI 2026: the asymmetry is chosen during the run. In the simple form it is fixed.
update_rules.family("APCFR+", "sapcfr_plus")
