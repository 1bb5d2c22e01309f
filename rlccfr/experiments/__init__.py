"""Published experiments of the field, run again: ``rlccfr reproduce``.

An experiment is a list of cases, and a page. The cases are measured one after another, their rows are stored, and the
page is written from the rows. To add an experiment, write a module with an
:class:`~rlccfr.experiments.experiment.Experiment`, and add a line to :data:`EXPERIMENTS`.
"""

from __future__ import annotations

from pkgutil import resolve_name
from typing import TYPE_CHECKING

from rlccfr.errors import RLCCFRError

if TYPE_CHECKING:
    from rlccfr.experiments.experiment import Experiment

EXPERIMENTS = {
    "ddcfr": "rlccfr.experiments.ddcfr:EXPERIMENT",
    "deep-cfr": "rlccfr.experiments.deep_cfr:EXPERIMENT",
    "deep-holdem": "rlccfr.experiments.deep_holdem:EXPERIMENT",
    "deep-states": "rlccfr.experiments.deep_states:EXPERIMENT",
    "discovered": "rlccfr.experiments.discovered:EXPERIMENT",
    "escher": "rlccfr.experiments.escher:EXPERIMENT",
    "first-iteration": "rlccfr.experiments.first_iteration:EXPERIMENT",
    "meyer": "rlccfr.experiments.meyer:EXPERIMENT",
    "pcs": "rlccfr.experiments.pcs:EXPERIMENT",
    "policy-gradients": "rlccfr.experiments.policy_gradients:EXPERIMENT",
    "rlccfr": "rlccfr.experiments.rlccfr_paper:EXPERIMENT",
    "sd-cfr": "rlccfr.experiments.sd_cfr:EXPERIMENT",
    "texas": "rlccfr.experiments.texas:EXPERIMENT",
}
"""Import paths of all experiments, keyed by the ids that ``rlccfr reproduce`` accepts."""


def load_experiment(id: str) -> Experiment:
    """Return an experiment by its id.

    Raises:
        RLCCFRError: there is no experiment with the id.
    """
    if id not in EXPERIMENTS:
        raise RLCCFRError(f"{id!r} is not an experiment; choose one of {', '.join(EXPERIMENTS)}, or claims")
    experiment: Experiment = resolve_name(EXPERIMENTS[id])
    return experiment
