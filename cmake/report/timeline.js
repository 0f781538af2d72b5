// The section of the run as a timeline: lanes of sync, exchange, compute and what else there is.

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
