#pragma once
// The meaning of each op for the interpreter: that of its file in tests/ops.
#include "../ops/ops.hpp"

namespace random_programs {

inline const meaning::Meanings& all_meanings() {
  static const meaning::Meanings all = [] {
    meaning::Meanings result;
    op_tests::for_each([&](auto test) { test.meanings(result); });
    return result;
  }();
  return all;
}
inline const std::map<std::string_view, Interpreter::Meaning>& Interpreter::meanings() { return all_meanings(); }
inline const std::map<std::string_view, Interpreter::ViewMeaning>& Interpreter::views() { return all_meanings().views; }

}  // namespace random_programs
