#pragma once
#include <cstdint>
#include <functional>
#include <string>
#include <tilewright/data/loader.hpp>
#include <tilewright/execute/strict_mode.hpp>

namespace CLI {
class App;
}

/// What the MNIST programs can be asked on the command line.
struct Options {
  std::string data;
  int epochs = 1;
  std::uint64_t seed = 42;
  std::string device = "cpu";
  int threads = 0;
  std::size_t limit_batches = 0;
  tilewright::StrictMode strict{};
};

using MnistProgram = std::function<void(const Options&, const tilewright::data::Digits&)>;

/// Adds options of one program to those of all.
using MoreOptions = std::function<void(CLI::App&)>;

/// Reads the options, loads the data, runs the program with them, and reports errors in one line. The exit status.
int run_mnist_program(int argc, char** argv, const char* description, const MnistProgram& program,
                      const MoreOptions& more_options = {});
