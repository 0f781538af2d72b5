// Trains the network of net.hpp to tell two spirals apart, and tests it:
//
//     ./dev export examples/browser/net.hpp train_step test_step --wasm build/spirals
//     node examples/browser/spirals.mjs build/spirals/spirals.js
import {resolve} from 'node:path';
import {pathToFileURL} from 'node:url';

const {load} = await import(pathToFileURL(resolve(process.argv[2])));
const net = await load();
const draw = count => {
  const points = new Float32Array(2 * count), label = new Int32Array(count);
  for (let i = 0; i < count; ++i) {
    label[i] = i % 2;
    const turns = 1.5 * Math.sqrt(Math.random()), angle = 2 * Math.PI * turns + Math.PI * label[i];
    points.set([turns * Math.cos(angle), turns * Math.sin(angle)], 2 * i);
  }
  return {points, label};
};

net.init(1);
for (let step = 0; step < 3000; ++step) {
  const {loss} = net.train_step(draw(64));
  if (step % 500 === 0) console.log(`step ${step}: loss ${loss[0].toFixed(3)}`);
}
const {points, label} = draw(256), {outputs} = net.test_step({points});
const right = label.filter((of_point, i) => (outputs[2 * i + 1] > outputs[2 * i]) === (of_point === 1)).length;
console.log(`${right} of 256 points are right`);
