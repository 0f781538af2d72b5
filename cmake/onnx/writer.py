"""Writes net.hpp: a module, and a program that computes its outputs from its inputs."""

import numpy as np

import layers
from elementwise import cpp_dtype
from model import FLOATING, Fault, Type, Unsupported, numpy_dtype
from names import Names, dotted, identifier
from operators import TABLE, Place, expressions_of, listed, number, operator
from random_numbers import draws
from statics import check_type

COLUMNS = 130  # of .clang-format
MOST_INLINE = 64  # elements of a constant in the code; larger ones are variables
# The headers of layers, by what their names begin with.
HEADERS = {"Linear": "linear", "Conv": "conv", "LayerNorm": "layer_norm", "BatchNorm": "batch_norm", "LSTM": "recurrent",
           "GRU": "recurrent", "Embedding": "embedding", "MultiheadAttention": "attention"}
MOST_MEMBERS = 30  # of one macro of Boost.Hana
BEGIN, END = "// Yours, kept by the next import: begin", "// Yours, kept by the next import: end"

HEADER = """// {name}: {source}, written by tilewright-import. The next import keeps what is between the two lines at the end alone.
#pragma once
{includes}

namespace tw = tilewright;

{members}struct {name} : tw::Module<{name}>{bases} {{
{macro}{shapes}
{signature} {{{body}}}
}};

/// Computes the outputs of a {name} from its inputs, which are streams.
constexpr void {program}([[maybe_unused]] tw::Ir& ir) {{
{run}
}}

{begin}
{kept}{end}
"""


@operator("tw.Layer")
def layer(place):
    return f"{place.node.attributes['member']}({', '.join(place[i] for i in range(len(place.node.inputs)))})"


class Writer:
    """The lines of a module. `variables`: by name, the arrays and dtypes of net.safetensors."""

    def __init__(self, graph, name):
        self.graph, self.name = graph, name
        self.names, self.lines, self.variables, self.values = Names(), [], {}, {}
        self.members, self.problems, self.elements = [], [], {}
        layers.find_layers(graph, self.names)
        self.member_names = {node.attributes["member"] for node in graph.nodes if "member" in node.attributes}
        self.read = {each for node in graph.nodes for each in node.inputs} | set(graph.outputs)
        random = [node for node in graph.nodes if draws(graph, node)]
        self.is_random, self.seeds = bool(random), 0
        if takes_seed := any(node.attributes.get("seed") is None for node in random):
            stream = "seed"
            while stream in graph.types:
                stream += "_"
            graph.inputs.append(stream)
            graph.types[stream] = Type("uint32", (2,))
        self.inputs = [self.names.new(identifier(each)) for each in graph.inputs]
        self.values |= dict(zip(graph.inputs, self.inputs))
        self.seed = self.inputs[-1] if takes_seed else ""  # what the seed of the stream is called

    def value(self, name):
        """What a value of the model is called in C++; a constant gets its line where it is read first."""
        if name not in self.values:
            constant = self.graph.constants[name]
            if constant.weight:
                self.values[name] = self.variable(constant.array, constant.dtype, constant.source or name, constant.elements)
            else:
                self.values[name] = self.constant(constant.array, constant.dtype, name)
        return self.values[name]

    def variable(self, array, dtype, name, elements=None, is_constant=False):
        head, dot, rest = dotted(name).partition(".")
        path = f"{head}_{dot}{rest}" if head in self.member_names else f"{head}{dot}{rest}"
        while path in self.variables:
            path += "_"
        check_type(name, Type(dtype, array.shape))
        self.variables[path], self.elements[path] = (array, dtype), elements
        shape = "{}" if array.ndim == 0 else listed(array.shape)
        detached = ".detach()" if is_constant and dtype in FLOATING else ""
        return self.let(f'add_variable_input("{path}", tw::zeros(), {shape}, {cpp_dtype(dtype)}){detached}', path)

    def constant(self, array, dtype, name="constant"):
        array = np.asarray(array, numpy_dtype(dtype))
        check_type(name, Type(dtype, array.shape))
        uniform = array.size > 0 and (array == array.ravel()[0]).all()
        if not uniform and (array.size > MOST_INLINE) or dtype == "bfloat16" or too_long(array, dtype):
            return self.variable(array, dtype, name, is_constant=True)
        values = [number(each, dtype) for each in (array.ravel()[:1] if uniform else array.ravel())]
        type_ = "" if dtype == "float32" else f", {cpp_dtype(dtype)}"
        if array.ndim == 0:
            return self.let(f"ir().constant({values[0]}{type_})", name)
        return self.let(f"ir().constant({{{', '.join(values)}}}, {listed(array.shape)}{type_})", name)

    def let(self, expression, hint="part"):
        return self.let_auto(expression, hint, "tw::Tensor")

    def let_auto(self, expression, hint, type_="auto", comment=""):
        name = self.names.new(identifier(hint))
        self.lines += laid_out(f"    const {type_} {name} = {expression};", comment)
        return name

    def write_nodes(self):
        """The lines of all nodes. `problems`: what is not supported, with its place; not what only reads the results of such nodes."""
        unknown = set()
        for node in self.graph.nodes:
            try:
                if unknown & set(node.inputs) and node.op in TABLE:
                    unknown.update(node.outputs)
                    continue
                self.write_node(node)
            except Unsupported as problem:
                self.problems.append((node, str(problem)))
                unknown.update(node.outputs)

    def write_node(self, node):
        names = [name for name in (*node.inputs, *node.outputs) if name and name in self.read and name not in self.graph.constants]
        for name in names:
            if name in self.graph.types:
                check_type(name, self.graph.types[name])
        expressions = expressions_of(Place(node, self.graph, self))
        for name in names:
            check_type(name, self.graph.types.get(name))
        if "member" in node.attributes:
            self.add_member(node)
        for i, name in enumerate(node.outputs):
            if name not in self.read:
                continue
            if i >= len(expressions):
                raise Unsupported(f"its result '{name}': its first {len(expressions)} alone expected")
            self.values[name] = self.result(name, expressions[i], name if not name.isdigit() else node.op.rpartition(".")[2])

    def result(self, name, expression, hint):
        if expression.isidentifier() and expression in self.names.given:
            return expression
        return self.let_auto(expression, hint, "tw::Tensor", str(self.graph.types[name]))

    def add_member(self, node):
        member, type_ = node.attributes["member"], node.attributes["type"]
        self.members.append((type_, member))
        for name, weight in node.attributes["weights"].items():
            self.variables[f"{member}.{name}"] = weight.array, weight.dtype
            self.elements[f"{member}.{name}"] = weight.elements

    def header(self, source, kept):
        """The text of net.hpp."""
        outputs = [self.value(name) for name in self.graph.outputs]
        count = len(outputs)
        self.lines += laid_out(f"    return {outputs[0]};" if count == 1 else f"    return {{{', '.join(outputs)}}};")
        kind = "tw::Tensor" if count == 1 else f"std::array<tw::Tensor, {count}>"
        types = [f"  /// {given}: {self.graph.types[name]}" for name, given in zip(self.graph.inputs, self.inputs)]
        results = [f"  /// Result: {self.graph.types[name]}" for name in self.graph.outputs]
        arguments = [f"tw::Tensor {each}" for each in self.inputs]
        signature = filled(f"  constexpr {kind} build(", arguments, ")", len(" {"))
        members, bases, macro = self.member_texts()
        return HEADER.format(name=self.name, source=source, includes=self.include_lines(count), members=members, bases=bases,
                             macro=macro, shapes="\n".join(types + results), signature=signature, body=self.body(signature),
                             program=program_name(self.name), run="\n".join(self.run_lines(count)), begin=BEGIN, end=END, kept=kept)

    def body(self, signature):
        """The lines between the braces of build, which are one line if there is one and it is short."""
        if len(self.lines) == 1 and len(signature.split("\n")[-1]) + len(self.lines[0]) <= COLUMNS:
            return f" {self.lines[0].strip()} "
        return "\n" + "\n".join(self.lines) + "\n  "

    def member_texts(self):
        """Types with options get names, so that the macro's lines are short."""
        if not self.members:
            return "", "", ""
        usings, entries = [], []
        for type_, member in self.members:
            if "{" in type_ or len(type_) > 40:
                alias = self.names.new("".join(word.capitalize() for word in member.split("_")))
                usings.append((alias, type_))
                type_ = alias
            entries.append(f"({type_}, {member})")
        if len(entries) <= MOST_MEMBERS:
            lines = [line for alias, type_ in usings for line in laid_out(f"  using {alias} = {type_};")]
            lines.append(macro_of(self.name, entries))
            return "", "", "\n".join(lines) + "\n\n"
        parts, texts = [], []
        for first in range(0, len(entries), MOST_MEMBERS):
            part = f"{self.name}Part{len(parts) + 1}"
            own = entries[first:first + MOST_MEMBERS]
            lines = [line for alias, type_ in usings if any(entry.startswith(f"({alias},") for entry in own)
                     for line in laid_out(f"  using {alias} = {type_};")]
            macro = macro_of(part, own)
            texts.append("\n".join([f"struct {part} {{", *lines, macro, "};\n"]))
            parts.append(part)
        return "\n".join(texts) + "\n", f", tw::MembersOf<{', '.join(parts)}>", ""

    def include_lines(self, outputs):
        text = "\n".join(self.lines)
        system = [name for name, used in (("array", outputs > 1), ("cstdint", "std::int64_t" in text),
                                          ("limits", "std::numeric_limits" in text), ("tuple", "std::get<" in text)) if used]
        kinds = {type_.removeprefix(layers.LAYERS).partition("<")[0] for type_, _ in self.members}
        own = {f"tilewright/layers/{file}.hpp" for start, file in HEADERS.items() if any(kind.startswith(start) for kind in kinds)}
        own |= {"tilewright/model.hpp"} | ({"tilewright/module/members_of.hpp"} if len(self.members) > MOST_MEMBERS else set())
        return "\n".join(f"#include <{each}>" for each in sorted([*system, *own]))

    def run_lines(self, count):
        lines, names = [], Names()
        names.given |= {"ir", "factories", "graph", "mode", "outputs"}
        streams = stream_names(self.graph)
        lines.append("  const auto mode = tw::evaluation(ir);")
        loads = []
        for name, own in zip(self.graph.inputs, self.inputs):
            type_, local = self.graph.types[name], names.new(own)
            shape = listed(type_.shape)
            lines += laid_out(f'  const tw::Tensor {local} = tw::ops::host_load('
                              f'ir.h2d_stream("{streams[name]}", {shape}, {cpp_dtype(type_.dtype)}));')
            loads.append(local)
        given = "".join(f", {each}" for each in loads)
        lines += laid_out(f"  const auto [factories, graph] = tw::create_graph(ir, {self.name}{{}}{given});")
        if loads:
            lines += laid_out(f"  const auto outputs = graph.bind(factories.init()).call({', '.join(loads)});")
        else:
            lines += ["  const auto outputs = graph.bind(factories.init()).call();"]
        for i, name in enumerate(self.graph.outputs):
            at = f"outputs[{i}]"
            lines += laid_out(f'  tw::ops::host_store(ir.d2h_stream("{streams[f"-> {name}"]}", {at}.spec()), {at});')
        return lines


def stream_names(graph):
    """The names of the streams, by those of the inputs, and by `-> NAME` of the outputs."""
    names = Names()
    result = {name: names.new(identifier(name)) for name in graph.inputs}
    return result | {f"-> {name}": names.new(identifier(name)) for name in graph.outputs}


def program_name(name):
    return "infer_" + "".join(f"_{c.lower()}" if c.isupper() and i else c.lower() for i, c in enumerate(name))


def too_long(array, dtype):
    return array.size > 16 and dtype in FLOATING and not (array == array.ravel()[0]).all()


def macro_of(name, entries):
    """The macro of members, one a line if they are more than a line."""
    line = f"  BOOST_HANA_DEFINE_STRUCT({', '.join([name, *entries])});"
    if len(line) <= COLUMNS:
        return line
    members = ",\n".join(f"      {entry}" for entry in entries)
    return f"  // clang-format off\n  BOOST_HANA_DEFINE_STRUCT({name},\n{members});\n  // clang-format on"


def laid_out(line, comment=""):
    """A statement as clang-format leaves it: what it would break stands between lines that switch it off."""
    indent = line[:len(line) - len(line.lstrip())]
    if len(line) > COLUMNS:
        return [f"{indent}// clang-format off", line, f"{indent}// clang-format on"]
    if comment and len(line) + len(comment) + 5 <= COLUMNS:
        return [f"{line}  // {comment}"]
    return [line]


def filled(start, parts, end, after=0):
    """Arguments in lines that are filled, below the first one."""
    lines, line = [], start
    for i, part in enumerate(parts):
        last = i == len(parts) - 1
        text = part + (end if last else ",")
        space = "" if line == start or line.endswith("(") or not line.strip() else " "
        if len(line) + len(space) + len(text) + (after if last else 0) > COLUMNS and line.strip():
            lines.append(line)
            line, space = " " * len(start), ""
        line += space + text
    return "\n".join([*lines, line if parts else line + end])


def kept_lines(text):
    """What stands between the marked lines of an earlier net.hpp."""
    if BEGIN not in text:
        return ""
    after = text.split(BEGIN + "\n", 1)
    if len(after) != 2 or END not in after[1]:
        raise Fault(f"net.hpp has the line '{BEGIN}' without '{END}' after it")
    return after[1].split(END, 1)[0]
