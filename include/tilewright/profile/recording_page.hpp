#pragma once
#include <string>
#include <string_view>

// page/make_header.py makes this header of the files in recording_page/: edit those, and `./dev docs` writes it anew.

namespace tilewright::detail {

/// Returns the page of a recording: one HTML text with its style, its script and the data, a recording as JSON.
inline std::string recording_page(std::string_view json) {
  std::string page;
  page += R"html(<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<link rel="icon" href="data:,">
<title>tilewright recording</title>
<style>)html";
  page += R"css(
:root {
  --page: #f6f7f9; --surface: #ffffff; --sunken: #eff1f5; --line: #dde1e8; --grid: #e6e9ef;
  --text: #1b2330; --muted: #566073; --accent: #1d5fbf; --on-accent: #ffffff; --accent-soft: #e5eefb;
  --worse: #a8470a; --better: #17609c;
  --compute: #2f78c4; --exchange: #e69f00; --sync: #8d96a5; --host: #a4508b; --remote: #009e73; --collective: #d55e00;
  --links: #7a4f2b;
  --m0: #0060a8; --m1: #5cb3e6; --m2: #e69f00; --m3: #cf5a00; --m4: #00805c; --m5: #6cc9a6; --m6: #b8578f; --m7: #e3a3cb;
  --m8: #7d8696; --m9: #c6ccd6;
  --sans: system-ui, -apple-system, "Segoe UI", Roboto, "Helvetica Neue", "Noto Sans", "DejaVu Sans", sans-serif;
  --mono: ui-monospace, "SF Mono", Menlo, Consolas, "DejaVu Sans Mono", monospace;
  color-scheme: light;
}
:root[data-theme="dark"] {
  --page: #0f1319; --surface: #171c24; --sunken: #1f2630; --line: #2c3542; --grid: #262e3a;
  --text: #e7ebf2; --muted: #a3adbd; --accent: #85b4f7; --on-accent: #0f1319; --accent-soft: #1c2c47;
  --worse: #f2a267; --better: #85b4f7;
  --compute: #5a9bdc; --exchange: #edb03a; --sync: #7f899a; --host: #c777ad; --remote: #2bb58d; --collective: #ea7b34;
  --links: #b58a63;
  --m0: #3d8fd6; --m1: #8accf2; --m2: #edb03a; --m3: #e57a34; --m4: #1fa07c; --m5: #8adabd; --m6: #cc74a8; --m7: #eebbd9;
  --m8: #8d97a8; --m9: #4c5667;
  color-scheme: dark;
}
* { box-sizing: border-box; }
html { scroll-padding-top: 76px; -webkit-text-size-adjust: 100%; }
body { margin: 0; background: var(--page); color: var(--text); font: 14px/1.5 var(--sans); font-variant-numeric: tabular-nums; }
h1, h2, h3, p, ol, ul, dl, dd, figure { margin: 0; padding: 0; }
h1 { font-size: 24px; line-height: 1.25; font-weight: 650; letter-spacing: -0.01em; overflow-wrap: anywhere; }
h2 { font-size: 17px; line-height: 1.35; font-weight: 650; letter-spacing: -0.005em; }
h3 { font-size: 14px; line-height: 1.4; font-weight: 600; overflow-wrap: anywhere; }
a { color: var(--accent); text-decoration: none; }
a:hover { text-decoration: underline; }
button, input, select { font: inherit; color: inherit; }
svg { display: block; max-width: 100%; }
svg text { font: 12px var(--sans); fill: var(--muted); font-variant-numeric: tabular-nums; }
svg text.strong { fill: var(--text); }
:focus-visible { outline: 2px solid var(--accent); outline-offset: 2px; border-radius: 4px; }
.muted { color: var(--muted); }
.small { font-size: 12.5px; }
.mono { font-family: var(--mono); font-size: 12.5px; overflow-wrap: anywhere; }

#page { max-width: 1400px; margin: 0 auto; padding: 28px 24px 64px; display: grid; grid-template-columns: 168px minmax(0, 1fr);
  gap: 0 32px; }
header { grid-column: 1 / -1; display: flex; flex-wrap: wrap; gap: 4px 24px; align-items: end; justify-content: space-between;
  padding-bottom: 16px; }
header > div { min-width: 0; }
nav { position: sticky; top: 84px; align-self: start; display: flex; flex-direction: column; gap: 2px; }
nav a { color: var(--muted); padding: 4px 10px; border-radius: 6px; border-left: 2px solid transparent; }
nav a:hover { color: var(--text); background: var(--sunken); text-decoration: none; }
nav a.here { color: var(--accent); background: var(--accent-soft); font-weight: 600; }
main { min-width: 0; display: flex; flex-direction: column; gap: 20px; }

.toolbar { grid-column: 1 / -1; position: sticky; top: 0; z-index: 5; display: flex; flex-wrap: wrap; align-items: center;
  gap: 10px 16px;
  margin: 0 -24px 20px; padding: 10px 24px; background: var(--page); border-block: 1px solid var(--line); }
.toolbar .find { flex: 1 1 260px; display: flex; align-items: center; gap: 12px; min-width: 0; }
.toolbar input { flex: 0 1 340px; min-width: 0; padding: 6px 11px; border: 1px solid var(--line); border-radius: 8px;
  background: var(--surface); }
.toolbar input::placeholder { color: var(--muted); opacity: 1; }
.switch { display: inline-flex; align-items: center; gap: 8px; color: var(--muted); font-size: 13px; }
.choices { display: inline-flex; padding: 2px; gap: 2px; background: var(--sunken); border: 1px solid var(--line);
  border-radius: 8px; }
.choices button { border: 0; background: none; padding: 3px 10px; border-radius: 6px; color: var(--muted); cursor: pointer;
  font-size: 13px; }
.choices button:hover { color: var(--text); }
.choices button[aria-pressed="true"] { background: var(--surface); color: var(--text); font-weight: 600;
  box-shadow: 0 0 0 1px var(--line); }
.plain { border: 1px solid var(--line); background: var(--surface); border-radius: 8px; padding: 4px 12px; cursor: pointer;
  font-size: 13px; }
.plain:hover { background: var(--sunken); }

section { background: var(--surface); border: 1px solid var(--line); border-radius: 12px; padding: 20px 22px 22px; min-width: 0; }
.head { display: flex; flex-wrap: wrap; gap: 8px 16px; justify-content: space-between; align-items: start; margin-bottom: 14px; }
.head > div:first-child { flex: 1 1 420px; min-width: 0; }
.head p { color: var(--muted); max-width: 84ch; text-wrap: pretty; }
.head .controls { display: flex; flex-wrap: wrap; gap: 8px 14px; align-items: center; }
.panes { display: grid; grid-template-columns: repeat(var(--count), minmax(0, 1fr)); gap: 22px 28px; }
.pane { min-width: 0; }
.pane > * + * { margin-top: 12px; }
.pane-title { display: flex; gap: 8px; align-items: baseline; min-width: 0; }
.badge { flex: none; display: inline-block; min-width: 20px; text-align: center; border-radius: 5px; font-weight: 650;
  font-size: 12px;
  line-height: 20px; background: var(--accent); color: var(--on-accent); }

.figures { display: grid; grid-template-columns: repeat(auto-fit, minmax(146px, 1fr)); gap: 1px; background: var(--line);
  border: 1px solid var(--line); border-radius: 10px; overflow: hidden; }
.figures > div { background: var(--surface); padding: 12px 14px; min-width: 0; }
.figures dt { color: var(--muted); font-size: 12.5px; }
.figures dd { font-size: 20px; line-height: 1.35; font-weight: 620; letter-spacing: -0.01em; overflow-wrap: anywhere; }
.figures dd + dd { font-size: 12.5px; font-weight: 400; color: var(--muted); letter-spacing: 0; }
.legend { display: flex; flex-wrap: wrap; gap: 4px 6px; }
.legend > * { display: inline-flex; align-items: center; gap: 7px; padding: 2px 8px 2px 6px; border: 0; border-radius: 6px;
  background: none;
  font-size: 13px; color: var(--text); }
.legend button { cursor: pointer; }
.legend button:hover { background: var(--sunken); }
.legend [aria-pressed="false"] { color: var(--muted); text-decoration: line-through; }
.legend [aria-pressed="false"] i { background: transparent !important; box-shadow: inset 0 0 0 1.5px var(--muted); }
.legend b { font-weight: 400; color: var(--muted); }
i.key { flex: none; width: 11px; height: 11px; border-radius: 3px; display: inline-block; }
.bar { display: flex; height: 12px; border-radius: 4px; overflow: hidden; background: var(--sunken); }
.bar.tall { height: 22px; border-radius: 6px; }
.bar > span { display: block; height: 100%; }
.hints { list-style: none; display: grid; gap: 8px; }
.hints li { padding-left: 14px; border-left: 3px solid var(--accent); overflow-wrap: anywhere; }
.hints button { border: 0; background: none; padding: 0; color: var(--accent); cursor: pointer; text-align: left;
  font-weight: 600; overflow-wrap: anywhere; }
.hints button:hover { text-decoration: underline; }

table { width: 100%; border-collapse: collapse; }
.steps .step { width: 30%; }
.steps.brief .step { width: 76%; }
.steps.short .step { width: 44%; }
.changes { table-layout: fixed; }
.changes th:first-child { width: 46%; }
th { text-align: left; font-weight: 500; color: var(--muted); font-size: 12.5px; padding: 4px 10px 6px 0;
  border-bottom: 1px solid var(--line);
  vertical-align: bottom; }
td { padding: 6px 10px 6px 0; border-bottom: 1px solid var(--grid); vertical-align: top; overflow-wrap: anywhere; }
tr:last-child td { border-bottom: 0; }
th:last-child, td:last-child { padding-right: 0; }
.number { text-align: right; white-space: nowrap; }
th button { border: 0; background: none; padding: 0; color: inherit; cursor: pointer; font: inherit; }
th button:hover { color: var(--text); }
th[aria-sort] button { color: var(--accent); font-weight: 600; }
tbody tr.pick { cursor: pointer; }
tbody tr.pick:hover td { background: var(--sunken); }
tbody tr.picked td { background: var(--accent-soft); }
.empty { color: var(--muted); padding: 14px; border: 1px dashed var(--line); border-radius: 10px; }

.split { display: grid; grid-template-columns: minmax(0, 1fr) 290px; gap: 12px 28px; align-items: start; }
.panes[style*="2"] .split { grid-template-columns: minmax(0, 1fr); }
.chart { position: relative; min-width: 0; touch-action: pan-y; }
.grid-line { stroke: var(--grid); shape-rendering: crispEdges; }
.axis-line { stroke: var(--line); shape-rendering: crispEdges; }
.limit-line { stroke: var(--worse); stroke-width: 1.5; stroke-dasharray: 5 4; }
.hover-line { stroke: var(--text); stroke-width: 1; opacity: 0.55; pointer-events: none; shape-rendering: crispEdges; }
.band { fill: var(--accent); opacity: 0.13; pointer-events: none; }
.mark { fill: none; stroke: var(--text); stroke-width: 1.5; pointer-events: none; }
.curve { fill: none; stroke-width: 1.6; }
.hit { fill: transparent; cursor: crosshair; }
.dim { opacity: 0.16; }
.lifetimes { display: grid; gap: 7px; }
.lifetimes .row { display: grid; grid-template-columns: minmax(0, 1fr) auto; gap: 1px 12px; }
.lifetimes .track { grid-column: 1 / -1; position: relative; height: 7px; background: var(--sunken); border-radius: 4px;
  overflow: hidden; }
.lifetimes .track span { position: absolute; top: 0; bottom: 0; border-radius: 4px; min-width: 3px; }
.lifetimes .track em { position: absolute; top: 0; bottom: 0; width: 1px; background: var(--text); }
.details { background: var(--sunken); border-radius: 10px; padding: 12px 14px; }
.details dl { display: grid; grid-template-columns: repeat(auto-fill, minmax(min(150px, 42%), 1fr)); gap: 8px 18px;
  margin-top: 8px; }
.details dt { color: var(--muted); font-size: 12.5px; }
.tree { display: grid; }
.tree .row { display: grid; grid-template-columns: minmax(0, 1fr) minmax(80px, 34%) 96px 56px; gap: 0 14px;
  align-items: center; padding: 3px 0;
  border-bottom: 1px solid var(--grid); }
.tree .row:last-child { border-bottom: 0; }
.tree .name { display: flex; align-items: baseline; gap: 4px; min-width: 0; }
.tree .name button { border: 0; background: none; cursor: pointer; text-align: left; padding: 2px 4px; border-radius: 5px;
  min-width: 0; overflow-wrap: anywhere; }
.tree .name button:hover { background: var(--sunken); }
.tree .name .turn { flex: none; width: 20px; color: var(--muted); text-align: center; }
.tree .module { font-weight: 600; }
.crumbs { display: flex; flex-wrap: wrap; gap: 2px 6px; align-items: center; }
.crumbs button { border: 0; background: none; padding: 0 2px; color: var(--accent); cursor: pointer; overflow-wrap: anywhere; }

#tip { position: fixed; z-index: 10; max-width: min(360px, calc(100vw - 16px)); padding: 9px 12px; border-radius: 9px;
  background: var(--surface);
  color: var(--text); border: 1px solid var(--line); box-shadow: 0 6px 24px #0000002e; pointer-events: none; font-size: 13px;
  line-height: 1.45; }
#tip[hidden] { display: none; }
#tip strong { display: block; overflow-wrap: anywhere; }
#tip table { margin-top: 5px; }
#tip td { padding: 1px 12px 1px 0; border: 0; }
#tip td.number { padding-right: 0; }

@media (max-width: 1099px) {
  #page { grid-template-columns: minmax(0, 1fr); padding: 20px 16px 48px; }
  nav { position: static; flex-flow: row wrap; gap: 2px 4px; margin: 0 -6px 14px; }
  nav a { padding: 2px 8px; border-left: 0; }
  .toolbar { margin-inline: -16px; padding-inline: 16px; margin-bottom: 14px; }
}
@media (max-width: 1279px) { .panes { grid-template-columns: minmax(0, 1fr); } }
@media (max-width: 760px) {
  html { scroll-padding-top: 8px; }
  .toolbar { position: static; }
  .toolbar .find { flex-basis: 100%; flex-wrap: wrap; gap: 4px 12px; }
  .toolbar input { flex: 1 1 100%; }
  section { padding: 16px 14px 18px; }
  .split { grid-template-columns: minmax(0, 1fr); }
  .wide { display: none !important; }
  .toolbar .switch { display: grid; grid-template-columns: 68px auto; }
  .figures { grid-template-columns: repeat(2, minmax(0, 1fr)); }
  .figures dd { font-size: 17px; }
  .tree .row { grid-template-columns: minmax(0, 1fr) auto 52px; }
  .tree .row .bar { grid-column: 1 / -1; grid-row: 2; margin-bottom: 3px; height: 7px; }
}
@media (min-width: 761px) { .narrow { display: none !important; } }
@media (max-width: 760px) { .changes th:first-child { width: 66%; } }
@media print {
  .toolbar, nav { display: none; }
  #page { grid-template-columns: minmax(0, 1fr); }
  section { break-inside: avoid; }
}
)css";
  page += R"html(</style>
</head>
<body>
<div id="page"><noscript>This recording draws itself with JavaScript.</noscript></div>
<div id="tip" role="tooltip" hidden></div>
<script type="application/json" id="data">)html";
  page += json;
  page += R"html(</script>
<script>
(() => {
'use strict';
)html";
  page += R"js(
// Elements: attributes by name; on* are listeners; children are elements or texts.
const build = (made, attributes, children) => {
  for (const [name, value] of Object.entries(attributes || {})) {
    if (name.startsWith('on')) made.addEventListener(name.slice(2), value);
    else if (value === true) made.setAttribute(name, '');
    else if (value !== undefined && value !== null && value !== false) made.setAttribute(name, value);
  }
  made.append(...children.flat(3).filter(child => child !== null && child !== undefined && child !== false));
  return made;
};
const el = (tag, attributes, ...children) => build(document.createElement(tag), attributes, children);
const svg = (tag, attributes, ...children) =>
  build(document.createElementNS('http://www.w3.org/2000/svg', tag), attributes, children);
const key = colour => el('i', {class: 'key', style: `background:${colour}`});

// Numbers as texts.
const integer = number => Math.round(number).toLocaleString('en-US');
const rounded = number => {
  // three digits, but no exponent
  const size = Math.abs(number);
  return size >= 1000 ? integer(number) : number.toLocaleString('en-US', {maximumSignificantDigits: 3});
};
const percent = part =>
  part === null ? 'unknown' : (100 * part).toFixed(part !== 0 && Math.abs(part) < 0.0995 ? 1 : 0) + ' %';
const share = (part, whole) => (whole > 0 ? percent(part / whole) : '–');
const seconds_text = seconds =>
  seconds >= 1 ? rounded(seconds) + ' s' : seconds >= 1e-3 ? rounded(seconds * 1e3) + ' ms' : rounded(seconds * 1e6) + ' µs';

// The tooltip: a title and rows of [colour or '', name, value].
const tip = document.getElementById('tip');
const show_tip = (event, title, rows, note) => {
  tip.replaceChildren(
    el('strong', {}, title),
    note ? el('span', {class: 'muted'}, note) : '',
    el(
      'table',
      {},
      el(
        'tbody',
        {},
        rows.map(([colour, name, value]) =>
          el('tr', {}, el('td', {}, colour ? [key(colour), ' '] : '', name), el('td', {class: 'number'}, value)),
        ),
      ),
    ),
  );
  tip.hidden = false;
  const box = tip.getBoundingClientRect(),
    room = document.documentElement.clientWidth;
  let x = event.clientX + 16,
    y = event.clientY + 16;
  if (x + box.width > room - 8) x = Math.max(8, event.clientX - 16 - box.width);
  if (y + box.height > innerHeight - 8) y = Math.max(8, event.clientY - 16 - box.height);
  tip.style.left = x + 'px';
  tip.style.top = y + 'px';
};
const hide_tip = () => {
  tip.hidden = true;
};

const empty = text => el('p', {class: 'empty'}, text);

// Values at which an axis has lines: about `count`, round in base 10, or in 1024 for bytes.
const ticks = (most, count, base = 10) => {
  if (!(most > 0)) return [0];
  const unit = base === 10 ? 1 : 1024 ** Math.max(0, Math.floor(Math.log(most) / Math.log(1024)));
  const rough = most / unit / count,
    power = 10 ** Math.floor(Math.log10(rough));
  const size = [1, 2, 2.5, 5, 10].find(each => each * power >= rough * 0.999) * power * unit;
  const result = [];
  for (let value = 0; value <= most * 1.0001; value += size) result.push(value);
  return result;
};
const strips = rects =>
  rects.map(([x, y, w, h]) => `M${x.toFixed(2)} ${y.toFixed(2)}h${w.toFixed(2)}v${h.toFixed(2)}h${(-w).toFixed(2)}z`).join('');
)js";
  page += R"js(
const data = JSON.parse(document.getElementById('data').textContent);
const WORK = ['compute', 'collective'];
const WAITS = {start: 'Waits for the start', barrier: 'Waits at a barrier', end: 'Waits for the end of the run'};
const COLOURS = 8; // of kinds of steps, those that take longest; others have one colour together
const events = data.events.map(([worker, run, step, kind, begin, end, parts]) => ({
  worker,
  run,
  step,
  kind: data.kinds[kind],
  begin,
  end,
  parts,
}));
const time_text = nanoseconds => seconds_text(nanoseconds / 1e9);
const length_of_run = run => run.end - run.begin;
const plural = (count, what) => `${integer(count)} ${what}${count === 1 ? '' : 's'}`;

// The run that is shown first is one of median length, of the program itself.
const typical = () => {
  const own = data.runs.map((run, i) => i).filter(i => data.runs[i].body === 0 && !data.runs[i].failed);
  own.sort((a, b) => length_of_run(data.runs[a]) - length_of_run(data.runs[b]));
  return own.length > 0 ? own[Math.floor((own.length - 1) / 2)] : 0;
};
const state = {run: typical(), from: 0, to: 1};

// Kinds of steps run the same code: their names, and colours by their time in all runs.
const kinds = new Map();
events.forEach(event => {
  if (!WORK.includes(event.kind)) return;
  const {compute_set: set, label} = data.steps[event.step];
  if (!kinds.has(set)) kinds.set(set, {set, label, time: 0});
  kinds.get(set).time += event.end - event.begin;
});
[...kinds.values()]
  .sort((a, b) => b.time - a.time)
  .forEach((kind, i) => {
    kind.colour = i < COLOURS ? `var(--m${i})` : 'var(--links)';
  });
const kind_of = event => kinds.get(data.steps[event.step].compute_set);
const colour_of = event => (WORK.includes(event.kind) ? kind_of(event).colour : 'var(--sync)');
const name_of = event => (WORK.includes(event.kind) ? data.steps[event.step].label : WAITS[event.kind]);

const event_rows = (event, run) => [
  [colour_of(event), WORK.includes(event.kind) ? 'Computes' : 'Waits', time_text(event.end - event.begin)],
  ['', 'Begins after', time_text(event.begin - run.begin)],
  ...(WORK.includes(event.kind) ? [['', event.kind === 'compute' ? 'Vertices' : 'Items', integer(event.parts)]] : []),
];
const event_note = event =>
  `worker ${event.worker}` + (event.step >= 0 ? `${event.kind === 'barrier' ? ', before' : ','} step ${event.step}` : '');

const lanes_chart = (run, own, width) => {
  const left = 76,
    inner = width - left - 2,
    lane = 26,
    axis = 26,
    height = run.threads * lane + axis,
    whole = Math.max(1, length_of_run(run)),
    from = run.begin + state.from * whole,
    to = run.begin + state.to * whole;
  const x = time => left + ((time - from) / (to - from)) * inner;
  const rects = new Map(); // by colour; neighbours of less than a pixel become one
  own.forEach(event => {
    const x0 = Math.max(left, x(event.begin)),
      x1 = Math.min(left + inner, x(event.end)),
      colour = colour_of(event);
    if (x1 <= x0) return;
    if (!rects.has(colour)) rects.set(colour, []);
    const list = rects.get(colour),
      last = list[list.length - 1],
      y = event.worker * lane + 3;
    if (last && last[1] === y && x0 - (last[0] + last[2]) < 0.25 && last[2] < 1) last[2] = x1 - last[0];
    else list.push([x0, y, Math.max(x1 - x0, 0.3), lane - 6]);
  });
  const marks = ticks(whole, Math.min(1e4, (width < 500 ? 3 : 6) / (state.to - state.from))).filter(
    value => value + run.begin >= from && value + run.begin <= to,
  );
  const band = svg('rect', {class: 'band', y: 0, height: height - axis, visibility: 'hidden'});
  const at = event => {
    const box = event.currentTarget.getBoundingClientRect();
    return {
      part: Math.max(0, Math.min(1, (event.clientX - box.left) / box.width)),
      worker: Math.floor((event.clientY - box.top) / lane),
    };
  };
  let pressed = null;
  const move = event => {
    const {part, worker} = at(event);
    if (pressed !== null && Math.abs(part - pressed) * inner > 4) {
      band.setAttribute('x', left + Math.min(part, pressed) * inner);
      band.setAttribute('width', Math.abs(part - pressed) * inner);
      band.setAttribute('visibility', 'visible');
      return hide_tip();
    }
    const time = from + part * (to - from);
    const found = own.find(each => each.worker === worker && each.begin <= time && time < each.end);
    if (found) show_tip(event, name_of(found), event_rows(found, run), event_note(found));
    else hide_tip();
  };
  const release = event => {
    if (pressed === null) return;
    const {part} = at(event),
      begin = pressed,
      origin = state.from,
      range = state.to - state.from;
    pressed = null;
    if (Math.abs(part - begin) * inner <= 4) return;
    state.from = origin + Math.min(begin, part) * range;
    state.to = origin + Math.max(begin, part) * range;
    draw();
  };
  return el(
    'div',
    {class: 'chart'},
    svg(
      'svg',
      {width, height, role: 'img', 'aria-label': `Timeline of ${plural(run.threads, 'worker')} in ${time_text(whole)}`},
      marks.map(value =>
        svg('line', {
          class: 'grid-line',
          x1: Math.round(x(value + run.begin)) + 0.5,
          x2: Math.round(x(value + run.begin)) + 0.5,
          y1: 0,
          y2: height - axis + 4,
        }),
      ),
      marks.map(value => {
        const place = x(value + run.begin);
        const anchor = place > left + inner - 30 ? 'end' : place < left + 20 ? 'start' : 'middle';
        return svg('text', {x: place, y: height - 6, 'text-anchor': anchor}, time_text(value));
      }),
      Array.from({length: run.threads}, (_, worker) => [
        svg('text', {x: left - 8, y: worker * lane + lane / 2 + 4, 'text-anchor': 'end'}, `Worker ${worker}`),
        svg('line', {
          class: 'grid-line',
          x1: left,
          x2: left + inner,
          y1: (worker + 1) * lane - 0.5,
          y2: (worker + 1) * lane - 0.5,
        }),
      ]),
      [...rects].map(([colour, list]) => svg('path', {d: strips(list), fill: colour, opacity: colour === 'var(--sync)' ? 0.3 : 1})),
      band,
      svg('rect', {
        class: 'hit',
        x: left,
        y: 0,
        width: inner,
        height: height - axis,
        onpointermove: move,
        onpointerdown: event => {
          pressed = at(event).part;
          move(event);
        },
        onpointerup: release,
        onpointerleave: () => {
          pressed = null;
          band.setAttribute('visibility', 'hidden');
          hide_tip();
        },
      }),
    ),
  );
};

// The table: each kind of step in this run, then waiting, and what is between events.
const steps_table = (run, own) => {
  const all = length_of_run(run) * run.threads;
  const rows = new Map([...kinds.values()].map(kind => [kind, {parts: 0, workers: Array(run.threads).fill(0)}]));
  const waits = {start: 0, barrier: 0, end: 0};
  own.forEach(event => {
    const time = event.end - event.begin;
    if (!WORK.includes(event.kind)) {
      waits[event.kind] += time;
      return;
    }
    const row = rows.get(kind_of(event));
    row.parts += event.parts;
    row.workers[event.worker] += time;
  });
  const sum = values => values.reduce((a, b) => a + b, 0);
  const shown = [...rows].filter(([, row]) => row.parts > 0).sort((a, b) => sum(b[1].workers) - sum(a[1].workers));
  const rest = all - sum(shown.map(([, row]) => sum(row.workers))) - sum(Object.values(waits));
  const line = (colour, name, parts, workers, time) =>
    el(
      'tr',
      {},
      el('td', {}, colour && key(colour), colour && ' ', el('span', {class: colour ? 'mono' : ''}, name)),
      el('td', {class: 'number wide'}, parts),
      el('td', {class: 'number wide'}, workers && time_text(Math.min(...workers))),
      el('td', {class: 'number wide'}, workers && time_text(Math.max(...workers))),
      el('td', {class: 'number'}, time_text(time / run.threads)),
      el('td', {class: 'number'}, share(time, all)),
    );
  return el(
    'table',
    {},
    el(
      'thead',
      {},
      el(
        'tr',
        {},
        el('th', {}, 'Step'),
        el('th', {class: 'number wide'}, 'Vertices'),
        el('th', {class: 'number wide'}, 'Least of a worker'),
        el('th', {class: 'number wide'}, 'Most of a worker'),
        el('th', {class: 'number'}, 'Mean of workers'),
        el('th', {class: 'number'}, 'Share'),
      ),
    ),
    el(
      'tbody',
      {},
      shown.map(([kind, row]) => line(kind.colour, kind.label, integer(row.parts), row.workers, sum(row.workers))),
      Object.entries(waits).map(([kind, time]) => line('', WAITS[kind], '', null, time)),
      line('', 'Between events', '', null, Math.max(0, rest)),
    ),
  );
};

const button = (text, name, disabled, act) =>
  el('button', {type: 'button', title: name, 'aria-label': name, 'data-button': name, disabled, onclick: act}, text);
const show_run = run => {
  Object.assign(state, {run, from: 0, to: 1});
  draw();
};
const look = (factor, way) => {
  const half = Math.min(0.5, Math.max(0.00005, ((state.to - state.from) / 2) * factor)),
    middle = (state.from + state.to) / 2 + way * half;
  state.from = Math.min(Math.max(0, middle - half), 1 - 2 * half);
  state.to = state.from + 2 * half;
  draw();
};
const timeline = el('section', {id: 'timeline'}),
  steps = el('section', {id: 'steps'});
const section_head = (title, about, controls) =>
  el(
    'div',
    {class: 'head'},
    el('div', {}, el('h2', {}, title), el('p', {}, about)),
    controls && el('div', {class: 'controls'}, controls),
  );
const draw = () => {
  const active = document.activeElement && document.activeElement.getAttribute('data-button');
  hide_tip();
  const run = data.runs[state.run];
  if (!run) {
    timeline.replaceChildren(section_head('Timeline', 'One run from left to right.'), empty('The recording has no complete run.'));
    return steps.remove();
  }
  const own = events.filter(event => event.run === state.run);
  const width = Math.max(200, Math.floor(timeline.clientWidth - parseFloat(getComputedStyle(timeline).paddingLeft) * 2 - 2));
  timeline.replaceChildren(
    section_head(
      'Timeline',
      'One run from left to right, a lane for each worker. Steps of the same code have one colour, the longest eight a colour of ' +
        'their own; waiting is pale. Drag over a part to enlarge it.',
      [
        el(
          'span',
          {class: 'choices'},
          button('‹', 'The run before', state.run === 0, () => show_run(state.run - 1)),
          button('›', 'The next run', state.run + 1 === data.runs.length, () => show_run(state.run + 1)),
        ),
        el(
          'span',
          {class: 'choices'},
          button('←', 'Earlier', false, () => look(1, -1)),
          button('→', 'Later', false, () => look(1, 1)),
          button('+', 'Enlarge', false, () => look(0.5, 0)),
          button('−', 'Reduce', false, () => look(2, 0)),
          button('All', 'Show the whole run', false, () => look(Infinity, 0)),
        ),
      ],
    ),
    el(
      'p',
      {class: 'muted', role: 'status', id: 'run'},
      `Run ${state.run + 1} of ${integer(data.runs.length)}: ${time_text(length_of_run(run))} with ${plural(run.threads, 'thread')}` +
        (run.failed ? '; it ended by an exception' : '') +
        (run.body === 0 ? '' : '; of an upload or a download'),
    ),
    lanes_chart(run, own, width),
  );
  steps.replaceChildren(
    section_head('Steps', 'What the workers did in this run. Shares are of the time of all workers together.'),
    steps_table(run, own),
  );
  if (active) document.querySelector(`[data-button="${active}"]`)?.focus({preventScroll: true});
};

const system_dark = matchMedia('(prefers-color-scheme: dark)');
const apply_theme = () => document.documentElement.setAttribute('data-theme', system_dark.matches ? 'dark' : 'light');
system_dark.addEventListener('change', apply_theme);
apply_theme();

const left_out =
  data.left_out_runs > 0 &&
  el(
    'p',
    {id: 'left-out'},
    `${plural(data.left_out_runs, 'run')} with ${plural(data.left_out_events, 'event')} had no room in ` +
      `${plural(data.room, 'event')} of a worker.`,
  );
document.title = `${data.program || 'Recording'} – tilewright`;
document.getElementById('page').replaceChildren(
  el(
    'header',
    {},
    el('div', {}, el('h1', {}, data.program || 'Recording'), left_out),
    el('p', {class: 'muted small'}, 'Measured on the host'),
  ),
  el('main', {style: 'grid-column:1/-1'}, timeline, steps),
);
draw();
// A page that was opened in a hidden window has no width yet.
let drawn_width = timeline.clientWidth;
new ResizeObserver(() => {
  if (timeline.clientWidth === drawn_width) return;
  drawn_width = timeline.clientWidth;
  requestAnimationFrame(draw);
}).observe(timeline);
addEventListener('keydown', event => {
  if (event.key === 'Escape') hide_tip();
});
)js";
  page += R"html(})();
</script>
</body>
</html>
)html";
  return page;
}

}  // namespace tilewright::detail
