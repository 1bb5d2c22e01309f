// The page walks through the points of a game. The element "index" holds, packed, {title, figures, unit, small, ranks,
// colours, points}; a point is [above, move, actor, share, value, chunk], where the actor is 0, 1, 2 for chance or -1 at the end.
// Elements "chunk0" and so on hold, packed, {point: [states, others]}; they are unpacked when a point is shown. A state is
// [text, share, words, value, [[action, probability, regret], ...]], where words are the text in words to display, or empty
// if they are the same; the other player's states end with the words. A number that is unknown is null.
"use strict";
const $ = id => document.getElementById(id);
const MOST_ROWS = 200, MOST_COLUMNS = 6, KEPT = 30;
const chunks = new Map();
let index, below, shown = null, sorted = {by: 1, falling: true}, all = false, cell = null;

async function unpack(id) {
  const bytes = Uint8Array.from(atob($(id).textContent.trim()), sign => sign.charCodeAt(0));
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
  return JSON.parse(await new Response(stream).text());
}

async function statesOf(number) {
  const chunk = index.points[number][5];
  if (chunk === null) return [[], []];
  if (!chunks.has(chunk)) {
    if (chunks.size >= KEPT) chunks.delete(chunks.keys().next().value);
    chunks.set(chunk, await unpack("chunk" + chunk));
  }
  return chunks.get(chunk)[number] ?? [[], []];
}

function element(tag, text = "", attributes = {}) {
  const made = document.createElement(tag);
  made.textContent = text;
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
  return made;
}

const share = value => value >= 0.9995 ? "100 %" : value > 0 && value < 0.001 ? "< 0.1 %" : (100 * value).toFixed(1) + " %";
function worth(value) {
  if (value === null) return "–";
  const decimals = Math.min(9, Math.max(0, -Math.floor(Math.log10(index.small)))), digits = Math.abs(value).toFixed(decimals);
  return (value < 0 && Number(digits) ? "−" : "") + digits;
}

const regretOf = value => value === null ? "–" : Math.abs(value) < index.small ? "" // most are, near an equilibrium
  : (value < 0 ? "−" : "+") + Math.abs(value).toPrecision(2);
const nameOf = actor => actor === 2 ? "Chance" : "Player " + actor;
const colour = action => index.colours[action] ?? "#b0b8c1"; // chance moves, and hidden moves shown together, have none

// Whether a point shows nothing: a chance point with only one move.
const forced = number => below[number].length === 1 && index.points[number][2] === 2;

function settle(number) {
  while (forced(number)) number = below[number][0];
  return number;
}

function pathTo(number) {
  const path = [];
  for (let at = number; at >= 0; at = index.points[at][0]) if (!forced(at) || at === number) path.unshift(at);
  return path;
}

function go(number) {
  location.hash = "#" + settle(number);
}

async function show() {
  const asked = Number(location.hash.slice(1));
  const number = settle(Number.isInteger(asked) && asked >= 0 && asked < index.points.length ? asked : 0);
  const [states, others] = await statesOf(number);
  if (settle(Number(location.hash.slice(1)) || 0) !== number) return; // another step was quicker
  shown = {number, states, others, actions: actionsOf(states), brief: [briefly(states), briefly(others)]};
  all = false;
  cell = null;
  $("filter").value = "";
  drawPath();
  drawMoves();
  drawStates();
  drawOthers();
  document.body.dataset.point = number;
  performance.mark("shown");
}

function actionsOf(states) {
  return [...new Set(states.flatMap(state => state[4].map(([name]) => name)))];
}

const wordsOf = ([text, , words]) => words || text;

// The function from a state to its short text: the name of its hand if each state has a hand of its own, as before the flop;
// else the parts of its words, such as [Private: 3], that not all of these states share.
function briefly(states) {
  const hands = new Set(index.ranks ? states.map(([text]) => cellOf(text)) : []);
  if (hands.size > 1 && hands.size === states.length && !hands.has(null)) return ([text]) => cellOf(text);
  const split = state => wordsOf(state).split(/, |(?<=\])(?=.)|(?= → )/), parts = states.map(split);
  const alike = parts.length > 1 && parts.every(own => own.length === parts[0].length);
  const differs = alike ? parts[0].map((one, place) => parts.some(own => own[place] !== one)) : [];
  return state => alike ? split(state).filter((_, place) => differs[place]).join(" ") : wordsOf(state);
}

function drawPath() {
  const path = pathTo(shown.number);
  $("path").replaceChildren(...path.map((at, place) => {
    const button = element("button", (place ? index.points[at][1] : index.points[0][1]) || "Start");
    button.onclick = () => go(at);
    if (at === shown.number) button.setAttribute("aria-current", "step");
    return button;
  }));
}

function drawMoves() {
  const [, , actor, , value] = index.points[shown.number];
  $("who").textContent = actor < 0 ? "The game has ended" : `${nameOf(actor)} moves`;
  const total = `Player 0's expected payoff is ${worth(value)} ${index.unit}.`;
  const left = actor >= 0 && !below[shown.number].length ? " This page does not continue from here." : "";
  $("worth").textContent = total + left;
  $("moves").replaceChildren(...below[shown.number].map(next => {
    const [, move, , probability, after] = index.points[next];
    const button = element("button", "", {title: `player 0's expected payoff after it: ${worth(after)}`});
    const bar = element("div", "", {class: "bar"});
    const fill = element("span");
    fill.style.width = 100 * probability + "%";
    fill.style.background = colour(move);
    bar.append(fill);
    button.append(element("span", move), element("span", share(probability), {class: "number"}), bar);
    button.onclick = () => go(next);
    return button;
  }));
}

function chosen() {
  const words = $("filter").value.toLowerCase().split(/\s+/).filter(Boolean);
  return shown.states.filter(state =>
    words.every(word => [state[0], state[2], cellOf(state[0])].join(" ").toLowerCase().includes(word)) && (cell === null || cellOf(state[0]) === cell));
}

function drawStates() {
  const actor = index.points[shown.number][2], names = shown.actions, found = chosen();
  $("own").textContent = actor === 0 || actor === 1 ? `States of player ${actor}` : "";
  $("filter").parentElement.parentElement.hidden = !shown.states.length;
  $("legend").replaceChildren(...names.map(name => {
    const item = element("span", "", {style: "margin-right: 1rem"});
    const key = element("span", "", {class: "key"});
    key.style.background = colour(name);
    item.append(key, name);
    return item;
  }));
  drawGrid();
  const rows = [...found].sort((one, two) => {
    const [first, second] = [one[sorted.by], two[sorted.by]];
    const order = typeof first === "string" ? first.localeCompare(second) : (first ?? -Infinity) - (second ?? -Infinity);
    return sorted.falling ? -order : order;
  });
  $("count").textContent = `${found.length.toLocaleString("en")} of ${shown.states.length.toLocaleString("en")}`;
  $("more").hidden = all || rows.length <= MOST_ROWS;
  const listed = all ? rows : rows.slice(0, MOST_ROWS);
  const columns = names.length <= MOST_COLUMNS ? names : [];
  $("states").replaceChildren(...(shown.states.length ? [head(columns), ...listed.map(state => row(state, columns))] : []));
}

function head(columns) {
  const line = element("tr");
  for (const [text, by] of [["state", 0], ["share", 1], ["value", 3]]) {
    const cell = element("th", "", by ? {class: "number"} : {}), button = element("button", text + (sorted.by === by ? sorted.falling ? " ↓" : " ↑" : ""));
    button.onclick = () => {
      sorted = {by, falling: sorted.by === by ? !sorted.falling : by > 0};
      drawStates();
    };
    cell.append(button);
    line.append(cell);
  }
  line.append(element("th", "actions"));
  for (const name of columns) line.append(element("th", name, {class: "number", title: "probability and regret"}));
  return line;
}

function stateCell(state, place) {
  const [text, , words] = state, brief = shown.brief[place](state);
  const alike = brief === cellOf(text) ? `${text}, and all hands like it` : text;
  return element("td", brief, {class: "text", title: words ? words + "\n" + text : alike});
}

function row(state, columns) {
  const [, probability, , value, actions] = state;
  const line = element("tr"), bar = element("div", "", {class: "bar"}), drawn = element("td");
  for (const [name, likely, regret] of actions) {
    const part = element("span", "", {title: `${name}: ${share(likely)}, regret ${worth(regret)}`});
    part.style.width = 100 * likely + "%";
    part.style.background = colour(name);
    bar.append(part);
  }
  drawn.append(bar);
  if (!columns.length) {
    const likely = [...actions].sort((one, two) => two[1] - one[1]).filter(action => action[1] > 0.005).slice(0, MOST_COLUMNS);
    drawn.append(element("div", likely.map(([name, own]) => `${name} ${share(own)}`).join(", ")));
  }
  line.append(stateCell(state, 0), element("td", share(probability), {class: "number"}), element("td", worth(value), {class: "number"}), drawn);
  for (const name of columns) {
    const action = actions.find(one => one[0] === name), found = element("td", "", {class: "number"});
    if (action) {
      const tone = action[2] === null || Math.abs(action[2]) < index.small ? "" : action[2] > 0 ? "gain" : "loss";
      found.append(share(action[1]) + " ", element("span", regretOf(action[2]), {class: tone}));
    }
    line.append(found);
  }
  return line;
}

function drawOthers() {
  const actor = index.points[shown.number][2];
  const rows = [...shown.others].sort((one, two) => two[1] - one[1]).slice(0, MOST_ROWS);
  $("other").textContent = rows.length ? `What player ${1 - actor} may hold` : "";
  $("others").replaceChildren(...rows.map(state => {
    const line = element("tr");
    line.append(stateCell(state, 1), element("td", share(state[1]), {class: "number"}));
    return line;
  }));
}

// The name of a starting hand, such as AKs, for a text that ends with two cards; null for others.
function cellOf(text) {
  const cards = /([2-9TJQKA])([cdhs])([2-9TJQKA])([cdhs])$/.exec(text);
  if (!cards) return null;
  const [, one, suit, two, other] = cards, order = [one, two].sort((a, b) => index.ranks.indexOf(a) - index.ranks.indexOf(b));
  return order.join("") + (one === two ? "" : suit === other ? "s" : "o");
}

function drawGrid() {
  const sums = new Map();
  if (index.ranks) for (const [text, probability, , , actions] of shown.states) {
    const name = cellOf(text);
    if (name === null) continue;
    const sum = sums.get(name) ?? new Map([["", 0]]);
    sum.set("", sum.get("") + probability);
    for (const [action, likely] of actions) sum.set(action, (sum.get(action) ?? 0) + probability * likely);
    sums.set(name, sum);
  }
  $("grid").hidden = !sums.size;
  if (!sums.size) return;
  const ranks = [...index.ranks];
  $("grid").style.gridTemplateColumns = `repeat(${ranks.length}, 1fr)`;
  $("grid").replaceChildren(...ranks.flatMap((row, down) => ranks.map((column, across) => {
    const name = down < across ? row + column + "s" : down > across ? column + row + "o" : row + column;
    const button = element("button", name, {"aria-pressed": cell === name}), sum = sums.get(name);
    button.disabled = !sum;
    if (sum && sum.get("") > 0) {
      let at = 0;
      const parts = shown.actions.map(action => {
        const from = at;
        at += 100 * (sum.get(action) ?? 0) / sum.get("");
        return `${colour(action)}88 ${from}% ${at}%`;
      });
      button.style.background = `linear-gradient(90deg, ${parts.join(", ")})`;
    }
    button.onclick = () => {
      cell = cell === name ? null : name;
      drawStates();
    };
    return button;
  })));
}

function press(event) {
  if (event.target.tagName === "INPUT") {
    if (event.key === "Escape") event.target.blur();
    return;
  }
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  const moves = [...$("moves").children], at = moves.indexOf(document.activeElement), above = index.points[shown.number][0];
  if (event.key === "ArrowDown" || event.key === "ArrowUp") {
    if (!moves.length) return;
    const step = event.key === "ArrowDown" ? 1 : -1;
    moves[at < 0 ? step > 0 ? 0 : moves.length - 1 : (at + step + moves.length) % moves.length].focus();
  } else if (event.key === "ArrowRight") {
    if (at >= 0) moves[at].click();
  } else if (event.key === "ArrowLeft" || event.key === "Backspace") {
    const path = pathTo(shown.number);
    if (path.length > 1) go(path[path.length - 2]);
  } else if (event.key === "/") {
    $("filter").focus();
  } else {
    return;
  }
  event.preventDefault();
}

async function start() {
  index = await unpack("index");
  below = index.points.map(() => []);
  index.points.forEach(([above], number) => above >= 0 && below[above].push(number));
  $("title").textContent = index.title;
  $("figures").textContent = index.figures;
  $("filter").oninput = () => { cell = null; drawStates(); };
  $("more").onclick = () => { all = true; drawStates(); };
  document.addEventListener("keydown", press);
  window.addEventListener("hashchange", show);
  await show();
}

start().catch(error => {
  $("figures").textContent = `This browser can't unpack the page (${error}): use a browser of 2023 or later.`;
});
