// The section of memory per tile by category.

const most_bytes = () => Math.max(1, ...profiles.flatMap(p => [Math.max(0, ...p.tile_totals.map((_, i) => tile_bytes(p, i)))]));
const tile_bytes = (profile, tile) => shown_categories(profile).reduce((sum, c) => sum + profile.tiles[tile][c], 0);
const tile_rows = (profile, tile) => [
  ...shown_categories(profile)
    .filter(c => profile.tiles[tile][c] > 0)
    .map(c => [category_colour(c), profile.categories[c].name, exact_bytes(profile.tiles[tile][c])]),
  ['', state.hidden.size ? 'All that are shown' : 'All', exact_bytes(tile_bytes(profile, tile))],
  ['', 'Of the tile', share(tile_bytes(profile, tile), profile.bytes_per_tile)],
];
const select_tile = (profile, tile) => {
  state.view[profile.index].tile = tile;
  redraw('memory');
};

const category_legend = profile =>
  el(
    'div',
    {class: 'legend'},
    profile.categories.map(
      (category, c) =>
        profiles.some(p => p.tiles.some(tile => tile[c] > 0)) &&
        el(
          'button',
          {
            type: 'button',
            'data-choice': `category:${c}`,
            'aria-pressed': String(!state.hidden.has(c)),
            onclick: () => {
              state.hidden.has(c) ? state.hidden.delete(c) : state.hidden.add(c);
              redraw('memory');
            },
          },
          key(category_colour(c)),
          category.name,
        ),
    ),
  );

// Each tile as a cell of a grid, in rows; darker: more.
const tile_map = (profile, width) => {
  const values = profile.tiles.map((_, tile) =>
    state.map === 'bytes' ? tile_bytes(profile, tile) : profile.compute_by_tile[tile],
  );
  const most = Math.max(1, ...values),
    count = values.length,
    shades = 9;
  const across = Math.min(count, width < 500 ? 46 : 92),
    size = Math.min(26, Math.floor((width / across) * 100) / 100),
    gap = size > 5 ? 1 : 0.5;
  const rects = Array.from({length: shades + 1}, () => []);
  const x = tile => (tile % across) * size,
    y = tile => Math.floor(tile / across) * size + 2;
  values.forEach((value, tile) =>
    rects[Math.round(length_of(value, most) * shades)].push([x(tile), y(tile), size - gap, size - gap]),
  );
  const shade = i => `color-mix(in srgb, var(--accent) ${Math.round(6 + (94 * i) / shades)}%, var(--sunken))`;
  const chosen = state.view[profile.index].tile,
    height = Math.ceil(count / across) * size + 4;
  const tile_at = event => {
    const box = event.currentTarget.getBoundingClientRect();
    const tile =
      Math.floor((event.clientY - box.top - 2) / size) * across +
      Math.min(across - 1, Math.floor((event.clientX - box.left) / size));
    return tile >= 0 && tile < count ? tile : -1;
  };
  const move = event => {
    const tile = tile_at(event);
    if (tile < 0) return hide_tip();
    const rows = tile_rows(profile, tile);
    if (profile.compute_by_tile.length)
      rows.push(['', 'Compute in a run', cycles_text(profile.compute_by_tile[tile], profile)]);
    show_tip(event, `Tile ${tile}`, rows);
  };
  return [
    el(
      'div',
      {class: 'chart'},
      svg(
        'svg',
        {
          width,
          height,
          role: 'img',
          style: 'cursor:crosshair',
          'aria-label': `Map of ${count} tiles`,
          onpointermove: move,
          onpointerdown: move,
          onpointerleave: hide_tip,
          onclick: event => tile_at(event) >= 0 && select_tile(profile, tile_at(event)),
        },
        rects.map((each, i) => each.length > 0 && svg('path', {d: strips(each), fill: shade(i)})),
        chosen >= 0 && svg('rect', {class: 'mark', x: x(chosen) - 0.5, y: y(chosen) - 0.5, width: size, height: size, rx: 1}),
      ),
    ),
    el(
      'div',
      {class: 'legend'},
      el(
        'span',
        {class: 'muted'},
        'nothing',
        ...Array.from({length: shades + 1}, (_, i) => key(shade(i))),
        state.map === 'bytes' ? bytes_text(most) : cycles_text(most, profile),
      ),
    ),
  ];
};

const tile_table = profile => {
  const tile = state.view[profile.index].tile,
    all = profile.tile_totals[tile];
  return el(
    'div',
    {},
    el('h3', {}, `Tile ${tile}${tile === profile.fullest_tile ? ', the fullest' : ''}`),
    el(
      'table',
      {},
      el(
        'tbody',
        {},
        profile.categories.map(
          (category, c) =>
            profile.tiles[tile][c] > 0 &&
            el(
              'tr',
              {},
              el('td', {}, key(category_colour(c)), ' ', category.name),
              el('td', {class: 'number'}, bytes_text(profile.tiles[tile][c])),
              el('td', {class: 'number muted'}, share(profile.tiles[tile][c], profile.bytes_per_tile)),
            ),
        ),
        el(
          'tr',
          {},
          el('td', {}, 'All'),
          el('td', {class: 'number'}, bytes_text(all)),
          el('td', {class: 'number muted'}, share(all, profile.bytes_per_tile)),
        ),
      ),
    ),
    tile !== profile.fullest_tile &&
      el(
        'button',
        {class: 'plain', type: 'button', style: 'margin-top:8px', onclick: () => select_tile(profile, profile.fullest_tile)},
        `Back to the fullest, ${profile.fullest_tile}`,
      ),
  );
};

section(
  'memory',
  'Memory per tile',
  'Bytes of each tile by category, at the step where it needs most. Click on a tile to see its ' +
    'figures; on a category to hide it.',
  () => [
    el(
      'span',
      {class: 'switch'},
      'Order',
      choices(
        'order',
        [
          ['number', 'Tile number'],
          ['size', 'Fullest first'],
        ],
        state.tile_order,
        tile_order => change({tile_order}, 'memory'),
      ),
    ),
    profiles.some(p => p.compute_by_tile.length) &&
      el(
        'span',
        {class: 'switch'},
        'Map',
        choices(
          'map',
          [
            ['bytes', 'Bytes'],
            ['cycles', 'Compute'],
          ],
          state.map,
          map => change({map}, 'memory'),
        ),
      ),
  ],
  (profile, width) => {
    const count = profile.tiles.length;
    if (!count) return empty('The profile has no tiles.');
    const shown = shown_categories(profile),
      split = width > 640 && (profiles.length < 2 || innerWidth < 1280);
    const order = Array.from({length: count}, (_, i) => i);
    if (state.tile_order === 'size') order.sort((a, b) => tile_bytes(profile, b) - tile_bytes(profile, a) || a - b);
    const most = Math.max(most_bytes() * 1.04, most_bytes() > 0.6 * profile.bytes_per_tile ? profile.bytes_per_tile * 1.1 : 0);
    return [
      category_legend(profile),
      el(
        'div',
        {class: 'split'},
        el(
          'div',
          {class: 'pane'},
          columns(width - (split ? 318 : 0), count, {
            parts: i => shown.map(c => profile.tiles[order[i]][c]),
            colours: shown.map(category_colour),
            most,
            text: bytes_text,
            base: 1024,
            limit: profile.bytes_per_tile,
            marked: order.indexOf(state.view[profile.index].tile),
            name: i => `Tile ${order[i]}`,
            rows: i => tile_rows(profile, order[i]),
            pick: i => select_tile(profile, order[i]),
            label:
              state.tile_order === 'size'
                ? ['fullest', `emptiest of ${integer(count)} tiles`]
                : ['tile 0', `tile ${integer(count - 1)}`],
            described: `Memory of ${count} tiles by category`,
          }),
          state.map === 'cycles' && !profile.compute_by_tile.length
            ? empty('The profile has no cycles by tile.')
            : tile_map(profile, width - (split ? 318 : 0)),
        ),
        tile_table(profile),
      ),
    ];
  },
);
