#pragma once
#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>

namespace tilewright::detail {

/// Writes a text to a file. Throws std::filesystem::filesystem_error, which names the function `call`.
inline void write_text(const char* call, const std::filesystem::path& path, std::string_view text) {
  std::ofstream file(path, std::ios::binary | std::ios::trunc);
  file.write(text.data(), static_cast<std::streamsize>(text.size()));
  file.close();
  if (!file)
    throw std::filesystem::filesystem_error(std::string(call) + ": cannot write", path,
                                            std::make_error_code(std::errc::io_error));
}

}  // namespace tilewright::detail
