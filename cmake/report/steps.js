// The table of steps.

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
