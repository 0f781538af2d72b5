// ESLint's rules for the scripts of a report's page, and what they may use of the browser.
const js = require('@eslint/js');

const browser = [
  'CSS',
  'ResizeObserver',
  'addEventListener',
  'document',
  'getComputedStyle',
  'innerHeight',
  'innerWidth',
  'matchMedia',
  'requestAnimationFrame',
];

module.exports = [
  js.configs.recommended,
  {
    languageOptions: {
      ecmaVersion: 2022,
      sourceType: 'script',
      globals: Object.fromEntries(browser.map(name => [name, 'readonly'])),
    },
    rules: {eqeqeq: 'error', 'no-shadow': 'error', 'no-var': 'error', 'prefer-const': 'error'},
  },
];
