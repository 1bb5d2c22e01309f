"""``python -m benchmarks.audit``: show what one call of LiteEFG does, by the infosets whose policies it changes.

A sampled call that changes infosets of both players walks for both. An exact call updates the players in turn if it
changes as many infosets of player 1 as an update against player 0's new policy would.
"""

from __future__ import annotations

from benchmarks import lite

CALLS = (("CFR", "Enumerate"), ("CFRplus", "Enumerate"), ("DCFR", "Enumerate"), ("PCFR", "Enumerate"),
         ("CFR", "External"), ("OS_MCCFR", "Outcome"))  # fmt: skip


def changed(game: str, baseline: str, traverse: str) -> tuple[int, ...]:
    """Return, per player, the number of infosets whose policy the first call changes."""
    env, graph = lite.environment(game, baseline, traverse)
    before = _policies(env, graph)
    graph.update_graph(env)
    after = _policies(env, graph)
    return tuple(sum(one[name] != two[name] for name in one) for one, two in zip(before, after, strict=True))


def _policies(env, graph) -> list[dict[str, list[float]]]:
    env.update_strategy(graph.current_strategy())
    strategies = (env.get_strategy(player, graph.current_strategy(), "last-iterate") for player in (1, 2))
    return [dict(strategy) for strategy in strategies]


if __name__ == "__main__":
    for baseline, traverse in CALLS:
        for game in ("kuhn", "leduc"):
            print(f"{baseline}, {traverse}, {game}: {[changed(game, baseline, traverse) for _ in range(5)]}")
