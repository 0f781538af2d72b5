#pragma once
#include <filesystem>
#include <random>
#include <string>

/// A new folder that goes when the test ends.
struct TemporaryFolder {
  std::filesystem::path path = std::filesystem::temp_directory_path() /
                               ("tilewright-test-" + std::to_string(std::random_device{}()));
  TemporaryFolder() { std::filesystem::create_directories(path); }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  ~TemporaryFolder() { std::filesystem::remove_all(path); }
};
