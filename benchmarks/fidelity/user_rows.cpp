// Plans ops of any shapes, which standard input names as JSON, and prints their cycles, for benchmarks/fidelity.py --rows.
#include <functional>
#include <iostream>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <string>
#include <tilewright/lab.hpp>
#include <tilewright/tilewright.hpp>
#include <vector>

namespace {

namespace tw = tilewright;
using nlohmann::json;
using Numbers = std::vector<std::int64_t>;

/// An op whose rows have a shape: what its numbers are, and a program that runs it once on variables.
struct Kind {
  std::string name, shape;
  std::size_t least, most;  ///< numbers of a shape
  std::function<void(tw::Ir&, const Numbers&, tw::DType)> build;
};

void store(tw::Ir& ir, tw::Tensor result) {
  tw::ops::host_store(ir.d2h_stream("result", result.shape(), result.dtype()), result);
}

void product(tw::Ir& ir, const Numbers& of, tw::DType dtype) {
  const bool grouped = of.size() == 4;
  const std::int64_t m = of[of.size() - 3], k = of[of.size() - 2], n = of.back();
  const auto a = ir.variable(tw::zeros(), grouped ? tw::Shape{of[0], m, k} : tw::Shape{m, k}, dtype, "a");
  const auto b = ir.variable(tw::zeros(), grouped ? tw::Shape{of[0], k, n} : tw::Shape{k, n}, dtype, "b");
  store(ir, a.matmul(b));
}
void reduction(tw::Ir& ir, const Numbers& of, tw::DType dtype) {
  store(ir, tw::ops::sum(ir.variable(tw::zeros(), {of[0], of[1]}, dtype, "x"), {0}));
}
void convolution(tw::Ir& ir, const Numbers& of, tw::DType dtype) {
  const auto x = ir.variable(tw::zeros(), {of[0], of[1], of[2], of[3]}, dtype, "x");
  const std::int64_t groups = of.size() == 10 ? of[9] : 1;
  if (groups < 1 || of[1] % groups != 0)
    throw std::invalid_argument("shape of a convolution: groups " + std::to_string(groups) +
                                ": a divisor of the channels expected");
  const auto weight = ir.variable(tw::zeros(), {of[4], of[1] / groups, of[5], of[6]}, dtype, "weight");
  store(ir, tw::ops::conv(x, weight, {.stride = {of[7], of[7]}, .padding = {of[8], of[8], of[8], of[8]}, .groups = groups}));
}
void gather(tw::Ir& ir, const Numbers& of, tw::DType dtype) {
  const auto table = ir.variable(tw::zeros(), {of[0], of[1]}, dtype, "table");
  store(ir, tw::ops::gather(table, tw::ops::host_load(ir.h2d_stream("rows", {of[2]}, tw::int32))));
}
void scaled_add(tw::Ir& ir, const Numbers& of, tw::DType dtype) {
  const auto x = ir.variable(tw::zeros(), {of[0]}, dtype, "x"), y = ir.variable(tw::zeros(), {of[0]}, dtype, "y");
  tw::ops::scaled_add_(x, y, {.b = 0.5});
}

const Kind kinds[] = {
    {"product", "[groups,] m, k, n", 3, 4, product},
    {"reduction", "rows, columns: a sum over rows", 2, 2, reduction},
    {"convolution", "images, channels, height, width, results, kernel height, kernel width, stride, padding[, groups]", 9, 10,
     convolution},
    {"gather", "rows of the table, columns, rows that are taken", 3, 3, gather},
    {"scaled_add", "elements", 1, 1, scaled_add}};

/// Returns the plan's cycles without streams, and the seconds they take.
json modelled(const json& row) {
  const std::string name = row.at("kind");
  const Numbers shape = row.at("shape");
  const std::string dtype = row.at("dtype");
  std::string known;
  for (const Kind& kind : kinds) {
    known += (known.empty() ? "" : ", ") + kind.name;
    if (kind.name != name) continue;
    if (shape.size() < kind.least || shape.size() > kind.most)
      throw std::invalid_argument("shape of a " + name + ": " + kind.shape + " expected");
    if (dtype != "float16" && dtype != "float32")
      throw std::invalid_argument("dtype '" + dtype + "': float16 or float32 expected");
    tw::lab::MachineSettings settings{row.at("base"), {}};
    for (const auto& [key, value] : row.at("numbers").items()) settings.numbers.push_back({key, value});
    const auto build = [&](tw::Ir& ir) { kind.build(ir, shape, dtype == "float16" ? tw::float16 : tw::float32); };
    const tw::lab::Design design = tw::lab::Laboratory({{name, build}}).plan({name, settings});
    if (!design.problem.empty()) throw std::invalid_argument(design.problem);
    const std::int64_t cycles = design.cycles.total() - design.cycles.host;
    return {{"machine", design.machine.name()},
            {"fits", design.fits},
            {"cycles", cycles},
            {"seconds", design.machine.target().seconds(cycles)}};
  }
  throw std::invalid_argument("kind '" + name + "': one of " + known + " expected");
}

}  // namespace

int main() {
  json result = json::array();
  for (const json& row : json::parse(std::cin)) {
    try {
      result.push_back(modelled(row));
    } catch (const std::exception& error) {
      std::cerr << "line " << row.at("line") << ": " << error.what() << '\n';
      return 2;
    }
  }
  std::cout << result.dump() << '\n';
}
