// In the worker, after the module of the network: draws digits, trains, tests, and answers what a person draws.
const pixels = 28 * 28, batch = 16, test_batch = 100;
const grey = Float32Array.from({length: 256}, (_, value) => (value / 255 - 0.1307) / 0.3081);  // as MNIST's are normalised
let net, training, test, is_running = false, step = 0, losses = 0, since = 0, reported = 0, tested = 0;

const draw_digits = (count, first_seed) => {
  const images = new Uint8Array(count * pixels), labels = new Uint8Array(count);
  const drawn = new Uint8Array(net.exports.memory.buffer, net.exports.drawn_pixels(), pixels);
  for (let i = 0; i < count; ++i) {
    labels[i] = net.exports.draw(BigInt(first_seed + i));
    images.set(drawn, i * pixels);
  }
  return {images, labels};
};
const put_image = (array, place, images, number) => {
  for (let pixel = 0; pixel < pixels; ++pixel) array[place * pixels + pixel] = grey[images[number * pixels + pixel]];
};
const best_of = (logits, place) => {
  let best = 0;
  for (let digit = 1; digit < 10; ++digit) if (logits[place * 10 + digit] > logits[place * 10 + best]) best = digit;
  return best;
};
const run_test = () => {
  const {image, outputs} = net.test_step.arrays, answers = [], count = Math.min(500, test.labels.length);
  let right = 0;
  for (let first = 0; first + test_batch <= count; first += test_batch) {
    for (let i = 0; i < test_batch; ++i) put_image(image, i, test.images, first + i);
    net.test_step();
    for (let i = 0; i < test_batch; ++i) {
      const answer = best_of(outputs, i);
      if (answers.length < 36) answers.push(answer);
      right += answer === test.labels[first + i];
    }
  }
  postMessage({type: 'tested', step, accuracy: right / count, answers});
};
const report = () => {
  const now = performance.now();
  if (since > 0) postMessage({type: 'progress', step, loss: losses / since, rate: since / (now - reported) * 1000});
  losses = since = 0, reported = now;
  if (now - tested > 500 || step < 200) run_test(), tested = performance.now();
};
const train = () => {
  const {image, label, loss} = net.train_step.arrays, end = performance.now() + 15;
  while (performance.now() < end) {
    for (let i = 0; i < batch; ++i) {
      const number = Math.floor(Math.random() * training.labels.length);
      put_image(image, i, training.images, number);
      label[i] = training.labels[number];
    }
    net.train_step();
    losses += loss[0], ++since, ++step;
  }
  if (performance.now() - reported > 100) report();
};
const turns = new MessageChannel();  // timers would wait for some milliseconds
turns.port1.onmessage = () => { if (is_running) train(), turns.port2.postMessage(0); };

const use = (data, source) => {
  ({training, test} = data);
  postMessage({type: 'data', source, images: test.images.slice(0, 36 * pixels), labels: test.labels.slice(0, 36)});
  commands.anew();
};
const commands = {
  async open({wasm}) {
    net = await load(wasm);
    use({test: draw_digits(500, 1), training: draw_digits(8000, 1000)}, 'drawn');
  },
  files({data}) { use(data, 'files'); },
  run() { is_running = true, reported = performance.now(), losses = since = 0, turns.port2.postMessage(0); },
  pause() { is_running = false, report(), run_test(); },
  anew() { net.init(Math.floor(Math.random() * 2 ** 32)), step = losses = since = 0, reported = performance.now(), run_test(); },
  classify({image}) {
    const arrays = net.test_step.arrays;
    put_image(arrays.image, 0, image, 0);
    const logits = net.test_step().outputs.slice(0, 10), most = Math.max(...logits);
    const parts = logits.map(logit => Math.exp(logit - most)), sum = parts.reduce((a, b) => a + b);
    postMessage({type: 'answer', parts: Array.from(parts, part => part / sum)});
  },
  save() { postMessage({type: 'saved', file: net.save()}); },
  load({file}) { net.load(file), run_test(); }
};
onmessage = async ({data}) => {
  try { await commands[data.type](data); } catch (error) { postMessage({type: 'failed', message: error.message}); }
};
