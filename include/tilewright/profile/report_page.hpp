#pragma once
#include <string>
#include <string_view>

// cmake/report/make_header.py makes this header of the files beside it: edit those, and `./dev docs` writes it anew.

namespace tilewright::detail {

/// Returns the page of a report: one HTML text with its style, its script and the data, a profile or a list of two as JSON.
inline std::string report_page(std::string_view json) {
  std::string page;
  page += R"html(<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<link rel="icon" href="data:,">
<title>tilewright report</title>
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
<div id="page"><noscript>This report draws itself with JavaScript.</noscript></div>
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
const PHASES = [
  ['compute', 'Compute'],
  ['exchange', 'Exchange'],
  ['sync', 'Sync'],
  ['host', 'Host'],
  ['remote', 'Streaming memory'],
  ['collective', 'Collectives'],
  ['links', 'Links'],
];
const profiles = (Array.isArray(data) ? data : [data]).map((profile, index) => {
  let cycle = 0;
  profile.steps.forEach((step, i) => {
    step.index = i;
    step.phases = PHASES.map(([name]) => step[name] * step.times);
    step.cycles = step.phases.reduce((a, b) => a + b, 0);
    step.start = cycle;
    cycle += step.cycles;
    step.text = (step.label + ' ' + step.module + ' ' + step.kind).toLowerCase();
    step.path = step.module || '(main)';
    step.total_exchanged = step.exchanged_bytes * step.times;
  });
  profile.tensors.forEach(tensor => {
    tensor.text = (tensor.name + ' ' + tensor.module).toLowerCase();
  });
  profile.tile_totals = profile.tiles.map(tile => tile.reduce((a, b) => a + b, 0));
  profile.base_bytes =
    profile.fullest_tile < 0
      ? 0
      : profile.tiles[profile.fullest_tile].reduce(
          (sum, bytes, category) => sum + (profile.categories[category].always_live ? bytes : 0),
          0,
        );
  profile.listed_cycles = cycle;
  profile.letter = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ'[index] || `${index + 1}`;
  profile.index = index;
  return profile;
});
const used_phases = PHASES.map((phase, i) => i).filter(i => i < 3 || profiles.some(p => p.totals[PHASES[i][0]] > 0));

// What the user has chosen. `view` has what each profile shows: a tile, a step, the visible cycles of the timeline.
const state = {
  filter: '',
  unit: 'cycles',
  scale: 'linear',
  theme: 'auto',
  hidden: new Set(),
  tile_order: 'number',
  map: 'bytes',
  width: 'cycles',
  sort: 'cycles',
  descending: true,
  all_steps: false,
  all_tensors: false,
  group: 'module',
  root: [],
  open: new Map(),
  view: profiles.map(p => ({tile: p.fullest_tile, step: p.totals.peak_step, from: 0, to: 1})),
};
const shown_categories = profile =>
  profile.categories
    .map((_, i) => i)
    .filter(i => !state.hidden.has(i) && profiles.some(p => p.tiles.some(tile => tile[i] > 0)));
const matches = item => state.filter.split(/\s+/).every(word => item.text.includes(word));

const phase_colour = i => `var(--${PHASES[i][0]})`;
const category_colour = i => `var(--m${i})`;

// Numbers as texts.
const scaled = (number, units, base) => {
  let i = 0;
  while (Math.abs(number) >= base && i + 1 < units.length) {
    number /= base;
    ++i;
  }
  return rounded(number) + ' ' + units[i];
};
const bytes_text = number => scaled(number, ['B', 'KiB', 'MiB', 'GiB'], 1024);
const exact_bytes = number => integer(number) + ' bytes';
const rate_text = rate => scaled(rate, ['FLOP/s', 'kFLOP/s', 'MFLOP/s', 'GFLOP/s', 'TFLOP/s', 'PFLOP/s'], 1000);
const clock_text = profile => {
  const giga = profile.clock_hz >= 1e9;
  return (
    (profile.clock_hz / (giga ? 1e9 : 1e6)).toLocaleString('en-US', {maximumSignificantDigits: 4}) + (giga ? ' GHz' : ' MHz')
  );
};
const flops_text = flops => scaled(flops, ['FLOP', 'kFLOP', 'MFLOP', 'GFLOP', 'TFLOP'], 1000);
const microseconds = (cycles, profile) => (profile.clock_hz > 0 ? (cycles * 1e6) / profile.clock_hz : 0);
/// Cycles in the chosen unit.
const cycles_text = (cycles, profile) =>
  state.unit === 'cycles'
    ? integer(cycles)
    : state.unit === 'time'
      ? rounded(microseconds(cycles, profile)) + ' µs'
      : share(cycles, profile.totals.cycles);
const cycles_axis = (cycles, profile) =>
  state.unit === 'cycles' ? scaled(cycles, ['', 'k', 'M', 'G', 'T'], 1000).trim() : cycles_text(cycles, profile);
// A module path that breaks after slashes.
const path_text = path => path.split('/').flatMap((part, i) => (i ? ['/', el('wbr'), part] : [part]));
const times_text = times => (times === 1 ? 'once' : integer(times) + ' times');
const step_name = step => step.label || step.kind;

// A length between 0 and 1 on the chosen scale; on a logarithmic one, `least` is where it begins.
const length_of = (value, most, least = 1) => {
  if (!(value > 0) || !(most > 0)) return 0;
  if (state.scale === 'linear') return value / most;
  return most <= least ? 1 : Math.max(0.01, Math.log(Math.max(value, least) / least) / Math.log(most / least));
};

const step_tip = (event, step, profile) =>
  show_tip(
    event,
    step_name(step),
    [
      ...used_phases
        .filter(i => step.phases[i] > 0)
        .map(i => [phase_colour(i), PHASES[i][1], cycles_text(step.phases[i], profile)]),
      ['', 'All', cycles_text(step.cycles, profile)],
      ['', 'Share of the run', share(step.cycles, profile.totals.cycles)],
      ['', 'Executed', times_text(step.times)],
      ['', 'Tiles', integer(step.tiles_used)],
      ['', 'Balance', percent(step.balance)],
    ],
    `step ${step.index} · ${step.path}`,
  );

const choices = (name, options, chosen, choose) =>
  el(
    'span',
    {class: 'choices', role: 'group', 'aria-label': name},
    options.map(([value, text]) =>
      el(
        'button',
        {
          type: 'button',
          'data-choice': `${name}:${value}`,
          'aria-pressed': String(value === chosen),
          onclick: () => choose(value),
        },
        text,
      ),
    ),
  );
)js";
  page += R"js(
// A section draws itself again when what it shows has changed. body(profile, width) gives the elements of one profile.
const sections = [];
const section = (id, title, about, controls, body, options = {}) =>
  sections.push({id, title, about, controls, body, ...options});
const pane_title = profile =>
  profiles.length > 1 &&
  el(
    'p',
    {class: 'pane-title'},
    el('span', {class: 'badge'}, profile.letter),
    el('h3', {}, `${profile.program} on ${profile.target}`),
  );
const draw = each => {
  const wide = innerWidth >= 1280;
  const inner = each.element.clientWidth - parseFloat(getComputedStyle(each.element).paddingLeft) * 2 - 2;
  const width = Math.max(200, Math.floor(profiles.length > 1 && wide && !each.joint ? (inner - 28) / 2 : inner));
  const controls = each.controls ? each.controls() : [];
  const panes = each.joint
    ? [el('div', {class: 'pane'}, each.body(width))]
    : profiles.map(profile =>
        el('div', {class: 'pane', 'data-profile': profile.letter}, pane_title(profile), each.body(profile, width)),
      );
  each.element.replaceChildren(
    el(
      'div',
      {class: 'head'},
      el('div', {}, el('h2', {}, each.title), each.about && el('p', {}, each.about)),
      controls.length > 0 && el('div', {class: 'controls'}, controls),
    ),
    el('div', {class: 'panes', style: `--count:${Math.min(panes.length, 2)}`}, panes),
  );
};
const redraw = (...ids) => {
  const active = document.activeElement && document.activeElement.getAttribute('data-choice');
  hide_tip();
  sections.filter(each => ids.length === 0 || ids.includes(each.id)).forEach(draw);
  if (active) document.querySelector(`[data-choice="${CSS.escape(active)}"]`)?.focus({preventScroll: true});
};
const change = (values, ...ids) => {
  Object.assign(state, values);
  redraw(...ids);
};

const axis_ticks = (most, count, base) => {
  if (state.scale === 'linear') return ticks(most, count, base);
  const result = [],
    factor = base === 10 ? 10 : 8;
  for (let value = 1; value <= most; value *= factor) result.push(value);
  while (result.length > count + 1) result.splice(0, result.length, ...result.filter((_, i) => i % 2 === 0));
  return result;
};
const y_axis = (most, top, height, left, width, text, base) =>
  axis_ticks(most, 4, base).map(value => {
    const y = Math.round(top + height * (1 - length_of(value, most))) + 0.5;
    return [
      svg('line', {
        class: value === 0 || (state.scale === 'log' && value === 1) ? 'axis-line' : 'grid-line',
        x1: left,
        x2: left + width,
        y1: y,
        y2: y,
      }),
      svg('text', {x: left - 8, y: y + 4, 'text-anchor': 'end'}, text(value)),
    ];
  });

// Stacked columns, one for each item. With more items than pixels, a column stands for several and shows the largest. Options:
// parts(i), the stacked values; their colours; most, the axis's end; text(value); base, of ticks; limit, a line; marked, an item;
// name(i) and rows(i) of the tooltip; pick(i), for clicks; label, two texts below the axis; described, the chart in words.
const columns = (
  width,
  count,
  {parts, colours, most, text, limit, marked, name, rows, pick, label, base, height = 190, described},
) => {
  const left = 66,
    top = 14,
    inner = Math.max(40, width - left - 2),
    bins = Math.max(1, Math.min(count, Math.floor(inner)));
  const totals = Array.from({length: count}, (_, i) => parts(i).reduce((a, b) => a + b, 0));
  const first = bin => Math.floor((bin * count) / bins);
  const chosen = Array.from({length: bins}, (_, bin) => {
    let best = first(bin);
    for (let i = best; i < first(bin + 1); ++i) if (totals[i] > totals[best]) best = i;
    return best;
  });
  const step = inner / bins,
    gap = step > 5 ? 1.5 : step > 2.5 ? 0.5 : 0;
  const rects = colours.map(() => []);
  chosen.forEach((item, bin) => {
    const full = length_of(totals[item], most) * height;
    let y = top + height;
    parts(item).forEach((value, part) => {
      const h = totals[item] > 0 ? (full * value) / totals[item] : 0;
      y -= h;
      if (h > 0) rects[part].push([left + bin * step, y, Math.max(step - gap, 0.5), h]);
    });
  });
  const cursor = svg('line', {class: 'hover-line', y1: top, y2: top + height, visibility: 'hidden'});
  const bin_at = event => {
    const box = event.currentTarget.getBoundingClientRect();
    return Math.max(0, Math.min(bins - 1, Math.floor(((event.clientX - box.left) / box.width) * bins)));
  };
  const move = event => {
    const bin = bin_at(event),
      item = chosen[bin],
      x = left + (bin + 0.5) * step,
      others = first(bin + 1) - first(bin);
    for (const [end, value] of [
      ['x1', x],
      ['x2', x],
    ])
      cursor.setAttribute(end, value);
    cursor.setAttribute('visibility', 'visible');
    show_tip(event, name(item), rows(item), others > 1 ? `the largest of ${others} in this column` : '');
  };
  const marked_bin = marked === undefined ? -1 : Math.floor(((marked + 0.5) * bins) / count);
  const limit_y = limit ? Math.round(top + height * (1 - length_of(limit, most))) + 0.5 : 0;
  return el(
    'div',
    {class: 'chart'},
    svg(
      'svg',
      {width, height: height + top + 36, role: 'img', 'aria-label': described},
      y_axis(most, top, height, left, inner, text, base),
      colours.map((colour, part) => rects[part].length > 0 && svg('path', {d: strips(rects[part]), fill: colour})),
      limit &&
        limit <= most && [
          svg('line', {class: 'limit-line', x1: left, x2: left + inner, y1: limit_y, y2: limit_y}),
          svg('text', {class: 'strong', x: left + inner - 2, y: limit_y - 5, 'text-anchor': 'end'}, `limit ${text(limit)}`),
        ],
      marked_bin >= 0 &&
        svg('path', {d: `M${left + (marked_bin + 0.5) * step} ${top + height + 2}l-5 8h10z`, fill: 'var(--text)'}),
      svg('text', {x: left, y: top + height + 26}, label[0]),
      svg('text', {x: left + inner, y: top + height + 26, 'text-anchor': 'end'}, label[1]),
      cursor,
      svg('rect', {
        class: 'hit',
        x: left,
        y: top,
        width: inner,
        height,
        onpointermove: move,
        onpointerdown: move,
        onpointerleave: () => {
          cursor.setAttribute('visibility', 'hidden');
          hide_tip();
        },
        onclick: event => pick && pick(chosen[bin_at(event)]),
      }),
    ),
  );
};

// A bar of parts, which fills `length` of its box.
const stacked_bar = (values, colours, length = 1, tall = false) => {
  const all = values.reduce((a, b) => a + b, 0);
  return el(
    'div',
    {class: tall ? 'bar tall' : 'bar'},
    all > 0 &&
      values.map(
        (value, i) =>
          value > 0 && el('span', {style: `width:${((100 * length * value) / all).toFixed(3)}%;background:${colours[i]}`}),
      ),
  );
};
const phase_bar = (phases, length, tall) =>
  stacked_bar(
    used_phases.map(i => phases[i]),
    used_phases.map(phase_colour),
    length,
    tall,
  );
const phase_legend = (profile, phases) =>
  el(
    'div',
    {class: 'legend'},
    used_phases.map(i =>
      el(
        'span',
        {},
        key(phase_colour(i)),
        PHASES[i][1],
        phases &&
          el(
            'b',
            {},
            `${cycles_text(phases[i], profile)}${state.unit === 'share' ? '' : ' · ' + share(phases[i], profile.totals.cycles)}`,
          ),
      ),
    ),
  );
)js";
  page += R"js(
// What deserves a look, dearest first: [text, step or undefined]. Cycles that a change could save at most decide.
const hints = profile => {
  const {totals, steps} = profile,
    result = [];
  if (!steps.length) return result;
  const by = value => steps.reduce((a, b) => (value(b) > value(a) ? b : a));
  const dearest = by(step => step.cycles);
  const largest = used_phases.reduce((a, b) => (dearest.phases[b] > dearest.phases[a] ? b : a));
  result.push([
    dearest,
    ` is the dearest step: ${share(dearest.cycles, totals.cycles)} of the cycles, ` +
      `${share(dearest.phases[largest], dearest.cycles)} of them ${PHASES[largest][1].toLowerCase()}.`,
  ]);
  const lost = step => step.phases[0] * (1 - (step.balance ?? 1)),
    uneven = by(lost);
  if (lost(uneven) > 0.01 * totals.cycles)
    result.push([
      uneven,
      ` keeps ${integer(uneven.tiles_used)} of ${integer(profile.tiles.length)} tiles busy, with a balance of ` +
        `${percent(uneven.balance)}. Spread evenly, it would save up to ${cycles_text(lost(uneven), profile)}` +
        (state.unit === 'cycles' ? ' cycles.' : '.'),
    ]);
  const moved = by(step => step.phases[1]);
  if (moved.phases[1] > 0.03 * totals.cycles && moved !== dearest)
    result.push([
      moved,
      ` exchanges most: ${bytes_text(moved.total_exchanged)}, ${share(moved.phases[1], totals.cycles)} of the cycles.`,
    ]);
  if (totals.sync > 0.15 * totals.cycles)
    result.push([
      null,
      `${integer(steps.reduce((sum, step) => sum + step.times, 0))} steps meet ${share(totals.sync, totals.cycles)} ` +
        'of the cycles in sync: fewer, larger steps save most of it.',
    ]);
  return result;
};

section(
  'summary',
  'Totals',
  'One run of the program on one machine. A run is what the session executes at once, such as a training step.',
  null,
  profile => {
    const {totals} = profile,
      full = totals.fullest_tile_bytes;
    const figure = (name, value, note) => el('div', {}, el('dt', {}, name), el('dd', {}, value), el('dd', {}, note));
    return [
      el(
        'dl',
        {class: 'figures'},
        figure('Cycles', integer(totals.cycles), `at ${clock_text(profile)}`),
        full > profile.bytes_per_tile
          ? figure('Time', 'none', 'the program does not fit')
          : figure(
              'Time',
              seconds_text(totals.seconds),
              (totals.seconds_least < totals.seconds_most
                ? `${seconds_text(totals.seconds_least)} to ${seconds_text(totals.seconds_most)}, `
                : '') + `${rounded(totals.runs_per_second)} runs/s`,
            ),
        figure(
          'Speed',
          rate_text(totals.flops_per_second),
          `${percent(totals.utilisation)} of ${rate_text(profile.peak_flops)}`,
        ),
        figure(
          'Fullest tile',
          bytes_text(full),
          profile.fullest_tile < 0
            ? 'no tiles'
            : `${share(full, profile.bytes_per_tile)} of ${bytes_text(profile.bytes_per_tile)}, tile ${profile.fullest_tile}`,
        ),
        figure('Balance', percent(totals.balance), 'mean tile by slowest tile'),
        figure('Assumed', percent(totals.assumed), 'cycles on assumed or recalled numbers'),
      ),
      phase_bar(
        PHASES.map(([name]) => totals[name]),
        1,
        true,
      ),
      phase_legend(
        profile,
        PHASES.map(([name]) => totals[name]),
      ),
      profile.steps.length
        ? el(
            'ul',
            {class: 'hints'},
            hints(profile).map(([step, text]) =>
              el(
                'li',
                {},
                step &&
                  el(
                    'button',
                    {type: 'button', onclick: () => select_step(profile, step.index, true)},
                    `${step_name(step)} in `,
                    path_text(step.path),
                  ),
                text,
              ),
            ),
          )
        : empty('The program has no steps.'),
    ];
  },
);

// Selects a step in all charts; `go` also scrolls to the timeline.
const select_step = (profile, index, go) => {
  state.view[profile.index].step = index;
  redraw('liveness', 'timeline', 'steps', 'balance');
  if (go) document.getElementById('timeline').scrollIntoView({behavior: 'smooth'});
};
)js";
  page += R"js(
// Items of two lists with the same name, in order of appearance: [name, item of A or undefined, item of B or undefined].
const paired = (first, second, name) => {
  const result = new Map();
  [first, second].forEach((list, side) => {
    const seen = new Map();
    for (const item of list) {
      const text = name(item),
        number = seen.get(text) || 0,
        id = text + '#' + number;
      seen.set(text, number + 1);
      if (!result.has(id)) result.set(id, [text, undefined, undefined]);
      result.get(id)[1 + side] = item;
    }
  });
  return [...result.values()];
};
const difference = (before, after, text) => {
  if (before === after) return el('span', {class: 'muted'}, 'same');
  const change_text = before > 0 ? `${after > before ? '+' : '−'}${percent(Math.abs(after - before) / before)}` : 'new';
  return el(
    'span',
    {style: `color:var(--${after > before ? 'worse' : 'better'})`},
    `${after > before ? '▲' : '▼'} ${text(Math.abs(after - before))}`,
    el('span', {class: 'wide'}, ` (${after === 0 ? 'gone' : change_text})`),
  );
};
const difference_table = (title, rows, text, letter) => {
  if (!rows.length) return null;
  return el(
    'div',
    {},
    el('h3', {}, profiles.length > 2 ? `${title}: ${letter}` : title),
    el(
      'table',
      {class: 'changes'},
      el(
        'thead',
        {},
        el(
          'tr',
          {},
          el('th', {}, ''),
          el('th', {class: 'number wide'}, 'A'),
          el('th', {class: 'number wide'}, letter),
          el('th', {class: 'number'}, `${letter} against A`),
        ),
      ),
      el(
        'tbody',
        {},
        rows.map(([name, note, a, b, own_text]) =>
          el(
            'tr',
            {},
            el('td', {}, name, note && el('div', {class: 'muted small'}, path_text(note))),
            el('td', {class: 'number wide'}, (own_text || text)(a)),
            el('td', {class: 'number wide'}, (own_text || text)(b)),
            el('td', {class: 'number'}, difference(a, b, own_text || text)),
          ),
        ),
      ),
    ),
  );
};

const difference_tables = (a, b) => {
  const both = name => [a.totals[name], b.totals[name]];
  const in_unit = cycles =>
    state.unit === 'time' ? rounded(cycles) + ' µs' : state.unit === 'share' ? percent(cycles) : integer(cycles);
  const measure = (cycles, profile) =>
    state.unit === 'time'
      ? microseconds(cycles, profile)
      : state.unit === 'share'
        ? profile.totals.cycles
          ? cycles / profile.totals.cycles
          : 0
        : cycles;
  const cycles_rows = used_phases.map(i => [
    PHASES[i][1],
    '',
    measure(both(PHASES[i][0])[0], a),
    measure(both(PHASES[i][0])[1], b),
  ]);
  const steps = paired(a.steps.filter(matches), b.steps.filter(matches), step => step.path + '\u0001' + step_name(step))
    .map(([name, x, y]) => [
      name.split('\u0001')[1],
      name.split('\u0001')[0],
      x ? measure(x.cycles, a) : 0,
      y ? measure(y.cycles, b) : 0,
    ])
    .filter(([, , x, y]) => x !== y)
    .sort((p, q) => Math.abs(q[3] - q[2]) - Math.abs(p[3] - p[2]))
    .slice(0, 12);
  const tensor_name = tensor => tensor.name + '\u0001' + tensor.module;
  const tensors = paired(a.tensors.filter(matches), b.tensors.filter(matches), tensor_name)
    .map(([name, x, y]) => [
      el('span', {class: 'mono'}, name.split('\u0001')[0]),
      name.split('\u0001')[1],
      x ? x.bytes : 0,
      y ? y.bytes : 0,
    ])
    .filter(([, , x, y]) => x !== y)
    .sort((p, q) => Math.abs(q[3] - q[2]) - Math.abs(p[3] - p[2]))
    .slice(0, 8);
  const fullest = p => (p.fullest_tile < 0 ? p.categories.map(() => 0) : p.tiles[p.fullest_tile]);
  const categories = a.categories
    .map((category, c) => [category.name, '', fullest(a)[c], fullest(b)[c]])
    .filter(([, , x, y]) => x || y);
  return [
    difference_table(
      'Totals',
      [
        ['Cycles', '', ...both('cycles'), integer],
        ['Time', '', ...both('seconds'), seconds_text],
        ['Work', '', ...both('flops'), flops_text],
        ['Fullest tile', '', ...both('fullest_tile_bytes'), bytes_text],
      ],
      integer,
      b.letter,
    ),
    difference_table('Cycles of a run', cycles_rows, in_unit, b.letter),
    difference_table('Fullest tile by category', categories, bytes_text, b.letter),
    steps.length
      ? difference_table('Steps that differ most', steps, in_unit, b.letter)
      : empty('All steps that match the filter cost the same.'),
    difference_table('Tensors that differ most, on the fullest tile', tensors, bytes_text, b.letter),
  ];
};

if (profiles.length > 1)
  section(
    'differences',
    'Differences',
    `${profiles.length > 2 ? 'The others' : 'B'} against A: ▲ more, ▼ less. Steps and tensors are the same where module, ops and name are.`,
    null,
    () => profiles.slice(1).flatMap(b => difference_tables(profiles[0], b)),
    {joint: true},
  );
)js";
  page += R"js(
const most_bytes = () => Math.max(1, ...profiles.flatMap(p => [Math.max(0, ...p.tile_totals.map((_, i) => tile_bytes(p, i)))]));
const tile_bytes = (profile, tile) => shown_categories(profile).reduce((sum, c) => sum + profile.tiles[tile][c], 0);
const tile_rows = (profile, tile) => [
  ...shown_categories(profile)
    .filter(c => profile.tiles[tile][c] > 0)
    .map(c => [category_colour(c), profile.categories[c].name, exact_bytes(profile.tiles[tile][c])]),
  ['', state.hidden.size ? 'All that are shown' : 'All', exact_bytes(tile_bytes(profile, tile))],
  ['', 'Of the tile', share(tile_bytes(profile, tile), profile.bytes_per_tile)],
];
const select_tile = (profile, tile) => {
  state.view[profile.index].tile = tile;
  redraw('memory');
};

const category_legend = profile =>
  el(
    'div',
    {class: 'legend'},
    profile.categories.map(
      (category, c) =>
        profiles.some(p => p.tiles.some(tile => tile[c] > 0)) &&
        el(
          'button',
          {
            type: 'button',
            'data-choice': `category:${c}`,
            'aria-pressed': String(!state.hidden.has(c)),
            onclick: () => {
              state.hidden.has(c) ? state.hidden.delete(c) : state.hidden.add(c);
              redraw('memory');
            },
          },
          key(category_colour(c)),
          category.name,
        ),
    ),
  );

// Each tile as a cell of a grid, in rows; darker: more.
const tile_map = (profile, width) => {
  const values = profile.tiles.map((_, tile) =>
    state.map === 'bytes' ? tile_bytes(profile, tile) : profile.compute_by_tile[tile],
  );
  const most = Math.max(1, ...values),
    count = values.length,
    shades = 9;
  const across = Math.min(count, width < 500 ? 46 : 92),
    size = Math.min(26, Math.floor((width / across) * 100) / 100),
    gap = size > 5 ? 1 : 0.5;
  const rects = Array.from({length: shades + 1}, () => []);
  const x = tile => (tile % across) * size,
    y = tile => Math.floor(tile / across) * size + 2;
  values.forEach((value, tile) =>
    rects[Math.round(length_of(value, most) * shades)].push([x(tile), y(tile), size - gap, size - gap]),
  );
  const shade = i => `color-mix(in srgb, var(--accent) ${Math.round(6 + (94 * i) / shades)}%, var(--sunken))`;
  const chosen = state.view[profile.index].tile,
    height = Math.ceil(count / across) * size + 4;
  const tile_at = event => {
    const box = event.currentTarget.getBoundingClientRect();
    const tile =
      Math.floor((event.clientY - box.top - 2) / size) * across +
      Math.min(across - 1, Math.floor((event.clientX - box.left) / size));
    return tile >= 0 && tile < count ? tile : -1;
  };
  const move = event => {
    const tile = tile_at(event);
    if (tile < 0) return hide_tip();
    const rows = tile_rows(profile, tile);
    if (profile.compute_by_tile.length)
      rows.push(['', 'Compute in a run', cycles_text(profile.compute_by_tile[tile], profile)]);
    show_tip(event, `Tile ${tile}`, rows);
  };
  return [
    el(
      'div',
      {class: 'chart'},
      svg(
        'svg',
        {
          width,
          height,
          role: 'img',
          style: 'cursor:crosshair',
          'aria-label': `Map of ${count} tiles`,
          onpointermove: move,
          onpointerdown: move,
          onpointerleave: hide_tip,
          onclick: event => tile_at(event) >= 0 && select_tile(profile, tile_at(event)),
        },
        rects.map((each, i) => each.length > 0 && svg('path', {d: strips(each), fill: shade(i)})),
        chosen >= 0 && svg('rect', {class: 'mark', x: x(chosen) - 0.5, y: y(chosen) - 0.5, width: size, height: size, rx: 1}),
      ),
    ),
    el(
      'div',
      {class: 'legend'},
      el(
        'span',
        {class: 'muted'},
        'nothing',
        ...Array.from({length: shades + 1}, (_, i) => key(shade(i))),
        state.map === 'bytes' ? bytes_text(most) : cycles_text(most, profile),
      ),
    ),
  ];
};

const tile_table = profile => {
  const tile = state.view[profile.index].tile,
    all = profile.tile_totals[tile];
  return el(
    'div',
    {},
    el('h3', {}, `Tile ${tile}${tile === profile.fullest_tile ? ', the fullest' : ''}`),
    el(
      'table',
      {},
      el(
        'tbody',
        {},
        profile.categories.map(
          (category, c) =>
            profile.tiles[tile][c] > 0 &&
            el(
              'tr',
              {},
              el('td', {}, key(category_colour(c)), ' ', category.name),
              el('td', {class: 'number'}, bytes_text(profile.tiles[tile][c])),
              el('td', {class: 'number muted'}, share(profile.tiles[tile][c], profile.bytes_per_tile)),
            ),
        ),
        el(
          'tr',
          {},
          el('td', {}, 'All'),
          el('td', {class: 'number'}, bytes_text(all)),
          el('td', {class: 'number muted'}, share(all, profile.bytes_per_tile)),
        ),
      ),
    ),
    tile !== profile.fullest_tile &&
      el(
        'button',
        {class: 'plain', type: 'button', style: 'margin-top:8px', onclick: () => select_tile(profile, profile.fullest_tile)},
        `Back to the fullest, ${profile.fullest_tile}`,
      ),
  );
};

section(
  'memory',
  'Memory per tile',
  'Bytes of each tile by category, at the step where it needs most. Click on a tile to see its ' +
    'figures; on a category to hide it.',
  () => [
    el(
      'span',
      {class: 'switch'},
      'Order',
      choices(
        'order',
        [
          ['number', 'Tile number'],
          ['size', 'Fullest first'],
        ],
        state.tile_order,
        tile_order => change({tile_order}, 'memory'),
      ),
    ),
    profiles.some(p => p.compute_by_tile.length) &&
      el(
        'span',
        {class: 'switch'},
        'Map',
        choices(
          'map',
          [
            ['bytes', 'Bytes'],
            ['cycles', 'Compute'],
          ],
          state.map,
          map => change({map}, 'memory'),
        ),
      ),
  ],
  (profile, width) => {
    const count = profile.tiles.length;
    if (!count) return empty('The profile has no tiles.');
    const shown = shown_categories(profile),
      split = width > 640 && (profiles.length < 2 || innerWidth < 1280);
    const order = Array.from({length: count}, (_, i) => i);
    if (state.tile_order === 'size') order.sort((a, b) => tile_bytes(profile, b) - tile_bytes(profile, a) || a - b);
    const most = Math.max(most_bytes() * 1.04, most_bytes() > 0.6 * profile.bytes_per_tile ? profile.bytes_per_tile * 1.1 : 0);
    return [
      category_legend(profile),
      el(
        'div',
        {class: 'split'},
        el(
          'div',
          {class: 'pane'},
          columns(width - (split ? 318 : 0), count, {
            parts: i => shown.map(c => profile.tiles[order[i]][c]),
            colours: shown.map(category_colour),
            most,
            text: bytes_text,
            base: 1024,
            limit: profile.bytes_per_tile,
            marked: order.indexOf(state.view[profile.index].tile),
            name: i => `Tile ${order[i]}`,
            rows: i => tile_rows(profile, order[i]),
            pick: i => select_tile(profile, order[i]),
            label:
              state.tile_order === 'size'
                ? ['fullest', `emptiest of ${integer(count)} tiles`]
                : ['tile 0', `tile ${integer(count - 1)}`],
            described: `Memory of ${count} tiles by category`,
          }),
          state.map === 'cycles' && !profile.compute_by_tile.length
            ? empty('The profile has no cycles by tile.')
            : tile_map(profile, width - (split ? 318 : 0)),
        ),
        tile_table(profile),
      ),
    ];
  },
);
)js";
  page += R"js(
const category_style = tensor => `background:${category_colour(tensor.category)}`;
const live_in = (tensor, step) => tensor.always_live || (tensor.first_step <= step && step <= tensor.last_step);

section(
  'liveness',
  'Live bytes over the run',
  'What the fullest tile holds in each step: below the line what is always live, above it tensors and exchange buffers. ' +
    'Click on a step to see its tensors.',
  null,
  (profile, width) => {
    const {steps, tensors} = profile,
      chosen = state.view[profile.index].step;
    if (!steps.length) return empty('The program has no steps.');
    const most = 1.08 * Math.max(1, ...profiles.map(p => p.base_bytes + Math.max(0, ...p.steps.map(step => step.live_bytes))));
    const chart = columns(width, steps.length, {
      parts: i => [profile.base_bytes, steps[i].live_bytes],
      colours: ['var(--m8)', 'var(--m2)'],
      most,
      text: bytes_text,
      base: 1024,
      limit: profile.bytes_per_tile,
      marked: chosen,
      name: i => step_name(steps[i]),
      height: 150,
      pick: i => select_step(profile, i),
      rows: i => [
        ['var(--m8)', 'Always live', exact_bytes(profile.base_bytes)],
        ['var(--m2)', 'Live in the step', exact_bytes(steps[i].live_bytes)],
        ['', 'All', exact_bytes(profile.base_bytes + steps[i].live_bytes)],
        ['', 'Step', `${i} · ${steps[i].path}`],
      ],
      label: ['step 0', `step ${steps.length - 1}`],
      described: 'Live bytes of the fullest tile by step',
    });
    const live = tensors.filter(tensor => live_in(tensor, chosen));
    const listed = live.filter(matches).sort((a, b) => b.bytes - a.bytes);
    const shown = listed.slice(0, 12),
      rest = listed.slice(12);
    const across = count => (100 * count) / steps.length;
    const span = tensor => (tensor.always_live ? [0, steps.length] : [tensor.first_step, tensor.last_step + 1]);
    return [
      el(
        'div',
        {class: 'legend'},
        el('span', {}, key('var(--m8)'), 'always live'),
        el('span', {}, key('var(--m2)'), 'live in the step'),
      ),
      chart,
      el(
        'h3',
        {},
        `Tensors live in step ${chosen}${chosen === profile.totals.peak_step ? ', the peak' : ''}: ${step_name(steps[chosen])}`,
      ),
      el(
        'div',
        {class: 'lifetimes'},
        shown.map(tensor => {
          const [from, to] = span(tensor);
          return el(
            'div',
            {
              class: 'row',
              onpointermove: event =>
                show_tip(
                  event,
                  tensor.name,
                  [
                    ['', 'Fullest tile', exact_bytes(tensor.bytes)],
                    ['', 'All tiles', exact_bytes(tensor.whole_bytes)],
                    [category_colour(tensor.category), 'Category', profile.categories[tensor.category].name],
                    ['', 'Live', tensor.always_live ? 'always' : `steps ${tensor.first_step} to ${tensor.last_step}`],
                  ],
                  tensor.module,
                ),
              onpointerleave: hide_tip,
            },
            el('span', {class: 'mono'}, tensor.name, tensor.module && el('span', {class: 'muted'}, ' · ', path_text(tensor.module))),
            el('span', {class: 'number small'}, bytes_text(tensor.bytes)),
            el(
              'span',
              {class: 'track'},
              el('span', {
                style: `left:${across(from)}%;width:${across(to - from)}%;${category_style(tensor)}`,
              }),
              el('em', {style: `left:${(100 * (chosen + 0.5)) / steps.length}%`}),
            ),
          );
        }),
      ),
      el(
        'p',
        {class: 'muted small'},
        listed.length === 0
          ? 'None of them matches the filter.'
          : rest.length
            ? `and ${rest.length} smaller ones with ${bytes_text(rest.reduce((sum, tensor) => sum + tensor.bytes, 0))}`
            : `all that are live${state.filter ? ' and match the filter' : ''}`,
      ),
      chosen !== profile.totals.peak_step &&
        el(
          'button',
          {class: 'plain', type: 'button', onclick: () => select_step(profile, profile.totals.peak_step)},
          `Back to the peak, step ${profile.totals.peak_step}`,
        ),
    ];
  },
);

section(
  'tensors',
  'Largest tensors',
  'Storages by their bytes on the fullest tile, views included in the tensor that they are of.',
  null,
  profile => {
    const found = profile.tensors.filter(matches),
      shown = state.all_tensors ? found : found.slice(0, 10);
    if (!profile.tensors.length) return empty('The program has no tensors.');
    if (!found.length) return empty('No tensor matches the filter.');
    return [
      el(
        'table',
        {},
        el(
          'thead',
          {},
          el(
            'tr',
            {},
            el('th', {}, 'Tensor'),
            el('th', {class: 'wide'}, 'Module'),
            el('th', {class: 'wide'}, 'Category'),
            el('th', {class: 'number wide'}, 'Live in steps'),
            el('th', {class: 'number'}, 'Fullest tile'),
            el('th', {class: 'number wide'}, 'All tiles'),
          ),
        ),
        el(
          'tbody',
          {},
          shown.map(tensor =>
            el(
              'tr',
              {},
              el(
                'td',
                {},
                el('span', {class: 'mono'}, tensor.name),
                el('div', {class: 'muted small narrow'}, path_text(tensor.module)),
              ),
              el('td', {class: 'wide muted'}, path_text(tensor.module)),
              el('td', {class: 'wide'}, key(category_colour(tensor.category)), ' ', profile.categories[tensor.category].name),
              el('td', {class: 'number wide'}, tensor.always_live ? 'all' : `${tensor.first_step} – ${tensor.last_step}`),
              el('td', {class: 'number'}, bytes_text(tensor.bytes)),
              el('td', {class: 'number wide'}, bytes_text(tensor.whole_bytes)),
            ),
          ),
        ),
      ),
      found.length > 10 &&
        el(
          'button',
          {
            class: 'plain',
            type: 'button',
            'data-choice': 'tensors',
            onclick: () => change({all_tensors: !state.all_tensors}, 'tensors'),
          },
          state.all_tensors ? 'Show the ten largest' : `Show all ${found.length}`,
        ),
    ];
  },
);
)js";
  page += R"js(
const tile_sets_chart = (profile, width) => {
  const lane = 30,
    left = 130,
    right = 70,
    inner = Math.max(60, width - left - right),
    height = profile.tile_sets.length * lane + 26;
  const whole = Math.max(1, profile.totals.cycles),
    x = cycle => left + (Math.min(cycle, whole) / whole) * inner;
  const of_phase = PHASES.map(() => []);
  profile.slices.forEach(slice => {
    const step = profile.steps[slice.step];
    let cycle = slice.begin;
    [2, 3, 4, 5, 1, 0].forEach(phase => {
      const end = cycle + step[PHASES[phase][0]] * slice.times;
      if (end > cycle) of_phase[phase].push([x(cycle), step.tile_set * lane + 4, Math.max(x(end) - x(cycle), 0.4), lane - 8]);
      cycle = end;
    });
  });
  return el(
    'div',
    {class: 'chart'},
    svg(
      'svg',
      {width, height, role: 'img', 'aria-label': 'Steps of each IPU'},
      profile.tile_sets.map((set, i) => [
        svg('text', {x: left - 8, y: i * lane + lane / 2 + 4, 'text-anchor': 'end'}, set.name),
        svg('rect', {x: left, y: i * lane + 4, width: inner, height: lane - 8, fill: 'var(--sunken)'}),
        svg('text', {x: width - 2, y: i * lane + lane / 2 + 4, 'text-anchor': 'end'}, share(whole - set.waiting, whole)),
      ]),
      of_phase.map((list, phase) => list.length > 0 && svg('path', {d: strips(list), fill: phase_colour(phase)})),
      svg('text', {x: left, y: height - 6}, '0'),
      svg('text', {x: left + inner, y: height - 6, 'text-anchor': 'end'}, cycles_text(whole, profile)),
    ),
  );
};
if (profiles.some(p => p.tile_sets.length))
  section(
    'tile_sets',
    'IPUs',
    'What each IPU does while the run goes from left to right: what is empty is waiting, for data of another ' +
      'IPU or of IO tiles. At the right the share of the run in which it works. What a loop repeats is one slice.',
    null,
    (profile, width) => !profile.tile_sets.length ? empty('The program is on one IPU.') : tile_sets_chart(profile, width),
  );
)js";
  page += R"js(
// The parts of a step in the order of a run: tiles meet, get their operands, and compute.
const lane_order = [2, 3, 4, 5, 6, 1, 0].filter(i => used_phases.includes(i));
const lane_names = ['Compute', 'Exchange', 'Sync', 'Host', 'Remote', 'Collect.'];

const step_details = profile => {
  const step = profile.steps[state.view[profile.index].step];
  if (!step) return null;
  const fact = (name, value) => el('div', {}, el('dt', {}, name), el('dd', {}, value));
  return el(
    'div',
    {class: 'details', 'data-step': step.index},
    el('h3', {}, `Step ${step.index}: ${step_name(step)}`),
    el('p', {class: 'mono muted'}, path_text(step.path)),
    el(
      'dl',
      {},
      used_phases.filter(i => step.phases[i] > 0).map(i => fact(PHASES[i][1], cycles_text(step.phases[i], profile))),
      fact(
        'All',
        `${cycles_text(step.cycles, profile)}${state.unit === 'share' ? '' : `, ${share(step.cycles, profile.totals.cycles)}`}`,
      ),
      fact('Executed', times_text(step.times)),
      fact('Kind', step.kind || '–'),
      step.banks && fact('Banks', step.banks),
      fact('Body', profile.bodies[step.body]?.name ?? step.body),
      fact('Vertices', integer(step.vertices)),
      fact('Tiles', `${integer(step.tiles_used)} of ${integer(profile.tiles.length)}`),
      fact('Balance', percent(step.balance)),
      fact('Work', step.flops ? flops_text(step.flops * step.times) : 'none'),
      fact('Speed', step.flops && step.cycles ? rate_text(((step.flops * step.times) / step.cycles) * profile.clock_hz) : '–'),
      fact('Received by the fullest tile', bytes_text(step.bytes_in)),
      fact('Sent by the fullest tile', bytes_text(step.bytes_out)),
      fact('Fragments', integer(step.fragments)),
      fact('Exchanged by all tiles', bytes_text(step.exchanged_bytes)),
      fact('Live on the fullest tile', bytes_text(profile.base_bytes + step.live_bytes)),
      fact('Assumed', share(step.assumed * step.times, step.cycles)),
    ),
  );
};

const timeline_chart = (profile, width) => {
  const {steps} = profile,
    view = state.view[profile.index],
    equal = state.width === 'equal';
  const left = 70,
    inner = width - left - 2,
    names = 26,
    lane = 26,
    axis = 26,
    height = names + lane_order.length * lane + axis;
  const whole = equal ? steps.length : Math.max(1, profile.listed_cycles),
    from = view.from * whole,
    to = view.to * whole;
  const x = value => left + ((value - from) / (to - from)) * inner;
  const start = step => (equal ? step.index : step.start),
    end = step => (equal ? step.index + 1 : step.start + step.cycles);
  const rects = lane_order.map(() => [[], []]),
    labels = [];
  const add = (lane_index, dim, a, b) => {
    // in the visible part; neighbours of less than a pixel become one
    const x0 = Math.max(left, x(a)),
      x1 = Math.min(left + inner, x(b)),
      list = rects[lane_index][dim],
      last = list[list.length - 1];
    if (x1 <= x0) return;
    if (last && x0 - (last[0] + last[2]) < 0.25 && last[2] < 1) last[2] = x1 - last[0];
    else list.push([x0, names + lane_index * lane + 3, Math.max(x1 - x0, 0.6), lane - 6]);
  };
  steps.forEach(step => {
    if (end(step) < from || start(step) > to) return;
    const dim = matches(step) ? 0 : 1;
    let cycle = start(step);
    lane_order.forEach((phase, lane_index) => {
      const length = equal ? (step.cycles > 0 ? step.phases[phase] / step.cycles : 0) : step.phases[phase];
      if (length > 0) add(lane_index, dim, cycle, cycle + length);
      cycle += length;
    });
    const x0 = Math.max(left, x(start(step))),
      x1 = Math.min(left + inner, x(end(step))),
      letters = Math.floor((x1 - x0 - 10) / 7.2),
      name = step_name(step);
    if (x1 - x0 > 3)
      labels.push(
        svg('rect', {
          x: x0 + 0.5,
          y: 2,
          width: x1 - x0 - 1,
          height: names - 6,
          rx: 3,
          class: dim ? 'dim' : '',
          fill: step.index === view.step ? 'var(--accent-soft)' : 'var(--sunken)',
          stroke: step.index === view.step ? 'var(--accent)' : 'none',
        }),
      );
    if (letters > 3 && !dim)
      labels.push(
        svg(
          'text',
          {class: 'strong', x: x0 + 5, y: names / 2 + 3},
          name.length > letters ? name.slice(0, letters - 1) + '…' : name,
        ),
      );
  });
  const marks = equal
    ? []
    : ticks(to - from, width < 500 ? 3 : 6)
        .map(value => value + from)
        .filter(value => value <= to);
  const band = svg('rect', {class: 'band', y: 0, height: height - axis, visibility: 'hidden'});
  const at = event => {
    const box = event.currentTarget.getBoundingClientRect();
    return Math.max(0, Math.min(1, (event.clientX - box.left) / box.width));
  };
  const step_at = part => {
    const value = from + part * (to - from);
    return steps.find(step => value >= start(step) && value < end(step)) || steps[steps.length - 1];
  };
  let pressed = null;
  const move = event => {
    const part = at(event);
    if (pressed !== null && Math.abs(part - pressed) * inner > 4) {
      band.setAttribute('x', left + Math.min(part, pressed) * inner);
      band.setAttribute('width', Math.abs(part - pressed) * inner);
      band.setAttribute('visibility', 'visible');
      hide_tip();
    } else {
      step_tip(event, step_at(part), profile);
    }
  };
  const release = event => {
    if (pressed === null) return;
    const part = at(event),
      range = view.to - view.from,
      begin = pressed;
    pressed = null;
    if (Math.abs(part - begin) * inner <= 4) return select_step(profile, step_at(part).index);
    const origin = view.from;
    view.from = origin + Math.min(begin, part) * range;
    view.to = origin + Math.max(begin, part) * range;
    redraw('timeline');
  };
  return el(
    'div',
    {class: 'chart'},
    svg(
      'svg',
      {width, height, role: 'img', 'aria-label': `Timeline of ${steps.length} steps`},
      marks.map(value =>
        svg('line', {
          class: 'grid-line',
          x1: Math.round(x(value)) + 0.5,
          x2: Math.round(x(value)) + 0.5,
          y1: names,
          y2: height - axis + 4,
        }),
      ),
      marks.map(value =>
        svg(
          'text',
          {
            x: x(value),
            y: height - 6,
            'text-anchor': x(value) > left + inner - 30 ? 'end' : x(value) < left + 20 ? 'start' : 'middle',
          },
          cycles_axis(value, profile),
        ),
      ),
      svg('text', {x: left - 8, y: names / 2 + 3, 'text-anchor': 'end'}, 'Step'),
      labels,
      lane_order.map((phase, i) => [
        svg('text', {x: left - 8, y: names + i * lane + lane / 2 + 4, 'text-anchor': 'end'}, lane_names[phase]),
        svg('line', {
          class: 'grid-line',
          x1: left,
          x2: left + inner,
          y1: names + (i + 1) * lane - 0.5,
          y2: names + (i + 1) * lane - 0.5,
        }),
        rects[i].map(
          (list, dim) => list.length > 0 && svg('path', {d: strips(list), fill: phase_colour(phase), class: dim ? 'dim' : ''}),
        ),
      ]),
      equal && svg('text', {x: left, y: height - 6}, 'each step has the same width'),
      band,
      svg('rect', {
        class: 'hit',
        x: left,
        y: 0,
        width: inner,
        height: height - axis,
        onpointermove: move,
        onpointerdown: event => {
          pressed = at(event);
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
const zoom = (profile, factor) => {
  const view = state.view[profile.index],
    middle = (view.from + view.to) / 2,
    half = Math.min(0.5, Math.max(0.0005, ((view.to - view.from) / 2) * factor));
  view.from = Math.min(Math.max(0, middle - half), 1 - 2 * half);
  view.to = view.from + 2 * half;
  redraw('timeline');
};

section(
  'timeline',
  'Timeline',
  'The run from left to right: in each step tiles meet, exchange what they need, and compute. Drag ' +
    'over a part to enlarge it; click on a step for its figures.',
  () => [
    el(
      'span',
      {class: 'switch'},
      'Width',
      choices(
        'width',
        [
          ['cycles', 'Cycles'],
          ['equal', 'Equal'],
        ],
        state.width,
        width => change({width}, 'timeline'),
      ),
    ),
  ],
  (profile, width) =>
    !profile.steps.length
      ? empty('The program has no steps.')
      : [
          el(
            'div',
            {style: 'display:flex;flex-wrap:wrap;gap:8px 16px;justify-content:space-between;align-items:center'},
            phase_legend(profile),
            el(
              'span',
              {class: 'choices'},
              [
                ['+', 'Enlarge', 0.5],
                ['−', 'Reduce', 2],
                ['All', 'Show the whole run', Infinity],
              ].map(([text, name, factor]) =>
                el('button', {type: 'button', title: name, 'aria-label': name, onclick: () => zoom(profile, factor)}, text),
              ),
            ),
          ),
          timeline_chart(profile, width),
          step_details(profile),
        ],
);
)js";
  page += R"js(
// Columns of the table: key, title, the least width of a table that has it, its value of a step, its text.
// Outside of an IPU: host, streaming memory, collectives, links.
const outside = step => step.phases.slice(3).reduce((a, b) => a + b, 0);
const cycles_or_none = (cycles, profile) => (cycles ? cycles_text(cycles, profile) : '–');
const bytes_or_none = bytes => (bytes ? bytes_text(bytes) : '–');
const step_columns = [
  ['index', '#', 820, step => step.index, step => step.index],
  ['label', 'Step', 0, step => step.text],
  ['times', 'Times', 820, step => step.times, step => integer(step.times)],
  ['compute', 'Compute', 480, step => step.phases[0], (step, profile) => cycles_or_none(step.phases[0], profile)],
  ['exchange', 'Exchange', 480, step => step.phases[1], (step, profile) => cycles_or_none(step.phases[1], profile)],
  ['sync', 'Sync', 640, step => step.phases[2], (step, profile) => cycles_or_none(step.phases[2], profile)],
  ['other', 'Other', 1000, outside, (step, profile) => cycles_or_none(outside(step), profile)],
  ['balance', 'Balance', 480, step => step.balance ?? 0, step => percent(step.balance)],
  ['tiles', 'Tiles', 820, step => step.tiles_used, step => integer(step.tiles_used)],
  ['bytes', 'Exchanged', 1000, step => step.total_exchanged, step => bytes_or_none(step.total_exchanged)],
  ['assumed', 'Assumed', 1000, step => step.assumed * step.times, step => share(step.assumed * step.times, step.cycles)],
  ['cycles', 'All', 0, step => step.cycles, (step, profile) => cycles_text(step.cycles, profile)],
];

section(
  'steps',
  'Steps',
  'Cycles of each step in a run, all executions together. Click on a title to sort by it, on a step to ' +
    'see more of it in the timeline.',
  null,
  (profile, width) => {
    const has = name => name !== 'other' || used_phases.length > 3;
    const shown_columns = step_columns.filter(([name, , least]) => width >= least && has(name));
    const found = profile.steps.filter(matches),
      value = step_columns.find(([name]) => name === state.sort)[3];
    const sorted = [...found].sort((a, b) => {
      const [x, y] = [value(a), value(b)],
        order = x < y ? -1 : x > y ? 1 : 0;
      return (state.descending ? -order : order) || a.index - b.index;
    });
    const rows = state.all_steps ? sorted : sorted.slice(0, 15);
    const most = Math.max(1, ...profiles.flatMap(p => p.steps.map(step => step.cycles)));
    if (!profile.steps.length) return empty('The program has no steps.');
    if (!found.length) return empty('No step matches the filter.');
    const sort = (name, title) =>
      el(
        'button',
        {
          type: 'button',
          'data-choice': `sort:${name}`,
          onclick: () =>
            change(
              {sort: name, descending: state.sort === name ? !state.descending : !['index', 'label'].includes(name)},
              'steps',
            ),
        },
        title,
        state.sort === name ? (state.descending ? ' ↓' : ' ↑') : '',
      );
    return [
      el(
        'table',
        {class: width < 480 ? 'steps brief' : width < 820 ? 'steps short' : 'steps'},
        el(
          'thead',
          {},
          el(
            'tr',
            {},
            shown_columns.map(([name, title]) =>
              el(
                'th',
                {
                  class: name === 'label' ? 'step' : 'number',
                  'aria-sort': state.sort === name ? (state.descending ? 'descending' : 'ascending') : null,
                },
                sort(name, title),
              ),
            ),
          ),
        ),
        el(
          'tbody',
          {},
          rows.map(step =>
            el(
              'tr',
              {
                class: step.index === state.view[profile.index].step ? 'pick picked' : 'pick',
                'data-step': step.index,
                onclick: () => select_step(profile, step.index),
              },
              shown_columns.map(([name, , , , text]) =>
                name === 'label'
                  ? el(
                      'td',
                      {},
                      el('span', {}, width < 820 ? `${step.index} · ` : '', step_name(step)),
                      el('div', {class: 'muted small'}, path_text(step.path)),
                      phase_bar(step.phases, length_of(step.cycles, most)),
                    )
                  : el('td', {class: 'number'}, text(step, profile)),
              ),
            ),
          ),
        ),
      ),
      found.length > 15 &&
        el(
          'button',
          {
            class: 'plain',
            type: 'button',
            'data-choice': 'steps',
            onclick: () => change({all_steps: !state.all_steps}, 'steps'),
          },
          state.all_steps ? 'Show 15 only' : `Show all ${integer(found.length)}`,
        ),
    ];
  },
);
)js";
  page += R"js(
// A tree of {name, children, phases, cycles, count}: steps by module path and op, or by op and module.
const build_tree = profile => {
  const root = {name: 'all', path: '', children: new Map(), phases: PHASES.map(() => 0), cycles: 0, count: 0, step: null};
  for (const step of profile.steps.filter(matches)) {
    const modules = step.path.split('/').filter(part => part),
      ops = step_name(step),
      kind = step.kind || 'step';
    const names =
      state.group === 'module' ? [...modules, ops] : state.group === 'op' ? [ops, step.path] : [kind, ops, step.path];
    let node = root;
    for (const [depth, name] of [null, ...names].entries()) {
      if (name !== null) {
        if (!node.children.has(name))
          node.children.set(name, {
            name,
            path: node.path + '/' + name,
            children: new Map(),
            phases: PHASES.map(() => 0),
            cycles: 0,
            count: 0,
            leaf: depth === names.length,
            op: state.group === 'module' ? depth === names.length : depth === (state.group === 'op' ? 1 : 2),
          });
        node = node.children.get(name);
      }
      node.phases = node.phases.map((sum, i) => sum + step.phases[i]);
      node.cycles += step.cycles;
      node.count += 1;
    }
    node.step = step.index;
  }
  return root;
};

section(
  'modules',
  'Cycles by module and op',
  'Where the cycles of a run go. Open a row to see its parts; a double-click on its name makes it the ' +
    'root. Bars are split as in the totals.',
  () => [
    el(
      'span',
      {class: 'switch'},
      'Group by',
      choices(
        'group',
        [
          ['module', 'Module'],
          ['op', 'Op'],
          ['kind', 'Kind'],
        ],
        state.group,
        group => change({group, root: [], open: new Map()}, 'modules'),
      ),
    ),
  ],
  profile => {
    if (!profile.steps.length) return empty('The program has no steps.');
    const tree = build_tree(profile);
    if (!tree.count) return empty('No step matches the filter.');
    let root = tree;
    const crumbs = [tree];
    for (const name of state.root) if (root.children.has(name)) crumbs.push((root = root.children.get(name)));
    const most = Math.max(
      1,
      ...profiles.map(p => (p === profile ? root.cycles : build_tree(p).cycles * (state.root.length ? 0 : 1))),
    );
    const rows = [],
      sorted = node => [...node.children.values()].sort((a, b) => b.cycles - a.cycles);
    const is_open = (node, depth) => state.open.get(node.path) ?? (depth < 2 && node.cycles > 0.25 * root.cycles);
    const add = (node, depth, names) => {
      const inner = node.children.size > 0,
        open = inner && is_open(node, depth);
      const turn = () => {
        state.open.set(node.path, !open);
        redraw('modules');
      };
      rows.push(
        el(
          'div',
          {
            class: 'row',
            'data-path': node.path,
            onpointermove: event =>
              show_tip(
                event,
                node.name,
                [
                  ...used_phases
                    .filter(i => node.phases[i] > 0)
                    .map(i => [phase_colour(i), PHASES[i][1], cycles_text(node.phases[i], profile)]),
                  ['', 'Steps', integer(node.count)],
                ],
                node.path.slice(1),
              ),
            onpointerleave: hide_tip,
          },
          el(
            'span',
            {class: 'name', style: `padding-left:${depth * 18}px`},
            inner
              ? el(
                  'button',
                  {
                    class: 'turn',
                    type: 'button',
                    'aria-expanded': String(open),
                    'aria-label': `Parts of ${node.name}`,
                    'data-choice': 'turn:' + node.path,
                    onclick: turn,
                  },
                  open ? '▾' : '▸',
                )
              : el('span', {class: 'turn'}),
            el(
              'button',
              {
                class: node.op ? '' : 'module',
                type: 'button',
                onclick: () => (inner ? turn() : select_step(profile, node.step, true)),
                ondblclick: () => inner && change({root: [...state.root, ...names]}, 'modules'),
              },
              node.name,
            ),
          ),
          phase_bar(node.phases, length_of(node.cycles, most)),
          el('span', {class: 'number'}, cycles_text(node.cycles, profile)),
          el('span', {class: 'number muted'}, share(node.cycles, profile.totals.cycles)),
        ),
      );
      if (open) sorted(node).forEach(child => add(child, depth + 1, [...names, child.name]));
    };
    const top = sorted(root);
    if (top.length === 1 && top[0].children.size > 0 && !state.open.has(top[0].path)) state.open.set(top[0].path, true);
    top.forEach(node => add(node, 0, [node.name]));
    return [
      phase_legend(profile, root.phases),
      crumbs.length > 1 &&
        el(
          'p',
          {class: 'crumbs'},
          crumbs.map((node, i) => [
            i > 0 ? '›' : '',
            el('button', {type: 'button', onclick: () => change({root: state.root.slice(0, i)}, 'modules')}, node.name),
          ]),
        ),
      el('div', {class: 'tree'}, rows),
    ];
  },
);
)js";
  page += R"js(
section(
  'balance',
  'Balance of tiles',
  'How evenly the work of a step is spread: the mean tile’s compute cycles by those of the slowest ' +
    'one, all tiles counted. Paler: the step takes few cycles.',
  null,
  (profile, width) => {
    const {steps} = profile,
      count = profile.compute_by_tile.length;
    if (!steps.length) return empty('The program has no steps.');
    const heavy = Math.max(1, ...steps.map(step => step.phases[0])),
      shades = [0.3, 0.6, 1];
    const shade = step => (step.phases[0] > 0.3 * heavy ? 2 : step.phases[0] > 0.05 * heavy ? 1 : 0);
    const linear = state.scale;
    state.scale = 'linear'; // shares have no logarithmic scale
    const by_step = columns(width, steps.length, {
      parts: i => shades.map((_, s) => (s === shade(steps[i]) && steps[i].phases[0] > 0 ? (steps[i].balance ?? 0) : 0)),
      most: 1,
      text: percent,
      height: 130,
      colours: shades.map(part => `color-mix(in srgb, var(--accent) ${100 * part}%, var(--surface))`),
      name: i => step_name(steps[i]),
      marked: state.view[profile.index].step,
      rows: i => [
        ['', 'Balance', percent(steps[i].balance)],
        ['', 'Tiles', `${integer(steps[i].tiles_used)} of ${integer(profile.tiles.length)}`],
        ['', 'Vertices', integer(steps[i].vertices)],
        ['', 'Compute', cycles_text(steps[i].phases[0], profile)],
        ['', 'Step', `${i} · ${steps[i].path}`],
      ],
      pick: i => select_step(profile, i),
      label: ['step 0', `step ${steps.length - 1}`],
      described: 'Balance by step',
    });
    state.scale = linear;
    const order = Array.from({length: count}, (_, i) => i).sort(
      (a, b) => profile.compute_by_tile[b] - profile.compute_by_tile[a] || a - b,
    );
    return [
      el('h3', {}, 'By step'),
      by_step,
      count > 0 && el('h3', {}, 'Compute cycles of each tile in a run, the busiest first'),
      count > 0 &&
        columns(width, count, {
          parts: i => [profile.compute_by_tile[order[i]]],
          colours: ['var(--compute)'],
          height: 130,
          text: value => cycles_axis(value, profile),
          most: 1.05 * Math.max(1, ...profiles.flatMap(p => [Math.max(0, ...p.compute_by_tile)])),
          name: i => `Tile ${order[i]}`,
          rows: i => [
            ['', 'Compute', cycles_text(profile.compute_by_tile[order[i]], profile)],
            ['', 'Of the busiest', share(profile.compute_by_tile[order[i]], profile.compute_by_tile[order[0]])],
          ],
          label: [`tile ${integer(order[0])}, the busiest`, `tile ${integer(order[count - 1])}`],
          described: `Compute cycles of ${count} tiles`,
        }),
    ];
  },
);
)js";
  page += R"js(
// Bodies in layers: a body stands below all that call it. A layer that is too wide takes several rows.
section(
  'calls',
  'Call graph',
  'Bodies of steps, and who calls them how often. Cycles are those of a body’s own steps in a run.',
  null,
  (profile, width) => {
    const {bodies, calls} = profile;
    if (!bodies.length) return empty('The program has no bodies.');
    const depth = bodies.map(() => 0);
    for (let round = 0; round < bodies.length; ++round)
      for (const call of calls)
        depth[call.callee] = Math.min(bodies.length, Math.max(depth[call.callee], depth[call.caller] + 1));
    const cycles = bodies.map((_, body) =>
      profile.steps.reduce((sum, step) => sum + (step.body === body ? step.cycles : 0), 0),
    );
    const counts = bodies.map((_, body) => profile.steps.filter(step => step.body === body).length);
    const layers = [];
    depth.forEach((layer, body) => (layers[layer] ??= []).push(body));
    const widest = Math.max(...layers.map(layer => (layer || []).length)),
      gap = 18,
      high = 58,
      rise = 52;
    const box = Math.min(width, Math.max(150, Math.min(210, (width - gap * (widest - 1)) / widest))),
      across = Math.max(1, Math.floor((width + gap + 0.5) / (box + gap)));
    const place = [];
    let y = 2;
    for (const layer of layers.filter(each => each)) {
      for (let i = 0; i < layer.length; i += across) {
        const row = layer.slice(i, i + across),
          span = row.length * (box + gap) - gap;
        row.forEach((body, j) => {
          place[body] = [(width - span) / 2 + j * (box + gap), y];
        });
        y += high + (i + across < layer.length ? 14 : rise);
      }
    }
    const letters = Math.floor((box - 20) / 7.3),
      cut = (text, most) => (text.length > most ? '…' + text.slice(text.length - most + 1) : text);
    const height = y - rise + 4;
    return el(
      'div',
      {class: 'chart'},
      svg(
        'svg',
        {width, height, role: 'img', 'aria-label': `Call graph of ${bodies.length} bodies`},
        calls.map(call => {
          const [x0, y0] = place[call.caller],
            [x1, y1] = place[call.callee],
            from = x0 + box / 2,
            to = x1 + box / 2,
            bottom = y0 + high,
            middle = (bottom + y1) / 2;
          return [
            svg('path', {
              d: `M${from} ${bottom}C${from} ${middle} ${to} ${middle} ${to} ${y1 - 5}`,
              fill: 'none',
              stroke: 'var(--muted)',
              'stroke-width': 1.3,
            }),
            svg('path', {d: `M${to} ${y1}l-4 -7h8z`, fill: 'var(--muted)'}),
          ];
        }),
        bodies.map((body, i) => {
          const [x, top] = place[i],
            part = profile.totals.cycles > 0 ? cycles[i] / profile.totals.cycles : 0;
          const incoming = calls.filter(call => call.callee === i),
            often = incoming.reduce((sum, call) => sum + call.times, 0);
          return svg(
            'g',
            {
              onpointermove: event =>
                show_tip(event, body.name, [
                  ['', 'Own steps', integer(counts[i])],
                  ['', 'Own cycles in a run', cycles_text(cycles[i], profile)],
                  ['', 'Share', percent(part)],
                  ...incoming.map(call => ['', `Called by ${bodies[call.caller].name}`, times_text(call.times)]),
                ]),
              onpointerleave: hide_tip,
            },
            svg('rect', {
              x: x + 0.5,
              y: top + 0.5,
              width: box - 1,
              height: high - 1,
              rx: 9,
              fill: 'var(--surface)',
              stroke: 'var(--line)',
            }),
            svg('rect', {x: x + 10, y: top + high - 11, width: box - 20, height: 4, rx: 2, fill: 'var(--sunken)'}),
            part > 0 &&
              svg('rect', {
                x: x + 10,
                y: top + high - 11,
                width: Math.max(2, (box - 20) * part),
                height: 4,
                rx: 2,
                fill: 'var(--accent)',
              }),
            svg('text', {class: 'strong', x: x + 10, y: top + 20, 'font-weight': 600}, cut(body.name, letters)),
            svg(
              'text',
              {x: x + 10, y: top + 38},
              [percent(part), counts[i] === 1 ? '1 step' : `${counts[i]} steps`, often > 0 && `×${integer(often)}`]
                .filter(text => text)
                .join(' · '),
            ),
          );
        }),
      ),
    );
  },
);
)js";
  page += R"js(
const curve_colour = i => `var(--m${[0, 3, 4, 6, 2, 1, 5, 8][i]})`;

// Round values from at most `least` to at least `most`.
const ticks_between = (least, most, count) => {
  if (!(most > least)) most = least + Math.max(1e-3, Math.abs(least) / 10);
  const finest = (most - least) / count,
    power = 10 ** Math.floor(Math.log10(finest));
  const size = [1, 2, 5, 10].map(factor => factor * power).find(each => each >= finest * 0.999);
  const first = Math.floor(least / size + 1e-9),
    last = Math.ceil(most / size - 1e-9);
  return Array.from({length: last - first + 1}, (_, i) => (first + i) * size);
};

// The path of a line; values that are not finite interrupt it.
const curve_path = (line, x, y) => {
  let pen = 'M';
  return line.values
    .map((value, i) => {
      if (value === null) {
        pen = 'M';
        return '';
      }
      const part = `${pen}${x(line.steps[i]).toFixed(1)} ${y(value).toFixed(1)}`;
      pen = 'L';
      return part;
    })
    .join('');
};

const curve_chart = ({title, lines}, width) => {
  const values = lines.flatMap(line => line.values.filter(value => value !== null)),
    steps = [...new Set(lines.flatMap(line => line.steps))].sort((a, b) => a - b);
  const legend = el(
    'div',
    {class: 'legend'},
    lines.map((line, i) => el('span', {}, key(curve_colour(i)), line.name)),
  );
  if (!values.length) return [el('h3', {}, title), legend, empty('No finite number was measured.')];
  const is_log = state.scale === 'log' && values.every(value => value > 0),
    scale = is_log ? Math.log10 : value => value,
    back = is_log ? value => 10 ** value : value => value;
  const scaled_values = values.map(scale),
    rows = ticks_between(
      scaled_values.reduce((a, b) => Math.min(a, b)),
      scaled_values.reduce((a, b) => Math.max(a, b)),
      5,
    );
  const left = 66,
    top = 14,
    height = 220,
    inner = Math.max(40, width - left - 2),
    last_step = Math.max(1, steps[steps.length - 1]);
  const x = step => left + (inner * step) / last_step,
    y = value => top + height * (1 - (scale(value) - rows[0]) / (rows[rows.length - 1] - rows[0]));
  const cursor = svg('line', {class: 'hover-line', y1: top, y2: top + height, visibility: 'hidden'});
  const move = event => {
    const box = event.currentTarget.getBoundingClientRect(),
      wanted = ((event.clientX - box.left) / box.width) * last_step;
    const step = steps.reduce((a, b) => (Math.abs(b - wanted) < Math.abs(a - wanted) ? b : a));
    for (const end of ['x1', 'x2']) cursor.setAttribute(end, x(step));
    cursor.setAttribute('visibility', 'visible');
    const measured = lines
      .map((line, i) => [curve_colour(i), line.name, line.values[line.steps.indexOf(step)]])
      .filter(([, , value]) => value !== undefined);
    show_tip(
      event,
      `step ${integer(step)}`,
      measured.map(([colour, name, value]) => [colour, name, value === null ? 'not finite' : String(value)]),
    );
  };
  return [
    el('h3', {}, title),
    legend,
    el(
      'div',
      {class: 'chart'},
      svg(
        'svg',
        {width, height: height + top + 36, role: 'img', 'aria-label': `${title} by step`},
        rows.map((value, i) => {
          const at = Math.round(y(back(value))) + 0.5;
          return [
            svg('line', {class: i === 0 ? 'axis-line' : 'grid-line', x1: left, x2: left + inner, y1: at, y2: at}),
            svg('text', {x: left - 8, y: at + 4, 'text-anchor': 'end'}, rounded(back(value))),
          ];
        }),
        lines.map((line, i) => svg('path', {class: 'curve', d: curve_path(line, x, y), style: `stroke:${curve_colour(i)}`})),
        svg('text', {x: left, y: top + height + 26}, 'step 0'),
        svg('text', {x: left + inner, y: top + height + 26, 'text-anchor': 'end'}, `step ${integer(last_step)}`),
        cursor,
        svg('rect', {
          class: 'hit',
          x: left,
          y: top,
          width: inner,
          height,
          onpointermove: move,
          onpointerdown: move,
          onpointerleave: () => {
            cursor.setAttribute('visibility', 'hidden');
            hide_tip();
          },
        }),
      ),
    ),
  ];
};

if (profiles[0].log)
  section(
    'curves',
    'Training curves',
    'What the training measured, by step.',
    null,
    width => profiles[0].log.map(chart => curve_chart(chart, width)),
    {joint: true},
  );
)js";
  page += R"js(
if (profiles.some(p => p.numbers.length))
  section(
    'numbers',
    'Numbers of the model',
    'What the cycles and bytes rest on, and how far to trust it: published, derived from what is ' +
      'published, recalled, or assumed.',
    null,
    profile =>
      !profile.numbers.length
        ? empty('The profile names none.')
        : el(
            'table',
            {},
            el(
              'thead',
              {},
              el(
                'tr',
                {},
                el('th', {}, 'Number'),
                el('th', {}, 'Value'),
                el('th', {}, 'Confidence'),
                el('th', {class: 'wide'}, 'Source'),
              ),
            ),
            el(
              'tbody',
              {},
              profile.numbers.map(each =>
                el(
                  'tr',
                  {},
                  el('td', {}, each.name),
                  el('td', {}, each.value),
                  el('td', {}, each.confidence),
                  el('td', {class: 'wide muted'}, each.source),
                ),
              ),
            ),
          ),
  );
)js";
  page += R"js(
const system_dark = matchMedia('(prefers-color-scheme: dark)');
const apply_theme = () => {
  const dark = state.theme === 'auto' ? system_dark.matches : state.theme === 'dark';
  document.documentElement.setAttribute('data-theme', dark ? 'dark' : 'light');
};
system_dark.addEventListener('change', apply_theme);
apply_theme();

const first = profiles[0];
document.title = profiles.map(p => `${p.program} on ${p.target}`).join(' and ') + ' – tilewright';
const found_text = el('span', {class: 'muted small', id: 'found', role: 'status'});
const show_found = () => {
  found_text.textContent = state.filter
    ? profiles
        .map(p => {
          const found = p.steps.filter(matches);
          return `${profiles.length > 1 ? p.letter + ': ' : ''}${found.length} of ${p.steps.length} steps, ${share(
            found.reduce((sum, step) => sum + step.cycles, 0),
            p.totals.cycles,
          )}`;
        })
        .join('; ')
    : '';
};
const toolbar = el('div', {class: 'toolbar'});
const input = el('input', {
  type: 'search',
  id: 'filter',
  placeholder: 'Filter by op, module or tensor',
  'aria-label': 'Filter by op, module or tensor',
  spellcheck: 'false',
  oninput: () => {
    state.filter = input.value.trim().toLowerCase();
    show_found();
    redraw('liveness', 'tensors', 'timeline', 'steps', 'modules', 'differences');
  },
});
const draw_toolbar = () => {
  const choose = (name, title, options, after) =>
    el(
      'span',
      {class: 'switch'},
      title,
      choices(name, options, state[name], value => {
        state[name] = value;
        draw_toolbar();
        after();
        document.querySelector(`[data-choice="${name}:${value}"]`).focus({preventScroll: true});
      }),
    );
  toolbar.replaceChildren(
    el('div', {class: 'find'}, input, found_text),
    choose(
      'unit',
      'Cycles as',
      [
        ['cycles', 'Cycles'],
        ['time', 'µs'],
        ['share', '%'],
      ],
      () => redraw(),
    ),
    choose(
      'scale',
      'Scale',
      [
        ['linear', 'Linear'],
        ['log', 'Log'],
      ],
      () => redraw(),
    ),
    choose(
      'theme',
      'Theme',
      [
        ['auto', 'Auto'],
        ['light', 'Light'],
        ['dark', 'Dark'],
      ],
      apply_theme,
    ),
  );
};
draw_toolbar();

const machine = p =>
  `${p.target} · ${integer(p.tiles.length)} tiles of ${bytes_text(p.bytes_per_tile)} · ${clock_text(p)}` +
  (p.banks ? ` · banks ${p.banks}` : '') +
  (p.replicas > 1 ? ` · one of ${integer(p.replicas)} replicas` : '');
const links = sections.map(each => el('a', {href: '#' + each.id}, each.title));
const body = el(
  'main',
  {},
  sections.map(each => (each.element = el('section', {id: each.id}))),
);
document.getElementById('page').replaceChildren(
  el(
    'header',
    {},
    el(
      'div',
      {},
      el('h1', {}, first.program + (profiles[1] && profiles[1].program !== first.program ? ` and ${profiles[1].program}` : '')),
      profiles.map(p =>
        el('p', {class: 'muted'}, profiles.length > 1 && [el('span', {class: 'badge'}, p.letter), ' '], machine(p)),
      ),
    ),
    el('p', {class: 'muted small'}, 'Counted from the plan by tilewright’s machine model, not measured'),
  ),
  toolbar,
  el('nav', {'aria-label': 'Sections'}, links),
  body,
);
redraw();

const follow = () => {
  let here = 0;
  sections.forEach((each, i) => {
    if (each.element.getBoundingClientRect().top < innerHeight * 0.35) here = i;
  });
  links.forEach((link, i) => link.classList.toggle('here', i === here));
};
addEventListener('scroll', follow, {passive: true});
follow();
// Charts have the width of their section: a page that was opened in a hidden window has none yet.
let drawn_width = body.clientWidth;
new ResizeObserver(() => {
  if (body.clientWidth === drawn_width) return;
  drawn_width = body.clientWidth;
  requestAnimationFrame(() => redraw());
}).observe(body);
addEventListener('keydown', event => {
  if (event.key === '/' && document.activeElement !== input) {
    event.preventDefault();
    input.focus();
  }
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
