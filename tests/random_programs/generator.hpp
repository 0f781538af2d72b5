#pragma once
// What random programs are made of: ops on the tensors that are there.
#include <optional>
#include <string_view>
#include <vector>

#include "../ops/ops.hpp"
#include "known.hpp"

namespace random_programs {

/// Appends random ops to the graph that is being built. Each area's steps are in generator_<area>.hpp.
///
/// Results that jump (comparisons, roundings, places of the largest element, ...) are computed of exact elements only: there, an
/// element that float32 rounds and float64 does not would decide differently. In programs with gradients, such elements, and
/// those of formulas with a kink, are moved away from where the result jumps or bends.
class Generator {
 public:
  constexpr Generator(Ir& ir, Random& random, const Features& features) : ir_(ir), random_(random), features_(features) {}

  constexpr void add(Tensor tensor, const Elements& elements, bool changeable = false) {
    known_.push_back({tensor, elements, ++memories_, changeable});
  }
  /// So many random ops; calls of graphs, which have random ops themselves, up to the depth.
  constexpr void run(int steps, int depth);
  /// The newest tensors that ops gave, at least one.
  constexpr std::vector<Known> results(std::size_t most) const {
    std::vector<Known> result;
    for (std::size_t i = known_.size(); i-- > given_ && result.size() < most;) result.push_back(known_[i]);
    if (result.empty()) {
      const Known& x = known_.back();
      result.push_back(x);
      result[0].tensor = ops::identity(x.tensor);
    }
    return result;
  }
  /// What is there now is given, not a result.
  constexpr void begin() { given_ = known_.size(); }

 private:
  static constexpr double largest = 256;  ///< bound of elements; larger ones are brought down by tanh
  static constexpr double most_whole = 0x1p52;  ///< of integers, before they wrap around

  // ---- what is there ----

  constexpr const Known& any() { return known_[static_cast<std::size_t>(random_.below(static_cast<int>(known_.size())))]; }
  /// Any tensor, later ones more often.
  constexpr Known recent() {
    const int count = static_cast<int>(known_.size()), window = count < 4 ? count : 4;
    return random_.one_in(3) ? any() : known_[static_cast<std::size_t>(count - 1 - random_.below(window))];
  }
  /// One for which the predicate is true; nothing if there is none.
  template <class Predicate>
  constexpr std::optional<Known> find(const Predicate& predicate) {
    for (int tries = 0; tries < 4; ++tries)
      if (const Known x = recent(); predicate(x)) return x;
    const auto count = static_cast<int>(known_.size()), first = random_.below(count);
    for (int i = 0; i < count; ++i)
      if (const Known& x = known_[static_cast<std::size_t>((first + i) % count)]; predicate(x)) return x;
    return std::nullopt;
  }
  constexpr Known real() {
    if (const auto x = find([](const Known& k) { return k.is_real(); })) return *x;
    return constant({3}, tw::float32);
  }
  constexpr Known real_up_to(double bound) {
    if (const auto x = find([&](const Known& k) { return k.is_real() && k.bound() <= bound; })) return *x;
    return constant({3}, tw::float32);
  }
  constexpr Known positive_real() {
    if (const auto x = find([](const Known& k) { return k.is_real() && k.elements.positive(); })) return *x;
    Known x = real();
    x.tensor = ops::exp(ops::tanh(x.tensor));
    x.elements = {0.36, 2.72};
    return x;
  }
  /// Numbers of integers or floating point, for ops that take both.
  constexpr Known numbers() {
    if (features_.gradients || !random_.one_in(3)) return real();
    return integers();
  }
  constexpr Known integers();   // generator_types.hpp
  constexpr Known condition();  // generator_elementwise.hpp
  /// Exact numbers of floating point, in programs with gradients such that small changes of variables are small here.
  constexpr Known exact_real() {
    const auto x = find([&](const Known& k) {
      return k.is_real() && k.exact() && (!features_.gradients || (k.elements.slope <= 8 && k.elements.grain <= 6));
    });
    return x ? *x : constant({2, 3}, tw::float32);
  }
  constexpr Known exact_numbers() { return features_.gradients || random_.one_in(2) ? exact_real() : integers(); }
  /// A constant of random multiples of 1/8 up to 15/8, or of integers up to 4, or of bools.
  constexpr Known constant(const Shape& shape, DType dtype) {
    tw::List<double> values;
    const bool is_real = tw::is_floating_point(dtype);
    for (std::int64_t i = 0; i < shape.nelms(); ++i)
      values.push_back(is_real ? number() : random_.below(dtype == tw::boolean ? 2 : 5));
    return {ir_.constant(values, shape, dtype), is_real ? Elements{-1.875, 1.875, 3, 0} : Elements{0, 4, 0, 0}, ++memories_,
            false};
  }
  /// A tensor of the shape: all or a part of the elements of one that is there, or a constant.
  constexpr Known tensor_of(const Shape& shape, DType dtype, double bound = 4) {
    const std::int64_t count = shape.nelms();
    for (int tries = 0; tries < 4; ++tries) {
      Known y = recent();
      if (y.tensor.dtype() != dtype || y.tensor.nelms() < count || y.bound() > bound) continue;
      if (y.tensor.shape() == shape) return y;
      Tensor part = y.tensor.flatten();
      if (y.tensor.nelms() > count) {
        const int start = random_.below(y.tensor.nelms() - count + 1);
        part = ops::slice(part, start, start + count);
      }
      y.tensor = part.reshape(shape);
      y.changeable = false;
      return y;
    }
    if (count <= 64) return constant(shape, dtype);
    Known few = constant({shape[-1]}, dtype);
    few.tensor = ops::expand(few.tensor, shape);
    return few;
  }
  /// Whole numbers from 0 to below `end`, as indices.
  constexpr Tensor indices(const Shape& shape, std::int64_t end, bool any_dtype = true) {
    if (any_dtype && random_.one_in(2)) {
      const auto x = find([&](const Known& k) {
        return k.is_int() && k.elements.low >= 0 && k.tensor.nelms() == shape.nelms() && static_cast<double>(end) <= 100;
      });
      if (x) {
        const Tensor limited = x->elements.high < static_cast<double>(end) ? x->tensor : x->tensor % end;
        return limited.shape() == shape ? limited : limited.reshape(shape);
      }
    }
    tw::List<double> values;
    for (std::int64_t i = 0; i < shape.nelms(); ++i) values.push_back(random_.below(end));
    const DType dtypes[] = {tw::int32, tw::uint32, tw::int32, tw::int64, tw::uint8};
    return ir_.constant(values, shape, dtypes[random_.below(any_dtype ? 5 : 2)]);
  }
  /// A tensor that broadcasts with x: one of the same dtype that is there, if any, else x itself.
  template <class Predicate>
  constexpr Known partner(const Known& x, const Predicate& predicate) {
    for (int tries = 0; tries < 6; ++tries) {
      const Known y = recent();
      if (y.tensor.dtype() != x.tensor.dtype() || !predicate(y)) continue;
      if (const auto common = tw::broadcast(x.tensor.shape(), y.tensor.shape()); common && common->nelms() <= 2048) return y;
    }
    if (predicate(x)) return x;
    return constant({x.rank() == 0 ? 1 : x.tensor.shape(-1)}, x.tensor.dtype());
  }
  constexpr Known partner(const Known& x) {
    return partner(x, [](const Known&) { return true; });
  }
  /// A tensor like x.
  constexpr Known like(const Known& x, double bound = 16) {
    for (int tries = 0; tries < 8; ++tries)
      if (const Known y = any(); y.tensor.spec() == x.tensor.spec() && y.bound() <= bound) return y;
    return x;
  }
  /// A multiple of 1/8 up to 15/8, which float16 holds.
  constexpr double number() { return static_cast<double>(random_.below(31) - 15) / 8; }
  constexpr double whole_number() { return random_.below(5) - 2; }
  constexpr int axis_of(const Known& x) { return random_.below(x.rank()); }
  /// Counted from the first axis or from the last.
  constexpr int signed_axis(int axis, int rank) { return random_.one_in(3) ? axis - rank : axis; }
  static constexpr Elements number_or_whole(const Elements& of, double number) {
    return number_elements(of.grain >= 3 ? number : static_cast<double>(static_cast<int>(number)));
  }

  // ---- away from jumps ----

  /// x, or in programs with gradients x and half of the distance of exact elements, so that no element is a multiple of 2^-grain
  /// of both. Nothing, if the finite differences could bring one there.
  constexpr std::optional<Known> apart(Known x, const Elements& other) {
    if (!features_.gradients) return x;
    const int grain = Elements::common(x.elements.grain, other.grain);
    if (grain < 0 || (x.elements.slope + other.slope) * most_moved > power_of_two(-grain - 2)) return std::nullopt;
    const double shift = power_of_two(-grain - 1);
    x.tensor = x.tensor + shift;
    x.elements = x.elements + Elements{shift, shift, grain + 1, 0};
    return x;
  }
  constexpr std::optional<Known> apart(const Known& x) {
    return apart(x, x.elements.exact() ? Elements{0, 0, 0, 0} : x.elements);
  }
  /// In programs with gradients, x with an amount added along an axis, or to all elements, so that no two of a line are equal.
  constexpr std::optional<Known> distinct(Known x, int axis = -1) {
    if (!features_.gradients) return x;
    const std::int64_t count = axis < 0 ? x.tensor.nelms() : x.tensor.shape(axis);
    int bits = 0;
    while ((std::int64_t{1} << bits) < count) ++bits;
    const int grain = x.elements.grain;
    if (grain < 0 || 2 * x.elements.slope * most_moved > power_of_two(-grain - 2 - bits)) return std::nullopt;
    Shape shape = x.tensor.shape();
    for (int other = 0; axis >= 0 && other < shape.rank; ++other)
      if (other != axis) shape[other] = 1;
    tw::List<double> values;
    for (std::int64_t i = 0; i < count; ++i)
      values.push_back(static_cast<double>(5 * i % count) * power_of_two(-grain - 1 - bits));
    if (count % 5 == 0)
      for (std::int64_t i = 0; i < count; ++i)
        values[static_cast<std::size_t>(i)] = static_cast<double>(i) * power_of_two(-grain - 1 - bits);
    x.tensor = x.tensor + ir_.constant(values, shape, x.tensor.dtype());
    x.elements = x.elements + Elements{0, power_of_two(-grain - 1), grain + 1 + bits, 0};
    return x;
  }

  // ---- what ops give ----

  /// Adds the result of an op, computed without rounding if its elements are exact. Larger results are brought down.
  constexpr void push(Tensor tensor, Elements elements, bool changeable = true) {
    const DType dtype = tensor.dtype();
    if (tw::is_int(dtype)) {
      const tw::NumberRange range = tw::number_range(dtype);
      if (elements.bound() > most_whole) return;
      if (elements.low < range.lowest || elements.high > range.highest) {
        if (tw::size_of(dtype) == 8) return;
        elements = {range.lowest, range.highest};
      }
      return known_.push_back({tensor, stored(elements, dtype), ++memories_, changeable && !features_.gradients});
    }
    known_.push_back(limited(tensor, elements, changeable));
  }
  /// The result of an op on floating point or bool; tanh of it if it is too large.
  constexpr Known limited(Tensor tensor, Elements elements, bool changeable = true) {
    if (elements.bound() > largest) {
      tensor = ops::tanh(tensor);
      elements = {-1, 1};
    }
    return {tensor, stored(elements, tensor.dtype()), ++memories_, changeable && !features_.gradients};
  }
  /// The elements in memory: exact ones may have no more digits than the dtype.
  static constexpr Elements stored(const Elements& elements, DType dtype) {
    if (dtype == tw::boolean) return {0, 1, 0, 0};
    if (tw::is_int(dtype)) return {elements.low, elements.high, 0, elements.slope};
    const int digits = dtype == tw::bfloat16 ? 8 : dtype == tw::float16 ? 11 : dtype == tw::float32 ? 24 : 40;
    const bool fits = elements.grain <= 20 && elements.bound() * power_of_two(elements.grain) <= power_of_two(digits);
    return elements.exact() && !fits ? elements.rounded() : elements;
  }
  /// Adds a view of x, which is a value of its own.
  constexpr void push_view(Tensor tensor, const Known& x, bool changeable = true) {
    push(tensor, x.elements, changeable && x.changeable);
  }
  /// Records that an op changed x in place, a part of it if it is `partial`; so did all of its aliases.
  constexpr void change(const Known& x, const Elements& elements, bool partial) {
    for (Known& other : known_)
      if (other.memory == x.memory) {
        const bool whole = !partial && other.tensor.nelms() == x.tensor.nelms();
        other.elements = stored(whole ? elements : hull(other.elements, elements), other.tensor.dtype());
      }
  }

  // ---- steps ----

  // generator_elementwise.hpp
  constexpr std::optional<op_tests::Step> step_of_op(auto is_meant, auto step_of);
  constexpr bool op_in_file(Input input);
  constexpr void unary();
  constexpr void kinked();
  constexpr void binary();
  constexpr void scaled_add();
  constexpr void compare();
  constexpr void choose();
  constexpr void classify();
  // generator_in_place.hpp
  constexpr void in_place();
  constexpr void fresh_in_place();
  constexpr void unary_in_place(const Known& target, bool partial);
  constexpr void update_in_place(const Known& target, bool partial);
  constexpr void step_of_adam();
  // generator_reductions.hpp
  constexpr void reduction();
  constexpr void selection();
  constexpr void line();
  // generator_slices.hpp
  constexpr void view();
  constexpr void slice();
  constexpr void join();
  constexpr void assemble();
  // generator_indexing.hpp
  constexpr void gather();
  constexpr Tensor distinct_indices(const Shape& shape, int axis, std::int64_t end);
  constexpr void scatter();
  constexpr void dynamic_slice();
  constexpr void onehot();
  // generator_networks.hpp
  constexpr Known image();
  constexpr void product();
  constexpr void convolution();
  constexpr void pool();
  constexpr void normalise();
  constexpr void resize();
  constexpr void loss();
  constexpr void loss_of_options();
  // generator_random.hpp
  constexpr Tensor seed();
  constexpr void random();
  // generator_types.hpp
  constexpr void cast();
  constexpr void integer_arithmetic();
  constexpr void float8();
  // generator_memory.hpp
  constexpr Known mixed(const Known& x);
  constexpr Known combined(const Known& x, const Known& y);
  constexpr void skip();
  // generator_calls.hpp
  struct Called {
    tw::Graph graph;
    std::vector<Elements> results;
  };
  constexpr Called graph(const std::vector<Known>& inputs, int depth, std::optional<TensorSpec> result, bool counts,
                         bool is_branch = false);
  constexpr void call(int depth);
  constexpr void call_by_reference(int depth);
  constexpr void loop(int depth);
  constexpr void branch(int depth);

  Ir& ir_;
  Random& random_;
  Features features_;
  std::vector<Known> known_{};
  std::size_t given_ = 0;
  int memories_ = 0;
};

constexpr void Generator::run(int steps, int depth) {
  for (int i = 0; i < steps; ++i) {
    switch (random_.below(depth > 0 ? 46 : 40)) {
      case 0:
      case 1:
      case 2: unary(); break;
      case 3:
      case 4:
      case 5:
      case 6: binary(); break;
      case 7: kinked(); break;
      case 8: scaled_add(); break;
      case 9: compare(); break;
      case 10:
      case 11: choose(); break;
      case 12: classify(); break;
      case 13:
      case 14:
      case 15: in_place(); break;
      case 16: step_of_adam(); break;
      case 17: reduction(); break;
      case 18: selection(); break;
      case 19:
      case 20: line(); break;
      case 21: view(); break;
      case 22:
      case 23: slice(); break;
      case 24: join(); break;
      case 25: assemble(); break;
      case 26: gather(); break;
      case 27: scatter(); break;
      case 28: random_.one_in(3) ? onehot() : dynamic_slice(); break;
      case 29: product(); break;
      case 30: convolution(); break;
      case 31: pool(); break;
      case 32: normalise(); break;
      case 33: random_.one_in(2) ? resize() : random_.one_in(2) ? loss() : loss_of_options(); break;
      case 34: random(); break;
      case 35: cast(); break;
      case 36: integer_arithmetic(); break;
      case 37: random_.one_in(2) ? float8() : cast(); break;
      case 38:
      case 39: skip(); break;
      case 40:
      case 41: call(depth); break;
      case 42: call_by_reference(depth); break;
      case 43:
      case 44: loop(depth); break;
      default: branch(depth); break;
    }
  }
}

}  // namespace random_programs
