// Shows test digits and answers, and sends what a person draws or drops.
const side = 28, pixels = side * side;
const show_grey = (canvas, values) => {
  canvas.width = canvas.height = side;
  const context = canvas.getContext('2d'), image = context.createImageData(side, side);
  for (let i = 0; i < pixels; ++i) image.data.set([255 - values[i], 255 - values[i], 255 - values[i], 255], 4 * i);
  context.putImageData(image, 0, 0);
};

// The drawing
const ink = new Uint8Array(pixels), pad = element('pad'), pen = {x: 14, y: 14, is_down: false};
let awaits_answer = false, has_more = false;
const ask = () => {
  if (awaits_answer) return has_more = true;
  awaits_answer = true, has_more = false;
  send('classify', {image: ink});
};
const show_pad = () => {
  show_grey(pad, ink);
  if (document.activeElement !== pad || !pad.matches(':focus-visible')) return;
  const context = pad.getContext('2d');
  context.fillStyle = pen.is_down ? '#c22f2f' : '#1a6fb0';
  context.fillRect(Math.round(pen.x), Math.round(pen.y), 1, 1);
};
const draw_line = (a, b) => {
  const radius = 1.3, fade = 0.6, dx = b.x - a.x, dy = b.y - a.y, square = Math.max(dx * dx + dy * dy, 1e-6);
  for (let row = 0; row < side; ++row)
    for (let column = 0; column < side; ++column) {
      const along = Math.min(1, Math.max(0, ((column - a.x) * dx + (row - a.y) * dy) / square));
      const distance = Math.hypot(column - a.x - along * dx, row - a.y - along * dy);
      const darkness = Math.min(1, Math.max(0, (radius + fade - distance) / (2 * fade)));
      ink[row * side + column] = Math.max(ink[row * side + column], 255 * darkness);
    }
  show_pad(), ask();
};
const place_of = event => {
  const {left, top, width, height} = pad.getBoundingClientRect();
  return {x: (event.clientX - left) / width * side - 0.5, y: (event.clientY - top) / height * side - 0.5};
};
let last_place = null;
pad.onpointerdown = event => { pad.setPointerCapture(event.pointerId), last_place = place_of(event), draw_line(last_place, last_place); };
pad.onpointermove = event => { if (last_place) { const place = place_of(event); draw_line(last_place, place), last_place = place; } };
pad.onpointerup = pad.onpointercancel = () => { last_place = null; };
pad.onfocus = pad.onblur = show_pad;
const clear = () => {
  ink.fill(0), show_pad(), show_answer(null);
  element('answer').textContent = 'Draw with a finger or the mouse.';
};
element('clear').onclick = clear;
pad.onkeydown = event => {
  const moves = {ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1]};
  if (event.key in moves) {
    const before = {...pen}, [x, y] = moves[event.key];
    pen.x = Math.min(side - 2, Math.max(1, pen.x + x)), pen.y = Math.min(side - 2, Math.max(1, pen.y + y));
    if (pen.is_down) draw_line(before, pen); else show_pad();
  } else if (event.key === ' ') {
    pen.is_down = !pen.is_down;
    if (pen.is_down) draw_line(pen, pen); else show_pad();
  } else if (event.key === 'Delete' || event.key === 'Backspace') clear();
  else return;
  event.preventDefault();
};
const answers = element('answers');
answers.innerHTML = Array.from({length: 10}, (_, digit) => `<li>${digit}<i></i></li>`).join('');
const show_answer = parts => {
  const best = parts ? parts.indexOf(Math.max(...parts)) : -1;
  [...answers.children].forEach((item, digit) => {
    item.style.setProperty('--part', parts ? parts[digit].toFixed(3) : 0);
    item.classList.toggle('best', digit === best);
  });
  if (parts) element('answer').textContent = `A ${best}, with ${Math.round(100 * parts[best])} %.`;
};

// What the worker says
let labels = [];
const {progress} = replies;
Object.assign(replies, {
  data({source, images, labels: of_images}) {
    labels = [...of_images];
    const list = element('samples');
    list.innerHTML = '';
    labels.forEach((label, i) => {
      const item = document.createElement('li'), canvas = document.createElement('canvas');
      canvas.setAttribute('role', 'img'), canvas.setAttribute('aria-label', `a test digit, ${label}`);
      show_grey(canvas, images.subarray(i * pixels, (i + 1) * pixels));
      item.append(canvas, document.createElement('span'));
      list.append(item);
    });
    if (source === 'files') element('source').textContent = 'The digits are those of the files.';
  },
  progress(data) {
    progress(data);
    if (ink.some(Boolean)) ask();
  },
  answers({answers: given}) {
    [...element('samples').children].forEach((item, i) => {
      item.lastChild.textContent = given[i];
      item.className = given[i] === labels[i] ? 'right' : 'wrong';
    });
  },
  answer({parts}) {
    awaits_answer = false;
    if (ink.some(Boolean)) show_answer(parts);
    if (has_more) ask();
  }
});

// Files of MNIST, with or without gzip
const found = {};
const read_idx = async file => {
  let bytes = new Uint8Array(await file.arrayBuffer());
  if (bytes[0] === 0x1f && bytes[1] === 0x8b) bytes = new Uint8Array(await unzip(bytes));
  const view = new DataView(bytes.buffer), kind = bytes.length < 8 ? 0 : view.getUint32(0), count = kind && view.getUint32(4);
  if (kind === 0x803 && bytes.length === 16 + count * pixels) return ['images', bytes.subarray(16)];
  if (kind === 0x801 && bytes.length === 8 + count) return ['labels', bytes.subarray(8)];
  throw new Error(`${file.name}: images of 28 x 28 or labels of MNIST expected`);
};
const drop = async files => {
  try {
    for (const file of files) {
      const [kind, bytes] = await read_idx(file);
      found[`${/t10k|test/.test(file.name) ? 'test' : 'training'} ${kind}`] = bytes;
    }
    const part = name => ({images: found[`${name} images`], labels: found[`${name} labels`]});
    const [training, test] = ['training', 'test'].map(part), all = [training, test];
    const missing = all.flatMap((of, i) => Object.keys(of).filter(kind => !of[kind]).map(kind => `${['training', 'test'][i]} ${kind}`));
    if (missing.length > 0) return element('source').textContent = `Of MNIST are missing: ${missing.join(', ')}.`;
    for (const part_of of all)
      if (part_of.images.length !== part_of.labels.length * pixels) throw new Error('as many images as labels expected');
    set_running(false), send('pause'), send('files', {data: {training, test}});
  } catch (error) { element('source').textContent = error.message; }
};
document.ondragover = event => { event.preventDefault(), document.body.classList.add('dropping'); };
document.ondragleave = () => document.body.classList.remove('dropping');
document.ondrop = event => { event.preventDefault(), document.body.classList.remove('dropping'), drop([...event.dataTransfer.files]); };

clear();
