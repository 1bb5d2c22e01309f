"""Base of update rules, samplers and abstractions."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any

from rlccfr.components.fields import check_fields

_NOTHING: Mapping[str, Any] = MappingProxyType({})


@dataclass(frozen=True, kw_only=True)
class Component:
    """Base of update rules, samplers and abstractions.

    The registry fills in both fields.

    Args:
        id: name in the registry; empty for a component that is not registered.
        hyperparameters: names and values that the component was made with.

    Raises:
        ComponentError: a field's value is not of the field's type.
    """

    id: str = ""
    hyperparameters: Mapping[str, Any] = field(default_factory=lambda: _NOTHING)

    def __post_init__(self) -> None:
        check_fields(self)

    @property
    def title(self) -> str:
        """The component's name in messages."""
        return repr(self.id) if self.id else f"this {type(self).__name__}"

    @property
    def learns(self) -> bool:
        """Whether a fitted model takes the place of a table."""
        return False

    @property
    def spec(self) -> dict[str, Any]:
        """Description ``{"id": ..., **hyperparameters}``, ready for JSON, to make this component again."""
        return {"id": self.id, **self.hyperparameters}

    def same_as(self, other: Component) -> bool:
        """Return whether both have the same kind and spec; a component without an id equals only itself."""
        return self is other or (bool(self.id) and type(self) is type(other) and self.spec == other.spec)
