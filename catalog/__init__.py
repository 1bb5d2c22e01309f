"""The components that algorithms are made of, and the ordered sets of them that selectors choose from.

=============== ========================================================================================
module          components
=============== ========================================================================================
update_rules    the paper's tabular update rules (8)
deep            the paper's deep update rules (8): the tabular rules with networks
samplers        the paper's samplers (7)
abstractions    the paper's abstractions (3)
extended        further rules and samplers: predictive and scheduled rules, Hedge, mixed sampling
scheduled       rules whose exponents are free, or change by a schedule or a controller
adaptive        rules that adapt to the regrets that an infoset has seen: APCFR+, VAD-CFR and others
stabilised      rules that keep regrets away from 0: stable PCFR+, smooth PCFR+, extragradient CFR+
last_iterate    rules whose last policy converges: RTCFR+
public_chance   samplers that draw public outcomes, or private states, once for all histories
one_path        samplers of one path: balanced exploration, ESCHER, DREAM
merging         abstractions that merge infosets into buckets
=============== ========================================================================================

In addition, ``catalog`` has the sets of components, ``facts`` each algorithm's guarantee, ``citations`` its sources in
BibTeX, ``families`` the games for training and tests, and ``network_settings`` the sizes of the networks of deep rules.
"""

from rlccfr.catalog import (  # noqa: F401  (registers them)
    abstractions,
    adaptive,
    deep,
    extended,
    last_iterate,
    merging,
    one_path,
    public_chance,
    samplers,
    scheduled,
    stabilised,
    update_rules,
)
from rlccfr.catalog.catalog import AXES, Catalog, Cell
from rlccfr.registry import make

__all__ = ["AXES", "Catalog", "Cell", "make"]
