// Trains the networks of for_node.hpp, and prints what trained.mjs says of them. Then it checks files, errors and faults. `node in_node.mjs FOLDER`: where net.js is.
import assert from 'node:assert/strict';
import {readFileSync} from 'node:fs';

import {hash, train} from './trained.mjs';

const {load, Fault} = await import(new URL(`file://${process.argv[2]}/net.js`));
const net = await load();
const {image, results} = train(net), last = results[2];
console.log(results.join('\n'));

// Arrays that the caller fills in place; copies; files.
net.infer.arrays.image.set(image);
assert.equal(net.infer().logits[9], last);
const before = hash(net), file = net.save(), copy = net.memory.slice();
net.init(2);
assert.notEqual(hash(net), before);
net.load(file);
assert.equal(hash(net), before);
net.init(2);
net.memory.set(copy);
assert.equal(hash(net), before);
const other = await load(readFileSync(new URL(`file://${process.argv[2]}/net.wasm`)));
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
const length = Number(new DataView(file.buffer).getBigUint64(0, true)), header = JSON.parse(new TextDecoder().decode(file.subarray(8, 8 + length)));
header['fc1.bias'].data_offsets[0] = '';
const text = new TextEncoder().encode(JSON.stringify(header)), size = new Uint8Array(new BigUint64Array([BigInt(text.length)]).buffer);
throws(() => net.load(new Uint8Array([...size, ...text, ...file.subarray(8 + length)])), RangeError, "a .safetensors file: 'fc1.bias' lies outside of it");
assert.equal(hash(net), before);
throws(() => net.train_step({label: [10, 0, 0, 0, 0, 0, 0, 11]}), Fault,
       'CrossEntropyWithGrad: label 10: a label from 0 to 9, or the ignored one, expected, in the main graph (and 1 more)');
const fresh = await load();
throws(() => fresh.infer({image}), Error, 'run: a session without initial values: init() first expected');
