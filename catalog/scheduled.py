"""Update rules whose exponents are free, or change during the run by a schedule or a controller."""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path

import numpy as np

from rlccfr.catalog.extended import scheduled_decay, scheduled_discount
from rlccfr.catalog.sources import LI_2026, MENG_AAAI_2026, XU_ICLR_2024
from rlccfr.catalog.update_rules import UNDER_SAMPLING, decay, discount, proved
from rlccfr.components import UNIT, ZERO, Controller, Guarantee, Momentum, Schedule, UpdateRule, always
from rlccfr.components.controller import SCHEDULE, SHIPPED
from rlccfr.controller_file import FILE_NAME, file_of, load_controller
from rlccfr.errors import ComponentError, RLCCFRError
from rlccfr.registry import update_rule, update_rules

DATA = Path(__file__).parent / "data"
"""Directory of the files that come with the package."""

NAMED_CONTROLLERS = {SHIPPED: DATA / FILE_NAME, SCHEDULE: DATA / "schedule.npz"}
"""The controllers that come with the package, by name."""

_EXPONENTS = {"alpha": (0.0, 1e3), "beta": (-1e3, 1e3), "gamma": (0.0, 1e3), "optimism": (0.0, 10.0)}
_MOMENTUM = {"momentum": (0.0, 10.0), "memory": (0.0, 1.0), "power": (1.0, 10.0)}
_IN_TIME = {"decay": (1e-6, 1e6), "start": (0.0, 1.0), "horizon": (1, 10**12)}


@update_rule(
    "scheduled",
    source="this library: CFR, CFR+, linear, discounted and predictive CFR as points of one family",
    bounds={**_EXPONENTS, **_MOMENTUM, **_IN_TIME},
)
def scheduled(
    alpha: float | None = None,
    beta: float | None = None,
    gamma: float = 2.0,
    optimism: float = 0.0,
    floor: bool = True,
    decay: float | None = None,
    momentum: float = 0.0,
    memory: float = 0.9,
    power: float = 1.0,
    start: float = 0.0,
    horizon: int = 1000,
) -> UpdateRule:
    """R <- D R + r, at least 0 if ``floor``; policy in proportion to (D' R + o r + momentum M)^power.

    D = d(t-1, alpha) where R > 0, else d(t-1, beta), with d(k, e) = k^e / (k^e + 1), and 1 where the exponent is
    None. D' and o belong to iteration t + 1, which plays the policy: D' is the D of that iteration if o is not 0, else
    1; o is ``optimism``, divided by 1 + t / (decay horizon) if there is a ``decay``. M is a running sum of the changes
    of R: M <- memory M + (R after - R before). The average has the weights t^gamma, and begins after a share ``start``
    of the horizon; until then, it is the newest policy. The defaults are CFR+ with quadratic weights.
    """
    if floor and beta is not None:
        raise ComponentError("with floor=True no regret is negative, so leave out beta, or set floor=False")
    has_momentum = momentum != 0.0 or power != 1.0
    return UpdateRule(
        positive_discount=UNIT if alpha is None else discount(alpha),
        negative_discount=UNIT if beta is None else discount(beta),
        floor=0.0 if floor else -np.inf,
        average_decay=late_decay(gamma, start * horizon),
        prediction=fading(optimism, decay, horizon),
        momentum=Momentum(weight=momentum, memory=memory, power=power) if has_momentum else None,
        exact_only=has_momentum,
    )


@update_rule(
    "momentum_dcfr",
    source="this library: a point of scheduled, found by search on training games; its momentum generalises that of "
    f"AOD-CFR ({LI_2026})",
    bounds={"alpha": (0.0, 1e3), "beta": (-1e3, 1e3), "gamma": (0.0, 1e3), **_MOMENTUM},
    guarantee=Guarantee(exact_open="found by search; no theorem for momentum"),
    aliases=("momentum DCFR", "DCFR with momentum"),
)
def momentum_dcfr(
    alpha: float = 1.75,
    beta: float = -0.75,
    gamma: float = 6.0,
    momentum: float = 0.5,
    memory: float = 0.85,
    power: float = 1.5,
) -> UpdateRule:
    """DCFR with momentum: R <- D R + r; policy in proportion to max(R + momentum M, 0)^power.

    M is a running sum of the changes of R: M <- memory M + (R after - R before). M tells how far R is ahead of its
    running mean, so the policy anticipates R. D = d(t-1, alpha) where R > 0, else d(t-1, beta), as in dcfr; average
    weights t^gamma. The rule needs no horizon. It converges fastest with updates in alternation, which are the default.
    """
    return scheduled(alpha=alpha, beta=beta, gamma=gamma, floor=False, momentum=momentum, memory=memory, power=power)


def fading(optimism: float, decay: float | None, horizon: int) -> Schedule:
    """Return the schedule of an optimism that is halved after ``decay * horizon`` iterations, or constant for None."""
    if not optimism:
        return ZERO
    if decay is None:
        return always(optimism)
    return lambda t: optimism / (1.0 + (t - 1.0) / (decay * horizon))


def late_decay(gamma: float, start: float) -> Schedule:
    """Return the ``average_decay`` of an average of the policies after iteration ``start``, with weights t^gamma.

    Until then, the average is the newest policy.
    """
    weights_decay = decay(gamma)
    return lambda t: np.where(t > start + 1.0, weights_decay(t), 0.0)


@update_rule(
    "sapcfr_plus",
    source=f"{MENG_AAAI_2026} (simple APCFR+)",
    guarantee=proved("Meng et al., AAAI 2026"),
    aliases=("SAPCFR+", "simple APCFR+"),
)
def sapcfr_plus(asymmetry: float = 2.0, gamma: float = 2.0) -> UpdateRule:
    """Simple asymmetric PCFR+: R <- max(R + r, 0); policy in proportion to max(R + r / (1 + asymmetry), 0).

    Average weights t^gamma.
    """
    return UpdateRule(floor=0.0, average_decay=decay(gamma), prediction=always(1.0 / (1.0 + asymmetry)))


def through(*knots: tuple[float, float], horizon: float) -> Schedule:
    """Return the schedule that joins knots by straight lines, and is constant before the first and after the last knot.

    Args:
        knots: pairs (share of the horizon, value), with ascending shares.
        horizon: number of iterations.
    """
    shares, values = zip(*knots, strict=True)
    return lambda t: np.interp(t / horizon, shares, values)


@update_rule(
    "ddcfr_schedule",
    source=f"{XU_ICLR_2024}: means over the games of its published runs, at a tenth, half and all of 1,000 iterations",
    guarantee=Guarantee(exact_open="learned schedules; no theorem for these", sampled_open=UNDER_SAMPLING),
)
def ddcfr_schedule(horizon: int = 1000) -> UpdateRule:
    """DCFR with the mean exponents that the network of dynamic DCFR chose.

    At a tenth, half and all of the horizon, alpha is 1.1, 2.4 and 4.2, beta is -1.1, -2.1 and -2, and gamma is 5, 3.7
    and 0.006; in between, the exponents are linear. The source's network also sees exploitability, but its choices
    hardly depend on it.
    """
    return UpdateRule(
        positive_discount=scheduled_discount(through((0.1, 1.1), (0.5, 2.4), (1.0, 4.2), horizon=horizon)),
        negative_discount=scheduled_discount(through((0.1, -1.1), (0.5, -2.1), (1.0, -2.0), horizon=horizon)),
        average_decay=scheduled_decay(through((0.1, 5.0), (0.5, 3.7), (1.0, 0.006), horizon=horizon)),
    )


def restarting_decay(gamma: float, base: int) -> Schedule:
    """Return the ``average_decay`` of an average that restarts at iteration t whenever t - 1 is a power of ``base``.

    The k-th policy since the last start has the weight k^gamma; all earlier policies have the weight 0.
    """

    def schedule(t: np.ndarray) -> np.ndarray:
        iterations_done = t - 1.0
        # The exponent of the last power of the base; 1e-12 compensates for rounding at the power itself.
        exponent = np.floor(np.log(np.maximum(iterations_done, 1.0)) / np.log(base) + 1e-12)
        since_power = np.where(iterations_done > 0, iterations_done - float(base) ** exponent, 0.0)
        return np.where(since_power > 0, (since_power / (since_power + 1.0)) ** gamma, 0.0)

    return schedule


@update_rule(
    "cfr_reset",
    source="Zinkevich et al. 2007 for the regrets; the average as in the open-source program postflop-solver",
    bounds={"base": (2, 1_000_000)},
    guarantee=Guarantee(
        exact_open="no theorem for an average that restarts while regrets do not", sampled_open=UNDER_SAMPLING
    ),
)
def cfr_reset(gamma: float = 3.0, base: int = 4) -> UpdateRule:
    """CFR whose average restarts after each power of ``base``; the k-th policy since then has the weight k^gamma."""
    return UpdateRule(average_decay=restarting_decay(gamma, base))


def controller_named(name: str) -> Controller:
    """Return a controller of the package, or the controller in a file or in the directory of a training run.

    Raises:
        ComponentError: there is no such file, or it is not a controller file.
    """
    try:
        path = NAMED_CONTROLLERS.get(name) or file_of(Path(name))
        return _controller(path, path.stat().st_mtime_ns if path.exists() else 0)
    except RLCCFRError as error:
        raise ComponentError(str(error)) from None
    except OSError as error:  # such as a name that is too long
        raise ComponentError(f"can't read {name!r}: {error.strerror}") from None


# Xu et al. 2024: a network chooses the exponents during the run. ddcfr_schedule has the means of its choices, and in
# controlled, this library's own agents choose.
for _name in ("DDCFR", "dynamic DCFR"):
    update_rules.family(_name, "ddcfr_schedule", "controlled")


@lru_cache(maxsize=16)
def _controller(path: Path, modified: int) -> Controller:
    """Return the controller in a file, which is read again only if it has been modified.

    Args:
        path: the file.
        modified: the file's modification time in ns, as a part of the cache's key.
    """
    return load_controller(path)


@update_rule(
    "controlled",
    source="this library: three DQN agents, or a schedule by CMA-ES, that choose settings of the rule scheduled",
    guarantee=Guarantee(exact_open="settings chosen by networks; no theorem"),
    version=4,
)
def controlled(controller: str = SHIPPED) -> UpdateRule:
    """Discounts, floor, prediction, momentum and average weights as in scheduled, chosen in the run by a controller.

    controller is "shipped", for trained networks; "schedule", for settings that depend only on the run's length and
    progress; or the path of a file or directory that `rlccfr train --control` wrote. The controller chooses before the
    first iteration, at horizon / 2^k iterations, and at three quarters and seven eighths of the horizon; if the run's
    length is not fixed, at each doubling of the iterations. The rule needs exact passes. Without blends, its result is
    each player's best of up to four average policies from the last eighth of the run.
    """
    return UpdateRule.controlled_by(controller_named(controller))
