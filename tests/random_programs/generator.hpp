#pragma once
// Random programs: a seed gives a program, which is traced like any other, by the compiler and again when the test runs.
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "tilewright/tilewright.hpp"

namespace random_programs {

namespace tw = tilewright;
namespace ops = tw::ops;
using tw::DType, tw::Ir, tw::Shape, tw::Tensor, tw::TensorSpec;

/// The generator SplitMix64, in constant expressions (G. Steele and others, "Fast splittable pseudorandom number generators",
/// 2014).
class Random {
 public:
  constexpr explicit Random(std::uint64_t seed) : state_(seed) {}
  constexpr std::uint64_t next() {
    std::uint64_t z = state_ += 0x9e3779b97f4a7c15u;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return z ^ z >> 31;
  }
  constexpr int below(int end) { return static_cast<int>(next() % static_cast<std::uint64_t>(end)); }
  constexpr bool one_in(int count) { return below(count) == 0; }

 private:
  std::uint64_t state_;
};

/// A tensor of a program, and what the generator knows about its elements.
struct Known {
  Tensor tensor{};
  double bound = 2;       ///< no element's magnitude is larger
  bool positive = false;  ///< all elements are at least 1/16
  bool owned = false;     ///< no variable, input or constant: an op may change it in place
};

/// What a program may have.
struct Features {
  bool gradients = false;  ///< only what has a derivative everywhere, as finite differences need it
  int steps = 4;           ///< number of ops, or of calls
  bool only_loss = false;  ///< the program with gradients, without the gradients
};

/// Appends random ops to the graph that is being built.
class Generator {
 public:
  constexpr Generator(Ir& ir, Random& random, const Features& features) : ir_(ir), random_(random), features_(features) {}

  constexpr void add(Tensor tensor, bool positive = false) { known_.push_back({tensor, 2, positive, false}); }

  /// So many random ops; calls of graphs, which have random ops themselves, up to the depth.
  constexpr void run(int steps, int depth) {
    for (int i = 0; i < steps; ++i) {
      switch (random_.below(depth > 0 ? 14 : 11)) {
        case 0:
        case 1: unary(); break;
        case 2:
        case 3: binary(); break;
        case 4: view(); break;
        case 5: reduction(); break;
        case 6: product(); break;
        case 7: cast(); break;
        case 8: scaled_add(); break;
        case 9: in_place(); break;
        case 10: normalise(); break;
        case 11: call(depth); break;
        case 12: loop(depth); break;
        default: branch(depth); break;
      }
    }
  }
  /// The tensors that nothing has used yet, at least one.
  constexpr std::vector<Tensor> results() const {
    std::vector<Tensor> result;
    for (std::size_t i = known_.size(); i-- > 0 && result.size() < 3;)
      if (known_[i].owned) result.push_back(known_[i].tensor);
    if (result.empty()) result.push_back(ops::tanh(known_.back().tensor));
    return result;
  }

 private:
  static constexpr double largest = 256;  ///< bound of elements; larger ones are brought down by tanh

  constexpr const Known& any() { return known_[static_cast<std::size_t>(random_.below(static_cast<int>(known_.size())))]; }
  /// Any tensor, later ones more often.
  constexpr Known recent() {
    const int count = static_cast<int>(known_.size()), window = count < 4 ? count : 4;
    return random_.one_in(3) ? any() : known_[static_cast<std::size_t>(count - 1 - random_.below(window))];
  }
  constexpr Known recent_float32() {
    for (int tries = 0; tries < 4; ++tries)
      if (const Known x = recent(); x.tensor.dtype() == tw::float32) return x;
    return known_[0];
  }
  constexpr void push(Tensor tensor, double bound, bool positive = false) {
    if (bound > largest) {
      tensor = ops::tanh(tensor);
      bound = 1;
      positive = false;
    }
    known_.push_back({tensor, bound, positive, true});
  }
  /// A number that float16 holds.
  constexpr double number() { return static_cast<double>(random_.below(31) - 15) / 8; }

  constexpr void unary() {
    const Known x = recent();
    switch (random_.below(features_.gradients ? 5 : 6)) {
      case 0: return push(ops::tanh(x.tensor), 1);
      case 1: return push(ops::gelu(x.tensor), x.bound);
      case 2: return x.bound <= 4 ? push(ops::exp(x.tensor), 55, x.bound <= 2) : push(-x.tensor, x.bound);
      case 3: return x.positive ? push(ops::sqrt(x.tensor), x.bound + 1, true) : push(-x.tensor, x.bound);
      case 4: return x.positive ? push(ops::log(x.tensor), 6) : push(x.tensor * number(), 2 * x.bound);
      default: return push(ops::relu(x.tensor), x.bound);
    }
  }
  /// A tensor that broadcasts with x: one of the same dtype that is there, if any, else x itself.
  constexpr Known partner(const Known& x) {
    for (int tries = 0; tries < 6; ++tries) {
      const Known y = recent();
      if (y.tensor.dtype() != x.tensor.dtype()) continue;
      if (const auto common = tw::broadcast(x.tensor.shape(), y.tensor.shape()); common && common->nelms() <= 4096) return y;
    }
    return x;
  }
  constexpr void binary() {
    const Known x = recent(), y = partner(x);
    switch (random_.below(5)) {
      case 0: return push(x.tensor + y.tensor, x.bound + y.bound, x.positive && y.positive);
      case 1: return push(x.tensor - y.tensor, x.bound + y.bound);
      case 2: return push(x.tensor * y.tensor, x.bound * y.bound);
      case 3:
        if (y.positive) return push(x.tensor / y.tensor, 16 * x.bound);
        return push(x.tensor * y.tensor, x.bound * y.bound);
      default: return push(number() + x.tensor, 2 + x.bound);
    }
  }
  constexpr void view() {
    const Known x = recent();
    const Shape shape = x.tensor.shape();
    Tensor result;
    switch (random_.below(3)) {
      case 0: result = shape.rank == 2 ? x.tensor.reshape({shape[1], shape[0]}) : x.tensor.flatten(); break;
      case 1: result = x.tensor.T(); break;
      default:
        if (shape.rank >= 5 || x.tensor.nelms() > 1024) return push(x.tensor.T(), x.bound, x.positive);
        Shape wider{3};
        for (int axis = 0; axis < shape.rank; ++axis) wider.push_back(shape[axis]);
        result = ops::expand(x.tensor, wider);
    }
    known_.push_back({result, x.bound, x.positive, false});  // perhaps of a variable, and perhaps expanded
  }
  constexpr void reduction() {
    const Known x = recent();
    if (x.tensor.rank() == 0) return unary();
    const int axis = random_.below(x.tensor.rank());
    const auto extent = static_cast<double>(x.tensor.shape(axis));
    const bool keep = random_.one_in(2);
    switch (random_.below(3)) {
      case 0: return push(ops::sum(x.tensor, axis, keep), x.bound * extent);
      case 1: return push(ops::mean(x.tensor, axis, keep), x.bound, x.positive);
      default: return push(ops::softmax(x.tensor, axis), 1);
    }
  }
  /// A product of matrices with another tensor, or with its own transposed.
  constexpr void product() {
    const Known x = recent();
    if (x.tensor.rank() < 2 || x.tensor.rank() > 4) return binary();
    const auto inner = x.tensor.shape(-1);
    for (int tries = 0; tries < 6; ++tries) {
      const Known y = recent();
      if (y.tensor.dtype() != x.tensor.dtype() || y.tensor.rank() > 2 || y.tensor.rank() == 0) continue;
      if (y.tensor.shape(y.tensor.rank() == 1 ? 0 : -2) != inner) continue;
      return push(x.tensor.matmul(y.tensor), x.bound * y.bound * static_cast<double>(inner));
    }
    if (x.tensor.rank() != 2) return binary();
    push(x.tensor.matmul(x.tensor.T()), x.bound * x.bound * static_cast<double>(inner));
  }
  constexpr void cast() {
    if (features_.gradients) return unary();
    const Known x = recent();
    push(x.tensor.cast(x.tensor.dtype() == tw::float32 ? tw::float16 : tw::float32), x.bound, x.positive);
  }
  constexpr void scaled_add() {
    const Known x = recent(), y = recent();
    if (x.tensor.spec() != y.tensor.spec()) return binary();
    push(ops::scaled_add(x.tensor, y.tensor, {.a = number(), .b = number()}), 2 * (x.bound + y.bound));
  }
  /// Changes an owned tensor in place, perhaps through an alias of another shape; all that share it have other elements then.
  constexpr void in_place() {
    const Known x = recent_float32();
    if (features_.gradients || !x.owned || x.bound > 16) return binary();
    const bool through_alias = random_.one_in(2);
    const Tensor target = through_alias ? ops::flatten_(x.tensor) : x.tensor;
    const Tensor source = through_alias ? ops::flatten(any_like(x).tensor) : any_like(x).tensor;
    ops::scaled_add_(target, source, {.a = number(), .b = 1});
    for (Known& other : known_)
      if (other.tensor == x.tensor) {
        other.bound = 2 * x.bound + 16;
        other.positive = false;
      }
  }
  constexpr Known any_like(const Known& x) {
    for (int tries = 0; tries < 8; ++tries)
      if (const Known y = any(); y.tensor.spec() == x.tensor.spec() && y.bound <= 16) return y;
    return x;
  }
  constexpr void normalise() {
    const Known x = recent();
    if (x.tensor.rank() < 2 || x.tensor.shape(-1) < 3) return unary();
    const Known weight = partner_row(x), bias = partner_row(x);
    if (weight.tensor.rank() != 1) return push(ops::softmax(x.tensor, -1), 1);
    push(ops::layer_norm(x.tensor, weight.tensor, bias.tensor, 0.125), 8 * weight.bound + bias.bound);
  }
  /// A vector as long as x's rows, or x.
  constexpr Known partner_row(const Known& x) {
    for (const Known& y : known_)
      if (y.tensor.dtype() == x.tensor.dtype() && y.tensor.rank() == 1 && y.tensor.shape(0) == x.tensor.shape(-1)) return y;
    return x;
  }

  /// A graph of random ops on these inputs with one result, of `result` if given; else of any shape.
  constexpr tw::Graph graph(const std::vector<Known>& inputs, int depth, std::optional<TensorSpec> result) {
    return ir_.create_graph(
        [&](const std::vector<Tensor>& given) {
          Generator inner(ir_, random_, features_);
          for (std::size_t i = 0; i < given.size(); ++i) inner.add(given[i], inputs[i].positive);
          for (std::size_t i = 0; i < given.size(); ++i) inner.known_[i].bound = inputs[i].bound;
          inner.run(1 + random_.below(3), depth - 1);
          if (!result) return ops::tanh(inner.results()[0]);
          Tensor sum = given[0];
          for (const Tensor& each : inner.results())
            if (each.spec() == *result) sum = sum + each;
            else if (each.dtype() == result->dtype) sum = sum + ops::mean(each);
          return ops::tanh(sum);
        },
        tensors_of(inputs));
  }
  constexpr std::vector<Tensor> tensors_of(const std::vector<Known>& all) const {
    std::vector<Tensor> result;
    for (const Known& each : all) result.push_back(each.tensor);
    return result;
  }
  constexpr void call(int depth) {
    const std::vector<Known> inputs{recent(), recent()};
    const tw::Graph called = graph(inputs, depth, {});
    push(tw::call_with_info(called, tensors_of(inputs)).output(0), 1);
    if (random_.one_in(2)) return;
    std::vector<Known> others = inputs;  // the same code again, on another tensor
    for (Known& other : others)
      if (const Known like = any_like(other); like.positive == other.positive && like.bound <= other.bound) other = like;
    push(tw::call_with_info(called, tensors_of(others)).output(0), 1);
  }
  constexpr void loop(int depth) {
    const Known x = recent(), y = recent();
    const std::vector<Known> inputs{{x.tensor, x.bound + 1, false, false}, y};
    const tw::Graph body = graph(inputs, depth, x.tensor.spec());
    push(tw::repeat_with_info(body, random_.below(4), tensors_of(inputs)).output(0), x.bound + 1);
  }
  constexpr void branch(int depth) {
    const Known x = recent(), y = recent();
    const tw::Graph first = graph({x, y}, depth, x.tensor.spec()), second = graph({x}, depth, x.tensor.spec());
    const Tensor condition = ir_.constant(random_.below(2), tw::boolean);
    push(tw::conditional(condition, {first, {x.tensor, y.tensor}}, {second, {x.tensor}})[0], 1);
  }

  Ir& ir_;
  Random& random_;
  Features features_;
  std::vector<Known> known_;
};

/// The extents that a program's variables have.
constexpr std::int64_t extent(Random& random) {
  constexpr std::int64_t all[] = {1, 2, 3, 5, 8, 16, 17, 33};
  return all[random.below(8)];
}

/// Adds a random program to the main graph. Its variables are v<i> or, if their elements are positive, p<i>; its results go to
/// streams y<i>; with gradients, the loss goes to the stream `loss` and the gradients of the variables to dv<i>. All names begin
/// with the prefix.
constexpr void add_program(Ir& ir, std::uint64_t seed, std::string_view prefix, Features features = {}) {
  Random random(seed);
  const std::int64_t a = extent(random), b = extent(random), c = extent(random);
  const Shape shapes[] = {{a, b}, {b}, {b, c}, {2, a, b}, {}, {a, b}, {c}};
  std::vector<Tensor> variables;
  for (int i = 0; i < 7; ++i)
    variables.push_back(ir.variable(tw::zeros(), shapes[i], tw::float32, tw::text(prefix, i % 3 == 1 ? "p" : "v", i).view()));
  const auto store = [&](const tw::Text& name, Tensor tensor) {
    ops::host_store(ir.d2h_stream(tw::text(prefix, name).view(), tensor.spec()), tensor);
  };
  const auto fill = [&](Generator& generator, const std::vector<Tensor>& tensors) {
    for (std::size_t i = 0; i < tensors.size(); ++i) generator.add(tensors[i], i % 3 == 1);
    generator.run(features.steps, 1);
  };
  if (!features.gradients) {
    Generator generator(ir, random, features);
    fill(generator, variables);
    int i = 0;
    for (const Tensor& result : generator.results()) store(tw::text("y", i++), result);
    return;
  }
  const tw::Graph graph = ir.create_graph(
      [&](const std::vector<Tensor>& inputs) {
        Generator generator(ir, random, features);
        fill(generator, inputs);
        Tensor loss = ops::mean(inputs[0]);
        for (const Tensor& result : generator.results()) loss = loss + ops::mean(result * result);
        return loss;
      },
      variables);
  const auto call = tw::call_with_info(graph, variables);
  store("loss", call.output(0));
  if (features.only_loss) return;
  const tw::GradGraphInfo gradient = tw::autodiff(graph);
  const auto gradient_call = tw::call_with_info(gradient.graph(), ir.constant(1), gradient.inputs_dict(call));
  const auto gradients = gradient.fwd_graph_ins_to_grad_parent_outs(gradient_call);
  for (std::size_t i = 0; i < variables.size(); ++i)
    if (const Tensor* dv = gradients.find(graph.inputs()[i])) store(tw::text("dv", i), *dv);
}

}  // namespace random_programs
