"""Catalogs: ordered sets of components, to which the action indices of selectors refer."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from math import prod
from typing import Any, NamedTuple

from rlccfr.errors import ComponentError
from rlccfr.registry import REGISTRIES

# The paper's catalog (Table 2).
TABULAR_RULES = ("cfr", "cfr_plus", "lcfr", "lcfr_plus", "dcfr", "dcfr_plus", "ecfr", "ecfr_plus")
DEEP_RULES = tuple(f"deep_{id}" for id in TABULAR_RULES)
SAMPLERS = ("chance", "outcome", "external", "probing", "average_strategy", "variance_reduced", "none")
ABSTRACTIONS = ("cfr_br", "rcfr", "none")

# What the extended catalog adds.
MORE_RULES = ("pcfr_plus", "pdcfr_plus", "hs_pcfr_plus", "hs_dcfr", "hedge")
MORE_SAMPLERS = ("robust_k", "mixed_linear", "mixed_exponential", "mixed_locus")

# What runs on public trees.
NO_SCHEDULES = ("ecfr", "ecfr_plus", "hedge")
"""Tabular rules that public trees do not support, since schedules alone do not define them."""

PUBLIC_SAMPLERS = ("public_chance", "opponent_public_chance", "self_public_chance")


class Cell(NamedTuple):
    """One algorithm: a triple of component ids. Columns, ids and some methods call an algorithm a cell.

    Examples:
        >>> from rlccfr.catalog import Cell
        >>> algorithm = Cell("CFR+", "external", "none").canonical
        >>> str(algorithm)
        'cfr_plus x external x none'
    """

    update_rule: str
    sampler: str
    abstraction: str

    @classmethod
    def of(cls, row: Mapping[Any, Any], prefix: str = "") -> Cell:
        """Return the algorithm in a table's row; the names of its three columns begin with ``prefix``."""
        return cls(*(str(row[f"{prefix}{axis}"]) for axis in AXES))

    @classmethod
    def of_run(cls, arguments: Mapping[str, Any]) -> Cell:
        """Return the algorithm that arguments of :class:`rlccfr.Solver` describe: by default, CFR+ by exact passes.

        Args:
            arguments: arguments of the solver by name; only ``update_rule``, ``control`` and ``sampler`` are read.

        Examples:
            >>> str(Cell.of_run({"control": "schedule", "blend": True}))
            "controlled(controller='schedule') x none x none"
        """
        update_rule = str(arguments.get("update_rule", "cfr_plus"))
        if "control" in arguments:
            update_rule = f"controlled(controller={arguments['control']!r})"
        return cls(update_rule, str(arguments.get("sampler", "none")), "none").canonical

    @classmethod
    def from_text(cls, text: str) -> Cell:
        """Return the algorithm that a string names, in the form in which algorithms are printed.

        Raises:
            ComponentError: the string has another form, or no component has one of the names.

        Examples:
            >>> Cell.from_text("dcfr x external x none").sampler
            'external'
        """
        components = [component.strip() for component in text.split(" x ")]
        if len(components) != len(cls._fields) or not all(components):
            raise ComponentError(f'an algorithm is written "UPDATE_RULE x SAMPLER x ABSTRACTION", not {text!r}')
        return cls(*components).canonical

    @property
    def canonical(self) -> Cell:
        """This algorithm with ids in place of names from the literature.

        Raises:
            ComponentError: no component has one of the names.
        """
        return Cell(*(registry.canonical(name) for registry, name in zip(REGISTRIES, self, strict=True)))

    def __str__(self) -> str:
        return " x ".join(self)


AXES = Cell._fields
"""The names of the three axes, in the order in which agents A, B and C pick."""


@dataclass(frozen=True)
class Catalog:
    """The components to choose from, in the order of the action indices.

    A component is given by its id, or by its id with hyperparameters: ``"deep_cfr(preset='sweep')"``. An alias is
    replaced by the component's id.

    Attributes:
        update_rules, samplers, abstractions: ids on each axis.

    Raises:
        ComponentError: an unknown id, a wrong hyperparameter, an empty axis, or a component that is given twice.

    Examples:
        >>> from rlccfr.catalog import Catalog
        >>> Catalog.paper().shape
        (16, 7, 3)
        >>> catalog = Catalog(("cfr", "dcfr(gamma=3)"), ("none",), ("none", "cfr_br"))
        >>> for algorithm in catalog:
        ...     print(catalog.flat(algorithm), algorithm)
        0 cfr x none x none
        1 cfr x none x cfr_br
        2 dcfr(gamma=3) x none x none
        3 dcfr(gamma=3) x none x cfr_br
        >>> catalog.plus(samplers=["external"]).shape
        (2, 2, 2)
    """

    update_rules: tuple[str, ...]
    samplers: tuple[str, ...]
    abstractions: tuple[str, ...]

    def __post_init__(self) -> None:
        fields = ("update_rules", "samplers", "abstractions")
        for registry, field, names in zip(REGISTRIES, fields, self.axes, strict=True):
            ids = tuple(map(registry.canonical, names))
            object.__setattr__(self, field, ids)  # the dataclass is frozen
            if not ids:
                raise ComponentError(f"a catalog needs at least one {registry.kind}")
            id_by_definition: dict[str, str] = {}
            for id in ids:
                entry = registry[id]
                definition = str([entry.id, *sorted(entry.hyperparameters.items())])
                if definition in id_by_definition:
                    earlier = id_by_definition[definition]
                    twice = f"{id!r} is in the catalog twice"
                    if earlier != id:
                        twice = f"{entry.id!r} is in the catalog twice, as {earlier!r} and as {id!r}"
                    raise ComponentError(f"the {registry.kind} {twice}")
                id_by_definition[definition] = id

    @classmethod
    def paper(cls) -> Catalog:
        """Return the paper's catalog (Table 2): 16 update rules x 7 samplers x 3 abstractions."""
        return cls(TABULAR_RULES + DEEP_RULES, SAMPLERS, ABSTRACTIONS)

    @classmethod
    def tabular(cls) -> Catalog:
        """Return the part of the paper's catalog without function approximation: 8 x 7 x 2."""
        return cls(TABULAR_RULES, SAMPLERS, ("cfr_br", "none"))

    @classmethod
    def extended(cls) -> Catalog:
        """Return the paper's catalog with five more update rules and four more samplers: 21 x 11 x 3.

        The additions are all components of :mod:`rlccfr.catalog.extended` except for ``mixed_internal``.
        """
        return cls.paper().plus(MORE_RULES, MORE_SAMPLERS)

    @classmethod
    def extended_tabular(cls) -> Catalog:
        """Return the part of the extended catalog without function approximation: 13 x 11 x 2."""
        return cls.tabular().plus(MORE_RULES, MORE_SAMPLERS)

    @classmethod
    def schedules(cls) -> Catalog:
        """Return the rule ``scheduled`` in 105 settings with exact passes: 7 discounts x 5 averages x 3 predictions."""
        # The first choice is no discount, as in CFR+. Without a floor, negative regrets are halved.
        unfloored = (f"alpha={alpha},beta=0.0,floor=False" for alpha in (1.5, 2.5, 4.0))
        discounts = ("", "alpha=1.0", "alpha=1.5", "alpha=2.5", *unfloored)
        points = product(discounts, (1.0, 2.0, 3.5, 6.0, 10.0), (0.0, 0.2, 0.5))
        settings = (f"{discount},gamma={gamma},optimism={optimism}".lstrip(",") for discount, gamma, optimism in points)
        return cls(tuple(f"scheduled({text})" for text in settings), ("none",), ("none",))

    @classmethod
    def public(cls) -> Catalog:
        """Return the components that run on public trees: 10 update rules x 5 samplers x 2 abstractions.

        Four of the samplers draw chance outcomes, and ``none`` stands for exact passes.
        """
        rules = [id for id in TABULAR_RULES + MORE_RULES if id not in NO_SCHEDULES]
        return cls(tuple(rules), (*PUBLIC_SAMPLERS, "chance", "none"), ("cfr_br", "none"))

    @classmethod
    def buckets(cls) -> Catalog:
        """Return the components that run on hold'em in buckets: 10 update rules x 3 samplers.

        Of the samplers, ``public_chance`` draws boards and ``chance`` draws deals; ``none`` stands for exact passes.
        """
        return cls(cls.public().update_rules, ("public_chance", "chance", "none"), ("none",))

    def plus(
        self,
        update_rules: Sequence[str] = (),
        samplers: Sequence[str] = (),
        abstractions: Sequence[str] = (),
    ) -> Catalog:
        """Return a catalog with more components at the end of each axis; the existing ones keep their indices.

        Raises:
            ComponentError: an unknown id, or one that is already in the catalog.
        """
        added_axes = (update_rules, samplers, abstractions)
        return Catalog(*((*ids, *added_ids) for ids, added_ids in zip(self.axes, added_axes, strict=True)))

    def with_networks(self, preset: str) -> Catalog:
        """Return the same catalog with other network settings in the paper's deep rules.

        Only rules without given hyperparameters change: ``"deep_cfr"``, but not ``"deep_cfr(average='table')"``.

        Args:
            preset: name of the network settings.

        Raises:
            ComponentError: unknown network settings.
        """
        rules = (f"{id}(preset={preset!r})" if id in DEEP_RULES else id for id in self.update_rules)
        return Catalog(tuple(rules), self.samplers, self.abstractions)

    @property
    def axes(self) -> tuple[tuple[str, ...], tuple[str, ...], tuple[str, ...]]:
        """The ids of the update rules, of the samplers and of the abstractions."""
        return self.update_rules, self.samplers, self.abstractions

    @property
    def shape(self) -> tuple[int, int, int]:
        """The numbers of update rules, samplers and abstractions."""
        return len(self.update_rules), len(self.samplers), len(self.abstractions)

    def __len__(self) -> int:
        return prod(self.shape)

    def __iter__(self) -> Iterator[Cell]:
        return (self.cell(*self.unravel(index)) for index in range(len(self)))

    def cell(self, rule: int, sampler: int, abstraction: int) -> Cell:
        """Return the algorithm behind three action indices."""
        return Cell(self.update_rules[rule], self.samplers[sampler], self.abstractions[abstraction])

    def unravel(self, index: int) -> tuple[int, int, int]:
        """Return the three action indices for a flat action index; the abstraction varies fastest.

        Raises:
            IndexError: the index is out of range.
        """
        if not 0 <= index < len(self):
            raise IndexError(f"action {index} is not in 0 .. {len(self) - 1}")
        rule_and_sampler, abstraction = divmod(index, len(self.abstractions))
        rule, sampler = divmod(rule_and_sampler, len(self.samplers))
        return rule, sampler, abstraction

    def ravel(self, rule: int, sampler: int, abstraction: int) -> int:
        """Return the flat action index of three action indices."""
        return (rule * len(self.samplers) + sampler) * len(self.abstractions) + abstraction

    def index(self, cell: Cell) -> tuple[int, int, int]:
        """Return the three action indices of an algorithm.

        Args:
            cell: the algorithm, or a tuple of its three ids.

        Raises:
            ComponentError: one of its ids is not in this catalog, or there are not three.
        """
        if len(cell) != len(AXES):
            raise ComponentError(f"an algorithm has {len(AXES)} ids ({', '.join(AXES)}), not {len(cell)}: {cell}")
        cell = Cell(*cell)
        if any(id not in ids for id, ids in zip(cell, self.axes, strict=True)):
            cell = cell.canonical
        for id, ids in zip(cell, self.axes, strict=True):
            if id not in ids:
                raise ComponentError(f"{id!r} is not in this catalog: choose one of {', '.join(ids)}")
        rule, sampler, abstraction = (ids.index(id) for id, ids in zip(cell, self.axes, strict=True))
        return rule, sampler, abstraction

    def flat(self, cell: Cell) -> int:
        """Return the flat action index of an algorithm.

        Raises:
            ComponentError: one of its ids is not in this catalog.
        """
        return self.ravel(*self.index(cell))

    @property
    def content_hash(self) -> str:
        """Hash of the components' ids and versions, in their order; saved with every team."""
        versions = [
            [(id, registry[id].version) for id in ids] for registry, ids in zip(REGISTRIES, self.axes, strict=True)
        ]
        return hashlib.sha256(json.dumps(versions).encode()).hexdigest()[:16]
