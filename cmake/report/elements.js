// What scripts of several pages share: elements, numbers as texts, the tooltip, values of an axis.

// Elements: attributes by name; on* are listeners; children are elements or texts.
const build = (made, attributes, children) => {
  for (const [name, value] of Object.entries(attributes || {})) {
    if (name.startsWith('on')) made.addEventListener(name.slice(2), value);
    else if (value === true) made.setAttribute(name, '');
    else if (value !== undefined && value !== null && value !== false) made.setAttribute(name, value);
  }
  made.append(...children.flat(3).filter(child => child !== null && child !== undefined && child !== false));
  return made;
};
const el = (tag, attributes, ...children) => build(document.createElement(tag), attributes, children);
const svg = (tag, attributes, ...children) =>
  build(document.createElementNS('http://www.w3.org/2000/svg', tag), attributes, children);
const key = colour => el('i', {class: 'key', style: `background:${colour}`});

// Numbers as texts.
const integer = number => Math.round(number).toLocaleString('en-US');
const rounded = number => {
  // three digits, but no exponent
  const size = Math.abs(number);
  return size >= 1000 ? integer(number) : number.toLocaleString('en-US', {maximumSignificantDigits: 3});
};
const percent = part =>
  part === null ? 'unknown' : (100 * part).toFixed(part !== 0 && Math.abs(part) < 0.0995 ? 1 : 0) + ' %';
const share = (part, whole) => (whole > 0 ? percent(part / whole) : '–');
const seconds_text = seconds =>
  seconds >= 1 ? rounded(seconds) + ' s' : seconds >= 1e-3 ? rounded(seconds * 1e3) + ' ms' : rounded(seconds * 1e6) + ' µs';

// The tooltip: a title and rows of [colour or '', name, value].
const tip = document.getElementById('tip');
const show_tip = (event, title, rows, note) => {
  tip.replaceChildren(
    el('strong', {}, title),
    note ? el('span', {class: 'muted'}, note) : '',
    el(
      'table',
      {},
      el(
        'tbody',
        {},
        rows.map(([colour, name, value]) =>
          el('tr', {}, el('td', {}, colour ? [key(colour), ' '] : '', name), el('td', {class: 'number'}, value)),
        ),
      ),
    ),
  );
  tip.hidden = false;
  const box = tip.getBoundingClientRect(),
    room = document.documentElement.clientWidth;
  let x = event.clientX + 16,
    y = event.clientY + 16;
  if (x + box.width > room - 8) x = Math.max(8, event.clientX - 16 - box.width);
  if (y + box.height > innerHeight - 8) y = Math.max(8, event.clientY - 16 - box.height);
  tip.style.left = x + 'px';
  tip.style.top = y + 'px';
};
const hide_tip = () => {
  tip.hidden = true;
};

const empty = text => el('p', {class: 'empty'}, text);

// Values at which an axis has lines: about `count`, round in base 10, or in 1024 for bytes.
const ticks = (most, count, base = 10) => {
  if (!(most > 0)) return [0];
  const unit = base === 10 ? 1 : 1024 ** Math.max(0, Math.floor(Math.log(most) / Math.log(1024)));
  const rough = most / unit / count,
    power = 10 ** Math.floor(Math.log10(rough));
  const size = [1, 2, 2.5, 5, 10].find(each => each * power >= rough * 0.999) * power * unit;
  const result = [];
  for (let value = 0; value <= most * 1.0001; value += size) result.push(value);
  return result;
};
const strips = rects =>
  rects.map(([x, y, w, h]) => `M${x.toFixed(2)} ${y.toFixed(2)}h${w.toFixed(2)}v${h.toFixed(2)}h${(-w).toFixed(2)}z`).join('');
