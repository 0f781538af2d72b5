// labels: none
// Caches of keys and values.
#include "kv_cache_checks.hpp"

TEST_CASE("caches of keys and values: prompts and tokens give the results of whole texts") {
  tw::Session<kv_cache::blocks> session({.threads = 2});
  kv_cache::check_texts(session);
}
