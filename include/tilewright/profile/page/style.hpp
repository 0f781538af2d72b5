#pragma once
#include <string_view>

namespace tilewright::detail {

/// The page's style. Colours of categories are distinguishable with every common colour blindness (after Okabe and Ito); texts
/// have a contrast of at least 4.5 on each surface, which a test computes.
inline constexpr std::string_view page_style = R"css(
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

}  // namespace tilewright::detail
