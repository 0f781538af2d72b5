#pragma once
// Runs programs of imported models in strict mode on a simulated IPU, with the files of run.hpp.
#include <cstdio>
#include <cstring>
#include <exception>
#include <fstream>
#include <iterator>
#include <limits>
#include <stdexcept>
#include <string>
#include <tilewright/checkpoint/safetensors.hpp>
#include <tilewright/execute/strict_executor.hpp>
#include <tilewright/layers/layers.hpp>
#include <tilewright/module/members_of.hpp>
#include <tilewright/session/initial_values.hpp>
#include <tilewright/tilewright.hpp>
#include <vector>

inline constexpr tilewright::Target four_tiles = tilewright::ipu_model.with_tiles(4).with_bytes_per_tile(16 << 20);

/// Runs the program of a model in `folder`/number, and prints the number with ok, or with what is wrong. `inputs` and `outputs`:
/// sizes of the arrays in bytes.
template <auto program>
void run(int number, const std::string& folder, const std::vector<std::size_t>& inputs, const std::vector<std::size_t>& outputs) {
  using Program = tilewright::Program<program, four_tiles>;
  constexpr const auto& plan = Program::plan;
  const std::string path = folder + "/" + std::to_string(number);
  try {
    tilewright::internal::Executor executor(Program::view(), 1, true);
    tilewright::fill_constants(Program::view(), executor.constants());
    const tilewright::TensorFile weights = tilewright::load_safetensors(path + "/weights");
    for (std::size_t v = 0; v < plan.variables.size(); ++v) {
      const tilewright::HostTensor* const tensor = weights.find(plan.variable_name(v));
      if (tensor == nullptr) throw std::runtime_error("no weights " + std::string(plan.variable_name(v)));
      std::memcpy(executor.variables() + plan.variables[v].offset, tensor->bytes.data(), tensor->bytes.size());
    }
    std::vector<std::vector<char>> arrays;
    std::ifstream given(path + "/inputs", std::ios::binary);
    for (const std::size_t bytes : inputs)
      given.read(arrays.emplace_back(bytes + 64).data(), static_cast<std::streamsize>(bytes));
    for (const std::size_t bytes : outputs) arrays.emplace_back(bytes + 64);
    std::vector<tilewright::internal::OperandAddress> streams;
    for (std::vector<char>& array : arrays) streams.push_back(reinterpret_cast<std::byte*>(array.data()));
    executor.run(streams);
    std::ofstream file(path + "/outputs", std::ios::binary);
    for (std::size_t i = 0; i < outputs.size(); ++i)
      file.write(arrays[inputs.size() + i].data(), static_cast<std::streamsize>(outputs[i]));
    std::printf("%d ok\n", number);
  } catch (const std::exception& error) {
    std::printf("%d %s\n", number, error.what());
  }
  std::fflush(stdout);
}
