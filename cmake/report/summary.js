// The section of totals, with what to look at first.

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
