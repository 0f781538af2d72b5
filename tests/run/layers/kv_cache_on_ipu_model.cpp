// labels: more strict
// Caches of keys and values on a simulated IPU.
#include "kv_cache_checks.hpp"

TEST_CASE("caches of keys and values: prompts and tokens give the results of whole texts") {
  TestSession<kv_cache::blocks, tw::ipu_model> session({.threads = 2});
  kv_cache::check_texts(session);
}
