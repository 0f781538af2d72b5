// labels: none
// The model of IPUs beside measurements, within the bounds that docs/generated/fidelity.md states. ./dev bench fidelity shows
// all.
#include <cmath>

#include "../../../benchmarks/fidelity/formulas.hpp"
#include "../../../benchmarks/fidelity/heat.hpp"
#include "../../catch.hpp"

namespace {

using namespace fidelity;

/// Checks the figures of a row against a bound.
void check_row(int row, Modelled (*modelled)(const Figure&), double bound) {
  int count = 0;
  for (const Figure& figure : figures) {
    if (figure.row != row) continue;
    INFO("row " << row << ", " << figure.key);
    CHECK(std::abs(error(modelled(figure).value, figure.value)) <= bound);
    ++count;
  }
  CHECK(count > 0);
}

TEST_CASE("products") {
  const Errors halves = errors(float16_products, tw::float16), singles = errors(float32_products, tw::float32);
  CHECK(halves.mean <= 0.06);
  CHECK(halves.worst <= 0.20);
  CHECK(singles.mean <= 0.08);
  CHECK(singles.worst <= 0.20);
}

TEST_CASE("a vertex of the unit for products") { check_row(1, row_1, 0.05); }
TEST_CASE("a triad of operands in interleaved memory") { check_row(4, row_4, 0.05); }
TEST_CASE("heat equations on one IPU") {
  check_row(9, row_9, 0.35);
  check_row(10, row_10, 0.35);
}
TEST_CASE("a heat equation on 2 to 16 IPUs") { check_row(11, row_11, 0.35); }
TEST_CASE("peaks") { check_row(25, row_25, 0.03); }

TEST_CASE("peaks of products are the published ones") {
  for (const Figure& figure : figures)
    if (figure.row == 25 && figure.unit == "Tflop/s") {
      INFO(figure.key);
      CHECK(std::abs(error(row_25(figure).value, figure.value)) < 2e-3);  // half of the last digit of 31.1
    }
}

TEST_CASE("every row is computed, or says why not") {
  for (const Row& row : measurements) {
    INFO("row " << row.number);
    int reasons = 0, values = row.number == 2 || row.number == 3;
    for (const Unused& each : unused) reasons += each.row == row.number;
    for (const Figure& figure : figures) values += figure.row == row.number;
    CHECK((reasons == 1) != (values > 0));
  }
}

}  // namespace
