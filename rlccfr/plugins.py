"""Components from other packages, found by their entry points, and from single files."""

from __future__ import annotations

import logging
import runpy
from dataclasses import dataclass, field
from importlib.metadata import entry_points
from pathlib import Path

from rlccfr.errors import ComponentError, RLCCFRError, first_line


@dataclass
class Loaded:
    """Plugins and files that a process has loaded, and that its workers must load, too."""

    plugins: bool = False
    files: list[str] = field(default_factory=list)

    def again(self) -> None:
        """Load the same plugins and files in another process.

        Raises:
            ComponentError: a file does not exist or fails.
        """
        if self.plugins:
            load_plugins()
        for path in tuple(self.files):  # loading a file may add to them
            load_file(path)


loaded = Loaded()
log = logging.getLogger(__name__)

GROUP = "rlccfr.plugins"


def load_plugins() -> dict[str, str | None]:
    """Import the modules that installed packages name under the entry point group ``rlccfr.plugins``.

    Importing a module registers the components that it decorates. A module that fails is reported in one line and
    skipped, so that the other plugins still work.

    Returns:
        A dict from each plugin's name to None, or to the error's message if the plugin failed.
    """
    found: dict[str, str | None] = {}
    loaded.plugins = True
    for entry in sorted(entry_points(group=GROUP), key=lambda entry: entry.name):
        try:
            entry.load()
            found[entry.name] = None
        except Exception as error:  # another author's module may raise anything
            found[entry.name] = f"{type(error).__name__}: {first_line(error)}"
            log.warning("the plugin %r is skipped: %s", entry.name, found[entry.name])
    return found


def load_file(path: str | Path) -> None:
    """Run a Python file, and so register the components that it decorates.

    Raises:
        ComponentError: the file does not exist or fails.
    """
    try:
        runpy.run_path(str(path))
    except RLCCFRError:
        raise
    except Exception as error:  # another author's file may raise anything
        raise ComponentError(f"{path} can't be loaded: {type(error).__name__}: {first_line(error)}") from None
    loaded.files.append(str(Path(path).resolve()))
