"""Registries of components, which make a component from its id and hyperparameters.

A component also goes by the names that the literature gives it, its aliases: ``CFR+`` for ``cfr_plus``. In ids and
aliases, case, spaces, hyphens and underscores do not count, and a plus sign may be written out. Tables, records and
stores have ids alone.
"""

from __future__ import annotations

import ast
import importlib
import inspect
import math
import re
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import Any, Generic, Literal, TypeVar, get_args, get_origin

import numpy as np

from rlccfr.components import Abstraction, Component, Guarantee, Sampler, UpdateRule
from rlccfr.errors import ComponentError, brief, choices, first_line, nearest
from rlccfr.plugins import is_the_librarys, source_digest

C = TypeVar("C", bound=Component)
Bounds = tuple[float, float]
NON_NEGATIVE: Bounds = (0.0, math.inf)

VARIANT = re.compile(r"\w*cfr(plus)?")
"""Folded names of variants of CFR. A letter or a plus more makes another algorithm, so that none is like another."""


@dataclass(frozen=True)
class Entry(Generic[C]):
    """One registered component: its factory, its source and its guarantee."""

    id: str
    factory: Callable[..., C]
    kind: type[C]
    source: str
    bounds: Mapping[str, Bounds] = field(default_factory=dict)
    version: int = 1  # raise it when the definition changes: recorded measurements then no longer match
    given: Mapping[str, Any] = field(default_factory=dict)  # hyperparameters instead of the factory's defaults
    guarantee: Guarantee | None = None  # for the default hyperparameters; None: no theorem on record
    later: tuple[str, ...] = ()  # hyperparameters that this version did not have at first
    aliases: tuple[str, ...] = ()  # names in the literature, as it writes them

    @property
    def hyperparameters(self) -> dict[str, Any]:
        """Values of the hyperparameters by name; None is a default that depends on another hyperparameter."""
        return {**self._defaults, **self.given}

    @property
    def defining(self) -> dict[str, Any]:
        """The hyperparameters that tell measurements apart: those that came later count only with other values."""
        old = self._defaults
        return {name: x for name, x in self.hyperparameters.items() if name not in self.later or x != old[name]}

    @property
    def _defaults(self) -> dict[str, Any]:
        return {name: p.default for name, p in inspect.signature(self.factory).parameters.items()}

    def with_given(self, hyperparameters: Mapping[str, Any]) -> Entry[C]:
        """Return this entry with these hyperparameters in place of the factory's defaults; earlier ones are dropped.

        Raises:
            ComponentError: as in :meth:`make`.
        """
        made = self.make(**hyperparameters)
        return replace(self, given={name: made.hyperparameters[name] for name in hyperparameters})

    @property
    def code(self) -> str:
        """Digest of the code of the factory and of its component's functions; ``""`` for a factory of this library.

        Comments, docstrings, formatting and the registration's arguments, except for the id, do not count. The
        library's own definitions have versions; authors of other components may forget to raise theirs.
        """
        return "" if is_the_librarys(self.factory) else source_digest(self.factory)

    @property
    def description(self) -> str:
        return inspect.getdoc(self.factory) or ""

    @property
    def summary(self) -> str:
        return self.description.split("\n")[0]

    def make(self, **hyperparameters: Any) -> C:
        """Return the component with these hyperparameters; the entry's own values are used for those not given.

        Raises:
            ComponentError: a name is unknown; a value has the wrong type, is not finite or is out of bounds; or the
                factory fails or returns something else.
        """
        defaults = self._defaults
        for name in hyperparameters:
            if name not in defaults:
                raise ComponentError(f"{self.id!r} has no hyperparameter {name!r}; {choices(name, defaults)}")
        wanted = {**self.hyperparameters, **hyperparameters}
        values = {name: self._checked(name, wanted[name], old) for name, old in defaults.items()}
        try:
            component = self.factory(**values)
        except ComponentError as error:
            raise ComponentError(f"{self.id!r}: {error}") from error
        except TypeError as error:  # for example a field that a component does not have
            raise ComponentError(f"the factory of {self.id!r} fails: {first_line(error)}") from error
        if not isinstance(component, self.kind):
            raise ComponentError(
                f"the factory of {self.id!r} must return {_a(self.kind.__name__)}, not {_a(type(component).__name__)}"
            )
        return replace(component, id=self.id, hyperparameters=MappingProxyType(values))

    def _checked(self, name: str, value: Any, default: Any) -> Any:
        if default is None:
            if value is None:
                return None
            default = self._type_of_optional(name)()
        wanted = "a number" if isinstance(default, float) else f"of type {type(default).__name__}"
        if isinstance(value, np.generic):
            value = value.item()
        if isinstance(default, float) and isinstance(value, int) and not isinstance(value, bool):
            value = float(value) if abs(value) <= sys.float_info.max else math.inf
        if type(value) is not type(default):
            raise ComponentError(f"{self.id!r}: {name} must be {wanted}, not {value!r}")
        if isinstance(value, str):
            hint = inspect.signature(self.factory, eval_str=True).parameters[name].annotation
            if get_origin(hint) is Literal and value not in get_args(hint):
                allowed = " or ".join(map(repr, get_args(hint)))
                raise ComponentError(f"{self.id!r}: {name} must be {allowed}, not {brief(value)}")
        if isinstance(value, (int, float)) and not isinstance(value, bool):
            low, high = self.bounds.get(name, NON_NEGATIVE)
            if not (math.isfinite(value) and low <= value <= high):
                raise ComponentError(f"{self.id!r}: {name} must lie in [{low:g}, {high:g}], not {value!r}")
        return value

    def _type_of_optional(self, name: str) -> Any:
        """Return the type of an optional hyperparameter: ``int`` for ``int | None``."""
        hint = inspect.signature(self.factory, eval_str=True).parameters[name].annotation
        return next(kind for kind in get_args(hint) if kind is not type(None))


def folded(name: str) -> str:
    """Return a name without what does not count in it: ``"cfrplus"`` for ``"CFR+"`` and for ``"cfr_plus"``."""
    return re.sub(r"[\s_-]+", "", name.casefold().replace("+", "plus"))


class Registry(Generic[C]):
    """All components of one kind, by id, in order of registration."""

    def __init__(self, kind: str, component_type: type[C]):
        self.kind = kind
        self._type = component_type
        self._entries: dict[str, Entry[C]] = {}
        self._families: dict[str, tuple[str, ...]] = {}  # by a folded name: the components that it may stand for

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

        The factory's keyword arguments, which all need defaults, are the component's hyperparameters.

        Args:
            source: where the definition comes from, with equation or section.
            bounds: closed intervals of numerical hyperparameters, by name; without one, a number must not be negative.
            version: version of the definition; raise it when the definition changes.
            guarantee: published theorems; without it, the component's algorithms are said to have no theorem on record.
            later: hyperparameters that this version did not have at first. With their defaults, the component is what
                it was, and recorded measurements still match.
            aliases: further names of the component, as the literature writes them: ``("CFR+",)``.

        Raises:
            ComponentError: the id or the source is missing, the id or an alias is taken, the id is no identifier, a
                hyperparameter lacks a default, or ``bounds`` or ``later`` has a name that is no hyperparameter.
        """

        if not (isinstance(id, str) and source):
            used = f'@{self.kind.replace(" ", "_")}("id", source="...")'
            raise ComponentError(f"{_a(self.kind)} is registered with an id and the source of its definition: {used}")

        def decorate(factory: Callable[..., C]) -> Callable[..., C]:
            if not is_the_librarys(factory):
                _load_catalog()  # so that the library's names are taken
            if id in self._entries:
                raise ComponentError(f"{self.kind} {id!r} is registered already; choose another id")
            if not id.isidentifier():
                raise ComponentError(f"{self.kind} {id!r}: an id takes letters, digits and underscores, no digit first")
            self._check_hyperparameters(id, factory, {"bounds for": bounds or {}, "later": later})
            self._require_free(id, aliases)
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
            )
            return factory

        return decorate

    def _check_hyperparameters(self, id: str, factory: Callable[..., C], named: Mapping[str, Iterable[str]]) -> None:
        """Check the hyperparameters of a factory.

        Args:
            named: names of hyperparameters, by what the registration says about them.

        Raises:
            ComponentError: one lacks a default, or a name is none of them.
        """
        parameters = inspect.signature(factory).parameters
        for name, parameter in parameters.items():
            if parameter.default is inspect.Parameter.empty:
                raise ComponentError(f"{self.kind} {id!r}: the hyperparameter {name!r} needs a default")
        for what, names in named.items():
            if unknown := [name for name in names if name not in parameters]:
                raise ComponentError(f"{self.kind} {id!r} has {what} {unknown[0]!r}, but no such hyperparameter")

    def _require_free(self, id: str, aliases: Sequence[str]) -> None:
        """Refuse an id that stands for another component of this kind, and an alias that does for one of any kind.

        Raises:
            ComponentError: one does, or an alias is no name.
        """
        if isinstance(aliases, str) or not all(isinstance(name, str) and folded(name) for name in aliases):
            raise ComponentError(f"{self.kind} {id!r}: aliases are a sequence of names, not {brief(aliases)}")
        for name in (id, *aliases):
            for registry in (self,) if name == id else REGISTRIES:
                holder = registry.names.get(folded(name))
                if holder is not None:
                    raise ComponentError(
                        f"{self.kind} {id!r}: the name {name!r} stands for the {registry.kind} {holder!r}; choose "
                        "another one"
                    )

    @property
    def names(self) -> dict[str, str]:
        """The id by each folded name: of the ids themselves, and of the aliases."""
        return {folded(name): entry.id for entry in self._entries.values() for name in (entry.id, *entry.aliases)}

    def family(self, name: str, *specs: str) -> None:
        """Note that a name stands for no single component; a message then says which there are to choose from.

        Args:
            specs: ids, or ids with hyperparameters.
        """
        self._families[folded(name)] = specs

    @property
    def families(self) -> Mapping[str, tuple[str, ...]]:
        """For each folded name that stands for no single component, those that it may stand for."""
        _load_catalog()
        return MappingProxyType(self._families)

    def canonical(self, text: str) -> str:
        """Return ``"cfr_plus(gamma=2)"`` for ``"CFR+(gamma=2)"``: the id in place of any other name.

        Raises:
            ComponentError: no component has the name.
        """
        _load_catalog()
        name, bracket, rest = text.partition("(")
        return text if name in self._entries else f"{self[name.strip()].id}{bracket}{rest}"

    def __getitem__(self, id: str) -> Entry[C]:
        """Return the entry of an id or alias; ``"dcfr(gamma=3)"`` gives it values other than the defaults.

        Raises:
            ComponentError: the id is unknown or malformed, or a hyperparameter is unknown or has an invalid value.
        """
        _load_catalog()
        if "(" in id:
            spec = parse(id)
            return self[spec.pop("id")].with_given(spec)
        if id in self._entries:
            return self._entries[id]
        if other := self.names.get(folded(id)):
            return self._entries[other]
        raise unknown(id, [self])

    def __contains__(self, id: object) -> bool:
        """Return whether a component has this id or alias."""
        _load_catalog()
        return id in self._entries or (isinstance(id, str) and folded(id) in self.names)

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
            f"{self.kind} must be an id, a dict with an 'id', or of type {self._type.__name__}, not {spec!r}"
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

    A component whose id several kinds share (``none``) must be made through the registry of its kind.

    Raises:
        ComponentError: the id is unknown or ambiguous, or a hyperparameter is unknown or has an invalid value.
    """
    if "(" in id:
        spec = parse(id)
        return make(spec.pop("id"), **spec | hyperparameters)
    found = registries_with(id)
    if len(found) > 1:
        kinds = " and ".join(registry.kind for registry in found)
        raise ComponentError(f"{id!r} is a {kinds}; use for example rlccfr.registry.samplers[{id!r}].make()")
    if not found:
        raise unknown(id)
    component: Component = found[0][id].make(**hyperparameters)
    return component


def registries_with(name: str) -> list[Registry[Any]]:
    """Return the registries that have a component of this id; if there are none, those that have one of this alias."""
    _load_catalog()
    by_id = [registry for registry in REGISTRIES if name in registry._entries]
    return by_id or [registry for registry in REGISTRIES if name in registry]


def parse(text: str) -> dict[str, Any]:
    """Return ``{"id": "dcfr", "gamma": 3}`` for ``"dcfr(gamma=3)"``.

    Raises:
        ComponentError: the hyperparameters are not names with literal values.
    """
    id, bracket, rest = text.strip().partition("(")
    if not bracket:
        return {"id": id}
    try:
        call = ast.parse(f"f({rest}", mode="eval").body
        if isinstance(call, ast.Call) and not call.args and all(keyword.arg for keyword in call.keywords):
            values = [(str(keyword.arg), ast.literal_eval(keyword.value)) for keyword in call.keywords]
            if len(dict(values)) == len(values):
                return {"id": id.strip(), **dict(values)}
    except (SyntaxError, ValueError, RecursionError, MemoryError):  # the last two: thousands of brackets or signs
        pass
    raise ComponentError(
        f"""a component looks like dcfr, "dcfr(alpha=1.5, gamma=2)" or "deep_cfr(preset='sweep')", with each """
        f"hyperparameter at most once, not {brief(text)}"
    )


def _a(noun: str) -> str:
    return f"an {noun}" if noun[0].lower() in "aeiou" else f"a {noun}"


def _load_catalog() -> None:
    importlib.import_module("rlccfr.catalog")  # by name, since the engine depends on no algorithm


def unknown(name: str, registries: Sequence[Registry[Any]] = REGISTRIES) -> ComponentError:
    """Return the error for a name that stands for no component in some registries.

    The message says what else the name stands for, or which name is like it. The component may be one that was not
    loaded.
    """
    kind = registries[0].kind if len(registries) == 1 else "component"
    for registry in registries_with(name):
        id, option = registry[name].id, registry.kind.replace(" ", "-")
        called = "" if id == name else f" ({id})"
        return ComponentError(f"{brief(name)} is {_a(registry.kind)}{called}, not {_a(kind)}: --{option} {id}")
    for registry in REGISTRIES:
        if specs := registry.families.get(folded(name)):
            option = registry.kind.replace(" ", "-")
            *others, last = (f'"{spec}"' if "(" in spec else spec for spec in specs)
            listed = f"{', '.join(others)} or {last}" if others else last
            return ComponentError(f"{brief(name)} has no id of its own here: take --{option} {listed}")
    return ComponentError(
        f"unknown {kind} {brief(name)}; {_alike(name, registries)} (one of your own is loaded by `rlccfr --load FILE`, "
        "before the command)"
    )


def _alike(name: str, registries: Sequence[Registry[Any]]) -> str:
    """Return a hint: the id of the component whose name is most like this one, or all ids."""
    ids = {alias: id for registry in registries for alias, id in registry.names.items()}
    near = None if VARIANT.fullmatch(folded(name)) else nearest(folded(name), ids)
    return f"did you mean {ids[near]!r}?" if near else f"known: {', '.join(dict.fromkeys(ids.values()))}"
