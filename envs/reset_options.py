"""The settings of an episode: drawn at its reset, unless the user sets them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from rlccfr.errors import RLCCFRError, brief


def drawn_episode(
    choices: Mapping[str, Sequence[Any]],
    options: Any,
    rng: np.random.Generator,
    parsers: Mapping[str, Callable[[Any], Any]] | None = None,
) -> dict[str, Any]:
    """Return the settings of an episode: the user's values, and random draws where the user sets none.

    A random number is drawn even for a setting that the user sets, so that later draws do not depend on the options.

    Args:
        choices: values from which a setting is drawn, by the setting's name.
        options: options of the environment's ``reset``: the user's values by the setting's name, or None.
        rng: random generator, from which one number is drawn per setting, in the order of ``choices``.
        parsers: functions that convert a user's value to the form of ``choices``, by the setting's name.

    Returns:
        A value for each setting, by its name.

    Raises:
        RLCCFRError: the options are not a dict, have an unknown name, or have a value that is not among the choices.
    """
    drawn = {name: values[int(rng.integers(len(values)))] for name, values in choices.items()}
    if options is not None and not isinstance(options, Mapping):
        raise RLCCFRError(f"reset() takes options as a dict, as in {{'game': 'kuhn'}}, not {brief(options)}")
    for name, value in (options or {}).items():
        parse = (parsers or {}).get(name)
        drawn[name] = value if parse is None else parse(value)
        if not any(_is_same(drawn[name], choice) for choice in choices.get(name, ())):
            all_options = "; ".join(
                f"{option} ({', '.join(brief(getattr(choice, 'name', choice)) for choice in values)})"
                for option, values in choices.items()
            )
            raise RLCCFRError(f"reset() takes the options {all_options}, not {name}={brief(value)}")
    return drawn


def _is_same(value: Any, choice: Any) -> bool:
    """Return whether a user's value equals a choice; an array never does, because comparing it gives an array."""
    return not isinstance(value, np.ndarray) and bool(value == choice)
