// Trains on a text, and writes: characters are numbered by how frequent they are.
const batch = 8, context = 64, most_characters = 128;
let characters = [], numbers = new Map(), tokens = new Int32Array(0), asked = {prompt: 'The ', temperature: 0.7};

const use = text => {
  const counts = new Map();
  for (const character of text) counts.set(character, (counts.get(character) ?? 0) + 1);
  const found = [...counts.keys()].sort((a, b) => counts.get(b) - counts.get(a)), known = found.slice(0, most_characters);
  const known_numbers = new Map(known.map((character, number) => [character, number]));
  const given = Int32Array.from(Array.from(text, character => known_numbers.get(character) ?? -1).filter(number => number >= 0));
  if (given.length <= context) throw new RangeError(`A text of ${given.length} characters: more than ${context} expected.`);
  characters = known, numbers = known_numbers, tokens = given;
  postMessage({type: 'text_used', count: given.length, different: known.length, left_out: found.slice(most_characters)});
};
const draw = logits => {
  let most = -Infinity, sum = 0;
  for (let i = 0; i < characters.length; ++i) most = Math.max(most, logits[i]);
  const weight = i => Math.exp((logits[i] - most) / asked.temperature);
  for (let i = 0; i < characters.length; ++i) sum += weight(i);
  let left = Math.random() * sum, number = 0;
  while (number + 1 < characters.length && (left -= weight(number)) > 0) ++number;
  return number;
};
const write = count => {
  const text = Array.from(asked.prompt, character => numbers.get(character) ?? -1).filter(number => number >= 0);
  if (text.length === 0) text.push(0);
  const begin = text.length, {token, position, logits} = net.write_step.arrays;
  for (let next = 0, first = 0; text.length < begin + count;) {
    if (next - first === context) first = next = text.length - context / 2;  // the last half begins the next context
    token[0] = text[next], position[0] = next - first;
    net.write_step();
    if (++next === text.length) text.push(draw(logits));
  }
  const written = part => part.map(number => characters[number]).join('');
  postMessage({type: 'written', step: steps, begin: written(text.slice(0, begin)), text: written(text.slice(begin))});
};

const trainer = {
  test_every: 2,
  begin() {
    const {exports} = net, bytes = new Uint8Array(exports.memory.buffer, exports.generated_text(1n));
    const text = new TextDecoder().decode(bytes.subarray(0, bytes.indexOf(0)));
    postMessage({type: 'generated', text});
    use(text);
  },
  step(number) {
    const arrays = net.train_step.arrays;
    for (let i = 0; i < batch; ++i) {
      const first = Math.floor(Math.random() * (tokens.length - context));
      arrays.tokens.set(tokens.subarray(first, first + context), i * context);
      arrays.targets.set(tokens.subarray(first + 1, first + context + 1), i * context);
    }
    arrays.rate[0] = 3e-3 * Math.min(1, (number + 1) / 50);
    net.train_step();
    return arrays.loss[0];
  },
  test() { write(300); },
  commands: {
    text({text}) { use(text), commands.anew(); },
    write({prompt, temperature}) { asked = {prompt, temperature}, write(600); },
    ask({prompt, temperature}) { asked = {prompt, temperature}; }
  }
};
