#pragma once
#include <concepts>
#include <cstdint>
#include <initializer_list>
#include <stdexcept>
#include <string>
#include <string_view>

namespace tilewright {

/// Thrown by the strict executor for an op that accesses memory that it does not declare, or leaves declared results unwritten.
struct StrictError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

namespace internal {

/// A string, or a number.
struct StrictTextPiece {
  StrictTextPiece(const char* text) : characters(text) {}
  StrictTextPiece(const std::string& text) : characters(text) {}
  StrictTextPiece(std::integral auto value) : number(static_cast<std::int64_t>(value)), is_number(true) {}
  std::string_view characters{};
  std::int64_t number = 0;
  bool is_number = false;
};
/// Concatenates pieces. Not inlined, because there are many texts, which should compile quickly.
[[gnu::cold, gnu::noinline]] inline std::string strict_text(std::initializer_list<StrictTextPiece> pieces) {
  std::string result;
  for (const StrictTextPiece& piece : pieces) {
    if (piece.is_number) result += std::to_string(piece.number);
    else result += piece.characters;
  }
  return result;
}

}  // namespace internal

}  // namespace tilewright
