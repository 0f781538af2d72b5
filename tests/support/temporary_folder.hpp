#pragma once
#include <filesystem>
#include <random>
#include <string>
#include <system_error>

/// A new folder that goes when the test ends.
struct TemporaryFolder {
  std::filesystem::path path = std::filesystem::temp_directory_path() /
                               ("tilewright-test-" + std::to_string(std::random_device{}()));
  TemporaryFolder() { std::filesystem::create_directories(path); }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  ~TemporaryFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path, ignored);
  }
  std::filesystem::path operator/(const std::filesystem::path& name) const { return path / name; }
};
