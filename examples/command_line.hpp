#pragma once
// What the command lines of examples have in common.
#include <charconv>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <exception>
#include <stdexcept>
#include <string>

/// What CLI11 says of a text that is no seed, or "". CLI11 itself would take -1, and numbers of more than 64 bits, for the
/// largest one.
inline std::string check_seed(const std::string& text) {
  std::uint64_t seed = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), seed);
  if (error == std::errc{} && end == text.data() + text.size()) return {};
  return "seed " + text + ": a whole number from 0 to 18446744073709551615 expected";
}

/// The number that is the whole text; NaN if there is none.
inline double number_in(const std::string& text) {
  double number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  return error == std::errc{} && end == text.data() + text.size() ? number : std::nan("");
}
/// What CLI11 says of a text that is no temperature, which logits are divided by, or "".
inline std::string check_temperature(const std::string& text) {
  const double number = number_in(text);
  if (std::isfinite(number) && number >= 0) return {};
  return "temperature " + text + ": a finite number, 0 or above, expected";
}
/// What CLI11 says of a text that is no probability, or "".
inline std::string check_probability(const std::string& text) {
  const double number = number_in(text);
  if (number >= 0 && number <= 1) return {};
  return "probability " + text + ": a number from 0 to 1 expected";
}
/// What CLI11 says of a text that is no learning rate, or "".
inline std::string check_rate(const std::string& text) {
  const double number = number_in(text);
  if (std::isfinite(number) && number > 0) return {};
  return "rate " + text + ": a finite number above 0 expected";
}

/// Calls f. An exception, or a standard output that cannot be written, is told in one line. The exit status of the program.
int report_errors(const auto& f) {
  try {
    f();
    if (std::fflush(stdout) != 0 || std::ferror(stdout) != 0)
      throw std::runtime_error("standard output: it cannot be written: a place for all lines expected");
    return 0;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "error: %s\n", error.what());
    return 1;
  }
}
