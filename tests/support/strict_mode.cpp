// Gives the tests that it is linked to a strict mode, if the environment asks for it.
#include <cstdlib>
#include <string_view>

#include "test_session.hpp"
#include "tilewright/execute/strict_executor.hpp"

tilewright::StrictMode support::asked_strict_mode() {
  const char* const variable = std::getenv("TILEWRIGHT_STRICT");
  return variable != nullptr && std::string_view(variable) == "1";
}
