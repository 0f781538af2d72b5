"""A network between the file that it comes from and the C++ that it becomes: nodes in their order, values with types, constants."""

import math
from dataclasses import dataclass, field

import numpy as np
import onnx
import onnx.helper
import onnx.numpy_helper

MOST_AXES = 6  # tilewright::max_rank
MOST_ELEMENTS = 1 << 31


class Fault(Exception):
    """What makes an import impossible, in one line."""


class Unsupported(Exception):
    """What one operator lacks here; the places of all are listed together."""


DTYPES = {onnx.TensorProto.FLOAT: "float32", onnx.TensorProto.UINT8: "uint8", onnx.TensorProto.INT8: "int8",
          onnx.TensorProto.UINT16: "uint16", onnx.TensorProto.INT16: "int16", onnx.TensorProto.INT32: "int32",
          onnx.TensorProto.INT64: "int64", onnx.TensorProto.BOOL: "bool", onnx.TensorProto.FLOAT16: "float16",
          onnx.TensorProto.DOUBLE: "float64", onnx.TensorProto.UINT32: "uint32", onnx.TensorProto.UINT64: "uint64",
          onnx.TensorProto.BFLOAT16: "bfloat16"}
FLOATING = ("float16", "bfloat16", "float32", "float64")
UNSIGNED = ("uint8", "uint16", "uint32", "uint64", "bool")


def numpy_dtype(dtype):
    """NumPy's dtype for the bytes of one: it has no bfloat16, whose bits are uint16."""
    return np.dtype("uint16" if dtype == "bfloat16" else dtype)


@dataclass(frozen=True)
class Type:
    dtype: str
    shape: tuple

    def __str__(self):
        return f"({', '.join(map(str, self.shape))}{',' if len(self.shape) == 1 else ''}) {self.dtype}"

    @property
    def size(self):
        return math.prod(self.shape)


@dataclass
class Constant:
    """A value that is known. `weight`: whether it is an initialiser of floating point, which can be trained."""
    array: np.ndarray
    dtype: str
    weight: bool = False
    source: str = ""  # of a weight: the initialiser that its elements come from, if it is one
    elements: np.ndarray = None  # of a weight: the number of each element among those of all initialisers; -1: of none

    @property
    def type(self):
        return Type(self.dtype, self.array.shape)


@dataclass
class Node:
    op: str
    inputs: list
    outputs: list
    attributes: dict = field(default_factory=dict)
    name: str = ""
    domain: str = ""
    protos: list = field(default_factory=list)  # the attributes as the file has them

    @classmethod
    def of(cls, proto):
        attributes = {each.name: onnx.helper.get_attribute_value(each) for each in proto.attribute}
        return cls(proto.op_type, list(proto.input), list(proto.output), attributes, proto.name, proto.domain, list(proto.attribute))

    def proto(self):
        made = onnx.NodeProto(op_type=self.op, input=self.inputs, output=self.outputs, name=self.name, domain=self.domain)
        made.attribute.extend(self.protos)
        return made

    @property
    def place(self):
        """Where an error is: by the node's name, or by what it gives."""
        return f"{self.op} '{self.name or next((o for o in self.outputs if o), '')}'"


@dataclass
class Graph:
    nodes: list
    inputs: list  # names
    outputs: list
    types: dict  # Type by name
    constants: dict  # Constant by name
    sources_of_weights: list = field(default_factory=list)  # of weights' elements: the number of the first, and the initialiser, in order

    def users(self):
        """The nodes that read each value, and None for an output of the graph."""
        result = {}
        for node in self.nodes:
            for name in node.inputs:
                result.setdefault(name, []).append(node)
        for name in self.outputs:
            result.setdefault(name, []).append(None)
        return result

    def number(self, name):
        """The number that a constant of one element is, unless it can be trained; None for other values."""
        each = self.constants.get(name)
        return float(each.array.ravel()[0]) if each is not None and not each.weight and each.array.size == 1 else None

    def sources(self, name):
        """The inputs of the graph on which a value depends."""
        needed = {name}
        for node in reversed(self.nodes):
            if needed & set(node.outputs):
                needed.update(node.inputs)
        return [each for each in self.inputs if each in needed]

    def prune(self):
        """Removes the nodes that no output needs, and the inputs that none of the rest reads."""
        needed, kept = set(self.outputs), []
        for node in reversed(self.nodes):
            if needed & set(node.outputs):
                kept.append(node)
                needed.update(node.inputs)
        self.nodes = kept[::-1]
        self.inputs = [name for name in self.inputs if name in needed]


def array_of(tensor):
    """The elements of a tensor of the file and their dtype's name."""
    if tensor.data_type not in DTYPES:
        raise Fault(f"tensor '{tensor.name}' of {dtype_name(tensor.data_type)}: a tensor of numbers expected")
    dtype = DTYPES[tensor.data_type]
    if dtype == "bfloat16":
        values = np.frombuffer(tensor.raw_data, "<u2") if tensor.raw_data else np.array(tensor.int32_data, "uint16")
        return values.reshape(tuple(tensor.dims)), dtype
    return onnx.numpy_helper.to_array(tensor), dtype


def dtype_name(number):
    try:
        return onnx.TensorProto.DataType.Name(number).lower()
    except ValueError:
        return f"dtype {number}"
