#include "options.hpp"

#include <CLI/CLI.hpp>
#include <cstdio>
#include <tilewright/data/data.hpp>
#include <tilewright/execute/strict_executor.hpp>
#include <tilewright/target/devices.hpp>
#include <vector>

#include "../command_line.hpp"

/// The data set that was asked for; says on screen which one it is.
static tilewright::data::Digits load(const Options& options) {
  if (!options.data.empty()) {
    std::printf("MNIST from %s\n", options.data.c_str());
    return tilewright::data::load_mnist(options.data);
  }
  std::printf("These are generated digits, not MNIST: --data DIR reads the real files.\n");
  return tilewright::data::generated_digits(60'000, options.seed);
}

int run_mnist_program(int argc, char** argv, const char* description, const MnistProgram& program,
                      const MoreOptions& more_options) {
  Options options;
  std::vector<std::string> devices;
  for (const tilewright::Device& device : tilewright::devices) devices.emplace_back(device.name);
  CLI::App app(description);
  app.add_option("--data", options.data, "Folder with MNIST's four IDX files, plain or .gz; default: generated digits");
  app.add_option("--epochs", options.epochs, "Passes over the training set")->capture_default_str()->check(CLI::Range(1, 1000));
  app.add_option("--seed", options.seed, "Seed of the initial weights and of the order of the images")
      ->capture_default_str()
      ->check(check_seed);
  app.add_option("--device", options.device, "Machine: host cores, or a simulated IPU")
      ->capture_default_str()
      ->check(CLI::IsMember(devices));
  app.add_option("--threads", options.threads, "Host threads; 0: find the fastest number")
      ->capture_default_str()
      ->check(CLI::Range(0, 1024));
  app.add_option("--limit-batches", options.limit_batches, "Batches of each epoch to train on; 0: all")->capture_default_str();
  app.add_flag_callback(
      "--strict", [&options] { options.strict = true; },
      "Check the plan and the ops in each run; simulated IPUs only, a hundred times slower");
  if (more_options) more_options(app);
  CLI11_PARSE(app, argc, argv);
  return report_errors([&] {
    const auto digits = load(options);
    program(options, digits);
  });
}
