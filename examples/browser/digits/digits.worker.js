// Draws digits, trains on them, tests, and answers what a person draws.
const pixels = 28 * 28, batch = 16, test_batch = 100, shown = 36;
const grey = Float32Array.from({length: 256}, (_, value) => (value / 255 - 0.1307) / 0.3081);  // as MNIST's are normalised
let training, test;

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
const use = (data, source) => {
  ({training, test} = data);
  postMessage({type: 'data', source, images: test.images.slice(0, shown * pixels), labels: test.labels.slice(0, shown)});
};

const trainer = {
  begin() { use({test: draw_digits(500, 1), training: draw_digits(8000, 1000)}, 'drawn'); },
  step() {
    const {image, label, loss} = net.train_step.arrays;
    for (let i = 0; i < batch; ++i) {
      const number = Math.floor(Math.random() * training.labels.length);
      put_image(image, i, training.images, number);
      label[i] = training.labels[number];
    }
    net.train_step();
    return loss[0];
  },
  test() {
    const {image, outputs} = net.test_step.arrays, answers = [], count = Math.min(500, test.labels.length);
    let right = 0;
    for (let first = 0; first + test_batch <= count; first += test_batch) {
      for (let i = 0; i < test_batch; ++i) put_image(image, i, test.images, first + i);
      net.test_step();
      for (let i = 0; i < test_batch; ++i) {
        answers.push(best_of(outputs, i));
        right += answers.at(-1) === test.labels[first + i];
      }
    }
    postMessage({type: 'answers', answers: answers.slice(0, shown)});
    return right / count;
  },
  commands: {
    files({data}) { use(data, 'files'), commands.anew(); },
    classify({image}) {
      put_image(net.test_step.arrays.image, 0, image, 0);
      const logits = net.test_step().outputs.slice(0, 10), most = Math.max(...logits);
      const parts = logits.map(logit => Math.exp(logit - most)), sum = parts.reduce((a, b) => a + b);
      postMessage({type: 'answer', parts: Array.from(parts, part => part / sum)});
    }
  }
};
