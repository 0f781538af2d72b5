// What all workers have: they load the network, train it, test it, and read and write its weights. A page's own script follows, and
// defines `trainer`, of which all but step() may be missing:
//   begin()          when the network is loaded
//   step(number)     trains a step, and returns its loss
//   test()           returns the share of tests that are right, if there are any; `test_every`: seconds between tests, or 0.5
//   commands         functions by the `type` of what the page sends
let net, is_running = false, steps = 0, losses = 0, since = 0, reported = 0, tested = 0;

const run_test = () => {
  const score = trainer.test?.();
  if (score !== undefined) postMessage({type: 'tested', step: steps, score});
  tested = performance.now();
};
const forget_rate = () => { losses = since = 0, reported = performance.now(); };
const report = () => {
  const seconds = (performance.now() - reported) / 1000;
  if (since > 0) postMessage({type: 'progress', step: steps, loss: losses / since, rate: since / seconds});
  forget_rate();
  if (performance.now() - tested > 1000 * (trainer.test_every ?? 0.5)) run_test(), forget_rate();
};
const train = () => {
  const end = performance.now() + 15;
  while (performance.now() < end) losses += trainer.step(steps), ++since, ++steps;
  if (performance.now() - reported > 100) report();
};
const commands = {
  async open({wasm}) {
    net = await tilewright.load(wasm);
    trainer.begin?.();
    commands.anew();
    postMessage({type: 'ready'});
  },
  run() { is_running = true, forget_rate(), next_turn.port2.postMessage(0); },
  pause() { is_running = false, report(), run_test(); },
  anew() {
    net.init(Math.floor(Math.random() * 2 ** 32)), steps = 0, forget_rate();
    postMessage({type: 'begun'}), run_test();
  },
  save() { postMessage({type: 'saved', file: net.save()}); },
  load({file}) { net.load(file), run_test(); }
};
const attempt = async action => {
  try { await action(); } catch (error) { is_running = false, postMessage({type: 'failed', message: error.message}); }
};
const next_turn = new MessageChannel();  // timers would wait for some milliseconds
next_turn.port1.onmessage = () => attempt(() => { if (is_running) train(), next_turn.port2.postMessage(0); });
onmessage = ({data}) => attempt(() => (trainer.commands?.[data.type] ?? commands[data.type])(data));
