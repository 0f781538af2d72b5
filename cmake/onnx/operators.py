"""The table of operators: what each becomes in C++. An entry is a function of a Place, which returns the expression of each result,
or one if there is one; @operator names what it is for. table.py has the modules that fill it."""

import math

import numpy as np

from model import FLOATING, Unsupported

TABLE = {}
# What is left out by a rule, with the rule.
LEFT_OUT = {
    "its shape depends on elements": ("NonZero", "Unique", "Compress", "NonMaxSuppression"),
    "sequences": ("SequenceAt", "SequenceConstruct", "SequenceEmpty", "SequenceErase", "SequenceInsert", "SequenceLength",
                  "SequenceMap", "SplitToSequence", "ConcatFromSequence"),
    "optional values": ("Optional", "OptionalGetElement", "OptionalHasElement"),
    "texts": ("StringNormalizer", "TfIdfVectorizer"),
}
RULES = {op: rule for rule, ops in LEFT_OUT.items() for op in ops}


def operator(*names):
    def register(function):
        for name in names:
            TABLE[name] = function
        return function
    return register


def number(value, dtype):
    """A number of C++ for an element of a dtype."""
    if dtype == "bool":
        return "true" if value else "false"
    if dtype not in (*FLOATING,):
        value = int(value)
        if dtype == "int64" and value == -1 << 63:
            return "std::numeric_limits<std::int64_t>::min()"
        return f"{value}{'u' if value >= 1 << 63 else ''}"
    if math.isnan(value):
        return "std::numeric_limits<double>::quiet_NaN()"
    if math.isinf(value):
        return f"{'-' if value < 0 else ''}std::numeric_limits<double>::infinity()"
    text = repr(float(value)) if dtype == "float64" else str(np.float32(value) if dtype != "float16" else np.float16(value))
    return text[:-2] if text.endswith(".0") else text


def listed(numbers):
    """A list of C++: {1, 2}"""
    return "{" + ", ".join(str(int(each)) for each in numbers) + "}"


class Place:
    """A node where it becomes C++: its types, what its inputs are called, and lines that go before its results."""

    def __init__(self, node, graph, writer):
        self.node, self.graph, self.writer = node, graph, writer

    def has(self, i):
        return i < len(self.node.inputs) and self.node.inputs[i] != ""

    def type(self, i=0):
        return self.graph.types[self.node.inputs[i]]

    def shape(self, i=0):
        return self.type(i).shape

    def rank(self, i=0):
        return len(self.shape(i))

    def dtype(self, i=0):
        return self.type(i).dtype

    def out(self, i=0):
        name = self.node.outputs[i]
        if name not in self.graph.types:
            raise Unsupported(f"the shape of '{name}' depends on elements: a constant expected")
        return self.graph.types[name]

    def wants(self, i):
        """Whether an output of this number is read."""
        return i < len(self.node.outputs) and self.node.outputs[i] in self.writer.read

    def __getitem__(self, i):
        """What an input is called in C++."""
        return self.writer.value(self.node.inputs[i])

    def attribute(self, name, default=None):
        value = self.node.attributes.get(name, default)
        return value.decode(errors="replace") if isinstance(value, bytes) else value

    def axis(self, default, i=0, name="axis"):
        """An axis of input i, from 0 on."""
        axis = self.attribute(name, default)
        rank = self.rank(i)
        if not -max(rank, 1) <= axis < max(rank, 1):
            raise Unsupported(f"{name} {axis} of {self.type(i)}: an axis of it expected")
        return axis % max(rank, 1)

    def constant(self, i):
        """The elements of an input that must be known."""
        name = self.node.inputs[i]
        if name in self.graph.constants:
            return self.graph.constants[name].array
        advice = " ".join(f"--fix {each}=VALUES" for each in self.graph.sources(name))
        raise Unsupported(f"input {i} '{name}': a constant{f', by {advice},' if advice else ''} expected")

    def is_constant(self, i):
        return self.has(i) and self.node.inputs[i] in self.graph.constants

    def number(self, i):
        """The number of C++ for an input that is one constant number, otherwise None."""
        each = self.graph.constants.get(self.node.inputs[i])
        if each is None or each.weight or each.array.size != 1 or each.dtype == "bfloat16":
            return None
        return number(each.array.ravel()[0], each.dtype)

    def let(self, expression, hint="part"):
        """Gives an expression a name in a line of its own."""
        return self.writer.let(expression, hint)

    def require(self, holds, text):
        if not holds:
            raise Unsupported(text)


def expressions_of(place):
    """What a node becomes, a list with an expression for each result. Unsupported: what it lacks."""
    node = place.node
    if node.domain not in ("", "ai.onnx", "tilewright"):
        raise Unsupported(f"of the domain '{node.domain}': an operator of ONNX expected")
    if node.op in RULES:
        raise Unsupported(f"{RULES[node.op]}: left out")
    if node.op not in TABLE:
        raise Unsupported("no such operator here")
    try:
        with np.errstate(all="ignore"):
            result = TABLE[node.op](place)
    except (ArithmeticError, IndexError, KeyError, TypeError, ValueError):
        raise Unsupported("its attributes do not fit the shapes of its inputs") from None
    return [result] if isinstance(result, str) else list(result)
