"""Components as text, such as ``dcfr(gamma=3)``."""

from __future__ import annotations

import ast
from typing import Any

from rlccfr.errors import ComponentError, brief


def parse(text: str) -> dict[str, Any]:
    """Return a component's id and hyperparameters.

    Raises:
        ComponentError: the hyperparameters are not names with literal values, or one of them is given twice.

    Examples:
        >>> parse("dcfr(gamma=3)")
        {'id': 'dcfr', 'gamma': 3}
    """
    id, bracket, arguments = text.strip().partition("(")
    if not bracket:
        return {"id": id}
    try:
        # The hyperparameters are written as the keyword arguments of a call, so Python's parser can read them.
        call = ast.parse(f"f({arguments}", mode="eval").body
        if isinstance(call, ast.Call) and isinstance(call.func, ast.Name):  # not f(alpha=1)(gamma=2)
            values = {str(keyword.arg): _literal(keyword) for keyword in call.keywords}
            if not call.args and len(values) == len(call.keywords) and all(keyword.arg for keyword in call.keywords):
                return {"id": id.strip(), **values}
    except ComponentError:
        raise
    except (SyntaxError, ValueError, RecursionError, MemoryError):  # the last two: thousands of brackets or signs
        pass
    raise ComponentError(
        f"""a component looks like dcfr, "dcfr(alpha=1.5, gamma=2)" or "deep_cfr(preset='sweep')", with each """
        f"hyperparameter at most once, not {brief(text)}"
    )


def _literal(keyword: ast.keyword) -> Any:
    """Return the value of a hyperparameter.

    Raises:
        ComponentError: the value is a name, such as ``nan``, or one with a sign.
        ValueError: the value is something else that is not a literal.
    """
    value = keyword.value
    unsigned = value.operand if isinstance(value, ast.UnaryOp) else value
    if isinstance(unsigned, ast.Name):
        word = ast.unparse(value)
        quoted = "" if unsigned.id in ("nan", "inf") else f", as in {keyword.arg}={word!r}"
        raise ComponentError(
            f"{keyword.arg} must be a number, True, False, None or text in quotation marks{quoted}, not {word}"
        )
    return ast.literal_eval(value)
