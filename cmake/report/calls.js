// The section of bodies and who calls them.

// Bodies in layers: a body stands below all that call it. A layer that is too wide takes several rows.
section(
  'calls',
  'Call graph',
  'Bodies of steps, and who calls them how often. Cycles are those of a body’s own steps in a run.',
  null,
  (profile, width) => {
    const {bodies, calls} = profile;
    if (!bodies.length) return empty('The program has no bodies.');
    const depth = bodies.map(() => 0);
    for (let round = 0; round < bodies.length; ++round)
      for (const call of calls)
        depth[call.callee] = Math.min(bodies.length, Math.max(depth[call.callee], depth[call.caller] + 1));
    const cycles = bodies.map((_, body) =>
      profile.steps.reduce((sum, step) => sum + (step.body === body ? step.cycles : 0), 0),
    );
    const counts = bodies.map((_, body) => profile.steps.filter(step => step.body === body).length);
    const layers = [];
    depth.forEach((layer, body) => (layers[layer] ??= []).push(body));
    const widest = Math.max(...layers.map(layer => (layer || []).length)),
      gap = 18,
      high = 58,
      rise = 52;
    const box = Math.min(width, Math.max(150, Math.min(210, (width - gap * (widest - 1)) / widest))),
      across = Math.max(1, Math.floor((width + gap + 0.5) / (box + gap)));
    const place = [];
    let y = 2;
    for (const layer of layers.filter(each => each)) {
      for (let i = 0; i < layer.length; i += across) {
        const row = layer.slice(i, i + across),
          span = row.length * (box + gap) - gap;
        row.forEach((body, j) => {
          place[body] = [(width - span) / 2 + j * (box + gap), y];
        });
        y += high + (i + across < layer.length ? 14 : rise);
      }
    }
    const letters = Math.floor((box - 20) / 7.3),
      cut = (text, most) => (text.length > most ? '…' + text.slice(text.length - most + 1) : text);
    const height = y - rise + 4;
    return el(
      'div',
      {class: 'chart'},
      svg(
        'svg',
        {width, height, role: 'img', 'aria-label': `Call graph of ${bodies.length} bodies`},
        calls.map(call => {
          const [x0, y0] = place[call.caller],
            [x1, y1] = place[call.callee],
            from = x0 + box / 2,
            to = x1 + box / 2,
            bottom = y0 + high,
            middle = (bottom + y1) / 2;
          return [
            svg('path', {
              d: `M${from} ${bottom}C${from} ${middle} ${to} ${middle} ${to} ${y1 - 5}`,
              fill: 'none',
              stroke: 'var(--muted)',
              'stroke-width': 1.3,
            }),
            svg('path', {d: `M${to} ${y1}l-4 -7h8z`, fill: 'var(--muted)'}),
          ];
        }),
        bodies.map((body, i) => {
          const [x, top] = place[i],
            part = profile.totals.cycles > 0 ? cycles[i] / profile.totals.cycles : 0;
          const incoming = calls.filter(call => call.callee === i),
            often = incoming.reduce((sum, call) => sum + call.times, 0);
          return svg(
            'g',
            {
              onpointermove: event =>
                show_tip(event, body.name, [
                  ['', 'Own steps', integer(counts[i])],
                  ['', 'Own cycles in a run', cycles_text(cycles[i], profile)],
                  ['', 'Share', percent(part)],
                  ...incoming.map(call => ['', `Called by ${bodies[call.caller].name}`, times_text(call.times)]),
                ]),
              onpointerleave: hide_tip,
            },
            svg('rect', {
              x: x + 0.5,
              y: top + 0.5,
              width: box - 1,
              height: high - 1,
              rx: 9,
              fill: 'var(--surface)',
              stroke: 'var(--line)',
            }),
            svg('rect', {x: x + 10, y: top + high - 11, width: box - 20, height: 4, rx: 2, fill: 'var(--sunken)'}),
            part > 0 &&
              svg('rect', {
                x: x + 10,
                y: top + high - 11,
                width: Math.max(2, (box - 20) * part),
                height: 4,
                rx: 2,
                fill: 'var(--accent)',
              }),
            svg('text', {class: 'strong', x: x + 10, y: top + 20, 'font-weight': 600}, cut(body.name, letters)),
            svg(
              'text',
              {x: x + 10, y: top + 38},
              [percent(part), counts[i] === 1 ? '1 step' : `${counts[i]} steps`, often > 0 && `×${integer(often)}`]
                .filter(text => text)
                .join(' · '),
            ),
          );
        }),
      ),
    );
  },
);
