#pragma once
#include "../op_test.hpp"
#include "../reduce/sums.hpp"

namespace op_tests {

struct Adam : OpTest {
  static constexpr std::string_view op = "AdamUpdater";
  /// The step, and the time step if there is one.
  static std::vector<Array> value(const tw::Node& node, Inputs inputs, Specs outputs) {
    using Given = tw::AdamInputs;
    const auto attributes = tw::unpack<tw::AdamAttributes>(node.attributes);
    const auto has = [&](std::int64_t input) { return (attributes.inputs & input) != 0; };
    std::size_t next = has(Given::weight) ? 1 : 0;
    const Array &m = inputs[next], &v = inputs[next + 1];
    next += 2;
    std::vector<Array> results{Array(outputs[0])};
    double time = 0;
    if (has(Given::time_step)) {
      results.push_back(inputs[next++].copy());
      time = ++results[1][0];
    }
    const auto number = [&](std::int64_t input, double given) { return has(input) ? inputs[next++][0] : given; };
    const double decay = number(Given::weight_decay, attributes.weight_decay), beta1 = number(Given::beta1, attributes.beta1),
                 beta2 = number(Given::beta2, attributes.beta2), epsilon = number(Given::epsilon, attributes.epsilon);
    const bool is_adamax = is_op<tw::AdamaxUpdater>(node);
    for (std::size_t i = 0; i < m.size(); ++i) {
      const double mean = time > 0 ? m[i] / (1 - std::pow(beta1, time)) : m[i];
      const double square = time > 0 && !is_adamax ? v[i] / (1 - std::pow(beta2, time)) : v[i];
      results[0][i] = mean / ((is_adamax ? square : std::sqrt(square)) + epsilon);
      if (has(Given::weight)) results[0][i] += decay * inputs[0][i];
    }
    return results;
  }
  static constexpr auto adam(const tw::NumberOrTensor& weight_decay) {
    return [=](Tensor m, Tensor v, Tensor w) { return ops::adam_updater(m, v, {.weight = w, .weight_decay = weight_decay}); };
  }
  static Tensor with(const auto& s, tw::AdamOptions options) {
    options.weight = s.x;
    options.time_step = s.tensor({});
    if (!options.beta1) options.beta1 = 0.9;
    if (!options.beta2) options.beta2 = 0.9;
    return ops::adam_updater(s.x, s.x, options);
  }
  static void meanings(auto& m) { m[op] = value; }
  static constexpr void compared(In<optimisers>, const auto& c) {
    const TensorSpec t = f32(3, 19), scalar = f32();
    const auto corrected = [](Tensor m, Tensor v, Tensor step) {
      return ops::adam_updater(m, v, {.time_step = step, .beta1 = 0.9, .beta2 = 0.875});
    };
    c.add_forward("adam", [](Tensor m, Tensor v) { return ops::adam_updater(m, v); }, t, t);
    c.add_forward("adam_corrected", corrected, t, t, scalar);
    c.add_forward(
        "adam_decay",
        [](Tensor m, Tensor v, Tensor w, Tensor step) {
          return ops::adam_updater(m, v, {.weight = w, .time_step = step, .weight_decay = 0.125, .beta1 = 0.9, .beta2 = 0.875});
        },
        t, t, t, scalar);
    c.add_forward(
        "adam_tensors",
        [](Tensor m, Tensor v, Tensor w, Tensor step, Tensor decay, Tensor beta1, Tensor beta2) {
          return ops::lamb_updater(m, v, {.weight = w, .time_step = step, .weight_decay = decay, .beta1 = beta1, .beta2 = beta2});
        },
        f32(2, 3), f32(2, 3), f32(2, 3), scalar, scalar, scalar, f32(1));
    c.add_forward(
        "adamax",
        [](Tensor m, Tensor v, Tensor w, Tensor step) {
          return ops::adamax_updater(m, v, {.weight = w, .time_step = step, .weight_decay = 0.125});
        },
        t, t, t, scalar);
  }
  static constexpr void compared(In<adam_in>, const auto& c) {
    const TensorSpec scalar = c.real({});
    c.add_forward(
        "_adam_all",
        [](Tensor m, Tensor v, Tensor w, Tensor step, Tensor decay, Tensor beta1, Tensor beta2, Tensor epsilon) {
          return ops::adam_updater(
              m, v, {.weight = w, .time_step = step, .weight_decay = decay, .beta1 = beta1, .beta2 = beta2, .epsilon = epsilon});
        },
        c.real({3, 19}), c.real({3, 19}), c.real({3, 19}), scalar, scalar, scalar, TensorSpec{{1}, c.dtype}, scalar);
  }
  static constexpr void compared(In<half_precision_norms_and_updates>, const auto& c) {
    const TensorSpec scalar = f32();
    c.add_forward(
        "half_adam",
        [](Tensor m, Tensor v, Tensor step) {
          return ops::adam_updater(m, v, {.time_step = step, .beta1 = 0.9, .beta2 = 0.875});
        },
        f16(3, 19), f32(3, 19), scalar);
    c.add_forward(
        "half_adam_tensors",
        [](Tensor m, Tensor v, Tensor w, Tensor step, Tensor decay, Tensor beta1, Tensor beta2, Tensor epsilon) {
          return ops::adam_updater(
              m, v, {.weight = w, .time_step = step, .weight_decay = decay, .beta1 = beta1, .beta2 = beta2, .epsilon = epsilon});
        },
        f16(3, 19), f32(3, 19), f32(3, 19), scalar, f16(), scalar, f32(1), scalar);
  }
  static constexpr void compared(In<views_of_elements>, const auto& c) {
    c.add_forward(
        "view_adam", [](Tensor m, Tensor v) { return ops::adam_updater(m.T(), v[{all, every_second}]); }, f32(19, 5), f32(5, 38));
  }
  static constexpr void compared(In<float_arithmetic>, const auto& c) {
    c.add_forward(
        "floats_adam",
        [](Tensor m, Tensor v, Tensor w, Tensor step) {
          return ops::adam_updater(m, v, {.weight = w, .time_step = step, .weight_decay = 0.125, .beta1 = 0.9, .beta2 = 0.875});
        },
        c.real({3, 7}), c.real({3, 7}), c.real({3, 7}), f32());
  }
  static constexpr void compared(In<few_elements>, const auto& c) {
    c.add_forward("adam", [](Tensor m, Tensor v) { return ops::adam_updater(m, v); }, c.real(), c.real());
  }
  static constexpr void shapes(const auto& s) {
    s.result(f16(2, 3), [](Tensor m, Tensor v) { return ops::adam_updater(m, v); }, f16(2, 3), f32(2, 3));
    s.result(f32(2, 3), adam(0.5), f16(2, 3), f32(2, 3), f32(2, 3));
    s.result(f16(2, 3), adam(0), f16(2, 3), f32(2, 3), f32(2, 3));  // a weight that does not decay is not an input
    s.error(
        "AdamUpdater: weight_decay without weight: the weight that decays expected, in graph",
        [](Tensor m, Tensor v) { return ops::adam_updater(m, v, {.weight_decay = 0.5}); }, f32(2), f32(2));
    s.error(
        "AdamUpdater: time_step without beta1 or beta2: both expected, to correct the moments, in graph",
        [](Tensor m, Tensor v, Tensor t) { return ops::adam_updater(m, v, {.time_step = t, .beta1 = 0.9}); }, f32(2), f32(2),
        f32());
    s.error(
        "AdamUpdater: moments (2,) float32 and (3,) float32: equal shapes expected, in graph",
        [](Tensor m, Tensor v) { return ops::adam_updater(m, v); }, f32(2), f32(3));
    s.error("AdamUpdater: moments (2,) float32 of weight (3,) float32: equal shapes expected, in graph", adam(0.5), f32(2),
            f32(2), f32(3));
    s.error(
        "AdamUpdater: factor (2,) float32: one element expected, in graph",
        [](Tensor m, Tensor v, Tensor t) { return ops::adam_updater(m, v, {.time_step = t, .beta1 = 0.9, .beta2 = 0.99}); },
        f32(2), f32(2), f32(2));
    s.error(
        "AdamUpdater: Tensor[float32 ()] is a constant: a tensor that may change in place expected, in graph",
        [](Tensor m, Tensor v) {
          return ops::adam_updater(m, v, {.time_step = m.ir().constant(1.0), .beta1 = 0.9, .beta2 = 0.99});
        },
        f32(2), f32(2));
    s.error(
        "AdamUpdater: Adamax without time_step: a time step expected, in graph",
        [](Tensor m, Tensor v) { return ops::adamax_updater(m, v, {}); }, f32(2), f32(2));
  }
  static void numbers(auto& list) {
    list.real("AdamOptions.weight_decay", list.not_negative, [](auto& s, auto n) { return with(s, {.weight_decay = n}); });
    list.real("AdamOptions.beta1", list.probability, [](auto& s, auto n) { return with(s, {.beta1 = n}); });
    list.real("AdamOptions.beta2", list.probability, [](auto& s, auto n) { return with(s, {.beta2 = n}); });
    list.real("AdamOptions.epsilon", list.not_negative, [](auto& s, auto n) { return with(s, {.epsilon = n}); });
  }
  static constexpr void handles(auto& list) {
    list.add("adam_updater", [] { (void)ops::adam_updater(Tensor(), Tensor()); });
    list.add("adamax_updater", [] { (void)ops::adamax_updater(Tensor(), Tensor(), {}); });
    list.add("lamb_updater", [] { (void)ops::lamb_updater(Tensor(), Tensor()); });
  }
};
struct LambSquare : OpTest {
  static constexpr std::string_view op = "LambSquare";
  static void meanings(auto& m) {
    m[op] = [](const tw::Node&, Inputs inputs, Specs outputs) {
      return std::vector{Array(outputs[0], {SumSquare::value(inputs[0].elements())})};
    };
  }
  static constexpr void compared(In<optimisers>, const auto& c) {
    c.add_forward("lamb_square", ops::lamb_square, f32(3, 19));
    c.add_forward("lamb_square_large", ops::lamb_square, f32(40, 67));
    c.add_forward("lamb_square_transposed", [](Tensor x) { return ops::lamb_square(x.transpose({2, 0, 1})); }, f32(5, 3, 4));
    c.add_forward("lamb_square_scalar", ops::lamb_square, f32());
  }
  static constexpr void compared(In<double_updates>, const auto& c) {
    c.add_forward("double_lamb_square", ops::lamb_square, f64(7, 50));
  }
  static constexpr void compared(In<half_precision_norms_and_updates>, const auto& c) {
    c.add_forward("half_lamb_square", ops::lamb_square, f16(7, 50));
  }
  static constexpr void compared(In<float_lines_and_indices>, const auto& c) {
    c.add_forward("floats_lamb_square", ops::lamb_square, c.real({5, 7}));
  }
  static constexpr void shapes(const auto& s) {
    s.result(f32(), ops::lamb_square, f16(2, 3));
    s.error("LambSquare: (2,) int32: float16, float32, float64 or bfloat16 expected, in graph", ops::lamb_square, i32(2));
  }
  static constexpr void handles(auto& list) {
    list.add("lamb_square", [] { (void)ops::lamb_square(Tensor()); });
  }
};
struct AdamVarUpdate : OpTest {
  static constexpr std::string_view op = "AdamVarUpdate";
  /// Inputs t, x, the squares of their norms, and perhaps the learning rate and the largest norm.
  static std::vector<Array> value(const tw::Node& node, Inputs inputs, Specs) {
    const auto attributes = tw::unpack<tw::AdamVarUpdate::Attributes>(node.attributes);
    std::size_t next = 4;
    const double learning_rate = attributes.inputs & 1 ? inputs[next++][0] : attributes.learning_rate;
    const double most = attributes.inputs & 2 ? inputs[next][0] : attributes.max_weight_norm;
    const double norm = std::sqrt(inputs[2][0]), of_step = std::sqrt(inputs[3][0]);
    const double trust = norm == 0 || of_step == 0 ? 1 : std::min(norm, most) / of_step;
    Array t = inputs[0].copy();
    for (std::size_t i = 0; i < t.size(); ++i) t[i] -= learning_rate * trust * inputs[1][i];
    return {t};
  }
  static void meanings(auto& m) { m[op] = value; }
  static constexpr void compared(In<optimisers>, const auto& c) {
    const TensorSpec small = f32(2, 3), scalar = f32();
    c.add_forward(
        "adam_var_update",
        [](Tensor w, Tensor x, Tensor r1, Tensor r2, Tensor learning_rate, Tensor limit) {
          return ops::adam_var_update(w, x, r1, r2, learning_rate, limit);
        },
        small, small, scalar, scalar, scalar, scalar);
    c.add_forward(
        "adam_var_update_zero", [](Tensor w, Tensor x, Tensor r1, Tensor r2) { return ops::adam_var_update(w, x, r1, r2, 0.5); },
        small, small, scalar, scalar);
    c.add_forward(
        "adam_var_update_numbers",
        [](Tensor w, Tensor x, Tensor r1, Tensor r2) { return ops::adam_var_update(w, x, r1, r2, 0.5, 0.75); }, small, small,
        scalar, scalar);
  }
  static constexpr void compared(In<adam_in>, const auto& c) {
    const TensorSpec scalar = c.real({});
    c.add_forward(
        "_adam_var_update",
        [](Tensor w, Tensor x, Tensor r1, Tensor r2, Tensor learning_rate, Tensor limit) {
          return ops::adam_var_update(w, x, r1, r2, learning_rate, limit);
        },
        c.real({2, 3}), c.real({2, 3}), scalar, scalar, scalar, scalar);
  }
  static constexpr void compared(In<float_arithmetic>, const auto& c) {
    c.add_forward(
        "floats_adam_var_update",
        [](Tensor w, Tensor update) {
          const auto norm = [&](double square) { return w.ir().constant(square); };
          return ops::adam_var_update(w, update, norm(2.25), norm(0.25), 0.5);
        },
        c.real({3, 7}), c.real({3, 7}));
  }
  static constexpr void shapes(const auto& s) {
    s.error(
        "AdamVarUpdate: factor (2,) float32: one element expected, in graph",
        [](Tensor t, Tensor r) { return ops::adam_var_update(t, t, r, r, 0.5); }, f32(2), f32(2));
  }
  static void numbers(auto& list) {
    list.real("adam_var_update.learning_rate", list.not_negative,
              [](auto& s, auto n) { return ops::adam_var_update(s.tensor({3}), s.tensor({3}), s.tensor({}), s.tensor({}), n); });
    list.real("adam_var_update.max_weight_norm", list.whole_not_negative, [](auto& s, auto n) {
      return ops::adam_var_update(s.tensor({3}), s.tensor({3}), s.tensor({}), s.tensor({}), 1, n);
    });
  }
  static constexpr void handles(auto& list) {
    list.add("adam_var_update", [] { (void)ops::adam_var_update(Tensor(), Tensor(), Tensor(), Tensor(), 1); });
  }
};

}  // namespace op_tests
