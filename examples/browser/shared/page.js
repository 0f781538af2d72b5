// What all pages have: the worker, the curve, the buttons. A page's own script follows; it may add functions to `replies`, which
// are called with what the worker posts, by its `type`.
const element = id => document.getElementById(id);
const worker = new Worker(URL.createObjectURL(new Blob([worker_text], {type: 'text/javascript'})));
const send = (type, rest = {}) => worker.postMessage({type, ...rest});
const say = text => { element('message').textContent = text; };

// The curve
const losses = [], scores = [];
const top_of = most => {  // the end of an axis with four marks
  const unit = 10 ** Math.floor(Math.log10(most / 4));
  return 4 * unit * [1, 1.5, 2, 2.5, 3, 4, 5, 6, 8, 10].find(count => 4 * unit * count >= most);
};
const draw_chart = () => {
  const canvas = element('chart'), {width, height} = canvas.getBoundingClientRect(), scale = devicePixelRatio || 1;
  canvas.width = width * scale, canvas.height = height * scale;
  const context = canvas.getContext('2d'), style = getComputedStyle(document.documentElement);
  const colour = name => style.getPropertyValue(name).trim();
  context.scale(scale, scale);
  context.font = '12px system-ui, sans-serif';
  const left = 32, right = width - (scores.length > 0 ? 46 : 8), top = 8, bottom = height - 20;
  const last = Math.max(100, losses.at(-1)?.[0] ?? 0, scores.at(-1)?.[0] ?? 0);
  const top_loss = top_of(Math.max(1e-9, ...losses.map(([, loss]) => loss)));
  const x = step => left + (right - left) * step / last, y = part => bottom - (bottom - top) * part;
  context.strokeStyle = colour('--line'), context.fillStyle = colour('--soft');
  for (const part of [0, 0.25, 0.5, 0.75, 1]) {
    context.beginPath(), context.moveTo(left, y(part)), context.lineTo(right, y(part)), context.stroke();
    context.textAlign = 'right';
    if (losses.length > 0) context.fillText(Number((top_loss * part).toPrecision(3)), left - 4, y(part) + 4);
    context.textAlign = 'left';
    if (scores.length > 0) context.fillText(`${100 * part} %`, right + 4, y(part) + 4);
  }
  context.textAlign = 'right', context.fillText(`${last.toLocaleString('en')} steps`, right, height - 4);
  const line = (points, most, name) => {
    context.strokeStyle = colour(name), context.lineWidth = 2, context.lineJoin = 'round', context.beginPath();
    for (const [step, value] of points) context.lineTo(x(step), y(value / most));
    context.stroke();
  };
  line(losses, top_loss, '--loss');
  line(scores, 1, '--right');
};
const add_point = (points, point) => {
  points.push(point);
  if (points.length > 1000) for (let i = 0; i < 500; ++i) points.splice(i + 1, 1);  // every second one
};

let is_running = false;
const set_running = runs => { is_running = runs, element('run').textContent = runs ? 'Pause' : 'Train'; };
const show_steps = step => { element('steps').textContent = step.toLocaleString('en'); };
const replies = {
  ready() { for (const id of ['run', 'anew', 'save']) element(id).disabled = false; },
  begun() {
    losses.length = scores.length = 0;
    show_steps(0), element('loss').textContent = '–', draw_chart();
  },
  progress({step, loss, rate}) {
    show_steps(step);
    element('rate').textContent = rate.toLocaleString('en', {maximumSignificantDigits: 3});
    element('loss').textContent = loss.toFixed(3);
    add_point(losses, [step, loss]), draw_chart();
  },
  tested({step, score}) {
    for (const part of document.querySelectorAll('.scored')) part.hidden = false;
    element('score').textContent = `${(100 * score).toFixed(1)} %`;
    show_steps(step), add_point(scores, [step, score]), draw_chart();
  },
  saved({file}) {
    const link = document.createElement('a');
    link.href = URL.createObjectURL(new Blob([file])), link.download = `${page_name}.safetensors`;
    link.click();
  },
  failed({message}) { say(message), set_running(false); }
};
const unzip = bytes => new Response(new Blob([bytes]).stream().pipeThrough(new DecompressionStream('gzip'))).arrayBuffer();
const open_worker = async () => {
  worker.onmessage = ({data}) => replies[data.type](data);
  draw_chart();
  send('open', {wasm: await unzip(Uint8Array.from(atob(wasm_text), character => character.charCodeAt(0)))});
};
element('run').onclick = () => { say(''), send(is_running ? 'pause' : 'run'), set_running(!is_running); };
element('anew').onclick = () => send('anew');
element('save').onclick = () => send('save');
element('load').onchange = async ({target}) => {
  if (target.files[0]) send('load', {file: await target.files[0].arrayBuffer()});
  target.value = '';
};
onresize = draw_chart;
matchMedia('(prefers-color-scheme: dark)').onchange = draw_chart;
