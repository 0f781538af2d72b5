// The script's ground: the data, the state that switches change, numbers of a profile as texts.

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
