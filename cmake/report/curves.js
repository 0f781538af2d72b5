// The section of a training's curves, if the report has a log: a chart for each group of columns, a line for each column.

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
