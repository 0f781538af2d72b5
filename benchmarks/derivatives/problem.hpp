#pragma once
// What the programs of derivatives.py share: a file with the inputs of a problem and its results by hand, and their comparison.
//
// The problems are those of ADBench (Srajer, Kukelova and Fitzgibbon, 2018: arXiv 1807.10129), with numbers of our own.
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdio>
#include <fstream>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "../protocol.hpp"

using Numbers = std::vector<double>;

/// Inputs, and the value and derivatives that the function by hand has there.
struct Problem {
  Numbers inputs{}, value{}, derivatives{};

  /// The file has each list after its length, all as doubles.
  void write(const std::string& path) const {
    std::ofstream file(path, std::ios::binary);
    const auto put = [&file](const double* data, std::size_t count) {
      file.write(reinterpret_cast<const char*>(data), static_cast<std::streamsize>(count * sizeof(double)));
    };
    for (const Numbers* list : {&inputs, &value, &derivatives}) {
      const auto length = static_cast<double>(list->size());
      put(&length, 1);
      put(list->data(), list->size());
    }
    if (!file.flush()) throw std::runtime_error(path + " cannot be written");
  }
  static Problem read(const std::string& path) {
    std::ifstream file(path, std::ios::binary);
    const auto next = [&file](std::size_t count) {
      Numbers result(count);
      file.read(reinterpret_cast<char*>(result.data()), static_cast<std::streamsize>(count * sizeof(double)));
      if (!file) throw std::runtime_error("a file of a problem: numbers are missing");
      return result;
    };
    Problem problem;
    for (Numbers* list : {&problem.inputs, &problem.value, &problem.derivatives})
      *list = next(static_cast<std::size_t>(next(1)[0]));
    return problem;
  }
};

/// Speaks the protocol for `run`, with the rate of the fastest run, after its `results()` were compared: differences of at most
/// 1e-8 of the largest are expected.
template <class Run, class Results>
int serve_checked(const Numbers& expected, Run&& run, Results&& results) {
  const auto check = [&] {
    run();
    const Numbers found = results();
    double largest = 0, difference = 0;
    for (const double each : expected) largest = std::max(largest, std::abs(each));
    if (found.size() != expected.size()) throw std::runtime_error("other results than by hand: " + std::to_string(found.size()));
    std::size_t wrong = 0;  // also NaN
    for (std::size_t i = 0; i < found.size(); ++i) {
      const double apart = std::abs(found[i] - expected[i]);
      difference = std::max(difference, apart);
      wrong += !(apart <= 1e-8 * largest);
    }
    std::fprintf(stderr, "  within %.1e of the largest\n", difference / largest);
    if (wrong > 0) throw std::runtime_error("other results than by hand");
  };
  const auto fastest_rate = [&](double seconds) {
    double least = 1e9;
    for (const Stopwatch all; least == 1e9 || all.seconds() < seconds;) {
      const Stopwatch watch;
      run();
      least = std::min(least, watch.seconds());
    }
    return 1 / least;
  };
  return serve(check, fastest_rate, [] { return 1; });
}
