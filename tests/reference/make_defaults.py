#!/usr/bin/python3
"""Writes defaults.txt: the defaults of the classes and functions that docs/reference/promises.md names, as PyTorch, NumPy and scikit-learn have
them. A line is the dotted name, and its parameters with their defaults.

    /usr/bin/python3 tests/reference/make_defaults.py        (Debian: apt-get install python3-torch python3-sklearn)
"""

import importlib
import inspect
import re
from pathlib import Path

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
        parameters = inspect.signature(value.__init__ if inspect.isclass(value) else value).parameters.values()
    except ValueError:  # written in C
        return ""
    return " ".join(f"{each.name}={text(each.default)}" for each in parameters if each.default is not each.empty)


page = Path(__file__).resolve().parents[2] / "docs/reference/promises.md"
names = sorted(set(re.findall(r"`((?:torch|numpy|sklearn)\.[\w.]+)`", page.read_text())))
lines = [f"{name} {found_defaults}".strip() for name in names if (found_defaults := defaults(name)) is not None]
Path(__file__).with_name("defaults.txt").write_text("\n".join(lines) + "\n")
print(f"defaults.txt: {len(lines)} names; not in these libraries: {', '.join(set(names) - {line.split()[0] for line in lines}) or 'none'}")
