// The page of a recording: one run as a timeline with a lane for each worker, and a table of what its steps took.

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
