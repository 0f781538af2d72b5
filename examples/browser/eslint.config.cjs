// ESLint's rules for pages, workers and modules, and what they may use of browsers and of node. The rules are those of reports.
const [recommended, {rules}] = require('../../cmake/report/eslint.config.cjs');

const part = (name, sourceType, words, more = {}) => ({
  files: [name],
  languageOptions: {ecmaVersion: 2022, sourceType, globals: Object.fromEntries(words.split(' ').map(word => [word, 'writable']))},
  rules: {...rules, ...more}
});
const both = 'URL Response WebAssembly TextDecoder TextEncoder fetch performance';
const of_all = {'no-unused-vars': ['error', {vars: 'local'}]};

module.exports = [
  recommended,
  part('page.js', 'script', `${both} Blob DecompressionStream Worker atob clearTimeout devicePixelRatio document getComputedStyle matchMedia ` +
       'onresize setTimeout page_name wasm_text worker_text', of_all),
  part('worker.js', 'script', `${both} MessageChannel location onmessage postMessage`, of_all),
  part('module.mjs', 'module', `${both} console process`)
];
