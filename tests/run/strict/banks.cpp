// labels: none
// Operands lie in the banks for which a plan counts cycles: the strict executor refuses a plan whose addresses say otherwise.
#include "run.hpp"

namespace {

using tw::Ir, tw::Tensor, tw::OperandBanks;
using tw::internal::StrictPlan;
namespace ops = tw::ops;
using support::load, support::store, support::variable;

constexpr tw::Target tiles = tw::gc200.with_tiles(2);

/// A variable is updated by a tensor of the frame. Each tile has 4,000 bytes of both.
constexpr void update(Ir& ir) { ops::scaled_add_(variable(ir, "w", {2'000}), load(ir, "dw", {2'000}), {.b = -0.5}); }
/// Three tensors of the frame, with 20,000 bytes of each on a tile.
constexpr void triad(Ir& ir) { store("z", ops::scaled_add(load(ir, "x", {10'000}), load(ir, "y", {10'000}), {.b = 3})); }

/// The product of a stream and a variable. A tile has 3,072 bytes of the input, and makes 1,536 of the result.
constexpr void product(Ir& ir) {
  store("y", load(ir, "x", {48, 64}, tw::float16).matmul(variable(ir, "w", {64, 32}, tw::float16)));
}
/// The same product with an activation. Its sums are in the scratch of vertices, or in registers.
constexpr void activated(Ir& ir) {
  store("y", ops::gelu(load(ir, "x", {48, 64}, tw::float16).matmul(variable(ir, "w", {64, 32}, tw::float16))));
}
/// Results of one column: dot products.
constexpr void dots(Ir& ir) { store("y", load(ir, "x", {96, 256}).matmul(load(ir, "w", {256, 1}))); }

/// What a run says to a changed plan; "" if nothing.
template <auto build>
std::string refused(OperandBanks expected, auto change) {
  ProgramRun<build, tiles> run(true);
  StrictPlan& plan = run.strict_plan();
  REQUIRE(plan.bodies[0].groups.size() == 1);
  CHECK(plan.bodies[0].groups[0].bank_step.banks == expected);
  change(plan);
  try {
    run.run();
  } catch (const tw::StrictError& error) {
    return error.what();
  }
  return "";
}
/// Checks that the strict mode gives the results of the fast mode.
template <auto build>
void check_results() {
  ProgramRun<build, tiles> fast(false), strict(true);
  fast.run();
  strict.run();
  CHECK(fast.results() == strict.results());
}

TEST_CASE("a variable and its gradient are in different banks, the variable in interleaved memory") {
  check_results<update>();
  CHECK(refused<update>(OperandBanks::interleaved, [](StrictPlan&) {}) == "");
  CHECK(refused<update>(OperandBanks::interleaved, [](StrictPlan& plan) { plan.frame_addresses[0] = 4'000; }) ==
        "strict: step 0 of body 0 (ScaledAddLhsInplace in the main graph), vertex 0 on tile 0: w at byte 0 and stream 0 at byte "
        "4000 can share a bank, and the plan counts cycles for different ones: at least 32960 bytes between them expected");
  CHECK(refused<update>(OperandBanks::interleaved, [](StrictPlan& plan) { plan.bank_rules.interleaved_bytes = 8'000; }) ==
        "strict: step 0 of body 0 (ScaledAddLhsInplace in the main graph), vertex 0 on tile 0: w at byte 0 is not in interleaved "
        "memory, for which the plan counts cycles: byte 32960 or more expected");
}
TEST_CASE("two operands and the result are in three banks") {
  check_results<triad>();
  CHECK(refused<triad>(OperandBanks::interleaved, [](StrictPlan&) {}) == "");
  constexpr std::int64_t beside[][3] = {{0, 20'000, 60'000}, {0, 60'000, 20'000}, {60'000, 0, 20'000}};
  for (const auto& addresses : beside) {
    INFO(addresses[0] << ", " << addresses[1] << ", " << addresses[2]);
    const std::string error = refused<triad>(OperandBanks::interleaved, [&](StrictPlan& plan) {
      auto& rooms = plan.bodies[0].rooms;
      REQUIRE(rooms.size() == 3);
      for (std::size_t r = 0; r < 3; ++r) rooms[r].address = addresses[r];
    });
    CHECK(error.find("can share a bank") != std::string::npos);
  }
}

/// Moves all rooms of the main graph to the start of its frame, one behind the other.
void pack(StrictPlan& plan) {
  std::int64_t address = 0;
  for (auto& room : plan.bodies[0].rooms) room.address = address, address += room.bytes;
}
template <auto build>
std::string refused_product(OperandBanks expected, auto change) {
  ProgramRun<build, tiles> run(true);
  StrictPlan& plan = run.strict_plan();
  int found = 0;
  for (const auto& group : plan.bodies[0].groups)
    if (group.bank_step.use != tw::BankUse::elements) {
      ++found;
      CHECK(group.bank_step.banks == expected);
    }
  CHECK(found == 1);
  change(plan);
  try {
    run.run();
  } catch (const tw::StrictError& error) {
    return error.what();
  }
  return "";
}
TEST_CASE("the input and the sums of a product are in different banks, the sums in interleaved memory") {
  check_results<product>();
  check_results<activated>();
  CHECK(refused_product<product>(OperandBanks::interleaved, [](StrictPlan&) {}) == "");
  CHECK(refused_product<activated>(OperandBanks::interleaved, [](StrictPlan&) {}) == "");
  CHECK(refused_product<product>(OperandBanks::interleaved, pack) ==
        "strict: step 0 of body 0 (MatMul, Identity in the main graph), vertex 0 on tile 0: stream 0 at bytes 5120 to 11264 and "
        "stream 1 at bytes 11264 to 12800 can share a bank, and the plan counts cycles for different ones: at least 32768 bytes "
        "between them expected");
  CHECK(refused_product<product>(OperandBanks::interleaved, [](StrictPlan& plan) { plan.bank_rules.interleaved_bytes = 100; }) ==
        "strict: step 0 of body 0 (MatMul, Identity in the main graph), vertex 0 on tile 0: stream 1 at byte 44032 is not in "
        "interleaved memory, for which the plan counts cycles: byte 45468 or more expected");
}
TEST_CASE("both operands of dot products are in different banks") {
  check_results<dots>();
  CHECK(refused_product<dots>(OperandBanks::different, [](StrictPlan&) {}) == "");
  const std::string error = refused_product<dots>(OperandBanks::different,
                                                  [](StrictPlan& plan) { plan.bank_rules.pair_bytes = 100'000; });
  CHECK(error.find("can share a bank, and the plan counts cycles for different ones") != std::string::npos);
}

}  // namespace
