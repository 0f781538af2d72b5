#pragma once
// Runs programs of imported models, each with a folder of its own: weights and inputs before, outputs and weights_after after.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <limits>
#include <string>
#include <tilewright/embedded.hpp>
#include <tilewright/layers/layers.hpp>
#include <tilewright/module/members_of.hpp>
#include <tilewright/session/one_object/exported_programs.hpp>
#include <vector>

inline std::string read(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

/// Returns memory of a size at a multiple of 64, which lives until the end.
inline void* memory_of(std::size_t bytes) { return std::aligned_alloc(64, (bytes + 127) / 64 * 64); }

/// Runs the program of a model in `folder`/number, and prints the number with ok, or with what is wrong. `inputs` and `outputs`:
/// sizes of the arrays in bytes.
template <auto program>
void run(int number, const std::string& folder, const std::vector<std::size_t>& inputs, const std::vector<std::size_t>& outputs) {
  using Programs = tilewright::ExportedPrograms<tilewright::one_core, tilewright::UnchangedVariables::in_object, program>;
  const std::string path = folder + "/" + std::to_string(number), weights = read(path + "/weights"),
                    given = read(path + "/inputs");
  const std::string facts = Programs::facts().string();
  void* const memory = memory_of(std::strtoull(facts.c_str() + 6, nullptr, 10));
  std::vector<void*> arrays;
  std::size_t at = 0;
  for (const std::size_t bytes : inputs) {
    arrays.push_back(memory_of(bytes));
    std::copy_n(given.data() + at, bytes, static_cast<char*>(arrays.back()));
    at += bytes;
  }
  for (const std::size_t bytes : outputs) arrays.push_back(memory_of(bytes));
  tilewright::ExportedStatus status;
  int result = Programs::init(memory, 1, &status);
  if (result == 0 && facts.find("\nvariable ") != facts.npos)
    result = Programs::load(memory, weights.data(), weights.size(), &status);
  if (result == 0) result = Programs::template run<0>(memory, arrays.data(), &status);
  if (result != 0) {
    std::printf("%d %d: %s %lld %s\n", number, result, status.before, static_cast<long long>(status.value), status.after);
    std::fflush(stdout);
    return;
  }
  std::ofstream file(path + "/outputs", std::ios::binary);
  for (std::size_t i = 0; i < outputs.size(); ++i)
    file.write(static_cast<const char*>(arrays[inputs.size() + i]), static_cast<std::streamsize>(outputs[i]));
  if (const std::size_t place = facts.find("\nfile "); !weights.empty()) {
    std::string saved(std::strtoull(facts.c_str() + place + 6, nullptr, 10), '\0');
    Programs::save(memory, saved.data(), saved.size(), &status);
    std::ofstream(path + "/weights_after", std::ios::binary) << saved;
  }
  std::printf("%d ok\n", number);
  std::fflush(stdout);
}
