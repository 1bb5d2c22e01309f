"""The deep update rules of the paper's catalog: each is a tabular rule whose regrets and average are learned.

In the mass form, the value network V fits mean advantages, weighted by the reach of chance and the opponent (the
mass). N V then takes the place of the regret, where N is the mass of all data. So a deep rule equals its tabular rule
under two conditions: the networks fit exactly after every iteration, and both rules play the same policy where no
regret is positive. The settings ``sweep`` and ``fast`` fit only every few iterations. Where no regret is positive, deep
rules play the action with the largest regret, as Brown et al. do, unless the option ``fallback`` is "uniform".

The published bootstrapped form fits a sum of advantages that have been divided by the mass. Rules with such a form
offer it as mode="bootstrapped".

In the docstrings below, "relabelled with V" means that data older than the last fit take that fit's V as their targets,
and "with an exact fit" means: under the two conditions.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import wraps
from typing import Any, get_type_hints

import numpy as np

from rlccfr.catalog import update_rules as tabular
from rlccfr.catalog.network_settings import NetworkOptions, NetworkSettings, network_settings
from rlccfr.catalog.sources import BROWN_ICML_2019, STEINBERGER_2019, XU_2026
from rlccfr.components import Guarantee, UpdateRule
from rlccfr.components.hyperparameters import Bounds
from rlccfr.errors import ComponentError
from rlccfr.networks.settings import Networks
from rlccfr.registry import update_rule, update_rules

Factory = Callable[..., UpdateRule]


# The types of the hyperparameters that every deep rule has, by name.
_SIZES = get_type_hints(NetworkSettings)
_OPTIONS = get_type_hints(NetworkOptions)

_AT_LEAST_ONE = (
    "hidden", "traversals", "train_steps", "policy_steps", "batch_size", "memory", "train_every", "retrain_horizon",
)  # fmt: skip
_BOUNDS = {**dict.fromkeys(_AT_LEAST_ONE, (1.0, 1e9)), "learning_rate": (1e-9, 1e300), "final_rate": (0.0, 1.0)}
_LATER = ("fallback", "full_memory", "kept_networks", "retrain", "retrain_horizon", "skipped_steps", "final_rate")


def _common_hyperparameters() -> dict[str, inspect.Parameter]:
    """Return the hyperparameters that every deep rule has, by name; a size of None means the size in ``preset``."""
    options = {name: (kind, getattr(NetworkOptions(), name)) for name, kind in _OPTIONS.items()}
    sizes = {name: (kind | None, None) for name, kind in _SIZES.items()}
    # In the order in which users see them: those changed most often come first.
    types_and_defaults: dict[str, tuple[Any, Any]] = {
        "preset": (str, "fast"),
        "model": options.pop("model"),
        "average": options.pop("average"),
        **sizes,
        **options,
    }
    return {
        name: inspect.Parameter(name, inspect.Parameter.POSITIONAL_OR_KEYWORD, default=default, annotation=kind)
        for name, (kind, default) in types_and_defaults.items()
    }


def _networks(values: Mapping[str, Any]) -> Networks:
    """Return the networks for given values of the common hyperparameters."""
    sizes = {name: values[name] for name in _SIZES if values[name] is not None}
    options = NetworkOptions(**{name: values[name] for name in _OPTIONS})
    return replace(network_settings(values["preset"]), **sizes).networks(options)


def deep_rule(
    id: str,
    *,
    source: str,
    bounds: Mapping[str, Bounds] | None = None,
    guarantee: Guarantee | None = None,
    aliases: Sequence[str] = (),
) -> Callable[[Factory], Factory]:
    """Return a decorator that registers a deep rule, given as a function of networks and the rule's hyperparameters.

    The function's first parameter is ``networks``, and it returns :func:`learned` of a rule and the networks. The
    registered rule's hyperparameters are the function's other parameters, followed by ``preset`` and the fields of
    :class:`NetworkSettings` and :class:`NetworkOptions`.

    Args:
        id, source, aliases: as for :func:`rlccfr.registry.update_rule`.
        bounds: bounds of the function's hyperparameters, as for ``update_rule``; those of network settings are added.
        guarantee: ``Guarantee(exact_fit=id)`` for a rule that, with an exact fit, is the tabular rule ``id``.

    Raises:
        ComponentError: the function takes no ``networks``, or one of its hyperparameters has the name of a network
            setting.
    """
    common = _common_hyperparameters()

    def decorate(function: Factory) -> Factory:
        parameters = dict(inspect.signature(function, eval_str=True).parameters)
        if parameters.pop("networks", None) is None:
            raise ComponentError(f"{id!r} must take networks as its first argument, and use them in its rule")
        if clash := parameters.keys() & common.keys():
            raise ComponentError(f"{id!r}: {min(clash)!r} is a setting of the networks; choose another name")

        @wraps(function)  # so that its module and source still show who defined the rule, and whether it has changed
        def factory(**values: Any) -> UpdateRule:
            networks = _networks({name: values.get(name, parameter.default) for name, parameter in common.items()})
            rule = function(networks, **{name: value for name, value in values.items() if name in parameters})
            if not (isinstance(rule, UpdateRule) and rule.learns):
                raise ComponentError("a deep rule needs networks: return learned(rule, networks)")
            # learned() has set the fallback of Brown et al., the best action; the option replaces it.
            return replace(rule, fallback="uniform") if values.get("fallback") == "uniform" else rule

        # The registry reads the hyperparameters from the signature.
        signature = inspect.Signature([*parameters.values(), *common.values()])
        factory.__signature__ = signature  # type: ignore[attr-defined]
        limits = {**_BOUNDS, **(bounds or {})}
        register = update_rule(id, source=source, bounds=limits, guarantee=guarantee, later=_LATER, aliases=aliases)
        return register(factory)

    return decorate


def learned(rule: UpdateRule, networks: Networks, *, relabel: bool = False, mode: str = "mass") -> UpdateRule:
    """Return a tabular rule with networks in place of its tables, as this module's docstring describes.

    Where no advantage is positive, the rule plays the action with the largest advantage (Brown et al.).

    Args:
        rule: the tabular rule.
        networks: settings of the networks.
        relabel: whether older data take the last fit's values as targets; see :class:`Networks`.
        mode: ``"mass"``, or ``"bootstrapped"`` for the published form.

    Raises:
        ComponentError: an unknown mode.
    """
    if mode not in ("mass", "bootstrapped"):
        raise ComponentError(f"mode must be 'mass' or 'bootstrapped', not {mode!r}")
    networks = replace(networks, relabel=relabel, bootstrapped=mode == "bootstrapped")
    return replace(rule, networks=networks, fallback="argmax")


@deep_rule(
    "deep_cfr",
    source=f"{BROWN_ICML_2019}, section 4; kept value networks: {STEINBERGER_2019}",
    guarantee=Guarantee(exact_fit="cfr", fitted={"external": "Brown et al. 2019 (Deep CFR), theorem 1"}),
    aliases=("Deep CFR",),
)
def deep_cfr(networks: Networks) -> UpdateRule:
    """Deep CFR: V fits all advantages so far, each weighted by its mass; uniform average.

    V is the value network; the mass of an advantage is the reach of chance and the opponent. With an exact fit, the
    rule equals cfr. It differs from the source in four points. (1) The networks are plain layers over the information
    state tensor; model='cards' has the networks of the source's appendix C, but embeds each card as a whole, without
    parts for rank and suit. (2) All data that an infoset gets between two fits are summed into one row, which changes
    the loss by a constant. (3) A fit continues from the last fit's weights, unless retrain_from_scratch is set. (4) The
    policy network is trained during the run, not at its end. On hold'em's public tree, embeddings of cards do have
    parts for rank and suit. There, and on games represented by OpenSpiel's states, each visit of an infoset is a row,
    as in the source.
    """
    return learned(tabular.cfr(), networks)


# Steinberger 2019: Deep CFR whose average policy is played by its value networks.
for _name in ("SD-CFR", "single deep CFR"):
    update_rules.family(_name, "deep_cfr(average='value_networks')")


@deep_rule(
    "deep_cfr_plus",
    source=f"{XU_2026}; the mass form is derived here from cfr_plus",
    guarantee=Guarantee(exact_fit="cfr_plus"),
    aliases=("Deep CFR+",),
)
def deep_cfr_plus(networks: Networks, gamma: float = 1.0, mode: str = "mass") -> UpdateRule:
    """Deep CFR+: older data are relabelled with max(V, 0), where V is the last fit; average weights t^gamma.

    With an exact fit, it equals cfr_plus. mode="bootstrapped": V fits max(last V, 0) + the newest advantages, on only
    the newest data, as in the source.
    """
    return learned(tabular.cfr_plus(gamma), networks, relabel=True, mode=mode)


@deep_rule(
    "deep_lcfr",
    source=f"{BROWN_ICML_2019}, section 5 (linear weights)",
    guarantee=Guarantee(exact_fit="lcfr"),
    aliases=("Deep LCFR", "deep linear CFR"),
)
def deep_lcfr(networks: Networks) -> UpdateRule:
    """Deep linear CFR: deep_cfr, but data of iteration t have weight t in all networks.

    With an exact fit, it equals lcfr.
    """
    return learned(tabular.lcfr(), networks)


@deep_rule(
    "deep_lcfr_plus",
    source=f"{XU_2026}; the mass form is derived here from lcfr_plus",
    guarantee=Guarantee(exact_fit="lcfr_plus"),
    aliases=("Deep LCFR+", "deep linear CFR+"),
)
def deep_lcfr_plus(networks: Networks, gamma: float = 1.0, mode: str = "mass") -> UpdateRule:
    """Deep linear CFR+: older data have weight (t-1)/t and are relabelled with max(V, 0), where V is the last fit.

    With an exact fit, it equals lcfr_plus. mode="bootstrapped": V fits (t-1)/t max(last V, 0) + the newest advantages,
    on only the newest data.
    """
    return learned(tabular.lcfr_plus(gamma), networks, relabel=True, mode=mode)


@deep_rule(
    "deep_dcfr",
    source="derived here from dcfr (Brown and Sandholm, AAAI 2019)",
    bounds={"beta": (-5.0, 5.0)},
    guarantee=Guarantee(exact_fit="dcfr"),
    aliases=("Deep DCFR", "deep discounted CFR"),
)
def deep_dcfr(networks: Networks, alpha: float = 1.5, beta: float = 0.0, gamma: float = 2.0) -> UpdateRule:
    """Deep DCFR: older data have weight d(t-1, alpha) and are relabelled with V, the last fitted advantages.

    With an exact fit, it equals dcfr, which also defines d. Where V is negative, the label is
    V d(t-1, beta) / d(t-1, alpha). So V times the mass of all data, which stands for the regret, is multiplied by
    d(t-1, beta), as a negative regret is. Average weights t^gamma.
    """
    return learned(tabular.dcfr(alpha, beta, gamma), networks, relabel=True)


@deep_rule(
    "deep_dcfr_plus",
    source=f"{XU_2026}; the mass form is derived here from dcfr_plus",
    guarantee=Guarantee(exact_fit="dcfr_plus"),
    aliases=("Deep DCFR+", "deep discounted CFR+"),
)
def deep_dcfr_plus(
    networks: Networks, alpha: float = 2.0, c: float = 1.0, gamma: float = 2.0, mode: str = "mass"
) -> UpdateRule:
    """Deep DCFR+: older data have weight k^alpha / (k^alpha + c) and are relabelled with max(V, 0).

    k = t - 1; V is the last fit; average weights t^gamma. With an exact fit, it equals dcfr_plus. mode="bootstrapped":
    V fits k^alpha / (k^alpha + c) max(last V, 0) + the newest advantages, on only the newest data.
    """
    return learned(tabular.dcfr_plus(alpha, c, gamma), networks, relabel=True, mode=mode)


def _exponential(rule: UpdateRule, networks: Networks, kappa: float, *, relabel: bool) -> UpdateRule:
    """Return ECFR with networks: its weights W come from a second network, fitted to the mean advantages without W."""

    def weights(mean_advantage: np.ndarray) -> np.ndarray:
        factors: np.ndarray = np.exp(kappa * np.clip(mean_advantage, -1.0, 1.0))
        return factors

    networks = replace(networks, action_weight=weights, mean_arrays=rule.arrays[:2])
    return learned(replace(rule, policy_map=None), networks, relabel=relabel)


@deep_rule(
    "deep_ecfr",
    source="derived here from ecfr",
    bounds={"kappa": (0.0, 20.0)},
    guarantee=Guarantee(exact_fit="ecfr"),
    aliases=("Deep ECFR", "deep exponential CFR"),
)
def deep_ecfr(networks: Networks, kappa: float = 5.0) -> UpdateRule:
    """Deep exponential CFR: V fits W r, with r the advantages; policy in proportion to W max(V, 0); uniform average.

    W = exp(kappa m / payoff range), where m is a second network, which is fitted to r without W, as V is in deep_cfr.
    With an exact fit, it equals ecfr.
    """
    return _exponential(tabular.ecfr(kappa=kappa), networks, kappa, relabel=False)


@deep_rule(
    "deep_ecfr_plus",
    source="derived here from ecfr_plus",
    bounds={"kappa": (0.0, 20.0)},
    guarantee=Guarantee(exact_fit="ecfr_plus"),
    aliases=("Deep ECFR+", "deep exponential CFR+"),
)
def deep_ecfr_plus(networks: Networks, kappa: float = 5.0) -> UpdateRule:
    """Deep exponential CFR+: deep_ecfr, but older data are relabelled with max(V, 0), where V is the last fit.

    Average weights t. With an exact fit, it equals ecfr_plus.
    """
    return _exponential(tabular.ecfr_plus(kappa=kappa), networks, kappa, relabel=True)
