// The section of memory over the steps of a run, with the tensors of one of them.

const category_style = tensor => `background:${category_colour(tensor.category)}`;
const live_in = (tensor, step) => tensor.always_live || (tensor.first_step <= step && step <= tensor.last_step);

section(
  'liveness',
  'Live bytes over the run',
  'What the fullest tile holds in each step: below the line what is always live, above it tensors and exchange buffers. ' +
    'Click on a step to see its tensors.',
  null,
  (profile, width) => {
    const {steps, tensors} = profile,
      chosen = state.view[profile.index].step;
    if (!steps.length) return empty('The program has no steps.');
    const most = 1.08 * Math.max(1, ...profiles.map(p => p.base_bytes + Math.max(0, ...p.steps.map(step => step.live_bytes))));
    const chart = columns(width, steps.length, {
      parts: i => [profile.base_bytes, steps[i].live_bytes],
      colours: ['var(--m8)', 'var(--m2)'],
      most,
      text: bytes_text,
      base: 1024,
      limit: profile.bytes_per_tile,
      marked: chosen,
      name: i => step_name(steps[i]),
      height: 150,
      pick: i => select_step(profile, i),
      rows: i => [
        ['var(--m8)', 'Always live', exact_bytes(profile.base_bytes)],
        ['var(--m2)', 'Live in the step', exact_bytes(steps[i].live_bytes)],
        ['', 'All', exact_bytes(profile.base_bytes + steps[i].live_bytes)],
        ['', 'Step', `${i} · ${steps[i].path}`],
      ],
      label: ['step 0', `step ${steps.length - 1}`],
      described: 'Live bytes of the fullest tile by step',
    });
    const live = tensors.filter(tensor => live_in(tensor, chosen));
    const listed = live.filter(matches).sort((a, b) => b.bytes - a.bytes);
    const shown = listed.slice(0, 12),
      rest = listed.slice(12);
    const across = count => (100 * count) / steps.length;
    const span = tensor => (tensor.always_live ? [0, steps.length] : [tensor.first_step, tensor.last_step + 1]);
    return [
      el(
        'div',
        {class: 'legend'},
        el('span', {}, key('var(--m8)'), 'always live'),
        el('span', {}, key('var(--m2)'), 'live in the step'),
      ),
      chart,
      el(
        'h3',
        {},
        `Tensors live in step ${chosen}${chosen === profile.totals.peak_step ? ', the peak' : ''}: ${step_name(steps[chosen])}`,
      ),
      el(
        'div',
        {class: 'lifetimes'},
        shown.map(tensor => {
          const [from, to] = span(tensor);
          return el(
            'div',
            {
              class: 'row',
              onpointermove: event =>
                show_tip(
                  event,
                  tensor.name,
                  [
                    ['', 'Fullest tile', exact_bytes(tensor.bytes)],
                    ['', 'All tiles', exact_bytes(tensor.whole_bytes)],
                    [category_colour(tensor.category), 'Category', profile.categories[tensor.category].name],
                    ['', 'Live', tensor.always_live ? 'always' : `steps ${tensor.first_step} to ${tensor.last_step}`],
                  ],
                  tensor.module,
                ),
              onpointerleave: hide_tip,
            },
            el('span', {class: 'mono'}, tensor.name, tensor.module && el('span', {class: 'muted'}, ' · ', path_text(tensor.module))),
            el('span', {class: 'number small'}, bytes_text(tensor.bytes)),
            el(
              'span',
              {class: 'track'},
              el('span', {
                style: `left:${across(from)}%;width:${across(to - from)}%;${category_style(tensor)}`,
              }),
              el('em', {style: `left:${(100 * (chosen + 0.5)) / steps.length}%`}),
            ),
          );
        }),
      ),
      el(
        'p',
        {class: 'muted small'},
        listed.length === 0
          ? 'None of them matches the filter.'
          : rest.length
            ? `and ${rest.length} smaller ones with ${bytes_text(rest.reduce((sum, tensor) => sum + tensor.bytes, 0))}`
            : `all that are live${state.filter ? ' and match the filter' : ''}`,
      ),
      chosen !== profile.totals.peak_step &&
        el(
          'button',
          {class: 'plain', type: 'button', onclick: () => select_step(profile, profile.totals.peak_step)},
          `Back to the peak, step ${profile.totals.peak_step}`,
        ),
    ];
  },
);

section(
  'tensors',
  'Largest tensors',
  'Storages by their bytes on the fullest tile, views included in the tensor that they are of.',
  null,
  profile => {
    const found = profile.tensors.filter(matches),
      shown = state.all_tensors ? found : found.slice(0, 10);
    if (!profile.tensors.length) return empty('The program has no tensors.');
    if (!found.length) return empty('No tensor matches the filter.');
    return [
      el(
        'table',
        {},
        el(
          'thead',
          {},
          el(
            'tr',
            {},
            el('th', {}, 'Tensor'),
            el('th', {class: 'wide'}, 'Module'),
            el('th', {class: 'wide'}, 'Category'),
            el('th', {class: 'number wide'}, 'Live in steps'),
            el('th', {class: 'number'}, 'Fullest tile'),
            el('th', {class: 'number wide'}, 'All tiles'),
          ),
        ),
        el(
          'tbody',
          {},
          shown.map(tensor =>
            el(
              'tr',
              {},
              el(
                'td',
                {},
                el('span', {class: 'mono'}, tensor.name),
                el('div', {class: 'muted small narrow'}, path_text(tensor.module)),
              ),
              el('td', {class: 'wide muted'}, path_text(tensor.module)),
              el('td', {class: 'wide'}, key(category_colour(tensor.category)), ' ', profile.categories[tensor.category].name),
              el('td', {class: 'number wide'}, tensor.always_live ? 'all' : `${tensor.first_step} – ${tensor.last_step}`),
              el('td', {class: 'number'}, bytes_text(tensor.bytes)),
              el('td', {class: 'number wide'}, bytes_text(tensor.whole_bytes)),
            ),
          ),
        ),
      ),
      found.length > 10 &&
        el(
          'button',
          {
            class: 'plain',
            type: 'button',
            'data-choice': 'tensors',
            onclick: () => change({all_tensors: !state.all_tensors}, 'tensors'),
          },
          state.all_tensors ? 'Show the ten largest' : `Show all ${found.length}`,
        ),
    ];
  },
);
