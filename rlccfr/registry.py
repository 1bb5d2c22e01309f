"""Registries of components: they make a component from its id and hyperparameters.

A component also has aliases, the names that the literature gives it: ``CFR+`` for ``cfr_plus``. In ids and aliases,
case, spaces, hyphens and underscores do not count, and a plus sign may be spelt out. Tables and stores use only ids.

    >>> from rlccfr.registry import samplers, update_rules
    >>> update_rules["CFR+"].id, samplers["ES"].id
    ('cfr_plus', 'external')
"""

from __future__ import annotations

import importlib
import inspect
import math
import re
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from types import MappingProxyType
from typing import Any, Generic, Literal, TypeVar, get_args, get_origin

import numpy as np

from rlccfr.components import Abstraction, Component, Controller, Guarantee, Sampler, UpdateRule
from rlccfr.components.controller import CONTROLLER_NAMES
from rlccfr.components.hyperparameters import NON_NEGATIVE, Bounds, check_hyperparameters
from rlccfr.components.text import parse
from rlccfr.controller_file import load_controller, not_a_controller
from rlccfr.errors import (
    BrokenComponentError,
    ComponentError,
    RLCCFRError,
    brief,
    choices,
    first_line,
    listed_ids,
    nearest,
    what_failed_in,
)
from rlccfr.errors import with_article as _a
from rlccfr.interrupts import raise_if_interrupt
from rlccfr.plugins import is_registered_again, is_the_librarys, source_digest

C = TypeVar("C", bound=Component)

VARIANT = re.compile(r"\w*cfr(plus)?")
"""Pattern of the plain names of CFR's variants. They differ by a letter, so no similar name is suggested for one."""


@dataclass(frozen=True)
class Entry(Generic[C]):
    """One registered component: its factory, its source and its guarantee.

    Attributes:
        id, kind: name in the registry, and class of the component.
        factory: function that makes the component; its keyword arguments are the hyperparameters.
        source: where the definition comes from, with equation or section.
        bounds: closed intervals of numerical hyperparameters, by name.
        version: version of the definition. Once it is raised, recorded measurements no longer match.
        overrides: values of hyperparameters that replace the factory's defaults.
        guarantee: theorems about the default hyperparameters; None if none is on record.
        later: hyperparameters that were added without raising ``version``.
        aliases: names that the literature uses, in its spelling.
        registration: number of the registration among those of its kind.
    """

    id: str
    factory: Callable[..., C]
    kind: type[C]
    source: str
    bounds: Mapping[str, Bounds] = field(default_factory=dict)
    version: int = 1
    overrides: Mapping[str, Any] = field(default_factory=dict)
    guarantee: Guarantee | None = None
    later: tuple[str, ...] = ()
    aliases: tuple[str, ...] = ()
    registration: int = 0

    @property
    def hyperparameters(self) -> dict[str, Any]:
        """Values of the hyperparameters by name; None where another hyperparameter determines the value."""
        return {**self._defaults, **self.overrides}

    @property
    def defining(self) -> dict[str, Any]:
        """The hyperparameters that identify measurements: all except those in ``later`` that have their defaults."""
        defaults = self._defaults
        values = self.hyperparameters.items()
        return {name: value for name, value in values if name not in self.later or value != defaults[name]}

    @cached_property
    def _defaults(self) -> dict[str, Any]:
        return {name: parameter.default for name, parameter in inspect.signature(self.factory).parameters.items()}

    def with_overrides(self, hyperparameters: Mapping[str, Any]) -> Entry[C]:
        """Return this entry with hyperparameters that replace the factory's defaults and all earlier overrides.

        Raises:
            ComponentError: as in :meth:`make`.
        """
        component = self.make(**hyperparameters)
        return replace(self, overrides={name: component.hyperparameters[name] for name in hyperparameters})

    @property
    def code(self) -> str:
        """Digest of the code of the factory and of its component's functions; ``""`` for a factory of this library.

        Comments, docstrings, formatting and the registration's arguments, except for the id, do not count. The digest
        is for authors of third-party components, who may forget to raise the version when they change a definition.
        """
        return "" if is_the_librarys(self.factory) else source_digest(self.factory)

    @property
    def description(self) -> str:
        return inspect.getdoc(self.factory) or ""

    @property
    def summary(self) -> str:
        return self.description.split("\n")[0]

    def make(self, **hyperparameters: Any) -> C:
        """Return the component with these hyperparameters; those not given have the values in ``self.hyperparameters``.

        Raises:
            ComponentError: a name is unknown; a value has the wrong type, is not finite or is out of bounds; or the
                factory fails or does not return a component of its kind.
        """
        defaults = self._defaults
        for name in hyperparameters:
            if name not in defaults:
                raise ComponentError(f"{self.id!r} has no hyperparameter {name!r}; {choices(name, defaults)}")
        values = {**self.hyperparameters, **hyperparameters}
        values = {name: self._checked(name, values[name], default) for name, default in defaults.items()}
        try:
            component = self.factory(**values)
        except ComponentError as error:
            raise type(error)(f"{self.id!r}: {first_line(error)}") from error
        except (ImportError, MemoryError):  # such as a missing extra
            raise
        except Exception as error:  # for example a field that a component does not have
            raise_if_interrupt(error)
            failure = what_failed_in(self.factory, error)
            raise BrokenComponentError(f"the factory of {self.id!r} fails: {failure}") from error
        if not isinstance(component, self.kind):
            raise BrokenComponentError(
                f"the factory of {self.id!r} must return {_a(self.kind.__name__)}, not {_a(type(component).__name__)}"
            )
        settings = MappingProxyType(values)
        return replace(component, id=self.id, hyperparameters=settings, registration=self.registration)

    def _checked(self, name: str, value: Any, default: Any) -> Any:
        """Return a hyperparameter's value in the type of its default: an integer may become a float.

        Raises:
            ComponentError: the value has another type, is not finite or is out of bounds.
        """
        if default is None:
            if value is None:
                return None
            default = self._type_of_optional(name)()  # 0 for an optional integer, for example
        type_in_words = "a number" if isinstance(default, float) else f"of type {type(default).__name__}"
        if isinstance(value, np.generic):
            value = value.item()
        if isinstance(default, float) and isinstance(value, int) and not isinstance(value, bool):
            value = float(value) if abs(value) <= sys.float_info.max else math.inf
        if type(value) is not type(default):
            raise ComponentError(f"{self.id!r}: {name} must be {type_in_words}, not {value!r}")
        if isinstance(value, str):
            hint = self._hint(name)
            if get_origin(hint) is Literal and value not in get_args(hint):
                allowed = " or ".join(map(repr, get_args(hint)))
                raise ComponentError(f"{self.id!r}: {name} must be {allowed}, not {brief(value)}")
        if isinstance(value, (int, float)) and not isinstance(value, bool):
            low, high = self.bounds.get(name, NON_NEGATIVE)
            if not (math.isfinite(value) and low <= value <= high):
                end = ")" if math.isinf(high) else "]"
                raise ComponentError(f"{self.id!r}: {name} must lie in [{low:g}, {high:g}{end}, not {value!r}")
        return value

    def _type_of_optional(self, name: str) -> Any:
        """Return the type of an optional hyperparameter: ``int`` for ``int | None``."""
        return next(kind for kind in get_args(self._hint(name)) if kind is not type(None))

    def _hint(self, name: str) -> Any:
        """Return the annotation of a hyperparameter."""
        return inspect.signature(self.factory, eval_str=True).parameters[name].annotation


def plain_name(name: str) -> str:
    """Return a name in lower case, without spaces, hyphens and underscores: ``"cfrplus"`` for ``"CFR+"``."""
    return re.sub(r"[\s_-]+", "", name.casefold().replace("+", "plus"))


class Registry(Generic[C]):
    """All components of one kind, by id, in order of registration.

    Attributes:
        kind: the kind's name.
        revision: number of registrations so far; caches by id have it in their keys, so that a component that has been
            replaced is read anew.
    """

    def __init__(self, kind: str, component_type: type[C]):
        self.kind = kind
        self.revision = 0
        self._type = component_type
        self._entries: dict[str, Entry[C]] = {}
        self._families: dict[str, tuple[str, ...]] = {}  # by plain name: the components that it may stand for

    def register(
        self,
        id: str,
        *,
        source: str = "",
        bounds: Mapping[str, Bounds] | None = None,
        version: int = 1,
        guarantee: Guarantee | None = None,
        later: Sequence[str] = (),
        aliases: Sequence[str] = (),
    ) -> Callable[[Callable[..., C]], Callable[..., C]]:
        """Return a decorator that registers a factory under an id.

        The factory's keyword arguments, which all need defaults, are the component's hyperparameters. If a notebook's
        cell is run again, its factories replace the earlier ones. So do those of a module that is loaded again, if they
        are still on the same lines.

        Args:
            source: where the definition comes from, with equation or section.
            bounds: closed intervals of numerical hyperparameters, by name; without an interval, a number must not be
                negative.
            version: version of the definition; raise it when the definition changes.
            guarantee: published theorems; without them, the catalog says that no theorem is on record.
            later: hyperparameters that were added without raising ``version``. With their defaults, the component must
                be the same as before, so that recorded measurements still match.
            aliases: further names of the component, as the literature writes them: ``("CFR+",)``.

        Raises:
            ComponentError: the id or the source is missing, the id or an alias is taken, the id is not an identifier, a
                hyperparameter lacks a default, or has one of a wrong type or out of its bounds, or ``bounds`` or
                ``later`` has a name that is not a hyperparameter.
        """
        if not (isinstance(id, str) and isinstance(source, str) and source.strip()):  # @sampler alone has no id
            lack = f"{self.kind} {id!r} has no source" if isinstance(id, str) else f"{_a(self.kind)} has no id"
            usage = f'@{self.kind.replace(" ", "_")}("id", source="where its definition comes from")'
            raise ComponentError(f"{lack}; register it with {usage}")

        def decorate(factory: Callable[..., C]) -> Callable[..., C]:
            if not is_the_librarys(factory):
                _load_catalog()  # so that the library's names are taken
            self._require_free(id, aliases, factory)
            check_hyperparameters(f"{self.kind} {id!r}", factory, bounds or {}, later)
            self.revision += 1
            self._entries[id] = Entry(
                id,
                factory,
                self._type,
                source,
                dict(bounds or {}),
                version,
                guarantee=guarantee,
                later=tuple(later),
                aliases=tuple(aliases),
                registration=self.revision,
            )
            return factory

        return decorate

    def _require_free(self, id: str, aliases: Sequence[str], factory: Callable[..., C]) -> None:
        """Check that no component of this kind has the name ``id``, and no component of any kind one of the aliases.

        If ``factory`` is registered again, its earlier id and aliases count as free.

        Raises:
            ComponentError: the id or an alias is taken, the id is not an identifier, or an alias is not a name.
        """
        if id in self._entries and not is_registered_again(self._entries[id].factory, factory):
            raise ComponentError(
                f"{self.kind} {id!r} is registered already; choose another id, or restart Python if you have edited "
                "its file"
            )
        if not id.isidentifier():
            raise ComponentError(
                f"{self.kind} {id!r}: an id must be a Python identifier, such as my_rule: choose another id"
            )
        if isinstance(aliases, str) or not all(isinstance(name, str) and plain_name(name) for name in aliases):
            raise ComponentError(f"{self.kind} {id!r}: aliases must be a sequence of names, not {brief(aliases)}")
        for name in (id, *aliases):
            # Kinds may share an id, such as "none"; an alias must be unique among the components of all kinds.
            for registry in (self,) if name == id else REGISTRIES:
                holder = registry.names.get(plain_name(name))
                is_itself = registry is self and holder == id  # which is registered again
                if holder is not None and not is_itself:
                    taken = f"the name {name!r} is taken by the {registry.kind} {holder!r}; choose another one"
                    raise ComponentError(f"{self.kind} {id!r}: {taken}")

    @property
    def names(self) -> dict[str, str]:
        """The ids of components, keyed by the :func:`plain_name` of each id and of each alias."""
        return {plain_name(name): entry.id for entry in self._entries.values() for name in (entry.id, *entry.aliases)}

    def family(self, name: str, *specs: str) -> None:
        """Record a name that is neither an id nor an alias; the error for this name lists components to choose from.

        Args:
            specs: the components to list: ids, or ids with hyperparameters.
        """
        self._families[plain_name(name)] = specs

    @property
    def families(self) -> Mapping[str, tuple[str, ...]]:
        """The components to choose from, keyed by the plain form of each name that :meth:`family` recorded."""
        _load_catalog()
        return MappingProxyType(self._families)

    def canonical(self, text: str) -> str:
        """Return ``"cfr_plus(gamma=2)"`` for ``"CFR+(gamma=2)"``: the id in place of any other name.

        Raises:
            ComponentError: no component has the name.
        """
        _load_catalog()
        name, bracket, hyperparameters = text.partition("(")
        return text if name in self._entries else f"{self[name.strip()].id}{bracket}{hyperparameters}"

    def __getitem__(self, id: str) -> Entry[C]:
        """Return the entry of an id or alias; ``"dcfr(gamma=3)"`` also sets values of hyperparameters.

        Raises:
            ComponentError: the id is unknown or malformed, or a hyperparameter is unknown or has an invalid value.
        """
        _load_catalog()
        if "(" in id:
            spec = parse(id)
            return self[spec.pop("id")].with_overrides(spec)
        if id in self._entries:
            return self._entries[id]
        if aliased_id := self.names.get(plain_name(id)):
            return self._entries[aliased_id]
        raise unknown(id, [self])

    def __contains__(self, id: object) -> bool:
        """Return whether a component has this id or alias."""
        _load_catalog()
        return id in self._entries or (isinstance(id, str) and plain_name(id) in self.names)

    def __iter__(self) -> Iterator[Entry[C]]:
        _load_catalog()
        return iter(tuple(self._entries.values()))

    def resolve(self, spec: str | Mapping[str, Any] | C) -> C:
        """Return a component from ``"dcfr"``, ``"dcfr(gamma=3)"``, ``{"id": "dcfr", "gamma": 3}`` or a component.

        Raises:
            ComponentError: ``spec`` is none of these, or its id or a hyperparameter is unknown or invalid.
        """
        if isinstance(spec, self._type):
            return spec
        if isinstance(spec, str):
            spec = parse(spec)
        if isinstance(spec, Mapping) and isinstance(spec.get("id"), str):
            return self[spec["id"]].make(**{name: value for name, value in spec.items() if name != "id"})
        raise ComponentError(
            f"{_a(self.kind)} must be an id, a dict with an 'id', or an instance of {self._type.__name__}, not {spec!r}"
        )


update_rules = Registry("update rule", UpdateRule)
samplers = Registry("sampler", Sampler)
abstractions = Registry("abstraction", Abstraction)

REGISTRIES: tuple[Registry[Any], Registry[Any], Registry[Any]] = (update_rules, samplers, abstractions)
"""The registries of the three axes, in the order of an algorithm's ids."""

update_rule = update_rules.register
sampler = samplers.register
abstraction = abstractions.register


def make(id: str, **hyperparameters: Any) -> Component:
    """Make a component of any kind by its id, for example ``make("dcfr", gamma=3.0)`` or ``make("dcfr(gamma=3.0)")``.

    If components of several kinds share an id (``none``), use the registry of one kind instead.

    Raises:
        ComponentError: the id is unknown or ambiguous, or a hyperparameter is unknown or has an invalid value.

    Examples:
        >>> from rlccfr.catalog import make
        >>> make("dcfr", gamma=3).spec
        {'id': 'dcfr', 'alpha': 1.5, 'beta': 0.0, 'gamma': 3.0}
    """
    if "(" in id:
        spec = parse(id)
        return make(spec.pop("id"), **spec | hyperparameters)
    registries = registries_with(id)
    if len(registries) > 1:
        kinds = " and ".join(_a(registry.kind) for registry in registries)
        raise ComponentError(f"{id!r} is both {kinds}: say which, as in rlccfr.registry.samplers[{id!r}].make()")
    if not registries:
        raise unknown(id)
    component: Component = registries[0][id].make(**hyperparameters)
    return component


def resolve_update_rule(rule: Any, control: str | Path | Controller | None) -> UpdateRule:
    """Return an update rule, or the rule whose settings a controller chooses during the run.

    Args:
        rule: an update rule, as for :meth:`Registry.resolve`; with a controller, the default ``"cfr_plus"``.
        control: a controller, as for :func:`controlled_rule`; None to use ``rule``.

    Raises:
        ComponentError: both rule and controller are given, there is no such component or file, or the file is damaged.
    """
    if control is None:
        return update_rules.resolve(rule)
    if rule != "cfr_plus":  # the default of solvers
        raise ComponentError("give an update rule, or a controller that chooses its settings, not both")
    return controlled_rule(control)


def controlled_rule(control: str | Path | Controller) -> UpdateRule:
    """Return the update rule whose settings a controller chooses during the run.

    Args:
        control: ``"shipped"``, ``"schedule"``, a file or the directory of a training run, or the controller itself.

    Raises:
        ComponentError: there is no such file, or it is not a controller file.
    """
    if not isinstance(control, str | Path | Controller):
        raise ComponentError(not_a_controller(control))
    if isinstance(control, Controller):
        return UpdateRule.controlled_by(control)
    name = str(control)
    if control not in CONTROLLER_NAMES:
        name = str(Path(control).resolve())
        try:
            load_controller(name)  # the registry's error would name the update rule, which the user did not type
        except RLCCFRError as error:
            raise ComponentError(str(error)) from None
    return update_rules.resolve({"id": "controlled", "controller": name})


def registries_with(name: str) -> list[Registry[Any]]:
    """Return the registries that have the id ``name``; if there are none, those that have ``name`` as an alias."""
    _load_catalog()
    by_id = [registry for registry in REGISTRIES if name in registry._entries]
    return by_id or [registry for registry in REGISTRIES if name in registry]


def _load_catalog() -> None:
    importlib.import_module("rlccfr.catalog")  # by name, since the engine depends on no algorithm


def unknown(name: str, registries: Sequence[Registry[Any]] = REGISTRIES) -> ComponentError:
    """Return the error for a name that no component in the given registries has.

    If a component of another kind has the name, the message says so. If the name is a family's, the message lists the
    family. Otherwise, the message suggests the most similar id, and says how to load further components.
    """
    kind = registries[0].kind if len(registries) == 1 else "component"
    for registry in registries_with(name):
        id = registry[name].id
        id_in_brackets = "" if id == name else f" ({id})"
        return ComponentError(
            f"{brief(name)} is {_a(registry.kind)}{id_in_brackets}, not {_a(kind)}: name it as the "
            f"{registry.kind} (--{_option_of(registry)} {id})"
        )
    for registry in REGISTRIES:
        if specs := registry.families.get(plain_name(name)):
            *first, last = (f'"{spec}"' if "(" in spec else spec for spec in specs)
            listed = f"{', '.join(first)} or {last}" if first else last
            return ComponentError(f"{brief(name)} has no id of its own here: use --{_option_of(registry)} {listed}")
    return ComponentError(
        f"unknown {kind} {brief(name)}; {_alike(name, registries)} (to load your own, write `rlccfr --load FILE` "
        "before the command)"
    )


def _option_of(registry: Registry[Any]) -> str:
    """Return the name of the command line's option for a kind of component: ``update-rule``."""
    return registry.kind.replace(" ", "-")


def _alike(name: str, registries: Sequence[Registry[Any]]) -> str:
    """Return a hint: the id of the component with the most similar name or, if none is similar, the known ids."""
    ids = {alias: id for registry in registries for alias, id in registry.names.items()}
    near = None if VARIANT.fullmatch(plain_name(name)) else nearest(plain_name(name), ids)
    return f"did you mean {ids[near]!r}?" if near else f"known: {listed_ids(dict.fromkeys(ids.values()))}"
