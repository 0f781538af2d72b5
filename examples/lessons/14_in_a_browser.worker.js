// The page's own part of lesson 14: draws points of two spirals, trains on 64 of them in a step, and tests with 256.
const draw = count => {
  const points = new Float32Array(2 * count), label = new Int32Array(count);
  for (let i = 0; i < count; ++i) {
    label[i] = i % 2;
    const turns = 1.5 * Math.sqrt(Math.random()), angle = 2 * Math.PI * turns + Math.PI * label[i];
    points.set([turns * Math.cos(angle), turns * Math.sin(angle)], 2 * i);
  }
  return {points, label};
};
const trainer = {
  step: () => net.train_step(draw(64)).loss[0],
  test() {
    const {points, label} = draw(256), {outputs} = net.test_step({points});
    return label.filter((of_point, i) => (outputs[2 * i + 1] > outputs[2 * i]) === (of_point === 1)).length / 256;
  }
};
