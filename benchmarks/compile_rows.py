"""What `./dev bench compiling` compiles, a row each: headers, programs, edits of them, and the same network with other libraries."""

import json
import os
import re
import shlex
import subprocess
import sys
from collections import namedtuple
from pathlib import Path

from build_costs import measure

COMPILERS = {"GCC": "g++", "Clang": "clang++-19"}
HEADERS = {"model": "model.hpp", "tilewright": "tilewright.hpp"}
PEERS = Path(__file__).resolve().parent / "peers"

# README's program by a single command, with a precompiled header, and also with what is compiled once; examples/gpt.cpp with both.
PROJECT = """\
cmake_minimum_required(VERSION 3.25)
project(app CXX)
add_subdirectory({checkout} tilewright)
add_executable(command app.cpp)
add_executable(header app.cpp)
add_executable(edited app.cpp)
add_library(gpt OBJECT gpt.cpp)
set(header_only tilewright::tilewright)  # of commits that have no other target
if(TARGET tilewright::header_only)
  set(header_only tilewright::header_only)
endif()
target_link_libraries(command PRIVATE ${{header_only}})
target_link_libraries(header PRIVATE ${{header_only}})
target_link_libraries(edited PRIVATE tilewright::tilewright)
target_link_libraries(gpt PRIVATE tilewright::tilewright)
foreach(target IN ITEMS command header edited gpt)
  target_compile_options(${{target}} PRIVATE -O3 -march=native)
endforeach()
tilewright_precompile(header)
set(TILEWRIGHT_COMPILED ON)  # which these commits have in place of it
tilewright_precompile(edited)
tilewright_precompile(gpt)
tilewright_check(check_net HEADER net.hpp PROGRAMS train_step)
"""
ONCE = r"^(CMakeFiles/edited\S*(?:cmake_pch\.hxx\.[gp]ch|compiled\.cpp\.o)): "  # what an edit of `edited` does not compile again
NET = "#pragma once\n#include <tilewright/layers/linear.hpp>\n#include <tilewright/model.hpp>\n#include <tilewright/train/step.hpp>\n\n"
PIXELS, ERROR = "28 * 28", "elements expected"


class Project:
    """Programs of one checkout, compiled by one compiler."""

    def __init__(self, checkout, compiler, folder):
        self.checkout, self.folder, self.edits, self.ready = checkout, folder, 0, set()
        text = (checkout / "README.md").read_text()
        self.program = next(block for block in re.findall(r"^```cpp\n(.*?)^```", text, re.MULTILINE | re.DOTALL) if "int main" in block)
        net = self.program[self.program.index("namespace tw"):self.program.index("int main")]
        if PIXELS not in net:
            sys.exit(f"README.md, the program: {PIXELS} expected in build()")
        folder.mkdir(parents=True, exist_ok=True)
        self.edit()
        (folder / "net.hpp").write_text(NET + net.replace(PIXELS, "27 * 28"))
        (folder / "CMakeLists.txt").write_text(PROJECT.format(checkout=checkout))
        configure = ["cmake", "-S", folder, "-B", folder / "build", "-G", "Ninja", f"-DCMAKE_CXX_COMPILER={COMPILERS[compiler]}",
                     "-DCMAKE_EXPORT_COMPILE_COMMANDS=ON"]
        subprocess.run(configure, stdout=subprocess.DEVNULL, check=True)

    def edit(self):
        """Writes the sources anew: build() has other text and the same meaning."""
        self.edits += 1
        (self.folder / "app.cpp").write_text(self.program.replace(PIXELS, f"{PIXELS} * {self.edits} / {self.edits}"))
        (self.folder / "gpt.cpp").write_text(f'#include "{self.checkout}/examples/gpt.cpp"\n')

    def options(self, target):
        """The command that compiles a source of a target, without source and object."""
        for entry in json.loads((self.folder / "build/compile_commands.json").read_text()):
            arguments = shlex.split(entry["command"])
            if f"CMakeFiles/{target}.dir" in entry["command"]:
                return arguments[:arguments.index("-o")]
        raise KeyError(target)

    def command(self, source, *more):
        includes = [f"-I{self.checkout / folder}" for folder in ("examples", "benchmarks")]
        return [*self.options("command"), *includes, *more, str(source)]

    def compiled(self, source, *more):
        return measure(self.command(source, *more, "-c", "-o", os.devnull))

    def readme(self, *more):
        return measure(self.command(self.folder / "app.cpp", *more, "-pthread", "-o", str(self.folder / "app")))

    def source(self, name, text):
        path = self.folder / f"{name}.cpp"
        path.write_text(text)
        return path

    def with_empty_main(self, name):
        return self.source(f"empty_{name}", f"#include <tilewright/{HEADERS[name]}>\nint main() {{}}\n")

    def built(self, target, error=""):
        return measure(["cmake", "--build", str(self.folder / "build"), "--target", target], error=error)

    def built_again(self, target):
        """An edited source alone: what it needs is built before."""
        if target not in self.ready:
            if not self.built(target):
                return None
            self.ready.add(target)
        self.edit()
        return self.built(target)

    def library(self):
        build = self.folder / "build"
        targets = subprocess.run(["ninja", "-C", build, "-t", "targets", "all"], stdout=subprocess.PIPE, text=True, check=True).stdout
        once = re.findall(ONCE, targets, re.MULTILINE)
        for output in once:
            (build / output).unlink(missing_ok=True)
        return measure(["ninja", "-C", str(build), *once])

    def single_header(self):
        path = self.folder / "single"
        path.mkdir(exist_ok=True)
        subprocess.run([sys.executable, self.checkout / "include/single_header.py", path / "tilewright.hpp"], check=True,
                       stdout=subprocess.DEVNULL)
        others = re.sub(r"#include <tilewright/.*\n", "", self.program)
        (path / "app.cpp").write_text(f'#include "tilewright.hpp"\n{others}')
        return measure(self.command(path / "app.cpp", "-pthread", "-o", str(path / "app")))


Row = namedtuple("Row", "what cost compilers needs", defaults=(tuple(COMPILERS), ""))  # needs: a header of another library
TORCH, EIGEN = "/usr/include/torch/csrc/api/include", "/usr/include/eigen3"


def peer(name, *options):
    def cost(project):
        compiler = project.options("command")[0]
        return measure([compiler, "-O3", "-march=native", str(PEERS / f"{name}.cpp"), "-o", str(project.folder / name), *options])
    return cost


def example(path):
    return lambda project: project.compiled(project.checkout / "examples" / path)


ROWS = {
    **{name: Row(f"`{header}` and an empty main", lambda project, name=name: project.compiled(project.with_empty_main(name)))
       for name, header in HEADERS.items()},
    "readme": Row("the README's program, `-O3`", Project.readme),
    "O1": Row("the README's program, `-O1`", lambda project: project.readme("-O1")),
    "syntax": Row("the README's program, `-fsyntax-only`", lambda project: project.compiled(project.folder / "app.cpp", "-fsyntax-only")),
    "single": Row("the README's program with one header, `-O3`", Project.single_header),
    "library": Row("a precompiled header and a library, once", Project.library),
    "header": Row("an edit of the README's program, by CMake with a precompiled header", lambda project: project.built_again("header")),
    "edit": Row("an edit of the README's program, by CMake with a precompiled header and a library",
                lambda project: project.built_again("edited")),
    "check": Row("`tilewright_check` of its training step with a wrong shape, up to the error; share of the whole program",
                 lambda project: project.built("check_net", ERROR)),
    "gpt": Row("`examples/gpt.cpp`, `-O3`", example("gpt.cpp")),
    "gpt_edit": Row("an edit of `examples/gpt.cpp`, by CMake with a precompiled header and a library",
                    lambda project: project.built_again("gpt")),
    "mnist": Row("`examples/mnist.cpp`, `-O3`", example("mnist.cpp"), ("GCC",)),
    "torch": Row("the network of the README's program with Debian's libtorch, `-O3`",
                 peer("readme_torch", "-std=c++17", "-isystem", TORCH, "-ltorch", "-ltorch_cpu", "-lc10"), needs=f"{TORCH}/torch/torch.h"),
    "eigen": Row("the network of the README's program with Eigen and loops, `-O3`",
                 peer("readme_eigen", "-std=c++20", "-isystem", EIGEN), needs=f"{EIGEN}/Eigen/Core"),
}

# Larger programs, which only --rows measures. The networks have linear and gelu layers: a time that grows faster than their number
# shows a pass that is not linear. An encoder's body is planned once, and called.
NETWORK = """
#include <tilewright/layers/linear.hpp>
#include <tilewright/tilewright.hpp>

namespace tw = tilewright;
using tw::layers::Linear;

struct Net : tw::Module<Net> {
  using Layers = std::array<Linear<512>, LAYERS>;
  BOOST_HANA_DEFINE_STRUCT(Net, (Layers, layers));
  constexpr tw::Tensor build(tw::Tensor x) {
    for (auto& layer : layers) x = tw::ops::gelu(layer(x));
    return x;
  }
};
constexpr void step(tw::Ir& ir) {
  const auto images = tw::ops::host_load(ir.h2d_stream("image", {8, 512}));
  const auto [factories, forward] = tw::create_graph(Net{}, images);
  const auto backward = tw::autodiff(forward);
  const auto variables = factories.init();
  const auto forward_call = forward.bind(variables).call_with_info(images);
  const auto info = backward.grad_graph_info();
  const auto backward_call = backward.call_with_info(forward_call.output(0), info.inputs_dict(forward_call));
  const auto gradients = info.fwd_parent_ins_to_grad_parent_outs(forward_call, backward_call);
  for (const auto& variable : variables.tensors()) tw::ops::scaled_add_(variable, gradients[variable], {.b = -0.05});
}
static_assert([] {
  tw::Ir ir;
  step(ir);
  return CHECK;
}());
"""
ENCODER = """
#include "workloads/encoder.hpp"

int main(int argc, char** argv) { return serve_encoder<EncoderOutlined<BLOCKS>>(argc, argv); }
"""
# Derivatives of the loss of README's network for its images and variables, all of the graph's inputs but the labels; and of 16 logits
# for an image. The commits that --beside names may have no derivatives.hpp: `autodiff` needs none.
DERIVED = """
#include <tilewright/layers/linear.hpp>
#include <tilewright/tilewright.hpp>
INCLUDED
using namespace tilewright::literals;

NETstruct Loss : tw::Module<Loss> {
  BOOST_HANA_DEFINE_STRUCT(Loss, (Net, net));
  constexpr tw::Tensor build(tw::Tensor images, tw::Tensor labels) { return LOSS; }
};
constexpr void derived(tw::Ir& ir) {
  const auto images = tw::ops::host_load(ir.h2d_stream("image", {ROWS * 28 * 28})).reshape({ROWS, 28, 28});
  const auto labels = tw::ops::host_load(ir.h2d_stream("label", {ROWS}, tw::int32));
  const auto [factories, graph] = tw::create_graph(Loss{}, images, labels);
  const auto bound = graph.bind(factories.init());
  tw::List<tw::Tensor> given{images, labels};
  for (const auto& input : graph.graph().inputs())
    if (const auto* const variable = bound.args().find(input)) given.push_back(*variable);
  auto put = [&ir, count = 0](tw::Tensor x) mutable {
    tw::ops::host_store(ir.d2h_stream(tw::text("result ", count++).view(), x.spec()), x);
  };
  STATEMENTS
}
int main() {
  tw::Session<derived> session({.threads = 1});
  session.run("image"_s = std::vector<float>(ROWS * 28 * 28), "label"_s = std::vector<std::int32_t>(ROWS));
}
"""
AUTODIFF = """const auto backward = tw::autodiff(graph);
  const auto call = bound.call_with_info(images, labels);
  const auto info = backward.grad_graph_info();
  const auto gradients = info.fwd_parent_ins_to_grad_parent_outs(
      call, backward.call_with_info(ir.constant(1.0), info.inputs_dict(call)));
  for (std::size_t i = 0; i < given.size(); ++i)
    if (i != 1) put(gradients[given[i]]);"""
GIVEN = ", ".join(f"given[{i}]" for i in range(8))
DERIVATIVES = {
    "autodiff": ("gradients of the loss of README's network by `autodiff`", AUTODIFF),
    "grad": ("the same by `grad`", f"for (const auto& x : tw::grad(graph, {{0, 2, 3, 4, 5, 6, 7}})({GIVEN})) put(x);"),
    "hvp": ("`hvp` of the same", f"for (const auto& x : tw::hvp(graph, {{{GIVEN}}}, {{{GIVEN}}})) put(x);"),
    "third": ("a third derivative of the same",
              "const auto second = [graph](auto... x) { return tw::hvp(graph, {x...}, {x...})[2]; };\n"
              f"  put(tw::jvp(second, {{{GIVEN}}}, {{{GIVEN}}}).second);"),
    "jacobian": ("the Jacobian of 16 logits of the same network for an image", f"put(tw::jacobian(graph)({GIVEN}));"),
}


def derived(name):
    def cost(project):
        program = project.program
        net = program[program.index("namespace tw"):program.index("constexpr void train_step")]
        rows, loss = "8", "tw::ops::cross_entropy(net(images), labels)"
        if name == "jacobian":
            net, rows, loss = net.replace("Linear<10>", "Linear<16>"), "1", "net(images) + labels.cast(tw::float32)"
        included = "" if name == "autodiff" else "#include <tilewright/derivatives.hpp>"
        text = DERIVED.replace("INCLUDED", included).replace("NET", net).replace("STATEMENTS", DERIVATIVES[name][1])
        return project.compiled(project.source(name, text.replace("LOSS", loss).replace("ROWS", rows)))
    return cost


CHECKS = {"traced": "ir.next_op_id > 100", "planned": "tw::lower(tw::prepare(ir, tw::cpu)).steps.size() > 0"}
EXAMPLES = {"nano_float16": "gpt/nano_float16.cpp", "gpt2": "gpt2.cpp", "trainer_124m": "gpt2/trainer_124m.cpp"}
# The steps that an example trains and tests with: rows with proofs of them differ from the example's by what the proofs cost.
PROVEN = {"mnist": ["train_step<Net, 8, 28, 28>", "test_step<Net, 80, 28, 28>"],
          "gpt": ["gpt::train_step<nano, nano_batch, nano.context, nano_micro_batches>"]}


def generated(text):
    return lambda project: project.compiled(project.source("generated", text))


def proven(example, steps):
    proofs = "".join(f"static_assert(tilewright::verified<{step}, tilewright::cpu>);\n" for step in steps)
    return generated(f'#include "{example}.cpp"\n#include <tilewright/verified/verified.hpp>\n{proofs}')


LARGER = {
    **{name: Row(f"`examples/{path}`, `-O3`", example(path)) for name, path in EXAMPLES.items()},
    **{f"{name}_proven": Row(f"`examples/{name}.cpp`, proven, `-O3`", proven(name, steps)) for name, steps in PROVEN.items()},
    **{f"encoder_{count}": Row(f"{count} encoder blocks, outlined", generated(ENCODER.replace("BLOCKS", str(count)))) for count in (12, 24)},
    **{name: Row(what, derived(name), ("GCC",)) for name, (what, _) in DERIVATIVES.items()},
    **{f"layers_{count}_{what}": Row(f"{count} layers, {what}", generated(NETWORK.replace("LAYERS", str(count)).replace("CHECK", check)))
       for what, check in CHECKS.items() for count in (10, 30, 100)},
}
