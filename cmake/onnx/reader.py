"""Reads and checks a file. What is wrong with it is a Fault of one line, before anything large is made of it."""

import os
from pathlib import Path

import google.protobuf.message
import onnx
import onnx.checker
import onnx.external_data_helper

from model import DTYPES, MOST_ELEMENTS, Fault, array_of, dtype_name, numpy_dtype

LAST_OPSET = 17
MOST_BYTES = 1 << 31  # protobuf's limit
DOMAINS = ("", "ai.onnx")


def read_model(path):
    """The model of a file, whose tensors of other files are in it."""
    try:
        size = path.stat().st_size
        if size >= MOST_BYTES:
            raise Fault(f"{size} bytes: less than {MOST_BYTES} expected")
        model = onnx.ModelProto()
        model.ParseFromString(path.read_bytes())
    except OSError as error:
        raise Fault(error.strerror.lower() if error.strerror else "it cannot be read") from None
    except google.protobuf.message.DecodeError:
        raise Fault("no ONNX model, or one that ends early") from None
    if not model.HasField("graph"):
        raise Fault("no ONNX model: a graph expected")
    check_text(model)
    check_opset(model)
    for tensor in initialisers_of(model.graph):
        check_tensor(tensor, path.parent)
    check_graph(model.graph, set())
    try:
        onnx.checker.check_model(model)
    except onnx.checker.ValidationError as error:
        raise Fault(" ".join(str(error).split())[:300]) from None
    return model


def check_text(message):
    """protobuf reads any bytes as a name, and gives them as bytes where they are no UTF-8; what it writes must be UTF-8."""
    for field, value in message.ListFields():
        values = value if field.label == field.LABEL_REPEATED else (value,)
        if field.type == field.TYPE_MESSAGE:
            for each in values:
                check_text(each)
        elif field.type == field.TYPE_STRING:
            for each in values:
                if isinstance(each, bytes):
                    raise Fault(f"{field.name} {each!r}: UTF-8 expected")


def check_opset(model):
    for opset in model.opset_import:
        if opset.domain not in DOMAINS:
            raise Fault(f"operators of the domain '{opset.domain}': those of ONNX alone expected")
        if not 1 <= opset.version <= LAST_OPSET:
            raise Fault(f"opset {opset.version}: from 1 to {LAST_OPSET} expected")
    if not model.opset_import:
        raise Fault("a model without an opset: one expected")


def initialisers_of(graph):
    """The tensors that a graph has by value, also in the attributes of its nodes and the graphs in them."""
    yield from graph.initializer
    for node in graph.node:
        for attribute in node.attribute:
            if attribute.HasField("t"):
                yield attribute.t
            yield from attribute.tensors
            for inner in [attribute.g] if attribute.HasField("g") else attribute.graphs:
                yield from initialisers_of(inner)


def check_tensor(tensor, folder):
    """That a tensor has as many elements as its shape says, and reads them if they are in another file."""
    name = tensor.name or "without a name"
    count = 1
    for extent in tensor.dims:
        if extent < 0:
            raise Fault(f"tensor '{name}': extent {extent}: at least 0 expected")
        count *= extent
    if count > MOST_ELEMENTS:
        raise Fault(f"tensor '{name}': {count} elements: at most {MOST_ELEMENTS} expected")
    if tensor.data_location == onnx.TensorProto.EXTERNAL:
        read_external(tensor, name, folder, count)
    elif tensor.data_type in DTYPES and tensor.data_type != onnx.TensorProto.UNDEFINED:
        try:
            given = array_of(tensor)[0].size
        except ValueError:
            given = -1
        if given != count:
            raise Fault(f"tensor '{name}': its data does not fill the shape ({', '.join(map(str, tensor.dims))})")


def read_external(tensor, name, folder, count):
    facts = {entry.key: entry.value for entry in tensor.external_data}
    location = facts.get("location", "")
    file = Path(os.path.realpath(folder / location))
    if not location or not file.is_relative_to(os.path.realpath(folder)):
        raise Fault(f"tensor '{name}' in the file '{location}': a file in the model's folder expected")
    if tensor.data_type not in DTYPES:
        raise Fault(f"tensor '{name}' of {dtype_name(tensor.data_type)}: a tensor of numbers expected")
    bytes_expected = count * numpy_dtype(DTYPES[tensor.data_type]).itemsize
    try:
        offset = int(facts.get("offset", 0))
        with file.open("rb") as stream:
            stream.seek(offset)
            tensor.raw_data = stream.read(bytes_expected)
    except (OSError, ValueError):
        raise Fault(f"tensor '{name}': the file '{location}' cannot be read") from None
    if len(tensor.raw_data) != bytes_expected:
        raise Fault(f"tensor '{name}': {len(tensor.raw_data)} bytes in '{location}': {bytes_expected} expected")
    tensor.data_location = onnx.TensorProto.DEFAULT
    del tensor.external_data[:]


def check_graph(graph, outer):
    """That each value is there before a node reads it, and given once."""
    known = outer | {each.name for each in graph.input} | {each.name for each in graph.initializer}
    for node in graph.node:
        place = f"{node.op_type} '{node.name or next(iter(node.output), '')}'"
        for name in node.input:
            if name and name not in known:
                raise Fault(f"{place} reads '{name}': an input, an initialiser or the result of a node before it expected")
        for attribute in node.attribute:
            for inner in [attribute.g] if attribute.HasField("g") else attribute.graphs:
                check_graph(inner, known)
        for name in node.output:
            if name and name in known - outer:
                raise Fault(f"{place} gives '{name}', which is there already: another name expected")
        known |= set(node.output)
    for output in graph.output:
        if output.name not in known:
            raise Fault(f"output '{output.name}': the result of a node expected")
