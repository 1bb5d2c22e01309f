"""``rlccfr equity``."""

from __future__ import annotations

from typing import Annotated

import typer

from rlccfr.cli.console import print_json, print_table
from rlccfr.cli.options import Json


def equity(
    first: Annotated[str, typer.Argument(help='A range of hands: "AhKh", "QQ+,AKs:0.5", "random".')],
    second: Annotated[str, typer.Argument(help="The opponent's range.")],
    board: Annotated[str, typer.Option(help='Known cards of the board, none or three to five: "Td9d6h".')] = "",
    hands: Annotated[bool, typer.Option("--hands", help="Print each hand's equity, too.")] = False,
    json: Json = False,
) -> None:
    """Print the exact all-in equities of two hold'em ranges.

    A range's equity is its mean share of the pot at showdown, over all boards. Without a board, ranges of many hands
    take a minute, or several minutes if they distinguish suits.
    """
    from rlccfr.engine.public.equities import equity as equity_of

    found = equity_of(first, second, board)
    if json:
        print_json(
            {
                "equity": list(found.equity),
                "tie": found.tie,
                "hands": list(found.hands),
                "weights": list(found.weights),
            }
        )
        return
    rows = [(text, share, found.tie) for text, share in zip((first, second), found.equity, strict=True)]
    print_table(("range", "equity", "tie"), rows)
    if hands:
        for text, shares, weights in zip((first, second), found.hands, found.weights, strict=True):
            print()
            hand_rows = [(hand, weights[hand], share) for hand, share in shares.items()]
            print_table(("hand", "weight", "equity"), hand_rows, text)
