#pragma once
// What a graph means, op by op, in float64: the reference for random programs. It knows nothing of plans and kernels, but for
// the enumerations in attributes.
#include <cmath>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <numeric>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

#include "tilewright/tilewright.hpp"

namespace random_programs {

namespace tw = tilewright;
using tw::DType;

/// Elements of a tensor in row-major order, each at its place in memory that aliases share.
struct Array {
  tw::TensorSpec spec{};
  std::shared_ptr<std::vector<double>> memory{};
  std::vector<std::size_t> places{};

  Array() = default;
  explicit Array(const tw::TensorSpec& of, std::vector<double> elements = {})
      : spec(of),
        memory(std::make_shared<std::vector<double>>(std::move(elements))),
        places(static_cast<std::size_t>(of.nelms())) {
    memory->resize(places.size());
    std::iota(places.begin(), places.end(), std::size_t{0});
  }
  double operator[](std::size_t i) const { return (*memory)[places[i]]; }
  double& operator[](std::size_t i) { return (*memory)[places[i]]; }
  std::size_t size() const { return places.size(); }
  std::int64_t extent(int axis) const { return spec.shape[axis]; }
  int rank() const { return spec.shape.rank; }
  std::vector<double> elements() const {
    std::vector<double> result(size());
    for (std::size_t i = 0; i < size(); ++i) result[i] = (*this)[i];
    return result;
  }
  Array copy() const { return Array(spec, elements()); }
};

/// An index of a tensor's element, by axis.
using Index = std::vector<std::int64_t>;

inline Index index_of(std::size_t number, const tw::Shape& shape) {
  Index result(static_cast<std::size_t>(shape.rank));
  for (int axis = shape.rank; axis-- > 0;) {
    result[static_cast<std::size_t>(axis)] = static_cast<std::int64_t>(number) % shape[axis];
    number /= static_cast<std::size_t>(shape[axis]);
  }
  return result;
}
inline std::size_t number_of(const Index& index, const tw::Shape& shape) {
  std::size_t result = 0;
  for (int axis = 0; axis < shape.rank; ++axis)
    result = result * static_cast<std::size_t>(shape[axis]) + static_cast<std::size_t>(index[static_cast<std::size_t>(axis)]);
  return result;
}
/// The element of x that broadcasting brings to an index of a larger shape.
inline double broadcast_at(const Array& x, const Index& index) {
  Index own(static_cast<std::size_t>(x.rank()));
  for (int axis = 1; axis <= x.rank(); ++axis)
    own[own.size() - static_cast<std::size_t>(axis)] = x.extent(-axis) == 1
                                                           ? 0
                                                           : index[index.size() - static_cast<std::size_t>(axis)];
  return x[number_of(own, x.spec.shape)];
}

/// Results of a run by the names of their streams, and variables after it by their own names.
using Results = std::map<std::string, std::vector<double>>;

/// Interprets one Ir.
class Interpreter {
 public:
  /// `rounds`: results are rounded to the tensors' dtypes, as memory rounds them.
  Interpreter(const tw::Ir& ir, bool rounds) : ir_(ir), rounds_(rounds) {}

  /// Runs the main graph with the variables' elements by name.
  Results run(const Results& variables) {
    results_.clear();
    variables_ = &variables;
    Values values(ir_.tables.record(tw::GraphId::main).tensors.size());
    run_graph(tw::GraphId::main, values);
    const tw::GraphRecord& main = ir_.tables.record(tw::GraphId::main);
    for (const auto& variable : ir_.tables.variables)
      results_[std::string(main.tensors[variable.tensor].name.view())] = value(main, variable.tensor, values).elements();
    return std::move(results_);
  }

  /// What an op computes: its outputs, given its inputs.
  using Meaning =
      std::function<std::vector<Array>(const tw::Node&, std::span<const Array> inputs, std::span<const tw::TensorSpec> outputs)>;
  /// By op name; without `Inplace` if they are those of the op without it. In semantics.hpp.
  static const std::map<std::string_view, Meaning>& meanings();
  /// By name of a view: for each element of the result the number of the input's element.
  using ViewMeaning = std::function<std::size_t(const tw::Node&, const Index&, const tw::Shape& input, const tw::Shape& output)>;
  static const std::map<std::string_view, ViewMeaning>& views();

 private:
  using Values = tw::List<Array, tw::TensorId>;

  void run_graph(tw::GraphId id, Values& values) {
    const tw::GraphRecord& graph = ir_.tables.record(id);
    for (const tw::Node& node : graph.nodes) run_node(graph, node, values);
  }
  const Array& value(const tw::GraphRecord& graph, tw::TensorId id, Values& values) {
    Array& known = values[id];
    if (known.memory) return known;
    const tw::TensorRecord& record = graph.tensors[id];
    known = Array(record.spec);
    if (record.kind == tw::TensorKind::variable) {
      *known.memory = variables_->at(std::string(record.name.view()));
    } else {
      const auto& [numbers, generator] = ir_.tables.constants[static_cast<std::size_t>(record.payload)];
      if (generator.write) {
        generator.write(*known.memory, 0, record.spec.shape, generator.a, generator.b);
        for (double& x : *known.memory) x = rounded(x * generator.scale, record.spec.dtype);
        return known;
      }
      for (std::size_t i = 0; i < known.size(); ++i) known[i] = rounded(numbers[numbers.size() == 1 ? 0 : i], record.spec.dtype);
    }
    return known;
  }
  void run_node(const tw::GraphRecord& graph, const tw::Node& node, Values& values) {
    std::vector<Array> inputs;
    for (const tw::TensorId input : node.inputs) inputs.push_back(value(graph, input, values));
    std::vector<tw::TensorSpec> specs;
    for (const tw::TensorId output : node.outputs) specs.push_back(graph.tensors[output].spec);
    if (node.op->transfer) return store_result(node, inputs);
    std::vector<Array> outputs;
    if (node.else_graph != tw::GraphId::none) outputs = branch(node, inputs);
    else if (tw::detail::is_loop(node)) outputs = loop(node, inputs, specs);
    else if (node.called_graph != tw::GraphId::none) outputs = call(node.called_graph, inputs);
    else if (node.op->view) outputs = {view(node, inputs[0], specs[0])};
    else outputs = compute(node, inputs, specs);
    for (std::size_t i = 0; i < node.outputs.size(); ++i) values[node.outputs[i]] = outputs[i];
  }
  void store_result(const tw::Node& node, const std::vector<Array>& inputs) {
    const auto& stream = ir_.tables.streams[static_cast<std::size_t>(node.op->transfer(node.attributes).number)];
    results_[std::string(stream.name.view())] = inputs.at(0).elements();
  }
  Array view(const tw::Node& node, const Array& input, const tw::TensorSpec& spec) {
    const ViewMeaning& from = views().at(node.op->name);
    Array result = input;
    result.spec = spec;
    result.places.resize(static_cast<std::size_t>(spec.nelms()));
    for (std::size_t i = 0; i < result.size(); ++i)
      result.places[i] = input.places[from(node, index_of(i, spec.shape), input.spec.shape, spec.shape)];
    return node.op->is_alias ? result : result.copy();
  }
  std::vector<Array> compute(const tw::Node& node, const std::vector<Array>& inputs, const std::vector<tw::TensorSpec>& specs) {
    auto meaning = meanings().find(node.op->name);
    if (meaning == meanings().end() && node.op->name.ends_with("Inplace"))
      meaning = meanings().find(node.op->name.substr(0, node.op->name.size() - std::string_view("Inplace").size()));
    if (meaning == meanings().end()) throw std::invalid_argument("no meaning of op " + std::string(node.op->name));
    std::vector<Array> copies;
    for (const Array& input : inputs) copies.push_back(input.copy());
    std::vector<Array> outputs = meaning->second(node, copies, specs);
    for (Array& output : outputs) store(output);
    for (std::size_t i = 0; i < node.modified.size(); ++i) {  // inputs that change without being an output
      Array changed = inputs[static_cast<std::size_t>(node.modified[i])];
      for (std::size_t k = 0; k < changed.size(); ++k) changed[k] = outputs.at(node.outputs.size() + i)[k];
    }
    if (node.op->modifies < 0) return outputs;
    Array changed = inputs[static_cast<std::size_t>(node.op->modifies)];
    for (std::size_t i = 0; i < changed.size(); ++i) changed[i] = outputs[0][i];
    outputs[0] = changed;
    return outputs;
  }
  /// What memory makes of elements: integers wrap around.
  void store(Array& array) const {
    const DType dtype = array.spec.dtype;
    for (double& x : *array.memory) {
      if (dtype == tw::boolean) x = x != 0;
      else if (rounds_) x = rounded(x, dtype);
      if (!tw::is_int(dtype) || tw::size_of(dtype) == 8) continue;
      const double count = std::exp2(8 * tw::size_of(dtype)), least = tw::is_signed(dtype) ? -count / 2 : 0;
      x -= count * std::floor((x - least) / count);
    }
  }
  static double rounded(double x, DType dtype) {
    if (dtype == tw::float32) return static_cast<float>(x);
    if (dtype == tw::float16) return static_cast<float>(static_cast<tw::float16_t>(static_cast<float>(x)));
    if (dtype == tw::bfloat16) return static_cast<float>(static_cast<tw::bfloat16_t>(static_cast<float>(x)));
    return x;
  }
  std::vector<Array> call(tw::GraphId id, std::span<const Array> inputs) {
    const tw::GraphRecord& graph = ir_.tables.record(id);
    Values values(graph.tensors.size());
    for (std::size_t i = 0; i < graph.inputs.size(); ++i) values[graph.inputs[i]] = inputs[i].copy();
    for (const int i : graph.by_reference)
      values[graph.inputs[static_cast<std::size_t>(i)]] = inputs[static_cast<std::size_t>(i)];
    run_graph(id, values);
    std::vector<Array> outputs;
    for (const tw::TensorId output : graph.outputs) outputs.push_back(value(graph, output, values).copy());
    return outputs;
  }
  std::vector<Array> branch(const tw::Node& node, const std::vector<Array>& inputs) {
    const auto then_inputs = static_cast<std::size_t>(tw::unpack<tw::ConditionalAttributes>(node.attributes).then_inputs);
    const std::span<const Array> all(inputs);
    if (inputs[0][0] != 0) return call(node.called_graph, all.subspan(1, then_inputs));
    return call(node.else_graph, all.subspan(1 + then_inputs));
  }
  std::vector<Array> loop(const tw::Node& node, const std::vector<Array>& given, const std::vector<tw::TensorSpec>& specs) {
    const auto attributes = tw::unpack<tw::LoopAttributes>(node.attributes);
    const auto carried = static_cast<std::size_t>(attributes.carried), sliced = static_cast<std::size_t>(attributes.sliced);
    std::vector<Array> inputs, outputs;
    for (std::size_t i = 0; i < carried; ++i) inputs.push_back(given[i].copy());
    for (std::size_t i = 0; i < specs.size(); ++i) outputs.push_back(i < carried ? inputs[i] : Array(specs[i]));
    for (std::int64_t n = 0; n < attributes.count; ++n) {
      const auto slice = static_cast<std::size_t>(attributes.reversed != 0 ? attributes.count - 1 - n : n);
      std::vector<Array> now = inputs;
      for (std::size_t i = carried; i < given.size(); ++i) now.push_back(i < carried + sliced ? row(given[i], slice) : given[i]);
      const std::vector<Array> results = call(node.called_graph, now);
      for (std::size_t i = 0; i < results.size(); ++i) {
        if (i < carried) {
          inputs[i] = outputs[i] = results[i];
        } else {
          Array part = row(outputs[i], slice);
          for (std::size_t k = 0; k < part.size(); ++k) part[k] = results[i][k];
        }
      }
    }
    return outputs;
  }
  /// The part of a tensor for one iteration, in the same memory.
  static Array row(const Array& whole, std::size_t number) {
    Array result = whole;
    result.spec.shape = {};
    for (int axis = 1; axis < whole.rank(); ++axis) result.spec.shape.push_back(whole.extent(axis));
    const auto count = static_cast<std::size_t>(result.spec.nelms());
    result.places.assign(whole.places.begin() + static_cast<std::ptrdiff_t>(number * count),
                         whole.places.begin() + static_cast<std::ptrdiff_t>((number + 1) * count));
    return result;
  }

  const tw::Ir& ir_;
  bool rounds_;
  const Results* variables_ = nullptr;
  Results results_;
};

}  // namespace random_programs
