"""Values of terminals for all private states at once, in time proportional to their number.

Two hands exclude each other if they share a card. The reach of all hands that do not share one with a given hand is the
sum over all hands, less the sums of its two cards, plus its own, which both of these hold. At a showdown the rows are
met in order of strength, so that the sums so far are those of the weaker hands (Johanson, Waugh, Bowling and Zinkevich,
"Accelerating best response calculation in large extensive games", IJCAI 2011).
"""

from __future__ import annotations

from rlccfr.games.public.records import CARDS, DICE, FOLD, MATRIX, SHOWDOWN
from rlccfr.kernels.jit import inlined
from rlccfr.kernels.public.memory import COUNT, FIRST, REACH, VALUE


@inlined
def fill_terminal(view, node, player, vectors, reach, value, cards, zero):
    """Set a player's value of a terminal.

    Args:
        reach: (rows of the opponent,) the opponent's reach.
        value: (rows of the player,) overwritten.
        cards: working memory, an entry per card.
        zero: 0 in the vectors' type.
    """
    payoff = vectors.dtype.type(node["payoff"])
    if node["kind"] == MATRIX:
        fill_matrix(view, node, player, vectors, reach, value, zero)
    elif node["kind"] == DICE:
        fill_dice(view, node, player, vectors, reach, value, cards, zero)
    elif node["kind"] == FOLD:
        fill_fold(view, node, payoff if player == 0 else -payoff, vectors, reach, value, cards, zero)
    else:
        fill_showdown(view, node, payoff, vectors, reach, value, cards, zero)


@inlined
def fill_matrix(view, node, player, vectors, reach, value, zero):
    """Set a player's value by a matrix of payoffs."""
    rows, at = view.deals[node["deal"]]["rows"], node["table"]
    if player == 0:
        for i in range(rows[0]):
            total = zero
            for j in range(rows[1]):
                total += view.payoffs[at + i * rows[1] + j] * vectors[reach + j]
            vectors[value + i] = total
    else:
        for j in range(rows[1]):
            vectors[value + j] = zero
        for i in range(rows[0]):
            for j in range(rows[1]):
                vectors[value + j] -= view.payoffs[at + i * rows[1] + j] * vectors[reach + i]


@inlined
def fill_fold(view, node, payoff, vectors, reach, value, cards, zero):
    """Set a player's value where ``payoff`` does not depend on the hands."""
    deal = view.deals[node["deal"]]
    rows, at = deal["rows"][0], deal["row"]
    own, found, sums = vectors[reach : reach + rows], vectors[value : value + rows], vectors[cards : cards + CARDS]
    hands, ends = view.hands[deal["hand"] :], view.hand_end[at : at + rows]
    firsts = view.firsts[at : at + rows]
    sums[:] = zero
    total, hand = zero, 0
    for r in range(rows):
        here = own[r]
        while hand < ends[r]:
            sums[hands[hand, 0]] += here
            sums[hands[hand, 1]] += here
            total += here
            hand += 1
    for r in range(rows):
        found[r] = payoff * (total - sums[firsts[r, 0]] - sums[firsts[r, 1]] + own[r])


@inlined
def fill_showdown(view, node, payoff, vectors, reach, value, cards, zero):
    """Set a player's value where the stronger hand wins ``payoff``.

    It is ``payoff`` times (weaker hands + hands that are not stronger - all hands), each without those excluded.
    """
    deal = view.deals[node["deal"]]
    rows, at = deal["rows"][0], deal["row"]
    own, found, sums = vectors[reach : reach + rows], vectors[value : value + rows], vectors[cards : cards + CARDS]
    hands, ends = view.hands[deal["hand"] :], view.hand_end[at : at + rows]
    firsts, groups = view.firsts[at : at + rows], view.group_end[deal["group"] : deal["group"] + deal["groups"]]
    sums[:] = zero
    total, hand, first = zero, 0, 0
    for end in groups:
        for r in range(first, end):
            found[r] = total - sums[firsts[r, 0]] - sums[firsts[r, 1]]
        for r in range(first, end):
            here = own[r]
            while hand < ends[r]:
                sums[hands[hand, 0]] += here
                sums[hands[hand, 1]] += here
                total += here
                hand += 1
        for r in range(first, end):
            found[r] += total - sums[firsts[r, 0]] - sums[firsts[r, 1]]
        first = end
    for r in range(rows):  # here ``found`` still lacks the hand itself, which both of its cards have subtracted
        found[r] = payoff * (found[r] - (total - sums[firsts[r, 0]] - sums[firsts[r, 1]]))


@inlined
def fill_dice(view, node, player, vectors, reach, value, counts, zero):
    """Set a player's value after a call: the last bid holds if enough of all dice count for it.

    Args:
        counts: working memory: the opponent's reach with each number of dice that count.
    """
    faces = view.matches.shape[1]
    quantity, face = node["table"] // faces + 1, node["table"] % faces
    rows = view.deals[node["deal"]]["rows"]
    own, others = (0, rows[0]) if player == 0 else (rows[0], 0)
    won, lost = vectors.dtype.type(view.payoffs[0]), vectors.dtype.type(view.payoffs[1])
    if player == 1:
        won, lost = -lost, -won
    if (node["payoff"] > 0.0) != (player == 0):  # the opponent has made the bid, and loses if it does not hold
        won, lost = lost, won
    sums = vectors[counts : counts + CARDS]
    sums[: quantity + 1] = zero
    for r in range(rows[1 - player]):
        met = min(view.matches[others + r, face], quantity)
        sums[met] += vectors.dtype.type(view.weight[others + r]) * vectors[reach + r]
    for met in range(quantity - 1, -1, -1):  # from there on: at least so many
        sums[met] += sums[met + 1]
    for r in range(rows[player]):
        holds = sums[quantity - min(view.matches[own + r, face], quantity)]
        vectors[value + r] = won * holds + lost * (sums[0] - holds)


@inlined
def fill_pairwise(view, node, player, frame, factor, vectors, zero):
    """Set a player's value of a terminal, times ``factor``, pair by pair: one of the windows has one private state."""
    own, others = frame[FIRST + player], frame[FIRST + 1 - player]
    low, high = 0, 0
    if node["kind"] == SHOWDOWN:
        low, high = equals(view, view.deals[node["deal"]], others if frame[COUNT + 1 - player] == 1 else own)
    for r in range(frame[COUNT + player]):
        total = zero
        for c in range(frame[COUNT + 1 - player]):
            payoff = pair_payoff(view, node, player, own + r, others + c, low, high)
            total += vectors.dtype.type(payoff) * vectors[frame[REACH] + c]
        vectors[frame[VALUE] + r] = factor * total


@inlined
def equals(view, deal, row):
    """Return the range of a deal's rows that are as strong as a given one."""
    low, high = deal["group"], deal["group"] + deal["groups"] - 1
    while low < high:
        middle = (low + high) // 2
        if view.group_end[middle] > row:
            high = middle
        else:
            low = middle + 1
    return 0 if low == deal["group"] else view.group_end[low - 1], view.group_end[low]


@inlined
def pair_payoff(view, node, player, own, other, low, high):
    """Return a player's payoff with one of its private states, summed over those of one of the opponent's rows.

    Args:
        own, other: rows of the player and of the opponent.
        low, high: range of the rows that are as strong as one of the two.
    """
    deal = view.deals[node["deal"]]
    rows, payoff = deal["rows"], node["payoff"]
    if node["kind"] == MATRIX:
        if player == 0:
            return view.payoffs[node["table"] + own * rows[1] + other]
        return -view.payoffs[node["table"] + other * rows[1] + own]
    if node["kind"] == DICE:
        faces = view.matches.shape[1]
        quantity, face = node["table"] // faces + 1, node["table"] % faces
        mine, theirs = (own, rows[0] + other) if player == 0 else (rows[0] + own, other)
        holds = view.matches[mine, face] + view.matches[theirs, face] >= quantity
        wins = holds == ((payoff > 0.0) == (player == 0))
        gain = view.payoffs[0 if wins == (player == 0) else 1]
        return view.weight[theirs] * (gain if player == 0 else -gain)
    sign = 1.0 if player == 0 else -1.0
    if node["kind"] == SHOWDOWN:
        if low <= own < high and low <= other < high:
            return 0.0
        sign = 1.0 if own > other else -1.0
    first, at = view.firsts[deal["row"] + own], deal["row"] + other
    begin = 0 if other == 0 else view.hand_end[at - 1]
    count = 0
    for hand in range(deal["hand"] + begin, deal["hand"] + view.hand_end[at]):
        cards = view.hands[hand]
        held = cards[0] == first[0] or cards[0] == first[1] or cards[1] == first[0] or cards[1] == first[1]
        count += 0 if held else 1
    return sign * payoff * count
