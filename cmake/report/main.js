// The script's end: the page's frame, its switches, and the first drawing.

const system_dark = matchMedia('(prefers-color-scheme: dark)');
const apply_theme = () => {
  const dark = state.theme === 'auto' ? system_dark.matches : state.theme === 'dark';
  document.documentElement.setAttribute('data-theme', dark ? 'dark' : 'light');
};
system_dark.addEventListener('change', apply_theme);
apply_theme();

const first = profiles[0];
document.title = profiles.map(p => `${p.program} on ${p.target}`).join(' and ') + ' – tilewright';
const found_text = el('span', {class: 'muted small', id: 'found', role: 'status'});
const show_found = () => {
  found_text.textContent = state.filter
    ? profiles
        .map(p => {
          const found = p.steps.filter(matches);
          return `${profiles.length > 1 ? p.letter + ': ' : ''}${found.length} of ${p.steps.length} steps, ${share(
            found.reduce((sum, step) => sum + step.cycles, 0),
            p.totals.cycles,
          )}`;
        })
        .join('; ')
    : '';
};
const toolbar = el('div', {class: 'toolbar'});
const input = el('input', {
  type: 'search',
  id: 'filter',
  placeholder: 'Filter by op, module or tensor',
  'aria-label': 'Filter by op, module or tensor',
  spellcheck: 'false',
  oninput: () => {
    state.filter = input.value.trim().toLowerCase();
    show_found();
    redraw('liveness', 'tensors', 'timeline', 'steps', 'modules', 'differences');
  },
});
const draw_toolbar = () => {
  const choose = (name, title, options, after) =>
    el(
      'span',
      {class: 'switch'},
      title,
      choices(name, options, state[name], value => {
        state[name] = value;
        draw_toolbar();
        after();
        document.querySelector(`[data-choice="${name}:${value}"]`).focus({preventScroll: true});
      }),
    );
  toolbar.replaceChildren(
    el('div', {class: 'find'}, input, found_text),
    choose(
      'unit',
      'Cycles as',
      [
        ['cycles', 'Cycles'],
        ['time', 'µs'],
        ['share', '%'],
      ],
      () => redraw(),
    ),
    choose(
      'scale',
      'Scale',
      [
        ['linear', 'Linear'],
        ['log', 'Log'],
      ],
      () => redraw(),
    ),
    choose(
      'theme',
      'Theme',
      [
        ['auto', 'Auto'],
        ['light', 'Light'],
        ['dark', 'Dark'],
      ],
      apply_theme,
    ),
  );
};
draw_toolbar();

const machine = p =>
  `${p.target} · ${integer(p.tiles.length)} tiles of ${bytes_text(p.bytes_per_tile)} · ${clock_text(p)}` +
  (p.banks ? ` · banks ${p.banks}` : '') +
  (p.replicas > 1 ? ` · one of ${integer(p.replicas)} replicas` : '');
const links = sections.map(each => el('a', {href: '#' + each.id}, each.title));
const body = el(
  'main',
  {},
  sections.map(each => (each.element = el('section', {id: each.id}))),
);
document.getElementById('page').replaceChildren(
  el(
    'header',
    {},
    el(
      'div',
      {},
      el('h1', {}, first.program + (profiles[1] && profiles[1].program !== first.program ? ` and ${profiles[1].program}` : '')),
      profiles.map(p =>
        el('p', {class: 'muted'}, profiles.length > 1 && [el('span', {class: 'badge'}, p.letter), ' '], machine(p)),
      ),
    ),
    el('p', {class: 'muted small'}, 'Counted from the plan by tilewright’s machine model, not measured'),
  ),
  toolbar,
  el('nav', {'aria-label': 'Sections'}, links),
  body,
);
redraw();

const follow = () => {
  let here = 0;
  sections.forEach((each, i) => {
    if (each.element.getBoundingClientRect().top < innerHeight * 0.35) here = i;
  });
  links.forEach((link, i) => link.classList.toggle('here', i === here));
};
addEventListener('scroll', follow, {passive: true});
follow();
// Charts have the width of their section: a page that was opened in a hidden window has none yet.
let drawn_width = body.clientWidth;
new ResizeObserver(() => {
  if (body.clientWidth === drawn_width) return;
  drawn_width = body.clientWidth;
  requestAnimationFrame(() => redraw());
}).observe(body);
addEventListener('keydown', event => {
  if (event.key === '/' && document.activeElement !== input) {
    event.preventDefault();
    input.focus();
  }
  if (event.key === 'Escape') hide_tip();
});
