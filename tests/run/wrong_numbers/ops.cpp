// labels: none
// Wrong numbers as parameters and options of ops.
#include "../../ops/ops.hpp"

#include <deque>

#include "../../catch.hpp"
#include "wrong_numbers.hpp"

namespace {
using namespace wrong_numbers;

/// What the files of tests/ops add to.
struct Numbers {
  std::vector<Case> cases{};
  std::deque<std::string> names{};
  Legal numbers = wrong_numbers::numbers, everything = wrong_numbers::everything, as_float32 = wrong_numbers::as_float32,
        any_outcome = wrong_numbers::any_outcome, finite_only = wrong_numbers::finite_only, above_0 = wrong_numbers::above_0,
        not_negative = wrong_numbers::not_negative, probability = wrong_numbers::probability, part = wrong_numbers::part,
        whole_not_negative = wrong_numbers::whole_not_negative;
  Legal from(double least, double most) const { return {least, most}; }
  void real(std::string name, Legal legal, Tensor (*use)(const Scene&, double)) {
    cases.push_back(wrong_numbers::real(names.emplace_back(std::move(name)), legal, use));
  }
  void whole(std::string name, Legal legal, Tensor (*use)(const Scene&, Whole)) {
    cases.push_back(wrong_numbers::whole(names.emplace_back(std::move(name)), legal, use));
  }
  /// Of an int.
  void narrow(std::string_view name, Legal legal, Tensor (*use)(const Scene&, Whole)) {
    cases.push_back(wrong_numbers::narrow(name, legal, use));
  }
};
}  // namespace

TEST_CASE("wrong numbers of ops") {
  op_tests::for_each([](auto test) {
    Numbers list;
    test.numbers(list);
    CHECK(problems(list.cases) == "");
  });
}
