"""From a checked model to a graph whose shapes are numbers: symbolic dimensions, opset 17, inferred shapes, folded constants."""

import numpy as np
import onnx
import onnx.shape_inference
import onnx.version_converter

import control
import folding
from model import (DTYPES, FLOATING, MOST_AXES, MOST_ELEMENTS, Constant, Fault, Graph, Node, Type, Unsupported, array_of, dtype_name,
                   numpy_dtype)
from reader import DOMAINS, LAST_OPSET

MOST_INFERRED = 1024  # elements of constants that the inference of shapes reads
MOST_ROUNDS = 40


def static_graph(model, shapes, fixed):
    """The graph of a model. shapes: extents by symbol, or by INPUT.AXIS; fixed: arrays by name of inputs that become constants."""
    fix_inputs(model.graph, fixed)
    set_dimensions(model.graph, dict(shapes))
    model = converted(model)
    nodes = [Node.of(node) for node in model.graph.node]
    nodes, constants, sources = initialisers(model.graph, nodes)
    for each in model.graph.input:
        if (type_ := static_type(each)) is not None and type_.size == 0:  # such as axes: it has one value
            constants.setdefault(each.name, Constant(np.zeros(type_.shape, numpy_dtype(type_.dtype)), type_.dtype))
    inputs = [each for each in model.graph.input if each.name not in constants]
    shared = shared_weights(nodes, constants)
    for _ in range(MOST_ROUNDS):
        types = inferred(nodes, inputs, list(model.graph.output), constants)
        changed, kept = False, []
        for node in nodes:
            made = {} if node.op in folding.MOVES and shared & set(node.inputs) else folded(node, constants, types)
            constants |= made
            expanded = None if made else control.expand(node, constants, types)
            changed |= bool(made) or expanded is not None
            kept += [] if made else [node] if expanded is None else expanded
        nodes = kept
        if not changed:
            break
    constants |= joined_weights(nodes, constants, types, {each.name for each in model.graph.output})
    nodes = [node for node in nodes if not constants.keys() >= set(node.outputs)]
    types |= {name: constant.type for name, constant in constants.items()}
    graph = Graph(nodes, [each.name for each in inputs], [each.name for each in model.graph.output], types, constants, sources)
    graph.prune()
    return graph


def initialisers(graph, nodes):
    """The nodes without copies of initialisers; the constants; and the number of the first element of each weight, with its name.
    PyTorch's exporter writes equal weights once, and copies of them for the others: these are weights of their own."""
    tensors = {tensor.name: tensor for tensor in graph.initializer}
    copies = {node.outputs[0]: node.inputs[0] for node in nodes if node.op == "Identity" and node.inputs[0] in tensors}
    constants, count, sources = {}, 0, []
    for name in (*tensors, *copies):
        array, dtype = array_of(tensors[copies.get(name, name)])
        is_weight = dtype in FLOATING and array.ndim > 0
        numbers = np.arange(count, count + array.size, dtype="int32").reshape(array.shape) if is_weight else None
        constants[name] = Constant(array, dtype, is_weight, name, numbers)
        if is_weight:
            sources.append((count, name))
            count += array.size
    return [node for node in nodes if node.outputs[0] not in copies], constants, sources


def shared_weights(nodes, constants):
    """The names of weights that several nodes read: they stay one variable."""
    names = [name for node in nodes for name in node.inputs if name in constants and constants[name].weight]
    return {name for name in names if names.count(name) > 1}


def joined_weights(nodes, constants, types, outputs):
    """What slices and joins make of weights that several nodes read, where each element is in the result once, and nowhere else."""
    makers, readers, made = {name: node for node in nodes for name in node.outputs}, {}, {}
    for node in nodes:
        for name in node.inputs:
            readers.setdefault(name, []).append(node)
    for result in dict.fromkeys(name for node in nodes if node.op not in folding.MOVES for name in node.inputs):
        inside, pending, weights = {}, [result], set()
        while pending:
            name = pending.pop()
            node = makers.get(name)
            if node is not None and node.op in folding.MOVES:
                inside[id(node)] = node
                pending += node.inputs
            elif name in constants and constants[name].weight:
                weights.add(name)
        names = weights | {name for node in inside.values() for name in node.outputs} - {result}
        if not weights or names & outputs or not all(id(node) in inside for name in names for node in readers.get(name, [])):
            continue
        constant = folding.constant_of(result, makers, constants, types)
        if constant is not None and holds_each_once(constant, [constants[name] for name in weights]):
            made[result] = constant
    return made


def holds_each_once(constant, weights):
    numbers = np.concatenate([each.elements.ravel() for each in weights])
    return constant.weight and constant.array.size == numbers.size and np.isin(numbers, constant.elements).all()


def fix_inputs(graph, fixed):
    names = [each.name for each in graph.input]
    for name, value in fixed.items():
        if name not in names:
            raise Fault(f"--fix {name}: one of the inputs {', '.join(names)} expected")
        given = graph.input[names.index(name)]
        names.remove(name)
        dtype = given.type.tensor_type.elem_type
        if dtype not in DTYPES or DTYPES[dtype] == "bfloat16":
            raise Fault(f"--fix {name}: an input of {dtype_name(dtype)}: numbers expected")
        shape = [each.dim_value for each in given.type.tensor_type.shape.dim]
        array = np.array(value)
        if array.dtype.kind not in "biuf":
            raise Fault(f"--fix {name}: numbers with commas expected")
        if array.size == np.prod(shape, dtype=int):
            array = array.reshape(shape)
        graph.initializer.append(onnx.numpy_helper.from_array(array.astype(DTYPES[dtype]), name))
        graph.input.remove(given)


def set_dimensions(graph, shapes):
    """Gives each dimension of the inputs its number. Faults: a list of the symbols that have none; a symbol that is not there."""
    constants, missing, unused = {each.name for each in graph.initializer}, [], set(shapes)
    for each in graph.input:
        if each.name in constants or not each.type.HasField("tensor_type"):
            continue
        for axis, dimension in enumerate(each.type.tensor_type.shape.dim):
            if dimension.HasField("dim_value"):
                continue
            keys = [key for key in (f"{each.name}.{axis}", dimension.dim_param) if key]
            unused -= set(keys)
            known = next((shapes[key] for key in keys if key in shapes), None)
            if known is None:
                missing += [keys[-1]] if keys[-1] not in missing else []
            else:
                dimension.dim_value = known
    if missing:
        raise Fault(f"dimensions without a number: --shape {','.join(f'{name}=N' for name in missing)} expected")
    if unused:
        raise Fault(f"--shape {min(unused)}: a dimension of an input that has no number expected")
    del graph.value_info[:]
    for each in graph.output:
        if any(not dimension.HasField("dim_value") for dimension in each.type.tensor_type.shape.dim):
            each.type.tensor_type.ClearField("shape")


def converted(model):
    opset = next(each.version for each in model.opset_import if each.domain in DOMAINS)
    if opset == LAST_OPSET:
        return model
    if opset < 9 and any(node.op_type == "Scan" for node in model.graph.node):  # with batches; the converter keeps it as it is
        raise Fault(f"a Scan of opset {opset}: one of opset 9 expected")
    try:
        return onnx.version_converter.convert_version(model, LAST_OPSET)
    except Exception as error:  # of several classes of onnx
        raise Fault(f"opset {opset} cannot become {LAST_OPSET}: {' '.join(str(error).split())[:200]}") from None


def inferred(nodes, inputs, outputs, constants):
    """The types that are known, by name. Large constants take part without their elements."""
    small = [name for name, each in constants.items() if each.array.size <= MOST_INFERRED and each.dtype != "bfloat16"]
    large = [onnx.helper.make_tensor_value_info(name, number_of(each.dtype), each.array.shape)
             for name, each in constants.items() if name not in small]
    graph = onnx.helper.make_graph([node.proto() for node in nodes], "graph", [*inputs, *large], outputs,
                                   [onnx.numpy_helper.from_array(constants[name].array, name) for name in small])
    model = onnx.helper.make_model(graph, opset_imports=[onnx.helper.make_opsetid("", LAST_OPSET)])
    try:
        result = onnx.shape_inference.infer_shapes(model, check_type=True, data_prop=True).graph
    except (RuntimeError, ValueError, onnx.shape_inference.InferenceError) as error:
        raise Fault(" ".join(str(error).split())[:300]) from None
    types = {name: each.type for name, each in constants.items()}
    for each in (*result.input, *result.value_info, *result.output):
        if (known := static_type(each)) is not None:
            types[each.name] = known
    return types


def number_of(dtype):
    return next(number for number, name in DTYPES.items() if name == dtype)


def static_type(value):
    """The Type of a value of the file, or None if a part of it is not known."""
    tensor = value.type.tensor_type
    if not value.type.HasField("tensor_type") or tensor.elem_type not in DTYPES or not tensor.HasField("shape"):
        return None
    if any(not each.HasField("dim_value") or each.dim_value < 0 for each in tensor.shape.dim):
        return None
    return Type(DTYPES[tensor.elem_type], tuple(each.dim_value for each in tensor.shape.dim))


def folded(node, constants, types):
    try:
        return folding.fold(node, constants, types)
    except Unsupported:
        return {}
    except (ValueError, IndexError, TypeError, KeyError, ZeroDivisionError, OverflowError, MemoryError) as error:
        raise Fault(f"{node.place}: {' '.join(str(error).split())[:200]}") from None


def check_type(name, known):
    """That a value is a tensor that a program can have."""
    if known is None:
        raise Unsupported(f"the shape of '{name}' depends on elements: a constant expected, by --fix if an input has it")
    if len(known.shape) > MOST_AXES:
        raise Unsupported(f"'{name}' {known}: at most {MOST_AXES} axes expected")
    if known.size == 0:
        raise Unsupported(f"'{name}' {known}: a tensor with elements expected")
    if known.size > MOST_ELEMENTS:
        raise Unsupported(f"'{name}' {known}: at most {MOST_ELEMENTS} elements expected")
