// The section of how evenly tiles are busy.

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
