// The section of ops by cycles, down to module paths.

// A tree of {name, children, phases, cycles, count}: steps by module path and op, or by op and module.
const build_tree = profile => {
  const root = {name: 'all', path: '', children: new Map(), phases: PHASES.map(() => 0), cycles: 0, count: 0, step: null};
  for (const step of profile.steps.filter(matches)) {
    const modules = step.path.split('/').filter(part => part),
      ops = step_name(step),
      kind = step.kind || 'step';
    const names =
      state.group === 'module' ? [...modules, ops] : state.group === 'op' ? [ops, step.path] : [kind, ops, step.path];
    let node = root;
    for (const [depth, name] of [null, ...names].entries()) {
      if (name !== null) {
        if (!node.children.has(name))
          node.children.set(name, {
            name,
            path: node.path + '/' + name,
            children: new Map(),
            phases: PHASES.map(() => 0),
            cycles: 0,
            count: 0,
            leaf: depth === names.length,
            op: state.group === 'module' ? depth === names.length : depth === (state.group === 'op' ? 1 : 2),
          });
        node = node.children.get(name);
      }
      node.phases = node.phases.map((sum, i) => sum + step.phases[i]);
      node.cycles += step.cycles;
      node.count += 1;
    }
    node.step = step.index;
  }
  return root;
};

section(
  'modules',
  'Cycles by module and op',
  'Where the cycles of a run go. Open a row to see its parts; a double-click on its name makes it the ' +
    'root. Bars are split as in the totals.',
  () => [
    el(
      'span',
      {class: 'switch'},
      'Group by',
      choices(
        'group',
        [
          ['module', 'Module'],
          ['op', 'Op'],
          ['kind', 'Kind'],
        ],
        state.group,
        group => change({group, root: [], open: new Map()}, 'modules'),
      ),
    ),
  ],
  profile => {
    if (!profile.steps.length) return empty('The program has no steps.');
    const tree = build_tree(profile);
    if (!tree.count) return empty('No step matches the filter.');
    let root = tree;
    const crumbs = [tree];
    for (const name of state.root) if (root.children.has(name)) crumbs.push((root = root.children.get(name)));
    const most = Math.max(
      1,
      ...profiles.map(p => (p === profile ? root.cycles : build_tree(p).cycles * (state.root.length ? 0 : 1))),
    );
    const rows = [],
      sorted = node => [...node.children.values()].sort((a, b) => b.cycles - a.cycles);
    const is_open = (node, depth) => state.open.get(node.path) ?? (depth < 2 && node.cycles > 0.25 * root.cycles);
    const add = (node, depth, names) => {
      const inner = node.children.size > 0,
        open = inner && is_open(node, depth);
      const turn = () => {
        state.open.set(node.path, !open);
        redraw('modules');
      };
      rows.push(
        el(
          'div',
          {
            class: 'row',
            'data-path': node.path,
            onpointermove: event =>
              show_tip(
                event,
                node.name,
                [
                  ...used_phases
                    .filter(i => node.phases[i] > 0)
                    .map(i => [phase_colour(i), PHASES[i][1], cycles_text(node.phases[i], profile)]),
                  ['', 'Steps', integer(node.count)],
                ],
                node.path.slice(1),
              ),
            onpointerleave: hide_tip,
          },
          el(
            'span',
            {class: 'name', style: `padding-left:${depth * 18}px`},
            inner
              ? el(
                  'button',
                  {
                    class: 'turn',
                    type: 'button',
                    'aria-expanded': String(open),
                    'aria-label': `Parts of ${node.name}`,
                    'data-choice': 'turn:' + node.path,
                    onclick: turn,
                  },
                  open ? '▾' : '▸',
                )
              : el('span', {class: 'turn'}),
            el(
              'button',
              {
                class: node.op ? '' : 'module',
                type: 'button',
                onclick: () => (inner ? turn() : select_step(profile, node.step, true)),
                ondblclick: () => inner && change({root: [...state.root, ...names]}, 'modules'),
              },
              node.name,
            ),
          ),
          phase_bar(node.phases, length_of(node.cycles, most)),
          el('span', {class: 'number'}, cycles_text(node.cycles, profile)),
          el('span', {class: 'number muted'}, share(node.cycles, profile.totals.cycles)),
        ),
      );
      if (open) sorted(node).forEach(child => add(child, depth + 1, [...names, child.name]));
    };
    const top = sorted(root);
    if (top.length === 1 && top[0].children.size > 0 && !state.open.has(top[0].path)) state.open.set(top[0].path, true);
    top.forEach(node => add(node, 0, [node.name]));
    return [
      phase_legend(profile, root.phases),
      crumbs.length > 1 &&
        el(
          'p',
          {class: 'crumbs'},
          crumbs.map((node, i) => [
            i > 0 ? '›' : '',
            el('button', {type: 'button', onclick: () => change({root: state.root.slice(0, i)}, 'modules')}, node.name),
          ]),
        ),
      el('div', {class: 'tree'}, rows),
    ];
  },
);
