// Trains a network of a module as steps.c does: for each line N of its input N steps, then it prints the least nanoseconds of one,
// and the last loss. `node steps.mjs MODULE CLASSES`
import {createInterface} from 'node:readline';
import {pathToFileURL} from 'node:url';

const {load} = await import(pathToFileURL(process.argv[2]));
const net = await load(), classes = Number(process.argv[3]), {loss, ...inputs} = net.train_step.arrays;
let state = 1;
const next = () => (state = state * 48271 % 2147483647) / 2147483647;
const fill = array => {
  if (array.length === 1) return array.fill(1e-3);
  for (let i = 0; i < array.length; ++i) {
    const part = next();
    array[i] = array instanceof Int32Array ? part * part * part * part * classes : part;
  }
};
net.init(1);
for await (const line of createInterface({input: process.stdin})) {
  let best = Infinity;
  for (let step = 0; step < Number(line); ++step) {
    Object.values(inputs).forEach(fill);
    const begin = process.hrtime.bigint();
    net.train_step();
    best = Math.min(best, Number(process.hrtime.bigint() - begin));
  }
  console.log(best, loss[0]);
}
