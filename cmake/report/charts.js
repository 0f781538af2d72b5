// Sections, and the charts that several of them share: axes, stacked columns, legends, bars.

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
