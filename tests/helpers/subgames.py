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

# The ranges as TexasSolver's issue 52 has them.
FAST_OOP = (
    "AA,KK,QQ,JJ,TT,99,88,AK,AQ,AJ,ATs,ATo:0.75,A9s,A8s,A5s:0.5,A4s:0.5,A3s:0.5,A2s:0.5,KQ,KJs,KJo:0.75,KTs,KTo:0.25,"
    "K9s,QJs,QJo:0.5,QTs,Q9s,JTs,JTo:0.25,J9s,J8s,T9s,T8s,T7s:0.45,98s,97s,96s:0.45,87s,86s:0.75,85s:0.45,76s:0.75,"
    "75s:0.75,74s:0.45,65s:0.75,64s:0.5,63s:0.45,54s:0.75,53s:0.5,52s:0.45,43s:0.5,42s:0.45,32s:0.45"
)
FAST_IP = (
    "AA:0.25,99,88,77,66,55,44,33,22,AQo,AJ,AT,A9,A8,A7s,A6s,A5s,A4s,A3s,A2s,KQ,KJ,KT,K9,K8s,K7s,K6s,K5s,K4s,K3s,K2s,"
    "QJ,QT,Q9,Q8s,Q7s,Q6s,Q5s,Q4s,Q3s,Q2s,JT,J9,J8s,J7s,J6s,T9,T8s,T7s,T6s,98,97s,96s,95s:0.5,87s,86s,85s:0.5,76s,75s,"
    "74s:0.5,65s,64s,63s:0.5,54s,53s:0.5,43s"
)

FLOP = {  # ranges of PioSOLVER's 3betpotFAST, with the sizes of TexasSolver's issue 52
    "board": "QsJh2h", "pot": 180, "stack": 910, "oop": FAST_OOP, "ip": FAST_IP, "bets": "50%", "raises": "50%",
    "donk": {"river": "50%"},
}  # fmt: skip
