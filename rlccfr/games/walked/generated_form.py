"""The form of games represented by OpenSpiel's states, in a module of its own, which the list of forms imports."""

from __future__ import annotations

from typing import Any

from rlccfr.game import Form

PREFIX = "generated("
"""Start of a name such as ``generated(kuhn)``; the name of the OpenSpiel game and a closing parenthesis follow."""

_MATCHES = "compare policies by `rlccfr match --pairs`"

GENERATED = Form(
    title="by OpenSpiel's states",
    visited="histories met",
    has_histories=False,
    catalogs=(),
    policy="rlccfr.policies.network_policy:NetworkPolicy",
    run_tables="rlccfr.engine.walked.tables:WalkedTables",
    steppers="rlccfr.engine.walked.state_components:STEPPERS",
    check_components="rlccfr.engine.walked.state_components:check_generated",
    table="rlccfr.play.state_table:StateTable",
    played_pairs="rlccfr.policies.network_matches:played_pairs",
    best_run_function="rlccfr.engine.walked.state_components:best_run_of",
    chosen_by=(
        "the sampler depends on how many histories a walk meets (`rlccfr reproduce deep-states`): external sampling if "
        "its walks meet few histories, or else robust sampling of two actions if its walks do, or else ESCHER"
    ),
    instead={
        "catalogs": "deep_lcfr(preset='states') + external",
        "states": "ask a policy at a state, as in policy.action_probabilities(state)",
        "gains": _MATCHES,
        "page": "play against a policy by `rlccfr play`",
        "merge": "leave out the abstraction: networks generalise by themselves",
        "lock": "load the game without form='generated', if it is small enough",
        "features": "choose the rule and the sampler yourself, as in `rlccfr solve GAME --update-rule deep_lcfr`",
    },
)
"""The form of games represented by OpenSpiel's states."""


def is_generated(name: Any) -> bool:
    """Return whether a name is of the form ``generated(...)``."""
    return isinstance(name, str) and name.startswith(PREFIX) and name.endswith(")")
