// All rows of measured.hpp beside what the model says, as JSON, for benchmarks/fidelity.py.
#include <iostream>
#include <nlohmann/json.hpp>

#include "programs.hpp"

namespace {

using namespace fidelity;
using nlohmann::json;

json of_row(const Row& row) {
  return {{"row", row.number}, {"what", row.what}, {"configuration", row.configuration}, {"source", row.source}};
}
json of_model(const Row& row, const Model& model) {
  json result = of_row(row);
  result["how"] = model.how;
  result["missing"] = model.missing;
  for (const Figure& figure : figures) {
    if (figure.row != row.number) continue;
    const Modelled modelled = model.modelled(figure);
    const tw::internal::CycleUse& cycles = modelled.cycles;
    result["figures"].push_back({{"key", figure.key},
                                 {"unit", figure.unit},
                                 {"measured", figure.value},
                                 {"modelled", modelled.value},
                                 {"detail", modelled.detail}});
    if (cycles.total() > 0)
      result["figures"].back()["cycles"] = {{"compute", cycles.compute}, {"exchange", cycles.exchange},
                                            {"barriers", cycles.sync},   {"streams", cycles.host},
                                            {"links", cycles.links},     {"waiting", cycles.waiting}};
  }
  return result;
}
json of_products(const Row& row, std::span<const ProductPoint> points, tw::DType dtype) {
  json result = of_row(row);
  for (const ProductPoint& point : points) {
    const Product product = plan(point, dtype);
    const auto& cycles = product.part.cycles;
    result["points"].push_back({{"m", point.m},
                                {"n", point.n},
                                {"measured", point.tflops},
                                {"modelled", product.tflops},
                                {"missing_cycles", measured_cycles(point) - static_cast<double>(product.cycles())},
                                {"terms",
                                 {{"products on a tile", cycles.compute},
                                  {"exchange of operands", cycles.inputs + cycles.weights},
                                  {"exchange of parts of sums", cycles.partials},
                                  {"sums of parts", cycles.reduction},
                                  {"serial slices", cycles.slices},
                                  {"barriers", product.barriers}}}});
  }
  return result;
}

json of(const Row& row) {
  if (row.number == 2) return of_products(row, float16_products, tw::float16);
  if (row.number == 3) return of_products(row, float32_products, tw::float32);
  for (const Model& model : formulas)
    if (model.row == row.number) return of_model(row, model);
  for (const Model& model : programs)
    if (model.row == row.number) return of_model(row, model);
  json result = of_row(row);
  for (const Unused& each : unused)
    if (each.row == row.number) result["unused"] = each.reason;
  return result;
}

}  // namespace

int main() {
  json result{{"pixel", pixel}, {"rows", json::array()}};
  for (const Row& row : measurements) result["rows"].push_back(of(row));
  std::cout << result.dump(1) << '\n';
}
