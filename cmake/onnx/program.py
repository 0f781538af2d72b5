"""Writes the program that tests an import."""

from writer import filled, laid_out, program_name, stream_names

ELEMENTS = {"float32": "float", "float64": "double", "float16": "tw::float16_t", "bfloat16": "tw::bfloat16_t", "bool": "bool"}

TEXT = """// Runs a {name}{what}. Written by tilewright-import.
// Its argument is the folder of the files of tensors, by default the current one. It needs tilewright::checkpoint of CMake.
#include "{stem}.hpp"

{system}#include <string>
#include <tilewright/checkpoint/checkpoint.hpp>
#include <tilewright/tilewright.hpp>{traits}

using namespace tw::literals;

{arrays}

{functions}int main(int argc, char** argv) {{
  const std::string folder = argc > 1 ? argv[1] : ".";
  static tw::Session<{program}> session;
  session.load_tensors(tw::load_safetensors(folder + "/{stem}.safetensors"));
{body}
}}
"""

FUNCTIONS = """template <class Array>
void read(const tw::TensorFile& file, const char* name, Array& array) {
  const tw::HostTensor* const tensor = file.find(name);
  if (tensor == nullptr || tensor->bytes.size() != sizeof array) throw std::runtime_error(std::string(name) + " expected");
  std::memcpy(&array, tensor->bytes.data(), sizeof array);
}

/// Returns the number of elements that differ by more than 1e-3 of what is expected, and 1e-6.
template <class Array>
int differences(const tw::TensorFile& file, const char* name, const Array& found) {
  using Element = std::remove_all_extents_t<Array>;
  static Array expected;
  read(file, name, expected);
  const auto* const results = reinterpret_cast<const Element*>(&found);
  const auto* const right = reinterpret_cast<const Element*>(&expected);
  int count = 0;
  for (std::size_t i = 0; i < sizeof(Array) / sizeof(Element); ++i) {
    const auto number = static_cast<double>(right[i]), difference = std::abs(static_cast<double>(results[i]) - number);
    if (!(difference <= 1e-6 + 1e-3 * std::abs(number)) && std::memcmp(&results[i], &right[i], sizeof(Element)) != 0) ++count;
  }
  std::printf("%s: %d of %zu elements differ\\n", name, count, sizeof(Array) / sizeof(Element));
  return count;
}

"""


def element(dtype):
    return ELEMENTS.get(dtype, f"std::{dtype}_t")


def test_program(name, graph, has_data):
    streams = stream_names(graph)
    inputs = [(each, streams[each]) for each in graph.inputs]
    outputs = [(each, streams[f"-> {each}"]) for each in graph.outputs]
    arrays = [f"static {element(graph.types[value].dtype)} array_{stream}{''.join(f'[{each}]' for each in graph.types[value].shape)};"
              for value, stream in inputs + outputs]
    arguments = [f'"{stream}"_s = array_{stream}' for _, stream in inputs + outputs]
    body = [filled("  session.run_with_outputs(", arguments, ");")]
    if has_data:
        reads = [line for value, stream in inputs for line in laid_out(f'  read(data, "input.{value}", array_{stream});')]
        body = [f'  const tw::TensorFile data = tw::load_safetensors(folder + "/{name.lower()}_test.safetensors");', *reads, *body]
        calls = [f'differences(data, "output.{value}", array_{stream})' for value, stream in outputs]
        count = "int count =" if len(outputs) > 1 else "const int count ="
        body += [line for i, call in enumerate(calls) for line in laid_out(f"  {'count +=' if i else count} {call};")]
        body.append("  return count == 0 ? 0 : 1;")
    system = "#include <cmath>\n#include <cstdint>\n#include <cstdio>\n#include <cstring>\n#include <stdexcept>\n" if has_data else \
        "#include <cstdint>\n"
    return TEXT.format(name=name, stem=name.lower(), program=program_name(name), arrays="\n".join(arrays), body="\n".join(body),
                       what=" on the model's test data, and compares its outputs" if has_data else " on zeros",
                       functions=FUNCTIONS if has_data else "", system=system, traits="\n#include <type_traits>" if has_data else "")
