#!/usr/bin/env python3
"""What a comment promises in another library's name is in the table of docs/reference/promises.md, its expected values are made by a call of
that library with its defaults (or by a formula, where the table says so), and options have that library's defaults. So have ops that
have the name of a function of PyTorch, but for those that a row of docs/start/pytorch.md names.

defaults.txt is written by tests/reference/make_defaults.py."""

import re
import sys
from pathlib import Path

PROJECT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(PROJECT / "tests" / "docs"))
from declarations import arguments, closing, declarations, namespaces, outside_of_namespaces, without_templates  # noqa: E402

INCLUDE = PROJECT / "include" / "tilewright"
REFERENCE = PROJECT / "tests" / "reference"
PAGE = PROJECT / "docs/reference/promises.md"
FOLDERS = ("checkpoint", "core", "data", "distributed", "generate", "images", "layers", "module", "optim", "session", "train")
LOSSES = INCLUDE / "ops" / "nn" / "losses.hpp"
LIBRARY = re.compile(r"torch|NumPy|numpy|scikit-learn|Hugging Face|Keras|PEFT")
SUFFIX = re.compile(r"(LayerOptions|OptionsOf|Options|Parameters|Config|Of|_rules)$")

# Declarations whose comments name a library, and why they promise nothing of its results.
NO_PROMISE = {
    "Adam": "says how PyTorch's differs",
    "Lamb": "says that PyTorch has none",
    "Residual": "says that torch.nn has none",
    "attend": "is the attention of MultiheadAttention",
    "map_tensors": "shows a file of a layer of torch.nn",
}
# Arguments that the calls may give although they have defaults, and why.
GIVEN = {
    "batch_first": "axes differ, docs/start/pytorch.md says so",
    "dropout": "0, as PyTorch's random numbers are others",
    "init_scale": "steps are skipped within the few of the test", "growth_interval": "the scale grows within the few steps",
    "total_steps": "one of two ways to give a number that has no default",
    "average": "the promise is of this average",
    **dict.fromkeys(("threshold", "edgeitems", "max_line_width", "precision", "separator", "formatter"), "each text has its own"),
}
# Options whose defaults differ, by the words with which docs/start/pytorch.md says so.
DIFFERENT = {
    ("Loader", "drop_last"): "the last samples, if they fill no batch",
    **dict.fromkeys((("max_pool", "stride"), ("average_pool", "stride")), "`ops::max_pool`, `ops::average_pool`: stride"),
    ("argmin", "axis"): "`ops::argmax`, `ops::argmin`: axis",
    **dict.fromkeys((("nll_loss", "ignore_index"), ("cross_entropy", "ignore_index")), "`ops::cross_entropy`: `ignore_index`"),
    ("softmax", "axis"): "`ops::softmax`: axis",
}
# Defaults whose text differs, and why they are the same.
SAME = {
    **dict.fromkeys((("Linear", "bias"), ("ColumnParallelLinear", "bias"), ("RowParallelLinear", "bias")), "a tensor there"),
    ("topk", "axis"): "None is the last axis",
    ("median", "axes"): "all elements, as in torch.median(x); dim is of another overload",
    ("interpolate", "scale_factor"): "PyTorch needs one of two arguments",
    **dict.fromkeys(((op, bound) for op in ("clip", "clip_", "clamp") for bound in ("min", "max")), "None and infinity are no bound"),
}
# What an op does if nothing is given for an option.
NOT_GIVEN = {"stride": "1", "padding": "0", "dilation": "1", "output_padding": "0"}
NAMES = {"epsilon": "eps", "axis": "dim", "axes": "dim", "keep_axis": "keepdim", "keep_axes": "keepdim"}
# Ops that are functions of PyTorch with other names.
OPS = {"max_pool": "max_pool2d", "average_pool": "avg_pool2d", "conv": "conv2d", "conv_transpose": "conv_transpose2d",
       "geluerf": "gelu"}
TRUTHS = {"true": "True", "false": "False"}


def options_of(text):
    """Members of structs with their default values, by the struct's name without its suffix."""
    for match in re.finditer(r"^struct (\w+)[^;{]*\{", text, re.MULTILINE):
        body = text[match.end():closing(text, match.end() - 1)]
        body = re.sub(r"//[^\n]*|\{[^{}]*\}", "", body)
        yield SUFFIX.sub("", match[1]), dict(re.findall(r"\b(\w+) = ([^,;=()]+?)\s*(?=[,;])", body))


def number(value):
    """A number of a default, or its last word."""
    value = TRUTHS.get(value, value)
    try:
        return float(eval(value, {"__builtins__": {}}))  # such as 1.0 / 3
    except Exception:
        return value.split("::")[-1]


def is_equal(here, there, none=(0, "float32")):
    return number(here) == number(there) or (there == "None" and number(here) in none)


def namesakes(op):
    """The functions of PyTorch that an op may have the name of."""
    name = OPS.get(op, op).rstrip("_")
    return [f"torch.nn.functional.{name}", f"torch.{name}"]


def defaults_of_ops():
    """(op, parameter or option, default) of each op; "" for an option that nothing is given for."""
    headers = [path.read_text() for path in sorted((INCLUDE / "ops").rglob("*.hpp"))]
    options = {struct + suffix: {name: value for name, value in re.findall(r"\b(\w+)(?: = ([^;=]+?)|\{\});", body)}
               for text in headers for struct, suffix, body in
               re.findall(r"^struct (\w+?)(Options) \{\n(.*?)^\};", text, re.MULTILINE | re.DOTALL)}
    for text in headers:
        for each in (each for space in namespaces(text, "ops") for each in declarations(space) if each.is_function):
            head = without_templates(each.head)
            for parameter in arguments(head[head.find("(") + 1:closing(head, head.find("("))]):
                if match := re.search(r"(\w+)& \w+(?: = \{\})?$", parameter):
                    yield from ((each.name, name, value) for name, value in options.get(match[1], {}).items())
                if match := re.search(r"(\w+) = (.+)$", parameter):
                    yield each.name, match[1], "" if match[2] == "{}" else match[2]


def calls(script, name):
    """The arguments of each use of a name in a script: None where it is passed and not called."""
    for match in re.finditer(rf"(?<![\w\"]){name}\b(\()?", script):
        yield set(re.findall(r"\b(\w+)=", script[match.end():closing(script, match.end() - 1)])) if match[1] else set()


def main():
    problems = []
    rows = [[cell.strip() for cell in line.split("|")[1:-1]] for line in PAGE.read_text().splitlines() if line.startswith("| `")]
    promised = {name: row for row in rows for name in re.findall(r"`(\w+)`", row[0])}
    lines = [line.split() for line in (REFERENCE / "defaults.txt").read_text().splitlines()]
    defaults = {name: dict(pair.split("=", 1) for pair in pairs) for name, *pairs in lines}

    headers = {path: path.read_text() for folder in FOLDERS for path in sorted((INCLUDE / folder).glob("*.hpp"))}
    headers[LOSSES] = LOSSES.read_text()
    declared, compared = set(), 0
    for path, text in headers.items():
        for each in declarations(outside_of_namespaces(text, left_out=("detail", "internal"))):
            name = SUFFIX.sub("", each.name or "")
            declared.add(name)
            if LIBRARY.search(str(each.comment)) and name not in promised and name not in NO_PROMISE:
                problems.append(f"{path.relative_to(PROJECT)}: {each.name} names another library: a row of {PAGE.name} expected")
        for struct, members in options_of(text):
            if struct not in promised:
                continue
            theirs = [name for name in re.findall(r"`([\w.]+)`", promised[struct][1]) if name in defaults]
            same = [name for name in theirs if re.sub(r"[123]d$", "", name.split(".")[-1]).lower() == struct.lower()]
            for name in same or theirs:
                for member, value in members.items():
                    there = defaults[name].get(NAMES.get(member, member))
                    if there is None or there.startswith("<") or (struct, member) in (DIFFERENT | SAME):
                        continue
                    compared += 1
                    if not is_equal(value, there):
                        problems.append(f"{struct}.{member} = {value}: {there}, the default of {name}, expected")
    problems += [f"{PAGE.name}: {name} is nothing that a header declares" for name in promised if name not in declared]
    guide = (PROJECT / "docs/start/pytorch.md").read_text()
    problems += [f"docs/start/pytorch.md: no row says `{words}`" for words in DIFFERENT.values() if words not in guide]
    different = set()
    for op, name, value in defaults_of_ops():
        there = next((defaults[each][NAMES.get(name, name)] for each in namesakes(op)
                      if NAMES.get(name, name) in defaults.get(each, {})), None)
        if there is None:
            continue
        compared += 1
        if not is_equal(value or NOT_GIVEN.get(name, "None"), there, none=()):
            different.add((op, name))
            if (op, name) not in DIFFERENT and (op, name) not in SAME:
                problems.append(f"ops::{op}: {name} = {value or 'nothing'}, and {there} in PyTorch: a row of docs/start/pytorch.md expected")
    problems += [f"ops::{op}: {name} is as in PyTorch" for op, name in [*DIFFERENT, *SAME] if op.islower() and (op, name) not in different]

    for row in rows:
        files = re.findall(r"\]\((?:\.\./)+([\w./]+)\)", row[2])
        texts = "\n".join((PROJECT / file).read_text() for file in files if (PROJECT / file).exists())
        if not texts:
            problems.append(f"{PAGE.name}: {row[0]}: a script or a test expected")
        for name in re.findall(r"`([\w.]+\.\w+)`", row[1]) if "formula" not in row[2] else []:
            if name not in defaults:
                problems.append(f"{name}: a line of defaults.txt expected")
            elif not any(given & set(defaults[name]) <= set(GIVEN) for given in calls(texts, name.split(".")[-1])):
                problems.append(f"{', '.join(files)}: a call of {name} with its defaults expected")
    if not any(calls("f(x, eps=1)", "f")) or is_equal("0.1", "0.2") or compared < 110:
        problems.append(f"the test is blind: {compared} defaults compared")
    print("\n".join(problems) or f"{len(promised)} promises: {compared} defaults are those of their libraries")
    sys.exit(bool(problems))


if __name__ == "__main__":
    main()
