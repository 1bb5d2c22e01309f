"""Passes over the public tree, for one player: the opponent's reach goes down, the player's values come up.

The stack is explicit. A frame has a *window* of each player's private states: all of the deal, or the one drawn. Its
vectors lie in the workspace's ``vectors`` from the frame's FREE on:

* at the player's own nodes: the node's policy (count, rows), then the values of its actions (count, rows);
* at the opponent's nodes: the node's policy (count, rows), then the current child's reach, then the child's value;
* at public chance nodes: the current outcome's reach, then the outcome's value.

The vectors of the child's frame come after these.
"""

from __future__ import annotations

import numpy as np

from rlccfr.games.public.records import CARDS, CHANCE
from rlccfr.kernels.jit import inlined, kernel
from rlccfr.kernels.layout import AVERAGE_DECAY, FLOOR, NEGATIVE_DISCOUNT, POSITIVE_DISCOUNT
from rlccfr.kernels.public.drawing import average_decay, draw_by_cumulative, draw_row_below, regret_discounts
from rlccfr.kernels.public.steps import close, opened
from rlccfr.kernels.public.terminals import fill_pairwise, fill_terminal
from rlccfr.kernels.public.vectors import (
    add,
    add_to_average,
    clear_locked,
    fill_largest,
    fill_locked,
    fill_locked_means,
    fill_mean,
    fill_policy,
    fill_response,
    multiply,
    predict_regrets,
    update_row_regrets,
    update_rows_with_momentum,
    write_response,
    write_values,
)
from rlccfr.kernels.public.workspace import (
    FRAME_SIZE,
    FREE,
    NEXT_CHILD,
    NODE_INDEX,
    REACH,
    VALUE,
    WINDOW_SIZE,
    WINDOW_START,
)

# What a pass does at the player's own nodes.
UPDATE = 0  # update regrets; add the opponent's policies to its average
MEAN = 1  # the node's value is the mean of the actions' values under the player's policy
BEST = 2  # the node's value is the largest of the actions' values
RESPOND = 3  # like BEST, and store the best action; add the opponent's policies to its average
UPDATE_AGAINST_RESPONSE = 4  # update regrets against the responses that RESPOND has stored
BEST_AGAINST_RESPONSE = 5  # like BEST, against the stored responses
WRITE_VALUES = 6  # like MEAN, and write the actions' values to the table of regrets
WRITE_PAYOFFS = 7  # write what actions get before the player's next decision; the node's value is then 0

# What a pass does at public chance nodes. With DOWN and UP, it stops at the *first* chance node of each path, so that
# threads can share the trees below these nodes.
BELOW = 0  # the pass begins below a first chance node, and goes through all outcomes of further ones
DOWN = 1  # it stores the opponent's reach at first chance nodes, and does nothing else
UP = 2  # it takes the values of first chance nodes from the values that passes below these nodes have stored
DRAWN = 3  # at every chance node, it draws one outcome and goes through that alone


@inlined
def enter_decision(view, node, frame, player, policy_source, tables, workspace, mode, now):
    """Set the policy of a decision at the beginning of its frame's vectors, before its children are visited."""
    vectors = workspace.vectors
    drawing = workspace.drawing
    actor = node["kind"]
    count = node["num_children"]
    free = frame[FREE]
    stride = view.deals[node["deal"]]["rows"][actor]
    rows = frame[WINDOW_SIZE + actor]
    start = node["table"] + frame[WINDOW_START + actor]
    # An opponent that responds plays the stored action; other policies come from the table. A player whose value is the
    # largest of its actions' needs no policy.
    if actor != player and mode in (UPDATE_AGAINST_RESPONSE, BEST_AGAINST_RESPONSE):
        first = tables.response_start[frame[NODE_INDEX]] + frame[WINDOW_START + actor]
        fill_response(tables.response, first, count, rows, workspace.reciprocals, vectors, free)
    elif actor != player or mode in (UPDATE, MEAN, UPDATE_AGAINST_RESPONSE, WRITE_VALUES):
        total = free + 2 * count * rows
        fill_policy(policy_source, start, stride, count, rows, workspace.reciprocals, vectors, free, total)
    # In locked rows, the lock's policy replaces that of the table or of the response.
    if len(view.lock_start) and view.lock_start[frame[NODE_INDEX]] >= 0:
        first_locked = view.lock_start[frame[NODE_INDEX]] + frame[WINDOW_START + actor]
        zero = workspace.reciprocals[0]
        fill_locked(view.lock, first_locked, stride, count, rows, zero, vectors, free)
    # The opponent's reach is known here, so its policy is added to its average now, before an update changes it.
    if actor != player and mode in (UPDATE, RESPOND):
        decay = now[AVERAGE_DECAY]
        if drawing.draws_public and rows > 0:
            entry = drawing.average_start[frame[NODE_INDEX]] + frame[WINDOW_START + actor]
            decay = workspace.reciprocals.dtype.type(average_decay(drawing, entry))
        number = frame[NODE_INDEX]
        table = tables.policy_sum
        steps = tables.policy_sum_steps
        place = free + count * rows
        sums, first, gap = opened(table, steps, number, start, stride, count, rows, workspace, place)
        add_to_average(vectors, frame[REACH], free, count, rows, sums, first, gap, decay)
        close(table, steps, number, start, stride, count, rows, workspace, place)


@inlined
def enter_child(node, frame, player, workspace, child_frame):
    """Set the frame of a decision's next child."""
    child = frame[NEXT_CHILD]
    count = node["num_children"]
    free = frame[FREE]
    own_rows = frame[WINDOW_SIZE + player]
    opponent_rows = frame[WINDOW_SIZE + 1 - player]
    child_frame[NODE_INDEX] = node["first_child"] + child
    child_frame[NEXT_CHILD] = 0
    child_frame[REACH] = frame[REACH]
    for i in range(WINDOW_START, FRAME_SIZE):
        child_frame[i] = frame[i]
    if node["kind"] == player:
        # Each action's value has a place of its own, since regrets need all of them. The opponent's reach is the same.
        child_frame[VALUE] = free + (count + child) * own_rows
        child_frame[FREE] = free + 2 * count * own_rows
    else:
        # Only the sum of the children's values is needed. The first child's value is written where the frame's own
        # belongs; later children share one place.
        reach = free + count * opponent_rows
        value = free + (count + 1) * opponent_rows
        multiply(workspace.vectors, frame[REACH], free + child * opponent_rows, opponent_rows, reach)
        child_frame[REACH] = reach
        child_frame[VALUE] = frame[VALUE] if child == 0 else value
        child_frame[FREE] = value + own_rows


@inlined
def finish_decision(view, node, frame, player, tables, workspace, mode, now, ahead):
    """Set the value of one of the player's nodes from its actions' values, and update the node.

    Args:
        now, ahead: schedule rows of this iteration and of the next, in the type in which passes compute.
    """
    vectors = workspace.vectors
    drawing = workspace.drawing
    zero = workspace.reciprocals[0]
    free = frame[FREE]
    value = frame[VALUE]
    count = node["num_children"]
    rows = frame[WINDOW_SIZE + player]
    start = node["table"] + frame[WINDOW_START + player]
    stride = view.deals[node["deal"]]["rows"][player]
    values = free + count * rows
    if mode in (BEST, RESPOND, BEST_AGAINST_RESPONSE):
        fill_largest(vectors, values, count, rows, value)
        if len(view.lock_start) and view.lock_start[frame[NODE_INDEX]] >= 0:
            first_locked = view.lock_start[frame[NODE_INDEX]] + frame[WINDOW_START + player]
            fill_locked_means(view.lock, first_locked, stride, count, rows, zero, vectors, values, value)
        if mode == RESPOND:
            first = tables.response_start[frame[NODE_INDEX]]
            write_response(vectors, values, value, count, rows, tables.response, first)
        return
    if mode == WRITE_PAYOFFS:  # this decision adds nothing to the payoffs of actions above it
        write_values(vectors, values, count, rows, tables.regret, start, stride)
        vectors[value : value + rows] = zero
        return
    fill_mean(vectors, free, values, count, rows, value, zero)
    if mode == WRITE_VALUES:
        write_values(vectors, values, count, rows, tables.regret, start, stride)
    elif mode != MEAN and rows > 0:
        # Regrets in tables lack two factors: the probabilities of a pair and of the deal. The schedule's floor has been
        # divided by the first; here it is divided by the second.
        floor = now[FLOOR] / vectors.dtype.type(view.deals[node["deal"]]["share"])
        discounts = (now[POSITIVE_DISCOUNT], now[NEGATIVE_DISCOUNT])
        if len(tables.movement):  # rules with momentum run by exact passes only
            one = workspace.reciprocals[1]
            update_rows_with_momentum(
                vectors, values, value, count, rows, tables, start, stride, discounts, floor, now, ahead, zero, one
            )
            return
        if drawing.draws_public:  # this iteration's discounts and those that are pending
            entry = drawing.regret_start[frame[NODE_INDEX]] + frame[WINDOW_START + player]
            positive, negative = regret_discounts(drawing, entry)
            discounts = (vectors.dtype.type(positive), vectors.dtype.type(negative))
        number = frame[NODE_INDEX]
        table = tables.regret
        steps = tables.regret_steps
        place = values + count * rows
        regrets, first, gap = opened(table, steps, number, start, stride, count, rows, workspace, place)
        update_row_regrets(vectors, values, value, count, rows, regrets, first, gap, discounts, floor, zero)
        if len(steps) and len(view.lock_start) and view.lock_start[number] >= 0:  # locked rows must not set the step
            first_locked = view.lock_start[number] + frame[WINDOW_START + player]
            clear_locked(view.lock, first_locked, stride, count, rows, zero, regrets, first, gap)
        close(table, steps, number, start, stride, count, rows, workspace, place)
        if len(tables.policy):
            one = workspace.reciprocals[1]
            predict_regrets(vectors, values, value, count, rows, tables, start, stride, ahead, zero, one)


@inlined
def draw_outcome(view, node, frame, player, workspace, depth):
    """Draw an outcome of a public chance node, and the private states that are drawn below it.

    Args:
        workspace: the next frame's node and windows are set; a window is empty if the outcome excludes the private
            state.

    Returns:
        1 / (probability of the outcome and, if it is drawn, of the opponent's private state).
    """
    drawing = workspace.drawing
    child_frame = workspace.frames[depth + 1]
    first = node["first_child"]
    end = first + node["num_children"]
    child_frame[NODE_INDEX], inverse = draw_by_cumulative(drawing.outcome_cumulative, first, end, drawing.rng)
    deal = view.deals[view.nodes[child_frame[NODE_INDEX]]["deal"]]
    workspace.own_draw_weights[depth + 1] = workspace.own_draw_weights[depth]
    for i in range(2):
        child_frame[WINDOW_START + i] = 0
        child_frame[WINDOW_SIZE + i] = deal["rows"][i]
        if not (drawing.draws_own if i == player else drawing.draws_opponent):
            continue
        # If the outcome excludes the state, the window is empty. The pass continues for the other player's tables.
        row = np.int64(-1)
        scale = 0.0
        if frame[WINDOW_SIZE + i] > 0:
            row, scale = draw_row_below(view, drawing, deal["edge"][i], deal["rows"][i], frame[WINDOW_START + i])
        child_frame[WINDOW_START + i] = max(row, 0)
        child_frame[WINDOW_SIZE + i] = 1 if row >= 0 else 0
        # The opponent's reach is divided by the probability of the opponent's draws, and values at terminals by that of
        # the player's draws.
        if i == player:
            workspace.own_draw_weights[depth + 1] *= workspace.reciprocals.dtype.type(scale)
        else:
            inverse *= scale
    return inverse


@inlined
def enter_outcome(view, node, frame, player, workspace, depth, is_drawn):
    """Set the frame of the next outcome of a public chance node; after a drawn one, no further outcome is visited."""
    child_frame = workspace.frames[depth + 1]
    factor = workspace.reciprocals[1]
    if is_drawn:
        inverse = draw_outcome(view, node, frame, player, workspace, depth)
        factor = workspace.reciprocals.dtype.type(inverse)
        frame[NEXT_CHILD] = node["num_children"]
    else:
        child_frame[NODE_INDEX] = node["first_child"] + frame[NEXT_CHILD]
        rows = view.deals[view.nodes[child_frame[NODE_INDEX]]["deal"]]["rows"]
        for i in range(2):
            child_frame[WINDOW_START + i] = 0
            child_frame[WINDOW_SIZE + i] = rows[i]
        frame[NEXT_CHILD] += 1
    # Each row below has the reach of the row that it comes from. Vectors begin with the first row of their window, not
    # with that of the deal.
    deal = view.deals[view.nodes[child_frame[NODE_INDEX]]["deal"]]
    opponent = 1 - player
    free = frame[FREE]
    opponent_rows = child_frame[WINDOW_SIZE + opponent]
    reach_before = frame[REACH] - frame[WINDOW_START + opponent]
    edge = deal["edge"][opponent] + child_frame[WINDOW_START + opponent]
    for r in range(opponent_rows):
        workspace.vectors[free + r] = factor * workspace.vectors[reach_before + view.above[edge + r]]
    child_frame[NEXT_CHILD] = 0
    child_frame[REACH] = free
    child_frame[VALUE] = free + opponent_rows
    child_frame[FREE] = free + opponent_rows + child_frame[WINDOW_SIZE + player]


@inlined
def add_outcome(view, frame, player, workspace, child_frame, is_first):
    """Add the value of the outcome visited last to the value of its chance node.

    Args:
        is_first: whether the node's value is set to 0 before.
    """
    deal = view.deals[view.nodes[child_frame[NODE_INDEX]]["deal"]]
    if is_first:
        workspace.vectors[frame[VALUE] : frame[VALUE] + frame[WINDOW_SIZE + player]] = workspace.reciprocals[0]
    edge = deal["edge"][player] + child_frame[WINDOW_START + player]
    value_before = frame[VALUE] - frame[WINDOW_START + player]
    for r in range(child_frame[WINDOW_SIZE + player]):
        weight = workspace.vectors.dtype.type(view.weight[edge + r])
        workspace.vectors[value_before + view.above[edge + r]] += weight * workspace.vectors[child_frame[VALUE] + r]


@inlined
def stop_at_chance(view, node, frame, player, workspace, outcomes, phase):
    """At a first chance node, store the opponent's reach, or set the value from the outcomes' stored values."""
    rows = view.deals[node["deal"]]["rows"]
    first = node["table"]
    if phase == DOWN:
        reach = workspace.vectors[frame[REACH] : frame[REACH] + rows[1 - player]]
        for r in range(rows[1 - player]):
            outcomes.reach[first, r] = reach[r]
        return
    # Outcomes are added in a fixed order, whichever thread went through them, so the sum is the same bit for bit.
    value = workspace.vectors[frame[VALUE] : frame[VALUE] + rows[player]]
    value[:] = workspace.reciprocals[0]
    for outcome in range(first, first + node["num_children"]):
        for r in range(rows[player]):
            value[r] += outcomes.value[outcome, r]


@inlined
def set_first_frame(view, node, player, workspace):
    """Set the first frame of a pass below a node; the vectors begin with the node's value and the opponent's reach."""
    rows = view.deals[view.nodes[node]["deal"]]["rows"]
    frame = workspace.frames[0]
    frame[NODE_INDEX] = node
    frame[NEXT_CHILD] = 0
    frame[VALUE] = 0
    frame[REACH] = rows[player]
    frame[FREE] = rows[0] + rows[1] + CARDS  # terminals use the entries per card
    for i in range(2):
        frame[WINDOW_START + i] = 0
        frame[WINDOW_SIZE + i] = rows[i]


@inlined
def set_drawn_root(view, player, workspace):
    """Set the first frame of a pass from the root down, with the private states that are drawn there."""
    set_first_frame(view, 0, player, workspace)
    drawing = workspace.drawing
    frame = workspace.frames[0]
    rows = view.deals[view.nodes[0]["deal"]]["rows"]
    reach = 1.0  # 1 / (probability of the opponent's draw)
    workspace.own_draw_weights[0] = workspace.reciprocals[1]
    workspace.states_met[0] = 0
    for i in range(2):
        if not (drawing.draws_own if i == player else drawing.draws_opponent):
            continue
        first = i * rows[0]
        row, scale = draw_by_cumulative(drawing.root_cumulative, first, first + rows[i], drawing.rng)
        frame[WINDOW_START + i] = row - first
        frame[WINDOW_SIZE + i] = 1
        if i == player:
            workspace.own_draw_weights[0] *= workspace.reciprocals.dtype.type(scale)
        else:
            reach *= scale
    # The reach at the root is a range's weights, or 1 in other games.
    opponent = 1 - player
    root_reach = view.reach[opponent * rows[0] + frame[WINDOW_START + opponent] :]
    for r in range(frame[WINDOW_SIZE + opponent]):
        workspace.vectors[frame[REACH] + r] = workspace.reciprocals.dtype.type(reach * root_reach[r])


@kernel
def sweep(view, player, policy_source, tables, workspace, outcomes, now, ahead, mode, phase):
    """Pass over the tree below the node of the first frame.

    Args:
        policy_source: (m,) entries to whose positive parts policies are proportional.
        tables: changed in place as the mode says.
        workspace: ``vectors`` must have the opponent's reach at the first frame's node, and get the player's value.
        outcomes: read or written at the first public chance nodes, if the phase is UP or DOWN.
        now, ahead: schedule rows of this iteration and of the next, in the type in which passes compute.
        mode, phase: constants of this module. Callers must convert them to ``np.int64``, because Numba would compile
            this kernel once more for each literal number.
    """
    frames = workspace.frames
    vectors = workspace.vectors
    drawing = workspace.drawing
    zero = workspace.reciprocals[0]
    card_sums = frames[0, FREE] - CARDS
    depth = 0  # index of the topmost frame
    # The loop comes to a frame before its first child and after each child; after the last child, it drops the frame.
    while depth >= 0:
        frame = frames[depth]
        node = view.nodes[frame[NODE_INDEX]]
        if frame[NEXT_CHILD] == 0:
            workspace.states_met[0] += frame[WINDOW_SIZE] + frame[WINDOW_SIZE + 1]
        if node["kind"] > CHANCE:  # a terminal
            if drawing.draws_own or drawing.draws_opponent:
                fill_pairwise(view, node, player, frame, workspace.own_draw_weights[depth], vectors, zero)
            elif phase != DOWN:
                fill_terminal(view, node, player, vectors, frame[REACH], frame[VALUE], card_sums, zero)
            depth -= 1
            continue
        if node["kind"] == CHANCE:
            if phase in (DOWN, UP):
                stop_at_chance(view, node, frame, player, workspace, outcomes, phase)
                depth -= 1
                continue
            if frame[NEXT_CHILD] > 0:
                is_first = frame[NEXT_CHILD] == 1 or phase == DRAWN
                add_outcome(view, frame, player, workspace, frames[depth + 1], is_first)
            if frame[NEXT_CHILD] == node["num_children"]:
                depth -= 1
                continue
            enter_outcome(view, node, frame, player, workspace, depth, phase == DRAWN)
            depth += 1
            continue
        if frame[NEXT_CHILD] == 0:
            enter_decision(view, node, frame, player, policy_source, tables, workspace, mode, now)
        elif frame[NEXT_CHILD] > 1 and node["kind"] != player:
            # The first child's value was written where the frame's own belongs; see enter_child.
            add(vectors, frames[depth + 1, VALUE], frame[WINDOW_SIZE + player], frame[VALUE])
        if frame[NEXT_CHILD] == node["num_children"]:
            if node["kind"] == player:
                finish_decision(view, node, frame, player, tables, workspace, mode, now, ahead)
            depth -= 1
            continue
        enter_child(node, frame, player, workspace, frames[depth + 1])
        workspace.own_draw_weights[depth + 1] = workspace.own_draw_weights[depth]
        frame[NEXT_CHILD] += 1
        depth += 1


@inlined
def sweep_outcomes(view, player, policy_source, tables, workspace, outcomes, now, ahead, mode, begin, end):
    """Pass over the trees below some outcomes of the first public chance nodes.

    Args:
        outcomes: ``reach`` is read, and ``value`` is overwritten for these outcomes.
        begin, end: range of the outcomes.
    """
    vectors = workspace.vectors
    opponent = 1 - player
    for outcome in range(begin, end):
        chance = view.nodes[view.outcomes[outcome, 0]]
        child = chance["first_child"] + view.outcomes[outcome, 1]
        deal = view.deals[view.nodes[child]["deal"]]
        # Copy the reach of the rows before the outcome to the rows after it.
        set_first_frame(view, child, player, workspace)
        reach = deal["rows"][player]
        edge = deal["edge"][opponent]
        for r in range(deal["rows"][opponent]):
            vectors[reach + r] = outcomes.reach[chance["table"], view.above[edge + r]]
        sweep(view, player, policy_source, tables, workspace, outcomes, now, ahead, np.int64(mode), np.int64(BELOW))
        # Add the values of the rows after the outcome to the rows before it.
        edge = deal["edge"][player]
        value = outcomes.value[outcome]
        value[:] = workspace.reciprocals[0]
        for r in range(deal["rows"][player]):
            value[view.above[edge + r]] += vectors.dtype.type(view.weight[edge + r]) * vectors[r]


@inlined
def sweep_top(view, player, policy_source, tables, workspace, outcomes, now, ahead, mode, phase):
    """Pass over the tree down to the first public chance nodes; the view gives the opponent's reach at the root."""
    rows = view.deals[view.nodes[0]["deal"]]["rows"]
    set_first_frame(view, 0, player, workspace)
    opponent_reach = view.reach[: rows[0]] if player == 1 else view.reach[rows[0] :]
    for r in range(rows[1 - player]):
        workspace.vectors[rows[player] + r] = opponent_reach[r]
    if phase == DOWN:  # only the opponent's reach is wanted, and tables must not change
        mode = BEST_AGAINST_RESPONSE if mode == UPDATE_AGAINST_RESPONSE else BEST
    sweep(view, player, policy_source, tables, workspace, outcomes, now, ahead, np.int64(mode), np.int64(phase))


@inlined
def sweep_all(view, player, policy_source, tables, workspace, outcomes, now, ahead, mode):
    """Pass over the whole tree; the root's value is then in the vectors from index 0 on."""
    if len(view.outcomes):
        sweep_top(view, player, policy_source, tables, workspace, outcomes, now, ahead, mode, DOWN)
        sweep_outcomes(
            view, player, policy_source, tables, workspace, outcomes, now, ahead, mode, 0, len(view.outcomes)
        )
    sweep_top(view, player, policy_source, tables, workspace, outcomes, now, ahead, mode, UP)
