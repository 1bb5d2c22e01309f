"""Arguments of subgames that several tests share."""

from __future__ import annotations

RIVER = {
    "board": "Td9d6hQcJs", "pot": 100, "stack": 100, "oop": "AA,KK:0.5,8d7d", "ip": "QQ,AKs", "bets": "50%, a",
    "raises": "a",
}  # fmt: skip

EXAMPLE = {  # the example of postflop-solver's documentation
    "board": "Td9d6hQc", "pot": 200, "stack": 900, "bets": "60%, e, a", "raises": "2.5x", "donk": {"river": "50%"},
    "oop": "66+,A8s+,A5s-A4s,AJo+,K9s+,KQo,QTs+,JTs,96s+,85s+,75s+,65s,54s",
    "ip": "QQ-22,AQs-A2s,ATo+,K5s+,KJo+,Q8s+,J8s+,T7s+,96s+,86s+,75s+,64s+,53s+",
    "add_allin": 1.5, "force_allin": 0.15, "merging": 0.1,
}  # fmt: skip
