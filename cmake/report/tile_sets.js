// The section of several IPUs and their IO tiles: what each of them does when, and how long it waits.

const tile_sets_chart = (profile, width) => {
  const lane = 30,
    left = 130,
    right = 70,
    inner = Math.max(60, width - left - right),
    height = profile.tile_sets.length * lane + 26;
  const whole = Math.max(1, profile.totals.cycles),
    x = cycle => left + (Math.min(cycle, whole) / whole) * inner;
  const of_phase = PHASES.map(() => []);
  profile.slices.forEach(slice => {
    const step = profile.steps[slice.step];
    let cycle = slice.begin;
    [2, 3, 4, 5, 1, 0].forEach(phase => {
      const end = cycle + step[PHASES[phase][0]] * slice.times;
      if (end > cycle) of_phase[phase].push([x(cycle), step.tile_set * lane + 4, Math.max(x(end) - x(cycle), 0.4), lane - 8]);
      cycle = end;
    });
  });
  return el(
    'div',
    {class: 'chart'},
    svg(
      'svg',
      {width, height, role: 'img', 'aria-label': 'Steps of each IPU'},
      profile.tile_sets.map((set, i) => [
        svg('text', {x: left - 8, y: i * lane + lane / 2 + 4, 'text-anchor': 'end'}, set.name),
        svg('rect', {x: left, y: i * lane + 4, width: inner, height: lane - 8, fill: 'var(--sunken)'}),
        svg('text', {x: width - 2, y: i * lane + lane / 2 + 4, 'text-anchor': 'end'}, share(whole - set.waiting, whole)),
      ]),
      of_phase.map((list, phase) => list.length > 0 && svg('path', {d: strips(list), fill: phase_colour(phase)})),
      svg('text', {x: left, y: height - 6}, '0'),
      svg('text', {x: left + inner, y: height - 6, 'text-anchor': 'end'}, cycles_text(whole, profile)),
    ),
  );
};
if (profiles.some(p => p.tile_sets.length))
  section(
    'tile_sets',
    'IPUs',
    'What each IPU does while the run goes from left to right: what is empty is waiting, for data of another ' +
      'IPU or of IO tiles. At the right the share of the run in which it works. What a loop repeats is one slice.',
    null,
    (profile, width) => !profile.tile_sets.length ? empty('The program is on one IPU.') : tile_sets_chart(profile, width),
  );
