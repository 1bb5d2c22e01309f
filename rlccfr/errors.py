"""What goes wrong, in one line that says what to do about it."""


class RLCCFRError(Exception):
    """Base of this library's errors; its message is one line for a person to read."""


class GameError(RLCCFRError, ValueError):
    """A game that can't be loaded or solved soundly."""


class ComponentError(RLCCFRError, ValueError):
    """An unknown component, or a hyperparameter out of range."""


class BudgetError(RLCCFRError, ValueError):
    """A budget that is missing, doubled, or not positive."""


class CheckpointError(RLCCFRError):
    """A saved file that is damaged, or was made for something else."""
