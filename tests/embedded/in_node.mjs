// Trains the networks of for_node.hpp as in_node.c does, and prints losses and a hash of the bits of all variables. Then it checks
// files, errors and faults. `node in_node.mjs FOLDER`: where net.js is.
import assert from 'node:assert/strict';
import {readFileSync} from 'node:fs';

const {load, Fault} = await import(new URL(`file://${process.argv[2]}/net.js`));
const net = await load();
let state = 1;
const next = () => (state = state * 48271 % 2147483647) / 2147483647;
const batch = (size, count, classes) =>
  ({image: Float32Array.from({length: size * count}, next), label: Int32Array.from({length: count}, () => next() * classes)});

net.init(1);
let digits, loss;
for (let step = 0; step < 200; ++step) ({loss} = net.train_step(digits = batch(28 * 28, 8, 10)));
console.log(loss[0]);
for (let step = 0; step < 20; ++step) ({loss} = net.images_step(batch(12 * 12, 4, 4)));
console.log(loss[0]);
const image = digits.image.subarray(0, 28 * 28);
const last = net.infer({image}).logits[9];
console.log(last);
const hash = () => {
  let result = 2166136261;  // FNV-1a
  for (const {buffer, byteOffset, byteLength} of Object.values(net.variables))
    for (const byte of new Uint8Array(buffer, byteOffset, byteLength)) result = Math.imul(result ^ byte, 16777619);
  return (result >>> 0).toString(16).padStart(8, '0');
};
console.log(hash());

// Arrays that the caller fills in place; copies; files.
net.infer.arrays.image.set(image);
assert.equal(net.infer().logits[9], last);
const before = hash(), file = net.save(), copy = net.memory.slice();
net.init(2);
assert.notEqual(hash(), before);
net.load(file);
assert.equal(hash(), before);
net.init(2);
net.memory.set(copy);
assert.equal(hash(), before);
const other = await load(readFileSync(new URL(`file://${process.argv[2]}/net.wasm`)));
other.init(3);
other.load(file.buffer);
assert.equal(other.infer({image}).logits[9], last);

// What is wrong, with nothing changed.
const throws = (f, type, message) => assert.throws(f, error => error.constructor === type && error.message === message || assert.fail(String(error)));
const wrong_file = (change, message) => {
  const damaged = file.slice();
  change(damaged);
  throws(() => net.load(damaged), RangeError, `a .safetensors file: ${message}`);
};
const replace = (from, to) => bytes => bytes.set(new TextEncoder().encode(to), new TextDecoder('latin1').decode(bytes).indexOf(from));
wrong_file(bytes => bytes.set([255, 255, 255, 255], 4), 'it is cut');
throws(() => net.load(file.subarray(0, 4)), RangeError, 'a .safetensors file: it is cut');
throws(() => net.load(file.subarray(0, file.length - 1)), RangeError, `a .safetensors file: '${Object.keys(net.variables).at(-1)}' lies outside of it`);
wrong_file(replace('{', '['), 'its header is no JSON');
wrong_file(replace('fc2.bias', 'fc2.none'), "'fc2.bias' is missing");
wrong_file(replace('F32', 'F16'), "'fc1.bias' is F16 [32], but F32 [32] expected");
wrong_file(replace('[32]', '[23]'), "'fc1.bias' is F32 [23], but F32 [32] expected");
throws(() => net.train_step({images: []}), TypeError, "train_step: 'images' is no input");
throws(() => net.train_step({loss: [0]}), TypeError, "train_step: 'loss' is no input");
throws(() => net.train_step({label: [1]}), RangeError, 'train_step: label: 1 elements, but 8 expected');
assert.equal(hash(), before);
throws(() => net.train_step({label: [10, 0, 0, 0, 0, 0, 0, 11]}), Fault,
       'CrossEntropyWithGrad: label 10: a label from 0 to 9, or the ignored one, expected, in the main graph (and 1 more)');
const fresh = await load();
throws(() => fresh.infer({image}), Error, 'run: a session without initial values: init() first expected');
