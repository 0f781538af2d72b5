#!/usr/bin/python3
"""Writes defaults.txt: the defaults of the classes and functions that docs/reference/promises.md names, as PyTorch, NumPy and scikit-learn have
them, and of the functions of PyTorch that have the name of an op. A line is the dotted name, and its parameters with their defaults.

    /usr/bin/python3 tests/reference/make_defaults.py        (Debian: apt-get install python3-torch python3-sklearn)
"""

import importlib
import inspect
import re
import sys
from pathlib import Path

PROJECT = Path(__file__).resolve().parents[2]
sys.path.insert(0, rules := str(PROJECT / "tests" / "rules"))
from promises import namesakes  # noqa: E402
sys.path.remove(rules)  # it has a platform.py

# Parameters that recurrent layers take by way of **kwargs, with the defaults that the documentation of torch.nn.RNNBase gives.
RECURRENT = "num_layers=1 bias=True batch_first=False dropout=0.0 bidirectional=False"


def found(name):
    """The object of a dotted name."""
    parts = name.split(".")
    for count in range(len(parts) - 1, 0, -1):
        try:
            value = importlib.import_module(".".join(parts[:count]))
            for part in parts[count:]:
                value = getattr(value, part)
            return value
        except (ImportError, AttributeError):
            pass
    return None


def text(value):
    return getattr(value, "__name__", str(value)).replace(" ", "")


def defaults(name):
    value = found(name)
    if value is None:
        return None
    if name in ("torch.nn.GRU", "torch.nn.LSTM"):
        return RECURRENT
    try:
        if name.split(".")[-1] == "max_pool2d":  # it dispatches to one of two functions
            raise ValueError
        parameters = inspect.signature(value.__init__ if inspect.isclass(value) else value).parameters.values()
    except ValueError:  # written in C: its documentation begins with signatures
        short = name.split(".")[-1]
        given = ", ".join(re.findall(rf"^\s*(?:\.\. function:: )?{short}\(([^)]*)\)", value.__doc__ or "", re.MULTILINE))
        return " ".join(dict.fromkeys(re.sub(r"\s", "", each) for each in given.split(",") if "=" in each and "out=" not in each))
    return " ".join(f"{each.name}={text(each.default)}" for each in parameters if each.default is not each.empty)


page = PROJECT / "docs/reference/promises.md"
names = set(re.findall(r"`((?:torch|numpy|sklearn)\.[\w.]+)`", page.read_text()))
for op in re.findall(r"\[(\w+)\]\(ops/", (PROJECT / "docs/generated/ops.md").read_text()):
    names |= {each for each in [each for each in namesakes(op) if callable(found(each))][:1] if defaults(each)}
names = sorted(names)
lines = [f"{name} {found_defaults}".strip() for name in names if (found_defaults := defaults(name)) is not None]
Path(__file__).with_name("defaults.txt").write_text("\n".join(lines) + "\n")
print(f"defaults.txt: {len(lines)} names; not in these libraries: {', '.join(set(names) - {line.split()[0] for line in lines}) or 'none'}")
