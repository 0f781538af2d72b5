// Trains a network with TensorFlow.js, and prints the steps a second by the fastest step. `node tensorflow.mjs BACKEND NETWORK`
import * as tf from '@tensorflow/tfjs';
import {setWasmPaths} from '@tensorflow/tfjs-backend-wasm';

setWasmPaths(new URL('node_modules/@tensorflow/tfjs-backend-wasm/dist/', import.meta.url).pathname);
await tf.setBackend(process.argv[2]);
await tf.ready();

const weight = (shape, std = 0.05) => tf.variable(tf.randomNormal(shape, 0, std)), zeros = size => tf.variable(tf.zeros([size]));
const mean_loss = (logits, labels) => tf.tidy(() => {
  const classes = logits.shape.at(-1), rows = logits.reshape([-1, classes]);
  const shifted = rows.sub(rows.max(1, true)), chosen = tf.oneHot(labels.reshape([-1]), classes);
  return shifted.exp().sum(1).log().sub(shifted.mul(chosen).sum(1)).mean();
});
// Each with an activation that costs no more than the other library's: relu in place of gelu.
const networks = {
  digits() {
    const w1 = weight([784, 32]), b1 = zeros(32), w2 = weight([32, 10]), b2 = zeros(10);
    const images = tf.randomUniform([8, 784]), labels = tf.tensor1d([0, 1, 2, 3, 4, 5, 6, 7], 'int32');
    return {optimiser: tf.train.sgd(0.05), loss: () => mean_loss(images.matMul(w1).add(b1).relu().matMul(w2).add(b2), labels)};
  },
  convolutions() {
    const k1 = weight([3, 3, 1, 8]), b1 = zeros(8), k2 = weight([3, 3, 8, 16]), b2 = zeros(16), w = weight([16 * 7 * 7, 10]), b = zeros(10);
    const images = tf.randomUniform([8, 28, 28, 1]), labels = tf.tensor1d([0, 1, 2, 3, 4, 5, 6, 7], 'int32');
    const layer = (x, kernel, bias) => tf.maxPool(tf.conv2d(x, kernel, 1, 'same').add(bias).relu(), 2, 2, 'valid');
    return {optimiser: tf.train.sgd(0.05),
            loss: () => mean_loss(layer(layer(images, k1, b1), k2, b2).reshape([8, -1]).matMul(w).add(b), labels)};
  },
  gpt() {  // without clipping and decay; a product with one-hot rows, because the backend wasm has no gradient of gather
    const batch = 8, context = 64, width = 64, heads = 4, part = width / heads, vocabulary = 128;
    const tokens = tf.oneHot(tf.randomUniform([batch * context], 0, vocabulary, 'int32'), vocabulary);
    const targets = tf.randomUniform([batch, context], 0, vocabulary, 'int32');
    const characters = weight([vocabulary, width]), places = weight([context, width]);
    const gain = () => tf.variable(tf.ones([width]));
    const blocks = [0, 1].map(() => ({norm1: gain(), norm2: gain(), all: weight([width, 3 * width]), out: weight([width, width]),
                                      wide: weight([width, 4 * width]), narrow: weight([4 * width, width])}));
    const last = gain(), mask = tf.linalg.bandPart(tf.ones([context, context]), -1, 0).sub(1).mul(1e9);
    const norm = (x, by) => {
      const from = x.sub(x.mean(-1, true));
      return from.mul(from.square().mean(-1, true).add(1e-5).rsqrt()).mul(by);
    };
    const linear = (x, by) => x.reshape([-1, by.shape[0]]).matMul(by).reshape([batch, context, by.shape[1]]);
    const attend = (x, block) => {
      const [q, k, v] = tf.split(linear(x, block.all), 3, -1).map(each => each.reshape([batch, context, heads, part]).transpose([0, 2, 1, 3]));
      const scores = tf.matMul(q, k, false, true).mul(1 / Math.sqrt(part)).add(mask).softmax();
      return linear(tf.matMul(scores, v).transpose([0, 2, 1, 3]).reshape([batch, context, width]), block.out);
    };
    const logits = () => {
      let x = tokens.matMul(characters).reshape([batch, context, width]).add(places);
      for (const block of blocks) {
        x = x.add(attend(norm(x, block.norm1), block));
        x = x.add(linear(linear(norm(x, block.norm2), block.wide).relu(), block.narrow));
      }
      return norm(x, last).reshape([-1, width]).matMul(characters, false, true);
    };
    return {optimiser: tf.train.adam(1e-3, 0.9, 0.99), loss: () => mean_loss(logits(), targets)};
  }
};

const {optimiser, loss} = networks[process.argv[3]](), end = performance.now() + 20000;
let best = Infinity;
for (let step = 0; step < 1000 && performance.now() < end; ++step) {
  const begin = performance.now();
  const value = optimiser.minimize(loss, true);
  value.dataSync();
  best = Math.min(best, performance.now() - begin);
  value.dispose();
}
console.log(1000 / best);
