// The section of differences of profiles against the first.

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
