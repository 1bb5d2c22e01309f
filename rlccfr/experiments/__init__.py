"""The field's published experiments, run again: ``rlccfr reproduce``.

An experiment is a list of cases, which are measured one after another and kept, and a page that is written from their
rows. To add one, write a module with an :class:`~rlccfr.experiments.experiment.Experiment` and add a line to
:data:`EXPERIMENTS`.
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
    "discovered": "rlccfr.experiments.discovered:EXPERIMENT",
    "escher": "rlccfr.experiments.escher:EXPERIMENT",
    "meyer": "rlccfr.experiments.meyer:EXPERIMENT",
    "pcs": "rlccfr.experiments.pcs:EXPERIMENT",
    "policy-gradients": "rlccfr.experiments.policy_gradients:EXPERIMENT",
    "rlccfr": "rlccfr.experiments.rlccfr_paper:EXPERIMENT",
    "sd-cfr": "rlccfr.experiments.sd_cfr:EXPERIMENT",
}
"""Import paths of all experiments, by the ids that ``rlccfr reproduce`` takes."""


def load_experiment(id: str) -> Experiment:
    """Return an experiment by its id.

    Raises:
        RLCCFRError: an unknown id.
    """
    if id not in EXPERIMENTS:
        raise RLCCFRError(f"{id!r} can't be reproduced; take one of {', '.join(EXPERIMENTS)}, or claims")
    experiment: Experiment = resolve_name(EXPERIMENTS[id])
    return experiment
