// Trains the networks of for_node.hpp as in_node.c does, in node or in a browser: losses, a logit, and a hash of the bits of all
// variables.
export const hash = net => {
  let result = 2166136261;  // FNV-1a
  for (const {buffer, byteOffset, byteLength} of Object.values(net.variables))
    for (const byte of new Uint8Array(buffer, byteOffset, byteLength)) result = Math.imul(result ^ byte, 16777619);
  return (result >>> 0).toString(16).padStart(8, '0');
};
export const train = net => {
  let state = 1;
  const next = () => (state = state * 48271 % 2147483647) / 2147483647;
  const batch = (size, count, classes) =>
    ({image: Float32Array.from({length: size * count}, next), label: Int32Array.from({length: count}, () => next() * classes)});
  net.init(1);
  const results = [];
  let digits;
  for (let step = 0; step < 200; ++step) net.train_step(digits = batch(28 * 28, 8, 10));
  results.push(net.train_step.arrays.loss[0]);
  for (let step = 0; step < 20; ++step) net.images_step(batch(12 * 12, 4, 4));
  results.push(net.images_step.arrays.loss[0]);
  const image = digits.image.slice(0, 28 * 28);
  results.push(net.infer({image}).logits[9], hash(net));
  return {image, results};
};
