// The section of the machine model's numbers.

if (profiles.some(p => p.numbers.length))
  section(
    'numbers',
    'Numbers of the model',
    'What the cycles and bytes rest on, and how far to trust it: published, derived from what is ' +
      'published, recalled, or assumed.',
    null,
    profile =>
      !profile.numbers.length
        ? empty('The profile names none.')
        : el(
            'table',
            {},
            el(
              'thead',
              {},
              el(
                'tr',
                {},
                el('th', {}, 'Number'),
                el('th', {}, 'Value'),
                el('th', {}, 'Confidence'),
                el('th', {class: 'wide'}, 'Source'),
              ),
            ),
            el(
              'tbody',
              {},
              profile.numbers.map(each =>
                el(
                  'tr',
                  {},
                  el('td', {}, each.name),
                  el('td', {}, each.value),
                  el('td', {}, each.confidence),
                  el('td', {class: 'wide muted'}, each.source),
                ),
              ),
            ),
          ),
  );
