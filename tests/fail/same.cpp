// labels: none
// What a test with an unexpected text says.
#include "support/same.hpp"

// CASE other_text
// expect: <<a b>> where <<a c>> is expected; they differ in line 1
TW_SAME(tilewright::Text("a b"), "a c", "a reason");

// CASE wrong_fact
// expect: <<id>> where <<>> is expected
constexpr tilewright::Text facts() { return support::Facts().check(1 == 1, "size").check(1 == 2, "id"); }
TW_SAME(facts(), "");
