// Sends the text and what the writing begins with, and shows what is written.
const asked = () => ({prompt: element('prompt').value, temperature: Number(element('temperature').value)});
const {ready} = replies;
Object.assign(replies, {
  ready() { ready(), element('write').disabled = false; },
  generated({text}) { element('text').value = text; },
  text_used({count, different, left_out}) {
    const rest = left_out.length > 0 ? ` The ${left_out.length} rarest others are left out.` : '';
    element('size').textContent = `${count.toLocaleString('en')} characters, of which ${different} are different.${rest}`;
    say('');
  },
  written({begin, text}) {
    const given = document.createElement('b');
    given.textContent = begin;
    element('written').replaceChildren(given, text);
  }
});
let waiting = 0;
element('text').oninput = () => {
  clearTimeout(waiting);
  waiting = setTimeout(() => send('text', {text: element('text').value}), 300);
};
element('prompt').oninput = element('temperature').oninput = () => send('ask', asked());
element('ask').onsubmit = event => { event.preventDefault(), send('write', asked()); };
