#pragma once
// Numbers that nobody means, for each number of the public interface: 0, -1, those beyond 32 bits and at the end of 64, NaN and
// infinities. Each gives an error that names it, or a result that is planned, and in little time and memory.
// tests/rules/public_numbers.py tells which public numbers are in none of the lists.
#include <cstdint>
#include <cstdio>
#include <exception>
#include <limits>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "../../support/child_process.hpp"
#include "tilewright/tilewright.hpp"

namespace wrong_numbers {

namespace tw = tilewright;
namespace ops = tw::ops;
using tw::DType, tw::Ir, tw::Shape, tw::Tensor, tw::TensorSpec;
using Whole = std::int64_t;

inline constexpr double infinity = std::numeric_limits<double>::infinity();
inline constexpr double wrong_reals[] = {0,        -1,       0x1p31, 0x1p40, 0x1p63, std::numeric_limits<double>::quiet_NaN(),
                                         infinity, -infinity};
inline constexpr Whole wrong_wholes[] = {0,
                                         -1,
                                         Whole{1} << 31,
                                         Whole{1} << 40,
                                         std::numeric_limits<Whole>::max(),
                                         std::numeric_limits<Whole>::min(),
                                         std::numeric_limits<std::int32_t>::max(),
                                         std::numeric_limits<std::int32_t>::min()};

/// What a public number takes, in the words of its page.
struct Legal {
  double least = -infinity, most = infinity;
  bool has_least = true, has_most = true;  ///< whether they belong to it
  bool has_nan = false;
  bool contains(double value) const {
    if (value != value) return has_nan;
    return (has_least ? value >= least : value > least) && (has_most ? value <= most : value < most);
  }
};
inline constexpr Legal everything{.has_nan = true}, numbers{}, finite_only{.has_least = false, .has_most = false},
    above_0{0, infinity, false, false}, not_negative{0, infinity, true, false}, probability{0, 1, true, false}, part{0, 1},
    as_float32{-0x1.fffffep127, 0x1.fffffep127}, at_least_1{1, infinity}, whole_not_negative{0, infinity};
inline constexpr Legal from(double least, double most) { return {least, most}; }
/// Whether it is taken depends on other things than the number: it gives an error or a result.
inline constexpr Legal any_outcome{.least = 1, .most = 0, .has_nan = true};

/// Where a case is traced: inside of a module that is called from the main graph, or in the main graph itself.
enum class Place : std::uint8_t { module, main, layer };  ///< layer: in the main graph, and errors name a module

/// The graph that a case adds to, and an input of it, (2, 4, 6, 6) float32.
struct Scene {
  Ir& ir;
  Tensor x;
  Tensor tensor(const Shape& shape, DType dtype = tw::float32) const { return ops::init(ir, shape, dtype); }
};

struct Case {
  std::string_view name;  ///< of the number: "softplus.beta", "AttentionOptions.scale"
  Legal legal;
  Tensor (*real)(const Scene&, double) = nullptr;
  Tensor (*whole)(const Scene&, Whole) = nullptr;
  Whole most = std::numeric_limits<Whole>::max();  ///< of the number's type
  Place place = Place::module;
};
inline Case real(std::string_view name, Legal legal, Tensor (*use)(const Scene&, double)) { return {name, legal, use, nullptr}; }
inline Case whole(std::string_view name, Legal legal, Tensor (*use)(const Scene&, Whole)) {
  return {name, legal, nullptr, use, std::numeric_limits<Whole>::max()};
}
/// Of an int.
inline Case narrow(std::string_view name, Legal legal, Tensor (*use)(const Scene&, Whole)) {
  return {name, legal, nullptr, use, std::numeric_limits<std::int32_t>::max()};
}
inline Case in_main(Case given) {
  given.place = Place::main;
  return given;
}

struct Net : tw::Module<Net> {
  const Case* number = nullptr;
  double real = 0;
  Whole whole = 0;
  Tensor build(Tensor x) { return use({this->ir(), x}); }
  Tensor use(const Scene& scene) const { return number->real ? number->real(scene, real) : number->whole(scene, whole); }
};

/// Numbers that are arguments of templates: a case of a function that each of the values has its own instance of.
template <auto make, std::size_t... i>
Tensor with_real(const Scene& scene, double value, std::index_sequence<i...>) {
  const auto is = [&](double number) { return number == value || (number != number && value != value); };
  Tensor result;
  (void)((is(wrong_reals[i]) && ((result = make.template operator()<wrong_reals[i]>(scene)), true)) || ...);
  return result;
}
inline constexpr int narrow_wholes[] = {0, -1, std::numeric_limits<int>::max(), std::numeric_limits<int>::min()};
template <auto make, std::size_t... i>
Tensor with_whole(const Scene& scene, Whole value, std::index_sequence<i...>) {
  Tensor result;
  (void)((narrow_wholes[i] == value && ((result = make.template operator()<narrow_wholes[i]>(scene)), true)) || ...);
  return result;
}
template <auto make>
Case real_argument(std::string_view name, Legal legal) {
  Case number = wrong_numbers::real(name, legal, [](const Scene& s, double n) {
    return with_real<make>(s, n, std::make_index_sequence<std::size(wrong_reals)>());
  });
  number.place = Place::layer;
  return number;
}
template <auto make>
Case narrow_argument(std::string_view name, Legal legal) {
  Case number = narrow(name, legal, [](const Scene& s, Whole n) {
    return with_whole<make>(s, n, std::make_index_sequence<std::size(narrow_wholes)>());
  });
  number.place = Place::layer;
  return number;
}

inline std::string text_of(const Case& number, double real, Whole whole) {
  return std::string(number.name) + " = " + (number.real ? tw::number_text(real).string() : std::to_string(whole));
}

/// Traces a case for a target and, if `plans`, plans it. `is_traced` says how far it came.
inline void use(const Case& number, double real, Whole whole, const tw::Target& target, bool plans, bool& is_traced) {
  Ir ir;
  const auto program = [&](Ir&) {
    Net net;
    net.number = &number, net.real = real, net.whole = whole;
    const Tensor x = ops::host_load(ir.h2d_stream("x", {2, 4, 6, 6}));
    Tensor y;
    if (number.place != Place::module) y = net.use({ir, x});
    else {
      const auto [factories, graph] = tw::create_graph(ir, net, x);
      y = graph.bind(factories.init()).call(x);
    }
    is_traced = true;
    if (plans) ops::host_store(ir.d2h_stream("y", y.spec()), y);
  };
  tw::trace_for(target, program, ir);
  if (plans) tw::lower(tw::prepare(std::move(ir), target));
}
/// Traces and plans a case; "": as it should be.
inline std::string outcome(const Case& number, double real, Whole whole) {
  const bool is_any = number.legal.least > number.legal.most;
  const bool is_legal = number.legal.contains(number.real ? real : static_cast<double>(whole));
  const std::string value = number.real ? tw::number_text(real).string() : std::to_string(whole);
  const std::string_view name = number.name.substr(number.name.find_last_of(".<") + 1);
  bool is_traced = false;
  try {
    const bool plans = is_any || is_legal;
    use(number, real, whole, tw::cpu, plans, is_traced);
    if (!plans) return "no error";
    use(number, real, whole, tw::ipu_model, plans, is_traced);
  } catch (const tw::TraceError& error) {
    const std::string_view message = error.what();
    if (message.starts_with("memory: tile ")) return "";  // of a simulated IPU
    if (is_traced) return is_any ? "" : "is not planned: " + std::string(message);
    if (is_legal && !is_any) return "an error: " + std::string(message);
    const bool is_named = message.find(name) != message.npos || message.find(value) != message.npos ||
                          message.find("a tensor of at most 2^47 bytes expected") != message.npos;
    if (!is_named) return "an error that names neither it nor its value: " + std::string(message);
    if (number.place == Place::module && message.find(", in Net") == message.npos && !message.starts_with("call of Net"))
      return "an error without the module path: " + std::string(message);
    if (number.place == Place::layer && message.find(", in ") == message.npos)
      return "an error without the module: " + std::string(message);
  } catch (const std::exception& error) {
    return std::string("another exception: ") + error.what();
  }
  return "";
}

/// What is wrong with a case, for all values, one line each.
inline std::string problems(const Case& number) {
  return in_child([&](Report& report) {
    const auto try_value = [&](double real, Whole whole) {
      const std::string text = text_of(number, real, whole);
      std::snprintf(report.at, sizeof report.at, "%s", text.c_str());
      if (const std::string found = outcome(number, real, whole); !found.empty()) report.add(text + ": " + found);
    };
    if (number.real)
      for (const double value : wrong_reals) try_value(value, 0);
    else
      for (const Whole value : wrong_wholes)
        if (value <= number.most && value >= -number.most - 1) try_value(0, value);
  });
}
inline std::string problems(std::span<const Case> cases) {
  std::string found;
  for (const Case& number : cases) found += problems(number);
  return found;
}
/// What is wrong with cases whose ops are appended to the main graph.
template <std::size_t n>
std::string in_main_problems(const Case (&cases)[n]) {
  std::string found;
  for (const Case& number : cases) found += problems(in_main(number));
  return found;
}

}  // namespace wrong_numbers
