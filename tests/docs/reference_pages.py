"""Makes the pages of reference but those of ops: sessions and handles, layers, training, data, from the declarations of headers and
the comments above them. ops_page.py writes and checks them.
"""

import re
import sys
import textwrap
from pathlib import Path

from declarations import declarations, masked, outside_of_namespaces, without_templates

PROJECT = Path(__file__).resolve().parents[2]
INCLUDE = PROJECT / "include/tilewright"

GENERATED = "`./dev docs` makes this page. Edit the headers, not the page.\n\n"
HEADS = {
    "reference.md": """# Sessions, programs and handles

This page lists the classes and functions that a program uses, with the comments of their declarations. Other pages list
[ops](ops.md), [layers](reference-layers.md), [training](reference-training.md), and [data, files and
profiles](reference-data.md).
""",
    "reference-layers.md": """# Layers: options, variables, initial values

This page lists each layer of `tilewright::layers` with its counterpart in PyTorch, its options and their defaults, its variables
and their initial values. [Layers](../how-to/layers.md) shows how to use them. A line such as `bool bias = true  // ...` is an
option. It shows the type, the name, the default and the meaning.
""",
    "reference-training.md": """# Training: steps, loops, optimisers, schedules

This page lists everything in `tilewright::train` and `tilewright::optim`, with its counterpart in PyTorch.
[Training](../how-to/training.md) shows programs. A line such as `NumberOrTensor lr = 0.001  // ...` is an option. It shows the
type, the name, the default and the meaning.
""",
    "reference-data.md": """# Data, files, profiles

This page lists four things: data sets and loaders of `tilewright::data`, files of tensors with the rules that fit them to a
program, samplers of tokens, and the profile of a simulated IPU. [Data](../how-to/data.md),
[checkpoints](../how-to/checkpoints.md) and [the simulated IPU](../how-it-works/simulated-ipu.md) show how to use them.
""",
}
# The pages: parts by title, with their headers, or all of a folder. All but namespaces `detail` and `internal` is shown.
REFERENCE = {
    "reference.md": {
        "Sessions": ["session/session_options.hpp", "session/given_array.hpp", "session/session.hpp", "session/context.hpp", "session/host_outputs.hpp",
                     "session/tensor_view.hpp", "session/host_tensor.hpp", "session/static_session.hpp", "session/one_object/static_program.hpp", "execute/run_status.hpp", "session/seeds.hpp", "execute/memory_error.hpp", "execute/recording.hpp",
                     "target/devices.hpp", "session/array_munging.hpp"],
        "Programs": ["graph/ir.hpp", "graph/initialiser.hpp", "program/replicated_variable.hpp", "program/replica_grouping.hpp",
                     "program/comm_group.hpp", "program/instance_grouping.hpp", "ops/collective/replica_sharding.hpp",
                     "ops/collective/differs_by_replica.hpp", "graph/stream.hpp", "program/named_streams.hpp",
                     "program/remote_buffer.hpp", "program/mapped_buffer.hpp", "ops/memory/seed_variable.hpp"],
        "Modules": ["module/module.hpp", "module/module_trace.hpp", "module/module_list.hpp", "module/variable_factory.hpp",
                    "ops/memory/named_remote_buffers.hpp", "module/members_of.hpp", "module/graph_cache.hpp"],
        "Graphs and tensors": ["core/dtype.hpp", "core/tensor_spec.hpp", "core/tensor_format.hpp", "core/format_tensor.hpp", "core/optional_number.hpp", "core/flag.hpp",
                               "program/number_or_tensor.hpp", "graph/tensor.hpp", "program/tensor_location.hpp", "graph/graph.hpp",
                               "graph/tensors_by_name.hpp", "module/named_tensors.hpp", "graph/op_created_hook.hpp",
                               "program/scopes.hpp", "program/only_if.hpp", "graph/execution_context.hpp",
                               "program/merge_exchange.hpp", "graph/call_site.hpp", "graph/print.hpp",
                               "transform/memory_proportions.hpp"],
        "Gradients": ["program/grad_graph_info.hpp", "graph/gradient_rule.hpp", "transform/autodiff_options.hpp",
                      "transform/autodiff.hpp", "transform/accumulation.hpp", "transform/recompute_graph.hpp",
                      "transform/composed_forms.hpp", "transform/convolution_forms.hpp", "transform/fuse_across_calls.hpp",
                      "transform/decompose_sum.hpp"],
        "Derivatives": ["derivatives/results.hpp", "derivatives/grad.hpp", "derivatives/vjp.hpp", "derivatives/jvp.hpp",
                        "derivatives/linearize.hpp", "derivatives/jacobian.hpp", "derivatives/vmap.hpp", "derivatives/custom_rules.hpp",
                        "derivatives/by_hand.hpp", "derivatives/root.hpp", "derivatives/fixed_point.hpp", "derivatives/odeint.hpp"],
        "Serialised graphs": ["transform/batch_serialise.hpp", "transform/batch_serialise_gradients.hpp",
                              "transform/batch_handles.hpp", "transform/repeat_graph.hpp", "transform/route_tensor.hpp"],
        "Balance": ["execute/host_balance.hpp", "lower/host/balance.hpp"],
        "Budgets": ["budget.hpp", "execute/budget_errors.hpp"],
        "Several processes": ["distributed/session_options.hpp"],
        "Scaling": ["scaling/planned.hpp", "scaling/step_time.hpp", "scaling/simulate.hpp", "scaling/algorithm.hpp",
                    "scaling/cluster.hpp", "scaling/clusters.hpp"],
    },
    "reference-layers.md": {"Layers": "layers"},
    "reference-training.md": {"Steps and loops": "train", "Optimisers and schedules": "optim"},
    "reference-data.md": {
        "Data": "data",
        "Images": ["images/png.hpp", "images/image_folder.hpp"],
        "Files": ["checkpoint/checkpoints.hpp", "checkpoint/metadata.hpp", "checkpoint/npz.hpp", "checkpoint/safetensors.hpp",
                  "core/map_mode.hpp", "session/mapped_array.hpp", "checkpoint/mapped_npy.hpp", "checkpoint/memmap_dir.hpp",
                  "session/tensor_rules.hpp", "checkpoint/tensor_rules.hpp", "checkpoint/task_session.hpp",
                  "checkpoint/best_checkpoint.hpp", "checkpoint/hugging_face.hpp"],
        "Texts": "generate",
        "Profiles": "profile",
        "Laboratories": ["lab/main.hpp", "lab/design.hpp", "lab/machine.hpp"],
    },
}
# Of these headers only what is named is shown.
ONLY = {"data/generated_digits.hpp": ["generated_digits"], "data/generated_text.hpp": ["generated_text"],
        "ops/collective/differs_by_replica.hpp": ["differs_by_replica"],
        "budget.hpp": ["require_budget"], "execute/budget_errors.hpp": ["Limits"]}


# Of these folders, what only the library uses.
NOT_SHOWN = {"data/canvas.hpp", "data/csv_rows.hpp", "data/digit_strokes.hpp", "data/draw_below.hpp", "data/grammar.hpp",
             "data/handwriting.hpp", "data/file_reader.hpp", "data/loading/loader_order.hpp", "data/loading/loader_order_code.hpp", "data/prefetch.hpp",
             "data/loading/prefetch_thread.hpp", "data/loading/prefetch_thread_code.hpp", "data/shuffle.hpp"}


def headers_of(part):
    """The headers of a part, by their paths within the library."""
    if isinstance(part, str):
        found = [str(path.relative_to(INCLUDE)) for path in sorted((INCLUDE / part).glob("*.hpp"))]
        return [header for header in found if header not in NOT_SHOWN]
    for header in part:
        if not (INCLUDE / header).exists():
            sys.exit(f"{Path(__file__).name}: there is no {header}: a header expected in REFERENCE")
    return part


def wrapped(plain):
    """A declaration on lines of at most 110 characters, which end with a comma."""
    lines = [""]
    for part in re.split(r"(?<=, )", plain):
        if lines[-1] and len(lines[-1] + part) > 110:
            lines.append("    ")
        lines[-1] += part
    return "\n".join(line.rstrip() for line in lines)


def signature(head):
    """The head of a function without what a caller does not read: constexpr, marks for warnings, and a constructor's list of members."""
    mask = masked(head)
    for match in re.finditer(r"\)", mask):
        if re.match(r"\)\s*(?:noexcept)?\s*:(?!:)", mask[match.start():]):
            head = head[:match.start() + 1]
            break
    head = head.replace("const detail::Operand auto&", "TensorOrNumber").replace("detail::Number auto", "Number")
    return wrapped(re.sub(r"\b(inline|constexpr|explicit|friend|static|TILEWRIGHT_KEPT) (?=\S)|\[\[\w+\]\] ", "", head).rstrip(" ;"))


def public_part(struct):
    """What a class shows: its body without private and protected sections, and to the comment that ends the users' part."""
    text = textwrap.dedent(struct.body.split("// ---- for ops and transforms ----")[0].strip("\n"))
    mask = masked(text)
    shown, position, visible = "", 0, struct.head.find("struct") >= 0
    depth_marks = [(m.start(), m[1]) for m in re.finditer(r"^ ?(public|private|protected):", mask, re.MULTILINE)]
    for start, access in [*depth_marks, (len(text), "public")]:
        if visible:
            shown += text[position:start]
        position, visible = start, access == "public"
    return re.sub(r"^ ?(public|private|protected):", "", shown, flags=re.MULTILINE)


def is_shown(member):
    head = without_templates(member.head)
    return not re.match(r"using |friend class|static_assert|friend \w+;|BOOST_HANA", head) and "= delete" not in head and \
        not re.search(r"&&\)|~\w+\(|operator=\(", head)


def member_lines(struct):
    """The members of a struct or class as code with comments."""
    lines = []
    members = list(declarations(public_part(struct)))
    of_modules = " ".join(each.head for each in members if each.head.startswith("BOOST_HANA_DEFINE_STRUCT"))
    for each in members:
        if match := re.match(r"BOOST_HANA_DEFINE_STRUCT\(\w+,(.*)\)$", each.head):
            each.head = " ".join(f"{type_name} {name};" for type_name, name in re.findall(r"\(([^()]+), (\w+)\)", match[1]))
            each.is_function = False
        elif (match := re.match(r"using (\w+) =", each.head)) and re.search(rf"\({match[1]}, ", of_modules):
            pass  # the type of a module within
        elif not is_shown(each):
            continue
        for line in each.comment.splitlines():
            lines.append(f"/// {line}".rstrip())
        if each.type and each.body and not each.head.startswith("enum"):  # a class within
            lines += [f"{each.head} {{", *("  " + line for line in member_lines(each).splitlines()), "}"]
        elif each.is_function or each.type:
            lines += signature(each.head).splitlines()
        else:
            lines.append(re.sub(r"\b(static )?constexpr ", "", each.head) + (f"  // {each.trailing}" if each.trailing else ""))
    return "\n".join(lines)


def code(text):
    return f"```cpp\n{text}\n```\n\n"


def shown_type(each):
    """A struct, class or enumeration as code: of a template with its parameters."""
    if each.head.startswith("enum"):
        return textwrap.dedent(each.body.strip("\n"))
    members = member_lines(each)
    if not each.head.startswith("template"):
        return members
    plain = without_templates(each.head)
    parameters, kind = each.head[:-len(plain)].strip(), re.sub(r"\s*(?<!:):(?!:).*", "", plain)
    return f"{signature(parameters)}\n{kind} {{\n{textwrap.indent(members, '  ')}\n}}"


def exported(text, name):
    """The functions of namespace internal that `using internal::NAME` gives to users."""
    return [each for each in declarations(outside_of_namespaces(text, left_out=("detail",))) if each.name == name and each.is_function]


class Entry:
    """What a page shows under one name: declarations as code, each with its comment below."""

    def __init__(self, name, kind, shown, comment, comes_first=""):
        """kind: type, function or other. comes_first: a comment above the code."""
        self.name, self.kind, self.comes_first = name, kind, comes_first
        self.blocks = [[shown, comment]]

    def add_code(self, shown):
        self.blocks[-1][0] += "\n" + shown

    def links(self, elsewhere, here):
        """Where the options are that this takes and a page of ops shows."""
        names = dict.fromkeys(name for shown, _ in self.blocks for name in re.findall(r"\b[A-Z]\w+", shown))
        found = [f"[{name}]({elsewhere[name]})" for name in names if name.endswith("Options") and name in elsewhere
                 and name not in here]
        return "Options of ops: " + ", ".join(found) + ".\n\n" if found else ""

    def markdown(self, header, with_heading):
        title = f"### {self.name}\n\n[{header}](../../include/tilewright/{header})\n\n" if with_heading or self.kind == "type" else ""
        above = self.comes_first + "\n\n" if self.comes_first else ""
        return title + above + "".join(code(shown) + (comment + "\n\n" if comment else "") for shown, comment in self.blocks)


def entries_of(text, only=()):
    """What a header of this text shows."""
    entries = []
    for each in declarations(outside_of_namespaces(text)):
        head = without_templates(each.head)
        if only and each.name not in only:
            continue
        alias = re.match(r"using (\w+) = (\w+)", head)
        if match := re.match(r"using internal::(\w+)", head):
            entries += [Entry(match[1], "function", signature(function.head), function.comment)
                        for function in exported(text, match[1]) if function.comment]
        elif each.comment and (alias or head.startswith("concept")):
            name = alias[1] if alias else head.split()[1]
            entries.append(Entry(name, "other", wrapped(head) if alias else signature(head), each.comment))
        elif alias and entries and entries[-1].name == alias[2]:  # Conv2d, of Conv
            entries[-1].add_code(signature(each.head))
        elif (constant := re.match(r"inline constexpr (?!auto\b)[^=]*?(\w+) =", head)) and each.comment:
            entries.append(Entry(constant[1], "other", signature(re.sub(r" = (?:\[.*|$)", "", each.head)), each.comment))
        elif re.match(r"(?:friend |inline constexpr|using |namespace)", head) or re.search(r"\w::~?\w+\(", head):
            continue
        elif re.match(r"(?:struct|class) \w+<", head):  # a specialisation, which users do not write
            continue
        elif each.type and each.body:
            entries.append(Entry(each.name, "type", shown_type(each), "", each.comment))
        elif each.is_function and entries and entries[-1].kind == "function" and (entries[-1].name == each.name or not each.comment):
            if each.comment:
                entries[-1].blocks.append([signature(each.head), each.comment])
            else:
                entries[-1].add_code(signature(each.head))
        elif each.is_function and each.comment:
            entries.append(Entry(each.name, "function", signature(each.head), each.comment))
    return entries


def anchor(name):
    return re.sub(r"[^\w -]", "", name.lower()).replace(" ", "-")


def options_of_ops(pages_of_ops):
    """Where the pages of ops show which structs of options: by name, page and anchor."""
    places = {}
    for page, text in pages_of_ops.items():
        last = ""
        for heading, options in re.findall(r"^### (\S+)$|^`(\w+)`", text, re.MULTILINE):
            last = heading or last
            if options:
                places.setdefault(options, f"{page}#{anchor(last)}")
    return places


def without_tags(page):
    """The page with a `<` of its texts as HTML has it, so that `Session<program>` is shown where a comment has no quotes around it."""
    parts = re.split(r"(^```.*?^```$|^    .*?$|`[^`]*`)", page, flags=re.MULTILINE | re.DOTALL)
    return "".join(part if number % 2 else re.sub(r"<(?=[\w/])", "&lt;", part) for number, part in enumerate(parts))


def page_of(page, options):
    """A page. Functions have headings but in reference.md, where they belong to the handle above them."""
    parts, functions, anchors = [HEADS[page] + GENERATED], page != "reference.md", {}
    for title, part in REFERENCE[page].items():
        headers = {header: entries_of((INCLUDE / header).read_text(), ONLY.get(header)) for header in headers_of(part)}
        names = [entry.name for entries in headers.values() for entry in entries if entry.kind == "type" or functions]
        places = []
        for name in names:  # a second heading of a name has an anchor with a number
            count = anchors[name] = anchors.get(name, -1) + 1
            places.append(f"[{name}](#{anchor(name)}" + (f"-{count})" if count else ")"))
        links = textwrap.fill(", ".join(places), 130, break_on_hyphens=False)
        parts.append(f"## {title}\n\n{links}\n\n")
        for header, entries in headers.items():
            for entry in entries:
                parts.append(entry.markdown(header, functions) + entry.links(options, names))
    return without_tags("".join(parts).rstrip() + "\n")


def pages(pages_of_ops):
    """The pages by name. They link to options that the pages of ops show, whose texts are given by their names."""
    options = options_of_ops(pages_of_ops)
    return {name: page_of(name, options) for name in REFERENCE}
