// What a test with an unexpected text says.
#include "support/same.hpp"

// CASE other_text
// expect: <<a b>> where <<a c>> is expected; they differ in line 1
#ifdef CASE_other_text
TW_SAME(tilewright::Text("a b"), "a c", "a reason");
#endif

// CASE wrong_fact
// expect: <<id>> where <<>> is expected
#ifdef CASE_wrong_fact
constexpr tilewright::Text facts() { return support::Facts().check(1 == 1, "size").check(1 == 2, "id"); }
TW_SAME(facts(), "");
#endif
