#!/usr/bin/env python3
"""Each public number, a parameter or a member that a program gives, is in a list of tests/run/wrong_numbers/*.cpp, which give it
wrong values. The numbers are those of the pages of ops and of reference."""

import re
import sys
from pathlib import Path

TESTS = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(TESTS / "docs"))
import ops_page  # noqa: E402
import reference_pages  # noqa: E402
from declarations import arguments, closing, declarations, masked, outside_of_namespaces, without_templates  # noqa: E402

INCLUDE = ops_page.INCLUDE
NUMBER = re.compile(r"\b(?:double|float|int|u?int\d+_t|size_t|NumberOrTensor|CallInput|OptionalNumber|Number auto|Operand auto|Numbers|"
                    r"Shape|Axes|Splits|Positions?|PerAxis)\b")

# Numbers that are in no list, by a pattern of their names, and why.
EXCEPTIONS = {
    r"(call|call_with_info|jvp|hvp|vmap|grad|value_and_grad|Pullback|Pushforward)\.count|repeat(_with_info)?\.count_of_inputs|((Outputs|Results)::as|split|random_split)\.(count|parts)|"
    r"(LabelledImages|read_idx)\.rank|(Arrays|Sample)::\w+\.position|ModuleListOf::get\.i|(minimise|gradients)\.n|"
    r"(Conv|ConvTranspose|MaxPool|AvgPool|AdaptiveMaxPool|AdaptiveAvgPool|ConvLayerOptions|PoolLayerOptions|AvgPoolLayerOptions)\.axes|PerAxis.*": "sizes of arrays, which the compiler knows and checks",
    r"(Cifar10|Classes|StepTime|HostBalance|TensorLocationInfo|CollectiveTime|Trained|CheckedElement|RunStatus|StaticBytes|Knob|Limit|TimeRange|RangeOfKind|TextCorpus|Checkpoint|(Profile|Recording)(::\w+)?)\.\w+": "members of results",
    r"(Generator|Initialiser)\.\w+": "given by normal, uniform, range, eye and the like, which are in lists",
    r"LoopAttributes\.\w+|Stream\.id|RemoteBuffer::RemoteBuffer\.index|OpCreatedHook::OpCreatedHook\.handle":
        "written by the library when it makes the handle or the op",
    r"(MessageTime|Link|Link::\w+)\.\w+": "measurements of a cluster, which is checked where it is used",
    r"normalised\.grey|TextBatches::TextBatches\.text|generated_(digits|text)\.seed": "each value of the type is right",
    r"StaticSession::init\.seed": "each value of the type is right",
    r"Sample::Sample\.index": "given by the loader",
    r"StreamSpec::StreamSpec\.shape": "given to Ir::h2d_stream and Ir::d2h_stream as it is, whose shapes are in lists",
    r"HostTensor\.log2_scale": "is kept as it is, and checked where it is loaded",
    r"MemoryError::MemoryError\.bytes": "what an error tells",
    r"MachineSettings\.numbers": "tested by tests/run/lab/machines.cpp",
    r"run\.argc": "given by the system",
    r"two_uint32_to_uint64\.\w+": "tested by tests/run/kernels/random_numbers.cpp",
    r"(RootOptions|FixedPointOptions|root|fixed_point|odeint)\.\w+": "tested by tests/run/derivatives/solvers.cpp",
    r"(JacobianOptions|(value_and_)?grad)\.argnums?|vmap\.in_axes|Results::operator\[\]\.i": "tested by tests/fail/derivatives.cpp",
    r"GradientCheckOptions\.\w+": "tested by tests/run/training/check_gradients.cpp",
    r"TensorFormat\.\w+|format_tensor\.shape": "tested by tests/run/sessions/format_tensor.cpp",
    r"(NumberOrTensor\.|OptionalNumber\.|OptionalNumber::OptionalNumber\.)\w+": "what options hold, which are in lists",
    r"(TensorRule|part_of)\.(part|part_count)": "tested by tests/run/files/tensor_rules.cpp",
    r"(shard|unshard)\.(rank|count|axis)|repeat\.(rank|axis)": "tested by tests/run/sessions/array_munging.cpp",
    r"ModuleBase::\w+\.(shape|index)|ShardedVariableInputOptions\.shard_over":
        "given to Ir::variable and Ir::replica_sharded_variable as they are, whose numbers are in lists",
    r"LlamaConfig\.(?!num_hidden_layers)\w+": "given to the layers of Llama as they are, whose numbers are in lists",
    r"Sampler::\w+(\(\))?\.logits|new_tokens\.prompt|GenerateOptions\.stop_tokens": "tested by tests/run/generate/sampler.cpp",
    r"LinearOptionsOf(\.number|::.*)|Linear\.in_features": "a number where options are expected, which is an error itself",
    r"EpochLoopOptions\.\w+": "counts of a loop, which tests/run/training/loop.cpp tests",
    r"StepLoopOptions\.\w+|Progress\.step|(BestCheckpoint|TaskSession)\w*(::\w+)?\.\w+": "tested by tests/run/training/resume.cpp",
    r"(Mean|Accuracy|ConfusionMatrix|Perplexity|EarlyStopping|Log)\w*(::\w+)*\.\w+|LogFile(::\w+)?\.\w+":
        "tested by tests/run/training/metrics_and_logs.cpp",
}
# Numbers in lists that belong to types or operators which the pages do not show.
ALSO = re.compile(r"random_split\.sizes|operator\W\.|Range\.|TensorIndex\.")


def template_parameters(head):
    if match := re.match(r"template\s*<", head.strip()):
        head = head.strip()
        depth = 1
        for i in range(match.end(), len(head)):
            depth += (head[i] in "<{(") - ((head[i] == ">" and head[i - 1] != "-") or head[i] in "})")
            if depth == 0:
                return arguments(head[match.end():i])
    return []


def function_parameters(head):
    plain = re.sub(r"\boperator\s*\(\)", "operator_call", without_templates(head))
    at = masked(plain).find("(")
    return arguments(plain[at + 1:closing(masked(plain), at)]) if at >= 0 else []


def names_in(declaration):
    """The names that `double min = 0, max = 0` or a parameter declares; [""] for one without a name."""
    declaration = re.sub(r"/\*\s*(\w+)\s*\*/", r"\1", declaration)
    first, *others = arguments(re.sub(r"<[^<>]*>", "", declaration))
    names = []
    for text in [first, *others]:
        text = re.sub(r"\(&(\w+)\)\[\w+\]", r"\1", text)
        match = re.search(r"(\w+)\s*(?:\[\w*\])?$", re.sub(r"\s*(?:=|\{).*", "", text, flags=re.DOTALL).strip())
        names.append(match[1] if match else "")
    return names


def is_number(declaration):
    kind = re.sub(r"\s*(?:=|\{).*", "", declaration, flags=re.DOTALL)
    return NUMBER.search(kind) and len(kind.split()) > 1


def of_function(owner, function):
    name = owner + ("operator()" if re.search(r"\boperator\s*\(\)", function.head) else function.name)
    for parameter in [*template_parameters(function.head), *function_parameters(function.head)]:
        if is_number(parameter) and not parameter.startswith("class "):
            yield f"{name}.{names_in(parameter)[0]}"


def of_struct(owner, struct):
    for parameter in template_parameters(struct.head):
        if is_number(parameter):
            yield f"{owner}{struct.name}.{names_in(parameter)[0]}"
    if struct.head.startswith("enum") or "concept " in struct.head or not struct.body:
        return
    for each in declarations(reference_pages.public_part(struct)):
        head = without_templates(each.head)
        if not reference_pages.is_shown(each):
            continue
        if each.type:
            yield from of_struct(f"{owner}{struct.name}::", each)
        elif each.is_function:
            yield from of_function(f"{owner}{struct.name}::", each)
        elif not re.match(r"(?:inline |static )*constexpr|static", head) and is_number(head):
            yield from (f"{owner}{struct.name}.{name}" for name in names_in(head))


def of_header(header):
    text = outside_of_namespaces((INCLUDE / header).read_text())
    for each in declarations(text):
        head = without_templates(each.head)
        if re.match(r"using |friend |static_assert|BOOST_HANA|namespace|inline constexpr", head) or re.search(r"\w::~?\w+\(", head):
            continue
        if each.type:
            yield from of_struct("", each)
        elif each.is_function:
            yield from of_function("", each)


def of_ops(library):
    described = set()
    for header in ops_page.op_headers():
        for overloads in ops_page.op_functions((INCLUDE / header).read_text()).values():
            for each in overloads:
                yield from of_function("", each)
                for options in options_of(library, each.head, described):
                    yield from of_struct("", options)


def options_of(library, text, described):
    for name in re.findall(r"\b[A-Z]\w+\b", text):
        struct = library.structs.get(name)
        if name not in described and struct and struct.body and ops_page.OPTIONS.search(name):
            described.add(name)
            yield struct
            yield from options_of(library, re.sub(r"//[^\n]*", "", struct.body), described)


def public_numbers():
    shown = [header for parts in reference_pages.REFERENCE.values() for part in parts.values()
             for header in reference_pages.headers_of(part)]
    found = [*of_ops(ops_page.library_of_headers())]
    for header in shown:
        only = reference_pages.ONLY.get(header)
        found += [name for name in of_header(header) if not only or re.split(r"[.:]", name)[0] in only]
    return list(dict.fromkeys(found))


def ends_of(path):
    """What an op's file, or one that it includes, puts behind the member `function` or `symbol`."""
    text = path.read_text()
    own = set(re.findall(r'list\.\w+\((function|symbol) \+ "(\.\w+)"', text))
    return own or set().union(*(ends_of(path.with_name(name)) for name in re.findall(r'#include "(\w+\.hpp)"', text)))


def main():
    programs = [path for folder in ("run/wrong_numbers", "ops") for path in sorted((TESTS / folder).rglob("*.?pp"))]
    tested = {name for program in programs for name in re.findall(r'\(\s*"([A-Za-z][^\s".]*\.\w+)"', program.read_text())}
    for path in sorted((TESTS / "ops").rglob("*.hpp")):
        tested |= {name + end for member, end in ends_of(path) for name in re.findall(rf' {member} = "(\S+)"', path.read_text())}
    public = public_numbers()
    excepted = {name for pattern in EXCEPTIONS for name in public if re.fullmatch(pattern, name)}
    missing = [name for name in public if name not in tested | excepted]
    unknown = sorted(name for name in tested if name not in public and not ALSO.match(name))
    unknown += [pattern for pattern in EXCEPTIONS if not any(re.fullmatch(pattern, name) for name in public)]
    for name in missing:
        print(f"{name}: a public number in no list of tests/run/wrong_numbers/*.cpp: a case expected")
    for name in unknown:
        print(f"{name}: no public number has this name")
    if not missing and not unknown:
        print(f"{len(public)} public numbers: {len(tested)} are in lists of wrong numbers, {len(excepted)} are excepted")
    sys.exit(bool(missing or unknown))


if __name__ == "__main__":
    main()
