"""Values of terminals for all private states at once, in time proportional to their number.

Two hands exclude each other if they share a card. The reach of all hands that share no card with a given hand is the
sum over all hands, less the sums over the hands with either of its two cards, plus the reach of the same hand, which
both of these sums contain. At a showdown, rows are visited in order of strength, so that the sums so far are those of
the weaker hands (Johanson, Waugh, Bowling and Zinkevich, "Accelerating best response calculation in large extensive
games", IJCAI 2011).
"""

from __future__ import annotations

from rlccfr.games.public.records import CARDS, DICE, FOLD, MATRIX, SHOWDOWN
from rlccfr.kernels.jit import inlined
from rlccfr.kernels.public.workspace import REACH, VALUE, WINDOW_SIZE, WINDOW_START


@inlined
def fill_terminal(view, node, player, vectors, reach, value, sums, zero):
    """Set a player's value of a terminal in each of the player's rows.

    Args:
        reach: (rows of the opponent,) the opponent's reach.
        value: (rows of the player,) overwritten.
        sums: (CARDS,) overwritten by sums of the reach, by card or by number of dice.
        zero: 0 in the vectors' type.
    """
    payoff = vectors.dtype.type(node["payoff"])
    if node["kind"] == MATRIX:
        fill_matrix(view, node, player, vectors, reach, value, zero)
    elif node["kind"] == DICE:
        fill_dice(view, node, player, vectors, reach, value, sums, zero)
    elif node["kind"] == FOLD:
        fill_fold(view, node, player, payoff if player == 0 else -payoff, vectors, reach, value, sums, zero)
    else:
        fill_showdown(view, node, player, payoff, vectors, reach, value, sums, zero)


@inlined
def fill_matrix(view, node, player, vectors, reach, value, zero):
    """Set a player's value at a terminal with a matrix of payoffs."""
    rows = view.deals[node["deal"]]["rows"]
    first = node["table"]
    if player == 0:
        for i in range(rows[0]):
            total = zero
            for j in range(rows[1]):
                total += view.payoffs[first + i * rows[1] + j] * vectors[reach + j]
            vectors[value + i] = total
    else:
        for j in range(rows[1]):
            vectors[value + j] = zero
        for i in range(rows[0]):  # the matrix lies in memory row by row
            for j in range(rows[1]):
                vectors[value + j] -= view.payoffs[first + i * rows[1] + j] * vectors[reach + i]


@inlined
def fill_fold(view, node, player, payoff, vectors, reach, value, sums, zero):
    """Set a player's value where its payoff, ``payoff``, does not depend on the hands."""
    deal = view.deals[node["deal"]]
    opponent = 1 - player
    opponent_rows = deal["rows"][opponent]
    own_rows = deal["rows"][player]
    opponent_row = deal["row"][opponent]
    own_row = deal["row"][player]
    row_reach = vectors[reach : reach + opponent_rows]
    row_value = vectors[value : value + own_rows]
    card_sums = vectors[sums : sums + CARDS]
    hands = view.hands[deal["hand"][opponent] :]
    ends = view.hand_end[opponent_row : opponent_row + opponent_rows]
    firsts = view.firsts[own_row : own_row + own_rows]
    # Add up the reach of all hands, and of the hands with each card.
    card_sums[:] = zero
    total = zero
    hand = 0
    for r in range(opponent_rows):
        hand_reach = row_reach[r]
        while hand < ends[r]:
            card_sums[hands[hand, 0]] += hand_reach
            card_sums[hands[hand, 1]] += hand_reach
            total += hand_reach
            hand += 1
    # Subtract the hands that share a card. The same hand, if the opponent may hold it, is subtracted twice, so it is
    # added once. By symmetry, the row's first hand stands for all of the row.
    if own_row == opponent_row:  # players share rows
        for r in range(own_rows):
            row_value[r] = payoff * (total - card_sums[firsts[r, 0]] - card_sums[firsts[r, 1]] + row_reach[r])
        return
    same = view.same[own_row : own_row + own_rows]
    for r in range(own_rows):
        same_reach = row_reach[same[r]] if same[r] >= 0 else zero
        row_value[r] = payoff * (total - card_sums[firsts[r, 0]] - card_sums[firsts[r, 1]] + same_reach)


@inlined
def fill_showdown(view, node, player, payoff, vectors, reach, value, sums, zero):
    """Set a player's value where the stronger hand wins ``payoff``.

    It is ``payoff`` times (reach of weaker hands + reach of hands that are not stronger - reach of all hands). Hands
    that share a card with the player's are left out of all three.
    """
    deal = view.deals[node["deal"]]
    opponent = 1 - player
    opponent_rows = deal["rows"][opponent]
    own_rows = deal["rows"][player]
    opponent_row = deal["row"][opponent]
    own_row = deal["row"][player]
    row_reach = vectors[reach : reach + opponent_rows]
    row_value = vectors[value : value + own_rows]
    card_sums = vectors[sums : sums + CARDS]
    hands = view.hands[deal["hand"][opponent] :]
    ends = view.hand_end[opponent_row : opponent_row + opponent_rows]
    firsts = view.firsts[own_row : own_row + own_rows]
    own_group_ends = view.group_end[deal["group"][player] : deal["group"][player] + deal["groups"]]
    group_ends = view.group_end[deal["group"][opponent] : deal["group"][opponent] + deal["groups"]]
    card_sums[:] = zero
    total = zero
    hand = 0
    own_first = 0
    first = 0
    for group in range(len(group_ends)):
        own_end = own_group_ends[group]
        end = group_ends[group]
        # Before the hands of equal strength are added, the sums are those of the weaker hands.
        for r in range(own_first, own_end):
            row_value[r] = total - card_sums[firsts[r, 0]] - card_sums[firsts[r, 1]]
        for r in range(first, end):
            hand_reach = row_reach[r]
            while hand < ends[r]:
                card_sums[hands[hand, 0]] += hand_reach
                card_sums[hands[hand, 1]] += hand_reach
                total += hand_reach
                hand += 1
        # Afterwards, they are those of the hands that are not stronger.
        for r in range(own_first, own_end):
            row_value[r] += total - card_sums[firsts[r, 0]] - card_sums[firsts[r, 1]]
        own_first = own_end
        first = end
    # Subtract all hands. In this sum, and in that of the hands that are not stronger, the same hand is subtracted twice
    # and added only once; the two errors cancel.
    for r in range(own_rows):
        row_value[r] = payoff * (row_value[r] - (total - card_sums[firsts[r, 0]] - card_sums[firsts[r, 1]]))


@inlined
def fill_dice(view, node, player, vectors, reach, value, sums, zero):
    """Set a player's value after a call in Bluff: the last bid holds if enough of all dice match it."""
    faces = view.matches.shape[1]
    quantity = node["table"] // faces + 1
    face = node["table"] % faces
    rows = view.deals[node["deal"]]["rows"]
    # Rolls of player 0 come first in the view.
    own_start = 0 if player == 0 else rows[0]
    opponent_start = rows[0] if player == 0 else 0
    # These are player 0's payoffs if it made the bid and the bid holds or fails. The next lines turn them into the
    # player's payoffs, whoever made the bid.
    payoff_held = vectors.dtype.type(view.payoffs[0])
    payoff_failed = vectors.dtype.type(view.payoffs[1])
    if player == 1:  # the view's payoffs are player 0's
        payoff_held, payoff_failed = -payoff_failed, -payoff_held
    if (node["payoff"] > 0.0) != (player == 0):  # the opponent made the bid, so the player wins if it fails
        payoff_held, payoff_failed = payoff_failed, payoff_held
    # Add up the opponent's reach by its number of matching dice, then over at least so many.
    at_least = vectors[sums : sums + CARDS]
    at_least[: quantity + 1] = zero
    for r in range(rows[1 - player]):
        matching = min(view.matches[opponent_start + r, face], quantity)
        at_least[matching] += vectors.dtype.type(view.weight[opponent_start + r]) * vectors[reach + r]
    for matching in range(quantity - 1, -1, -1):
        at_least[matching] += at_least[matching + 1]
    for r in range(rows[player]):
        holds = at_least[quantity - min(view.matches[own_start + r, face], quantity)]
        vectors[value + r] = payoff_held * holds + payoff_failed * (at_least[0] - holds)


@inlined
def fill_pairwise(view, node, player, frame, factor, vectors, zero):
    """Set a player's value of a terminal, times ``factor``, by a sum over pairs of rows.

    Args:
        frame: has a window of each player's rows (see sweep.py). One of the two windows has at most one row.
    """
    own_start = frame[WINDOW_START + player]
    opponent_start = frame[WINDOW_START + 1 - player]
    # Where the players' rows differ, only the groups of equal strength relate one player's rows to the other's. At a
    # showdown, the group of the single row gives the range of the other player's rows that are equally strong.
    is_opponent_single = frame[WINDOW_SIZE + 1 - player] == 1
    low = 0
    high = 0
    if node["kind"] == SHOWDOWN:
        single_player = 1 - player if is_opponent_single else player
        single_row = opponent_start if is_opponent_single else own_start
        low, high = equal_rows(view, view.deals[node["deal"]], single_player, single_row)
    for r in range(frame[WINDOW_SIZE + player]):
        total = zero
        for c in range(frame[WINDOW_SIZE + 1 - player]):
            own_row = own_start + r
            opponent_row = opponent_start + c
            if is_opponent_single:
                strength = strength_beside(own_row, low, high)
            else:
                strength = -strength_beside(opponent_row, low, high)
            payoff = pair_payoff(view, node, player, own_row, opponent_row, strength)
            total += vectors.dtype.type(payoff) * vectors[frame[REACH] + c]
        vectors[frame[VALUE] + r] = factor * total


@inlined
def equal_rows(view, deal, player, row):
    """Return the range of the other player's rows that are as strong as a player's row; it may be empty."""
    first_group = deal["group"][player]
    low = first_group
    high = first_group + deal["groups"] - 1
    while low < high:
        middle = (low + high) // 2
        if view.group_end[middle] > row:
            high = middle
        else:
            low = middle + 1
    group = low - first_group
    others_group = deal["group"][1 - player] + group
    return 0 if group == 0 else view.group_end[others_group - 1], view.group_end[others_group]


@inlined
def strength_beside(row, low, high):
    """Return 1.0 if a row comes after the rows from ``low`` to ``high - 1``, -1.0 if it comes before them, else 0.0."""
    if row < low:
        return -1.0
    return 1.0 if row >= high else 0.0


@inlined
def pair_payoff(view, node, player, own_row, opponent_row, strength):
    """Return a player's payoff with one private state of its row, summed over the private states of the opponent's row.

    Args:
        own_row, opponent_row: rows of the player and of the opponent.
        strength: at a showdown, 1.0 if the player's row is the stronger one, -1.0 if it is the weaker one, 0.0 if
            neither is.
    """
    deal = view.deals[node["deal"]]
    rows = deal["rows"]
    payoff = node["payoff"]
    if node["kind"] == MATRIX:
        if player == 0:
            return view.payoffs[node["table"] + own_row * rows[1] + opponent_row]
        return -view.payoffs[node["table"] + opponent_row * rows[1] + own_row]
    if node["kind"] == DICE:  # whoever made the bid wins if it holds; see fill_dice
        faces = view.matches.shape[1]
        quantity = node["table"] // faces + 1
        face = node["table"] % faces
        own_roll = own_row if player == 0 else rows[0] + own_row
        opponent_roll = rows[0] + opponent_row if player == 0 else opponent_row
        holds = view.matches[own_roll, face] + view.matches[opponent_roll, face] >= quantity
        wins = holds == ((payoff > 0.0) == (player == 0))
        gain = view.payoffs[0 if wins == (player == 0) else 1]
        return view.weight[opponent_roll] * (gain if player == 0 else -gain)
    sign = 1.0 if player == 0 else -1.0
    if node["kind"] == SHOWDOWN:
        if strength == 0.0:
            return 0.0
        sign = strength
    # Count the hands of the opponent's row that share no card with the first hand of the player's row.
    own_cards = view.firsts[deal["row"][player] + own_row]
    row = deal["row"][1 - player] + opponent_row
    begin = 0 if opponent_row == 0 else view.hand_end[row - 1]
    count = 0
    first_hand = deal["hand"][1 - player]
    for hand in range(first_hand + begin, first_hand + view.hand_end[row]):
        cards = view.hands[hand]
        shares_first = cards[0] == own_cards[0] or cards[0] == own_cards[1]
        excluded = shares_first or cards[1] == own_cards[0] or cards[1] == own_cards[1]
        count += 0 if excluded else 1
    return sign * payoff * count
