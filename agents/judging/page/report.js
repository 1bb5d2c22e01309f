"use strict";
// DATA:
//   axes        [rules, samplers, abstractions]
//   budgets     [label]
//   presets     {name: {scale, words, weights: three pairs}}
//   fixed       {name: cell index}
//   decades, exact   constants of the reward
//   provenance  a sentence on the runs
//   games       {name: game}
// A game has
//   picks       {budget: {preset: cell index}}
//   cells       [cell], null for an algorithm without a run
//   exactly     a sentence on the exact solution
//   unit        what exploitability is divided by on the scale "units"
// A cell has
//   x, speed    [per budget: list with one value per run]; x is the exploitability, null if there is no result
//   uniform, iterations   [per budget], null if there is no result
//   seed, curve the first judging run's seed and its {iterations, seconds, nodes, x}
const $ = id => document.getElementById(id);
const [rules, samplers, abstractions] = DATA.axes;
const columns = samplers.length * abstractions.length;
const compared = {};  // indices of the clicked cells, by game
let chosen = null;  // index of the last clicked cell
const CONFIG = {displayModeBar: false, responsive: true};
const BLUE = "#0b5fa5", ORANGE = "#d9730d";

// Screens on which a bar of colours beside the heatmap would leave no room for it.
const narrow = window.matchMedia("(max-width: 700px)");

// Names for an axis: without hyperparameters where these are not needed to distinguish components.
function shortNames(ids) {
  const bare = ids.map(id => id.split("(")[0]);
  return ids.map((id, i) => bare.indexOf(bare[i]) === bare.lastIndexOf(bare[i]) ? bare[i] : id);
}

const triple = i => [rules[Math.floor(i / columns)], samplers[Math.floor(i % columns / abstractions.length)],
  abstractions[i % abstractions.length]];
const label = i => triple(i).join(" x ");
const digits = v => v === null || v === undefined ? "\u2013" : v === 0 ? "0" :
  Math.abs(v) >= 1e4 || Math.abs(v) < 1e-3 ? v.toExponential(2) : v.toPrecision(3);

function now() {
  const name = $("game").value, budget = +$("budget").value, preset = $("preset").value, game = DATA.games[name];
  return {name, game, budget, preset: DATA.presets[preset], pick: game.picks[DATA.budgets[budget]]?.[preset]};
}

const known = (cell, at) => cell && cell.x[at.budget] !== null;
const mean = values => values.reduce((sum, value) => sum + value, 0) / values.length;

// The cost e of an exploitability, as in envs/reward.py.
function errorCost(exploitability, uniform, at) {
  if (at.preset.scale === "units") return exploitability / at.game.unit;
  if (uniform <= DATA.exact) return +(exploitability > DATA.exact);
  if (at.preset.scale === "linear") return exploitability / uniform;
  return Math.max(0, 1 + Math.log10(Math.max(exploitability, DATA.exact) / uniform) / DATA.decades);
}

// The mean reward as in envs/reward.py, averaged over the runs.
function reward(cell, at) {
  if (!known(cell, at)) return null;
  const uniform = cell.uniform[at.budget];
  return mean(cell.x[at.budget].map((exploitability, run) => {
    const e = errorCost(exploitability, uniform, at), s = 1 / (1 + cell.speed[at.budget][run]);
    return mean(at.preset.weights.map(([alpha, beta]) => 1 - (alpha * e + beta * s)));
  }));
}

function figures(i, at) {
  const cell = at.game.cells[i];
  if (!known(cell, at)) return `${label(i)}<br>no result`;
  return `${label(i)}<br>exploitability ${digits(mean(cell.x[at.budget]))}<br>speed `
    + `${digits(mean(cell.speed[at.budget]))} times plain CFR<br>mean reward ${digits(reward(cell, at))}`;
}

function heatmap() {
  const at = now(), shown = $("shown").value, all = at.game.cells;
  const value = i => {
    const cell = all[i];
    if (!known(cell, at)) return null;
    return shown === "reward" ? reward(cell, at) : Math.log10(Math.max(mean(cell[shown][at.budget]), DATA.exact));
  };
  const index = rules.map((_, r) => Array.from({length: columns}, (_, c) => r * columns + c));
  const ruleNames = shortNames(rules), [samplerNames, abstractionNames] = [shortNames(samplers), shortNames(abstractions)];
  const names = Array.from({length: columns}, (_, c) =>
    `${samplerNames[Math.floor(c / abstractions.length)]} x ${abstractionNames[c % abstractions.length]}`);
  const beside = {title: {text: {reward: "mean<br>reward", x: "exploita-<br>bility", speed: "speed"}[shown]},
    lenmode: "pixels", len: 320, y: 1, yanchor: "top"};
  const above = {title: {text: {reward: "mean reward", x: "exploitability", speed: "speed"}[shown], side: "top"},
    orientation: "h", y: 1, yanchor: "bottom", thickness: 12};
  const bar = {...narrow.matches ? above : beside,
    ...shown === "reward" ? {} : {tickprefix: "10<sup>", ticksuffix: "</sup>"}};
  const star = at.pick === undefined ? {x: [], y: []}
    : {x: [names[at.pick % columns]], y: [ruleNames[Math.floor(at.pick / columns)]]};
  // Every row and column has its label, however many there are.
  const size = narrow.matches ? 9 : 12, labels = {automargin: true, dtick: 1, tickfont: {size}};
  const height = 190 + Math.max(320, (size + 4) * rules.length) + (narrow.matches ? 60 : 0);
  Plotly.react("heatmap", [{type: "heatmap", x: names, y: ruleNames, z: index.map(row => row.map(value)), customdata: index,
    text: index.map(row => row.map(i => figures(i, at))), hovertemplate: "%{text}<extra></extra>",
    colorscale: "Viridis", reversescale: shown === "x", colorbar: bar, xgap: 1, ygap: 1},
    {type: "scatter", mode: "markers", ...star, hoverinfo: "skip", showlegend: false,
     marker: {symbol: "star", size: 15, color: "#fff", line: {color: "#1b1f24", width: 1.5}}}],  // seen on any colour
    {height, margin: {l: 20, r: 10, t: 10, b: 20}, plot_bgcolor: "#cfd4da",
     xaxis: {...labels, tickangle: narrow.matches ? -90 : -50, range: [-0.5, columns - 0.5]},
     yaxis: {...labels, range: [rules.length - 0.5, -0.5]}}, CONFIG);
}

function front() {
  const at = now(), found = [];
  at.game.cells.forEach((cell, i) => {
    if (known(cell, at)) {
      found.push({i, x: Math.max(mean(cell.x[at.budget]), DATA.exact), y: mean(cell.speed[at.budget])});
    }
  });
  found.sort((a, b) => a.x - b.x || b.y - a.y);
  let most = -Infinity;
  const best = found.filter(p => p.y > most && ((most = p.y), true));
  const points = (list, more) => ({x: list.map(p => p.x), y: list.map(p => p.y), customdata: list.map(p => p.i),
    text: list.map(p => figures(p.i, at)), hovertemplate: "%{text}<extra></extra>", type: "scatter", ...more});
  Plotly.react("front", [
    points(found, {mode: "markers", name: "all", marker: {color: "#8a94a0", size: 6}}),
    points(best, {mode: "lines+markers", name: "not beaten", line: {shape: "hv", color: BLUE},
      marker: {color: BLUE, size: 8}}),
    points(found.filter(p => p.i === at.pick), {mode: "markers", name: "recommended",
      marker: {symbol: "star", size: 16, color: ORANGE}})],
    {height: 430, margin: {l: 60, r: 10, t: 10, b: 50}, legend: {orientation: "h", y: 1.1},
     xaxis: {type: "log", title: {text: "exploitability (NashConv / 2)"}, exponentformat: "power", dtick: 2},
     yaxis: {type: "log", title: {text: "iterations per CPU second, times plain CFR's"}, exponentformat: "power",
       dtick: 1}}, CONFIG);
}

function curves() {
  const at = now(), over = $("over").value, drawn = new Map();
  for (const [name, i] of Object.entries(DATA.fixed)) drawn.set(i, name);
  if (at.pick !== undefined) drawn.set(at.pick, `recommended: ${label(at.pick)}`);
  for (const i of compared[at.name] ?? []) if (!drawn.has(i)) drawn.set(i, label(i));
  const units = {seconds: "engine CPU seconds", iterations: "iterations", nodes: "histories visited"};
  const traces = [...drawn].filter(([i]) => at.game.cells[i]?.curve).map(([i, name]) => {
    const curve = at.game.cells[i].curve;
    return {x: curve[over], y: curve.x.map(v => v === null ? null : Math.max(v, DATA.exact)), name, mode: "lines",
      type: "scatter", line: {width: i === at.pick ? 4 : 2}, hovertemplate: "%{y:.3g} after %{x:.3g}<extra></extra>"};
  });
  Plotly.react("curves", traces, {height: 430, margin: {l: 60, r: 10, t: 10, b: 50}, showlegend: true,
    colorway: ["#0072b2", "#e69f00", "#009e73", "#cc79a7", "#56b4e9", "#d55e00", "#444", "#9a6324", "#808000"],
    legend: {orientation: "h", y: -0.2},
    xaxis: {type: "log", title: {text: units[over]}, exponentformat: "power"},
    yaxis: {type: "log", title: {text: "exploitability (NashConv / 2)"}, exponentformat: "power"}}, CONFIG);
}

function choose(i) {
  chosen = i;
  (compared[now().name] ??= new Set()).add(i);
  describe();
  curves();
}

// Show the chosen cell's figures under the selected budget and weights, and the command that repeats its run.
function describe() {
  if (chosen === null) return;
  const at = now(), cell = at.game.cells[chosen], [rule, sampler, abstraction] = triple(chosen);
  const where = `${label(chosen)} on ${at.name}, ${DATA.budgets[at.budget]}: `;
  if (!known(cell, at)) { $("cell").textContent = where + "no result"; return; }
  const call = document.createElement("code");
  call.textContent = `rlccfr solve '${at.name}' --update-rule "${rule}" --sampler "${sampler}" `
    + `--abstraction "${abstraction}" --iterations ${cell.iterations[at.budget]} --seed ${cell.seed}`;
  const text = where + figures(chosen, at).split("<br>").slice(1).join(", ");
  $("cell").replaceChildren(text, document.createElement("br"), "Repeat one of these runs: ", call);
}

// Show the picks for the selected budget and weights, or all of them, and shade those for the selected game.
function picks() {
  const at = now(), budget = DATA.budgets[at.budget], preset = $("preset").value;
  for (const row of document.querySelectorAll(".wide tbody tr")) {
    const [game, rowBudget, weights] = [...row.cells].map(cell => cell.textContent);
    row.hidden = !$("every").checked && !(rowBudget === budget && weights === preset);
    row.classList.toggle("selected", game === at.name);
  }
  $("none").hidden = document.querySelector(".wide tbody tr:not([hidden])") !== null;
}

function draw() { $("exactly").textContent = now().game.exactly; heatmap(); front(); curves(); describe(); picks(); }

function fill(id, entries) {
  for (const [value, text] of entries) $(id).add(new Option(text, value));
}

$("provenance").textContent = DATA.provenance;
fill("game", Object.keys(DATA.games).map(name => [name, name]));
fill("budget", DATA.budgets.map((name, i) => [i, name]));
fill("preset", Object.entries(DATA.presets).map(([name, preset]) => [name, `${name} (${preset.words})`]));
$("budget").value = DATA.budgets.length - 1;
draw();
for (const id of ["heatmap", "front"]) $(id).on("plotly_click", event => choose(event.points[0].customdata));
for (const id of ["game", "budget", "preset"]) $(id).addEventListener("change", draw);
$("shown").addEventListener("change", heatmap);
narrow.addEventListener("change", heatmap);
$("every").addEventListener("change", picks);
$("over").addEventListener("change", curves);
$("clear").addEventListener("click", () => { compared[now().name]?.clear(); curves(); });
