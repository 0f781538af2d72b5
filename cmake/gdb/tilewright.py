"""Pretty printers for GDB: `source tilewright.py` at GDB's prompt, or in the file .gdbinit.

They print a tensor as a trace sees it, and a tree of names with its leaves:

    (gdb) print x
    $1 = Tensor[x float32 (8, 784)]
    (gdb) print variables
    $2 = DotTree = {fc1.weight = Tensor[fc1.weight float32 (784, 512)], fc1.bias = Tensor[fc1.bias float32 (512,)]}

Nothing is called in the program, so that they work in core files as well. They read members of the library's classes by name, and
belong to the version of the library that they were installed with.
"""

import gdb
import gdb.printing


def text_of(text):
    """The characters of a tilewright::Text."""
    size = int(text["size_"])
    return text["characters_"].string(length=size) if size else ""


def items_of(items):
    """The items of a tilewright::List."""
    return [items["data_"][i] for i in range(int(items["size_"]))]


def shape_text(shape):
    extents = [str(int(shape["extents"][axis])) for axis in range(int(shape["rank"]))]
    return f"({extents[0]},)" if len(extents) == 1 else f"({', '.join(extents)})"


def dtype_name(dtype):
    return str(dtype).rsplit("::", 1)[-1].replace("boolean", "bool")


class TextPrinter:
    """tilewright::Text, as a string."""

    def __init__(self, value):
        self.value = value

    def to_string(self):
        return text_of(self.value)

    def display_hint(self):
        return "string"


class ListPrinter:
    """tilewright::List, as GDB prints an array."""

    def __init__(self, value):
        self.value = value

    def to_string(self):
        return f"List of {int(self.value['size_'])}"

    def children(self):
        for i, item in enumerate(items_of(self.value)):
            yield f"[{i}]", item

    def display_hint(self):
        return "array"


class ShapePrinter:
    """tilewright::Shape: (8, 784)"""

    def __init__(self, value):
        self.value = value

    def to_string(self):
        return shape_text(self.value)


class SpecPrinter:
    """tilewright::TensorSpec: (8, 784) float32"""

    def __init__(self, value):
        self.value = value

    def to_string(self):
        return f"{shape_text(self.value['shape'])} {dtype_name(self.value['dtype'])}"


class TensorPrinter:
    """tilewright::Tensor, as to_text() gives it: Tensor[x float32 (8, 784)]. Of a tensor without a name, its number."""

    def __init__(self, value):
        self.value = value

    def to_string(self):
        graph, number = int(self.value["graph_"]), int(self.value["id_"])
        if int(self.value["ir_"]) == 0 or graph < 0 or number < 0:
            return "invalid Tensor"
        record = self.value["ir_"].dereference()["tables"]["graphs"]["data_"][graph]["tensors"]["data_"][number]
        name = text_of(record["name"]) or f"#{number}"
        spec = record["spec"]
        return f"Tensor[{name} {dtype_name(spec['dtype'])} {shape_text(spec['shape'])}]"


class FactoryPrinter:
    """tilewright::VariableFactory: the spec of the variables that it makes."""

    def __init__(self, value):
        self.value = value

    def to_string(self):
        return f"VariableFactory of {SpecPrinter(self.value['spec_']).to_string()}"


class TreePrinter:
    """tilewright::DotTree and classes that are derived from it: all leaves by their dotted names."""

    def __init__(self, value):
        self.value = value

    def to_string(self):
        return "DotTree"

    def children(self):
        yield from self.leaves("", self.value)

    def leaves(self, prefix, tree):
        for entry in items_of(tree["entries_"]):
            name = prefix + text_of(entry["key"])
            subtrees = items_of(entry["subtree"])
            if subtrees:
                yield from self.leaves(name + ".", subtrees[0])
            else:
                yield name, entry["leaf"]


def printers():
    collection = gdb.printing.RegexpCollectionPrettyPrinter("tilewright")
    collection.add_printer("Text", "^tilewright::Text$", TextPrinter)
    collection.add_printer("List", "^tilewright::List<.*>$", ListPrinter)
    collection.add_printer("Shape", "^tilewright::Shape$", ShapePrinter)
    collection.add_printer("TensorSpec", "^tilewright::TensorSpec$", SpecPrinter)
    collection.add_printer("Tensor", "^tilewright::Tensor(ByRef)?$", TensorPrinter)
    collection.add_printer("VariableFactory", "^tilewright::VariableFactory$", FactoryPrinter)
    collection.add_printer("DotTree", "^tilewright::(DotTree<.*>|NamedTensors|NamedVariableFactories)$", TreePrinter)
    return collection


gdb.printing.register_pretty_printer(None, printers(), replace=True)
