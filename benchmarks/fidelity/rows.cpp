// All rows of measured.hpp and vendor_rows.hpp beside what the model says, as JSON, for benchmarks/fidelity.py. The argument
// `best` places operands in the best banks.
#include <iostream>
#include <nlohmann/json.hpp>
#include <string_view>

#include "programs.hpp"
#include "vendor_programs.hpp"

namespace {

using namespace fidelity;
using nlohmann::json;

json of_row(const Row& row) {
  json result{{"row", row.number > second_list ? "M" + std::to_string(row.number - second_list) : std::to_string(row.number)},
              {"what", row.what},
              {"configuration", row.configuration},
              {"source", row.source}};
  for (const Bound& bound : bounds)
    if (bound.row == row.number) result["bound"] = {bound.least, bound.most};
  return result;
}
json of_kinds(const tw::CyclesByKind& kinds) {
  json result = json::object();
  for (std::size_t kind = 0; kind < kinds.size(); ++kind)
    if (kinds[kind] > 0) result[std::string(tw::compared_kinds[kind].name)] = kinds[kind];
  return result;
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
                                 {"fits", modelled.fits},
                                 {"kinds", of_kinds(modelled.kinds)},
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
    const Planned planned = planned_product(point, dtype);
    const tw::CycleUse& cycles = planned.plan.cycles;
    const std::int64_t all = planned.cycles_without_streams();
    result["points"].push_back(
        {{"m", point.m},
         {"n", point.n},
         {"measured", point.tflops},
         {"modelled", planned.fits() ? tflops(point, all) : 0},
         {"alone", partition(point, dtype).tflops},
         {"missing_cycles", measured_cycles(point) - static_cast<double>(all)},
         {"terms", {{"compute", cycles.compute}, {"exchange", cycles.exchange}, {"barriers", cycles.sync}}}});
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

json of(const VendorRow& row) {
  json result{{"kind", static_cast<int>(row.kind)}, {"name", row.name}};
  for (const bool second : {false, true}) {
    const Planned planned = plan_of(row, second);
    result[second ? "gc200" : "gc2"] = {{"vendor", second ? row.gc200 : row.gc2},
                                        {"modelled", planned.fits() ? planned.cycles_without_streams() : 0},
                                        {"share", planned.share_of_tile}};
  }
  return result;
}

}  // namespace

int main(int count, char** arguments) {
  if (count > 1 && std::string_view(arguments[1]) == "best") bank_policy = tw::BankPolicy::best;
  json result{{"pixel", pixel}, {"banks", name_of(bank_policy)}, {"rows", json::array()}};
  for (const Row& row : measurements) result["rows"].push_back(of(row));
  for (const tw::RangeOfKind& kind : tw::compared_kinds) result["kinds"].push_back(kind.name);
  for (const VendorKindText& kind : vendor_kinds)
    result["vendor_kinds"].push_back({{"name", kind.name},
                                      {"program", kind.program},
                                      {"most_mean", kind.most_mean},
                                      {"least", kind.least},
                                      {"most", kind.most}});
  for (const VendorRow& row : vendor_rows) result["vendor_rows"].push_back(of(row));
  std::cout << result.dump(1) << '\n';
}
