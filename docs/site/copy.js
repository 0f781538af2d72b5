// The theme gives a block of code its button when all of the block is in view: these are for blocks that never are.
document.querySelectorAll(".highlight pre > code").forEach((code, number) => {
  if (code.offsetHeight < 0.6 * innerHeight) return;
  const button = document.createElement("button");
  button.className = "md-clipboard md-icon";
  button.title = "Copy to clipboard";
  button.dataset.clipboardTarget = `#${code.id = `long-code-${number}`}`;
  code.before(button);
});
